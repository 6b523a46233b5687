"""What stands between the commands and the collector: options, confirmation, words, names."""

import dataclasses
import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

from portrayal.cli import ask as cli_ask
from portrayal.cli import label as cli_label
from portrayal.cli import printing as show
from portrayal.collect.ask import CollectReport, CostEstimate, Usage
from portrayal.collect.ask.asking import Asking, ask_model, prompts_of, summary
from portrayal.errors import DataError, OptionError, UnknownNameError
from portrayal.run import Run

FILE = '[[prompt]]\nid = "a"\ntext = "Write."\n{}'
STRATA = 'domain = "Labor"\ncondition = "power-neutral"\nsubject_role = "nurse"\n'


def _load(name):
    path = Path(__file__).parents[2] / "servers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"portrayal_unit_{name}", path)
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
        "peak": 2,
        "seconds": 1.0,
        "stopped": "",
    }
    return CollectReport(**(given | more))


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        (None, {}),
        (["seed=3", "temperature=0.5"], {"seed": 3, "temperature": 0.5}),
        (["system=a=b", " top_p = 1 "], {"system": "a=b", "top_p": 1}),
    ],
)
def test_parameters(pairs, found):
    assert cli_ask.parameters_of(pairs) == found


@pytest.mark.parametrize("pair", ["seed", "=3", " =3"])
def test_a_parameter_needs_a_name_and_a_value(pair):
    with pytest.raises(OptionError, match="NAME=VALUE"):
        cli_ask.parameters_of([pair])


def test_a_command_takes_the_options_of_a_group_one_by_one_and_gets_them_together():
    got = {}

    @cli_ask.grouped
    def command(study: str, model: str = "m", *, how: cli_ask.How, json: bool = False) -> None:
        got.update(study=study, model=model, how=how, json=json)

    shared = [field.name for field in dataclasses.fields(cli_ask.How)]
    names = list(inspect.signature(command).parameters)
    assert names == ["study", "model", *shared, "json"]
    command(study="s", model="m", rpm=3.0, parameter=["seed=1"], json=True)
    assert got["how"] == cli_ask.How(rpm=3.0, parameter=["seed=1"])
    assert got["study"] == "s"
    assert got["json"]
    asking = got["how"].asking("server:m", samples=4)
    assert asking == Asking("server:m", 4, rpm=3.0, parameters={"seed": 1})
    with pytest.raises(OptionError, match="--model SERVICE:MODEL"):
        got["how"].asking(None)
    with pytest.raises(OptionError, match="--batch"):
        got["how"].asking("openai:m", wait=0.0)


def test_the_options_of_a_labeler_say_nothing_without_its_model():
    labels = cli_label.LabelerHow(labeler_base_url="http://x", labeler_budget="1 USD")
    with pytest.raises(OptionError, match="--labeler-base-url says nothing"):
        labels.settings(None, cli_ask.How())
    made = labels.settings("server:m", cli_ask.How(rpm=2.0, budget="9 USD", base_url="http://y"))
    assert (made["base_url"], made["budget"], made["rpm"]) == ("http://x", "1 USD", 2.0)
    assert cli_label.LabelerHow().settings(None, cli_ask.How()) == {}


def test_only_the_given_options_reach_the_prompts():
    assert cli_ask.prompt_options(None, None, False) == {}
    assert cli_ask.prompt_options(None, ["biased"], True) == {
        "forms": ("biased",),
        "fairness": True,
    }


@pytest.mark.parametrize("model", ["server:m", "local:weights"])
def test_what_nobody_bills_is_not_confirmed(model):
    assert cli_ask.confirmation(False, model) is None
    assert cli_ask.confirmation(True, "openai:m") is None


def test_off_a_terminal_only_a_yes_starts(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    confirm = cli_ask.confirmation(False, "openai:m")
    assert confirm(CostEstimate(0, 0, 0, 0.0))  # nothing is left to pay for
    with pytest.raises(OptionError, match=r"3 requests to openai:m.* 1\.50 USD.*--yes"):
        confirm(CostEstimate(3, 10, 20, 1.5))
    with pytest.raises(OptionError, match="--price gives one"):
        confirm(CostEstimate(3, 10, 20, None))


def test_prompts_of_a_file_and_of_a_study(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE.format(STRATA), encoding="utf-8")
    assert [p.prompt_id for p in prompts_of("laissez_faire", path)] == ["a"]
    assert len(prompts_of("laissez-faire")) == 100
    with pytest.raises(OptionError, match="fairness cannot change them"):
        prompts_of("agency", path, {"fairness": True})
    path.write_text(FILE.format(""), encoding="utf-8")
    with pytest.raises(DataError, match="prompt 1"):
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
    assert words in summary(_report(stopped=stopped, cost=0.25))


def test_a_model_is_printed_as_it_was_typed(capsys):
    show.line(summary(_report(model="server:m:smile:[b]")))
    assert "asked server:m:smile:[b]:" in capsys.readouterr().out


def test_a_batch_is_confirmed_before_it_is_handed_in(tmp_path, monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    file = tmp_path / "mine.toml"
    file.write_text(FILE.format(STRATA), encoding="utf-8")
    estimates, told, run = [], [], Run(tmp_path / "r")

    def ask(server, answer, **more):
        def confirm(estimate):
            estimates.append(estimate)
            return answer

        address = f"{server.url}/v1"
        asking = Asking(
            "openai:gpt-test", prompts=file, base_url=address, batch=True, confirm=confirm, **more
        )
        return ask_model(run, "laissez-faire", asking, told.append)

    with _load("batch_server").BatchServer(looks=1) as server, run.lock():
        with pytest.raises(OptionError, match="declined"):
            ask(server, False)
        assert server.creates == 0
        report = ask(server, True, wait=0)
        assert (server.creates, report.open_batches) == (1, 1)
        assert "1 batch(es) under way" in told[-1]
        live = Asking("openai:gpt-test", prompts=file, base_url=f"{server.url}/v1")
        with pytest.raises(OptionError, match="--batch"):
            ask_model(run, "laissez-faire", live, told.append)
        assert ask(server, False).complete  # handed in already, so there is nothing to confirm
    assert [e.requests for e in estimates] == [1, 1]
