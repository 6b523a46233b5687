"""Paired tables for tests: made from texts, or by hand from shares and scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate import annotate_run
from portrayal.measure.pairs.table import Deal, Level, Paired, Texts, pair_texts
from portrayal.measure.scope import Scope
from portrayal.records import Estimate
from topic_run import paired_run


def made(pair: str | None, text: str, model: str = "m", form: str = "plain", **more: Any) -> dict:
    """Return one generated text as a user's file would have it."""
    return {"pair": pair or "", "text": text, "model": model, "form": form, **more}


def original(pair: str | None, text: str, **more: Any) -> dict:
    """Return one original."""
    return {"pair": pair or "", "text": text, "model": "people", **more}


def read(
    path: Path,
    human: Sequence[dict],
    generated: Sequence[dict],
    *,
    sentiment: bool = False,
    shard_rows: int = 1000,
) -> Paired:
    """Import, annotate and pair these texts."""
    run = paired_run(path, human, generated, shard_rows=shard_rows)
    if sentiment:
        for reference in (False, True):
            annotate_run(run, "sentiment.v1", reference=reference)
    return pair_texts(run, sentiment=sentiment)


def level(
    generated: Sequence[Sequence[float]],
    reference: Sequence[Sequence[float]],
    groups: Sequence[str] = ("F", "M"),
    deal: Deal | None = None,
    **more: Any,
) -> Level:
    """Return a level with these values; NaN where undefined."""
    ours, theirs = np.array(generated, dtype=float), np.array(reference, dtype=float)
    known = {
        "name": "word",
        "attribute": "gender",
        "lexicon": "own",
        "groups": tuple(groups),
    }
    dealer = None if deal is None else lambda _: deal
    values = {"generated": ours, "reference": theirs, "dealer": dealer}
    return Level(**(known | values | more))


def scores(generated: Any, reference: Any, name: str = "sentence_sentiment") -> Level:
    """Return a level of mean scores."""
    return level(generated, reference, name=name)


def rows(
    levels: Sequence[Level],
    *,
    pair: Sequence[int] | None = None,
    form: Sequence[int] | None = None,
    model: Sequence[int] | None = None,
    forms: Sequence[str] = ("plain",),
    models: Sequence[str] = ("m",),
) -> Paired:
    """Return a paired table whose rows have these levels; by default each its own pair."""
    n = len(levels[0].generated)
    codes = {"pair": pair, "form": form, "model": model}
    arrays = {
        name: np.array(range(n) if name == "pair" and code is None else code or [0] * n)
        for name, code in codes.items()
    }
    nothing = np.zeros(n, dtype=np.int64)
    texts = Texts(
        pair=arrays["pair"],
        model=arrays["model"],
        form=arrays["form"],
        outcome=nothing,
        words=np.full(n, 10.0),
        start=np.zeros(n + 1, dtype=np.int64),
        counts=np.zeros((0, 0)),
    )
    return Paired(
        pairs=tuple(f"p{i}" for i in range(n)),
        models=tuple(models),
        forms=tuple(forms),
        **arrays,
        text=np.arange(n),
        original=np.arange(n),
        unpaired=[""] * n,
        generated=texts,
        reference=texts,
        levels=tuple(levels),
    )


def quick(**settings: Any) -> Scope:
    """Return a scope that is fast."""
    return Scope("news", **({"draws": 200, "permutations": 20} | settings))


def one(estimates: Any, **where: str) -> Estimate:
    """Return the one estimate whose strata and group are these."""
    found = [e for e in estimates if {**e.strata, **e.group}.items() >= where.items()]
    assert len(found) == 1, (where, len(found))
    return found[0]
