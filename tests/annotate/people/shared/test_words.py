import re
from pathlib import Path

import pytest

import portrayal.annotate.people as people
import portrayal.annotate.people.shared.words as en
from portrayal.annotate.people.names.candidates import BODY_PARTS, LISTS, PLACES
from portrayal.annotate.people.shared.words import (
    ADJECTIVES,
    GENDER,
    PERSON_NOUNS,
    PLURALS,
    PRONOUNS,
    SURNAME_TITLES,
    TITLES,
    WordLists,
    verb_forms,
)


def test_gender_is_told_by_nouns_and_never_by_occupations():
    assert GENDER["daughter"] == GENDER["mrs"] == "F"
    assert GENDER["uncle"] == GENDER["mr"] == "M"
    assert GENDER["mx"] == "NB"
    assert not {"nurse", "doctor", "engineer", "ceo", "secretary", "teacher"} & set(GENDER)


def test_lists_do_not_contradict_each_other():
    assert set(GENDER.values()) == {"F", "M", "NB"}
    assert not set(PRONOUNS) & set(GENDER)
    assert set(GENDER) >= ADJECTIVES
    assert not ADJECTIVES & PERSON_NOUNS
    assert SURNAME_TITLES < TITLES
    assert en.LISTS.kin <= PERSON_NOUNS
    assert not set(PLURALS) & PERSON_NOUNS


def test_words_are_in_lower_case():
    listed = LISTS.organisations, LISTS.captions
    for words in (GENDER, PERSON_NOUNS, TITLES, PLACES, BODY_PARTS, *listed):
        assert all(word == word.lower() for word in words)


@pytest.mark.parametrize(
    ("folder", "file", "lists"),
    [
        ("shared", "words.toml", r"en\.LISTS"),
        ("stories", "words.toml", r"(?<!en\.)LISTS"),
        ("names", "words.toml", r"(?<!en\.)LISTS"),
        ("names", "things.toml", "THINGS"),
    ],
)
def test_every_list_is_read_and_every_list_that_is_read_holds_words(folder, file, lists):
    home = Path(people.__file__).parent / folder
    places = {"shared": ("*",), "names": ("names", "any_text")}.get(folder, (folder,))
    paths = [path for place in places for path in home.parent.glob(f"{place}/*.py")]
    # The module that reads the shared lists is `en` elsewhere
    code = "".join(
        re.sub(r"(?<!\.)\bLISTS\b", "en.LISTS", path.read_text("utf-8"))
        if path.parent.name == "shared"
        else path.read_text("utf-8")
        for path in paths
    )
    names = re.findall(r"^(\w+) = ", (home / file).read_text("utf-8"), re.MULTILINE)
    read = set(re.findall(rf"\b{lists}\.(?!verbs\b|lines\b)(\w+)", code))
    read |= set(re.findall(rf"\b{lists}\.(?:verbs|lines)\(\"(\w+)\"", code))
    for call in re.findall(rf"map\({lists}\.verbs, \((.+?)\)\)", code):
        read |= set(re.findall(r'"(\w+)"', call))
    # Irregular forms are read with the verbs that they are of
    read |= {name for name in names if name.removesuffix("_forms") in read}
    if lists == "THINGS":
        assert len(names) > 5
    assert read == set(names)
    assert all(getattr(WordLists(folder, file), name) for name in names)


def test_forms_of_regular_verbs():
    assert verb_forms("train") >= {"train", "trains", "trained", "training"}
    assert verb_forms("guide") >= {"guide", "guides", "guided", "guiding"}
    assert verb_forms("carry") == {"carry", "carries", "carried", "carrying"}
    assert verb_forms("hug") >= {"hugs", "hugged", "hugging"}
