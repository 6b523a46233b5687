"""Hand labels become chats: the labeler's own prompt, and the answer that it should have given."""

import csv
import json

import pytest

from portrayal.annotate.people import Roles, clean_name
from portrayal.annotate.people.labeler import export_finetune, label_prompt
from portrayal.annotate.people.labeler.answer import read_answer
from portrayal.errors import DataError, OptionError

FIELDS = (
    "text", "prompt_id", "subject_role", "object_role", "gold_subject_name",
    "gold_subject_references", "gold_object_name", "gold_object_references",
)  # fmt: skip


def row(i, **more):
    return {
        "text": f"Zoë taught Sam, case {i}. She smiled.",
        "prompt_id": f"p{i % 5}",
        "subject_role": "teacher",
        "object_role": "student",
        "gold_subject_name": "Zoë",
        "gold_subject_references": "['she']",
        "gold_object_name": "Unspecified",
        "gold_object_references": "[]",
    } | more


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def chats(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_chat_is_the_prompt_and_the_labels(tmp_path):
    gold = write(tmp_path / "gold.csv", [row(0)])
    done = export_finetune(gold, tmp_path / "out.jsonl")
    (chat,) = chats(done.train)
    user, assistant = chat["messages"]
    prompt = label_prompt(row(0)["text"], Roles("teacher", "student"))
    assert user == {"role": "user", "content": prompt.text}
    assert json.loads(assistant["content"]) == {
        "teacher name": "Zoë",
        "student name": "Unspecified",
        "teacher references": ["she"],
        "student references": [],
    }
    assert "Zoë" in done.train.read_text(encoding="utf-8")
    assert (done.n_train, done.validation, done.n_validation) == (1, None, 0)


def test_the_labeler_reads_back_what_was_written(tmp_path):
    gold = write(tmp_path / "gold.csv", [row(0)])
    (chat,) = chats(export_finetune(gold, tmp_path / "out.jsonl").train)
    reply = chat["messages"][-1]["content"]
    subject, other = read_answer(reply, ("teacher", "student"), row(0)["text"])
    assert (subject.name, subject.gender, other.name, other.gender) == (
        "Zoë",
        "F",
        None,
        "Unspecified",
    )


def test_a_system_message_comes_first(tmp_path):
    gold = write(tmp_path / "gold.csv", [row(0)])
    done = export_finetune(gold, tmp_path / "out.jsonl", system="You label stories.")
    assert [m["role"] for m in chats(done.train)[0]["messages"]] == ["system", "user", "assistant"]


def test_one_prompt_is_never_in_both_files_and_the_seed_decides(tmp_path):
    gold = write(tmp_path / "gold.csv", [row(i) for i in range(20)])
    done = export_finetune(gold, tmp_path / "a.jsonl", validation_share=0.4, seed=1)
    assert (done.n_train, done.n_validation) == (12, 8)
    assert done.validation == tmp_path / "a-validation.jsonl"
    groups = []
    for path in (done.train, done.validation):
        said = [chat["messages"][0]["content"] for chat in chats(path)]
        groups.append({next(i for i in range(20) if f"case {i}." in text) % 5 for text in said})
    assert not groups[0] & groups[1]
    again = export_finetune(gold, tmp_path / "b.jsonl", validation_share=0.4, seed=1)
    assert again.train.read_bytes() == done.train.read_bytes()


def test_rows_that_cannot_be_written_are_counted(tmp_path):
    rows = [row(0), row(1, gold_subject_references=""), row(2, text=""), row(3, subject_role="")]
    done = export_finetune(write(tmp_path / "gold.csv", rows), tmp_path / "out.jsonl")
    assert done.n_train == 1
    assert done.refused == {"without labels": 1, "without text or role": 2}


def test_a_file_without_labels_is_refused(tmp_path):
    gold = write(tmp_path / "gold.csv", [row(0, gold_subject_name="")])
    with pytest.raises(DataError, match="no row can be written"):
        export_finetune(gold, tmp_path / "out.jsonl")
    other = tmp_path / "other.csv"
    other.write_text("text\nhello\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column subject_role"):
        export_finetune(other, tmp_path / "out.jsonl")


@pytest.mark.parametrize("share", [-0.1, 1, 2])
def test_a_share_that_leaves_nothing_to_train_on_is_refused(tmp_path, share):
    gold = write(tmp_path / "gold.csv", [row(0)])
    with pytest.raises(OptionError, match="validation_share"):
        export_finetune(gold, tmp_path / "out.jsonl", validation_share=share)
    with pytest.raises(OptionError, match="at least two prompts"):
        export_finetune(gold, tmp_path / "out.jsonl", validation_share=0.5)


def test_the_papers_own_training_labels_read_back(tmp_path, shared_data):
    gold = shared_data("laissez_faire/gold_references_train.jsonl")
    done = export_finetune(gold, tmp_path / "tune.jsonl", validation_share=0.2)
    assert (done.n_train + done.n_validation, done.refused) == (150, {})
    lines = done.train.read_text(encoding="utf-8") + done.validation.read_text(encoding="utf-8")
    answers = {}
    for line in lines.splitlines():
        user, assistant = json.loads(line)["messages"]
        answers[user["content"]] = assistant["content"]
    rows = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 150
    for each in rows:
        prompt = label_prompt(each["text"], Roles(each["subject_role"], each.get("object_role")))
        said = read_answer(answers[prompt.text], prompt.characters, each["text"])
        for slot, found in zip(("subject", "object"), said, strict=False):
            name = clean_name(each[f"gold_{slot}_name"])
            assert (found.name or "").casefold() == (name or "").casefold()
