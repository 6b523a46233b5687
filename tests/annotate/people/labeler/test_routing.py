"""Routing: exactly the share asked for, the least confident texts, ties by their names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.people.labeler import labelling_of
from portrayal.annotate.people.labeler.stage import least_confident
from portrayal.errors import OptionError

SHARES = st.floats(0.001, 1)
CONFIDENCES = st.lists(st.sampled_from([-1.0, 0.2, 0.5, 0.5000001, 0.9]), max_size=40)


@given(CONFIDENCES, SHARES)
def test_the_least_confident_share_is_taken(confidences, share):
    taken = least_confident(confidences, share, [""] * len(confidences))
    assert len(taken) == int(len(confidences) * share + 0.5)
    assert taken == sorted(set(taken))
    left = [c for i, c in enumerate(confidences) if i not in taken]
    assert not (taken and left) or max(confidences[i] for i in taken) <= min(left)


@given(st.permutations(range(12)), SHARES)
def test_the_order_of_the_texts_decides_nothing(order, share):
    confidences = [0.5] * 6 + [0.1, 0.9] * 3
    ids = [f"t{i:02d}" for i in range(12)]
    plain = {ids[i] for i in least_confident(confidences, share, ids)}
    moved = least_confident([confidences[i] for i in order], share, [ids[i] for i in order])
    assert {ids[order[i]] for i in moved} == plain


@pytest.mark.parametrize("share", [0, -0.1, 1.01, 20, True, "0.2", float("nan")])
def test_a_share_is_a_fraction(share):
    with pytest.raises(OptionError, match="fraction of the texts"):
        labelling_of("routed", "server:m", share=share)
