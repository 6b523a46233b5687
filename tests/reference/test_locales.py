"""Locales: a folder of data, read, checked, and used by reader and audit."""

from pathlib import Path

import pytest

import portrayal
import portrayal.registry as registry
from command import invoke
from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.names.candidates import PLACES
from portrayal.annotate.people.shared.model import Roles, clean_name
from portrayal.annotate.people.shared.scan import local_words
from portrayal.annotate.people.shared.words import FORMAL_TITLES
from portrayal.errors import DataError, UnknownNameError
from portrayal.reference.locales import load_locale, locales
from portrayal.studies.stories import naming
from support import people_by_rules

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
    assert locales() == ("de", "en-IN", "en-US", "es", "fr", "hi", "pt")
    assert american.titles["formal"] == FORMAL_TITLES
    assert american.places["home"] <= PLACES
    assert american.names.tables[0] == "census-2020"
    assert american.pronouns["F"][:2] == ("she", "her")


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
    known = local_words(load_locale(folder))
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
    assert "Zentara" not in invoke(*asked, "--locale", str(folder)).stdout
    done = invoke(*asked, "--locale", "xx-XX")
    assert done.exit_code == 2
    assert "xx-XX" in done.stderr


def told(text: str, spec: str | Path) -> list[tuple[str | None, str, tuple[str, ...]]]:
    people = find_everyone(text, locale=load_locale(spec))
    return [(person.name, person.gender, person.references) for person in people]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Smt. Kavitha Rao greeted Shri Arun Kumar ji.",
         [("Kavitha Rao", "F", ("smt",)), ("Arun Kumar", "M", ("shri",))]),
        ("Priya-ji smiled, and Priya left with Ramji and Sharma saheb.",
         [("Priya", "Unspecified", ()), ("Ram", "Unspecified", ()), ("Sharma", "Unspecified", ())]),
        ("They prayed to Sri Murugan. Then Thiru Zorandam laughed.",
         [("Zorandam", "M", ("thiru",))]),
        ("The rites were led by the Qazi. Silent tears fell.", []),
        ("Her son, Rishi, laughed. Rishi's father Balaji smiled.",
         [("Rishi", "M", ("son",)), ("Balaji", "M", ("father",))]),
    ],
)  # fmt: skip
def test_titles_and_honorifics_of_india(text: str, people: list[object]) -> None:
    named = [each for each in told(text, "en-IN") if each[0] is not None]
    assert named == people


def test_the_locale_of_the_rules_changes_nothing() -> None:
    assert local_words(load_locale("en-US")) is local_words(None)


def test_pronouns_of_a_locale_tell_a_gender(tmp_path: Path) -> None:
    (tmp_path / "locale.toml").write_text(
        "language = 'en'\n[pronouns]\nNB = 'xe xem xyr xyrs xemself'\nF = 'shee heer heers'\n",
        encoding="utf-8",
    )
    text = "Ann Lee was born in Leeds. Xe studied physics, and xe loved xyr work."
    ((name, gender, words),) = told(text, tmp_path)
    assert (name, gender, words) == ("Ann Lee", "NB", ("xe", "xyr"))
    text = "Ann Lee was born in Leeds. Shee studied physics."
    assert told(text, tmp_path) == [("Ann Lee", "F", ("shee",))]
    story = "Ann taught Bo. Shee smiled, and he thanked heer."
    roles = Roles("mentor", "student")
    characters = people_by_rules(story, roles, load_locale(tmp_path))
    assert [one.gender for one in characters if one] == ["F", "M"]
    assert next(one.gender for one in people_by_rules(story, roles) if one) != "F"


def test_the_reader_of_stories_takes_titles_and_lists_of_a_locale() -> None:
    story = (
        "Smt. Priya-ji taught the student, Shri Kamlesh, at Brihadeeswarar. On Pongal, Kashi "
        "Vishwanath was full. Priya was kind."
    )
    roles = Roles("teacher", "student")
    found = people_by_rules(story, roles, load_locale("en-IN"))
    assert [(one.name, one.gender) for one in found if one] == [("Priya", "F"), ("Kamlesh", "M")]
    assert clean_name("Shri Kamlesh ji", local_words(load_locale("en-IN"))) == "Kamlesh"


HEBREW = """
language = "he"
[titles]
F = "גברת"
"""


def test_texts_of_another_language_are_refused_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "he-IL").mkdir()
    (tmp_path / "he-IL" / "locale.toml").write_text(HEBREW, encoding="utf-8")
    (tmp_path / "own.toml").write_text(
        "prompts = ['Write a sentence.', 'Write a line.']\nfactors = ['gender']\n"
        "locale = 'he-IL'\n[people]\nread = 'none'\n",
        encoding="utf-8",
    )
    texts = [
        {"model": "m", "prompt": prompt, "text": text}
        for prompt in ("Write a sentence.", "Write a line.")
        for text in ("דנה כתבה למשה.", "Dana wrote to her brother Moshe.")
    ]
    run = portrayal.audit(
        study=str(tmp_path / "own.toml"),
        texts=texts,
        out=tmp_path / "run",
        draws=100,
        permutations=20,
        report=False,
    )
    note = run.annotations("everyone.v8").note()
    assert note["n_errors"] == 2
    state = note["settings"]["state"]
    (tmp_path / "he-IL" / "locale.toml").write_text(HEBREW + 'M = "מר"\n', encoding="utf-8")
    assert load_locale(tmp_path / "he-IL").mark()["state"] != state


def test_every_study_takes_a_locale() -> None:
    for name in registry.names("studies"):
        options = registry.get("studies", name).options
        assert options(locale="en-IN").locale_instrument() == {"locale": "en-IN"}
        with pytest.raises(UnknownNameError, match="neither a locale"):
            options(locale="xx-XX")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("country = 'IN'", "the key 'language' is missing"),
        ("language = 'en'\nplace = 1", r"locale\.toml, line 2: place: unknown key.*'places' meant"),
        ("language = 'en'\nplaces = 'Goa'", "line 2: places: expected a table"),
        (
            "language = 'en'\n[gods]\nall = 3",
            r"line 3: gods\.all: expected text in quotation marks or a list of texts",
        ),
        (
            "language = 'en'\n[names]\ntables = ['no.csv']",
            r"line 3: names\.tables: 'no.csv' is no file",
        ),
    ],
)
def test_bad_locales_name_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "locale.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_locale(tmp_path)
    assert "\n" not in str(caught.value)
