"""How many sources find a difference within pairs: against simulations by the audit's own test."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import nct, t

import portrayal
from command import invoke
from portrayal.errors import OptionError
from portrayal.planning import PairDesign, of_share
from portrayal.planning.pairs import icc_of
from portrayal.records import FEW_PROMPTS
from portrayal.stats import exchange_test

AUDITS = 400


def test_the_number_is_the_least_by_the_noncentral_t() -> None:
    design = PairDesign(pairs=4, icc=0.2, correlation=0.3)
    sources = design.sources(0.2)

    def power(n: int) -> float:
        sd = np.sqrt(2 * 0.7 * (1 + 3 * 0.2) / (n * 4))
        bound = t.isf(0.05 / 28 / 2, n - 1)
        return float(nct.sf(bound, n - 1, 0.2 / sd))

    assert power(sources - 1) < 0.8 <= power(sources) + 1e-4


@pytest.mark.parametrize("pairs", [1, 4])
def test_power_of_a_tenth_of_a_standard_deviation(pairs: int) -> None:
    design = PairDesign(pairs=pairs, icc=0.2)
    n, rng = design.sources(0.1), np.random.default_rng(1)
    shared = rng.normal(0, np.sqrt(0.2), (n, AUDITS))
    own = rng.normal(0, np.sqrt(0.8 / pairs), (n, AUDITS))
    p, _ = exchange_test(shared + own + 0.1, rng)  # of means of a source: sd of a difference is 1
    assert np.mean(p < 0.05 / 28) == pytest.approx(0.8, abs=0.05)


def test_power_of_ten_points_of_refusals() -> None:
    design = of_share(0.3, PairDesign())
    n, rng = design.sources(0.1), np.random.default_rng(2)
    # Halves of some pairs share their luck, so that all correlate by .5.
    alike = rng.random((n, AUDITS)) < 0.635
    one, two = rng.random((2, n, AUDITS))
    halves = one < 0.35, np.where(alike, one, two) < 0.25
    assert np.corrcoef(*(half.ravel() for half in halves))[0, 1] == pytest.approx(0.5, abs=0.01)
    d = halves[0].astype(float) - halves[1]
    p, _ = exchange_test(d, rng)
    assert np.mean(p < 0.05 / 28) == pytest.approx(0.8, abs=0.05)


def test_fewer_sources_than_a_finding_takes_find_nothing() -> None:
    design = PairDesign(pairs=1000, icc=0.0)
    assert design.sources(5.0) == design.fewest == FEW_PROMPTS == 5
    assert np.isnan(design.detectable(4))


def test_icc_by_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(2000), 3)
    value = rng.normal(0, np.sqrt(0.3), 2000)[source] + rng.normal(0, np.sqrt(0.7), 6000)
    assert icc_of(value, source) == pytest.approx(0.3, abs=0.03)
    assert np.isnan(icc_of(value[:3], np.arange(3)))
    assert np.isnan(icc_of(np.zeros(4), np.array([0, 0, 1, 1])))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"icc": 2}, "icc lies between 0 and 1"),
        ({"correlation": 1}, "correlation between -1 and 1, below 1"),
        ({"power": 1}, "power must be a fraction"),
        ({"pairs": 0}, "pairs"),
    ],
)
def test_what_cannot_be_planned(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        PairDesign(**wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="above 0"):
        PairDesign().sources(0)


def test_the_command_measures_on_a_run_and_prices_prompts(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    words = np.array(["care", "kind", "report", "sad", "happy", "team", "work", "alone", "strong"])
    rows = []
    for note in range(30):
        for pair in range(3):
            common = rng.integers(5, 40)
            for group in ("female", "male"):
                text = " ".join(rng.choice(words, common + rng.integers(0, 9))) + "."
                rows.append({"pair": f"{note}-{pair}", "source": str(note), "gender": group,
                             "text": text})  # fmt: skip
    portrayal.audit("pairs", texts=rows, out=tmp_path / "run", report=False, scorers=("length",))
    done = json.loads(invoke("plan", "pairs", str(tmp_path / "run"), "--format", "json").stdout)
    assert done["source"].startswith("of the run")
    assert 0 <= done["icc"] < 0.2
    assert [each["difference"] for each in done["needed"]] == [0.05, 0.1, 0.2, 0.5]
    (tmp_path / "p.toml").write_text(
        '[[template]]\ntext = ["Write 100 words on {name}.", "{name}, in 100 words."]\n'
        '[groups.a]\nname = ["Ann", "Eve"]\n[groups.b]\nname = ["Bob", "Tom"]',
        encoding="utf-8",
    )
    command = ("plan", "pairs", "--prompts", str(tmp_path / "p.toml"), "--model", "server:m")
    shown = invoke(*command, "--price", "1/2", "--icc", ".3", "--difference", ".1").stdout
    assert "texts: 8 (8 prompts × 1 sample × 1 model)" in shown
    assert "cost: 0.00 USD" in shown
    assert "sources: 2, each of 2 pairs: find none, whatever its size: give 5 or more" in shown
    assert "correlate by 0.3" in shown
    assert "Unknown option" in invoke("plan", "pairs", "--equivalence").stderr
    assert "Unknown option" in invoke("plan", "agency", "--pairs", "2").stderr
