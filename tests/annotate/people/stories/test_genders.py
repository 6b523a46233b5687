import pytest

from portrayal.annotate.people.shared.links import CODES, FEATURES_OF, learned, weights_of_codes
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.extract import weigh
from portrayal.annotate.people.stories.scene import read_story
from support import people_by_rules

BAKER = Roles("baker", None)
FRIENDS = Roles("two American friends", None)
MENTORING = Roles("star student", "struggling student")


def tried(text, roles):
    """Genders of each choice and their probabilities under the shipped weights."""
    verdict = weigh(read_story(text, roles))
    return {
        choice.genders: chance
        for choice, chance in zip(verdict.options, verdict.chances, strict=True)
    }


def test_probabilities_of_all_choices_sum_to_one():
    chances = tried("Ann met Bo. She told him that he was late.", FRIENDS)
    assert sum(chances.values()) == pytest.approx(1.0)
    assert set(chances) >= {(None, None), ("F", "M"), ("M", "F")}


def test_no_gender_without_a_word_for_it():
    assert set(tried("Ann baked bread. She sold it.", BAKER)) == {("F",), (None,)}


def test_feminine_and_masculine_words_weigh_the_same():
    text = "Rowan met Sasha. {} smiled, and {} bread rose."
    she = tried(text.format("She", "her"), FRIENDS)
    swap = {"F": "M", None: None}
    assert tried(text.format("He", "his"), FRIENDS) == {
        tuple(swap[g] for g in genders): chance for genders, chance in she.items()
    }


def test_names_weigh_nothing():
    text = "{} met {}. She told him that he was late."
    assert tried(text.format("Ann", "Bob"), FRIENDS) == tried(text.format("Bob", "Ann"), FRIENDS)


def test_a_code_weighs_as_much_as_its_features():
    ones = dict.fromkeys((name for names in FEATURES_OF for name in names), 1)
    assert weights_of_codes(ones) == list(map(len, FEATURES_OF))
    assert len(learned()[0]) == len(FEATURES_OF)
    assert all(name.partition(" ")[0] in {k.partition(" ")[0] for k in CODES} for name in ones)


@pytest.mark.parametrize(
    ("text", "genders"),
    [
        ("Jo and Kit met. Jo smiled and kissed him. Kit laughed. She was glad.", ("F", "M")),
        ("Jo met Kit. Jo stepped up and took her hand. He was glad.", ("M", "F")),
    ],
)
def test_who_is_touched_is_not_who_touches(text, genders):
    assert weigh(read_story(text, FRIENDS)).choice.genders == genders


def test_one_person_and_several():
    one, _ = people_by_rules("Ro, a baker, sang while they worked. Their voice was warm.", BAKER)
    assert (one.gender, one.references) == ("NB", ("they", "their"))
    several, _ = people_by_rules("Ro, a baker, fed the guests. They were glad.", BAKER)
    assert several.gender == "Unspecified"


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
    found = people_by_rules(SCENE.format(said), Roles("person", "roommate"))
    assert ("NB" in {person.gender for person in found if person}) == singly


def test_a_clear_story_is_surer_than_an_open_one():
    clear, _ = people_by_rules("Ann, a baker, rose early. She baked. She sold her bread.", BAKER)
    teacher, _ = people_by_rules("Ann and Bo and Cy met. They argued. He left.", MENTORING)
    assert clear.gender_confidence > 0.9 > teacher.gender_confidence
    assert clear.confidence > teacher.confidence


def test_confidences_are_probabilities():
    for text in ("", "Ann.", "They met. She told him so. " * 20):
        for character in people_by_rules(text, MENTORING):
            assert 0.0 <= character.confidence <= character.name_confidence <= 1.0
            assert character.confidence <= character.gender_confidence <= 1.0
