"""Pairs: which reference text each audited text belongs to, and what a model is asked about."""

import dataclasses
from typing import TYPE_CHECKING, Any

from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.collect.ask.asking import Asking
    from portrayal.run import Run
    from portrayal.studies.study import Study


def pairing(study: "Study", reference: Any, pair_by: str | None) -> dict[str, str]:
    """Return the column mapping that pairs texts with reference texts.

    Raises
    ------
    OptionError
        When the study knows no reference, or a column is named for nothing.
    """
    if study.pair_field is None:
        if reference is not None or pair_by is not None:
            raise OptionError(f"{study.name} compares texts with no reference; leave it out.")
        return {}
    return {} if pair_by is None else {study.pair_field: pair_by}


def about_pairs(run: "Run", study: "Study", asking: "Asking") -> "Asking":
    """Return `asking` with the run's reference as what the prompts are made from.

    A prompt file, or headlines that the user named, are left as they are.
    """
    options = dict(asking.prompt_options)
    if study.pair_field is None or asking.prompts is not None or "headlines" in options:
        return asking
    return dataclasses.replace(asking, prompt_options={"headlines": _pairs(run, study), **options})


def _pairs(run: "Run", study: "Study") -> list[dict[str, str]]:
    """Return the strata of each reference text, under the names that prompt makers read."""
    from portrayal.run import read_prompts

    return [
        {"headline": strata[str(study.pair_field)]}
        | {name: strata[name] for name in ("domain", "source") if name in strata}
        for strata in read_prompts(run.reference_prompts_path).values()
    ]
