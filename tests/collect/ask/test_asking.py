"""What stands between the commands and the collector: options, confirmation, words, names."""

import types
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from portrayal import registry
from portrayal.cli import asking as cli_asking
from portrayal.cli import printing as show
from portrayal.cli.asking import asking_options
from portrayal.cli.options import given, prompt_options, record, split_prompt_options
from portrayal.collect.ask.asking import Asking, prompts_of
from portrayal.collect.ask.budget import CostEstimate
from portrayal.collect.ask.collection import CollectReport
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Usage
from portrayal.config import AuditOptions, llm_settings, options_of
from portrayal.errors import DataError, OptionError, UnknownNameError

FILE = '[[prompt]]\nid = "a"\ntext = "Write."\n{}'
STRATA = 'domain = "Labor"\ncondition = "power-neutral"\nsubject_role = "nurse"\n'


def _report(**more):
    given = {
        "model": "server:m",
        "done": 66,
        "total": 1000,
        "outcomes": {"ok": 60, "refused": 6, "empty": 0},
        "asked": 66,
        "tries": 70,
        "usage": Usage(1, 2),
        "cost": None,
        "stopped": "",
    }
    return CollectReport(**(given | more))


SETTINGS = [o for n, o in options_of(AuditOptions).items() if n.endswith("_settings")]
HOW = record(
    [
        *asking_options("model", "samples", limits=("parameters", "rpm", "budget"), samples=3),
        *SETTINGS,
    ]
)


def taken(**values):
    """Return the record with these values, as the command line makes it."""
    return type(HOW)(**values)


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        (["seed=3", "temperature=0.5"], {"seed": 3, "temperature": 0.5}),
        (["system=a=b", " top_p = 1 "], {"system": "a=b", "top_p": 1}),
    ],
)
def test_parameters(pairs, found):
    assert given(taken(parameter=pairs)) == {"parameters": found}


@pytest.mark.parametrize("pair", ["seed", "=3", " =3"])
def test_a_parameter_needs_a_name_and_a_value(pair):
    with pytest.raises(OptionError, match="NAME=VALUE"):
        given(taken(parameter=[pair]))


def test_a_record_says_what_was_given_and_what_was_set():
    assert given(HOW) == {}
    assert given(taken(samples=3, model="")) == {}
    keys = ["rpm=2", "llm_settings.budget=1 USD", "llm_settings.parameters.seed=4"]
    assert given(taken(model="server:m", set=keys)) == {
        "model": "server:m",
        "rpm": 2.0,
        "llm_settings": {"budget": "1 USD", "parameters": {"seed": 4}},
    }
    settings = cli_asking.settings_of(taken(model="server:m", parameter=["seed=1"]))
    asking = cli_asking.asking_of(settings | {"samples": 3})
    assert asking == Asking("server:m", 3, parameters={"seed": 1}, confirm=cli_asking.confirm)
    assert "confirm" not in cli_asking.settings_of(taken(yes=True))
    with pytest.raises(OptionError, match="--model SERVICE:MODEL"):
        cli_asking.asking_of({})


def test_the_options_of_a_model_that_is_not_asked_say_nothing():
    budget = {"base_url": "http://x", "budget": "1 tokens"}
    with pytest.raises(OptionError, match="--labeler-base-url says nothing without --labeler-mod"):
        llm_settings([None], budget, {}, "--labeler-{}")
    first = {"rpm": 2.0, "budget": "9 USD", "base_url": "http://y"}
    made = llm_settings(["llm:server:m"], {"budget": "1 tokens"}, first)
    assert made == {"rpm": 2.0, "base_url": "http://y", "budget": "1 tokens"}
    with pytest.raises(OptionError, match=r"llm_settings\.budget says nothing without"):
        llm_settings([None], {"budget": "1 tokens"}, first)


def test_a_prompt_maker_says_its_options_itself():
    def make(rows: Any, *, kinds: Sequence[str] = ("a",), marks: Mapping[str, int] | None = None):
        """Make.

        Parameters
        ----------
        rows
            A file; or rows of it.
        kinds, marks
            Which ones. More words.
        """

    maker = types.SimpleNamespace(make=make)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "get", lambda *_: maker)
        patch.setattr(registry, "names", lambda *_: ("made-up",))
        options = prompt_options("made-up")
    assert [each.name for each in options] == ["rows", "kinds", "marks"]
    assert [each.flag for each in options] == ["rows", "kind", "mark"]
    words = ["A file.", "Which ones. Repeatable.", "Which ones. Repeatable."]
    assert [each.help for each in options] == words
    asked = record(options)
    assert given(type(asked)(kind=["b"], mark=["x=1"])) == {"kinds": ("b",), "marks": {"x": 1}}
    with pytest.raises(OptionError, match="--mark takes NAME=VALUE"):
        given(type(asked)(mark=["x"]))


