"""Tasks: the study's prompts, all of them or the chosen ones, each asked as often as wanted."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import OptionError, UnknownNameError
from portrayal.records import Prompt
from portrayal.studies.laissez_faire import prompts

pytestmark = pytest.mark.usefixtures("inspect_ai")


def test_laissez_faire_asks_the_hundred_prompts() -> None:
    from portrayal.inspect import laissez_faire

    made = laissez_faire(samples=3)
    assert [sample.id for sample in made.dataset] == [p.prompt_id for p in prompts()]
    assert [sample.input for sample in made.dataset] == [p.text for p in prompts()]
    for sample, prompt in zip(made.dataset, prompts(), strict=True):
        assert sample.metadata == {"prompt_id": prompt.prompt_id, **prompt.strata}
    assert made.epochs == 3
    assert len(made.scorer) == 2


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({"domain": "Learning"}, 30),
        ({"domain": ["labor", "LOVE"]}, 70),
        ({"domain": "Labor,Love"}, 70),
        ({"condition": "power-laden"}, 50),
        ({"domain": "Love", "condition": "power-neutral"}, 20),
    ],
)
def test_prompts_can_be_chosen(where: dict[str, Any], count: int) -> None:
    from portrayal.inspect import laissez_faire

    assert len(laissez_faire(**where).dataset) == count


def test_a_wrong_choice_names_the_right_ones() -> None:
    from portrayal.inspect import laissez_faire, portrayal_prompts

    with pytest.raises(OptionError, match="Labor, Learning, Love"):
        laissez_faire(domain="Sports")
    with pytest.raises(OptionError, match="samples must be a whole number"):
        laissez_faire(samples=0)
    with pytest.raises(UnknownNameError, match="laissez-faire"):
        portrayal_prompts("nothing-like-it")
    with pytest.raises(OptionError, match="headlines"):
        portrayal_prompts("laissez-faire", options={"headlines": "x.csv"})


def test_any_study_can_be_asked_by_name() -> None:
    from portrayal.inspect import portrayal_prompts

    where = ["domain=Labor,Love", "condition=power-laden"]
    assert len(portrayal_prompts("laissez_faire", where=where).dataset) == 35
    assert len(portrayal_prompts("laissez_faire", where=",".join(where)).dataset) == 35
    with pytest.raises(OptionError, match="FIELD=VALUE"):
        portrayal_prompts("laissez_faire", where="Love")


def made_prompts(topic: str = "rivers") -> tuple[Prompt, ...]:
    return (Prompt("one", f"Write about {topic}.", {"domain": "Nature"}),)


def test_a_study_of_another_package_becomes_a_task(
    monkeypatch: pytest.MonkeyPatch, evaluate: Callable[..., Any]
) -> None:
    from portrayal.inspect import tasks as module
    from portrayal.inspect.tasks import register_studies

    point = EntryPoint("river-stories", f"{__name__}:made_prompts", module.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: made_prompts)
    monkeypatch.setattr(module, "entry_points", lambda group: [point])
    register_studies()
    log = evaluate("portrayal/river_stories", ["Once."], task_args={"options": {"topic": "seas"}})
    assert log.status == "success"
    assert [sample.input for sample in log.samples] == ["Write about seas."]
    assert list(log.samples[0].scores) == ["outcome"]  # no roles, so no people to look for


def test_the_cache_gives_no_text_twice(model: Callable[..., Any], tmp_path: Path) -> None:
    import inspect_ai
    from inspect_ai.model import GenerateConfig

    from portrayal.inspect import laissez_faire

    texts = [f"Story {number}." for number in range(20)]
    asked = model(texts, config=GenerateConfig(cache=True))
    found = [
        sample.output.completion
        for _ in range(2)
        for sample in inspect_ai.eval(
            laissez_faire(samples=5),
            model=asked,
            limit=2,
            log_dir=str(tmp_path / "logs"),
            display="none",
        )[0].samples
    ]
    assert sorted(found) == sorted(texts)


OFFLINE = """
import tiktoken

class Words:
    def encode(self, text, **_):
        return text.split()

