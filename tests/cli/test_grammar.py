"""One grammar: every concept has one name, every command an example that parses and a --format."""

import re
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any, get_args

import pytest
from cyclopts import App
from rich.cells import cell_len

from command import invoke
from guards.tree import ROOT
from portrayal.cli import START, command_line, commands

SECOND_NAMES = {
    "--texts": "file|files|input|data|source|stories|biographies|corpus|paraphrases",
    "--out": "output|outdir|dest|save|html|csv|passages|write",
    "--column": "(text|sentence|label|role|model|prompt)-columns?|columns|map",
    "--by": "groups?|split|per|strata|group-by|groupby",
    "--format": "json|csv|markdown|output-format|as",
    "--masked": "mask|no-mask|unmask|no-masked",
    "--labeler-model": "llm|coder|coder-model|labeller-model|label-model|rater-model",
    "--hand-labels": "gold|labels|labelled|truth|reference-labels",
    "--reference-group": "unmarked|baseline-group|reference-value",
    "--against": "base|base-run|base-model",
    "--draws": "replicates|bootstrap|resamples",
    "--permutations": "shuffles",
    "--level": "confidence|alpha|conf",
    "--seed": "random-seed|rng",
    "--classifier-base-url": "classifier-url",
    "--base-url": "url|endpoint|server",
    "--replace": "overwrite|force",
    "--where": "filter|only",
}
"""A concept's one name, and names that would be its second (a pattern of whole names)."""

MEANT = {
    "audit pairs": ("--group", "--source"),
    "audit people": ("--source",),
    **{f"replicate {study}": ("--data",) for study in ("agency", "laissez-faire", "news")},
}
"""Options that are no second name: the person of a request, what requests were made from, and the
folder of an author's files, which hold texts, labels and references."""
ARGUMENTS = {
    "RUN",
    "RUNS",
    "FOLDER",
    "FILE",
    "GIVEN",
    "FILLED",
    "SHEETS",
    "STUDY",
    "KIND",
}
DOCUMENTS = {
    "report",
    "evidence",
    "new",
}
"""Commands that write a document and print no table."""


APP = command_line()
LEAVES: dict[str, App] = {
    path: command for path, command in commands(APP) if command.default_command is not None
}


def _arguments(command: App) -> list[Any]:
    return [each for each in command.assemble_argument_collection() if not each.children]


def _options(command: App) -> dict[str, Any]:
    """What help lists; rare options are named beside `--set`."""
    return {
        name: each
        for each in _arguments(command)
        if each.show and not each.field_info.is_positional
        for name in each.names
        if name not in each.negatives
    }


def _parses(words: list[str]) -> None:
    command_line(words).parse_args(words, exit_on_error=False, print_error=False)


def concepts_with_two_names() -> dict[str, list[str]]:
    """Return the concepts that some command calls by another name."""
    found = defaultdict(list)
    for path, command in LEAVES.items():
        for option in _options(command):
            for concept, others in SECOND_NAMES.items():
                meant = MEANT.get(path, ())
                if re.fullmatch(others, option.lstrip("-")) and option not in meant:
                    found[concept].append(f"{path} {option}")
    return dict(found)


def test_no_concept_has_two_names() -> None:
    assert concepts_with_two_names() == {}


def _kind(hint: Any) -> str:
    """Flag, number or text; whether it is repeated, or may be left out, does not matter."""
    kinds = {each for each in (get_args(hint) or (hint,)) if each not in (type(None), ...)}
    return "flag" if kinds == {bool} else "number" if kinds <= {int, float} else "text"


def test_a_name_is_one_kind_of_option_everywhere() -> None:
    kinds = defaultdict(set)
    for command in LEAVES.values():
        for name, option in _options(command).items():
            kinds[name].add(_kind(option.hint))
    assert {name: each for name, each in kinds.items() if len(each) > 1} == {}


def test_a_model_that_labels_is_the_labeler_model() -> None:
    for path, command in LEAVES.items():
        names = _options(command)
        if path.startswith(("label", "score")):
            assert not {"--model", "--base-url", "--budget", "--price"} & names.keys(), path


def test_positional_arguments_are_runs_sheets_and_the_file_of_an_audit() -> None:
    for path, command in LEAVES.items():
        for each in _arguments(command):
            if each.field_info.is_positional:
                assert each.name.lstrip("-").upper() in ARGUMENTS, (path, each.name)


@pytest.mark.parametrize("path", LEAVES)
def test_help_has_an_example_that_parses(path: str) -> None:
    found = re.search(r"Example: (portrayal [^\n]+)", LEAVES[path].help or "")
    assert found, f"portrayal {path} has no example"
    words = shlex.split(found[1])[1:]
    own = path.split()
    assert words[: len(own)] == own
    _parses(words)