def test_only_the_given_options_reach_the_prompts():
    assert split_prompt_options({"budget": "1 USD"}, "news") == {"budget": "1 USD"}
    made = split_prompt_options({"fairness": True, "samples": 2}, "agency")
    assert made == {"samples": 2, "prompt_options": {"fairness": True}}


def test_what_no_one_bills_is_not_confirmed():
    assert cli_asking.confirm(CostEstimate(3, 10, 20, None, "server:m"))


def test_off_a_terminal_only_a_yes_starts(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    confirm = cli_asking.confirm
    assert confirm(CostEstimate(0, 0, 0, 0.0, "openai:m"))  # nothing is left to pay for
    with pytest.raises(OptionError, match=r"3 requests to openai:m.* 1\.50 USD.*--yes"):
        confirm(CostEstimate(3, 10, 20, 1.5, "openai:m"))
    with pytest.raises(OptionError, match="--price gives one"):
        confirm(CostEstimate(3, 10, 20, None, "openai:m"))


def test_prompts_of_a_file_and_of_a_study(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE.format(STRATA), encoding="utf-8")
    assert [p.prompt_id for p in prompts_of("laissez_faire", path)] == ["a"]
    assert len(prompts_of("laissez-faire")) == 100
    with pytest.raises(OptionError, match="fairness cannot change them"):
        prompts_of("agency", path, {"fairness": True})
    path.write_text(FILE.format(""), encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1: prompt\.condition"):
        prompts_of("laissez-faire", path)
    with pytest.raises(UnknownNameError):
        prompts_of("nothing")


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("", "66 of 1,000 answers (60 ok, 6 refused), 0.25 USD so far"),
        ("budget", "stopped at the budget"),
        ("interrupted", "the same command continues"),
        ("declined", "not started"),
    ],
)
def test_the_summary(stopped, words):
    assert words in _report(stopped=stopped, cost=0.25).summary


def test_a_model_is_printed_as_it_was_typed(capsys):
    show.line(_report(model="server:m:smile:[b]").summary)
    assert "asked server:m:smile:[b]:" in capsys.readouterr().out


def test_what_is_waited_for_is_said_once_a_second_has_passed_and_again_when_it_changes():
    said, now = [], [0.0]
    waits = cli_asking.Waits(said.append, lambda: now[0])

    def at(seconds, words):
        now[0] = seconds
        waits.say(types.SimpleNamespace(done=3, total=9, waits_for=words))

    at(0.2, "waiting 0 s")
    at(0.4, "waiting 0 s")
    assert said == []
    at(0.8, "waiting 1 s")
    at(1.0, "waiting 1 s")
    at(1.2, "trying again")
    at(12.0, "")
    assert said == ["asking, 3 of 9: waiting 1 s"]
    at(12.2, "trying again")
    at(40.0, "trying again")
    at(73.0, "trying again")
    assert said[1:] == ["asking, 3 of 9: trying again"] * 2


def test_the_summary_counts_what_was_lost_on_the_way():
    many = {"no choices": 2, "HTML": 7, "a": 1, "b": 1}
    said = _report(outcomes={"ok": 60, "failed": 6}, malformed=many, damaged=2).summary
    assert "60 of 1,000 answers (60 ok, 6 failed)" in said
    words = "11 malformed answers, paid for: HTML (7), no choices (2), a (1) and 1 other reasons"
    assert words in said
    assert "set aside from the journal: 2 damaged lines (journal.damaged)" in said
    assert "failed: rejected (6)" in _report(reasons={"rejected": 6}).summary


@pytest.mark.parametrize("timeout", [0, -1, 601, float("nan")])
def test_a_timeout_is_one(timeout):
    with pytest.raises(OptionError, match="600 s"):
        Asking("server:m", timeout=timeout)
    asking = Asking("server:m", timeout=20.0, retry=Retry(attempts=3))
    assert asking.patience() == Retry(attempts=3, timeout=20.0)
