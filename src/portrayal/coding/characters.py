"""Characters: the people of a run's texts, as items show them and as words compare them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from portrayal.coding.documents import Documents, names_mask
from portrayal.coding.project import ItemPerson
from portrayal.collect.corpus import SLOTS, people_parts
from portrayal.errors import DataError, OptionError
from portrayal.measure.cues import role_of
from portrayal.records import OUTCOMES
from portrayal.reference import GENDERS, RACES, mena_nhpi_table, name_table, race_likelihoods
from portrayal.run import Run, read_chosen, read_prompts

THRESHOLD = 0.6
"""Share of its bearers from which a name counts as borne mostly by a group (Table S10)."""

# Simple on purpose: a closing quotation mark belongs to the sentence before it
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]*[\"'”’)]*\s*")
_COLUMNS = tuple(f"{slot}_{part}" for slot in SLOTS for part in ("name", "gender"))
ATTRIBUTES = ("gender", "race", "model", "domain")
"""What the characters of a run can be grouped by."""


def frame(run: Run) -> pa.Table:
    """Return every readable text of a run with the names and genders of its people.

    Columns text_id, prompt_id, model, subject_name, subject_gender, object_name, object_gender; in
    the order of text_id, whatever the shards.

    Raises
    ------
    DataError
        When the run's people were not annotated.
    """
    import duckdb

    parts = people_parts(run)
    if not parts:
        raise DataError(
            f"{run.path}: people were not annotated. Audit it first, or sample by cue or random."
        )
    # In DuckDB, as a run of many shards need not fit in memory
    query = f"""
        select t.text_id, t.prompt_id, t.model, {", ".join("a." + c for c in _COLUMNS)}
        from read_parquet($texts) t join read_parquet($people) a using (text_id)
        where t.outcome = 'ok' and a.error is null order by t.text_id
    """  # noqa: S608
    parameters = {"texts": [str(p) for p in run.texts.parts()], "people": [str(p) for p in parts]}
    with duckdb.connect() as connection:
        return connection.sql(query, params=parameters).to_arrow_table()


def texts_of(run: Run, text_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the rows of some texts by text_id."""
    rows = read_chosen(run.texts.parts(), ("text_id", "prompt_id", "model", "text"), set(text_ids))
    return {row["text_id"]: row for row in rows}


def people_of(
    run: Run, text_ids: Iterable[str], conditions: Mapping[str, Mapping[str, str]]
) -> dict[str, tuple[ItemPerson, ...]]:
    """Return the people of some texts by text_id; `conditions` gives each text's prompt strata."""
    columns = ["text_id", *(f"{s}_{part}" for s in SLOTS for part in ("name", "gender", "spans"))]
    rows = list(read_chosen(people_parts(run), columns, set(text_ids)))
    shares = NameShares(row[f"{slot}_name"] for row in rows for slot in SLOTS)
    people: dict[str, tuple[ItemPerson, ...]] = {}
    for row in rows:
        strata = conditions.get(row["text_id"], {})
        people[row["text_id"]] = ()
        for slot in SLOTS:
            name, gender = row[f"{slot}_name"], row[f"{slot}_gender"]
            if name is None and gender is None:
                continue
            labels = {"power": role_of(slot, strata.get("condition", ""))}
            most = shares.most(name)
            if most is not None:
                labels["names"] = f"{100 * most[1]:.0f} % of bearers {most[0]}"
            # A share of bearers, not a person's race: only where it is large is it a label
            if (race := shares.race(name)) is not None:
                labels["race"] = race
            spans = tuple((s["start"], s["end"]) for s in row[f"{slot}_spans"] or ())
            role = strata.get(f"{slot}_role", "")
            people[row["text_id"]] += (ItemPerson(slot, name, gender or "", role, spans, labels),)
    return people


