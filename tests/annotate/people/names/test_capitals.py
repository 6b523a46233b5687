import pytest

from portrayal.annotate.people.names.candidates import find_candidates, openings, take
from portrayal.annotate.people.shared.scan import scan


def run(text):
    tokens = scan(text)
    return tokens, take(tokens, openings(tokens)[0])


def written(text):
    tokens, found = run(text)
    return [tokens.words[at] for at in found.parts]


@pytest.mark.parametrize(
    "text",
    [
        "Ruth Amsel MP asked again",
        "Ruth Amsel OBE, KC spoke",
        "Ruth Amsel, CPA, left",
        "Ruth Amsel M.D. left",
        "Ruth Amsel Ph.D. left",
        "Ruth Amsel IBM left",
    ],
)
def test_letters_behind_a_name_are_no_part_of_it(text):
    assert written(text) == ["Ruth", "Amsel"]


@pytest.mark.parametrize(
    ("text", "nickname"),
    [
        ('Edward "Ned" Pryce', "ned"),
        ("Edward “Ned” Pryce", "ned"),
        ("Edward (Ned) Pryce", "ned"),
        ("Edward 'Ned' Pryce", "ned"),
        ("Edward ‘Ned’ Pryce", "ned"),
        ('Edward "The Crow" Pryce', ""),
        ("Clara (née Voss) Pryce", ""),
    ],
)
def test_a_nickname_stands_inside_the_name(text, nickname):
    assert written(text)[1:] == ["Pryce"]
    assert run(text)[1].nickname == nickname


@pytest.mark.parametrize(
    "text", ['Edward "very" Pryce', "Edward (Ned)", 'Edward "Ned', "Edward ()"]
)
def test_other_marks_end_the_name(text):
    assert written(text) == ["Edward"]


@pytest.mark.parametrize(
    ("text", "words", "initials"),
    [
        ("Then D. H. Marlow sang.", ["marlow"], "dh"),
        ("Then D.H. Marlow sang.", ["marlow"], "dh"),
        ("A.B.C. Desmond Marlow sang.", ["desmond", "marlow"], "abc"),
        ("Then I. M. Okoro sang.", ["okoro"], "im"),
        ("Then Olga A. Marlow sang.", ["olga", "marlow"], ""),
    ],
)
def test_initials(text, words, initials):
    tokens = scan(text)
    (found,) = find_candidates(tokens)
    assert (found.words, found.initials) == (words, initials)


@pytest.mark.parametrize("text", ["It was plan B. Olga sang.", "She got an A. Olga sang."])
def test_a_letter_that_is_no_initial_opens_no_name(text):
    tokens = scan(text)
    assert [r.words for r in find_candidates(tokens)] == [["olga"]]


def test_small_words_with_a_hyphen_are_part_of_a_name():
    assert written("Ibrahim al-Farsi waited") == ["Ibrahim", "al-Farsi"]
    assert written("Ibrahim was al-right") == ["Ibrahim"]
