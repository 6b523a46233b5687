"""The page as a file: complete in any run, deterministic, written in one step."""

import base64
import csv
import gzip
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from portrayal.errors import RunError
from portrayal.report import write_report
from portrayal.report.page import packed_csv, render
from portrayal.report.view import View
from portrayal.run import Run

from .conftest import estimate

Maker = Callable[..., Run]
MODELS = tuple(f"model-{i}" for i in range(30))
SECTIONS = ("first", "found", "figures", "texts", "sure", "tables", "asked", "methods")


@pytest.fixture(scope="module")
def page(sample_pages: Callable[[str], Path]) -> str:
    return sample_pages("laissez-faire").read_text(encoding="utf-8")


def test_a_page_is_one_file_in_a_new_folder(make_run: Maker, tmp_path: Path) -> None:
    path = write_report(make_run(CASES["no object"]), tmp_path / "new" / "report.html")
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_sections_stand_in_order(page: str) -> None:
    at = [page.index(f'<section id="{name}"') for name in SECTIONS]
    assert at == sorted(at)


def test_headings_are_in_order(page: str) -> None:
    levels = [int(n) for n in re.findall(r"<h([1-6])>", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


def test_nothing_points_to_the_network(page: str) -> None:
    body = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:,)[^"']*""", body)
    assert "default-src 'none'" in page
    assert len(page) < 1_000_000


def test_the_same_run_gives_the_same_page(sample_run: Run, page: str) -> None:
    assert render(View.of(sample_run)) == page


def test_methods_come_from_the_components(page: str) -> None:
    assert "R_sub = p(group | subordinate) / p(group | dominant)" in page
    assert "Shieh et al. 2025, Eq. 3" in page


def test_every_estimate_is_in_the_download(sample_run: Run) -> None:
    view = View.of(sample_run)
    text = gzip.decompress(base64.b64decode(packed_csv(view.estimates))).decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(view.estimates)
    assert {"measure", "model", "domain", "race", "value", "low", "high", "q"} <= set(rows[0])


def test_a_run_without_estimates_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write_settings({"study": "laissez-faire"})
    with pytest.raises(RunError, match="no estimates yet"):
        write_report(run, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def _refused() -> list[object]:
    reason = "no story could be read: all were refused, empty or failed"
    names = ("representation.v1", "subordination.v1", "median_racialized_subordination.v1")
    return [estimate(None, measure=name, undefined=reason, tests=(), null=None) for name in names]


CASES = {
    "nothing at all": [],
    "everything refused": _refused(),
    "no object": [estimate(1.2, measure="representation.v1", group={"race": "White"})],
    "no domain": [
        estimate(3.0, 2, 4, q=0.001, domain=None, measure=name)
        for name in ("subordination.v1", "median_racialized_subordination.v1")
    ]
    + [estimate(2.0, measure="representation.v1", group={"gender": "F"}, domain=None)],
    "infinite and unknown bounds": [
        estimate(1600.0, 0.0, math.inf, null=(0.0, math.inf)),
        estimate(0.0, 0.0, math.inf, null=(math.nan, math.nan), group={"race": "X", "gender": "F"}),
        estimate(math.inf, 2.0, math.inf, q=0.001, group={"race": "Y", "gender": "F"}),
        estimate(2.0, math.nan, math.nan, group={"race": "Z", "gender": "M"}),
    ],
    "thirty models": [
        estimate(2.0, model=model, measure=name, group=group)
        for model in ("all", *MODELS)
        for name, group in (
            ("representation.v1", {"race": "White"}),
            ("subordination.v1", {"race": "White", "gender": "F"}),
        )
    ],
    "unknown measure": [estimate(0.5, measure="dancing.v9", statistic="share", group={"a": "b"})],
    "unknown group": [estimate(2.0, group={"planet": "Mars"})],
}


@pytest.mark.parametrize("case", CASES)
def test_any_run_gives_a_report(make_run: Maker, tmp_path: Path, case: str) -> None:
    models = MODELS if case == "thirty models" else ("m",)
    run = make_run(CASES[case], models=models, outcomes={"ok": 0, "refused": 10})
    text = write_report(run, tmp_path / "report.html").read_text(encoding="utf-8")
    for name in SECTIONS:
        assert f'<section id="{name}"' in text
    assert "0 of 10 answers (0\u00a0%) could be read; 10 refused." in text


def test_a_study_that_is_not_installed_is_named(make_run: Maker) -> None:
    text = render(View.of(make_run([estimate()], study="far-away")))
    assert "<h1><bdi>far-away</bdi></h1>" in text


def test_no_number_is_a_finding_where_nothing_stands_out(make_run: Maker) -> None:
    text = render(View.of(make_run([estimate(1.1, 0.5, 2.0)])))
    assert "No difference shown in 24 stories: of " in text
    assert "That is no evidence that they are treated alike" in text
