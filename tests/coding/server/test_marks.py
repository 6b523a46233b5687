"""MarkedPlaces in memory are what the store would say if it were read anew, whoever writes."""

import sqlite3
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coding.raters import project
from portrayal.coding.server.desk import ADJUDICATES, RATES, Desk, MarkedPlaces
from portrayal.coding.store import DISPUTES, Click, Store

PLACE = {f"t{i}": i for i in range(1, 5)}
RATERS = ("ann", "bo")
ACTS = st.tuples(
    st.sampled_from(RATERS),
    st.sampled_from([*PLACE, "elsewhere"]),
    st.sampled_from(["done", "code", "undo", "many"]),
    st.sampled_from(["1", "0", None]),
    st.booleans(),
)


def act(store: Store, number: int, rater: str, item: str, what: str, value: str | None) -> None:
    if what == "undo":
        store.undo(rater, f"{number:016x}")
    elif what == "many":
        store.write_all({(item, "done", ""): value or "0"}, rater)
    else:
        key = "" if what == "done" else "c"
        store.save(Click(f"{number:016x}", rater, item, what, key, value))


@settings(deadline=None)
@given(st.lists(ACTS, max_size=25), st.integers(0, 10))
def test_marks_follow_every_writer(acts: list[tuple[str, str, str, str | None, bool]], begin: int):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "codes.sqlite"
        stores = Store(path), Store(path)
        for rater in RATERS:
            stores[0].enrol(rater)
        marks = MarkedPlaces(stores[0], PLACE)
        for number, (rater, item, what, value, other) in enumerate(acts):
            act(stores[other], number, rater, item, what, value)
            if number < begin:
                continue
            for mark in (DISPUTES, *RATERS):
                anew = MarkedPlaces(stores[1], PLACE).of(mark)
                np.testing.assert_array_equal(marks.of(mark), anew)
        assert set(np.flatnonzero(marks.of(DISPUTES))) == {
            PLACE[item] for item in stores[1].marked()[1] if item in PLACE
        }
        for store in stores:
            store.close()


def test_threads_that_write_and_look_at_once_end_with_the_same_marks(tmp_path: Path) -> None:
    path = tmp_path / "codes.sqlite"
    store, other = Store(path), Store(path)
    marks = MarkedPlaces(store, PLACE)

    def code(own: Store, rater: str, value: str) -> None:
        own.enrol(rater)
        for turn in range(20):
            item = f"t{turn % 4 + 1}"
            own.save(Click(f"{rater}{turn:013x}0", rater, item, "code", "c", value))
            own.save(Click(f"{rater}{turn:013x}1", rater, item, "done", "", str(turn % 3 and 1)))
            marks.of(DISPUTES)

    jobs = [(store, "ann", "1"), (other, "bo", "0"), (other, "cy", "1")]
    threads = [threading.Thread(target=code, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mark in (DISPUTES, "ann", "bo", "cy"):
        np.testing.assert_array_equal(marks.of(mark), MarkedPlaces(other, PLACE).of(mark))
    assert marks.of("bo").any()
    store.close()
    other.close()


def test_a_store_from_before_changes_were_logged_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "codes.sqlite"
    old = Store(path)
    for rater, value in (("ann", "1"), ("bo", "0")):
        old.enrol(rater)
        old.write_all({("t2", "code", "c"): value, ("t2", "done", ""): "1"}, rater)
    old.close()
    with sqlite3.connect(path) as connection:
        for name in ("dispute_begins", "dispute_ends", "done_said", "done_taken"):
            connection.execute(f"drop trigger {name}")
        connection.execute("drop table changes")
    connection.close()
    store = Store(path)
    marks = MarkedPlaces(store, PLACE)
    assert list(np.flatnonzero(marks.of(DISPUTES))) == [2]
    store.save(Click("f" * 16, "bo", "t2", "code", "c", "1"))
    assert not marks.of(DISPUTES).any()
    assert list(np.flatnonzero(marks.of("bo"))) == [2]
    store.close()


def test_a_queue_has_what_comes_before_and_after(tmp_path: Path) -> None:
    made = project(tmp_path / "p", 5)
    store = Store(made.codes_path)
    for rater, value in (("Ann", "1"), ("Bo", "0")):
        rows = {(f"t{i}", "code", "noble_savage"): value for i in (1, 3, 5)}
        key = store.enrol(rater)
        store.write_all(rows | {(f"t{i}", "done", ""): "1" for i in range(1, 6)}, key)
    desk = Desk(made, store, ["Judge"])
    judge, ann = desk.begin(desk.reader("Judge", ADJUDICATES)), desk.reader("Ann", RATES)
    assert list(desk.queue(judge)) == [1, 3, 5]
    assert desk.around(judge, 3) == (1, 5)
    assert desk.around(judge, 4) == (3, 5)
    assert desk.around(ann, 1) == (None, 2)
    assert desk.progress(judge) == (0, 3)
    assert desk.next_place(judge, 3) == 5
    assert desk.next_place(judge, 5) == 1
    store.write_all({("t1", "done", ""): "1"}, judge.key)
    assert desk.next_place(judge) == 3
    assert desk.next_place(judge, 5) == 3
    assert desk.next_place(ann) is None
    store.close()
