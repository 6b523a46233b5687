import pytest

from portrayal.annotate.people.any_text.candidates import find_candidates
from portrayal.annotate.people.any_text.clusters import keeps_company, support
from portrayal.annotate.people.shared.scan import scan


def value(text, which=0):
    tokens = scan(text)
    runs = find_candidates(text, tokens, frozenset({0}))
    return support(tokens, runs).get(runs[which].start, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "Xolani Mdze lost the race. He wept.",
        "In spring Xolani Mdze sold her house.",
        "Xolani Mdze is from Durban.",
        "Xolani Mdze was born in winter.",
        "Xolani Mdze teaches music.",
    ],
)
def test_what_speaks_for_a_name_that_no_list_knows(text):
    assert value(text) >= 0.7


@pytest.mark.parametrize(
    "text",
    [
        "Xolani Mdze opened its gates. He wept.",
        "Xolani Mdze was sold in May. She bought it.",
        "He drove on. Xolani Mdze closed. He wept.",
        "We met at Xolani Mdze. He wept.",
        "Xolani Mdze employed a baker. She sang.",
        "Xolani Mdze comes from pressed olives.",
        "Xolani Mdze reported a loss.",
    ],
)
def test_what_does_not(text):
    assert value(text) == 0.0


def test_another_name_may_be_the_pronouns():
    assert value("Emil Tarn left. Xolani Mdze opened. He wept.", 1) == 0.0


def test_names_that_need_nothing_are_passed_over():
    assert value("Emily Tarn wept. She left.") == 0.0


def test_company():
    text = "Emily Tarn and Xolani Mdze met Bafo Zwide."
    tokens = scan(text)
    first, second, third = find_candidates(text, tokens, frozenset({0}))
    people = range(first.start, first.end)
    assert keeps_company(tokens, second, people) > 0
    assert keeps_company(tokens, third, people) == 0
