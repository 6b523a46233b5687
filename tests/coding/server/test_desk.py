"""Who may adjudicate, and names that look alike."""

from pathlib import Path

import pytest

from coding.raters import project
from portrayal.coding import open_project
from portrayal.coding.server.desk import ADJUDICATES, RATES, Desk, look_of
from portrayal.coding.store import Store
from portrayal.errors import OptionError


def test_nobody_adjudicates_whom_the_owner_did_not_name(folder: Path) -> None:
    opened = open_project(folder)
    store = Store(opened.codes_path)
    desk = Desk(opened, store)
    for name in ("Ann", "Bo"):
        desk.begin(desk.reader(name, RATES))
    with pytest.raises(OptionError, match="--adjudicator NAME"):
        desk.reader("Ann", ADJUDICATES)
    assert Desk(opened, store, ["Ann"]).reader("ann", ADJUDICATES)


@pytest.mark.fault(
    "a rater whose name looks like that of another (a Cyrillic letter)", "the owner is warned"
)
def test_names_that_look_alike_are_warned_of(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened = open_project(folder)
    desk = Desk(opened, Store(opened.codes_path), ["Cleo"])
    desk.begin(desk.reader("Anna", RATES))
    assert not caplog.records
    desk.begin(desk.reader("\u0410nna", RATES))
    desk.begin(desk.reader("Cl\u0435o", RATES))
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "'\\u0410nna'" in caplog.text
    assert "'cleo'" in caplog.text


@pytest.mark.parametrize(("one", "other"), [("Ann", "Anne"), ("Mia", "Ria"), ("Bo", "Jo")])
def test_other_names_look_different(one: str, other: str) -> None:
    assert look_of(one) != look_of(other)


def test_a_queue_has_what_comes_before_and_after(tmp_path: Path) -> None:
    made = project(tmp_path / "p", 5)
    store = Store(made.codes_path)
    for rater, value in (("Ann", "1"), ("Bo", "0")):
        rows = {(f"t{i}", "code", "noble_savage"): value for i in (1, 3, 5)}
        key = store.enrol(rater)
        store.write_all(rows | {(f"t{i}", "done", ""): "1" for i in range(1, 6)}, key)
    store.write_all({("elsewhere", "done", ""): "1"}, "ann")
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
