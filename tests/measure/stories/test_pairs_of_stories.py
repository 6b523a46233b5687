"""The two people of one story are no independent draws: what a prompt's sums say of that."""

import pytest

from portrayal.measure.stories.strata import GENDERS, group_features, group_sums, strata
from portrayal.measure.stories.subordination import _covariance
from portrayal.measure.stories.tally import DOMINANT, NO_SLOT, SUBORDINATE


@pytest.mark.parametrize("gender", GENDERS)
def test_how_two_people_of_a_story_go_together_is_that_of_naive_loops(tallied, gender):
    c, code = tallied.characters, GENDERS.index(gender)
    features = group_features(tallied, c.name, c.gender, crossed=True)
    column = features.groups.index({"gender": gender})
    some = 0
    for stratum in strata(tallied, laden=True):
        roles = [group_sums(tallied, stratum, role, features) for role in (SUBORDINATE, DOMINANT)]
        found = _covariance(tallied, stratum, features, roles)[:, column]
        for at, prompt in enumerate(stratum.prompts):
            pairs, people = [], []
            for i, count in enumerate(tallied.count):
                if tallied.prompt[i] != prompt or tallied.model[i] not in stratum.models:
                    continue
                if not tallied.readable[i]:
                    continue
                both = tallied.subject_gender[i], tallied.object_gender[i]
                known = [each for each in both if 0 <= each < len(GENDERS)]
                people += [float(each == code) for each in known] * count
                if len(known) == 2 and both[1] != NO_SLOT:
                    pairs += [[float(each == code) for each in both]] * count
            share = sum(people) / len(people) if people else 0.0
            assert found[at] == pytest.approx(sum((x - share) * (y - share) for x, y in pairs))
            some += len(pairs)
    assert some > 20
