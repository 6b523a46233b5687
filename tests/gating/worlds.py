"""Runs of one estimate each, with the sums that a test wants, beside a real run's settings."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from portrayal.records import Estimate
from portrayal.run import Run
from portrayal.run.estimates import Influences

SHARE = 0.5


def holding(path: Path, records: list[Estimate], kept: Influences) -> Run:
    made = Run(path)
    made.__dict__.update(records=records, influences=kept)
    return made


def women_of(settings: Run) -> Estimate:
    (one,) = [
        e
        for e in settings.records
        if e.measure == "representation.v1"
        and e.group == {"gender": "F"}
        and e.strata["domain"] == "Learning"
        and e.strata["model"] != "all"
    ]
    return one


def run_of(settings: Run, count: list[float] | np.ndarray, total: float = 20.0) -> Run:
    """A run whose share of women by prompt is count / total, with its representation ratio."""
    counts = np.asarray(count, dtype=np.float64)
    totals = np.full(len(counts), total)
    value = float(counts.sum() / totals.sum() / SHARE)
    record = replace(women_of(settings), value=value, n_texts=int(totals.sum()), undefined=None)
    none = np.full(len(counts), np.nan)
    kept = Influences(
        tuple(map(str, range(len(counts)))),
        ("mean",),
        np.array([1.0 / SHARE]),
        (None,),
        np.array([0, len(counts)]),
        np.arange(len(counts)),
        (counts, totals, none, none),
    )
    return holding(settings.path, [record], kept)