class NameShares:
    """Which group most bearers of a name belong to, and their share."""

    def __init__(self, names: Iterable[str | None]) -> None:
        sorted_names = sorted({name.casefold() for name in names if name})
        likelihoods = race_likelihoods(sorted_names, name_table(), mena_nhpi_table())
        finite = np.nan_to_num(likelihoods, nan=-1.0)  # argmax would take NaN for the largest
        self._best = {
            name: (RACES[int(best)], float(row[best]))
            for name, row, best in zip(sorted_names, finite, finite.argmax(axis=1), strict=True)
            if row[best] >= 0
        }

    def most(self, name: str | None) -> tuple[str, float] | None:
        """Return the group and its share; None where no table knows the name."""
        return self._best.get((name or "").casefold())

    def race(self, name: str | None) -> str | None:
        """Return the group where its share is at least `THRESHOLD`; None otherwise."""
        best = self.most(name)
        return best[0] if best is not None and best[1] >= THRESHOLD else None


def run_documents(run: Run, groups: Sequence[str] = ("gender",)) -> Documents:
    """Return one document per character of a run: the sentences that refer to the character.

    Parameters
    ----------
    run
        A run with annotated people. Where labels give no places, as a user's own do, the sentences
        that name a character stand for those that refer to it.
    groups
        Of `ATTRIBUTES`. The race of a document says whose bearers share the name at `THRESHOLD` or
        more, which describes a population; other names have none.

    Raises
    ------
    OptionError
        For another group.
    DataError
        When no place of a character is known.
    """
    foreign = [name for name in groups if name not in ATTRIBUTES]
    if foreign or not groups:
        attributes = ", ".join(ATTRIBUTES)
        raise OptionError(f"a run's people are grouped by {attributes}; got {foreign or 'none'}.")
    table, prompts = frame(run), read_prompts(run.prompts_path, words="text")
    ids = table["text_id"].to_pylist()
    texts = texts_of(run, ids)
    strata = {i: prompts.get(row["prompt_id"], {}) for i, row in texts.items()}
    people = people_of(run, ids, strata)
    rows = [
        (about, person, texts[i], strata[i])
        for i in ids
        for person in people.get(i, ())
        # A character whom no sentence refers to has no document
        if (about := sentences(text := texts[i]["text"], person.spans or _named(text, person.name)))
    ]
    if not rows:
        raise DataError(f"{run.path}: no text says where it refers to its people.")
    abouts, persons, rows_of, strata_of = zip(*rows, strict=True)
    labels = {
        "gender": [person.gender if person.gender in GENDERS else "" for person in persons],
        "race": [person.labels.get("race", "") for person in persons],
        "model": [row["model"] for row in rows_of],
        "domain": [strata.get("domain", "") for strata in strata_of],
    }
    counts = run.texts.note().get("outcomes", {})
    names = (person.name for of_text in people.values() for person in of_text)
    return Documents(
        str(run.path),
        abouts,
        {name: tuple(labels[name]) for name in groups},
        tuple(person.labels["power"] for person in persons),
        np.unique([row["prompt_id"] for row in rows_of], return_inverse=True)[1].astype(np.int64),
        "prompt",
        names_mask(names, (row["text"] for row in texts.values())),
        {name: counts[name] for name in OUTCOMES[1:] if counts.get(name)},
        "character",
    )


def _named(text: str, name: str | None) -> list[tuple[int, int]]:
    """Return where a text has a name, for people whose labels give no places."""
    return [hit.span() for hit in re.finditer(rf"\b{re.escape(name)}\b", text)] if name else []


def sentences(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the sentences of a text that hold the start of one of the spans, joined by spaces."""
    starts = sorted(start for start, _ in spans)
    shown_sentences = []
    for hit in _SENTENCE.finditer(text):
        sentence = hit.group()
        low = hit.start() + len(sentence) - len(sentence.lstrip())
        # The start decides, so that a span across a border is in one sentence alone
        first = np.searchsorted(starts, low)
        holds_start = first < len(starts) and starts[first] < low + len(sentence.strip())
        if holds_start and re.search(r"\w", sentence):
            shown_sentences.append(sentence.strip())
    return " ".join(shown_sentences)
