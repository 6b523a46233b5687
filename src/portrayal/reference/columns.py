"""Recognise the columns and categories in which published name tables write race."""

import re

from portrayal.reference.groups import RACES

OTHER = "other"
"""Several races, another race, or not known: part of the whole, of no group of its own."""

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "White": ("white", "whi", "nhwhite", "nonhispanicwhite", "whitenothispanic", "5"),
    "Latine": ("latine", "latino", "latina", "latinx", "hispanic", "his", "hispanicorlatino",
               "latinohispanic", "hispaniclatino", "4"),
    "Black": ("black", "bla", "nhblack", "nonhispanicblack", "blacknothispanic", "africanamerican",
              "blackorafricanamerican", "3"),
    "Asian": ("asian", "asi", "api", "nhasian", "asianpacificislander", "asianorpacificislander",
              "2"),
    "AI/AN": ("aian", "nativeindian", "nativeamerican", "americanindian", "amerindian",
              "americanindianoralaskanative", "americanindianoralaskannative", "1"),
    "MENA": ("mena", "comena", "middleeasternornorthafrican"),
    "NH/PI": ("nhpi", "conhpi", "nativehawaiianorpacificislander",
              "nativehawaiianorotherpacificislander"),
    OTHER: ("other", "oth", "2prace", "multiracial", "twoormore", "twoormoreraces", "twoprace",
            "mixedrace", "unknown", "notknown", "coother", "otherrace", "6", "7", "9", ""),
}  # fmt: skip
_GROUP = {spelling: group for group, known in _SPELLINGS.items() for spelling in known}
_UNIT = re.compile(r"^(percent|pct|share|prob|frac|count)|(percent|pct|share|prob|frac|count)$")

PERCENT, SHARE, COUNT = "percentages", "shares", "counts"
_UNIT_WORDS = {PERCENT: {"percent", "pct"}, SHARE: {"share", "prob", "frac"}, COUNT: {"count"}}

NAME_COLUMNS = ("name", "firstname", "namefirst", "givenname", "first")
COUNT_COLUMNS = ("count", "obs", "n", "total", "freq", "frequency", "people")
RACE_COLUMNS = ("race", "raceethnicity", "racecode", "ethnicity")


def squash(label: str) -> str:
    """Return the letters and digits of `label` in lower case."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def race_group(label: str) -> str | None:
    """Return the group that `label` names, `OTHER`, or None; Florida's codes 1–9 count too."""
    return _GROUP.get(squash(label.removesuffix(".0")))


def share_columns(columns: list[str]) -> dict[str, str]:
    """Return the columns named after a race, with the group that each one names."""
    found = {}
    for column in columns:
        stem = _UNIT.sub("", squash(column))
        group = _GROUP.get(stem)
        if group is not None and stem and not stem.isdigit():
            found[column] = group
    return found


def unit_of(columns: list[str]) -> str | None:
    """Return the unit that the names of share `columns` state, or None: PERCENT, SHARE or COUNT."""
    stated = {match[0] for column in columns if (match := _UNIT.search(squash(column)))}
    for unit, words in _UNIT_WORDS.items():
        if stated & words:
            return unit
    return None


def first_of(columns: list[str], known: tuple[str, ...]) -> str | None:
    """Return the first column whose squashed name is in `known`, in the order of `known`."""
    by_name = {squash(column): column for column in reversed(columns)}
    return next((by_name[name] for name in known if name in by_name), None)


def in_order(groups: set[str]) -> tuple[str, ...]:
    """Return the races among `groups` in the order of `RACES`."""
    return tuple(race for race in RACES if race in groups)
