"""Published values of Fang et al. (2024), which stand beside those of any run, in grey."""

from collections.abc import Iterator

from portrayal.records import Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import printed
from portrayal.report.view import View

PLAIN = "un" + "biased"
"""Fang et al.'s name of the form that adds nothing to the headline."""
_GROUPS = {"female": "F", "male": "M", "black": "Black", "white": "White", "asian": "Asian"}
_MEASURES = {
    "paired_distance": ("paired_distance.v1", "distance"),
    "prejudice_rate": ("prejudice_rate.v1", "share"),
    "prejudice_change": ("prejudice_change.v1", "difference"),
    "group_change": ("group_change.v1", "difference"),
}


def _values(view: View, table: str, **more: str) -> Iterator[Estimate]:
    """Yield the values of a table, of the plain form and of forms that the run has."""
    forms = {e.strata.get("form", "") for e in view.estimates} | {PLAIN}
    effects = "contrast" in more
    for row in published(table).to_pylist():
        # One table has the metric in a column, another the group.
        metric = row.get("metric", f"group_change_{row.get('group')}")
        kind, _, name = metric.rpartition("_")
        if kind not in _MEASURES:
            kind, name = "paired_distance", ""
        form = row.get("prompt", PLAIN)
        if form not in forms and not effects:
            continue
        # The experiment with other forms is about women alone.
        name = "female" if effects and kind != "paired_distance" else name
        group = {row["attribute"]: _GROUPS.get(name.lower(), name)} if name else {}
        measure, statistic = _MEASURES[kind]
        if effects:
            measure, statistic = "prompt_effect.v1", "difference"
        strata = {"level": row["level"], "attribute": row["attribute"], "model": row["model"]}
        strata |= {**more, "of": kind} if effects else {"form": form}
        value = row["difference" if effects else "value"]
        bounds = row.get("ci_low"), row.get("ci_high")
        yield printed(measure, statistic, strata, group, value, bounds, row.get("n") or 0)


def distances(view: View) -> Iterator[Estimate]:
    """Yield distances, prejudice rates, and changes in prejudiced texts."""
    return _values(view, "fang_news_bias")


def changes(view: View) -> Iterator[Estimate]:
    """Yield the change of each group (Table 1)."""
    return _values(view, "fang_group_change")


def effects(view: View) -> Iterator[Estimate]:
    """Yield what the paper's other form changes, beside a run that has that form."""
    if any(e.strata.get("form") == "biased" for e in view.estimates):
        yield from _values(view, "fang_biased_prompts", contrast=f"biased minus {PLAIN}")


def lengths(_view: View) -> Iterator[Estimate]:
    """Yield mean words by writer (Table 3)."""
    for row in published("fang_word_counts").to_pylist():
        yield printed("text_lengths.v1", "mean", {"model": row["writer"]}, {}, row["words"])


PRINTED = {"distances": distances, "changes": changes, "effects": effects, "lengths": lengths}
"""Published values by the name that figures give."""
