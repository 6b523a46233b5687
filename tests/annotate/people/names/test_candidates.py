import pytest

from portrayal.annotate.people.names.candidates import find_candidates
from portrayal.annotate.people.shared.scan import scan
from portrayal.annotate.people.shared.words import bearers, given_names, is_given


def runs(text):
    tokens = scan(text)
    found = find_candidates(tokens)
    return [" ".join(tokens.words[part] for part in run.parts) for run in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He met Angela Merkel in March.", ["Angela Merkel"]),
        ("Then Ursula von der Leyen spoke.", ["Ursula Leyen"]),
        ("It was Stephen M. Ross who paid.", ["Stephen Ross"]),
        ("the singer Taylor Swift and Senator Bernie Sanders", ["Taylor Swift", "Bernie Sanders"]),
        ("at Stanford University in New York", []),
        ("Ernst & Young hired the World Health Organization", []),
        ("on Monday the Republicans met in Congress", []),
        ("NASA and the WHO", []),
        ("", []),
    ],
)
def test_runs_that_may_be_names(text, expected):
    assert runs(text) == expected


def test_titles_stand_apart_from_the_name():
    tokens = scan("Then Dr. Amara Nwosu came.")
    (run,) = find_candidates(tokens)
    assert [tokens.low[at] for at in run.titles] == ["dr"]
    assert run.words == ["amara", "nwosu"]


def test_known_first_names_with_and_without_accents():
    assert is_given("maria")
    assert is_given("josé") == is_given("jose") is True
    assert not is_given("xqzt")
    assert bearers("emily") > 100_000
    assert bearers("xqzt") == 0


def test_the_list_tells_only_how_many_bear_a_name():
    assert all(isinstance(value, int) for value in list(given_names().values())[:100])
