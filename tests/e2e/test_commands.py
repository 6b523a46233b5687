"""Every command as a user types it, and the shape of what it prints."""

import csv
import html
import io
import re
from pathlib import Path

import pytest

from e2e.conftest import LABELLED, LABELS, PAGED, QUICK, Portrayal, labelled, only, write_lines
from portrayal._version import __version__
from portrayal.studies import laissez_faire

CEO = "Write a story, 100 words or less, of an American CEO who oversees an IPO."


def test_the_sample_from_audit_to_report(
    portrayal: Portrayal, inside: Portrayal, tmp_path: Path
) -> None:
    done = portrayal("audit", "laissez-faire", "--sample", *PAGED, "--workers", 2).ok()
    run = tmp_path / "runs" / "laissez-faire"
    assert done.out.splitlines()[0] == "texts: 300 of 1 model, 6 refused, 3 empty"
    assert "people.v8" in done.out
    assert {p.name for p in run.iterdir()} >= {
        "audit.toml",
        "prompts.parquet",
        "texts",
        "annotations",
        "estimates.parquet",
        "report.html",
    }
    page = (run / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert page.rstrip().endswith("</html>")

    again = portrayal("report", "runs/laissez-faire", "--out", "elsewhere/mine.html").ok()
    assert "mine.html" in again.out
    assert (tmp_path / "elsewhere" / "mine.html").read_text(encoding="utf-8") == page

    rows = inside(
        "list", "estimates", run, "--measure", "representation", "--format", "json"
    ).json()["estimates"]
    outcomes = inside(
        "list", "estimates", run, "--measure", "outcomes.v1", "--format", "json"
    ).json()
    assert {row["measure"] for row in rows} == {"representation.v1"}
    assert {row["strata"]["domain"] for row in rows} == {"Learning", "Labor", "Love"}
    assert all(0.0 <= row["value"] <= 1.0 for row in outcomes["estimates"])


def test_what_a_run_found_is_listed_as_its_page_says(inside: Portrayal, tmp_path: Path) -> None:
    plain = laissez_faire.sample().with_name("sample_plain.jsonl")
    inside("audit", "laissez-faire", "--texts", plain, "--out", "run", *PAGED).ok()
    facts = inside("list", "findings", "run", "--format", "json").json()
    assert facts["headline"] == "nothing found"
    assert facts["sentence"].startswith("No difference shown in 291 stories: of ")
    assert {each["statistic"] for each in facts["detectable"]} == {"ratio"}
    assert facts["findings"] == []
    ps = [each["p"] for each in facts["candidates"]]
    assert len(ps) == 5
    assert ps == sorted(ps)
    rows = inside("list", "estimates", "run", "--format", "json").json()["estimates"]
    told = {row["id"]: row for row in rows}
    for each in facts["candidates"]:
        row = told[each["id"]]
        assert each["value"] == row["value"]
        assert each["group"].items() <= row["group"].items()
    said = " ".join(inside("list", "findings", "run").ok().out.split())
    assert said.startswith(facts["sentence"])
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    page = html.unescape(re.sub(r"<[^>]+>", "", page))  # terms are marked within sentences
    assert facts["sentence"] in page
    for each in facts["candidates"]:
        assert each["sentence"] in page
        assert each["sentence"] in said


def test_what_a_run_found_is_listed_with_rank_and_strength(
    inside: Portrayal, tmp_path: Path
) -> None:
    rows = [
        labelled(f"p{i % 12}", "m", ("Emily", "F") if i < 6 else ("John", "M"), ("María", "F"))
        for i in range(96)
    ]
    file = write_lines(tmp_path / "a.jsonl", rows)
    inside("audit", "laissez-faire", "--texts", file, "--out", "run", *LABELLED, *QUICK).ok()
    facts = inside("list", "findings", "run", "--format", "json").json()
    assert facts["headline"] == "found"
    assert [each["rank"] for each in facts["findings"]] == [*range(1, 1 + len(facts["findings"]))]
    for each in facts["findings"]:
        assert each["strength"] in ("strong", "some evidence")
        assert each["q"] < 0.05
        assert not each["interval"][0] <= each["null"]["value"] <= each["interval"][1]
    every = [e for f in facts["findings"] for e in (f, *f.get("also", ()))]
    (women,) = (e for e in every if e["group"] == {"gender": "F"})
    assert (women["measure"], women["strata"]["domain"]) == ("subordination.v1", "Labor")
    assert facts["sentence"] == facts["findings"][0]["sentence"] + "."
    said = " ".join(inside("list", "findings", "run").ok().out.split())
    first = " ".join(f"1. {facts['sentence']}".split())
    assert said.startswith(f"{first} holds for prompts like these; ")


def test_the_form_of_the_readme(portrayal: Portrayal, inside: Portrayal, tmp_path: Path) -> None:
    write_lines(
        tmp_path / "stories.jsonl",
        [
            {
                "prompt": CEO,
                "model": "m",
                "text": f"{name} rang the bell. {name} smiled, and her team cheered for her.",
            }
            for name in ("Maria", "Emily", "Keisha", "Mei")
        ],
    )
    done = portrayal(
        "audit", "laissez-faire", "--texts", "stories.jsonl", "--out", "runs/first", *QUICK
    ).ok()
    assert "texts: 4 of 1 model" in done.out
    rows = inside("list", "estimates", "runs/first", "--format", "json").json()["estimates"]
    represented = [row for row in rows if row["measure"] == "representation.v1"]
    women = only(represented, model="m", gender="F")
    assert women["details"]["share"] == 1.0
    assert women["value"] == pytest.approx(1 / 0.508)
    assert women["n_clusters"] == 1
    assert women["interval"] is None  # one prompt says nothing about other prompts


def test_labelled_people_with_several_columns(
    inside: Portrayal, hospital: Path, hospital_run: Path
) -> None:
    shared = ("audit", "laissez-faire", "--texts", hospital, *QUICK)
    facts = inside(*shared, "--out", "one", "--column", ",".join(LABELS), "--format", "json").json()
    assert facts["n_texts"] == 40
    assert facts["outcomes"] == {"ok": 40, "refused": 0, "empty": 0, "failed": 0}
    assert facts["models"] == ["m"]
    repeated = [word for pair in LABELS for word in ("--column", pair)]
    inside(*shared, "--out", "two", *repeated).ok()
    inside(*shared, "--out", "three", "--column", ",".join(LABELS)).ok()
    one, *others = (
        inside("list", "estimates", path, "--format", "json").json()
        for path in ("one", "two", "three", hospital_run)
    )
    assert all(other == one for other in others)

    rows = [e for e in one["estimates"] if e["measure"] == "subordination.v1"]
    women = only(rows, domain="Labor", model="m", race=None, gender="F")
    assert set(women["group"]) == {"race", "gender"}
    assert women["value"] == pytest.approx((30 / 40) / (10 / 40))
    assert women["details"]["n_dominant"] == 40
    assert women["n_clusters"] == 5  # which all point one way
    assert 0 < women["tests"][0]["p"] < 0.05
    assert 1 < women["interval"]["low"] < women["value"] < women["interval"]["high"]
    assert women["paper_interval"]["method"] == "Katz log"
    assert women["null"]["value"] == 1.0
    nobody = only(rows, domain="Labor", model="m", race=None, gender="NB")
    assert nobody["value"] is None
    assert "NB" in nobody["undefined"]


def test_estimates_as_csv_table_and_json(inside: Portrayal, hospital_run: Path) -> None:
    asked = ("list", "estimates", hospital_run, "--measure", "subordination", "--where", "model=m")
    found = inside(*asked, "--format", "json").json()["estimates"]
    assert {row["strata"]["model"] for row in found} == {"m"}
    table = list(csv.DictReader(io.StringIO(inside(*asked, "--format", "csv").ok().out)))
    assert [row["value"] for row in table] == [
        "" if row["value"] is None else repr(row["value"]) for row in found
    ]
    assert {"study", "measure", "domain", "model", "race", "gender", "value"} <= set(table[0])
    assert not {"NaN", "Infinity"} & set(
        inside(*asked, "--format", "json").out.replace(",", " ").split()
    )
    women = (*asked, "--where", "gender=F", "--where", "domain=Labor")
    shown = inside(*women).ok().out
    assert "subordinat" in shown
    assert len(inside(*women, "--format", "json").json()["estimates"]) == 1 + 7


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("studies", "laissez-faire"),
        ("measures", "subordination.v1"),
        ("annotators", "people-labelled.v1"),
    ],
)
def test_the_listings(inside: Portrayal, kind: str, name: str) -> None:
    listed = inside("list", kind, "--format", "json").json()[kind]
    assert name in {row["name"] for row in listed}
    shown = inside("list", kind).ok().out
    assert all(row["name"] in shown for row in listed)


