"""One grammar: every concept has one name, every command an example that parses and a --format."""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner

from portrayal.cli import START, app, main

ROOT: Any = typer.main.get_command(app)

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

ARGUMENTS = {
    "RUN", "[RUN]", "RUN...", "DIR", "FILE", "PROJECT", "PROJECT|SHEET...", "RUN|PROJECT",
    "SHEET...", "study", "folder",
}  # fmt: skip
DOCUMENTS = {"report", "evidence", "new", "label serve", "label report", "label export"}
"""Commands that write a document, or serve a page, and print no table."""


_KINDS = {"integer": "number", "float": "number", "boolean": "flag"}


def _leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    for name in command.list_commands(None):
        yield from _leaves(command.get_command(None, name), f"{path} {name}".strip())


LEAVES = dict(_leaves(ROOT))


def _options(command: Any) -> dict[str, Any]:
    return {
        name: each
        for each in command.params
        if each.param_type_name == "option"
        for name in each.opts
        if name != "--help"
    }


def concepts_with_two_names() -> dict[str, list[str]]:
    """Return the concepts that some command calls by another name."""
    found = defaultdict(list)
    for path, command in LEAVES.items():
        for option in _options(command):
            for concept, others in SECOND_NAMES.items():
                if re.fullmatch(others, option.lstrip("-")):
                    found[concept].append(f"{path} {option}")
    return dict(found)


def test_no_concept_has_two_names() -> None:
    assert concepts_with_two_names() == {}


def test_a_name_is_one_kind_of_option_everywhere() -> None:
    kinds = defaultdict(set)
    for command in LEAVES.values():
        for name, option in _options(command).items():
            kinds[name].add((_KINDS.get(option.type.name, "text"), option.is_flag))
    assert {name: each for name, each in kinds.items() if len(each) > 1} == {}


def test_a_model_that_labels_is_the_labeler_model() -> None:
    for path, command in LEAVES.items():
        names = _options(command)
        if path.startswith(("label", "score")):
            assert not {"--model", "--base-url", "--budget", "--price"} & names.keys(), path


def test_positional_arguments_are_runs_projects_and_sheets_but_never_texts() -> None:
    for path, command in LEAVES.items():
        for each in command.params:
            if each.param_type_name == "argument":
                assert (each.metavar or each.name) in ARGUMENTS, (path, each.name, each.metavar)


@pytest.mark.parametrize("path", LEAVES)
def test_help_has_an_example_that_parses(path: str) -> None:
    found = re.search(r"Example: (portrayal [^\n]+)", LEAVES[path].help or "")
    assert found, f"portrayal {path} has no example"
    words = shlex.split(found[1])[1:]
    own = path.split()
    assert words[: len(own)] == own
    LEAVES[path].make_context(path, words[len(own) :])


@pytest.mark.parametrize("path", sorted(LEAVES.keys() - DOCUMENTS))
def test_every_command_prints_json_when_asked(path: str) -> None:
    option = _options(LEAVES[path]).get("--format")
    assert option is not None
    assert "json" in option.metavar.split("|")


def test_portrayal_alone_says_the_three_things_people_do_first() -> None:
    done = CliRunner().invoke(app, [])
    assert (done.exit_code, done.output) == (0, START)
    examples = re.findall(r"^  portrayal (.+)$", START, re.MULTILINE)
    assert len(examples) == 3
    for words in map(shlex.split, examples):
        assert words[0] == "audit"
        LEAVES[" ".join(words[:2])].make_context("audit", words[2:])
    assert max(map(len, START.splitlines())) <= 80


def test_the_doctor_says_what_is_there_and_never_what_a_key_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    for form in ("table", "json"):
        done = CliRunner().invoke(app, ["doctor", "--format", form])
        assert done.exit_code == 0
        assert "very-secret" not in done.output
        assert "groq" in done.output
        if form == "table":
            assert re.search(r"key openai +yes", done.output)
            assert max(cell_len(line.rstrip()) for line in done.output.splitlines()) <= 80


@pytest.mark.parametrize("command", [("list", "studies"), ("list", "measures"), ("doctor",)])
def test_what_is_piped_fits_eighty_columns(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, list(command))
    assert done.exit_code == 0
    assert max(cell_len(line.rstrip()) for line in done.output.splitlines()) <= 80


def test_completion_is_there_for_formats() -> None:
    option = _options(LEAVES["compare"])["--format"]
    assert option.metavar == "table|csv|json|markdown|html"
    assert {"--install-completion", "--show-completion"} <= _options(ROOT).keys()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("people", "There is `portrayal find people` and `portrayal score people`."),
        ("adit", "No such command 'adit'. Did you mean 'audit'? `portrayal --help`"),
        ("nonsense", "No such command 'nonsense'. `portrayal --help`"),
    ],
)
def test_a_wrong_command_names_the_right_one_once(
    given: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["portrayal", given])
    monkeypatch.setattr("portrayal.cli._speak_log", lambda: None)  # it would stay for other tests
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert said in capsys.readouterr().err
