"""The groups that every part of the package uses, and what their shares are compared with.

A *baseline* gives the share of each group in a population, p*. Representation ratios divide by it
(Shieh et al., Eq. 1). A group the source does not report is absent, never 0.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from portrayal.errors import UnknownNameError
from portrayal.reference.datafile import Holds, Line
from portrayal.reference.factors import ReferenceSource, load_factor
from portrayal.reference.shipped import read_toml

RACES = load_factor("race").keys
"""The seven categories of the 2023 OMB proposal, as Shieh et al. label them (Section 4.4)."""

GENDERS = load_factor("gender").keys
"""Feminized, masculinized and non-binary references (Shieh et al., Table S6a)."""

FEMININE, MASCULINE, NON_BINARY = GENDERS
"""Those that English pronouns tell apart, by name, for rules of reading."""

PAIRS = load_factor("pair").keys
"""Gender pairs of romantic relationships (Shieh et al., Table S9c)."""


@lru_cache(maxsize=1)
def gender_words() -> Mapping[str, frozenset[str]]:
    """Return the gendered references of Shieh et al., Table S6a, by "F", "M" and "NB".

    The words are in lower case without punctuation, and so must be what is matched to them.
    """
    (source,) = load_factor("gender").sources
    assert isinstance(source, ReferenceSource)
    return source.words


_Part = Annotated[float, Holds("a share above 0, at most 1", lambda share: 0 < share <= 1)]


@lru_cache(maxsize=1)
def countries() -> Mapping[str, tuple[str, ...]]:
    """Return the countries of Shieh et al., Table S6b, by "MENA" and "NH/PI".

    Examples
    --------
    >>> countries()["MENA"][:2]
    ('Algeria', 'Bahrain')
    """
    lists = read_toml("countries.toml")
    return {race: tuple(names) for race, names in lists.items()}


@dataclass(frozen=True)
class Baseline:
    """Shares in 0–1 of each group, from one source; the keys of `[[baselines]]` in a study's file.

    Attributes
    ----------
    name
        "census-2022", "subject:engineering", "occupation:nurse", ….
    source, date
        Who published the figures, and where the paper prints them; and of when they are.
    shares
        Attribute ("race", "gender", "pair", …) → group → share in 0–1; only groups that the source
        reports.
    note
        What a reader must know: overlapping categories, or why nothing is reported.
    """

    name: Line
    source: Line
    shares: Mapping[str, Mapping[str, _Part]]
    date: Any = ""
    note: Line = ""

    def of(self, groups: Iterable[Mapping[str, str]]) -> list[float]:
        """Return p* of groups such as {"race": "Black"} or {"gender": "F"}; NaN where none is."""
        share_of = {group: share for by in self.shares.values() for group, share in by.items()}
        return [share_of.get(next(iter(group.values())), float("nan")) for group in groups]


def no_share(name: str, group: Mapping[str, str]) -> str:
    """Return why the baseline `name` compares a group with nothing."""
    return f"the baseline {name} gives no share for {' '.join(group.values())}"


def baseline(name: str = "census-2022") -> Baseline:
    """Return the baseline `name`, one of `baselines()`.

    The core school subjects are also known by their own names ("subject:math").

    Raises
    ------
    UnknownNameError
        If there is none of that name.

    Examples
    --------
    >>> baseline("census-2022").shares["race"]["Black"]
    0.136
    """
    slug = name.strip().lower().replace(" ", "-")
    by_name = _all()
    if slug not in by_name:
        raise UnknownNameError(
            f"there is no baseline {name!r}; the baselines are {', '.join(baselines())}."
        )
    return by_name[slug]


def baselines() -> tuple[str, ...]:
    """Return the names of the baselines, each once.

    Examples
    --------
    >>> baselines()[:2]
    ('census-2022', 'subject:core')
    """
    return tuple(dict.fromkeys(entry.name for entry in _all().values()))


@lru_cache(maxsize=1)
def _all() -> dict[str, Baseline]:
    """Read the baselines, by name and by further name."""
    read: dict[str, Baseline] = {}
    further: dict[str, str] = {}
    for factor in ("race", "gender", "pair"):
        for entry in load_factor(factor).baselines:
            for value, shares in entry.shares.items():
                name = f"{entry.stratum}:{value}" if entry.stratum else entry.name
                notes = " ".join(filter(None, (entry.notes.get(value, ""), entry.note)))
                # Shares of several factors under one name are one baseline.
                base = read.get(name, Baseline(name, entry.source, {}, entry.date, notes))
                read[name] = replace(base, shares={**base.shares, factor: shares})
            kind = entry.stratum
            further |= {f"{kind}:{n}": f"{kind}:{v}" for n, v in entry.also.items()}
    # Further names last, so that they point at what is complete
    return read | {name: read[one] for name, one in further.items()}
