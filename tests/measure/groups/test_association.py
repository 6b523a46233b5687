from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import portrayal
from portrayal.annotate.group_labels import GroupResponse
from portrayal.measure.groups import GroupTexts
from portrayal.measure.groups.association import (
    ASSOCIATION,
    OVERALL,
    WITHIN,
)
from portrayal.measure.groups.texts import GroupUnits, UnitRows, units_of
from portrayal.measure.scope import Scope, with_q_values
from portrayal.records import Estimate
from portrayal.reference.factors import Factor, Group, WordSource

from .test_groups import FACTOR, rows

SCOPE = Scope("any")
GROUPS, ATTRIBUTES = ("north", "south", "nowhere"), ("rich", "poor")


def factor(name: str, groups: tuple[str, ...]) -> Factor:
    shown = {group: (group,) for group in groups}
    words = WordSource(kind="words", words=shown)
    parts = {"groups": tuple(map(Group, groups)), "sources": (words,)}
    return Factor(name=name, label=name, note="", **parts)


def units(name: str, groups: tuple[str, ...], rows: UnitRows, place: list[int]) -> GroupUnits:
    one = factor(name, groups)
    answers = [(GroupResponse("group", (i,)),) for i in place]
    return units_of(one, one.sources[0], rows, answers)


def crossings(
    seed: int, lifted: float = 1.0, *, named: bool = False, models: int = 1
) -> GroupTexts:
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
    row, group, attribute = np.nonzero(both)
    rows = UnitRows(prompt[row], model[row], both[row, group, attribute])
    sides = (
        units("region", GROUPS, rows, group.tolist()),
        units("wealth", ATTRIBUTES, rows, attribute.tolist()),
    )
    prompts, names = tuple(f"p{i}" for i in range(30)), tuple(f"m{i}" for i in range(models))
    return GroupTexts(prompts, ({},) * 30, names, sides)


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
    (region, wealth), count = texts.observed, texts.observed[0].rows.count
    of_south, of_poor = region.indicators[:, 1], wealth.indicators[:, 1]
    both, group = count @ (of_south * of_poor), count @ of_south
    attribute, total = count @ of_poor, count.sum()
    assert south.details["overall"] == pytest.approx(both / group / (attribute / total))
    assert south.details["share"] == pytest.approx(both / group)
    assert south.details["baseline"] == pytest.approx(attribute / total)
    assert south.details["texts"] == both
    assert cell(found, "north", "poor").value < 1


SIZE = """\
name = "size"
label = "Size"
note = "Mentions."
[groups.path]
[groups.walk]
[[sources]]
kind = "words"
words = { path = ["path", "day"], walk = ["walk"] }
"""


def test_factors_of_a_run_are_crossed_as_a_plain_recount_has_it(tmp_path: Path) -> None:
    (tmp_path / "faith.toml").write_text(FACTOR, encoding="utf-8")
    (tmp_path / "size.toml").write_text(SIZE, encoding="utf-8")
    texts = rows()
    run = portrayal.audit(
        study="laissez-faire",
        texts=texts,
        factor=[str(tmp_path / "faith.toml"), str(tmp_path / "size.toml")],
        out=tmp_path / "run",
        draws=100,
        permutations=20,
    )
    found = [e for e in run.records if e.measure == "association.v1"]
    read = [row for row in texts if row["text"]]
    known = [row for row in read if row["faith"] not in ("comet", "")]
    for model in ("all", "m0", "m1"):
        for faith, size in product(("sun", "moon"), ("path", "walk")):
            (e,) = (
                e
                for e in found
                if e.group == {"faith": faith, "size": size}
                and e.strata == {"model": model, "seen_by": "label and words"}
            )
            here = [row for row in known if model in ("all", row["model"])]
            words = ("path", "day") if size == "path" else ("walk",)
            has = [any(word in row["text"] for word in words) for row in here]
            of = [faith in row["faith"] for row in here]
            both = sum(a and g for a, g in zip(has, of, strict=True))
            assert e.n_texts == len(here)
            lift = both / sum(of) / (sum(has) / len(here))
            assert e.details["overall"] == pytest.approx(lift)
            assert e.details["texts"] == both
    by_domain = [e for e in found if "domain" in e.group and e.strata["model"] == "all"]
    (sun,) = (
        e
        for e in by_domain
        if e.group == {"domain": "Labor", "faith": "sun"} and e.strata["seen_by"] == "label"
    )
    labelled = [row for row in texts if row["faith"] not in ("comet", "")]
    share = [sum("sun" in r["faith"] for r in labelled if "labor" in r["prompt_id"])]
    share += [sum("labor" in r["prompt_id"] for r in labelled)]
    every = sum("sun" in r["faith"] for r in labelled) / len(labelled)
    assert sun.details["overall"] == pytest.approx(share[0] / share[1] / every)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Associations" in page


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
    first = np.flatnonzero(texts.observed[0].rows.prompt == 0)
    rows = texts.observed[0].rows.take(first)
    places = ([int(x[i].argmax()) for i in first] for x in (s.indicators for s in texts.observed))
    sides = (
        units("region", GROUPS, rows, next(places)),
        units("wealth", ATTRIBUTES, rows, next(places)),
    )
    south = cell(ASSOCIATION.run(replace(texts, observed=sides), SCOPE), *POOR)
    assert south.value is not None
    assert south.interval is None
    assert "one prompt" in south.status.no_test


POOR = ("south", "poor")
