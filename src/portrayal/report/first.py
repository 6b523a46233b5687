"""First screen: what was read, what was found and how surely, and what cannot be said.

Every report opens with it, also one of two runs beside each other. A study may fill it in its own
words (`StudyReport.first`).
"""

from collections import Counter
from collections.abc import Sequence

import portrayal.report.about as about
import portrayal.report.formats as fmt
from portrayal.records import FEW_PEOPLE, FEW_PROMPTS, NO_TEST
from portrayal.report.figures.generic import glance
from portrayal.report.findings import (
    STATISTICS,
    doubted,
    findings,
    headline_measures,
    leads,
)
from portrayal.report.passages import rows_of
from portrayal.report.strength import (
    CANNOT,
    UNCLEAR,
    FirstScreen,
    Stated,
    strength_of,
    units,
)
from portrayal.report.study import report_of
from portrayal.report.view import View, no_baseline
from portrayal.report.words import group_label

MOST_NAMED = 4
"""Groups that one line names."""


def first_screen(view: View) -> FirstScreen:
    """Return the first screen of a run, in the study's words where it has some."""
    own = report_of(view).first
    if own is not None:
        return own(view)
    found = findings(view)
    near = leads(view)
    none, nearest = ("", "") if found else nothing(view, n_readable(view), near)
    chart = glance(view, [*found, *near])
    return FirstScreen(read_line(view), tuple(found), none, cannot_lines(view), nearest, chart)


def read_line(view: View, clusters: int | None = None) -> str:
    """Return what was read in one line: models, texts that could be read, and prompts.

    `clusters` is how many prompts, or what stands for them, were answered; counted where None.
    """
    words = report_of(view).wording
    outcomes: dict[str, int] = view.note.get("outcomes", {})
    total, ok = sum(outcomes.values()), outcomes.get("ok", 0)
    n = _prompts(view) if clusters is None else clusters
    models = len(view.models)
    named = about.models_line(view) if models < 2 else fmt.plural(models, "model")
    named = "" if named == "unnamed" else named
    readable = f"{ok:,} of {total:,} {words.texts} readable" if total else f"no {words.texts}"
    noun = words.clusters.removesuffix("s")
    return " · ".join(part for part in (named, readable, fmt.plural(n, noun) if n else "") if part)


def n_readable(view: View) -> str:
    """Return how many texts could be read, in words ("182 stories")."""
    ok = int(view.note.get("outcomes", {}).get("ok", 0))
    return f"{ok:,} {report_of(view).wording.texts}"


def nothing(view: View, counted: str, near: Sequence[Stated]) -> tuple[str, str]:
    """Return what a report without a result leads with, and what came nearest.

    Where nothing could be tested, that is what it leads with, and why.

    Parameters
    ----------
    view
        The report's view.
    counted
        What was looked at ("182 stories").
    near
        What came near a finding, the nearest first.
    """
    if not any(e.tests for e in view.estimates):
        return f"Nothing could be tested in {counted}: {_untested(view)}.", ""
    said = f"No clear difference found in {counted}."
    if not near:
        return said, ""
    first, facts = near[0].first, near[0].facts[:2]
    if fmt.number(first.value, first.statistic) in near[0].headline and first.interval is not None:
        bounds = fmt.interval(first.interval, first.statistic)
        facts = (f"{fmt.level(view.level)} interval {bounds}", *facts[1:])
    return (
        said,
        f"What comes nearest, but cannot be told from chance: {near[0].headline} "
        f"({'; '.join(facts)}).",
    )


def _untested(view: View) -> str:
    """Why no number of a run has a test."""
    compared = [e for e in view.estimates if e.statistic in STATISTICS]
    given = (e.instruments.get(NO_TEST) or e.undefined for e in compared)
    reasons = Counter(reason for reason in given if reason)
    if reasons:
        return reasons.most_common(1)[0][0]
    if not view.note.get("outcomes", {}).get("ok"):
        return "no text could be read"
    known = {name: values for name, values in view.values.items() if name not in _NO_GROUPS}
    if known and all(len(values) == 1 for values in known.values()):
        only = [group_label({name: value}) for name, (value,) in known.items()]
        return f"the texts are about one group only ({', '.join(only)}), and a difference takes two"
    if any(e.statistic == "distance" for e in view.estimates):
        return "no number of this run has a null to hold it against"
    return "no measure of this run compares groups with each other or with a population"


_NO_GROUPS = ("outcome", "attribute", "factor")
"""Attributes of estimates that are no groups of people."""


def cannot_lines(view: View) -> tuple[str, ...]:
    """Return what cannot be said: what the reader could have made, rare groups, open numbers."""
    judged = [
        (e, strength_of(view, e))
        for measure in headline_measures(view)
        for e in view.of_main(measure)
        if e.statistic in STATISTICS
    ]
    if not judged:
        return ("No difference between groups was measured in this run.",)
    unclear = sum(strength is UNCLEAR for _, strength in judged)
    said = [_in_doubt(view)]
    # Groups of which no number could be measured.
    groups: dict[str, bool] = {}
    for e, strength in judged:
        if len(e.group) == 1 and "pair" not in e.group and not no_baseline(e):
            name = group_label(e.group)
            groups[name] = groups.get(name, True) and strength is CANNOT
    rare = [name for name, every in groups.items() if every]
    if rare:
        counted = {units(e.unit, 2.0) for e, _ in judged if group_label(e.group) in rare}
        what = "people" if counted - {"texts"} else "texts"
        said.append(
            f"Cannot be measured here: {_few_named(rare)}, as fewer than {FEW_PEOPLE} {what} of "
            f"them or {FEW_PROMPTS} prompts were read, or the reader cannot tell them."
        )
    # Groups of a factor that no baseline gives a share of: they have shares, but no comparison.
    single = [e for e, _ in judged if len(e.group) == 1]
    known = {group_label(e.group) for e in single if not no_baseline(e)}
    bare = dict.fromkeys(group_label(e.group) for e in single if no_baseline(e))
    names = [name for name in bare if name not in known]
    if names:
        said.append(
            f"No baseline gives a share of {_few_named(names)}: how often they occur stands in "
            "the figures, compared with nothing."
        )
    if unclear:
        said.append(
            f"{unclear:,} of {fmt.plural(len(judged), 'number')} show no clear difference, which "
            "does not mean that groups are treated alike."
        )
    return tuple(line for line in said if line)


def _in_doubt(view: View) -> str:
    """What chance does not explain, but the reader's errors could."""
    known = doubted(view)
    if known is None or not known.lines:
        return ""
    more = len(known.lines) + known.more - 1
    also = f", and {more} more" if more else ""
    return f"Not stated, as the reader’s own errors could make it: {known.lines[0]}{also}."


def _few_named(names: Sequence[str]) -> str:
    """The first of these names, and how many others there are."""
    more = len(names) - MOST_NAMED
    others = [fmt.plural(more, "other group")] if more > 0 else []
    return fmt.listed([*names[:MOST_NAMED], *others])


def _prompts(view: View) -> int:
    """Prompts with an answer that could be read; 0 where the run holds no text."""
    texts = [str(path) for path in view.run.texts.parts()]
    return int(rows_of(_COUNT, {"texts": texts})[0]["n"]) if texts else 0


_COUNT = """
    select count(distinct prompt_id) as n from read_parquet($texts) where outcome = 'ok'
"""
