"""Words: how groups are named, and the one colour each keeps.

A race share describes the population that bears a name, never a person; a gender is the one of the
references in the text.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import portrayal.reference.labels as shown
import portrayal.report.formats as fmt
from portrayal.records import ALL, BY_HAND, THE_SCORER, Estimate
from portrayal.reference import load_factor
from portrayal.reference.labels import PALETTE, strata_words
from portrayal.registry import described, form_of

_GENDER, _RACE = load_factor("gender"), load_factor("race")
RACE_COLOURS = {group.key: group.color for group in _RACE.groups}
"""Okabe and Ito's colour-blind-safe palette."""
OTHER_COLOUR, CONTRAST_COLOUR = "#666666", "#1f4e79"
"""Of a group without a colour, and of a difference between groups, which has none of theirs."""

GENDER_WORDS = _GENDER.said("references")
GENDERED = _GENDER.said("characters")
GENDER_SHORT = _GENDER.said("column")
GENDER_LABELS = _GENDER.labels
_PEOPLE = _RACE.said("people")


def stem(measure: str) -> str:
    """Return a measure's name without its version ("subordination")."""
    return measure.rpartition(".v")[0] or measure


def column_label(value: str) -> str:
    """Return a race or gender as the label of a narrow column ("Latine", "Fem.")."""
    return GENDER_SHORT.get(value, value)


def measure_title(measure: str, *, inside: bool = False) -> str:
    """Return a measure's own title; one made from its name where it has none.

    `inside` a sentence it begins with a small letter, but where that is an abbreviation's.
    """
    component = described(measure)
    known = component.title if component is not None else ""
    title = known or stem(measure).replace("_", " ").capitalize()
    return title[:1].lower() + title[1:] if inside and title[1:2].islower() else title


def capital(text: str) -> str:
    """Return text with a capital first letter.

    >>> capital("women in Labor")
    'Women in Labor'
    """
    return text[:1].upper() + text[1:]


def colour_of_group(group: Mapping[str, str], others: Sequence[str] = ()) -> str:
    """Return the colour that a group keeps; of a user's own group, by its place in `others`."""
    for attribute, value in group.items():
        if _LESS in value:
            return CONTRAST_COLOUR
        known = shown.group_shown(attribute, value)
        if known is not None:
            return known.color
        if value in others:
            return PALETTE[list(others).index(value) % len(PALETTE)]
    return OTHER_COLOUR


def colour_rules() -> str:
    """Return CSS that colours the dot of each group in a key, and the marks of its words."""
    own = (group.color for factor in shown.spoken() for group in factor.groups.values())
    used = (*own, *PALETTE, OTHER_COLOUR, CONTRAST_COLOUR)
    return "\n".join(
        f".key .{colour_class(c)} {{ background: {c}; }} "
        f"mark.{colour_class(c)} {{ border-bottom: 3px solid {c}; }}"
        for c in dict.fromkeys(used)
    )


def colour_class(colour: str) -> str:
    """Return the class of a colour in the page's style ("c882255")."""
    return "c" + colour.removeprefix("#").lower()


def people_of(race: str) -> str:
    """Return the people who bear a name ("American Indian and Alaska Native (AI/AN) people")."""
    return f"{_PEOPLE.get(race, race)} people"


_NOT_BORNE = frozenset(
    ("gender", "pair", "name", "threshold", "likelihood", "outcome", "cues", "cue", "role")
)

_LESS = " − "
"""Between the groups of a difference, which are no characters."""
_IN_PAIR = ("dominant_", "subordinate_")


def borne(group: Mapping[str, str]) -> str:
    """Return the group that names tell ("Latine"), of any attribute; "" where there is none."""
    found = (v for k, v in group.items() if k not in _NOT_BORNE and not k.startswith(_IN_PAIR))
    return next(found, "")


def couple(pair: str) -> str:
    """Return a pair of genders in words ("one feminized and one masculinized character (F-M)")."""
    first, _, second = pair.partition("-")
    one, other = GENDERED.get(first, first), GENDERED.get(second, second)
    if first == second:
        return f"two {one} characters ({pair})"
    return f"one {one} and one {other} character ({pair})"


def group_label(group: Mapping[str, str]) -> str:
    """Return a short label for tables and charts ("Latine, masculine")."""
    if list(group) == ["gender"] and _LESS not in group["gender"]:
        return f"{GENDER_LABELS.get(group['gender'], group['gender'])} characters"
    parts = []
    for attribute, value in group.items():
        text = shown.group_label(attribute, value)
        if attribute == "gender":
            text = GENDER_WORDS.get(value, value)
        if attribute == "threshold":
            text = (
                f"likelihood above {100 * float(value):.0f} %"
                if value.replace(".", "", 1).isdecimal()
                else value
            )
        parts.append(text)
    return ", ".join(parts) or "all"


