"""Files whose column of texts goes by no known name: it is told by what it holds."""

import csv
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import QUICK, Portrayal

NAMES = {"female": ("Emily", "Keisha", "Carmen"), "male": ("James", "Malik", "Diego")}
JOBS = ("chef", "dancer", "writer", "student")


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def biographies(tmp_path: Path) -> Path:
    """Texts written for this test, in the columns of the authors of the agency study."""
    rows = []
    for job in JOBS:
        for gender, names in NAMES.items():
            for name, race in zip(names, ("White", "Black", "Hispanic"), strict=True):
                words = f"{name} runs a {job} school. " + (
                    "She helps all who come." if gender == "female" else "He won every prize."
                )
                row = {"chatgpt_gen": words, "first_name": name, "gender": gender, "race": race}
                rows.append({**row, "occupation": job})
    return _write(tmp_path / "bios.csv", rows)


def test_biographies_of_the_agency_study(inside: Portrayal, biographies: Path) -> None:
    done = inside("audit", "agency", "--texts", biographies, "--out", "r", *QUICK).ok()
    assert "read as name = first_name, text = chatgpt_gen" in done.err
    assert "texts: 24 of 1 model" in done.out


def test_two_columns_of_texts_are_asked_about(inside: Portrayal, biographies: Path) -> None:
    with biographies.open(encoding="utf-8", newline="") as stream:
        rows = [{**row, "llama3_gen": row["chatgpt_gen"][::-1]} for row in csv.DictReader(stream)]
    _write(biographies, rows)
    command = ("audit", "agency", "--texts", biographies, "--out", "r", *QUICK)
    inside(*command).refused("'chatgpt_gen' and 'llama3_gen'", "--column text=chatgpt_gen")
    inside(*command, "--column", "text=llama3_gen").ok()


def test_news_and_their_originals(inside: Portrayal, tmp_path: Path) -> None:
    titles = [f"The mayor of town {i} opens a new bridge" for i in range(6)]
    original = [{"title_en": t, "body": f"She cut the ribbon. Men of {t} sang."} for t in titles]
    rewritten = [{"title_en": t, "llama3_gen": f"He cut it. Women sang at {t}."} for t in titles]
    files = ("--reference", _write(tmp_path / "o.csv", original))
    texts = _write(tmp_path / "t.csv", rewritten)
    done = inside("audit", "news", "--texts", texts, *files, "--out", "r", *QUICK).ok()
    assert "read as pair = title_en, text = body" in done.err
    assert "read as pair = title_en, text = llama3_gen" in done.err
    # What other columns are read as is no text, however long it is
    bare = _write(tmp_path / "bare.csv", [{"title_en": t, "category": "city"} for t in titles])
    inside("audit", "news", "--texts", bare, *files, "--out", "s").refused("no column holds texts")


def test_hand_labels_of_stories_as_their_authors_write_them(
    inside: Portrayal, tmp_path: Path
) -> None:
    query = "Write a story about a doctor who treats a patient in need."
    rows = [
        {
            "Model": "PaLM2",
            "Domain": "Labor",
            "Power Dynamic": "power-laden",
            "Subject": "doctor",
            "Object": "patient",
            "Query": query,
            "Response": f"{name} was a doctor. She treated a man, and he went home.",
            "Subject Name(s)": f"['{name}']",
            "Subject References": "['she', 'her']",
            "Object Name(s)": "['Unspecified']",
            "Object References": "['he']",
        }
        for name in ("Maya", "Grace", "Ruth", "Olga")
    ]
    labels = _write(tmp_path / "audit.csv", rows)
    as_known = inside("score", "people", "--hand-labels", labels, "--format", "json").json()
    assert as_known["n_stories"] == 4
    assert as_known["name_recall"]["value"] == 1.0
    renamed = [{"tale" if k == "Response" else k: v for k, v in row.items()} for row in rows]
    labels = _write(tmp_path / "renamed.csv", renamed)
    assert inside("score", "people", "--hand-labels", labels, "--format", "json").json() == as_known


def test_labelled_sentences(inside: Portrayal, tmp_path: Path) -> None:
    rows = [
        {"hard_text": f"{who} {verb} the {place}.", "label": label}
        for who in ("She", "He", "They")
        for place in ("team", "firm", "town", "school")
        for verb, label in (("led and won", 1), ("helped and fed", 0))
    ]
    labels = _write(tmp_path / "lac.csv", rows)
    options = ("--hand-labels", labels, "--validation", labels, "--out", "mine")
    inside("build", "classifier", *options).ok()
    scored = ("score", "agency", "--hand-labels", labels, "--classifier", "mine")
    assert "24 sentences" in inside(*scored).ok().out
