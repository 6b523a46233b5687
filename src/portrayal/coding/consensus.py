"""Consensus: what people settle on for a text, and what they leave open."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from portrayal.coding.codes import Codes
from portrayal.coding.project import Project


@dataclass(frozen=True, slots=True)
class Settled:
    """What people say of one text together.

    Attributes
    ----------
    item_id
        The text.
    codes
        Whether the text shows each code that is settled.
    open
        Codes that as many raters give as do not.
    n_raters
        Human raters who are done with the text; 0 where an adjudicator alone is.
    adjudicated
        Whether an adjudicator decided.
    """

    item_id: str
    codes: Mapping[str, bool] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    n_raters: int = 0
    adjudicated: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """The codes that the text shows, in the order of the codebook."""
        return tuple(key for key, value in self.codes.items() if value)


def consensus(project: Project, codes: Codes) -> dict[str, Settled]:
    """Return what people settle on, by `item_id`, in the order of the project.

    An adjudicator's word counts where there is one, the last of several; otherwise a code is given,
    or not given, where more than half of the human raters say so. Language models have no vote.
    """
    votes: dict[tuple[str, str], list[bool]] = {}
    for one in codes.of("human").decisions:
        votes.setdefault((one.item_id, one.code), []).append(one.value)
    last: dict[str, tuple[str, str]] = {}
    for done in codes.of("adjudicated").done:
        last[done.item_id] = max(last.get(done.item_id, ("", "")), (done.at, done.rater))
    decided = {
        (one.item_id, one.code): one.value
        for one in codes.of("adjudicated").decisions
        if last[one.item_id][1] == one.rater
    }
    n_raters: dict[str, int] = {}
    for done in codes.of("human").done:
        n_raters[done.item_id] = n_raters.get(done.item_id, 0) + 1
    keys = [code.key for code in project.codebook.codes]
    found = {}
    for item in project.items:
        name = item.item_id
        if name not in n_raters and name not in last:
            continue
        settled: dict[str, bool] = {}
        for key in keys:
            said = votes.get((name, key), [])
            if (name, key) in decided:
                settled[key] = decided[name, key]
            elif 2 * sum(said) != len(said):
                settled[key] = 2 * sum(said) > len(said)
        unsettled = tuple(key for key in keys if key not in settled)
        found[name] = Settled(name, settled, unsettled, n_raters.get(name, 0), name in last)
    return found