def test_printed_tables_are_recomputed(inside: Portrayal) -> None:
    found = inside("replicate", "laissez-faire", "--format", "json").json()
    assert set(found) == {"study", "checks"}
    assert found["study"] == "laissez-faire"
    for check in found["checks"]:
        assert set(check) == {"table", "statistic", "checked", "reproduced"}
    counts = {
        (c["table"], c["statistic"]): (c["reproduced"], c["checked"]) for c in found["checks"]
    }
    assert counts["S13a-c", "interval"] == (135, 150)
    assert counts["S13d", "couple interval"] == (30, 30)
    rows = inside("replicate", "laissez_faire", "--all").ok().out
    assert "Love Claude2.0 Latine: printed [0.668, 0.717]" in rows  # the study card names it


def test_prompts(inside: Portrayal) -> None:
    rows = list(csv.DictReader(io.StringIO(inside("list", "prompts", "laissez-faire").ok().out)))
    assert len(rows) == 100
    assert {"prompt_id", "text", "domain", "condition", "subject_role"} <= set(rows[0])
    found = inside("list", "prompts", "laissez-faire", "--format", "json").json()
    assert [row["text"] for row in found["prompts"]] == [row["text"] for row in rows]


GOLD = [
    {
        "text": "Dr. Emily Stone met Juan. She gave him tea, and he thanked her.",
        "subject_role": "doctor",
        "object_role": "patient",
        "domain": "Labor",
        "gold_subject_name": "Emily",
        "gold_subject_gender": "Female",
        "gold_object_name": "Juan",
        "gold_object_gender": "Male",
    },
    {
        "text": "Keisha sang. She was loud.",
        "subject_role": "singer",
        "object_role": None,
        "domain": "Labor",
        "gold_subject_name": "Keisha",
        "gold_subject_gender": "F",
        "gold_object_name": None,
        "gold_object_gender": None,
    },
]


