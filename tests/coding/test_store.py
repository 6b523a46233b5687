"""The store keeps every click, each once, and gives back what stands."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.coding.store import Click, Store, rater_key, rater_name
from portrayal.errors import DataError, OptionError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "codes.sqlite")
    yield made
    made.close()


def click(number: int, value: str | None = "1", rater: str = "ann", **more: str) -> Click:
    given = {"item_id": "t1", "about": "code", "key": "c"} | more
    return Click(f"{number:016x}", rater, value=value, **given)


def test_a_click_is_on_the_disk_when_save_returns(store: Store, tmp_path: Path) -> None:
    store.enrol("Ann")
    store.save(click(1))
    with sqlite3.connect(tmp_path / "codes.sqlite") as other:
        assert other.execute("pragma journal_mode").fetchone() == ("wal",)
        assert other.execute("select value from answers").fetchall() == [("1",)]
    other.close()
    assert store._read("pragma synchronous") == [(2,)]


def test_a_repeated_click_counts_once(store: Store) -> None:
    store.enrol("ann")
    first = store.save(click(1, "1"))
    store.save(click(2, "0"))
    assert store.save(click(1, "1")) == first
    assert store.answers("ann", "t1") == {("code", "c"): "0"}


def test_undo_gives_back_what_stood_before_and_a_repeated_undo_does_nothing(store: Store) -> None:
    store.enrol("ann")
    store.save(click(1, "1"))
    store.save(click(2, "0"))
    taken = store.undo("ann", "f" * 16)
    assert taken is not None
    assert taken.value == "0"
    assert store.answers("ann", "t1") == {("code", "c"): "1"}
    assert store.undo("ann", "f" * 16) is None
    assert store.answers("ann", "t1") == {("code", "c"): "1"}
    assert store.undo("ann", "e" * 16) is not None
    assert store.answers("ann", "t1") == {}
    assert store.undo("ann", "d" * 16) is None


def test_one_rater_undoes_nothing_of_another(store: Store) -> None:
    for name in ("ann", "bo"):
        store.enrol(name)
    store.save(click(1, rater="ann"))
    assert store.undo("bo", "f" * 16) is None
    assert store.answers("ann", "t1") == {("code", "c"): "1"}


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["0", "1", None, "undo"]))))
def test_answers_are_those_of_a_naive_history(steps: list[tuple[str, str | None]]) -> None:
    store = Store(":memory:")
    store.enrol("ann")
    history: list[tuple[str, str | None]] = []
    for number, (key, value) in enumerate(steps):
        if value == "undo":
            store.undo("ann", f"{number:016x}")
            history = history[:-1]
        else:
            store.save(click(number, value, key=key))
            history.append((key, value))
    standing = {("code", key): value for key, value in history}
    assert store.answers("ann", "t1") == {k: v for k, v in standing.items() if v is not None}
    store.close()


def test_threads_write_at_once_and_nothing_is_lost(store: Store) -> None:
    def write(name: str) -> None:
        for i in range(50):
            store.save(click(names.index(name) * 100 + i, rater=name, item_id=f"t{i}"))

    names = ["ann", "bo", "cy"]
    for name in names:
        store.enrol(name)
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(map(len, store.standing().values())) == 150


def test_threads_that_come_and_go_leave_no_connections(store: Store) -> None:
    store.enrol("ann")
    for number in range(20):
        thread = threading.Thread(target=store.save, args=(click(number),))
        thread.start()
        thread.join()
    assert len(store._idle) == 1


def test_a_failed_write_leaves_nothing_half_done(store: Store) -> None:
    store.enrol("ann")
    twice = ["insert into rater_codes values ('ann', 'x')"] * 2
    with pytest.raises(sqlite3.IntegrityError), store._write() as connection:
        [connection.execute(statement) for statement in twice]
    store.save(click(1))
    assert store.code_of("ann") is None
    assert store.answers("ann", "t1") == {("code", "c"): "1"}


def test_two_processes_may_hold_the_file(store: Store, tmp_path: Path) -> None:
    store.enrol("ann")
    other = Store(tmp_path / "codes.sqlite")
    other.enrol("gpt", "llm")
    other.save(click(1, rater="gpt"))
    store.save(click(2))
    assert [a.kind for of in store.standing().values() for a in of.values()] == ["human", "llm"]
    other.close()


def test_raters_are_told_apart_by_name_and_kind(store: Store) -> None:
    assert store.enrol("  Ann   Lee ") == store.enrol("ann lee") == "ann lee"
    assert store.raters() == {"ann lee": "Ann Lee"}
    store.enrol("gpt-5", "llm")
    with pytest.raises(OptionError, match="name of a model"):
        store.enrol("GPT-5")


@pytest.mark.parametrize("name", ["", "  ", "a" * 61, "a\u202eb", "a\x00b"])
def test_names_that_cannot_be_shown_are_refused(name: str) -> None:
    with pytest.raises(OptionError, match="rater's name"):
        rater_name(name)


def test_a_name_is_the_same_in_every_spelling_of_unicode() -> None:
    assert rater_key("José") == rater_key("JOSE\u0301")


@pytest.mark.parametrize(
    "wrong",
    [
        click(1, "yes"),
        click(1, about="codes"),
        click(1, item_id=""),
        click(1, "x" * 20_001, about="note", key=""),
        click(1, rater="nobody"),
    ],
)
def test_what_is_no_answer_is_refused(store: Store, wrong: Click) -> None:
    store.enrol("ann")
    with pytest.raises(OptionError):
        store.save(wrong)
    assert not store.standing()


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codes.sqlite"
    path.write_text("not a database, but long enough to be read as one" * 100)
    with pytest.raises(DataError, match="cannot be used as a store"):
        Store(path)


def test_disputes_follow_every_answer(store: Store) -> None:
    for name in ("ann", "bo"):
        store.enrol(name)
        store.save(click(len(name), rater=name, about="done", key=""))
    assert store.disputed() == set()
    store.save(click(11, "1", rater="ann"))
    assert store.disputed() == {"t1"}
    store.save(click(12, "1", rater="bo"))
    assert store.disputed() == set()
    store.undo("bo", "f" * 16)
    assert store.disputed() == {"t1"}
    store.save(click(13, "0", rater="bo", about="done", key=""))
    assert store.disputed() == set()


def test_a_model_disputes_nothing_and_a_code_that_is_off_is_one_that_was_never_set(
    store: Store,
) -> None:
    for name, kind in (("ann", "human"), ("bo", "human"), ("gpt", "llm")):
        store.enrol(name, kind)
        store.save(click(len(name), rater=name, about="done", key=""))
    store.save(click(11, "0", rater="ann"))
    store.save(click(12, "1", rater="gpt"))
    assert store.disputed() == set()
