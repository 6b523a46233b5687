from collections.abc import Iterable

import numpy as np
import pytest

from portrayal.measure.association import (
    ASSOCIATION,
    FISHER_SURVIVAL,
    OVERALL,
    WITHIN,
    Crossed,
    Crossings,
)
from portrayal.measure.scope import Scope, with_q_values
from portrayal.records import NO_TEST, Estimate
from portrayal.stats import benjamini_yekutieli, fisher_p

SCOPE = Scope("any")
GROUPS, ATTRIBUTES = ("north", "south", "nowhere"), ("rich", "poor")


def crossings(seed: int, lifted: float = 1.0, *, named: bool = False, models: int = 1) -> Crossings:
    """Texts of 30 prompts; the south is poor `lifted` times as often, prompts have own shares."""
    rng = np.random.default_rng(seed)
    n, texts = 30 * models, 60.0
    prompt, model = np.tile(np.arange(30), models), np.repeat(np.arange(models), 30)
    share = (prompt % 2 == 0) * 1.0 if named else rng.beta(3, 3, n)
    south = rng.binomial(int(texts), share).astype(float)
    of_group = np.stack([texts - south, south, 0 * south], axis=1)
    poor = rng.beta(2, 8, n)
    both = np.zeros((n, 3, 2))
    for g in range(2):
        p = np.minimum(1.0, poor * (lifted if g else 1.0))
        both[:, g, 1] = rng.binomial(of_group[:, g].astype(int), p)
        both[:, g, 0] = of_group[:, g] - both[:, g, 1]
    total = np.full(n, texts)
    one = Crossed(
        "region", GROUPS, "wealth", ATTRIBUTES, prompt, model, both, of_group, both.sum(1), total
    )
    return Crossings(
        tuple(f"p{i}" for i in range(30)), tuple(f"m{i}" for i in range(models)), (one,)
    )


def cell(found: Iterable[Estimate], region: str, wealth: str, model: str = "m0") -> Estimate:
    wanted = {"region": region, "wealth": wealth}
    (one,) = (e for e in found if e.group == wanted and e.strata["model"] == model)
    return one


def test_a_planted_lift_is_found_with_what_it_rests_on() -> None:
    texts = crossings(1, 2.0)
    found = with_q_values(list(ASSOCIATION.run(texts, SCOPE)))
    south = cell(found, "south", "poor")
    assert south.value is not None
    assert south.interval is not None
    assert south.null is not None
    assert 1 < south.interval.low < south.value < south.interval.high
    assert south.value > south.null.high
    assert south.tests[0].method == WITHIN
    assert south.tests[0].q is not None
    assert south.tests[0].q < 0.05
    crossed = texts.crossed[0]
    both, group = crossed.both.sum(0)[1, 1], crossed.of_group.sum(0)[1]
    attribute, total = crossed.of_attribute.sum(0)[1], crossed.total.sum()
    assert south.details["overall"] == pytest.approx(both / group / (attribute / total))
    assert south.details["share"] == pytest.approx(both / group)
    assert south.details["baseline"] == pytest.approx(attribute / total)
    assert south.details["texts"] == both
    assert cell(found, "north", "poor").value < 1


def test_the_kept_sums_give_the_value() -> None:
    south = cell(ASSOCIATION.run(crossings(2, 1.4), SCOPE), "south", "poor")
    assert south.sums is not None
    assert south.sums.lower is not None
    assert south.sums.n_lower is not None
    mean = south.sums.upper.sum() / south.sums.n_upper.sum()
    other = south.sums.lower.sum() / south.sums.n_lower.sum()
    assert mean / other == pytest.approx(south.value)


def test_a_group_that_the_prompt_names_is_tested_over_whole_prompts() -> None:
    found = list(ASSOCIATION.run(crossings(3, 2.0, named=True), SCOPE))
    south = cell(found, "south", "poor")
    assert south.tests[0].method == OVERALL
    assert south.details["within_prompts"] == 0
    assert south.value == pytest.approx(south.details["overall"])


def test_a_group_without_texts_has_a_reason() -> None:
    nowhere = cell(ASSOCIATION.run(crossings(4), SCOPE), "nowhere", "rich")
    assert nowhere.value is None
    assert nowhere.undefined == "no unit of this group"
    assert not nowhere.tests


def test_one_prompt_has_a_value_and_no_test() -> None:
    texts = crossings(5)
    one = texts.crossed[0]
    first = one.prompt == 0
    alone = Crossed(
        **{
            name: value[first] if isinstance(value, np.ndarray) else value
            for name, value in vars(one).items()
        }
    )
    south = cell(ASSOCIATION.run(Crossings(texts.prompts, texts.models, (alone,)), SCOPE), *POOR)
    assert south.value is not None
    assert south.interval is None
    assert "one prompt" in south.instruments[NO_TEST]


POOR = ("south", "poor")


def test_fishers_findings_are_counted_and_those_that_survive() -> None:
    texts = crossings(4, 1.0, named=True, models=2)
    (pooled, *_) = FISHER_SURVIVAL.run(texts, SCOPE)
    assert pooled.strata == {"model": "all"}
    crossed = texts.crossed[0]
    both = crossed.both.sum(0)
    group = np.broadcast_to(crossed.of_group.sum(0)[:, None], both.shape)
    attribute = np.broadcast_to(crossed.of_attribute.sum(0), both.shape)
    total = np.full(both.shape, crossed.total.sum())
    p = fisher_p(both[:2], group[:2], attribute[:2], total[:2])
    usual = benjamini_yekutieli(p) < 0.05
    assert usual.all()  # the prompts' own shares, taken for the regions' by Fisher's test
    assert pooled.details["fisher"] == 4
    assert pooled.details["survive"] == 0
    assert pooled.value == 0
    (kept, *_) = FISHER_SURVIVAL.run(crossings(4, 3.0, models=2), SCOPE)
    assert kept.value == 1


def test_without_findings_of_fisher_there_is_a_reason() -> None:
    texts = crossings(7)
    one = texts.crossed[0]
    nothing = Crossed(**(vars(one) | {"both": one.both * 0, "of_attribute": one.of_attribute * 0}))
    (none,) = FISHER_SURVIVAL.run(Crossings(texts.prompts, texts.models, (nothing,)), SCOPE)
    assert none.value is None
    assert "finds nothing" in str(none.undefined)