@pytest.mark.parametrize("path", sorted(LEAVES.keys() - DOCUMENTS))
def test_every_command_prints_json_when_asked(path: str) -> None:
    option = _options(LEAVES[path]).get("--format")
    assert option is not None
    assert "json" in get_args(option.hint)


def test_portrayal_alone_says_the_four_things_people_do_first() -> None:
    done = invoke()
    assert (done.exit_code, done.output) == (0, START)
    examples = re.findall(r"^  portrayal (.+)$", START, re.MULTILINE)
    assert len(examples) == 4
    for words in map(shlex.split, examples):
        assert words[0] == "audit"
        _parses(words)
    assert max(map(len, START.splitlines())) <= 80


@pytest.mark.parametrize("command", [("list", "studies"), ("list", "measures")])
def test_what_is_piped_fits_eighty_columns(command: tuple[str, ...]) -> None:
    done = invoke(*command)
    assert done.exit_code == 0
    assert max(cell_len(line.rstrip()) for line in done.output.splitlines()) <= 80


def test_completion_is_there_for_formats() -> None:
    option = _options(LEAVES["compare"])["--format"]
    assert get_args(option.hint) == ("table", "csv", "json")
    assert "--install-completion" in APP


def test_an_audit_shows_few_options_and_takes_the_others_by_set() -> None:
    shown = _options(LEAVES["audit laissez-faire"])
    assert len(shown) <= 32
    assert "--smoothing" not in shown
    assert "smoothing" in (shown["--set"].parameter.help or "")


def test_a_rare_option_may_be_named_like_any_other(tmp_path: Path) -> None:
    _parses(["audit", "laissez-faire", "--sample", "--smoothing", "0.5", "--draws", "200"])
    named, by_set = (
        invoke("audit", "laissez-faire", "--sample", "--out", str(tmp_path / "run"), *given).output
        for given in (("--smoothing", "-1"), ("--set", "smoothing=-1"))
    )
    assert "smoothing must be a number of 0 or more" in named
    assert named == by_set


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("people", "There is `portrayal find people` and `portrayal score people`."),
        ("adit", 'Unknown command "adit". Did you mean "audit"? `portrayal --help`'),
        ("nonsense", 'Unknown command "nonsense". `portrayal --help`'),
    ],
)
def test_a_wrong_command_names_the_right_one_once(given: str, said: str) -> None:
    done = invoke(given)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("smothing=1", "--set has no option 'smothing'. Did you mean 'smoothing'?"),
        ("smoothing", "--set takes KEY=VALUE"),
        ("smoothing=much", "smoothing must be a number; got 'much'"),
        ("report=maybe", "report must be true or false"),
        ("llm_settings.budgt=1", "llm_settings has no option 'budgt'"),
    ],
)
def test_a_key_that_cannot_be_set_is_refused(given: str, said: str) -> None:
    done = invoke("audit", "laissez-faire", "--sample", "--set", given)
    assert done.exit_code == 2
    assert said in done.stderr


def test_parameters_are_read_from_the_command_line() -> None:
    done = invoke("collect", "laissez-faire", "--parameter", "temperature=1", "--parameter", "x")
    assert done.exit_code == 2
    assert "--parameter takes NAME=VALUE" in done.stderr


def _unknown_options(text: str) -> set[str]:
    """Return the options that the text names behind a command that has none of that name."""
    unknown = set()
    for words in re.findall(r"portrayal ([a-z-]+ [^\n`\"]*--[^\n`\"]*)", text.replace("\\\n", " ")):
        group, thing = words.split()[:2]
        exact = [leaf for leaf in (f"{group} {thing}", group) if leaf in LEAVES]
        # A study by its path, or by none, has the options of any study
        of_group = [leaf for leaf in LEAVES if leaf == group or leaf.startswith(f"{group} ")]
        leaves = exact if f"{group} {thing}" in LEAVES else of_group
        names = {
            name for leaf in leaves for each in _arguments(LEAVES[leaf]) for name in each.names
        }
        given = re.findall(r"(?<![\w-])--[a-z][a-z-]+", words.split(" #")[0])
        unknown |= {f"{words}: {name}" for name in given if name not in {*names, "--help"}}
    return unknown


def test_every_option_that_a_text_names_is_one_of_its_command() -> None:
    assert _unknown_options("portrayal find cues RUN --passages FILE")
    folders = [ROOT / "src", ROOT / "docs", ROOT / "examples"]
    files = [file for folder in folders for file in folder.rglob("*")] + [*ROOT.glob("*.md")]
    texts = [f for f in files if f.suffix in {".md", ".py", ".toml", ".j2", ".yml"}]
    assert not {name for f in texts for name in _unknown_options(f.read_text("utf-8"))}
