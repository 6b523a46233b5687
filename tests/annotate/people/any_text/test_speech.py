import pytest

from portrayal.annotate.people.any_text.draft import draft_people
from portrayal.annotate.people.any_text.pronouns import find_speakers
from portrayal.annotate.people.shared.scan import scan


def test_quotations_are_numbered():
    tokens = scan('He said "yes" and "no" then.')
    numbers = dict(zip(tokens.words, tokens.quoted, strict=True))
    assert (numbers["yes"], numbers["no"], numbers["then"]) == (1, 2, 0)


@pytest.mark.parametrize(
    "text",
    [
        '"I agree," said Ann.',
        '"I agree," Ann said.',
        'Ann said: "I agree."',
        "“I agree,” Ann said.",
    ],
)
def test_who_speaks(text):
    tokens = scan(text)
    who = {tokens.words.index("Ann"): 7}
    assert find_speakers(tokens, who) == {1: 7}


def test_a_quotation_that_nobody_says():
    tokens = scan('The sign read "open". Ann left.')
    assert find_speakers(tokens, {8: 7}) == {}


@pytest.mark.parametrize("close", ["Sincerely,\n", "Kind regards,\n", "Yours truly, "])
def test_the_name_below_a_closing_formula(close):
    (person,) = draft_people(f"I am well.\n{close}Paul Adams", writer=True)
    assert person.writer
    assert person.name == "Paul Adams"


def test_no_closing_formula():
    (person,) = draft_people("I am well.", writer=True)
    assert person.name is None
