"""Who may adjudicate, and names that look alike."""

from pathlib import Path

import pytest

from portrayal.coding import open_project
from portrayal.coding.server.desk import ADJUDICATES, RATES, Desk, look_of
from portrayal.coding.store import Store
from portrayal.errors import OptionError


def test_nobody_adjudicates_whom_the_owner_did_not_name(folder: Path) -> None:
    project = open_project(folder)
    store = Store(project.codes_path)
    desk = Desk(project, store)
    for name in ("Ann", "Bo"):
        desk.begin(desk.reader(name, RATES))
    with pytest.raises(OptionError, match="--adjudicator NAME"):
        desk.reader("Ann", ADJUDICATES)
    assert Desk(project, store, ["Ann"]).reader("ann", ADJUDICATES)


@pytest.mark.fault(
    "a rater whose name looks like that of another (a Cyrillic letter)", "the owner is warned"
)
def test_names_that_look_alike_are_warned_of(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    project = open_project(folder)
    desk = Desk(project, Store(project.codes_path), ["Cleo"])
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
