"""Corrected by hand: what all measures share whose labels people checked on a sample.

The sums and their inference are those of `stats/two_phase.py`; a measure gives what each unit adds
to its sums as the scorer and as people label it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from portrayal.errors import DataError
from portrayal.measure.clustered import Inference, inference
from portrayal.measure.scope import Scope
from portrayal.raters import HandTable
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen
from portrayal.stats.two_phase import TwoPhase, infer_two_phase

SHARE = "clustered effective binomial over prompts of a post-stratified share, draws included"
RATIO = "clustered effective binomial over prompts of post-stratified odds, draws included"
CONTRAST = "Student's t over prompts of corrected sums, draws included"
TEST = " (test)"
IMPOSSIBLE = "after the correction the share lies outside 0–1, or nobody is left"
FEWEST = 20
"""Hand-labelled units below which nothing is corrected."""


def labelled_texts(
    run: Run, table: HandTable, field: str, columns: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the rows of the texts that are labelled for a field, by what the labels call them.

    A label names a text as the run does (`text_id`), or as the user's file did.

    Raises
    ------
    DataError
        Where the run has no such text.
    """
    wanted = {text_id for text_id, _ in table.labels.get(field, ())}
    found: dict[str, dict[str, Any]] = {}
    for by in ("source_id", "text_id"):
        needed = [*dict.fromkeys(("text_id", "source_id", *columns))]
        for row in read_chosen(run.texts.parts(), needed, wanted, by=by):
            if found.setdefault(row[by], row)["text_id"] != row["text_id"]:
                raise DataError(
                    f"{table.path}: two texts of this run are called {row[by]!r}; name them by the "
                    "text_id that the run gave them (portrayal find)."
                )
    if strange := wanted - found.keys():
        raise DataError(
            f"{table.path}: this run has no text {min(strange)!r}; labels by hand correct the run "
            "whose texts were labelled."
        )
    return found


def too_few(labelled: Mapping[str, int], group: Mapping[str, str], carried: float) -> str | None:
    """Return why nothing can be corrected; None where there are hand labels enough.

    Parameters
    ----------
    labelled
        How many are labelled, by what they are ("text", "dominant character").
    group
        The group, and `carried`, how many of it are among them, by either label.
    carried
        As said.
    """
    for unit, n in labelled.items():
        if n < FEWEST:
            return f"{n} {unit}s are labelled by hand here, and a correction needs {FEWEST} or more"
    if not carried > 0:
        # A bound above 0 would leave out samples that by chance have few, and bend the mean.
        name = " ".join(group.values())
        return f"too few hand labels for so rare a group: no {name} is among them"
    return None


def moved_by(value: float, naive: float) -> dict[str, float]:
    """Return what the scorer alone gives, and by how much the correction moved it: for details."""
    found = {"naive": naive, "moved": value - naive}
    return {name: x for name, x in found.items() if np.isfinite(x)}


def corrected_inference(
    sums: TwoPhase, scope: Scope, *, scale: npt.ArrayLike = 1.0, tested: bool = True
) -> Inference:
    """Infer corrected shares over `scale`, tested against 1; also of these very prompts."""
    by = np.broadcast_to(np.asarray(scale, dtype=np.float64), sums.share.shape)
    null = by if tested else np.full_like(by, np.nan)
    found = infer_two_phase(sums, scope.level, null)
    here = infer_two_phase(sums, scope.level, null, fixed=True)
    parts = {name: getattr(found, name) / by for name in ("value", "low", "high")}
    named = inference(replace(found, **parts), SHARE, SHARE + TEST)
    return replace(named, fixed=(here.low / by, here.high / by, here.p))
