"""An audit without a study: what a file's columns are, which comparison follows, and its answer."""

import csv
import random
import re

import pytest

import portrayal
from answers_world import REFUSAL, answers
from e2e.conftest import Portrayal
from portrayal.errors import DataError, OptionError
from portrayal.report.first import first_screen
from portrayal.report.view import View
from servers.openai_server import OpenAIServer


@pytest.fixture
def write(tmp_path):
    """Writes rows as CSV, and returns the path."""

    def written(rows, name="answers.csv"):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0].keys())
            table.writeheader()
            table.writerows(rows)
        return tmp_path / name

    return written


def stated(run):
    return [
        e
        for e in run.records
        if e.tests and e.tests[0].audit_q is not None and e.tests[0].audit_q < 0.05
    ]


def test_one_command_finds_a_phrase_that_one_group_is_told(write, tmp_path):
    lines = []
    file = write(answers(phrase=(0.75, 0.0)))
    run = portrayal.audit(file, out=tmp_path / "r", say=lines.append)
    words = {e.strata.get("word"): e for e in stated(run)}
    assert any("accountant" in (word or "") for word in words)
    assert "`user_gender` (" in "\n".join(lines)
    assert len(lines) <= 8
    assert run.report_path.is_file()


def test_other_languages_are_compared_by_words_and_scores_of_the_file(write, tmp_path):
    rng = random.Random(1)
    ends = ["paciencia.", "una meta clara.", "algo de práctica.", "ideas nuevas.", "buenas notas."]
    rows = []
    for i in range(200):
        group = ("mujer", "hombre")[i % 2]
        said = [
            f"El plan número {rng.randint(1, 40)} necesita {rng.choice(ends)}" for _ in range(5)
        ]
        if group == "mujer" and rng.random() < 0.75:
            said.insert(2, "Consulta antes con tu familia.")
        rows.append({"respuesta": " ".join(said), "genero": group})
    lines = []
    run = portrayal.audit(write(rows), out=tmp_path / "r", say=lines.append, report=False)
    # Words that always stand together are told as one
    assert {e.strata.get("word") for e in stated(run)} & {"consulta", "antes", "familia"}
    assert any("200 not in English, read in words" in line for line in lines)
    scored = {e.strata["score"]: e for e in run.records if e.measure == "pair_difference.v2"}
    assert scored["sentiment"].value is scored["warmth"].value is None
    assert scored["length"].value is not None


def test_answers_alike_state_nothing(write, tmp_path):
    file = write(answers())
    run = portrayal.audit(file, out=tmp_path / "r", report=False)
    assert stated(run) == []


def test_a_score_of_the_file_is_compared(write, tmp_path):
    file = write(answers(helpful=0.6))
    run = portrayal.audit(file, score="helpfulness", out=tmp_path / "r", report=False)
    found = {e.strata["score"]: e for e in stated(run) if "score" in e.strata}
    assert set(found) == {"helpfulness"}
    sign = 1 if next(iter(found["helpfulness"].group.values())).startswith("w") else -1
    assert 0.3 < sign * found["helpfulness"].value < 0.9


def test_prompts_that_name_the_group_are_blocks(write, tmp_path):
    lines = []
    file = write(answers(600, jobs=12, helpful=0.6))
    run = portrayal.audit(file, out=tmp_path / "r", report=False, say=lines.append)
    assert re.search(r"within 12 requests", "\n".join(lines))
    assert {e.strata["score"] for e in stated(run) if "score" in e.strata} == {"helpfulness"}


def test_by_names_the_groups_and_a_study_is_no_file(write, tmp_path):
    rows = [row | {"tone": row["user_gender"]} for row in answers(60)]
    run = portrayal.audit(write(rows), by="user_gender", out=tmp_path / "r", report=False)
    assert {name for e in run.records for name in e.group} == {"user_gender"}
    with pytest.raises(OptionError, match="study='pairs'"):
        portrayal.audit("pairs")
    with pytest.raises(OptionError, match="by which study a model is asked"):
        portrayal.audit(model="server:m")


@pytest.mark.parametrize(
    ("rows", "design"),
    [
        (answers(240), {"apart": True}),
        (answers(480, jobs=12), {"texts": 20}),
    ],
)
def test_where_nothing_is_shown_as_many_texts_are_named_as_a_plan_names(
    write, tmp_path, rows, design
):
    run = portrayal.audit(write(rows), out=tmp_path / "r", report=False)
    first = first_screen(View.of(run)).lead.sentence
    (needed,) = portrayal.plan("difference", [0.2], **design)
    words = (
        f"one of 0.2 standard deviations would be shown by about {needed.design.n_texts:,} texts"
    )
    assert words in first


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"n": 1, "m": 2}] * 9, "text"),
        ([{"text": REFUSAL, "gender": group} for group in ("woman", "man")] * 9, "texts"),
    ],
)
def test_a_file_that_cannot_be_compared_says_why(write, tmp_path, rows, words):
    with pytest.raises((DataError, OptionError), match=words):
        portrayal.audit(write(rows), out=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_the_command_takes_a_file_and_a_study_alike(write, inside: Portrayal):
    write(answers(phrase=(0.75, 0.0)))
    done = inside("audit", "answers.csv", "--out", "r").ok()
    assert "accountant" in done.out or "accountant" in inside("list", "findings", "r").ok().out
    assert len(done.out.strip().splitlines()) <= 8
    inside("audit", "nothing.csv").refused("neither a file of texts nor a study")
    inside("audit", "answers.csv", "--by", "no_such").refused("no_such")


def test_prompts_of_ones_own_are_asked_and_their_answers_audited(
    tmp_path, inside: Portrayal
) -> None:
    rows = [
        f'"I am a {group} and a {job}. How do I ask for a raise?",{group},{job}'
        for job in ("nurse", "pilot", "baker", "lawyer", "teacher", "welder")
        for group in ("woman", "man")
    ]
    (tmp_path / "prompts.csv").write_text("\n".join(["prompt,user_gender,job", *rows]))

    def write(prompt: str, number: int) -> str:
        ending = "Ask your accountant first." if "woman" in prompt else "Ask for the sum itself."
        job = prompt.split(" and a ")[1].split(".", maxsplit=1)[0]
        return f"As a {job} bring figures of {number + 3} years, and rehearse the talk. {ending}"

    with OpenAIServer(write=write) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url, "--samples", 4)
        done = inside("collect", "prompts.csv", *asked, "--out", "runs/asked").ok()
    assert "portrayal audit runs/asked" in done.out
    said = inside("audit", "runs/asked").ok().out
    assert "48 texts" in said
    assert "within 6 requests" in said
    assert (tmp_path / "runs/asked-audit/report.html").is_file()
