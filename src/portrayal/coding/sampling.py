"""Samples to label: texts of a run with their people, drawn by strata, and as items of a project.

A text's weight is 1 over its chance of being drawn, so that weighted counts speak of the whole run.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from portrayal.annotate.people import Roles
from portrayal.coding.project import CodingItem, ItemPerson, item_name
from portrayal.collect.corpus import SLOTS, people_parts
from portrayal.errors import DataError, OptionError
from portrayal.measure.corrected import FEWEST
from portrayal.measure.cues import role_of
from portrayal.measure.drawing import choices_of, texts_of_draw
from portrayal.raters import (
    Codebook,
    CodebookQuestion,
    Draw,
    ShortPlace,
    drawn,
    evenly,
    short_places,
)
from portrayal.raters.labels import Unit
from portrayal.reference import GENDERS, RACES, mena_nhpi_table, name_table, race_likelihoods
from portrayal.run import Run, read_chosen, read_prompts, read_rows
from portrayal.validate import check_count, check_seed

BY = ("domain", "condition", "model")
"""What strata are made of where nothing is named, as far as the texts have it."""
OF_PEOPLE = ("gender", "race")
"""Attributes of a text's people, by which strata overlap."""
_SEPARATOR = " · "
_COLUMNS = ("text_id", "prompt_id", "model", "outcome")
_WORDS = (
    "Say what each text is, as you read it; you see nothing of what the scorer says, nor of what "
    "other raters do. {raters} people label every text. Where none of the answers fits, write a "
    "note and go on."
)


THRESHOLD = 0.6
"""Share of its bearers from which a name counts as borne mostly by a group (Table S10)."""
_NAMES = tuple(f"{slot}_{part}" for slot in SLOTS for part in ("name", "gender"))


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
        select t.text_id, t.prompt_id, t.model, {", ".join("a." + c for c in _NAMES)}
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


def draw_texts(
    run: Run, about: str, n: int, *, by: Sequence[str] | None = None, seed: int = 0
) -> Draw:
    """Draw `n` readable texts of a run at random, as evenly over strata as their sizes allow.

    Parameters
    ----------
    run, about
        The run, and the name of what is labelled.
    n
        Texts to draw; all of them where there are not as many. Of strata that overlap, as of people
        by gender or race, a text can be drawn for several and counts once.
    by
        Attributes that make the strata: of prompts, `model`, or of `OF_PEOPLE` with the role of
        whom they are of; texts that have none of these are not drawn. None takes `BY` as far as
        the texts have it.
    seed
        Start of the random stream; the same run and seed give the same sample.

    Raises
    ------
    OptionError
        When an attribute is unknown, or there are more strata than texts to draw.
    DataError
        When there is no readable text, or people are needed and were not annotated.
    """
    check_count("n", n, minimum=1)
    check_seed(seed)
    rows = [row for row in read_rows(run, _COLUMNS) if row["outcome"] == "ok"]
    columns = {name for row in rows for name in row} - {"text_id", "prompt_id", "outcome"}
    names = [name for name in BY if name in columns] if by is None else list(by)
    if strange := [name for name in names if name not in {*columns, *OF_PEOPLE}]:
        attributes = ", ".join(sorted({*columns, *OF_PEOPLE}))
        raise OptionError(f"texts have no {strange[0]!r} to draw by; they have: {attributes}.")
    of_people = [name for name in names if name in OF_PEOPLE and name not in columns]
    # The strata of a text by its people, who may be of several: "White F, dominant"
    people: dict[str, dict[str, None]] = defaultdict(dict)
    if of_people:
        prompts, people_rows = read_prompts(run.prompts_path), frame(run).to_pylist()
        shares = NameShares(row[f"{slot}_name"] for row in people_rows for slot in SLOTS)
        for row, slot in product(people_rows, SLOTS):
            gender = row[f"{slot}_gender"]
            values = {"race": shares.race(row[f"{slot}_name"])}
            values["gender"] = gender if gender in GENDERS else None
            if all(values[name] for name in of_people):
                role = role_of(slot, prompts.get(row["prompt_id"], {}).get("condition", ""))
                words = " ".join(str(values[name]) for name in of_people)
                people[row["text_id"]][f"{words}, {role}"] = None
    strata: dict[str, list[Unit]] = defaultdict(list)
    for row in rows:
        text_values = [str(row.get(name) or "–") for name in names if name not in of_people]
        for words in people.get(row["text_id"], ()) if of_people else ("",):
            key = _SEPARATOR.join(filter(None, [*text_values, words])) or "all"
            strata[key].append((row["text_id"], ""))
    sizes = evenly(n, [len(units) for units in strata.values()])
    if sizes and min(sizes) == 0:
        raise OptionError(
            f"{len(strata)} strata need at least as many texts; got n = {n}. Raise --n, or give "
            "fewer attributes with --by."
        )
    return drawn(about, strata, sizes, seed)


