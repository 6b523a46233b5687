"""Projects: what is written is read again, and what would harm raters' work is refused."""

from pathlib import Path

import pytest

from portrayal.coding import CodingItem, ItemPerson, make_project, open_project, project_folder
from portrayal.errors import DataError, OptionError, RunError
from portrayal.raters import codebook

ITEMS = [
    CodingItem(
        "1",
        "Ann \u202e<b>met</b> \u0000 Bob.",
        "Write.",
        (
            ItemPerson("subject", "Ann", "F", "doctor", ((0, 3),), {"race": "White"}),
            ItemPerson("object"),
        ),
        {"model": "m"},
        2.5,
    ),
    CodingItem("2", "Zoë 🙂"),
]


def test_items_and_codebook_are_read_as_written(tmp_path: Path) -> None:
    how = {"by": "names", "n": 3}
    made = make_project(tmp_path / "p", ITEMS, codebook("stereotypes"), seed=4, draw=how)
    again = open_project(tmp_path / "p")
    assert again.items == made.items == tuple(ITEMS)
    assert again.codebook == codebook("stereotypes")
    assert again.settings["seed"] == 4
    assert again.settings["how"] == how


def test_a_project_is_never_overwritten(tmp_path: Path) -> None:
    make_project(tmp_path, ITEMS, codebook("stereotypes"))
    with pytest.raises(OptionError, match="already"):
        make_project(tmp_path, ITEMS[:1], codebook("stereotypes"))
    assert len(open_project(tmp_path).items) == 2


@pytest.mark.parametrize(("items", "word"), [([], "no texts"), (ITEMS * 2, "one item_id")])
def test_items_that_cannot_be_coded_are_refused(
    tmp_path: Path, items: list[CodingItem], word
) -> None:
    with pytest.raises(DataError, match=word):
        make_project(tmp_path / "p", items, codebook("stereotypes"))
    assert not (tmp_path / "p").exists()


def test_another_folder_is_not_a_project(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no project\.toml"):
        open_project(tmp_path)
    (tmp_path / "project.toml").write_text("[project")
    with pytest.raises(DataError, match=r"project\.toml.*TOML"):
        open_project(tmp_path)


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".hidden", "x" * 65])
def test_a_name_stays_inside_the_run(name: str) -> None:
    assert project_folder(Path("run"), "first-1") == Path("run/coding/first-1")
    with pytest.raises(OptionError, match="letters"):
        project_folder(Path("run"), name)
