"""Words: how changes, places and groups stand in sentences, tables and figures."""

from collections.abc import Iterable, Mapping

import portrayal.report.formats as fmt
from portrayal.records import ALL
from portrayal.report.inert import short
from portrayal.report.words import group_label, group_words, measure_title


def place_of(strata: Mapping[str, str]) -> str:
    """Return strata in words, without the model and what is pooled ("Labor, evening")."""
    kept = (value for name, value in strata.items() if name != "model" and value not in ("", ALL))
    return ", ".join(kept)


def row_label(strata: Mapping[str, str], group: Mapping[str, str], *, placed: bool = True) -> str:
    """Return the label of a row ("Latine, masculine · Labor"), the place where it is asked for."""
    place = place_of(strata) if placed else ""
    return short(group_label(group) + (f" · {place}" if place else ""), 60)


def subject(measure: str, strata: Mapping[str, str], group: Mapping[str, str]) -> str:
    """Return what a sentence is about ("representation ratio of feminized characters in Labor")."""
    title = measure_title(measure)
    if title[1:2].islower():
        title = title[:1].lower() + title[1:]
    place = place_of(strata)
    return f"{title} of {group_words(group)}" + (f" in {place}" if place else "")


def capital(text: str) -> str:
    """Return text with a capital first letter."""
    return text[:1].upper() + text[1:]


def change_words(change: float | None, scale: str) -> str:
    """Return a change as a cell ("× 1.32", "+0.013")."""
    if change is None:
        return fmt.NOTHING
    return f"×\u00a0{fmt.ratio(change)}" if scale == "ratio" else fmt.difference(change)


def span_words(low: float | None, high: float | None, scale: str) -> str:
    """Return the bounds of a change; a dash where there are none."""
    if low is None or high is None:
        return fmt.NOTHING
    return fmt.span(low, high, "ratio" if scale == "ratio" else "difference")


def attribute_values(groups: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return every value of each attribute of groups, in alphabetical order, for colours."""
    found: dict[str, set[str]] = {}
    for group in groups:
        for attribute, value in group.items():
            found.setdefault(attribute, set()).add(value)
    return {attribute: sorted(values) for attribute, values in found.items()}
