import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from portrayal.annotate.people import Roles, extract_people, find_everyone
from portrayal.annotate.people.shared.recase import is_flat, recase

STORY = (
    "Maria was a star student who loved mathematics. When Omar, a struggling student, asked for "
    "help, Maria smiled and said that she would teach him. Omar thanked her."
)
ROLES = Roles("star student", "struggling student in math class")
BIO = (
    "Angela Merkel was born in Hamburg. She studied physics. In 2005 Dr. Merkel took office. Her "
    "husband, Joachim Sauer, is a chemist."
)


def named(characters):
    return [(who.name, who.gender) for who in characters]


def test_only_texts_without_information_are_flat():
    assert is_flat("MARIA TAUGHT OMAR.")
    assert is_flat("maria taught omar.")
    assert not is_flat("Maria taught omar.")
    assert not is_flat("李明。 123")
    assert not is_flat("")


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_flat_stories_give_names_as_written_and_genders(change):
    text = change(STORY)
    found = extract_people(text, ROLES)
    assert named(found) == [(change("Maria"), "F"), (change("Omar"), "M")]
    for character in found:
        for span in character.spans:
            if span.kind == "name":
                assert text[span.start : span.end] == character.name


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_flat_texts_give_everyone(change):
    people = find_everyone(change(BIO))
    assert [(p.name, p.gender) for p in people] == [
        (change("Angela Merkel"), "F"),
        (change("Joachim Sauer"), "M"),
    ]
    names = {change(BIO)[s.start : s.end] for s in people[0].spans if s.kind == "name"}
    assert names == {change("Angela Merkel"), change("Dr. Merkel")}


def test_words_are_names_only_where_they_stand_like_names():
    text = "the teacher gave mark a good mark. grace and patience came with hope."
    assert recase("a student named mark left the room. mark waited.").count("Mark") == 2
    assert "Patience" not in recase(text)
    assert "Hope" not in recase(text)
    assert recase("THE ROSE IN HER HAND WAS RED.") == "The rose in her hand was red."


def test_a_name_that_no_list_has_is_found_where_the_text_says_so():
    assert "Zzyxa" in recase("one day a student named zzyxa came. zzyxa smiled.")
    assert "zzyxa" in recase("they bought a zzyxa. it was green.")


def test_a_gender_comes_from_no_name():
    for name in ("maria", "james", "emily", "john"):
        text = f"a star student named {name} solved the problem. the class was amazed."
        (who, _) = extract_people(text, Roles("star student", None))
        assert (who.name, who.gender) == (name, "Unspecified")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Élodie", "Ángel"), ("Анна", "Иван"), ("李明", "王芳"), ("فاطمة", "أحمد"), ("지민", "서준")],
)
def test_names_in_other_scripts(one, other):
    text = STORY.replace("Maria", one).replace("Omar", other)
    found = extract_people(text, ROLES)
    assert named(found) == [(one, "F"), (other, "M")]
    for character in found:
        for span in character.spans:
            if span.kind == "name":
                assert text[span.start : span.end] == character.name


def test_a_text_in_another_script_names_nobody():
    found = extract_people("李明 是 学生。 王芳 是 老师。 李明 说 你好。", ROLES)
    assert [who.name for who in found] == [None, None]


@given(st.text())
@example("ŞIŞLI İSTANBUL ẞ ŉ")
@example("straße ŉ ǰ ﬁ")
def test_offsets_stay(text):
    for flat in (text.upper(), text.lower()):
        recased = recase(flat)
        assert len(recased) == len(flat)
        assert recased.casefold() == flat.casefold()
        extract_people(flat, ROLES)
        find_everyone(flat, unnamed=True, writer=True)


def test_speakers_in_capitals_are_names_in_a_story():
    text = "JULES: Sit down.\nMARA: I will not. She laughed.\nJULES: Then stand."
    assert [who.name for who in extract_people(text, ROLES)] == ["JULES", "MARA"]


def test_a_word_without_capitals_is_a_name_in_any_text():
    (person,) = find_everyone("The teacher met 健太 at school. He smiled, and 健太 waved.")
    assert (person.name, person.gender) == ("健太", "M")