def group_words(group: Mapping[str, str]) -> str:
    """Return a group as the sentence about it names it."""
    race, gender = group.get("race"), group.get("gender")
    if "pair" in group:
        return f"couples of {couple(group['pair'])}"
    if group.keys() == {"outcome"}:
        return f"{group['outcome']} answers"
    if race and gender:
        said = (
            f"characters with names most borne by {people_of(race)} "
            f"and {GENDER_WORDS.get(gender, gender)} references"
        )
    elif race:
        said = f"names most borne by {people_of(race)}"
    else:
        said = f"{GENDERED.get(gender, gender)} characters" if gender else ""
        said = gender if gender and _LESS in gender else said
    others = {name: value for name, value in group.items() if name not in ("race", "gender")}
    labels = {name: shown.attribute_label(name) for name in others}
    small = {n: v[:1].lower() + v[1:] if v[1:2].islower() else v for n, v in labels.items()}
    rest = ", ".join(f"{shown.group_label(*it)} ({small[it[0]]})" for it in others.items())
    return ", ".join(part for part in (said, rest) if part) or "all"


def standing(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates that a page shows: each as labels by hand correct it, where they do."""

    def key(e: Estimate) -> tuple[Any, ...]:
        strata = {name: value.removesuffix(BY_HAND) for name, value in e.strata.items()}
        strata = {name: value for name, value in strata.items() if value != THE_SCORER}
        return e.measure, e.statistic, frozenset(strata.items()), frozenset(e.group.items())

    def by_hand(e: Estimate) -> bool:
        return any(value.endswith(BY_HAND) for value in e.strata.values())

    every = list(estimates)
    done = {key(e) for e in every if by_hand(e) and e.value is not None}
    return [e for e in every if (e.value is not None if by_hand(e) else key(e) not in done)]


def corrected_from(e: Estimate) -> str:
    """Return from what labels by hand corrected an estimate, after a comma; "" where they did not.

    >>> own = "news", "group_change.v1", "difference", "pair", {"level": "word"}, {"gender": "F"}
    >>> corrected_from(Estimate(*own, -0.2, details={"naive": -0.1}))
    ', corrected by hand from −10.0 points'
    """
    by_hand = "naive" in e.details
    return f"{BY_HAND} from {fmt.number(e.details['naive'], form_of(e))}" if by_hand else ""


def template_fields(e: Estimate) -> dict[str, str]:
    """Return what a measure's sentence of a finding may name, as text.

    `group` (as a sentence names it), `label` (as a table does), `people` (who bear a name),
    `gendered`, `value`, `over` ("over" or "under"), `more` ("more" or "less"), `domain` ("" where
    domains are pooled), `share` and `expected` (of a group, and what it would be without a
    difference; a dash where they are not known), `against` (the null of a ratio, where it is not
    1), `title` (of the measure), `place` (" in …", or nothing), `together` (all its groups),
    `seen_by` (", by words", or nothing) and every stratum and attribute by its own name.
    """
    domain = e.strata.get("domain", ALL)
    none = 0.0 if e.statistic == "difference" else 1.0
    against = ""
    if e.statistic == "ratio" and e.null is not None and e.null.value != none:
        none = e.null.value
        against = f", where {e.null.method} would read {fmt.ratio(none)}"
    above, baseline = (e.value or 0.0) > none, e.details.get("baseline")
    own = e.null.value if e.null is not None and not math.isnan(e.null.value) else 1.0
    where = {name: v for name, v in e.strata.items() if name not in ("seen_by", "population")}
    place = strata_words(where, e.group, "in ")
    seen_by = strata_words({"seen_by": e.strata.get("seen_by", ALL)}, e.group)
    if seen_by.endswith(BY_HAND):
        seen_by = seen_by.removesuffix(BY_HAND) + (corrected_from(e) or BY_HAND)
    return {
        **e.strata,
        "seen_by": f", {seen_by}" if seen_by else "",
        **e.group,
        "group": group_words(e.group),
        "label": group_label(e.group),
        "people": people_of(e.group.get("race", "")),
        "gendered": GENDERED.get(e.group.get("gender", ""), e.group.get("gender", "")),
        "value": fmt.number(e.value, form_of(e)),
        "over": "over" if above else "under",
        "more": "more" if above else "less",
        "domain": "" if domain == ALL else domain,
        "share": fmt.share(e.details.get("share")),
        "expected": fmt.share(None if baseline is None else own * baseline),
        "against": against,
        "title": measure_title(e.measure),
        "place": f" {place}" if place else "",
        "together": fmt.listed([shown.group_label(*item) for item in e.group.items()]),
    }
