"""Texts of a run that people label by a codebook: drawn by strata, and as items of a sheet."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from portrayal.annotate.people import Roles
from portrayal.collect.corpus import people_parts
from portrayal.errors import OptionError
from portrayal.measure.corrected import FEWEST
from portrayal.measure.cues import run_people
from portrayal.measure.drawing import choices_of, texts_of_draw
from portrayal.raters import (
    Codebook,
    CodebookQuestion,
    Draw,
    SheetItem,
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
PEOPLE = "people"
"""The codebook that asks who is in a story."""
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
    texts = {row["text_id"]: row for row in read_rows(run, _COLUMNS) if row["outcome"] == "ok"}
    columns = {name for row in texts.values() for name in row} - {"text_id", "prompt_id", "outcome"}
    names = [name for name in BY if name in columns] if by is None else list(by)
    if strange := [name for name in names if name not in {*columns, *OF_PEOPLE}]:
        attributes = ", ".join(sorted({*columns, *OF_PEOPLE}))
        raise OptionError(f"texts have no {strange[0]!r} to draw by; they have: {attributes}.")
    of_people = [name for name in names if name in OF_PEOPLE and name not in columns]
    # The strata of a text by its people, who may be of several: "White F, dominant"
    people: dict[str, dict[str, None]] = defaultdict(dict)
    for text_id, characters in run_people(run, texts) if of_people else ():
        for person in characters:
            gender = person.gender if person.gender in GENDERS else ""
            values = {"race": person.race, "gender": gender}
            if all(values[name] for name in of_people):
                words = " ".join(values[name] for name in of_people)
                people[text_id][f"{words}, {person.power}"] = None
    strata: dict[str, list[Unit]] = defaultdict(list)
    for text_id, row in texts.items():
        text_values = [str(row.get(name) or "–") for name in names if name not in of_people]
        for words in people.get(text_id, ()) if of_people else ("",):
            key = " · ".join(filter(None, [*text_values, words])) or "all"
            strata[key].append((text_id, ""))
    sizes = evenly(n, [len(units) for units in strata.values()])
    if sizes and min(sizes) == 0:
        raise OptionError(
            f"{len(strata)} strata need at least as many texts; got n = {n}. Raise --n, or give "
            "fewer attributes with --by."
        )
    return drawn(about, strata, sizes, seed)


def is_of_people(run: Run, query: str) -> bool:
    """Return whether a query names a measure of a run that labels of people correct.

    It may be a measure, with or without version, or a finding that begins with one.
    """
    stem = query.partition(" ")[0].partition(".v")[0]
    measures = {name.partition(".v")[0] for name in run.settings().get("measures", ())}
    return stem in measures and not {"representation", "subordination"}.isdisjoint(stem.split("_"))


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
    return Codebook(field, f"Labels of {label}", words, (question,))


def items_of(run: Run, draw: Draw, *, with_prompt: bool = True) -> list[SheetItem]:
    """Return what was drawn as items of a sheet, in its order.

    With the prompt an item has the people whom annotator or prompt name, too. Without, raters see
    the text alone, and nothing leads them.
    """
    texts = list(texts_of_draw(run, draw))
    prompts = read_prompts(run.prompts_path, words="text") if with_prompt else {}
    strata = {text_id: prompts.get(prompt_id, {}) for (text_id, _), prompt_id, _ in texts}
    annotated = with_prompt and people_parts(run)
    people = dict(run_people(run, strata)) if annotated else {}
    items = []
    for (text_id, unit), prompt_id, text in texts:
        row, roles = strata[text_id], _roles(strata[text_id])
        # Whom the prompt asks for is asked about, also where the annotator found nobody
        in_prompt = {"subject": roles.subject, "object": row and roles.has_object}
        slots = [slot for slot, is_asked in in_prompt.items() if is_asked]
        slots += [person.slot for person in people.get(text_id, ())]
        items.append(
            SheetItem(
                text_id,
                text,
                unit,
                row.get("text", ""),
                prompt_id,
                draw.texts[text_id, unit],
                {slot: row.get(f"{slot}_role", "") for slot in dict.fromkeys(slots)},
            )
        )
    return items
