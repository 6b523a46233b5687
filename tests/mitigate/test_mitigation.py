"""A mitigation from file to file, with a model that is a function."""

import json
from pathlib import Path

import pytest

from mitigate.conftest import crowd
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Answer, TryAgainError
from portrayal.errors import DataError
from portrayal.mitigate import mitigate_agency

EDIT = '{"original": "is warm to all", "edited": "directs <b>everyone</b>"}'


class Scripted:
    """Answers a share of the prompts badly."""

    name, parameters = "test:m", {}

    def __init__(self, n_fail: int = 0) -> None:
        self.asked, self.n_fail = [], n_fail

    async def ask(self, prompt: str) -> Answer:
        self.asked.append(prompt)
        if len(self.asked) <= self.n_fail:
            raise TryAgainError("server", "500")
        if "He is warm" in prompt and len(self.asked) % 5 == 0:
            return Answer("not JSON")
        return Answer(f"[{', '.join([EDIT] * 4)}]")

    async def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    words = 'agentic = "leads directs"\ncommunal = "warm"\n'
    (tmp_path / "words.toml").write_text(words, encoding="utf-8")
    path = tmp_path / "bios.jsonl"
    rows = [
        {
            "bio": each.text.replace("the work", f"work {i}"),
            "gender": each.row["gender"],
            "prompt": each.row["prompt"],
            "note": "=1+1",
        }
        for i, each in enumerate(crowd())
    ]
    rows.append({"bio": "", "gender": "male", "prompt": "p40", "note": ""})
    rows.append({"bio": "It leads.", "gender": "", "prompt": "p41", "note": ""})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _run(texts: Path, out: Path, model: Scripted | None = None, **more):  # type: ignore[no-untyped-def]
    return mitigate_agency(
        texts,
        Asking(
            "test:m",
            concurrency=1,
            provider=model or Scripted(),
            retry=Retry(attempts=1, first_wait=0.0),
        ),
        out,
        **{
            "columns": ["text=bio"],
            "classifier": f"lexicon:{texts.with_name('words.toml')}",
            **more,
        },
    )


def test_all_texts_come_back_with_what_happened_to_them(texts: Path, tmp_path: Path) -> None:
    done = _run(texts, tmp_path / "out")
    lines = (done.out / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    before = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == len(before) == 42
    for old, new in zip(before, rows, strict=True):
        assert {name: new[name] for name in ("gender", "prompt", "note")} == {
            name: old[name] for name in ("gender", "prompt", "note")
        }
        if new["mitigation"] == "rewritten":
            assert new["text_before"] == old["bio"] != new["bio"]
        else:
            assert new["bio"] == old["bio"]
    assert sum(done.facts["texts"].values()) == 42
    assert done.facts["texts"]["unchanged: empty"] == 1
    assert json.loads((done.out / "mitigation.json").read_text(encoding="utf-8")) == done.facts


def test_the_same_call_asks_nothing_twice_and_gives_the_same(texts: Path, tmp_path: Path) -> None:
    model = Scripted()
    first = _run(texts, tmp_path / "out", model)
    n_asked = len(model.asked)
    second = _run(texts, tmp_path / "out", model)
    assert len(model.asked) == n_asked
    assert first.facts == second.facts


def test_failed_requests_are_asked_again_by_the_next_call(texts: Path, tmp_path: Path) -> None:
    model = Scripted(n_fail=7)
    first = _run(texts, tmp_path / "out", model)
    assert first.facts["texts"]["unchanged: failed"] == 7
    second = _run(texts, tmp_path / "out", model)
    assert "unchanged: failed" not in second.facts["texts"]


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"columns": ["text=body"]}, DataError, "body"),
    ],
)
def test_what_cannot_be_done_is_refused(
    more: dict[str, object], error: type[Exception], words: str, texts: Path, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        _run(texts, tmp_path / "out", **more)


def test_texts_of_other_languages_stay_as_they_are_and_say_why(texts: Path, tmp_path: Path) -> None:
    spanish = {"bio": "Ella es muy cariñosa con todas sus vecinas y siempre ayuda.", "gender": ""}
    rows = [json.loads(line) for line in texts.read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps(row) + "\n" for row in (*rows, spanish)]
    texts.write_text("".join(lines), encoding="utf-8")
    model = Scripted()
    done = _run(texts, tmp_path / "out", model)
    last = json.loads((done.out / "texts.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert last["bio"] == spanish["bio"]
    assert last["mitigation"].startswith("unchanged: not in English: let a model read it")
    assert not any("cariñosa" in prompt for prompt in model.asked)
