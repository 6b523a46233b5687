"""What would tell more of the same texts: the option, with a command that can be run."""

import random
import shlex
from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal.report.first import first_screen
from portrayal.report.headline import headline
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.laissez_faire import prompts

STORY = (
    "Maria could not follow the lesson on day {i}. She asked John for help, and he, the star "
    "student of the class, taught her what he knew of it."
)
AGENTIC = ("{} led the team and won the award.", "{} founded a company and set records.")
COMMUNAL = ("{} cared for family and friends.", "{} is warm and helped the neighbours.")
QUICK: dict[str, Any] = {"permutations": 50, "draws": 100, "report": False}


def of_command(line: str) -> dict[str, str]:
    """The options that a line's command gives."""
    words = shlex.split(line[line.index("portrayal audit") :])
    assert words[:2] == ["portrayal", "audit"]
    return dict(zip(words[3::2], words[4::2], strict=True)) | {"study": words[2]}


def test_few_prompts_answer_for_themselves(tmp_path: Path) -> None:
    laden = [p for p in prompts() if p.prompt_id.startswith("learning-laden")][:3]
    rows = [
        {"prompt": p.text, "model": "m", "text": STORY.format(i=f"{i} of {p.prompt_id}")}
        for p in laden
        for i in range(20)
    ]
    run = portrayal.audit(study="laissez-faire", texts=rows, out=tmp_path / "a run", **QUICK)
    view = View.of(run)
    screen = first_screen(view)
    assert screen.findings, screen.lead.sentence
    assert screen.remedies == ()
    assert headline(view, screen.findings).kind == "found"


def letters(n: int, seed: int = 4) -> list[dict[str, str]]:
    """Texts about women and men of ten templates, which tell far more of them than the gender."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        gender, template = ("woman", "man")[i % 2], (i // 2) % 10
        chance = (0.05, 0.95)[template % 2]
        kinds = [AGENTIC if rng.random() < chance else COMMUNAL for _ in range(4)]
        name = "She" if gender == "woman" else "He"
        text = " ".join(rng.choice(kind).format(name) for kind in kinds)
        rows.append({"gender": gender, "template": f"t{template}", "text": text})
    return rows


def agency(rows: list[dict[str, str]], out: Path, **more: Any) -> Run:
    return portrayal.audit(
        study="agency", texts=rows, out=out, permutations=50, report=False, **more
    )


def width(run: Run) -> float:
    (gap,) = (
        e
        for e in run.records
        if e.measure.startswith("agency_gap")
        and (e.strata["stratum"], e.strata["masking"]) == ("all", "masked")
    )
    assert gap.interval is not None
    return gap.interval.high - gap.interval.low


def test_a_column_by_which_texts_are_alike_is_named_where_it_sharpens(tmp_path: Path) -> None:
    run = agency(letters(80), tmp_path / "run")
    (line,) = first_screen(View.of(run)).remedies
    given = of_command(line)
    assert given["--cluster"] == "template"
    before = width(run)
    again = portrayal.audit(
        study=given["study"], out=given["--out"], config=given["--config"], cluster="template"
    )
    assert f"±{50 * width(again):.0f} points in place of ±{50 * before:.0f}: " in line
    assert width(again) < 0.5 * before
    assert first_screen(View.of(again)).remedies == ()


def test_a_column_that_tells_nothing_or_holds_one_group_is_not_named(tmp_path: Path) -> None:
    rng = random.Random(0)
    rows = [{**row, "template": f"t{rng.randrange(10)}"} for row in letters(80)]
    assert first_screen(View.of(agency(rows, tmp_path / "any"))).remedies == ()
    own = [{**row, "template": row["template"] + row["gender"]} for row in letters(80)]
    assert first_screen(View.of(agency(own, tmp_path / "own"))).remedies == ()


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Set a clear goal as a {}.", "every sentence is called agentic"),
        ("She lovingly helped and supported the {}.", "every sentence is called communal"),
    ],
)
def test_texts_that_are_all_classed_alike_say_that_the_classifier_does_not_fit(
    tmp_path: Path, sentence: str, words: str
) -> None:
    jobs = ("nurse", "baker", "pilot", "clerk", "chef")
    rows = [
        {
            "gender": ("woman", "man")[i % 2],
            "text": f"{sentence.format(jobs[i % 5])} " * (1 + i % 7),
        }
        for i in range(40)
    ]
    run = agency(rows, tmp_path / "run")
    gaps = [e for e in run.records if e.measure.startswith("agency_gap")]
    assert all(words in e.status.no_test for e in gaps)
    screen = first_screen(View.of(run))
    assert screen.lead.sentence.startswith(
        f"Nothing could be seen in 40 texts: all texts are classed alike ({words}): this "
        "classifier does not fit such texts; another may tell them apart (--classifier "
    )
