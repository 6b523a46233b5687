"""The prompts of a study in a TOML file: a list, templates and their values, or another file."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from portrayal.collect.promptfile import read_prompts
from portrayal.errors import DataError
from portrayal.records import Prompt
from portrayal.reference.located import Keys, Located
from portrayal.studies.stories import LADEN, NEUTRAL, story_fields

_SLOT = re.compile(r"\{([^{}]*)\}")
_ROLES = {"powerful": "subject_role", "less_powerful": "object_role",
          "person": "subject_role", "other": "object_role"}  # fmt: skip
_NO_ROLE = "person"
"""Whom a prompt is about that does not say it."""


def read_own_prompts(file: Located, folder: Path) -> tuple[Prompt, ...]:
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
    made: list[Prompt] = []
    ids: dict[str, int] = {}
    texts: dict[str, int] = {}
    for keys, entry in _entries(file, folder):
        prompt = _prompt(file, keys, entry, len(made) + 1)
        line = file.line(keys)
        for what, value, held in (
            ("id", prompt.prompt_id, ids),
            ("text", " ".join(prompt.text.split()), texts),
        ):
            if value in held:
                raise file.wrong(
                    keys,
                    f"the prompt {prompt.prompt_id!r} has the same {what} as the one of line "
                    f"{held[value]}; each needs its own, as intervals resample prompts.",
                )
            held[value] = line
        made.append(prompt)
    if not made:
        raise file.wrong(
            (),
            "there are no prompts: expected 'prompts' (a list of texts, or a file), [[prompt]] "
            "or [[template]].",
        )
    return tuple(made)


def _entries(file: Located, folder: Path) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    """Every prompt as it is written, with its place in the file."""
    said = file.table.get("prompts", [])
    if isinstance(said, str):
        path = folder / said
        if not path.is_file():
            raise file.wrong(("prompts",), f"there is no file {path}.")
        loose = story_fields(laden=False, read=False)
        for prompt in read_prompts(path, loose):
            yield ("prompts",), {"id": prompt.prompt_id, "text": prompt.text, **prompt.strata}
    elif isinstance(said, list):
        for i, text in enumerate(said):
            yield ("prompts", i), {"text": text}
    else:
        raise file.wrong(("prompts",), "expected a list of texts, or the name of a file.")
    for key in ("prompt", "template"):
        listed = file.table.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            raise file.wrong((key,), f"expected tables, each headed [[{key}]].")
        for i, entry in enumerate(listed):
            if key == "prompt":
                yield (key, i), entry
            else:
                yield from (((key, i), each) for each in _filled(file, (key, i), entry))


def _filled(file: Located, here: Keys, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A template with each combination of its values, which become strata where they vary."""
    values = entry.get("values", {})
    if not isinstance(values, dict) or not values:
        raise file.wrong((*here, "values"), 'expected lists: values = { job = ["nurse", …] }.')
    for name, listed in values.items():
        if (
            not isinstance(listed, list)
            or not listed
            or not all(isinstance(v, str) for v in listed)
        ):
            raise file.wrong((*here, "values", name), "expected a list of texts.")
    own = {key: value for key, value in entry.items() if key != "values"}
    for slot in _SLOT.findall(str(own.get("text", ""))):
        if slot not in values:
            raise file.wrong(
                (*here, "text"), f"{{{slot}}} has no values; there are {', '.join(values)}."
            )
    for combination in product(*values.values()):
        of = dict(zip(values, combination, strict=True))
        filled = {key: _fill(value, of) for key, value in own.items()}
        # As read aloud, "a" stands before consonants only; prompts say "a {job}" for both.
        filled["text"] = re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", str(filled.get("text", "")))
        filled.setdefault("id", "-".join(map(_slug, (str(here[1]), *combination))))
        yield {**of, **filled}


def _fill(value: Any, of: Mapping[str, str]) -> Any:
    return _SLOT.sub(lambda m: of.get(m[1], m[0]), value) if isinstance(value, str) else value


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text.casefold()).strip("-") or "x"


def _prompt(file: Located, here: Keys, entry: Mapping[str, Any], number: int) -> Prompt:
    """One prompt, its people as roles, and whether one depends on the other."""
    strata: dict[str, str] = {}
    for key, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise file.wrong((*here, key), f"expected text; got {value!r}.")
        if str(value).strip():
            strata[key] = str(value).strip()
    text = strata.pop("text", "")
    if not text:
        raise file.wrong(here, "a prompt has no 'text'.")
    prompt_id = strata.pop("id", f"prompt-{number}")
    laden = "powerful" in strata or "less_powerful" in strata
    if laden and not {"powerful", "less_powerful"} <= strata.keys():
        raise file.wrong(here, f"{prompt_id!r}: give both 'powerful' and 'less_powerful'.")
    if laden and ({"person", "other"} & strata.keys()):
        raise file.wrong(here, f"{prompt_id!r}: 'powerful' and 'person' exclude one another.")
    for key, role in _ROLES.items():
        if key in strata:
            strata[role] = strata.pop(key)
    strata.setdefault("subject_role", _NO_ROLE)
    stated = strata.get("condition", LADEN if laden else NEUTRAL)
    try:
        strata["condition"] = str(story_fields(laden=True).canonical("condition", stated))
    except DataError:
        raise file.wrong(
            (*here, "condition") if "condition" in entry else here,
            f"expected power-neutral or power-laden; got {stated!r}.",
        ) from None
    return Prompt(prompt_id, text, strata)
