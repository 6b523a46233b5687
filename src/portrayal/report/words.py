"""Words: how groups are named, and the one colour each keeps.

A race share describes the population that bears a name, never a person; a gender is the one of the
references in the text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import portrayal.reference.labels as shown
import portrayal.report.formats as fmt
from portrayal.records import BASIS, Estimate
from portrayal.reference.factors import load_factor
from portrayal.reference.labels import PALETTE
from portrayal.registry import described, form_of

_GENDER, _RACE = load_factor("gender"), load_factor("race")
# Others have Okabe and Ito’s colour-blind-safe palette.
OTHER_COLOUR, CONTRAST_COLOUR = "#666666", "#1f4e79"
"""Of a group without a colour, and of a difference between groups, which has none of theirs."""

GENDER_WORDS = _GENDER.said("references")
_PLURAL, _ARE, _ONE = (_GENDER.said(word) for word in ("plural", "are", "one"))
GENDER_SHORT = _GENDER.said("column")
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
    title_of_measure = component.title if component is not None else ""
    # Measures of other packages may have no title.
    title = title_of_measure or stem(measure).replace("_", " ").capitalize()
    return title[:1].lower() + title[1:] if inside and title[1:2].islower() else title


def capital(text: str) -> str:
    """Return text with a capital first letter.

    >>> capital("women in Labor")
    'Women in Labor'
    """
    return text[:1].upper() + text[1:]


def values_of(groups: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return every value of each attribute that groups have, in alphabetical order."""
    values: dict[str, set[str]] = {}
    for group in groups:
        for attribute, value in group.items():
            values.setdefault(attribute, set()).add(value)
    return {attribute: sorted(of_attribute) for attribute, of_attribute in values.items()}


def colour_of_group(group: Mapping[str, str], own_groups: Sequence[str] = ()) -> str:
    """Return the colour that a group keeps; of a user's own group, by its place in `own_groups`."""
    # A difference of two groups is neither of them, so it has the colour of none.
    if any(_LESS in value for value in group.values()):
        return CONTRAST_COLOUR
    for attribute, value in group.items():
        shipped = shown.group_shown(attribute, value)
        if shipped is not None:
            return shipped.color
        # The same place in the run's list gives the same colour in every figure.
        if value in own_groups:
            return PALETTE[list(own_groups).index(value) % len(PALETTE)]
    return OTHER_COLOUR


