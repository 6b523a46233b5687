"""Sample: which texts go to the raters, drawn at random within strata."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from portrayal.errors import DataError, OptionError
from portrayal.run.directory import Run
from portrayal.validate import check_count, check_seed

BY = ("domain", "condition", "model")
"""What strata are made of, as far as the texts have it."""
_SEPARATOR = " · "
_COLUMNS = ["text_id", "prompt_id", "model", "text", "outcome"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One text of the sample.

    Attributes
    ----------
    facts
        `text_id`, `prompt_id`, `model`, `text` and the strata of its prompt.
    stratum, stratum_size
        The stratum it was drawn from, and how many readable texts that has.
    """

    facts: Mapping[str, str]
    stratum: str
    stratum_size: int


def readable_texts(run: Run) -> Iterator[dict[str, str]]:
    """Yield the texts of a run with the outcome "ok", with the strata of their prompts."""
    prompts = {
        row["prompt_id"]: dict(row["strata"]) for row in pq.read_table(run.prompts_path).to_pylist()
    }
    for part in run.texts.parts():
        for row in pq.read_table(part, columns=_COLUMNS).to_pylist():
            if row.pop("outcome") == "ok" and row["text"]:
                yield {**prompts[row["prompt_id"]], **row}


def draw(
    texts: Iterable[Mapping[str, Any]], n: int, *, by: Sequence[str] | None = None, seed: int = 0
) -> list[Drawn]:
    """Draw `n` texts at random, as evenly over the strata as their sizes allow.

    Parameters
    ----------
    texts
        Mappings with `text_id`, `prompt_id`, `model`, `text` and strata.
    n
        Texts to draw; all of them where there are not as many.
    by
        Attributes that make the strata; `BY` as far as the texts have it where None.
    seed
        Start of the random stream; the same texts and seed give the same sample.

    Returns
    -------
    list of Drawn
        In random order, so that the first rows of a sheet are a random sample as well.

    Raises
    ------
    OptionError
        When an attribute is unknown, or there are more strata than texts to draw.
    DataError
        When there is no text.
    """
    check_count("n", n, minimum=1)
    check_seed(seed)
    found = sorted(texts, key=lambda row: row["text_id"])
    if not found:
        raise DataError("there is no readable text to label; expected texts with the outcome ok.")
    attributes = _attributes(found, by)
    strata: dict[str, list[Mapping[str, Any]]] = {}
    for row in found:
        key = _SEPARATOR.join(str(row.get(name) or "–") for name in attributes) or "all"
        strata.setdefault(key, []).append(row)
    sizes = _shared_out(min(n, len(found)), [len(rows) for rows in strata.values()])
    if min(sizes) == 0:
        raise OptionError(
            f"{len(strata)} strata need at least as many texts; got n = {n}. Raise --n, or give "
            "fewer attributes with --by."
        )
    rng = np.random.default_rng(seed)
    drawn = [
        Drawn(dict(rows[i]), key, len(rows))
        for (key, rows), size in zip(strata.items(), sizes, strict=True)
        for i in rng.permutation(len(rows))[:size].tolist()
    ]
    return [drawn[i] for i in rng.permutation(len(drawn)).tolist()]


def _attributes(texts: Sequence[Mapping[str, Any]], by: Sequence[str] | None) -> tuple[str, ...]:
    known = dict.fromkeys(name for row in texts for name in row)
    if by is None:
        return tuple(name for name in BY if name in known)
    for name in by:
        if name not in known or name == "text":
            raise OptionError(
                f"texts have no {name!r} to draw by; they have: "
                f"{', '.join(key for key in known if key != 'text')}."
            )
    return tuple(by)


def _shared_out(n: int, sizes: Sequence[int]) -> list[int]:
    """Share `n` out over strata as evenly as their sizes allow; what is over goes to the larger."""
    shares = [0] * len(sizes)
    left = n
    while left:
        room = [i for i, size in enumerate(sizes) if shares[i] < size]
        each, over = divmod(left, len(room))
        for i in room:
            shares[i] += min(each, sizes[i] - shares[i])
        if each == 0:
            for i in sorted(room, key=lambda i: (-sizes[i], i))[:over]:
                shares[i] += 1
        left = n - sum(shares)
    return shares
