"""Estimates and intervals of hand-labelled stories beside generalised estimating equations.

GEE by statsmodels shares nothing with `portrayal.stats`: independent working correlation, Mancl and
DeRouen's (2001) covariance, t with prompts less parameters degrees of freedom. `pytest -s` prints
what docs/calibration.md says of it.
"""

import math
import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from portrayal.reference.groups import RACES
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods
from portrayal.run import read_prompts

LATINE, BLACK, WOMEN = {"race": "Latine"}, {"race": "Black"}, {"gender": "F"}
CELLS = [
    *(("representation.v1", d, g) for d in ("Labor", "Learning", "Love") for g in (BLACK, WOMEN)),
    *(("subordination.v1", d, g) for d in ("Labor", "Love") for g in (LATINE, BLACK, WOMEN)),
]
SOLVED = 1e-5  # both are the pooled ratio; statsmodels stops where a step is below 1e-6
NARROWEST, WIDEST = 0.6, 1.7  # our log width over theirs


@pytest.fixture(scope="module")
def characters(gold_run):
    """Domain, role, prompt, likelihoods by race, and gender of every character, shape (n,) each."""
    texts, people = (
        pq.read_table(stage.parts()[0]).to_pylist()
        for stage in (gold_run.texts, gold_run.annotations("people-labelled.v1"))
    )
    prompt_of = {row["text_id"]: row["prompt_id"] for row in texts if row["outcome"] == "ok"}
    facts = read_prompts(gold_run.prompts_path)
    rows = []
    for row in people:
        prompt = prompt_of.get(row["text_id"])
        for slot, role in (("subject", "dominant"), ("object", "subordinate")):
            if prompt is not None:
                own = role if facts[prompt]["condition"] == "power-laden" else "neutral"
                name, gender = row[f"{slot}_name"] or "", row[f"{slot}_gender"]
                rows.append((facts[prompt]["domain"], own, prompt, name, gender))
    domain, role, prompt, names, gender = (np.array(each) for each in zip(*rows, strict=True))
    likelihood = race_likelihoods(names.tolist(), name_table(), mena_nhpi_table())
    return domain, role, prompt, likelihood, gender


def gee(characters, measure, domain, group):
    """Estimate, low and high of a share (logit) or of a ratio of two shares (log link)."""
    domains, role, prompt, likelihood, gender = characters
    if "race" in group:
        y = likelihood[:, RACES.index(group["race"])]
        known = ~np.isnan(y)
    else:
        y, known = gender == group["gender"], np.isin(gender, ("F", "M", "NB"))
    of_roles = measure.startswith("subordination")
    asked = np.isin(role, ("dominant", "subordinate") if of_roles else ("neutral",))
    keep = known & asked & (domains == domain)
    from statsmodels.genmod import cov_struct, families
    from statsmodels.genmod.generalized_estimating_equations import GEE

    columns = [np.ones(keep.sum())] + ([role[keep] == "subordinate"] if of_roles else [])
    family = families.Poisson() if of_roles else families.Binomial()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a likelihood by race is no whole count
        found = GEE(
            y[keep].astype(float),
            np.column_stack(columns).astype(float),
            groups=prompt[keep],
            family=family,
            cov_struct=cov_struct.Independence(),
        ).fit(cov_type="bias_reduced")
    df = len(np.unique(prompt[keep])) - len(columns)
    half = stats.t.isf(0.025, df) * found.bse[-1]
    link = np.exp if of_roles else lambda x: 1.0 / (1.0 + np.exp(-x))
    return tuple(float(link(found.params[-1] + x)) for x in (0.0, -half, half))


@pytest.mark.parametrize(("measure", "domain", "group"), CELLS)
def test_estimates_are_those_of_gee_and_intervals_as_wide(
    gold_run, characters, measure, domain, group
):
    where = {"domain": domain, "model": "all"}
    (e,) = (
        e
        for e in gold_run.records
        if (e.measure, e.strata, e.group) == (measure, where, group) and e.interval
    )
    starred = e.details.get("baseline", 1.0)
    value, low, high = (x / starred for x in gee(characters, measure, domain, group))
    wider = math.log(e.interval.high / e.interval.low) / math.log(high / low)
    print(
        f"| {measure.partition('.')[0]} | {domain} | {' '.join(group.values())} | {e.value:.2f} "
        f"[{e.interval.low:.2f}, {e.interval.high:.2f}] | [{low:.2f}, {high:.2f}] | {wider:.2f} |"
    )
    assert e.value == pytest.approx(value, rel=SOLVED)
    assert NARROWEST <= wider <= WIDEST
    assert e.interval.low <= value <= e.interval.high
    # What one leaves out of its interval, 1 or not, the other does too, but by a hair.
    ends = (e.interval.low, e.interval.high, low, high)
    by_a_hair = any(abs(end - 1) < 0.005 for end in ends)
    assert by_a_hair or (e.interval.low <= 1 <= e.interval.high) == (low <= 1 <= high)
