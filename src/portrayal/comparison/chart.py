"""A chart of a comparison: each change with its interval, around no change."""

from collections.abc import Mapping, Sequence
from typing import Any

from portrayal.comparison.change import Change
from portrayal.reference.shown import group_label, strata_parts

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
MOST = 40
"""Changes that a chart shows; the table has all."""

CHANGED, SAME, OPEN = "changed", "shown to be the same", "not resolved"
_COLOURS = {CHANGED: "#b2182b", SAME: "#2166ac", OPEN: "#8a8a8a"}


class Chart(dict[str, Any]):
    """A Vega-Lite specification that notebooks draw; `altair.Chart.from_dict` takes it too."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": dict(self), "text/plain": self["title"]}


def verdict(row: Change, level: float) -> str:
    """Return whether a change is shown, is shown to be none, or neither.

    A change that may be stated is judged by its q among all of those, others by their own q.
    """
    q = row.audit_q if row.audit_q is not None else row.q
    if q is not None and q < 1.0 - level:
        return CHANGED
    return SAME if row.equivalent else OPEN


def chart_of(rows: Sequence[Change], level: float, title: str) -> Chart:
    """Return a chart of changes, dots with intervals; ratios and differences below each other."""
    known = [row for row in rows if row.change is not None and row.low is not None]
    parts = []
    for scale in ("ratio", "difference"):
        here = [row for row in known if row.scale == scale][:MOST]
        if here:
            parts.append(_panel(here, level, scale))
    return Chart({"$schema": SCHEMA, "title": title, "vconcat": parts})


def label_of(row: Change) -> str:
    """Return place, group and measure of a change in words."""
    return words_of(row.measure, row.strata, row.group)


def words_of(measure: str, strata: Mapping[str, str], group: Mapping[str, str]) -> str:
    """Return place, group and measure in words.

    >>> words_of("representation.v1", {"domain": "Love"}, {"race": "Black"})
    'Love · Black · representation'
    """
    kept = {key: value for key, value in strata.items() if key != "classifier"}
    place, how = strata_parts(kept, group)
    who = (group_label(*each) for each in group.items())
    name = measure.rpartition(".v")[0].replace("_", " ")
    return " · ".join([*place, *who, name, *how])


def _panel(rows: Sequence[Change], level: float, scale: str) -> dict[str, Any]:
    values = [
        {
            "what": label_of(row),
            "change": row.change,
            "low": row.low,
            "high": row.high,
            "says": verdict(row, level),
        }
        for row in rows
    ]
    said = {"type": "log"} if scale == "ratio" else {"type": "linear"}
    title = "second over first" if scale == "ratio" else "second less first"
    x = {"type": "quantitative", "scale": said, "title": title}
    colour = {
        "field": "says",
        "type": "nominal",
        "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
        "title": None,
    }
    y = {"field": "what", "type": "nominal", "sort": None, "title": None}
    null = {"datum": 1.0 if scale == "ratio" else 0.0, "type": "quantitative"}
    return {
        "data": {"values": values},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [3, 3]}, "encoding": {"x": null}},
            {
                "mark": "rule",
                "encoding": {
                    "x": x | {"field": "low"},
                    "x2": {"field": "high"},
                    "y": y,
                    "color": colour,
                },
            },
            {
                "mark": {"type": "point", "filled": True},
                "encoding": {"x": x | {"field": "change"}, "y": y, "color": colour},
            },
        ],
    }
