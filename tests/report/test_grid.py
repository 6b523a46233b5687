"""The grid of pairs has colour only where something is resolved."""

from collections.abc import Callable

import altair
import pytest

from portrayal.records import Estimate
from portrayal.report.figures.generic import GENERIC
from portrayal.report.view import View
from portrayal.run import Run

from .conftest import estimate

VALUES = {
    ("north", "rich"): (2.0, 1.5, 2.7, 1e-4),
    ("north", "poor"): (1.2, 0.8, 1.8, 0.4),
    ("south", "rich"): (0.4, 0.3, 0.6, 1e-4),
    ("south", "poor"): (None, 0.0, 0.0, None),
}


def pairs() -> list[Estimate]:
    return [
        estimate(
            value,
            low,
            high,
            measure="association.v1",
            study="any",
            strata={"model": "m"},
            group={"region": region, "wealth": wealth},
            q=q,
            null=None if value is None else (0.8, 1.2),
        )
        for (region, wealth), (value, low, high, q) in VALUES.items()
    ]


@pytest.fixture
def view(make_run: Callable[..., Run]) -> View:
    return View.of(make_run(pairs(), study="any"))


def test_only_what_is_resolved_has_colour(view: View) -> None:
    (figure,) = GENERIC["grid"](view, view.by_measure["association.v1"])
    assert figure.spec is not None
    altair.Chart.from_dict(figure.spec)
    cells = figure.spec["concat"][0]["data"]["values"]
    kinds = {(cell["col"], cell["row"]): cell["c"] for cell in cells}
    assert kinds == {
        ("north", "rich"): "sure",
        ("north", "poor"): "unsure",
        ("south", "rich"): "sure",
        ("south", "poor"): "undefined",
    }
    assert figure.reading == "2 of 3 pairs can be told from 1."
    assert "wealth by region" in figure.spec["concat"][0]["title"]
    assert len(figure.table.rows) == 4
