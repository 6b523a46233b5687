from portrayal.annotate.people.any_text.clusters import find_headlines
from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.shared.scan import scan

TITLE = "Mayor Fernandez Closes Old City Library\n"


def test_a_line_in_title_case_is_a_headline():
    tokens = scan(TITLE + "The library was old.")
    end = tokens.words.index("\n")
    assert find_headlines(tokens, [0, end + 1]) >= set(range(end))


def test_a_sentence_is_none():
    assert not find_headlines(scan("Yesterday the mayor closed the old city library."), [0])


def test_a_headline_names_people_of_the_text_only():
    text = TITLE + "On Tuesday Lucia Fernandez said that the roof leaks. She wants a new one."
    (person,) = find_everyone(text)
    assert person.name == "Lucia Fernandez"
    assert person.spans[0].start < len(TITLE)
    assert find_everyone(TITLE) == []
