"""Corrected: what labels of a sample corrected in a run, by how much, what they did not and why."""

import math
from collections.abc import Sequence

import portrayal.report.formats as fmt
from portrayal.records import BASIS, CORRECTED, Estimate
from portrayal.registry import form_of
from portrayal.report.sentences import place_phrase
from portrayal.report.view import View
from portrayal.report.words import capital, group_words, measure_title
from portrayal.run.directory import Run

MOST_MOVED = 3
"""Corrected numbers that are printed, those that labels moved furthest."""
MOST_PLACES = 4
"""Places or groups that one reason names."""


def correction_lines(run: Run) -> tuple[str, ...]:
    """Return what a terminal says of a run's labels of a sample; none where it has none."""
    with run.speaking():
        return corrections(View.of(run))


def corrections(view: View) -> tuple[str, ...]:
    """Return how many numbers labels corrected, the furthest moved, and which not and why.

    None where a run has no labels by hand, nor by a second classifier.
    """
    # Whatever labels were meant to correct, also where they could not.
    tried = [e for e in view.only_main(view.estimates) if e.corrected]
    if not tried:
        return ()
    notes = [e.instruments.get("hand_labels") or e.instruments["corrected_by"] for e in tried]
    by = capital(tried[0].strata[BASIS].removeprefix("corrected "))
    corrected = [e for e in tried if e.value is not None and "naive" in e.details]
    counted = f"{len(corrected) or 'none'} of {fmt.plural(len(tried), 'number')}"
    lines = [f"{by}: {fmt.listed(list(dict.fromkeys(notes)))}; they correct {counted}."]
    if corrected:
        # How often the scorer alone would have misled.
        outside = sum(
            e.interval is not None and not e.interval.low <= e.details["naive"] <= e.interval.high
            for e in corrected
        )
        lines[0] += (
            " What the scorer saw lies outside the interval of the corrected number in "
            f"{outside or 'none'} of them."
        )
        shifts = [e for e in corrected if _moved_by(e) > 0]
        shifts.sort(key=lambda e: (-_moved_by(e), e.measure, e.id))
        lines += [_moved_words(e) for e in shifts[:MOST_MOVED]]
        if (more := len(shifts) - MOST_MOVED) > 0:
            lines.append(f"{fmt.plural(more, 'more number')} moved less.")
        if not shifts:
            lines.append(f"No number moved: {_who(tried[0])} of these texts what the scorer saw.")
    return (*lines, *_reasons([e for e in tried if e not in corrected]))


def _moved_by(e: Estimate) -> float:
    """How far labels moved a number, in widths of its interval: so all units can be compared."""
    assert e.value is not None
    if e.interval is None or not math.isfinite(e.value):
        return 0.0
    width, distance_moved = e.interval.high - e.interval.low, abs(e.value - e.details["naive"])
    # What reads the same before and after did not move for any reader.
    written = {fmt.number(x, form_of(e)) for x in (e.value, e.details["naive"])}
    return distance_moved / width if width > 0 and len(written) == 2 else 0.0


def _moved_words(e: Estimate) -> str:
    """One corrected number: what the scorer saw, and what people say, with the interval."""
    form = form_of(e)
    naive, value = (fmt.number(x, form) for x in (e.details["naive"], e.value))
    bounds = f" ({fmt.interval(e.interval, form)})" if e.interval is not None else ""
    title = measure_title(e.measure, inside=True)
    place = f"{capital(group_words(e.group))}{_place_by_hand(e)}, {title}"
    return f"{place}: the scorer saw {naive}, {_who(e)} {value}{bounds}."


def _who(e: Estimate) -> str:
    """Who labelled, with the verb."""
    basis = e.strata[BASIS]
    return "people say" if basis == CORRECTED else f"{basis.removeprefix('corrected by ')} says"


def _place_by_hand(e: Estimate) -> str:
    strata = {name: value for name, value in e.strata.items() if name != BASIS}
    return place_phrase(strata, e.group, e.study)


def _reasons(uncorrected: Sequence[Estimate]) -> list[str]:
    """Why numbers were not corrected, a line for each reason, the most frequent first."""
    by_reason: dict[tuple[str, bool], list[Estimate]] = {}
    for e in uncorrected:
        # What stands behind a colon tells of one group, so groups of one reason share a line.
        reason, colon, _ = (e.undefined or "the scorer's number is undefined").partition(":")
        by_reason.setdefault((reason, bool(colon)), []).append(e)
    lines = []
    ranked = sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for (reason, of_group), rows in ranked:
        places = [place for e in rows if (place := _place_by_hand(e).strip())]
        places = list(dict.fromkeys(places))
        words = f" in {len(places)} places" if len(places) > MOST_PLACES else ""
        if of_group:
            groups = list(dict.fromkeys(group_words(e.group) for e in rows))
            words = f" ({fmt.listed(groups, MOST_PLACES)})"
        elif places and not words:
            words = f" {fmt.listed(places)}"
        lines.append(f"Not corrected: {fmt.plural(len(rows), 'number')}{words}, as {reason}.")
    return lines
