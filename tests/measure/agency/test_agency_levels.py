"""How often differences and variances of agency are found: with one that is there, and without."""

from dataclasses import replace

import numpy as np
import pytest

from measure.agency.test_agency_blocks import numbered, texts_of
from portrayal.measure.agency.estimates import agency_gap, agency_variance
from portrayal.measure.agency.texts import LabelColumn
from portrayal.measure.scope import Scope
from portrayal.records import THESE

SCOPE = Scope("agency", draws=100, permutations=20, instruments={"classifier": "test"})
REPLICATES, BLOCKS, PER_CELL = 200, 20, 5


def crossed(effect, *, tau=0.1, uneven=False, seed=1, models=REPLICATES):
    """Texts of models with 20 blocks of their own level (SD tau), each with prompts of two groups.

    With `uneven`, blocks of a high level hold more prompts of the first group.
    """
    rng = np.random.default_rng(seed)
    model, block, group, _ = (axis.ravel() for axis in np.indices((models, BLOCKS, 2, PER_CELL)))
    level = rng.normal(0.0, tau, (models, BLOCKS))[model, block]
    gap = level + effect * (group == 0) + rng.normal(0.0, 0.15, len(model))
    if uneven:
        few = (level > 0) == (group == 1)
        kept = ~few | (np.arange(len(model)) % PER_CELL < 2)
        model, block, group, gap = model[kept], block[kept], group[kept], gap[kept]
    texts = texts_of(gap, group, cluster=np.arange(len(gap)), unit="prompt")
    named = tuple(f"m{i:03d}" for i in range(models))
    columns = {"job": numbered(block, "j"), "pronoun": numbered(group, "p")}
    return replace(texts, model=LabelColumn(model, named), columns=columns)


def by_prompt(texts):
    """The same texts without what makes blocks."""
    return replace(texts, columns={}, cache={})


def rejected(texts, measure=agency_gap):
    every = list(measure(texts, SCOPE))
    assert len(every) == len(texts.model.labels)
    return np.mean([e.tests[0].p < 0.05 for e in every]), every


def test_a_difference_within_blocks_is_found_and_none_is_not():
    power, found = rejected(crossed(0.037))
    level, _ = rejected(crossed(0.0))
    assert power > 0.3
    assert level < 0.08
    assert {e.n_clusters for e in found} == {BLOCKS}
    assert found[0].interval.method.endswith("over blocks (prompts alike in job)")
    assert "-0.0" not in {str(e.null.value) for e in found}
    assert {e.null.value for e in found} == {0.0}


def test_clusters_by_prompt_would_miss_it():
    power, found = rejected(by_prompt(crossed(0.037)))
    assert power < 0.3
    assert {e.n_clusters for e in found} == {BLOCKS * PER_CELL}
    assert "over prompts (1 block of prompts alike but for the group" in found[0].interval.method


def test_levels_of_blocks_that_hold_more_of_one_group_are_no_difference_between_groups():
    level, found = rejected(crossed(0.0, uneven=True))
    assert level < 0.08
    assert np.mean([e.value for e in found]) > 0.05
    for e in found:
        assert e.interval.low < e.value < e.interval.high


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("answers", [1, 4])
def test_of_these_prompts_the_interval_is_narrower_and_covers(answers, blocks):
    """Prompts differ in what they make of a group: of others that is chance, of these it is not."""
    rng = np.random.default_rng(7)
    shape = REPLICATES, BLOCKS, 2, PER_CELL
    # An effect of each block, and a level of each prompt; answers differ in themselves.
    true = rng.normal(0.0, 0.1, shape[:3])[..., np.newaxis] + rng.normal(0.0, 0.05, shape)
    index = np.indices((*shape, answers)).reshape(5, -1)
    model, block, group = index[:3]
    gap = true[tuple(index[:4])] + rng.normal(0.0, 0.15, index.shape[1])
    prompt = np.arange(true.size).reshape(shape)[tuple(index[:4])]
    texts = texts_of(gap, group, cluster=prompt, unit="prompt")
    columns = {"job": numbered(block, "j"), "pronoun": numbered(group, "p")} if blocks else {}
    named = tuple(f"m{i:03d}" for i in range(REPLICATES))
    texts = replace(texts, model=LabelColumn(model, named), columns=columns)
    found = list(agency_gap(texts, SCOPE))
    if answers == 1 and not blocks:
        assert {e.fixed for e in found} == {None}, "nothing is repeated"
        return
    wide = np.mean([e.interval.high - e.interval.low for e in found])
    fixed = [e.of_population(THESE, 0.95) for e in found]
    bounds = np.array([(e.interval.low, e.interval.high) for e in fixed])
    value = true.mean(axis=(1, 3))
    inside = (bounds.T[0] <= value[:, 0] - value[:, 1]) & (value[:, 0] - value[:, 1] <= bounds.T[1])
    assert np.ptp(bounds, axis=1).mean() < 0.8 * wide
    # One text of each prompt tells its level from chance in nothing, so that bounds are too wide
    assert (0.92 if answers > 1 else 0.94) <= inside.mean() <= (0.98 if answers > 1 else 1.0)
    excluded = (bounds.T[0] > 0.0) | (bounds.T[1] < 0.0)
    assert [e.tests[0].p < 0.05 for e in fixed] == excluded.tolist()


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("measure", [agency_gap, agency_variance])
def test_p_is_small_exactly_where_the_interval_leaves_its_null_out(measure, blocks, uneven):
    texts = crossed(0.05, uneven=uneven, seed=2, models=50)
    for e in rejected(texts if blocks else by_prompt(texts), measure)[1]:
        null = 0.0 if measure is agency_variance else e.null.value
        outside = e.interval.low > null or e.interval.high < null
        assert outside == (e.tests[0].p < 0.05)
