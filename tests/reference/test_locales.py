"""Locales: a folder of data, read, checked, and used by reader and audit."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import portrayal.registry as registry
from portrayal.annotate.people import find_everyone
from portrayal.annotate.people.any_text.candidates import PLACES
from portrayal.annotate.people.shared.words import FORMAL_TITLES
from portrayal.cli import app
from portrayal.errors import DataError, UnknownNameError
from portrayal.reference.locales import load_locale, locales
from portrayal.studies.stories import naming

INDIA = """
language = "en"
country = "IN"
[names]
tables = ["names.csv"]
[titles]
every = "shri smt pandit"
[honorifics]
every = "ji saheb"
[places]
temples = ["Zentara Kovil"]
[peoples]
every = ["Valmorans"]
[feasts]
every = ["Pongalika"]
[gods]
every = ["Ayyanaru"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "en-IN"
    made.mkdir()
    (made / "locale.toml").write_text(INDIA, encoding="utf-8")
    (made / "names.csv").write_text("name,caste,n\nAsha,a,60\nAsha,b,40\n", encoding="utf-8")
    return made


def test_the_shipped_locale_is_what_the_reader_uses() -> None:
    american = load_locale("en-US")
    assert locales() == ("en-US",)
    assert american.titles["formal"] == FORMAL_TITLES
    assert american.places["home"] <= PLACES
    assert american.tables[0] == "census-2020"
    assert {"she", "her"} <= american.pronouns["F"]


def test_people_are_told_from_what_the_locale_lists(folder: Path) -> None:
    text = (
        "Shri Ravindra Kumar ji met Meenal at Zentara Kovil. "
        "Meenal said that Zentara Kovil was full."
    )
    plain = {person.name for person in find_everyone(text)}
    here = {person.name for person in find_everyone(text, locale=load_locale(folder))}
    assert "Zentara Kovil" not in here
    assert here <= plain | {"Ravindra Kumar"}
    assert "Meenal" in here
    known = load_locale(folder)
    assert known.is_no_person("ayyanaru")
    assert not known.is_no_person("Asha")


def test_what_the_text_shows_to_be_a_person_stays(folder: Path) -> None:
    text = "Ayyanaru was a teacher. She said that she loved her work. Ayyanaru laughed."
    assert [p.name for p in find_everyone(text, locale=load_locale(folder))] == ["Ayyanaru"]


def test_an_audit_takes_names_from_its_locale(folder: Path) -> None:
    options = registry.get("studies", "laissez-faire").options(locale=str(folder))
    assert naming(options).groups == ("a", "b")
    assert options.baseline == "census-2022"
    usual = registry.get("studies", "laissez-faire").options(locale="en-US")
    assert usual.name_table == "census-2020"


def test_the_command_takes_a_locale(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("Meenal stood before Zentara Kovil. Meenal smiled.", encoding="utf-8")
    asked = ["find", "people", "--texts", str(file), "--format", "json"]
    assert "Zentara" not in CliRunner().invoke(app, [*asked, "--locale", str(folder)]).stdout
    done = CliRunner().invoke(app, [*asked, "--locale", "xx-XX"])
    assert isinstance(done.exception, UnknownNameError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("country = 'IN'", "the key 'language' is missing"),
        ("language = 'en'\nplace = 1", r"locale\.toml, line 2: place: unknown key.*'places' meant"),
        ("language = 'en'\nplaces = 'Goa'", "line 2: places: expected lists by kind"),
        ("language = 'en'\n[gods]\nall = 3", r"line 3: gods\.all: expected a list of texts"),
        ("language = 'en'\n[names]\ntables = ['no.csv']", r"line 3: names\.tables: there is no"),
    ],
)
def test_bad_locales_name_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "locale.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_locale(tmp_path)
    assert "\n" not in str(caught.value)
