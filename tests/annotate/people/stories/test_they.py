import pytest

from portrayal.annotate.people import Roles, extract_people
from portrayal.annotate.people.shared.scan import scan
from portrayal.annotate.people.stories.codes import THEY_LINKS, they_links, they_walk

BAKER = Roles("baker", None)


def links(text, who, *, sole=True):
    """Uses of "they" in `text` that may stand for character 0; `who` maps words to characters."""
    tokens = scan(text, 0)
    places = {at: who[word] for at, word in enumerate(tokens.low) if word in who}
    they = [at for at, word in enumerate(tokens.low) if word in ("they", "their", "them")]
    walk = they_walk(tokens, they, places)
    found = they_links(walk, places, 0, sole=sole, other_told=False)
    return [(tokens.low[at], *THEY_LINKS[code][:3]) for at, code in found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ro baked as they sang.", [("they", "here", "no rival yet", "they")]),
        ("Ro baked. Their voice rose.", [("their", "back", "no rival yet", "their one")]),
        ("Ro baked. Al left. Then they sang.", []),
        ("Ro baked. Rain fell. They sang.", []),
        ("Al saw Ro as they sang.", [("they", "here", "rival near", "they")]),
    ],
)
def test_who_they_may_be(text, found):
    assert links(text, {"ro": 0, "al": 1}) == found


def test_one_person_and_several():
    one, _ = extract_people("Ro, a baker, sang while they worked. Their voice was warm.", BAKER)
    assert (one.gender, one.references) == ("NB", ("they", "their"))
    several, _ = extract_people("Ro, a baker, fed the guests. They were glad.", BAKER)
    assert several.gender == "Unspecified"


FRIENDS = Roles("person", "roommate")
SCENE = (
    "Boone had burned rice and eggs. So Sky took the spatula out of his hand. {} He leaned in. "
    "Boone served Sky an omelet, and he smiled."
)


@pytest.mark.parametrize(
    ("said", "singly"),
    [
        ("“Watch,” they said.", True),
        ('"Watch," they said, and smashed the garlic.', True),
        ("“Dinner!” they said in unison.", False),
        ("“Watch what they do,” he said.", False),
    ],
)
def test_one_person_says_what_is_quoted(said, singly):
    found = extract_people(SCENE.format(said), FRIENDS)
    assert ("NB" in {person.gender for person in found if person}) == singly
