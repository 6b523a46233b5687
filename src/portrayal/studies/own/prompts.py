"""The prompts of a study in a TOML file: a list, templates and their values, or another file."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from portrayal.collect.promptfile import PromptEntry, distinct, fill, read_prompts, slots_of
from portrayal.errors import DataError
from portrayal.records import Prompt
from portrayal.reference.datafile import DataFile, Keys, Word
from portrayal.studies.stories import LADEN, NEUTRAL, story_fields

_ROLES = {"powerful": "subject_role", "less_powerful": "object_role",
          "person": "subject_role", "other": "object_role"}  # fmt: skip
_NO_ROLE = "person"
"""Whom a prompt is about that does not say it."""


def read_own_prompts(file: DataFile, folder: Path) -> tuple[Prompt, ...]:
    """Return the prompts of a study, each with its own id and text.

    `powerful` and `less_powerful` are the two people of a prompt in which one depends on the other,
    `person` and `other` those of one in which no one does.

    Parameters
    ----------
    file, folder
        The study, and where the files that it names stand.

    Raises
    ------
    DataError
        With file, line and key, and what was expected.
    """
    entries = enumerate(_entries(file, folder), 1)
    # Numbered in the order of the file, which ids of prompts without one are made of.
    built = distinct((_prompt(entry, number), entry) for number, entry in entries)
    if not built:
        raise file.wrong(
            (),
            "there are no prompts: expected 'prompts' (a list of texts, or a file), [[prompt]] "
            "or [[template]].",
        )
    return built


def _entries(file: DataFile, folder: Path) -> Iterator[PromptEntry]:
    """Every prompt as it is written, with its place in the file."""

    def entry(table: Mapping[str, Any], keys: Keys) -> PromptEntry:
        return PromptEntry(table, file, keys)

    entries = file.table.get("prompts", [])
    # One key for a list in place or the name of a file, as either is the prompts.
    if isinstance(entries, str):
        path = folder / file.beside(("prompts",), entries)
        for prompt in read_prompts(path, story_fields(laden=False, read=False)):
            table = {"id": prompt.prompt_id, "text": prompt.text, **prompt.strata}
            yield entry(table, ("prompts",))
    else:
        for i, text in enumerate(entries):
            yield entry({"text": text}, ("prompts", i))
    # Single prompts come before templates, however the file mixes them.
    for i, table in enumerate(file.table.get("prompt", ())):
        yield entry(table, ("prompt", i))
    for i in range(len(file.table.get("template", ()))):
        for table in _filled(file, ("template", i)):
            yield entry(table, ("template", i))


def _filled(file: DataFile, keys: Keys) -> Iterator[dict[str, Any]]:
    """A template in each wording with each combination of its values.

    The values are strata where they vary, and so is the number of the wording of a list of texts.
    """
    template = file.at(keys)
    wordings = (str(template.get("text", "")),)
    if isinstance(template.get("text"), list):
        wordings = file.value(tuple[Word, ...], (*keys, "text"))
        if not wordings:
            raise file.wrong((*keys, "text"), "the list is empty: expected a text or more.")
    elif not template.get("values"):
        raise file.wrong(keys, 'expected lists: values = { job = ["nurse", …] }.')
    values: Mapping[str, tuple[str, ...]] = {}
    if template.get("values"):
        values = file.value(Mapping[str, tuple[Word, ...]], (*keys, "values"))
    # Every wording is looked at, as a slot may stand in one alone.
    for slot in slots_of(" ".join(wordings)):
        if not values.get(slot):
            names = ", ".join(values) or "none"
            raise file.wrong((*keys, "text"), f"{{{slot}}} has no values; there are {names}.")
    # Made one by one, as lists of values may make more prompts than fit into memory.
    filled_in = (
        (number, text, combination)
        for number, text in enumerate(wordings, 1)
        for combination in product(*values.values())
    )
    for number, text, combination in filled_in:
        of = dict(zip(values, combination, strict=True))
        # The text and every other key of the template may have slots.
        filled = {
            key: fill(value, of) if isinstance(value, str) else value
            for key, value in (template | {"text": text}).items()
            if key != "values"
        }
        # Ids say what a prompt was made of, in signs that every file and shell takes.
        slugs = [re.sub(r"[\W_]+", "-", v.casefold()).strip("-") or "x" for v in combination]
        of |= {"wording": str(number)} if len(wordings) > 1 else {}
        slugs += [str(number)] * (len(wordings) > 1)
        yield {**of, "id": "-".join((str(keys[1]), *slugs)), **filled}


def _prompt(entry: PromptEntry, number: int) -> Prompt:
    """One prompt, its people as roles, and whether one depends on the other."""
    strata = entry.cells
    text = strata.pop("text", "")
    if not text:
        raise entry.wrong("text", "a prompt has no 'text'.")
    prompt_id = strata.pop("id", f"prompt-{number}")
    laden = "powerful" in strata or "less_powerful" in strata
    # One of the two people alone leaves it open who depends on whom.
    if laden and not {"powerful", "less_powerful"} <= strata.keys():
        raise entry.wrong("powerful", f"{prompt_id!r}: give both 'powerful' and 'less_powerful'.")
    # A prompt is laden or neutral, never both.
    if laden and ({"person", "other"} & strata.keys()):
        raise entry.wrong("person", f"{prompt_id!r}: 'powerful' and 'person' exclude one another.")
    for key, role in _ROLES.items():
        if key in strata:
            strata[role] = strata.pop(key)
    # Reading people takes a role to look for.
    strata.setdefault("subject_role", _NO_ROLE)
    condition = strata.get("condition", LADEN if laden else NEUTRAL)
    try:
        strata["condition"] = str(story_fields(laden=True).canonical("condition", condition))
    except DataError:
        raise entry.wrong(
            "condition", f"expected power-neutral or power-laden; got {condition!r}."
        ) from None
    return Prompt(prompt_id, text, strata)
