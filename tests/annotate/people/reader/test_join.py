"""Rules and network together: who prevails, and how sure both are."""

import numpy as np
import pytest

from portrayal.annotate.people.reader.network import Reading
from portrayal.annotate.people.reader.rows import Joining, read_people
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.extract import people_of_cast, read_story

TEXT = "Maria, a star student, taught Sam, a struggling student. She smiled, and he thanked her."
ROLES = Roles("star student", "struggling student")


def log_shares(rows):
    shares = np.array(rows, dtype=float)
    return np.log(shares / shares.sum(1, keepdims=True))


def reading(subject, other, genders):
    return Reading(log_shares([subject, other]), log_shares(genders))


EVEN = reading([1, 1, 1], [1, 1, 1], [[1, 1, 1, 1]] * 4)
SWAPPED = reading(
    [1e-6, 1, 1e-6], [1, 1e-6, 1e-6], [[1e-6, 1, 1e-6, 1e-6], [1, 1e-6, 1e-6, 1e-6]] * 2
)


def test_a_network_that_knows_nothing_leaves_it_to_the_rules():
    scene, cast = read_story(TEXT, ROLES)
    by_rules = people_of_cast(scene, cast)
    joined = read_people(scene, cast, EVEN, Joining())
    assert [(p.name, p.gender) for p in joined] == [(p.name, p.gender) for p in by_rules]
    assert [p.references for p in joined] == [p.references for p in by_rules]


def test_a_network_that_is_sure_prevails_where_it_has_weight():
    scene, cast = read_story(TEXT, ROLES)
    for weight, names in ((3.0, ("Sam", "Maria")), (0.0, ("Maria", "Sam"))):
        joined = read_people(scene, cast, SWAPPED, Joining(names=(weight, 1.0)))
        assert tuple(p.name for p in joined) == names


def test_genders_follow_the_person_not_the_role():
    scene, cast = read_story(TEXT, ROLES)
    by_words = reading(
        [1e-9, 1, 1e-9], [1, 1e-9, 1e-9], [[1, 0.01, 0.01, 0.01], [0.01, 1, 0.01, 0.01]] * 2
    )
    joined = read_people(scene, cast, by_words, Joining(names=(3.0, 0.0)))
    assert [(p.name, p.gender) for p in joined] == [("Sam", "M"), ("Maria", "F")]


def test_confidences_follow_the_curves():
    scene, cast = read_story(TEXT, ROLES)
    flat = Joining(name_curve=(0.0, 0.0), gender_curve=(0.0, 0.0, 0.0), both_curve=(0.0, 0.0, 0.0))
    for person in read_people(scene, cast, EVEN, flat):
        assert person.name_confidence == person.gender_confidence == person.confidence == 0.5


@pytest.mark.parametrize("roles", [Roles("cook", None), Roles("two friends", None)])
def test_one_role_and_two_alike(roles):
    scene, cast = read_story("Ann met Bo. She waved.", roles)
    n = len(scene.people)
    even = Reading(np.log(np.full((2, n + 1), 1 / (n + 1))), np.log(np.full((n + 2, 4), 0.25)))
    subject, other = read_people(scene, cast, even, Joining())
    assert subject.name == "Ann"
    assert (other is None) == (not roles.has_object)


def test_nobody_named():
    scene, cast = read_story("The student thanked her. She smiled.", ROLES)
    alone = Reading(np.zeros((2, 1)), np.log(np.full((2, 4), 0.25)))
    subject, other = read_people(scene, cast, alone, Joining())
    assert subject.name is None
    assert other.name is None
