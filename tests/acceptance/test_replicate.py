"""The authors' files as they are published, and each published figure beside ours."""

import csv
import json

import pytest

from command import invoke
from portrayal.errors import DataError
from portrayal.pipeline.replicate import replicate
from portrayal.reference import published

QUICK = {"report": False, "draws": 100, "permutations": 20}
WORDS = {"Female": ["she", "her"], "Male": ["he", "his"], "Non-binary": ["they"]}


def as_published(row):
    """A hand-labelled story as the authors' sheet has it."""
    raw = {
        "Model": {"Claude2.0": "Claude2"}.get(row["model"], row["model"]),
        "Domain": row["domain"],
        "Power Dynamic": row["condition"],
        "Subject": row["subject_role"],
        "Object": row["object_role"] or "",
        "Query": row["prompt"],
        "Response": row["text"],
    }
    for slot in ("subject", "object"):
        name, gender = row[f"gold_{slot}_name"], row[f"gold_{slot}_gender"]
        named = str([part.strip() for part in (name or "Unspecified").split("|")])
        title = slot.title()
        raw[f"{title} Name"] = "" if gender is None else named
        raw[f"{title} References"] = "" if gender is None else str(WORDS.get(gender, []))
    return raw


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def test_stories_as_published_give_what_cleaned_labels_give(shared_data, gold_run, tmp_path):
    lines = shared_data("laissez_faire/gold_stories_dev.jsonl").read_text("utf-8").splitlines()
    write(tmp_path / "data/audit.csv", [as_published(json.loads(line)) for line in lines])
    (tmp_path / "data/README.md").write_text("stories", encoding="utf-8")
    found = replicate("laissez-faire", tmp_path / "data", tmp_path / "run", **QUICK)
    tables = ("representation", "subordination", "median_racialized_subordination")
    reading = {f.who: f for f in found.figures if f.place == "S8b"}
    assert {who: f.printed for who, f in reading.items()} == {
        "name precision": 98.1, "name recall": 99.3,
        "gender precision": 98.0, "gender recall": 97.0,
    }  # fmt: skip
    assert all(75 < f.low <= f.ours <= f.high <= 100 for f in reading.values())
    n_ratios = sum(published(f"shieh_{t}_ratios").num_rows for t in tables)
    assert len(found.figures) == n_ratios + len(reading)
    cleaned = {
        (e.strata["domain"], e.strata["model"], e.group["race"]): e.value
        for e in gold_run.records
        if e.measure == "representation.v1" and set(e.group) == {"race"}
    }
    ours = {
        (f.domain, f.model, f.who): f.ours
        for f in found.figures
        if f.place in ("S13a", "S13b", "S13c") and (f.domain, f.model, f.who) in cleaned
    }
    assert len(ours) == 3 * 5 * 7
    assert ours == pytest.approx({key: cleaned[key] for key in ours}, rel=1e-9)
    known = [f for f in found.figures if f.inside is not None]
    assert sum(f.inside for f in known) > 0.6 * len(known)
    assert [text.partition("README")[1] for text in found.left_out] == ["README"]


def test_reviews_as_published_stand_beside_their_tables(shared_data, tmp_path, monkeypatch):
    with shared_data("labe/chatgpt_professor.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))[:200]
    names = {"prompt": "prompts", "text": "chatgpt_gen"}
    raw = [{names.get(key, key): value for key, value in row.items()} for row in rows]
    write(tmp_path / "data/chatgpt_clg_professor.csv", raw)
    monkeypatch.chdir(tmp_path)
    found = replicate("agency", "data", "run", **QUICK)
    beside = [f for f in found.figures if f.ours is not None]
    assert {(f.model, f.domain) for f in beside} == {("ChatGPT", "Professor Review")}
    assert len(beside) == 2 + 4 + 8
    assert all(f.low <= f.ours <= f.high for f in beside)


def test_news_as_published_stand_beside_their_figures(shared_data, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("human_dev.jsonl", "gpt35_dev.jsonl"):
        (folder / name).write_bytes(shared_data(f"news/{name}").read_bytes())
    found = replicate("news", folder, tmp_path / "run", **QUICK)
    beside = {(f.place, f.who): f for f in found.figures if f.ours is not None}
    assert {f.model for f in beside.values()} == {"ChatGPT", "New York Times & Reuters"}
    assert ("word level", "prejudice_rate_female") in beside
    # Mean words, as Table 3 prints them, beside those of the run.
    own = {e.strata["model"]: e.value for e in found.run.records if e.measure == "text_lengths.v1"}
    lengths = {f.model: f for f in found.figures if f.place == "Table 3"}
    assert len(lengths) == 8
    assert lengths["ChatGPT"].printed == 292
    assert lengths["New York Times & Reuters"].printed == 675
    assert lengths["New York Times & Reuters"].ours == own["reference"]
    assert lengths["Grover"].ours is None


def test_a_folder_of_other_files_is_refused_with_what_was_found(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"which have the columns chatgpt_gen; .* columns x, y"):
        replicate("agency", tmp_path, tmp_path / "run")
    with pytest.raises(DataError, match="no such folder"):
        replicate("agency", tmp_path / "none", tmp_path / "run")


def test_a_study_without_published_tables_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("replicate", "pairs", "--data", tmp_path)
    assert done.exit_code == 2
    assert "pairs has no published tables" in done.stderr