def short_of_people(run: Run, draw: Draw) -> list[ShortPlace]:
    """Return the domains and conditions of whose people a draw has too few to correct anything.

    Corrections are made by role where roles differ: a power-laden text has one person of each role,
    a power-neutral one all its people.
    """
    n_all, n_drawn = Counter[str](), Counter[str]()
    for row in read_rows(run, _COLUMNS):
        place = ", ".join(filter(None, (row.get(name) for name in ("domain", "condition"))))
        one_each = row.get("condition") == "power-laden" or not _roles(row).has_object
        people = (1 if one_each else 2) * (row["outcome"] == "ok")
        n_all[place or "all"] += people
        n_drawn[place or "all"] += people * ((row["text_id"], "") in draw.texts)
    return short_places(n_all, n_drawn, len(draw.texts), "people of a role", FEWEST)


def _roles(strata: Mapping[str, Any]) -> Roles:
    return Roles(strata.get("subject_role") or "", strata.get("object_role") or None)


def field_book(run: Run, field: str, raters: int = 2) -> Codebook:
    """Return the codebook that asks for one field of the texts of a run."""
    label, words = field.replace("_", " "), _WORDS.format(raters="Two" if raters == 2 else raters)
    choices = tuple(choices_of(run, field))
    question = CodebookQuestion(field, label, kind="choice", choices=choices, needed=True)
    # The page shows no people and nothing of the scorer: raters must not be led
    return Codebook(field, f"Labels of {label}", words, (question,), show_people=False)


def items_of(run: Run, draw: Draw, *, with_people: bool = True) -> list[CodingItem]:
    """Return what was drawn as items of a project, in its order.

    With people, an item has its prompt above it, the people whom annotator or prompt name, and the
    strata of its prompt. Without, raters see the text alone.
    """
    prompts = read_prompts(run.prompts_path, words="text") if with_people else {}
    texts = list(texts_of_draw(run, draw))
    conditions = {text_id: prompts.get(prompt_id, {}) for (text_id, _), prompt_id, _ in texts}
    people = people_of(run, conditions, conditions) if with_people else {}
    models = {row["text_id"]: row["model"] for row in read_rows(run, _COLUMNS)}
    items = []
    for (text_id, unit), prompt_id, text in texts:
        strata = conditions[text_id]
        labels = {"text_id": text_id, "unit": unit, "prompt_id": prompt_id}
        if with_people:
            labels |= {name: strata.get(name, "") for name in ("domain", "condition")}
            labels |= {"model": models[text_id]}
        of_text = {person.slot: person for person in people.get(text_id, ())}
        roles = _roles(strata)
        for slot, role in (("subject", roles.subject), ("object", roles.object)):
            # Whom the prompt asks for is asked about, also where the annotator found nobody
            if role or (slot == "object" and strata and roles.has_object):
                of_text.setdefault(slot, ItemPerson(slot, role=role or ""))
        labels = {name: value for name, value in labels.items() if value}
        weight = 1.0 / draw.texts[text_id, unit]
        words = text, strata.get("text", "")
        items.append(
            CodingItem(item_name(text_id, unit), *words, tuple(of_text.values()), labels, weight)
        )
    return items