def colour_rules(page: str) -> str:
    """Return CSS that colours the dots of groups in keys, and marks of words, that a page has."""
    classes = re.findall(r'class="[^"]*\bc([0-9a-f]{6})\b', page)
    return "\n".join(
        f".key .mark.c{colour} {{ background: #{colour}; }} "
        f"mark.c{colour} {{ border-bottom: 3px solid #{colour}; }}"
        for colour in dict.fromkeys(classes)
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


def borne(group: Mapping[str, str]) -> str:
    """Return the group that names tell ("Latine"), of any attribute; "" where there is none."""
    bearers = (value for attribute, value in group.items() if attribute not in _NOT_BORNE)
    return next(bearers, "")


def couple(pair: str) -> str:
    """Return a pair of genders in words ("a woman and a man (F-M)")."""
    first, _, second = pair.partition("-")
    if first == second:
        return f"two {_PLURAL.get(first, first)} ({pair})"
    return f"{_ONE.get(first, first)} and {_ONE.get(second, second)} ({pair})"


def group_label(group: Mapping[str, str]) -> str:
    """Return a short label for tables and charts ("Latine men", "Women", "Black")."""
    if (label := _pair_label(group)) is not None:
        return label
    # Genders read as nouns ("Latine men"), other groups as labels.
    if "gender" in group:
        return capital(are_words(group) if len(group) > 1 else group_words(group))
    parts = []
    for attribute, value in group.items():
        text = shown.group_label(attribute, value)
        if attribute == "threshold":
            text = (
                f"likelihood above {100 * float(value):.0f} %"
                if value.replace(".", "", 1).isdecimal()
                else value
            )
        parts.append(text)
    return ", ".join(parts) or "all"


def _pair_label(group: Mapping[str, str]) -> str | None:
    """A difference of two groups ("Black men − White women"); None of a group itself."""
    people = {name: value for name, value in group.items() if name != "beside"}
    if not any(_LESS in value for value in people.values()):
        return None
    # Genders last, as English has it; what both groups share stands in each of them.
    order = sorted(people, key=lambda name: (name == "gender", name))
    pairs = [people[name].split(_LESS, 1) for name in order]
    sides = [" ".join(pair[k if len(pair) > 1 else 0] for pair in pairs) for k in (0, 1)]
    return _LESS.join(sides)


def group_words(group: Mapping[str, str]) -> str:
    """Return a group as the sentence about it names it ("women", "Black people").

    >>> group_words({"user_gender": "F"})
    'women (user gender)'
    """
    if "pair" in group:
        return f"couples of {couple(group['pair'])}"
    if (label := _pair_label(group)) is not None:
        return label
    if group.keys() == {"outcome"}:
        return f"{group['outcome']} answers"
    if group.keys() == {"race"}:
        return people_of(group["race"])
    further = {name: value for name, value in group.items() if name not in ("race", "gender")}
    labels = {name: shown.attribute_label(name) for name in further}
    # "AI/AN" and other abbreviations keep their capitals.
    small = {n: v[:1].lower() + v[1:] if v[1:2].islower() else v for n, v in labels.items()}
    parts = []
    for name, value in further.items():
        # A column of a user's own, such as `user_gender`
        is_of_people = name.endswith(("_gender", "_race"))
        words = shown.people_words(value) if is_of_people else shown.group_label(name, value)
        parts.append(f"{words} ({small[name]})")
    people = _race_and_gender(group)
    return ", ".join([*([people] if people else []), *parts]) or "all"


def _race_and_gender(group: Mapping[str, str]) -> str:
    """The groups of names and of references together ("Latine men")."""
    race, gender = group.get("race"), group.get("gender", "")
    if not gender:
        return people_of(race) if race else ""
    plural = _PLURAL.get(gender, gender)
    return f"{_PEOPLE.get(race, race)} {plural}" if race else plural


def are_words(group: Mapping[str, str]) -> str:
    """Return what a sentence says that people of a group are ("women", "non-binary", "Black")."""
    if "pair" in group:
        return f"of {couple(group['pair'])}"
    if group.keys() == {"gender"}:
        return _ARE.get(group["gender"], group["gender"])
    if group.keys() == {"race"}:
        return _PEOPLE.get(group["race"], group["race"])
    people = _race_and_gender(group)
    further = (it for it in group.items() if it[0] not in ("race", "gender"))
    return (
        ", ".join([*([people] if people else []), *(shown.group_label(*it) for it in further)])
        or "all"
    )


def standing(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return the estimates that a page shows: each as labels by hand correct it, where they do."""

    def key(e: Estimate) -> tuple[Any, ...]:
        strata = frozenset(item for item in e.strata.items() if item[0] != BASIS)
        return e.measure, e.statistic, strata, frozenset(e.group.items())

    all_estimates = list(estimates)
    # An estimate and its correction differ in the basis alone.
    corrected_keys = {key(e) for e in all_estimates if e.corrected and e.value is not None}
    return [
        e
        for e in all_estimates
        if (e.value is not None if e.corrected else key(e) not in corrected_keys)
    ]


def corrected_from(e: Estimate) -> str:
    """Return from what labels by hand corrected an estimate, after a comma; "" where they did not.

    >>> strata, group = {"level": "word", "basis": "corrected by hand"}, {"gender": "F"}
    >>> own = "news", "group_change.v1", "difference", "pair", strata, group
    >>> corrected_from(Estimate(*own, -0.2, details={"naive": -0.1}))
    ', corrected by hand from −10.0 points'
    """
    if "naive" not in e.details:
        return ""
    return f", {e.strata[BASIS]} from {fmt.number(e.details['naive'], form_of(e))}"