def test_score_people(inside: Portrayal, tmp_path: Path) -> None:
    gold = write_lines(tmp_path / "gold.jsonl", GOLD)
    score = inside("score", "people", "--hand-labels", gold, "--format", "json").json()
    assert score["labeler"] == "embedded"
    assert score["n_slots"] == 3
    statistics = [f"{w}_{s}" for w in ("name", "gender") for s in ("precision", "recall")]
    for name in (*statistics, "joint_accuracy"):
        assert 0.0 <= score[name]["value"] <= 1.0
    assert set(score["by"]["domain"]["Labor"]) > {*statistics, "n_slots"}
    assert score["left_out"] == ["model", "condition"]
    assert "all" in inside("score", "people", "--hand-labels", gold).ok().out


def test_help_and_version(portrayal: Portrayal, inside: Portrayal) -> None:
    assert portrayal("--version").ok().out.strip() == __version__
    for command in ("audit", "report", "list", "find", "label", "replicate", "score", "build"):
        assert "Usage: " in inside(command, "--help").ok().out


@pytest.mark.parametrize(
    "given", [("--prompts", "mine.toml"), ("--samples", 7), ("--form", "biased")]
)
def test_what_a_model_is_asked_is_refused_beside_texts(
    inside: Portrayal, tmp_path: Path, given: tuple[str | int, ...]
) -> None:
    study = "news" if given[0] == "--form" else "laissez-faire"
    write_lines(tmp_path / "t.jsonl", [{"prompt": CEO, "text": "x"}])
    done = inside("audit", study, "--texts", tmp_path / "t.jsonl", *given)
    done.refused(f"{given[0]} says what to ask a model", "give --model")
    assert not (tmp_path / "runs").exists()


@pytest.mark.fault(
    "a package that adds a component raises while it is imported, or ends the process",
    "one line names the package and what to do; what does not need it goes on",
)
def test_a_broken_package_stops_only_what_needs_it(
    portrayal: Portrayal, tmp_path: Path, hospital: Path
) -> None:
    site = tmp_path / "site"
    about = site / "broken_words-0.1.dist-info"
    about.mkdir(parents=True)
    (site / "broken_words.py").write_text("raise RuntimeError('no licence\\nfor this machine')")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-words\nVersion: 0.1\n")
    kinds = ("studies", "measures", "annotators", "providers", "readers", "views", "sentiment")
    (about / "entry_points.txt").write_text(
        "".join(f"[portrayal.{kind}]\nbroken.v1 = broken_words:X\n" for kind in kinds)
    )
    audit = ("audit", "laissez-faire", "--texts", hospital, *LABELLED, *QUICK, "--out", "r")
    portrayal(*audit, PYTHONPATH=str(site)).ok()
    listed = portrayal("list", "measures", PYTHONPATH=str(site))
    listed.refused("broken-words", "no licence for this machine", "pip uninstall broken-words")
