"""A study that this package has never met: right words, chart, table and download, and a page."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from portrayal.records import Estimate
from portrayal.report import write_report
from portrayal.report.about import reading_error
from portrayal.report.figures.generic import figures
from portrayal.report.findings import findings
from portrayal.report.first import cannot_lines
from portrayal.report.page import packed_csv, render
from portrayal.report.view import View
from portrayal.run import Run

from .conftest import estimate

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospital"
RELIGIONS = {
    "Muslim": (2.4, 1.9, 3.1, 1e-5),
    "Hindu": (0.4, 0.3, 0.6, 1e-4),
    "Jain": (1.1, 0.7, 1.6, 0.6),
}


def rows() -> list[Estimate]:
    return [
        estimate(
            value,
            low,
            high,
            measure="kindness_ratio.v1",
            study="hospital",
            strata={"ward": ward, "model": "m"},
            group={"religion": religion},
            q=q,
            null=(0.9, 1.1),
        )
        for ward in ("Surgery", "Nursery")
        for religion, (value, low, high, q) in RELIGIONS.items()
    ]


@pytest.fixture
def view(make_run: Callable[..., Run]) -> View:
    return View.of(make_run(rows(), study="hospital"))


def test_the_headline_names_group_place_and_value(view: View) -> None:
    first, second = (f for f in findings(view) if f.first.strata["ward"] == "Nursery")
    assert second.headline == (
        "Muslim (religion) in Nursery: kindness ratio 2.4, where 1 would be no difference"
    )
    assert first.headline.startswith("Hindu (religion) in Nursery: kindness ratio 0.40")
    assert second.facts[0] == "2.4 times (1.9–3.1)"
    said = second.evidence.replace("\u00a0", " ")
    assert "95 % interval over 10 prompts" in said
    assert any("For 2 of 6 numbers" in line for line in cannot_lines(view))


def test_it_is_drawn_as_dots_in_steady_colours(view: View) -> None:
    (figure,) = figures(view)
    assert [place in figure.svg for place in ("Surgery", "Nursery")] == [True, True]
    dots = re.findall(r'<circle[^>]*? r="5.0"|<circle[^>]* r="5"', figure.svg)
    fills = set(re.findall(r'<circle[^>]*fill="([^"]*)" stroke="([^"]*)"', figure.svg))
    assert len(dots) == 6
    # What cannot be told from 1 is a ring, and each group has a colour of its own.
    assert len([fill for fill, _ in fills if fill == "white"]) == 1
    assert len({stroke for _, stroke in fills}) == 3
    assert figure.reading.startswith("4 of 6 values can be told from 1; furthest stands Hindu")
    assert figure.table.columns[:2] == ("Ward", "Group")


def test_it_stands_in_the_download(view: View) -> None:
    head, *lines = gzip.decompress(base64.b64decode(packed_csv(view.estimates))).splitlines()
    assert {b"religion", b"ward", b"value", b"q"} <= {*head.split(b",")}
    assert len(lines) == 6
    assert reading_error(view)


def test_the_whole_page_is_written(view: View, tmp_path: Path) -> None:
    page = write_report(view.run, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "No ratio was measured" not in page
    assert "Muslim (religion) in Nursery: kindness ratio 2.4" in page
    for word in ("race share", "subordinate", "dominant", "headlines are the units"):
        assert word not in page.partition('<script type="text/plain"')[0], word


def test_differences_are_findings_too(make_run: Callable[..., Run]) -> None:
    row = estimate(
        -0.2,
        -0.3,
        -0.1,
        measure="warmth_gap.v1",
        statistic="difference",
        q=1e-4,
        null=(-0.05, 0.05),
        group={"religion": "Jain"},
    )
    (found,) = findings(View.of(make_run([row], study="hospital")))
    assert found.headline.endswith("warmth gap −0.200, where 0 would be no difference")


def _install(site: Path) -> None:
    """Lay examples/hospital out as an installer would."""
    shutil.copy(EXAMPLE / "acme_hospital.py", site)
    points = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8").partition("[project.entry")[2]
    points = f"[project.entry{points}".replace('[project.entry-points."', "[")
    points = points.replace('"]', "]").replace('"', "")
    info = site / "acme_hospital-0.1.dist-info"
    info.mkdir()
    about = "Metadata-Version: 2.1\nName: acme-hospital\nVersion: 0.1\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def test_the_worked_example_is_audited_and_reported(tmp_path: Path) -> None:
    _install(tmp_path)
    texts = [
        {
            "prompt": f"Write to the {religion} patient in bed {bed}.",
            "religion": religion,
            "ward": "Surgery",
            "model": "m",
            "text": f"Bed {bed}, {religion}: you {'were brave' if praised else 'slept'}.",
        }
        for religion, often in (("Muslim", 2), ("Hindu", 9), ("Jain", 9))
        for bed in range(20)
        for praised in (bed % 10 < often,)
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    run = tmp_path / "run"
    command = [
        "audit",
        "hospital",
        "--texts",
        str(answers),
        "--out",
        str(run),
        "--set",
        "draws=200",
    ]
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-m", "portrayal", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Hospital: whom answers praise</bdi></h1>" in page
    said = "Texts about Muslim patients on Surgery are praised 0.22 times as often as others"
    assert said in page
    assert 'data-chart="measure-praise-ratio-v1"' in page
    assert "Read as" in page


def test_no_page_says_that_units_are_resampled_where_they_are_not(view: View) -> None:
    assert "resampl" not in render(view).partition('<script type="text/plain"')[0]
