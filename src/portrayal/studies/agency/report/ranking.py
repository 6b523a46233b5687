"""Rankings of groups: in which order they stand, and which cannot be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.report.view import SURE, View, q_of, reader_could
from portrayal.studies.agency.report.series import Where, at, group_name, of, wheres

CHANCE = 0.05
"""q of the variance from which chance alone explains the order."""


@dataclass(frozen=True)
class Ranking:
    """The groups of one attribute in one place, most agentic first.

    Attributes
    ----------
    where, attribute
        Place, and the attribute that groups them ("race", "intersectional").
    groups
        Estimates of their ratio gaps, in order.
    letters
        Of each group, in the same order: those that share one cannot be told apart. The same letter
        for all where chance alone explains the order.
    why
        Why nothing is ranked; "" where something is.
    """

    where: Where
    attribute: str
    groups: tuple[Estimate, ...]
    letters: tuple[str, ...]
    why: str

    @property
    def words(self) -> str:
        """What can be said of the order, in a sentence without its full stop."""
        names = [group_name(e.group) for e in self.groups]
        if self.why:
            return f"{self.attribute}: not ranked, {self.why}"
        if len(set(self.letters)) == len(names) and all(
            len(letters) == 1 for letters in self.letters
        ):
            return f"{self.attribute}: {' > '.join(names)}"
        return f"{self.attribute}: in part, from {names[0]} down to {names[-1]}"


def rankings(view: View, masking: str) -> list[Ranking]:
    """Return the ranking of each place and attribute that has a score."""
    ranked = []
    for place in wheres(of(view, "agency_share", stratum=ALL)):
        for score in at(of(view, "agency_variance", stratum=ALL, masking=masking), place):
            name = score.group["attribute"]
            rows = _means(view, place, masking, name)
            # The overall score is a mean over attributes, and has no groups to rank.
            if name == "overall" or score.value is None or len(rows) < 2:
                continue
            # First the test of all groups together: without it no pair of them is told apart.
            reason = ""
            if not score.tests:
                reason = "as shuffled groups all give the same variance"
            else:
                p, q = score.tests[0].p, q_of(score)
                if (p if q is None else q) >= CHANCE:
                    reason = f"as chance alone puts groups as far apart (q {fmt.probability(q)})"
            # Pairs of groups whose interval leaves out 0 and whose q is below 0.05.
            distinct: set[frozenset[str]] = set()
            for e in at(of(view, "agency_gap", stratum=ALL, masking=masking), place):
                q, bounds = q_of(e), e.interval
                has_bounds = e.value is not None and bounds is not None and "beside" not in e.group
                if reason or not has_bounds or q is None or q >= SURE or reader_could(e):
                    continue
                # Names of groups, as letters are dealt by name.
                if bounds is not None and not bounds.low <= 0.0 <= bounds.high:
                    upper, _, lower = group_name(e.group).partition(" − ")
                    distinct.add(frozenset((upper, lower)))
            ordered = sorted(rows, key=lambda e: (-(e.value or 0.0), group_name(e.group)))
            letters = letter_display([group_name(e.group) for e in ordered], distinct)
            ranked.append(Ranking(place, name, tuple(ordered), tuple(letters), reason))
    return ranked


def _means(view: View, place: Where, masking: str, name: str) -> list[Estimate]:
    rows = at(of(view, "agency_share", stratum=ALL, masking=masking), place)
    return [
        e
        for e in rows
        if e.statistic == "ratio_gap"
        and e.value is not None
        and (len(e.group) > 1 if name == "intersectional" else list(e.group) == [name])
    ]


def letter_display(names: Sequence[str], distinct: set[frozenset[str]]) -> list[str]:
    """Return the letters of each name: two names share one unless they are told apart.

    Parameters
    ----------
    names
        In order; the first letter goes to the first.
    distinct
        Pairs that can be told apart.

    Examples
    --------
    >>> letter_display(["x", "y", "z"], {frozenset("xz")})
    ['a', 'ab', 'b']
    """
    # Insert and absorb (Piepho 2004): start with one letter for all, and split at each pair.
    cliques = [set(names)]
    for pair in sorted(tuple(sorted(pair)) for pair in distinct if pair <= set(names)):
        one, two = pair
        split = [c for c in cliques if one in c and two in c]
        cliques = [c for c in cliques if c not in split]
        for clique in split:
            for gone in (one, two):
                without = clique - {gone}
                # A set within another one would be a letter that says nothing new.
                if not any(without <= other for other in cliques):
                    cliques = [c for c in cliques if not c <= without] + [without]
    cliques.sort(key=lambda clique: sorted(names.index(name) for name in clique))
    marks = [ascii_lowercase[i] if i < 26 else f"{i}." for i in range(len(cliques))]
    return ["".join(m for m, c in zip(marks, cliques, strict=True) if n in c) for n in names]
