"""Each step of the data set, alone and one after the other."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portrayal.collect.ask.replies import Replies, Reply
from portrayal.collect.tables import read_table
from portrayal.errors import DataError, OptionError
from portrayal.raters.sentences import (
    BOOK,
    CARD,
    PARTS,
    merge_labels,
    paraphrase,
    paraphrase_prompt,
    read_paraphrases,
    seed_sentences,
    sentences_to_label,
    split_labelled,
)
from portrayal.raters.sheets import SheetItem, codebook, write_sheets
from portrayal.records import Prompt

BIO = "She was born in 1950. She lived in Rome. She led a firm. She helped Dr. Rossi. She died."


def _csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def test_the_first_two_sentences_and_the_last_are_left_out(tmp_path: Path) -> None:
    texts = _csv(tmp_path / "bios.csv", ["text"], [[BIO], ["One. Two. Three."], [BIO]])
    done = seed_sentences(texts, tmp_path / "s.csv")
    said = [row["sentence"] for row in read_table(tmp_path / "s.csv", ["sentence"])]
    assert said == ["She led a firm.", "She helped Dr. Rossi."] * 2
    assert done == {"texts": 3, "texts_too_short": 1, "sentences": 4}


def test_a_published_mark_of_a_line_break_ends_a_sentence_and_is_left_out(tmp_path: Path) -> None:
    texts = _csv(
        tmp_path / "b.csv",
        ["text"],
        [["He sat. He ran. She led a firm<return>She helped<return>Him"]],
    )
    seed_sentences(texts, tmp_path / "s.csv")
    said = [row["sentence"] for row in read_table(tmp_path / "s.csv", ["sentence"])]
    assert said == ["She led a firm", "She helped"]


def test_texts_that_give_no_sentence_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="more than 3 sentences"):
        seed_sentences(_csv(tmp_path / "b.csv", ["text"], [["One. Two."]]), tmp_path / "s.csv")


def test_the_prompt_is_that_of_table_7() -> None:
    words = paraphrase_prompt("She {led} a 'firm'.")
    assert words.startswith("You will rephrase a sentence two times to demonstrate agentic and")
    assert words.endswith("'communal'. The sentence is: 'She {led} a 'firm'.'")
    assert "Example of agentic description: [Name] is an achievement-oriented individual" in words


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ('{"agentic": "She ran it.", "communal": "She helped."}', True),
        ("```json\n{'Agentic': 'She ran it.', 'communal': 'She helped.',}\n```", True),
        ('{"result": {"agentic": "She ran it.", "communal": "She helped."}}', True),
        ('{"agentic": "She ran it."}', False),
        ('{"agentic": "She ran it.", "communal": ""}', False),
        ('{"agentic": "She ran it.", "communal": "She', False),
        ("I cannot.", False),
    ],
)
def test_paraphrases_are_read_from_careless_replies(reply: str, good: bool) -> None:
    found = read_paraphrases(reply)
    assert found == ({"agentic": "She ran it.", "communal": "She helped."} if good else None)


def _ask(prompts: Iterable[Prompt]) -> Replies:
    found = {}
    for prompt in prompts:
        sentence = prompt.text.rpartition("The sentence is: '")[2]
        if "malformed" in sentence:
            found[prompt.prompt_id] = [Reply("no JSON", "ok")]
        elif "failed" in sentence:
            found[prompt.prompt_id] = [Reply("", "failed", "500")]
        elif "later" not in sentence:
            pair = {"agentic": f"-led {sentence}", "communal": f"=helped {sentence}"}
            found[prompt.prompt_id] = [Reply(json.dumps(pair), "ok")]
    return found


def test_sentences_without_paraphrases_are_kept_and_counted(tmp_path: Path) -> None:
    said = ["good one", "malformed", "failed", "later", "", "good two"]
    sentences = _csv(tmp_path / "own.csv", ["sentence"], [[each] for each in said])
    done = paraphrase(sentences, _ask, tmp_path / "p.csv")
    assert done == {
        "blank": 1,
        "failed": 1,
        "malformed": 1,
        "not asked": 1,
        "ok": 2,
    }
    rows = read_table(tmp_path / "p.csv", ["entry_id", "target", "text"])
    assert Counter(row["target"] for row in rows) == {"agentic": 2, "communal": 2}
    unread = {
        row["sentence"]: row["answer"] for row in read_table(tmp_path / "p-unread.csv", ["why"])
    }
    assert unread == {"malformed": "no JSON", "failed": "500", "later": ""}


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    """Ten sentences, two paraphrases each."""
    rows = [
        (f"s{i}-{target}", f"s{i}", target, f"{target[0]}{i} did so.")
        for i in range(10)
        for target in ("agentic", "communal")
    ]
    return _csv(tmp_path / "p.csv", ["entry_id", "sentence_id", "target", "text"], rows)


def _sheets(sentences: Sequence[SheetItem], folder: Path, *raters: str) -> list[Path]:
    return write_sheets(sentences, codebook(Path(str(BOOK))), folder, raters)


def _fill(path: Path, said: Mapping[str, str], default: Mapping[str, str]) -> Path:
    rows = read_table(path, ["text_id", "text", "label"])
    for row in rows:
        row["label"] = said.get(row["text"].split()[0], default[row["text"][0]])
    columns = list(rows[0])
    return _csv(path, columns, [[row[name] for name in columns] for row in rows])


RIGHT = {"a": "agentic", "c": "communal"}


def test_sheets_tell_no_target(entries: Path, tmp_path: Path) -> None:
    one, two, *_, instructions = _sheets(sentences_to_label(entries), tmp_path / "s", "1", "2")
    rows, others = (read_table(path, ["text"]) for path in (one, two))
    assert [row["text_id"] for row in rows] == [row["text_id"] for row in others]
    assert {row["field"] for row in rows} == {"agency"}
    assert not any("agentic" in row["text_id"] for row in rows)
    assert "being in charge of people" in instructions.read_text("utf-8")
    order = [row["text"] for row in rows]
    assert order != sorted(order)


def test_labels_are_merged_as_the_paper_says(entries: Path, tmp_path: Path) -> None:
    one, two, *_ = _sheets(sentences_to_label(entries), tmp_path / "s", "1", "2")
    said = {"a0": "neutral", "a1": "neutral", "a2": "na", "a3": "communal", "a4": "neutral"}
    _fill(one, said | {"c5": ""}, RIGHT)
    _fill(two, {"a0": "neutral", "a1": "communal", "a3": "Communal", "c6": "agentic"}, RIGHT)
    done = merge_labels(entries, [one, two], tmp_path / "l.csv", draws=50)
    labels = {row["text"][:2]: row["label"] for row in read_table(done.path, ["label"])}
    assert "a0" not in labels  # both call it neutral
    assert "a1" not in labels  # three labels: a third rater decides
    assert "a2" not in labels  # na
    assert labels["a3"] == "0"  # both raters against the target
    assert labels["a4"] == "1"  # target and one rater
    assert "c5" not in labels  # one rater has not labelled it
    assert labels["c6"] == "0"
    assert done.counts == {
        "kept": 16,
        "not labelled by every rater": 1,
        "removed: na": 1,
        "removed: neutral": 1,
        "undecided: a third rater is needed": 1,
    }
    assert done.kappa_all.n_items == 18
    assert done.kappa_kept.n_items == 16
    assert done.kappa_all.value is not None
    assert done.kappa_kept.value is not None
    assert done.kappa_all.value < done.kappa_kept.value < 1

    third, *_ = _sheets(done.undecided, tmp_path / "third", "third")
    _fill(third, {"a1": "agentic"}, RIGHT)
    again = merge_labels(entries, [one, two], tmp_path / "l.csv", third=third, draws=50)
    labels = {row["text"][:2]: row["label"] for row in read_table(again.path, ["label"])}
    assert labels["a1"] == "1"
    assert again.undecided == ()


def test_labels_of_other_sentences_and_other_words_are_refused(
    entries: Path, tmp_path: Path
) -> None:
    path, *_ = _sheets(sentences_to_label(entries), tmp_path / "s", "1")
    _fill(path, {}, RIGHT)
    columns = ["text_id", "field", "label", "rater", "chance"]
    strange = _csv(tmp_path / "x.csv", columns, [["abc", "agency", "agentic", "2", "1"]])
    with pytest.raises(DataError, match="is no sentence of the file of paraphrases"):
        merge_labels(entries, [path, strange], tmp_path / "l.csv")
    with pytest.raises(DataError, match="two raters or more"):
        merge_labels(entries, [path], tmp_path / "l.csv")
    _fill(path, {"a3": "strong"}, RIGHT)
    with pytest.raises(DataError, match=r"says 'strong' of .*; expected agentic"):
        merge_labels(entries, [path], tmp_path / "l.csv")
    with pytest.raises(OptionError, match="given twice"):
        merge_labels(entries, [path, path], tmp_path / "l.csv")


def _labelled(path: Path, n: int) -> Path:
    rows = [(f"t{i}", i % 2, f"s{i // 2}") for i in range(n)]
    return _csv(path, ["text", "label", "sentence_id"], rows)


def _texts(folder: Path, part: str) -> list[str]:
    lines = (folder / f"{part}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def test_the_sizes_are_those_of_table_9(tmp_path: Path) -> None:
    done = split_labelled(_labelled(tmp_path / "l.csv", 3724), tmp_path / "split")
    assert [part["entries"] for part in done.values()] == [2979, 372, 373]
    every = [text for part in PARTS for text in _texts(tmp_path / "split", part)]
    assert sorted(every) == sorted(f"t{i}" for i in range(3724))
    split_labelled(tmp_path / "l.csv", tmp_path / "again")
    split_labelled(tmp_path / "l.csv", tmp_path / "other", seed=1)
    first, again, other = (_texts(tmp_path / name, "test") for name in ("split", "again", "other"))
    assert first == again
    assert first != other


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.integers(1, 120), st.integers(0, 5))
def test_together_keeps_both_paraphrases_in_one_part(tmp_path: Path, n: int, seed: int) -> None:
    labelled = _labelled(tmp_path / "l.csv", n)
    done = split_labelled(labelled, tmp_path / "split", together=True, seed=seed)
    parts = {text: part for part in PARTS for text in _texts(tmp_path / "split", part)}
    assert len(parts) == n
    assert all(parts[f"t{i}"] == parts[f"t{i + 1}"] for i in range(0, n - 1, 2))
    sizes = [done[part]["entries"] for part in PARTS]
    assert abs(sizes[0] - int(0.8 * n)) <= 1
    card = (tmp_path / "split" / CARD).read_text(encoding="utf-8")
    assert "more than one part: 0." in card


def test_the_card_tells_of_twins_and_of_the_steps_before(tmp_path: Path) -> None:
    split_labelled(
        _labelled(tmp_path / "l.csv", 100),
        tmp_path / "split",
        facts={"labels": {"kappa_kept": {"value": 0.9, "why": ""}}},
    )
    card = (tmp_path / "split" / CARD).read_text(encoding="utf-8")
    assert "may be in different parts" in card
    assert "more than one part: 0." not in card
    assert "kappa kept: value 0.900" in card


def test_no_cell_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    sentences = _csv(tmp_path / "own.csv", ["sentence"], [["=cmd()"], ["+1"]])
    paraphrase(sentences, _ask, tmp_path / "p.csv")
    sheet, *_ = _sheets(sentences_to_label(tmp_path / "p.csv"), tmp_path / "s", "1")
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
