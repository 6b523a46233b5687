"""The datasheet: what it takes from a run, what it leaves blank, and that it is Markdown."""

import re
import tomllib
from importlib.resources import files

import pyarrow as pa
import pytest

from portrayal.errors import RunError
from portrayal.pipeline.datasheet import datasheet, write_datasheet
from portrayal.run import Run, write_parquet


@pytest.fixture(scope="module")
def run(sample_run):
    return sample_run


@pytest.fixture
def asked(tmp_path):
    """A collected run that was never audited, with names that Markdown would read."""
    run = Run(tmp_path / "asked")
    model = "a_b|*c*"
    run.texts.begin("mark")
    row = {"text_id": "1", "prompt_id": "p", "sample": 0, "model": model, "text": "Hi."}
    rows = [
        {**row, "outcome": "ok", "asked_at": "2026-03-02T10:00:00+00:00", "answered_by": "<m-1>"},
        {**row, "outcome": "refused", "asked_at": "2026-03-05T10:00:00+00:00", "answered_by": ""},
    ]
    write_parquet(pa.Table.from_pylist(rows), run.texts.folder / "part-00000.parquet")
    prompt = {"prompt_id": ["p"], "text": ["Write {x}\n# now"], "strata": [[("domain", "x|y")]]}
    strata = pa.array(prompt.pop("strata"), pa.map_(pa.string(), pa.string()))
    write_parquet(pa.table({**prompt, "strata": strata}), run.prompts_path)
    notes = {model: {"parameters": {"temperature": 0.7}}, "b": {"parameters": {}}}
    run.texts.finish("mark", {"asked": notes, "cluster_unit": "prompt", "labelled": False})
    return run


def test_sections_and_questions_are_those_of_supplement_e(run):
    text = datasheet(run)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "Motivation",
        "Composition",
        "Collection process",
        "Preprocessing, cleaning and labeling",
        "Uses",
        "Distribution",
        "Maintenance",
    ]
    numbers = [int(n) for n in re.findall(r"^\*\*(\d+)\. ", text, re.MULTILINE)]
    assert numbers == list(range(1, 58))


def test_every_question_is_answered_or_marked(run):
    text = datasheet(run)
    for block in re.split(r"^\*\*\d+\. .*\*\*$", text, flags=re.MULTILINE)[1:]:
        assert block.split("\n## ")[0].strip()
    for what in ("funder and grant", "board, number and outcome"):
        assert f"**[to fill in: {what}" in text
    form = tomllib.loads(files("portrayal.pipeline").joinpath("datasheet.toml").read_text("utf-8"))
    questions = [q for section in form["section"] for q in section["questions"]]
    assert all(
        {"answer", "blank"} & set(q) and set(q) <= {"ask", "answer", "blank"} for q in questions
    )


def test_what_the_run_knows(run):
    text = datasheet(run)
    note = run.texts.note()
    assert f"{note['n_texts']:,} texts." in text
    assert "with the study laissez-faire." in text
    assert f"Yes: 3 empty, {note['outcomes']['refused']} refused of" in text
    assert "Imported from sample.jsonl." in text
    assert "`people.v6`" in text
    assert "census-2020, census-2022" in text
    counts = re.findall(r"^\| \w+ \| power-\w+ \| Teller A \| \d+ \| (\d+) \|$", text, re.MULTILINE)
    assert sum(map(int, counts)) == note["n_texts"]
    assert len(counts) == 6


def test_a_collected_run_tells_when_and_how(asked):
    text = datasheet(asked)
    assert "From 2026-03-02 to 2026-03-05 (UTC)." in text
    assert r"They name themselves \<m-1\>. a\_b\|\*c\*: temperature 0.7. b: default" in text
    assert r"| x\|y | – | a\_b\|\*c\* | 1 | 2 |" in text
    assert r"“Write \{x\} \# now”" in text
    assert "no measure yet" in text


def test_the_same_run_gives_the_same_file(run, tmp_path):
    paths = [write_datasheet(run, tmp_path / name) for name in ("a.md", "b.md")]
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert str(tmp_path) not in first.decode()
    assert str(run.path) not in first.decode()


def test_a_run_without_texts_is_refused(tmp_path):
    with pytest.raises(RunError, match="holds no texts yet"):
        datasheet(Run(tmp_path))