tiktoken.get_encoding = lambda _: Words()
"""


def test_inspect_finds_the_task_on_its_command_line(tmp_path: Path) -> None:
    """Needs the entry point, so an installed package; token counts need no download."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    (tmp_path / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    command = [sys.executable, "-m", "inspect_ai", "eval", "portrayal/laissez_faire"]
    done = subprocess.run(
        [
            *command,
            "--model",
            "mockllm/model",
            "--limit",
            "3",
            "-T",
            "samples=2",
            "-T",
            "domain=Labor",
            "--display",
            "plain",
            "--log-dir",
            "logs",
        ],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [info] = list_eval_logs(str(tmp_path / "logs"))
    log = read_eval_log(info)
    assert log.status == "success", done.stdout
    assert len(log.samples or []) == 6
    assert {sample.metadata["domain"] for sample in log.samples or []} == {"Labor"}


FAITH = """
name = "faith"
label = "Faith"
note = "Mentions."
[groups.sun]
[groups.moon]
[[sources]]
kind = "words"
words = { sun = ["sunny"], moon = ["moonlit"] }
[[sources]]
kind = "column"
column = "faith"
[[sources]]
kind = "model"
question = "Which?"
"""


def test_a_study_of_ones_own_is_a_task_with_its_factors(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    from portrayal.inspect import portrayal_prompts
    from portrayal.pipeline.audit import audit

    (tmp_path / "faith.toml").write_text(FAITH, encoding="utf-8")
    study = tmp_path / "mine.toml"
    study.write_text(
        'factors = ["faith.toml", "gender"]\n[people]\nread = "none"\n'
        '[[prompt]]\ntext = "Write about a hill."\nfaith = "sun"\n'
        '[[prompt]]\ntext = "Write about a sea."\nfaith = "moon"\n',
        encoding="utf-8",
    )
    texts = ["A sunny hill.", "A sunny, moonlit sea.", "A hill.", ""]
    log = evaluate(portrayal_prompts(str(study), samples=2, factor="religion"), texts)
    assert log.status == "success"
    assert log.eval.metadata["portrayal_study"] == "mine"
    assert [sample.input for sample in log.samples[:2]] == [p.text for p in study_prompts(study)]
    (found,) = [score for score in log.results.scores if score.name == "groups"]
    shares = {name: metric.value for name, metric in found.metrics.items()}
    # words of the three answers that can be read: sun, sun and moon, none
    assert shares["faith_words_sun"] == pytest.approx(0.75)
    assert shares["faith_words_moon"] == pytest.approx(0.25)
    assert shares["faith_words_seen"] == pytest.approx(2 / 3)
    assert shares["religion_words_seen"] == 0.0
    assert not any("model" in name or "gender" in name for name in shares)
    values = [s.scores["groups"].value for s in log.samples]
    said = [v["faith_words"] for v in values if isinstance(v, dict)]
    assert sorted(said) == ["none", "sun", "sun; moon"]
    # the audit of the log reads the same
    (tmp_path / "faith.toml").write_text(FAITH[: FAITH.rindex("[[sources]]")], encoding="utf-8")
    run = audit(
        str(study), texts=log.location, out=tmp_path / "run", draws=100, permutations=20,
        report=False,
    )  # fmt: skip
    shown = {
        e.group["faith"]: e.value
        for e in run.records
        if e.measure == "group_share.v1"
        and e.strata["seen_by"] == "words"
        and "faith" in e.group
        and all(v in ("all", "words") or k == "model" for k, v in e.strata.items())
    }
    assert shown == pytest.approx({"sun": 0.75, "moon": 0.25})


def study_prompts(study: Path) -> tuple[Prompt, ...]:
    from portrayal.inspect import tasks

    return tasks.study_prompts(str(study))


def test_what_no_answer_shows_is_refused(tmp_path: Path) -> None:
    from portrayal.errors import DataError
    from portrayal.inspect import laissez_faire, portrayal_prompts

    with pytest.raises(OptionError, match="portrayal audit STUDY --texts LOG --factor race"):
        laissez_faire(factor="race")
    with pytest.raises(UnknownNameError, match="neither a factor that ships"):
        laissez_faire(factor="nothing-like-it")
    (tmp_path / "bad.toml").write_text("prompts = 3\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.toml"):
        portrayal_prompts(str(tmp_path / "bad.toml"))
    (tmp_path / "good.toml").write_text('prompts = ["Write."]\n', encoding="utf-8")
    with pytest.raises(OptionError, match="take no options"):
        portrayal_prompts(str(tmp_path / "good.toml"), options={"headlines": "x.csv"})
