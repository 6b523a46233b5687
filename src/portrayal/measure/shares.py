"""Shares against a baseline: the estimates that representation of people and of couples share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from portrayal.measure.clustered import share_inference
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum
from portrayal.measure.tally import FloatArray
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.reference import NameTable
from portrayal.stats import (
    altman_bland_p,
    cohens_d,
    exact_test,
    score_test,
    wilson,
    z_from_interval,
)

PAPER_P = "Altman–Bland from the interval (the paper's method)"


@dataclass(frozen=True)
class ShareSums:
    """Sums per prompt of a stratum, each of shape (n_prompts, n_groups).

    `squares` sums the squared contributions, for the standard deviation in Cohen's d.
    """

    numerator: FloatArray
    denominator: FloatArray
    squares: FloatArray


@dataclass(frozen=True)
class Against:
    """What shares are compared with: the baseline's name, p* per group (NaN: none), and a null.

    `null(i, n, starred)` returns the null of group `i` among `n` units.
    """

    baseline: str
    starred: FloatArray
    null: Callable[[int, float, float], Null]


def share_ratios(
    measure: str,
    source: str,
    unit: str,
    groups: Sequence[Mapping[str, str]],
    sums: ShareSums,
    against: Against,
    stratum: Stratum,
    scope: Scope,
    left_out: Callable[[int, float], dict[str, int]],
) -> Iterator[Estimate]:
    """Yield share / p* for each group of a stratum, Eq. 1.

    Parameters
    ----------
    measure, source, unit
        Registered name, paper and equation, and what is counted.
    groups, sums, against
        Attributes, sums and comparison of each group.
    stratum, scope
        Where, and the audit's settings.
    left_out
        Function of the group's index and its units to the units left out, by reason.
    """
    rng = scope.rng(measure, stratum.domain, stratum.model)
    found = share_inference(sums.numerator, sums.denominator, against.starred, scope, rng)
    totals = zip(
        sums.numerator.sum(0).tolist(),
        sums.denominator.sum(0).tolist(),
        sums.squares.sum(0).tolist(),
        against.starred.tolist(),
        strict=True,
    )
    for i, (k, n, squares, starred) in enumerate(totals):
        common: dict[str, Any] = {
            "study": scope.study,
            "measure": measure,
            "statistic": "ratio",
            "unit": unit,
            "strata": stratum.labels,
            "group": dict(groups[i]),
            "n_texts": stratum.n_texts,
            "n_units": n,
            "n_clusters": int(found.n_clusters[i]),
            "exclusions": stratum.exclusions | left_out(i, n),
            "instruments": {**scope.instruments, "baseline": against.baseline},
            "source": source,
        }
        reason = _undefined(n, starred, groups[i], against.baseline, stratum, unit)
        if reason is not None:
            yield Estimate(value=None, undefined=reason, **common)
            continue
        low, high = (float(bound) / starred for bound in wilson(k, n, scope.level))
        share = k / n
        spread = float(np.sqrt(max(squares / n - share**2, 0.0)))
        yield Estimate(
            value=float(found.value[i]),
            interval=found.interval(i, scope),
            paper_interval=Interval(low, high, scope.level, "Wilson / p*"),
            null=against.null(i, n, starred),
            tests=(found.test(i), *_naive_tests(k, n, starred)),
            details={
                "share": share,
                "baseline": starred,
                "count": k,
                "cohens_d": float(cohens_d(share, starred, spread)),
            },
            **common,
        )


def _undefined(
    n: float, starred: float, group: Mapping[str, str], baseline: str, stratum: Stratum, unit: str
) -> str | None:
    if stratum.n_texts == 0:
        return "no story could be read: all were refused, empty or failed"
    if np.isnan(starred):
        return f"the baseline {baseline} gives no share for {' '.join(group.values())}"
    if n == 0:
        what = "matched first name" if "race" in group else "known gender"
        return f"no {unit} with a {what} in {stratum.n_texts:,} stories"
    return None


def _naive_tests(k: float, n: float, starred: float) -> tuple[Test, ...]:
    tests = [Test(float(score_test(k, n, starred)), "score test, characters independent")]
    exact = float(exact_test(k, n, starred))
    if not np.isnan(exact):
        tests.append(Test(exact, "exact binomial test, characters independent"))
    low, high = (float(bound) / starred for bound in wilson(k, n, 0.95))
    z = z_from_interval(k / n / starred, low, high, log=False)
    return (*tests, Test(float(altman_bland_p(z)), PAPER_P))


def binomial_null(n: float, starred: float, scope: Scope) -> Null:
    """Return the null of `n` units drawn at random from the baseline: a binomial share over p*."""
    tail = (1 - scope.level) / 2
    size = max(round(n), 1)
    low, high = stats.binom.ppf([tail, 1 - tail], size, starred) / size / starred
    return Null(1.0, float(low), float(high), scope.level, "drawn at random from the baseline")


def drawn_count(table: NameTable, share: float, n: float, scope: Scope) -> Null:
    """Return the null of a count among `n` names drawn at random from the table's bearers.

    `share` is the share of all bearers whose name counts; the range is binomial.
    """
    tail = (1 - scope.level) / 2
    low, high = stats.binom.ppf([tail, 1 - tail], round(n), share)
    method = f"names drawn at random from {table.name}"
    return Null(n * share, float(low), float(high), scope.level, method)
