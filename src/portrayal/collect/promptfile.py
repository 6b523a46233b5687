"""Prompt files: one's own prompts in the format of the studies', read, checked and written.

A *prompt file* holds one entry per prompt: `id`, `text`, and the strata that the study varies. As
TOML it has one `[[prompt]]` table per entry; as CSV, JSON lines, Parquet or Excel one row with a
column for each.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from portrayal.collect.fields import TextFields
from portrayal.collect.sources import open_source
from portrayal.collect.tables import missing, restored
from portrayal.errors import DataError
from portrayal.records import Prompt
from portrayal.types import Tabular

_IDS, _TEXTS = ("id", "prompt_id"), ("text", "prompt")


def read_prompts(path: Tabular, fields: TextFields) -> tuple[Prompt, ...]:
    """Read and check the prompts of a file.

    Parameters
    ----------
    path
        A `.toml` file as `studies/laissez_faire/prompts.toml`, or any file or table that
        `open_source` reads, with the columns `id` (or `prompt_id`), `text` (or `prompt`) and one
        for each stratum. Blank cells count as absent; columns the study does not know become
        strata too.
    fields
        What the study wants to know of each prompt.

    Returns
    -------
    tuple of Prompt
        In the order of the file, strata spelled as the study spells them.

    Raises
    ------
    DataError
        Naming file, entry and what to do: no text, a text or id that occurs twice, a stratum that
        is missing, or a value the study does not know.
    """
    if isinstance(path, str):
        path = Path(path)
    name = str(path) if isinstance(path, Path) else "the prompts"
    made: list[Prompt] = []
    seen: dict[tuple[str, str], str] = {}
    for number, entry in enumerate(_entries(path), 1):
        prompt = _prompt(entry, f"{name}: prompt {number}", fields)
        where = f"{name}: prompt {number} ({prompt.prompt_id!r})"
        for kind, value in (("id", prompt.prompt_id), ("text", " ".join(prompt.text.split()))):
            if (kind, value) in seen:
                raise DataError(
                    f"{where} has the same {kind} as {seen[kind, value]}. Each prompt needs its "
                    f"own {kind}: it is the unit that intervals resample. Ask one prompt several "
                    "times with --samples."
                )
            seen[kind, value] = f"prompt {number}"
        made.append(prompt)
    if not made:
        raise DataError(f"{name}: no prompts were found; expected one [[prompt]] table for each.")
    return tuple(made)


def _entries(path: Tabular) -> Iterator[Mapping[str, Any]]:
    if not (isinstance(path, Path) and path.suffix.casefold() == ".toml"):
        for row in open_source(path).rows():
            yield {k: restored(v) if isinstance(v, str) else v for k, v in row.items()}
        return
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file.") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not valid TOML in UTF-8 ({error}).") from error
    found = content.get("prompt", [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise DataError(f"{path}: each prompt must be a table of its own, headed [[prompt]].")
    unknown = ", ".join(repr(name) for name in content if name != "prompt")
    if unknown:
        raise DataError(f"{path}: expected only [[prompt]] tables; found {unknown} beside them.")
    yield from found


def _prompt(entry: Mapping[str, Any], where: str, fields: TextFields) -> Prompt:
    cells = {
        str(name).strip(): value for name, raw in entry.items() if (value := _cell(raw, where))
    }
    prompt_id = _take(cells, _IDS, where)
    where = f"{where} ({prompt_id!r})"
    text = _take(cells, _TEXTS, where)
    strata: dict[str, str] = {}
    for name, value in cells.items():
        known = fields.values.get(name, {})
        if known and value.casefold() not in known:
            expected = ", ".join(sorted(set(known.values())))
            raise DataError(f"{where}: {name} is {value!r}; write one of {expected}.")
        strata[name] = known[value.casefold()] if known else value
    missing = fields.missing(strata, labelled=False)
    if missing:
        found = ", ".join(strata) or "none"
        raise DataError(
            f"{where} lacks {' and '.join(missing)}, which the study needs; its strata: {found}. "
            f"Add {missing[0]} to the entry."
        )
    return Prompt(prompt_id, text, strata)


def _take(cells: dict[str, str], names: tuple[str, ...], where: str) -> str:
    """Take the cell of the first of `names` out of `cells`."""
    for name in names:
        if name in cells:
            return cells.pop(name)
    raise DataError(f"{where} has no {names[0]}. Give each prompt an {_IDS[0]} and a {_TEXTS[0]}.")


def _cell(value: Any, where: str) -> str:
    """Return a value as text; "" for blank and missing ones."""
    if missing(value):
        return ""
    if isinstance(value, (Mapping, list)):
        raise DataError(f"{where}: expected text or numbers, found {type(value).__name__}.")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # Excel keeps 20 as 20.0
    return str(value).strip()
