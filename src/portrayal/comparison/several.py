"""Many models at once: each beside a base, and a summary over all by random effects."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.comparison.compare import MARGIN, compare, side_of
from portrayal.comparison.matching import Key, Side, rows_of
from portrayal.comparison.result import Comparison, Scale, flat_change
from portrayal.comparison.sums import measured, sums_of
from portrayal.errors import OptionError
from portrayal.measure.scope import with_q_values
from portrayal.records import ALL, Estimate, Test
from portrayal.stats import benjamini_hochberg, holm, random_effects
from portrayal.stats.roles import fewest_prompts
from portrayal.types import FloatArray

FEWEST_MODELS = 3
"""Models that a summary takes."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One estimate over several models, by random effects.

    Attributes
    ----------
    measure, statistic, strata, group
        Which estimate, all models apart.
    scale
        "ratio" where logarithms were summarised: `spread` is then a factor.
    n_models, n_prompts
        Models with a value, and prompts that any of them answers.
    value, low, high
        Mean of the population of models, with its interval.
    least, most
        Where a further model would lie (prediction interval).
    spread
        Standard deviation between models beyond noise; e to its power for ratios, 1 being none.
    p, q
        Of no difference between the models, and Benjamini and Hochberg's q of its measure.
    undefined
        Why there is none; None where there is.
    """

    measure: str
    statistic: str
    strata: Mapping[str, str]
    group: Mapping[str, str]
    scale: Scale
    n_models: int
    n_prompts: int = 0
    value: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None
    spread: float | None = None
    p: float | None = None
    q: float | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class Several:
    """Several sides beside one base.

    Attributes
    ----------
    base
        The base by name.
    comparisons
        Of each other side with the base. `audit_q` is of all of them together, and `p_family` of a
        row holds the error of all sides for that estimate (Holm).
    summaries
        Of every estimate over all sides, the base among them.
    """

    base: str
    comparisons: tuple[Comparison, ...]
    summaries: tuple[Summary, ...]

    def to_pandas(self) -> Any:
        """Return a DataFrame of all changes, with the sides in `a` and `b`."""
        import pandas as pd

        rows = [
            {"a": each.a, "b": each.b, **flat_change(row)}
            for each in self.comparisons
            for row in each.rows
        ]
        return pd.DataFrame(rows)


def compare_several(
    sides: Sequence[Any],
    *,
    level: float = 0.95,
    margin: float = MARGIN,
    difference_margin: float | None = None,
    despite: Collection[str] = (),
    seed: int = 0,
) -> Several:
    """Compare several runs, or models of runs, with the first of them.

    Parameters
    ----------
    sides
        What `compare` takes, two or more; each of one model, if they are more than two.
    level, margin, difference_margin, despite, seed
        As in `compare`.

    Raises
    ------
    OptionError, RunError
        As `compare`, and where a side has several models.
    """
    found = [side_of(each) for each in sides]
    if len(found) < 2:
        raise OptionError("a comparison takes two sides or more.")
    for side in found if len(found) > 2 else ():
        if len(side.models) > 1:
            raise OptionError(
                f"{side.name} has several models; compare them with each other by --by model."
            )
    base, *others = found
    made = [
        compare(
            base,
            other,
            level=level,
            margin=margin,
            difference_margin=difference_margin,
            despite=despite,
            seed=seed,
        )
        for other in others
    ]
    return Several(base.name, _in_one_family(made), _summaries(found, level))


def models_of(side: Side, base: str | None) -> list[Side]:
    """Return the models of a run as sides, the base first; the first by name without one.

    Raises
    ------
    OptionError
        Where the run has fewer than two models, or not the base.
    """
    models: list[str] = side.run.settings().get("models", [])
    if len(models) < 2:
        raise OptionError(f"{side.run.path} has one model; name a second run to compare it with.")
    chosen = models[0] if base is None else base
    if chosen not in models:
        raise OptionError(f"{side.run.path} has no model {chosen!r}; models: {', '.join(models)}.")
    ordered = [chosen, *(model for model in models if model != chosen)]
    return [Side(side.run, model) for model in ordered]


def _in_one_family(made: list[Comparison]) -> tuple[Comparison, ...]:
    """Adjust p over the sides of each estimate, and `audit_q` over all that is stated."""
    if len(made) < 2:
        return tuple(made)
    table: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for c, each in enumerate(made):
        for r, row in enumerate(each.rows):
            key = (
                row.measure,
                row.statistic,
                frozenset(row.strata.items()),
                frozenset(row.group.items()),
            )
            table[key].append((c, r))
    rows = [list(each.rows) for each in made]
    for places in table.values():
        p = holm([np.nan if (x := rows[c][r].p) is None else x for c, r in places])
        for (c, r), value in zip(places, p.tolist(), strict=True):
            rows[c][r] = replace(rows[c][r], p_family=None if np.isnan(value) else value)
    stated = [(c, r) for c, each in enumerate(rows) for r, row in enumerate(each) if row.stated]
    q = benjamini_hochberg([np.nan if (x := rows[c][r].p) is None else x for c, r in stated])
    for (c, r), value in zip(stated, q.tolist(), strict=True):
        rows[c][r] = replace(rows[c][r], audit_q=None if np.isnan(value) else value)
    return tuple(replace(each, rows=tuple(own)) for each, own in zip(made, rows, strict=True))


def _summaries(sides: list[Side], level: float) -> tuple[Summary, ...]:
    """Summarise every estimate over sides of one model each; none for fewer than three."""
    if len(sides) < FEWEST_MODELS:
        return ()
    indices = [rows_of(side, side.models[0]) for side in sides]
    keys = [key for key in indices[0] if all(key in index for index in indices)]
    return tuple(_with_q([_summary(sides, indices, key, level) for key in keys]))


def _summary(sides: list[Side], indices: list[dict[Key, int]], key: Key, level: float) -> Summary:
    first = sides[0].run.records[indices[0][key]]
    scale: Scale = "ratio" if first.statistic == "ratio" else "difference"
    strata = {name: value for name, value in first.strata.items() if name != "model"}
    blank = Summary(first.measure, first.statistic, strata, first.group, scale, 0)
    parts = [_values(side, index[key], scale) for side, index in zip(sides, indices, strict=True)]
    known = [part for part in parts if part is not None]
    if len(known) < FEWEST_MODELS:
        why = f"{len(known)} of {len(sides)} models have sums by prompt; a summary needs 3"
        return replace(blank, n_models=len(known), undefined=why)
    prompts = {name: i for i, name in enumerate(sorted({n for part in known for n in part[0]}))}
    fewest = fewest_prompts(level)
    if len(prompts) < fewest:
        why = f"{len(prompts)} prompts say too little of the models' noise; {fewest} are needed"
        return replace(blank, n_models=len(known), n_prompts=len(prompts), undefined=why)
    influence = np.zeros((len(known), len(prompts), 1))
    for i, (names, _, moved) in enumerate(known):
        influence[i, [prompts[name] for name in names], 0] = moved
    values = np.array([[value] for _, value, _ in known])
    found = random_effects(values, influence, level)

    def shown(x: FloatArray) -> float | None:
        number = float(np.exp(x[0])) if scale == "ratio" else float(x[0])
        return number if np.isfinite(number) else None

    p = float(found.p[0])
    defined = not np.isnan(found.value[0])
    return replace(
        blank,
        n_models=int(found.n_sources[0]),
        n_prompts=len(prompts),
        value=shown(found.value),
        low=shown(found.low),
        high=shown(found.high),
        least=shown(found.least),
        most=shown(found.most),
        spread=shown(found.sd),
        p=None if np.isnan(p) else p,
        undefined=None if defined else "fewer than three models have a value",
    )


def _values(side: Side, row: int, scale: Scale) -> tuple[list[str], float, FloatArray] | None:
    """Prompts, value and influences of one estimate; None where it keeps no sums."""
    found = side.run.influences
    if found.reasons[row] is not None:
        return None
    value = np.array([side.run.records[row].value], dtype=np.float64)
    made = measured(sums_of(found, np.array([row]), value, log=scale == "ratio"))
    at = slice(int(found.starts[row]), int(found.starts[row + 1]))
    names = [found.labels[code] for code in found.prompt[at].tolist()]
    return names, float(made.value[0]), made.influence[:, 0]


def _with_q(rows: list[Summary]) -> list[Summary]:
    """Add q of the tests of each measure."""
    made = [
        Estimate(
            "",
            row.measure,
            row.statistic,
            "",
            {**row.strata, "model": ALL},
            row.group,
            0.0,
            tests=() if row.p is None else (Test(row.p, ""),),
        )
        for row in rows
    ]
    return [
        replace(row, q=each.tests[0].q if each.tests else None)
        for row, each in zip(rows, with_q_values(made), strict=True)
    ]
