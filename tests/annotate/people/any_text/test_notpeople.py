import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone


@pytest.mark.parametrize(
    "text",
    [
        "The Colorado Rockies beat the Toronto Blue Jays.",
        "He works for Goldman Sachs in Hong Kong.",
        "The Des Moines Register and the Washington Post reported it.",
        "They met at Harvard University and moved to San Francisco.",
        "The Affordable Care Act passed Congress.",
        "She flew to Ho Chi Minh City.",
        "Merry Christmas from Santa Monica!",
        "Critics and Republicans praised the Supreme Court on Friday.",
    ],
)
def test_names_of_no_person(text):
    assert find_everyone(text) == []


@pytest.mark.parametrize("name", ["Austin Reed", "Paris Jackson", "Virginia Woolf", "Bill Gates"])
def test_names_that_are_words_or_places_as_well(name):
    assert [p.name for p in find_everyone(f"Yesterday {name} said it was late.")] == [name]
