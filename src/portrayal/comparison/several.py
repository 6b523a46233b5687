"""Many models at once: each beside a base, and a summary over all by random effects."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.comparison.compare import MARGIN, compare
from portrayal.comparison.matching import Side, rows_of, side_of
from portrayal.comparison.result import Comparison, Scale, flat_change
from portrayal.comparison.sums import Numbering, measured
from portrayal.errors import OptionError
from portrayal.measure.scope import with_q_values
from portrayal.records import ALL, LIKE_THESE, Estimate, Population, Test
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
            {"a": comparison.a, "b": comparison.b, **flat_change(row)}
            for comparison in self.comparisons
            for row in comparison.rows
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
    aliases: Mapping[str, str] | None = None,
    population: Population = LIKE_THESE,
) -> Several:
    """Compare several runs, or models of runs, with the first of them.

    Parameters
    ----------
    sides
        What `compare` takes, two or more; each of one model, if they are more than two.
    level, margin, difference_margin, despite, seed, aliases, population
        As in `compare`.

    Raises
    ------
    OptionError, RunError
        As `compare`, and where a side has several models.
    """
    all_sides = [side_of(entry) for entry in sides]
    if len(all_sides) < 2:
        raise OptionError("a comparison takes two sides or more.")
    # Of two sides, models can be matched; of more, each must be one for a summary.
    for side in all_sides if len(all_sides) > 2 else ():
        if len(side.models) > 1:
            raise OptionError(
                f"{side.name} has several models; compare them with each other by --by model."
            )
    base, *other_sides = all_sides
    comparisons = [
        compare(
            base,
            other,
            level=level,
            margin=margin,
            difference_margin=difference_margin,
            despite=despite,
            seed=seed,
            aliases=aliases,
            population=population,
        )
        for other in other_sides
    ]
    return Several(base.name, _in_one_family(comparisons), _summaries(all_sides, level))


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
    first = models[0] if base is None else base
    if first not in models:
        raise OptionError(f"{side.run.path} has no model {first!r}; models: {', '.join(models)}.")
    ordered = [first, *(model for model in models if model != first)]
    return [Side(side.run, model) for model in ordered]


def _in_one_family(pairs: list[Comparison]) -> tuple[Comparison, ...]:
    """Adjust p over the sides of each estimate, and `audit_q` over all that is stated."""
    if len(pairs) < 2:
        return tuple(pairs)
    # By place, so that adjusted rows go back into the comparison they are from.
    rows = {(c, r): row for c, pair in enumerate(pairs) for r, row in enumerate(pair.rows)}
    families: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for key, row in rows.items():
        strata, group = frozenset(row.strata.items()), frozenset(row.group.items())
        families[row.measure, row.statistic, strata, group].append(key)
    keys = [key for key, row in rows.items() if row.stated]

    def adjusted(name: str, members: list[tuple[int, int]], adjust: Any) -> None:
        p = [np.nan if (p := rows[key].p) is None else p for key in members]
        for key, value in zip(members, adjust(p).tolist(), strict=True):
            number: Any = None if np.isnan(value) else value
            rows[key] = replace(rows[key], **{name: number})

    for members in families.values():
        # All sides share the base and so its chance; Holm holds however tests depend on each other.
        adjusted("p_family", members, holm)
    adjusted("audit_q", keys, benjamini_hochberg)
    return tuple(
        replace(pair, rows=tuple(rows[c, r] for r in range(len(pair.rows))))
        for c, pair in enumerate(pairs)
    )


def _summaries(sides: list[Side], level: float) -> tuple[Summary, ...]:
    """Summarise every estimate over sides of one model each; none for fewer than three."""
    if len(sides) < FEWEST_MODELS:
        return ()
    prompts = Numbering([side.run for side in sides])
    indices = [rows_of(side, side.models[0]) for side in sides]
    rows = [
        _summary(sides, [index[key] for index in indices], prompts, level)
        for key in indices[0]
        if all(key in index for index in indices)
    ]
    tested = [
        # Families of q are made of estimates, so each summary goes as one.
        Estimate("", row.measure, row.statistic, "", {**row.strata, "model": ALL}, row.group, 0.0)
        for row in rows
    ]
    tested = [
        estimate if row.p is None else replace(estimate, tests=(Test(row.p, ""),))
        for row, estimate in zip(rows, tested, strict=True)
    ]
    return tuple(
        replace(row, q=estimate.tests[0].q if estimate.tests else None)
        for row, estimate in zip(rows, with_q_values(tested), strict=True)
    )


def _summary(sides: list[Side], rows: list[int], prompts: Numbering, level: float) -> Summary:
    """Summarise one estimate over sides, by its row in each."""
    first = sides[0].run.records[rows[0]]
    strata = {name: value for name, value in first.strata.items() if name != "model"}
    scale: Scale = "ratio" if first.statistic == "ratio" else "difference"
    blank = Summary(first.measure, first.statistic, strata, first.group, scale, 0)
    sums = [
        prompts.sums(number, [row])
        for number, (side, row) in enumerate(zip(sides, rows, strict=True))
        if side.run.influences.reasons[row] is None
    ]
    blank = replace(blank, n_models=len(sums))
    if len(sums) < FEWEST_MODELS:
        reason = f"{len(sums)} of {len(sides)} models have sums by prompt; a summary needs 3"
        return replace(blank, undefined=reason)
    code, fewest = np.unique(np.concatenate([part.prompts for part in sums])), fewest_prompts(level)
    blank = replace(blank, n_prompts=len(code))
    # The noise of each model is told from its prompts alone.
    if len(code) < fewest:
        reason = f"{len(code)} prompts say too little of the models' noise; {fewest} are needed"
        return replace(blank, undefined=reason)
    values, influence = np.zeros((len(sums), 1)), np.zeros((len(sums), len(code), 1))
    for i, part in enumerate(sums):
        model = measured(part)
        values[i] = model.value
        # A prompt that a model did not answer has no influence on it.
        influence[i, np.searchsorted(code, part.prompts)] = model.influence
    effects = random_effects(values, influence, level)

    def shown(x: FloatArray) -> float | None:
        number = float(np.exp(x[0])) if scale == "ratio" else float(x[0])
        return number if np.isfinite(number) else None

    # Back from logarithms: ratios are shown as ratios, their spread as a factor.
    p = float(effects.p[0])
    defined = not np.isnan(effects.value[0])
    return replace(
        blank,
        n_models=int(effects.n_sources[0]),
        value=shown(effects.value),
        low=shown(effects.low),
        high=shown(effects.high),
        least=shown(effects.least),
        most=shown(effects.most),
        spread=shown(effects.sd),
        p=None if np.isnan(p) else p,
        undefined=None if defined else "fewer than three models have a value",
    )
