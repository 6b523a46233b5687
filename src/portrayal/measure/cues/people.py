"""People of a run's stories: role, gender and race of each, by which texts are drawn and coded."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.collect.corpus import SLOTS, people_parts
from portrayal.errors import DataError
from portrayal.measure.cues.search import role_of
from portrayal.reference.groups import RACES
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods
from portrayal.run import Run, read_chosen

THRESHOLD = 0.6
"""Share of its bearers from which a name counts as borne mostly by a group (Table S10)."""


@dataclass(frozen=True, slots=True)
class StoryPerson:
    """One of the people of a story of a run, as an annotator found them.

    Attributes
    ----------
    slot
        "subject" or "object".
    name, gender
        First name and gender; None, or "", where the text gives none.
    power
        Role in which the prompt casts the character: dominant, subordinate or neutral.
    race
        Group that `THRESHOLD` or more of the name's bearers belong to, which describes a
        population; "" where no group has so many.
    """

    slot: str
    name: str | None
    gender: str
    power: str
    race: str


def run_people(
    run: Run, texts: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, list[StoryPerson]]]:
    """Yield text_id and people of these texts of a run, whose rows hold their prompts' strata.

    Raises
    ------
    DataError
        When the run's people were not annotated.
    """
    parts = people_parts(run)
    if not parts:
        raise DataError(f"{run.path}: people were not annotated. Audit it first.")
    of_slot = (f"{slot}_{part}" for slot in SLOTS for part in ("name", "gender"))
    columns = ("text_id", "error", *of_slot)
    # Shard by shard, so that a run of many need not fit in memory
    for part in parts:
        rows = [row for row in read_chosen([part], columns, texts) if row["error"] is None]
        races = mostly_of([row[f"{slot}_name"] for row in rows for slot in SLOTS])
        for row in rows:
            people = []
            for slot in SLOTS:
                name, gender = row[f"{slot}_name"], row[f"{slot}_gender"]
                if name is not None or gender is not None:
                    power = role_of(slot, texts[row["text_id"]].get("condition", ""))
                    race = races.get((name or "").casefold(), "")
                    people.append(StoryPerson(slot, name, gender or "", power, race))
            yield row["text_id"], people


def mostly_of(names: Iterable[str | None]) -> dict[str, str]:
    """Return the race of `THRESHOLD` or more of each name's bearers, by the casefolded name."""
    distinct = sorted({name.casefold() for name in names if name})
    # NaN, of names that no table has, would be the largest
    shares = np.nan_to_num(race_likelihoods(distinct, name_table(), mena_nhpi_table()), nan=-1.0)
    return {
        name: RACES[int(row.argmax())]
        for name, row in zip(distinct, shares, strict=True)
        if row.max() >= THRESHOLD
    }
