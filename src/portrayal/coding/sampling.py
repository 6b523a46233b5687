"""Samples to label: texts drawn by strata, the codebook of a field, and both as items of a project.

A text's weight is 1 over its chance of being drawn, so that weighted counts speak of the whole run.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from portrayal.annotate.people import Roles
from portrayal.coding.characters import NameShares, frame, people_of
from portrayal.coding.project import CodingItem, ItemPerson, item_name
from portrayal.collect.corpus import SLOTS
from portrayal.errors import OptionError
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
from portrayal.reference import GENDERS
from portrayal.run import Run, read_prompts, read_rows
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
    people = _people_strata(run, of_people) if of_people else {}
    strata: dict[str, list[Unit]] = defaultdict(list)
    for row in rows:
        text_values = [str(row.get(name) or "–") for name in names if name not in of_people]
        for values in people.get(row["text_id"], ()) if of_people else ("",):
            key = _SEPARATOR.join(filter(None, [*text_values, values])) or "all"
            strata[key].append((row["text_id"], ""))
    sizes = evenly(n, [len(units) for units in strata.values()])
    if sizes and min(sizes) == 0:
        raise OptionError(
            f"{len(strata)} strata need at least as many texts; got n = {n}. Raise --n, or give "
            "fewer attributes with --by."
        )
    return drawn(about, strata, sizes, seed)


def _people_strata(run: Run, names: Sequence[str]) -> dict[str, list[str]]:
    """The strata of each text by its people, who may have several: "White F, dominant"."""
    prompts, rows = read_prompts(run.prompts_path), frame(run).to_pylist()
    shares = NameShares(row[f"{slot}_name"] for row in rows for slot in SLOTS)
    strata: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        condition = prompts.get(row["prompt_id"], {}).get("condition", "")
        for slot in SLOTS:
            most, gender = shares.race(row[f"{slot}_name"]), row[f"{slot}_gender"]
            values = {"race": most, "gender": gender if gender in GENDERS else None}
            if all(values[name] for name in names):
                words = " ".join(str(values[name]) for name in names)
                strata[row["text_id"]].append(f"{words}, {role_of(slot, condition)}")
    return {text_id: list(dict.fromkeys(values)) for text_id, values in strata.items()}


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
