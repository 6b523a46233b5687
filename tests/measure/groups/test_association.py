from collections.abc import Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import portrayal
from portrayal.measure.groups import GroupTexts
from portrayal.measure.groups.association import (
    ASSOCIATION,
    OVERALL,
    WITHIN,
    Crossed,
)
from portrayal.measure.scope import Scope, with_q_values
from portrayal.records import Estimate

from .test_groups import FACTOR, rows

SCOPE = Scope("any")
GROUPS, ATTRIBUTES = ("north", "south", "nowhere"), ("rich", "poor")


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
    total = np.full(n, texts)
    one = Crossed(
        "region", GROUPS, "wealth", ATTRIBUTES, prompt, model, both, of_group, both.sum(1), total
    )
    return of(tuple(f"m{i}" for i in range(models)), one)


def of(models: tuple[str, ...], one: Crossed) -> GroupTexts:
    prompts = tuple(f"p{i}" for i in range(30))
    return GroupTexts(prompts, ({},) * 30, models, (), (), (one,))


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
    (tmp_path / "faith.toml").write_text(FACTOR.format(several="split"), encoding="utf-8")
    (tmp_path / "size.toml").write_text(SIZE, encoding="utf-8")
    texts = rows()
    run = portrayal.audit(
        "laissez-faire",
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
    one = texts.crossed[0]
    first = one.prompt == 0
    alone = Crossed(
        **{
            name: value[first] if isinstance(value, np.ndarray) else value
            for name, value in vars(one).items()
        }
    )
    south = cell(ASSOCIATION.run(of(texts.models, alone), SCOPE), *POOR)
    assert south.value is not None
    assert south.interval is None
    assert "one prompt" in south.status.no_test


POOR = ("south", "poor")
