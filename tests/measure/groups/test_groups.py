"""Measures of groups: group_share.v1, group_texts.v1, group_ratio.v1,
people_share.v1 and people_ratio.v1, each against a plain recount."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portrayal
from portrayal.errors import OptionError
from portrayal.records import Estimate
from portrayal.run import Run
from portrayal.run.estimates import read_influences

FACTOR = """\
name = "faith"
label = "Faith"
note = "Mentions."
[groups.sun]
[groups.moon]
[groups.star]
[[sources]]
kind = "column"
name = "label"
column = "faith"
separator = ";"
none = ["neither"]
[[sources]]
kind = "words"
words = { sun = ["sunny"], moon = ["moonlit"] }
[[baselines]]
name = "here"
source = "counted"
shares = { sun = 0.5, moon = 0.25, star = 0.25 }
[[baselines]]
name = "by-domain"
stratum = "domain"
source = "counted"
[baselines.of.Learning]
sun = 0.2
moon = 0.4
star = 0.4
"""
CELLS = ("sun", "sun;moon", "moon", "neither", "comet", "sun", "star", "", "moon;moon")
TEXTS = ("A sunny day.", "The sunny, sunny, moonlit path.", "Nothing here.", "", "A moonlit walk.")
PROMPTS = ("learning-neutral-arts", "learning-neutral-english", "labor-neutral-cook")


def rows() -> list[dict[str, str]]:
    rng = np.random.default_rng(3)
    return [
        {
            "prompt_id": PROMPTS[int(rng.integers(3))],
            "model": f"m{int(rng.integers(2))}",
            "text": TEXTS[int(rng.integers(5))],
            "faith": CELLS[int(rng.integers(9))],
        }
        for _ in range(120)
    ]


def audited(folder: Path, texts: Any = None, **more: Any) -> Run:
    path = folder / "faith.toml"
    path.write_text(FACTOR, encoding="utf-8")
    return portrayal.audit(
        study="laissez-faire",
        texts=rows() if texts is None else texts,
        factor=[str(path)],
        out=folder / "run",
        report=False,
        draws=200,
        permutations=20,
        **more,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return audited(tmp_path_factory.mktemp("faith"))


def of(run: Run, measure: str, group: str, **strata: str) -> Estimate:
    (found,) = [
        e
        for e in run.records
        if e.measure == measure
        and e.group.get("faith") == group
        and all(
            e.strata.get(k) == v for k, v in ({"domain": "all", "model": "all"} | strata).items()
        )
    ]
    return found


def cells(**where: str) -> list[str]:
    return [row["faith"] for row in rows() if all(row[k] == v for k, v in where.items())]


def split(listed: list[str]) -> tuple[Counter[str], float]:
    """A plain recount: each text counts one, split evenly among the groups that it names."""
    total: Counter[str] = Counter()
    for cell in listed:
        named = sorted({part for part in cell.split(";") if part in ("sun", "moon", "star")})
        for part in named:
            total[part] += 1 / len(named)
    return total, sum(total.values())


@pytest.mark.parametrize("group", ["sun", "moon", "star"])
@pytest.mark.parametrize("model", ["all", "m0", "m1"])
def test_shares_are_those_of_a_plain_recount(run: Run, group: str, model: str) -> None:
    listed = cells() if model == "all" else cells(model=model)
    total, n = split(listed)
    share = of(run, "group_share.v1", group, seen_by="label", model=model)
    assert share.value == pytest.approx(total[group] / n, abs=1e-12)
    assert share.n_units == pytest.approx(n)
    assert share.n_clusters == 3
    assert share.interval is not None
    assert share.interval.low <= share.value <= share.interval.high
    assert share.exclusions["text with no group"] == listed.count("neither")
    unknown = listed.count("comet") + listed.count("")
    assert share.exclusions["text whose group is not known"] == unknown


def test_texts_that_show_a_group(run: Run) -> None:
    texts = [row["text"] for row in rows()]
    readable = [text for text in texts if text]
    shown = of(run, "group_texts.v1", "sun", seen_by="words")
    assert shown.value == pytest.approx(sum("sunny" in t for t in readable) / len(readable))
    assert shown.exclusions["refused, empty or failed"] == texts.count("")


def test_a_group_that_a_source_cannot_see_is_undefined_not_0(run: Run) -> None:
    missing = of(run, "group_share.v1", "star", seen_by="words")
    assert missing.value is None
    assert missing.undefined == "words of faith list nothing of star"


def test_ratios_are_shares_over_each_baseline_where_it_speaks(run: Run) -> None:
    total, n = split(cells())
    ratio = of(run, "group_ratio.v1", "moon", seen_by="label", population="here")
    assert ratio.value == pytest.approx(total["moon"] / n / 0.25)
    assert ratio.null is not None
    assert ratio.null.value == 1.0
    inside = ratio.interval is not None and ratio.interval.low <= 1.0 <= ratio.interval.high
    assert inside == (ratio.tests[0].p >= 0.05)
    kinds = {e.strata["domain"] for e in run.records if e.strata.get("population") == "by-domain"}
    assert kinds == {"Learning"}
    there = [row["faith"] for row in rows() if row["prompt_id"].startswith("learning")]
    total, n = split(there)
    local = of(
        run, "group_ratio.v1", "sun", seen_by="label", population="by-domain", domain="Learning"
    )
    assert local.value == pytest.approx(total["sun"] / n / 0.2)


def test_sums_by_prompt_give_the_value_again(run: Run) -> None:
    kept = read_influences(run.influences_path, run.records)
    for i, estimate in enumerate(run.records):
        if not estimate.measure.startswith(("group_", "people_")) or estimate.value is None:
            continue
        rows_of = slice(int(kept.starts[i]), int(kept.starts[i + 1]))
        upper, n_upper = kept.columns[0][rows_of].sum(), kept.columns[1][rows_of].sum()
        assert kept.scales[i] * upper / n_upper == pytest.approx(estimate.value)


def test_a_label_counts_where_the_words_of_a_text_are_missing(tmp_path: Path) -> None:
    made = audited(tmp_path, texts=[row | {"text": ""} for row in rows()[:40]] + rows()[40:50])
    share = of(made, "group_share.v1", "sun", seen_by="label")
    total, n = split(cells()[:50])
    assert share.value == pytest.approx(total["sun"] / n)


def test_a_factor_that_nothing_shows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "only.toml"
    start, end = FACTOR.index('[[sources]]\nkind = "words"'), FACTOR.index("[[baselines]]")
    path.write_text(FACTOR[:start] + FACTOR[end:], encoding="utf-8")
    bare = [{k: v for k, v in row.items() if k != "faith"} for row in rows()]
    with pytest.raises(OptionError, match=r"nothing shows the factor faith: .*'faith'"):
        portrayal.audit(
            study="laissez-faire",
            texts=bare,
            factor=[str(path)],
            out=tmp_path / "run",
            report=False,
        )


def test_people_are_counted_by_references_and_by_shares_of_bearers(tmp_path: Path) -> None:
    people = [("Maria", "F"), ("Emily", "F"), ("Sam", "M"), (None, "Unsure"), ("Qwx", "NB")] * 8
    labelled = [
        {
            "prompt_id": PROMPTS[i % 3],
            "text": "x",
            "subject_name": name,
            "subject_gender": gender,
        }
        for i, (name, gender) in enumerate(people)
    ]
    made = portrayal.audit(
        study="laissez-faire",
        texts=labelled,
        factor=["gender", "race"],
        columns={"subject_name": "subject_name", "subject_gender": "subject_gender"},
        out=tmp_path / "run",
        report=False,
    )
    place = {"domain": "all", "model": "all"}
    found = {
        (e.strata["seen_by"], *e.group.values()): e
        for e in made.records
        if e.measure == "people_share.v1" and place.items() <= e.strata.items()
    }
    women = found["references", "F"]
    assert women.value == pytest.approx(16 / 32)
    assert women.exclusions == {"person whose group is not known": 8}
    table = portrayal.reference.name_table("census-2020")
    shares = table.likelihoods(["Maria", "Emily", "Sam"])[:, table.races.index("Latine")]
    latine = found["names", "Latine"]
    assert latine.value == pytest.approx(shares.mean())
    assert latine.exclusions["person whose group is not known"] == 8
    assert latine.exclusions["person with no group"] == 8
    ratios = [e for e in made.records if e.measure == "people_ratio.v1" and e.details.get("r0")]
    assert all(e.null is not None and e.null.value == e.details["r0"] for e in ratios)
    assert ratios
