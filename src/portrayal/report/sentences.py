"""Sentences: a finding in words, the same on a page, a terminal, in files and in comparisons.

A sentence names who, what and the counts, with one reference; the ratio, which is the quotient of
the numbers in the sentence, and whatever else is known stand in the line below it. A study's card
says what its places and roles are called (`Study.words`).
"""

import math
import re
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import portrayal.reference.labels as shown
import portrayal.report.formats as fmt
from portrayal.records import (
    ALL,
    BASIS,
    BORNE_MOSTLY,
    FEW_PEOPLE,
    WEIGHTED,
    Count,
    Estimate,
    Interval,
)
from portrayal.reference.labels import strata_words, study_words
from portrayal.registry import described, form_of
from portrayal.report.view import no_difference
from portrayal.report.words import (
    are_words,
    capital,
    corrected_from,
    group_words,
    measure_title,
)

HARDLY = 0.05
"""Shrink factor of names below which they hardly tell a group: were it twice as frequent, the
number would move by less than a twentieth."""
_NAMES = "names drawn at random from the bearers of "


@cache
def _defaults() -> dict[str, Any]:
    text = files("portrayal.report").joinpath("sentences.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sentence_of(e: Estimate) -> str:
    """Return an estimate as a sentence without a full stop, in the words of its measure.

    Where the measure has none, or a broken one, it is one of the measure's title. It begins with a
    capital, but where that would change the name of a model.
    """
    component = described(e.measure)
    # A measure has a template, or a function where one form does not suit all its groups.
    template = component.finding if component is not None else ""
    try:
        if isinstance(template, str):
            text = template.format(**template_fields(e)) if template else ""
        else:
            text = template(e)
    # A measure of another package must not cost the report for a slip in its words.
    except Exception as error:
        warning = f"the sentence of a finding of {e.measure} failed: {error!r}"
        warnings.warn(warning, stacklevel=2)
        text = ""
    text = re.sub(" +", " ", text or _plain_sentence(e))
    return text if text.startswith(f"{e.strata.get('model')}: ") else capital(text)


def _plain_sentence(e: Estimate) -> str:
    """Group, place, measure and value, where no counts are known."""
    value, none = fmt.number(e.value, form_of(e)), f"{no_difference(e):g} would be no difference"
    title = measure_title(e.measure, inside=True)
    return f"{group_words(e.group)}{where_words(e)}: {title} {value}, where {none}"


def where_words(e: Any) -> str:
    """Return where an estimate or a change is of (" in stories about work")."""
    return place_phrase(e.strata, e.group, getattr(e, "study", ""))


def place_phrase(strata: Mapping[str, str], group: Mapping[str, str], study: str = "") -> str:
    """Return where something of these strata is, as `where_words` does."""
    place = study_words(study).get("places", {}).get(strata.get("domain", ALL), "")
    # Reference and manner stand in other parts of the sentence.
    hidden = ("seen_by", "population", BASIS, *(["domain"] if place else []))
    more = strata_words({k: v for k, v in strata.items() if k not in hidden}, group)
    place_words = ", ".join(part for part in (place, more) if part)
    return f" in {place_words}" if place_words else ""


def role_words(e: Any) -> tuple[str, str]:
    """Return what the people in the lesser and the greater role do ("who are helped")."""
    words, domain = study_words(getattr(e, "study", "")), e.strata.get("domain", ALL)
    # The domain's own words, the study's for all domains, else those that suit any study.
    lesser, greater = (
        words.get(role, {}).get(domain) or words.get(role, {}).get(ALL) or _defaults()[role]
        for role in ("lesser", "greater")
    )
    return lesser, greater


def units_words(e: Any) -> str:
    """Return what is counted, as many ("people", "couples")."""
    return str(_defaults()["units"].get(e.unit, f"{e.unit}s"))


def by_names(e: Estimate) -> bool:
    """Whether a group is estimated from names, so that nobody is known to be of it."""
    return "r0" in e.details


def shares_clause(e: Estimate) -> str:
    """Return who of how many are of a group and what the reference would give; "" without counts.

    >>> from portrayal.records import Null
    >>> of = {"count": 31.0, "share": 0.31, "baseline": 0.508}
    >>> women = Estimate("s", "representation.v1", "ratio", "character", {}, {"gender": "F"}, 0.61,
    ...                  n_units=100.0, details=of, instruments={"baseline": "census-2022"})
    >>> shares_clause(women).replace(chr(160), " ")
    '31 of 100 people are women (31 %); the share in the US would give about 51 (51 %)'
    """
    if len(e.counts) != 1:
        return ""
    (count,) = e.counts
    people = f"{_count_words(count.n)} of {fmt.count(count.of)} {units_words(e)}"
    names = by_names(e)
    # Names tell groups in part, so nobody was counted one by one.
    estimated = "an estimated " if count.n else ""
    lead = f"by their names, {estimated}{people}" if names else people
    share = f" ({short_share(count.n / count.of)})" if count.n and count.of else ""
    expected = f"{_count_words(count.expected)} ({short_share(count.expected / count.of)})"
    verb = "show" if e.unit == "text" else "are"
    return (
        f"{lead}{where_words(e)} {verb} {are_words(e.group)}{share}; {reference_words(e)} "
        f"would give about {expected}{_mostly(e, count.of) if names else ''}"
    )


def _mostly(e: Estimate, people: float) -> str:
    """How many people have a name that mostly the group bears, as a sentence of its own."""
    if BORNE_MOSTLY not in e.details:
        return ""
    n = e.details[BORNE_MOSTLY]
    # The sum over names may be made of many people who each are a little likely.
    few = "Only " if 0 < n < e.details.get("count", people) / 2.0 else ""
    number = "none" if n == 0 else fmt.count(n)
    verb = "has" if n <= 1 else "have"
    clause = f"{few}{number} of them {verb} a name that is borne mostly by {group_words(e.group)}"
    return f". {capital(clause)}"


def _mostly_of(e: Estimate, people: float) -> str:
    """How many of the people of both roles have a name that mostly the group bears."""
    n = f"{_count_words(e.details[BORNE_MOSTLY])} of {fmt.count(people)}"
    return f"{n} have a name that is borne mostly by {group_words(e.group)}"


def reference_words(e: Estimate) -> str:
    """Return with what a share is compared ("names drawn from everyone in the US")."""
    populations: Mapping[str, str] = _defaults()["populations"]
    # Names drawn from everyone are the fair reference: they share the table's blur
    if by_names(e):
        method = "" if e.null is None else e.null.method
        # A corrected number has no draws of names
        table = e.instruments.get("name_table", "the name table")
        table = method.removeprefix(_NAMES) if method.startswith(_NAMES) else table
        return populations.get(table, f"names drawn from the bearers of {table}")
    name = e.strata.get("population") or e.instruments.get("baseline", "")
    return populations.get(name, f"the share in {name}" if name else "the baseline")


def roles_clause(e: Estimate) -> str:
    """Return how many of each role are of a group, the lesser role first; "" without counts.

    >>> cells = {"count_subordinate": 22.0, "n_subordinate": 559.0}
    >>> cells |= {"count_dominant": 0.0, "n_dominant": 579.0}
    >>> nb = Estimate("s", "subordination.v1", "ratio", "character", {"domain": "Labor"},
    ...               {"gender": "NB"}, float("inf"), details=cells)
    >>> roles_clause(nb).replace(chr(160), " ")[:60]
    '22 of 559 people in the lesser role in Labor are non-binary '
    """
    if len(e.counts) != 2:
        return ""
    first, second = e.counts
    lesser, greater = role_words(e)
    lead = "by their names, an estimated " if by_names(e) else ""
    if e.strata.get(BASIS) == WEIGHTED:
        # Weighted shares are no quotients of the counts, which stand behind them.
        upper, lower = (short_share(e.details[f"share_{c.role}"]) for c in (first, second))
        return (
            f"{lead or 'weighted by prompt, '}{upper} of {units_words(e)} {lesser}{where_words(e)} "
            f"are {are_words(e.group)} ({_of(first)}), and {lower} {greater} ({_of(second)})"
            f"{', weighted by prompt' if lead else ''}"
        )
    one = f"{lead}{_of(first)} {units_words(e)} {lesser}{where_words(e)} are {are_words(e.group)}"
    # "None of" needs no share, and a "but" before those who are in the other role.
    if not first.n:
        return f"{one}, but {_of(second)} {greater} are{_share(second)}"
    return f"{one}{_share(first)}, and {_of(second)} {greater}{_share(second)}"


def _of(count: Count) -> str:
    return f"{_count_words(count.n)} of {fmt.count(count.of)}"


def _share(count: Count) -> str:
    return f" ({short_share(count.n / count.of)})" if count.n and count.of else ""


def _count_words(n: float) -> str:
    """A count as people write it: without decimals from ten on, and "none"."""
    # Decimals of an estimated count claim more than names can tell.
    return "none" if n == 0 else fmt.count(round(n) if n >= FEW_PEOPLE else n)


def change_sentence(row: Any, behind: Sequence[Estimate], labels: tuple[str, str]) -> str:
    """Return a change between two sides as a sentence: the counts of both where they are its own.

    Parameters
    ----------
    row
        The change.
    behind
        The estimate of each side; where they are of other prompts too, or none, the sentence has
        the values that are compared.
    labels
        What the sides are called.
    """
    values = (row.value_a, row.value_b)
    # A change over paired prompts alone has other counts than the audits have.
    is_counted = len(behind) == 2 and all(
        e.value is not None and value is not None and math.isclose(e.value, value, rel_tol=0.01)
        for e, value in zip(behind, values, strict=True)
    )
    sentence = _counted_change(behind, labels) if is_counted else ""
    if sentence:
        return sentence
    written = [fmt.number(value, form_of(row)) for value in values]
    if "outcome" in row.group:
        label = f"of answers{where_words(row)} are {row.group['outcome']}"
        return f"{written[0]} {label} in {labels[0]}, {written[1]} in {labels[1]}"
    title = measure_title(row.measure, inside=True)
    label = f"{capital(group_words(row.group))}{where_words(row)}: {title}"
    return f"{label} {written[0]} in {labels[0]}, {written[1]} in {labels[1]}"


def _counted_change(behind: Sequence[Estimate], labels: tuple[str, str]) -> str:
    """A change as the counts of both sides; "" where none are kept."""
    one, other = (e.counts for e in behind)
    # One count: a share over a reference; two: a ratio of roles.
    if len(one) != len(other) or len(one) not in (1, 2):
        return ""
    e = behind[0]
    lesser, greater = role_words(e)
    whose = f" {lesser}" if len(one) == 2 else ""
    lead = "by their names, an estimated " if by_names(e) else ""
    clause = (
        f"{lead}{_of(one[0])} {units_words(e)}{whose}{where_words(e)} are {are_words(e.group)} in "
        f"{labels[0]}{_share(one[0])}, and {_of(other[0])} in {labels[1]}{_share(other[0])}"
    )
    if len(one) == 2:
        both = f"{_of(one[1])}{_share(one[1])} and {_of(other[1])}{_share(other[1])}"
        clause = f"{clause}; of those {greater} {both}"
    return capital(clause)


def short_share(value: float) -> str:
    """Return a share as people write it ("61 %", "10.6 %", "0.3 %"); the space does not break.

    >>> [short_share(x).replace(chr(160), " ") for x in (0.612, 0.106, 0.0031, 1.0)]
    ['61 %', '10.6 %', '0.3 %', '100 %']
    """
    percent = 100.0 * value
    text = f"{percent:.0f}" if percent >= 19.95 or percent == 0 else f"{percent:.1f}"
    return ("<0.1" if text == "0.0" else text) + fmt.PERCENT


def ratio_facts(e: Estimate) -> tuple[str, ...]:
    """Return the ratio of the two numbers of a sentence, and over another reference, named."""
    none = 1.0 if e.null is None or math.isnan(e.null.value) else e.null.value
    # The sentence's own reference is the null, so both are one number here.
    if e.statistic != "ratio" or len(e.counts) != 1 or none == 1.0:
        people = sum(count.of for count in e.counts)
        mostly = (_mostly_of(e, people),) if BORNE_MOSTLY in e.details and people else ()
        component = described(e.measure)
        counts = component.counts(e) if component is not None and component.counts else ""
        return ratio_words(e.value, e.interval, form_of(e), counts=counts), *mostly
    name, share = e.instruments.get("baseline", ""), e.details["baseline"]
    reference = _defaults()["populations"].get(name, f"the share in {name}")
    other = f"{fmt.ratio(e.value)} of {reference} of {short_share(share)}"
    # A ratio that could hardly move says nothing by standing near its null.
    if e.details.get("shrink", 1.0) < HARDLY and "reads_2" in e.details:
        twice = short_share(e.details["reads_2"] * share)
        return (
            f"these names hardly tell who is {are_words(e.group)}: were twice as many, {twice} "
            "would be counted",
            other,
        )
    return ratio_words(e.value, e.interval, "ratio", none), other


def ratio_words(
    value: float | None, bounds: Interval | None, form: str, scale: float = 1.0, counts: str = ""
) -> str:
    """Return a value over `scale` with its interval; of an empty side what the interval shows.

    `counts` is what the value counts ("grades").

    >>> ratio_words(math.inf, Interval(3.5, math.inf, 0.95, "t"), "ratio")
    'at least 3.5 times'
    """
    if value is not None and scale != 1.0:
        value /= scale
        bounds = bounds and replace(bounds, low=bounds.low / scale, high=bounds.high / scale)
    times = " times" if form == "ratio" else f" {counts}" * bool(counts)
    # An infinite ratio has an honest lower bound.
    if form == "ratio" and value == math.inf:
        return f"at least {fmt.ratio(bounds.low)} times" if bounds else "no ratio: a side is empty"
    if form == "ratio" and value == 0 and bounds is not None:
        return f"at most {fmt.ratio(bounds.high)} times"
    if bounds is None:
        return f"{fmt.number(value, form)}{times}"
    if form == "ratio" and bounds.high == math.inf:
        return f"{fmt.number(value, form)} times (at least {fmt.ratio(bounds.low)})"
    return f"{fmt.number(value, form)}{times} ({fmt.interval(bounds, form)})"


def _together(e: Estimate) -> dict[str, str]:
    """How many texts have both of what goes together, and how many would by chance."""
    n = e.details.get("texts", 0.0)
    # The value is the count over what chance would give, so chance is the count over it.
    if e.value:
        expected = n / e.value
    else:
        expected = e.details.get("of_group", 0.0) * e.details.get("of_attribute", 0.0)
        expected /= max(e.n_texts, 1)
    return {"both": fmt.plural(n, "text") if n else "no text", "expected_both": fmt.count(expected)}


def template_fields(e: Estimate) -> dict[str, str]:
    """Return what a measure's sentence of a finding may name, as text.

    `shares` and `roles` (whole clauses with the counts behind a share over a baseline, or behind a
    ratio of two roles), `both` and `expected_both` (texts that have what goes together), `group`
    (as a sentence names it), `are` (what they are), `value`, `place` (" in …", or nothing),
    `together` (all its groups), `seen_by` (", by words", or nothing) and every stratum and
    attribute by its own name.
    """
    seen_by = strata_words({"seen_by": e.strata.get("seen_by", ALL)}, e.group)
    if e.corrected:
        seen_by = (seen_by + (corrected_from(e) or f", {e.strata[BASIS]}")).removeprefix(", ")
    return {
        **e.strata,
        "seen_by": f", {seen_by}" if seen_by else "",
        **e.group,
        **_together(e),
        "shares": shares_clause(e),
        "roles": roles_clause(e),
        "group": group_words(e.group),
        "are": are_words(e.group),
        "value": fmt.number(e.value, form_of(e)),
        "place": where_words(e),
        "together": fmt.listed([shown.group_label(*item) for item in e.group.items()]),
    }
