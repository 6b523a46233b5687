"""From p-values to a verdict: Holm over all rules, equivalence, and how many texts would do."""

import math
from collections.abc import Sequence
from dataclasses import replace

from portrayal.errors import OptionError
from portrayal.gating.policy import Policy
from portrayal.gating.verdict import Limit, Outcome, RuleCheck, SampleSize
from portrayal.stats import fewest_prompts, holm, normal_isf

_FURTHEST = 1_000.0  # a number of texts beyond this many times the present one helps nobody
UNCHANGED = "that nothing has changed"
AS_IT_IS = "that the estimate is right"
SUBSETS = 10_000
"""Random subsets of prompts: a p-value is at least one of so many."""


def decide(checks: Sequence[RuleCheck], policy: Policy) -> list[RuleCheck]:
    """Give every check its status.

    A check fails where Holm's p-value over all tests of the policy is below 1 − level, so that runs
    within what is allowed fail in at most that share of gates. That all lie within needs no
    adjustment: each must be shown at 1 − level (an intersection of unions, Berger 1982).

    Raises
    ------
    OptionError
        Where there are so many tests that none could fail.
    """
    alpha = 1.0 - policy.level
    tested = [i for i, check in enumerate(checks) if check.p_beyond is not None]
    most = int(alpha * SUBSETS / 2.0 + 1e-9)
    if len(tested) > most:
        raise OptionError(
            f"the policy tests {len(tested):,} estimates; with more than {most} at level "
            f"{policy.level} none could fail. Name fewer groups, domains or models."
        )
    adjusted = holm([float(checks[i].p_beyond or 0.0) for i in tested])
    p_all = dict(zip(tested, adjusted.tolist(), strict=True))
    return [
        _decided(replace(check, p_beyond_all=p_all.get(i)), policy, len(tested))
        for i, check in enumerate(checks)
    ]


def outcome(checks: Sequence[RuleCheck], limits: Sequence[Limit]) -> Outcome:
    """Return the outcome that the checks show, whatever the policy makes of "inconclusive"."""
    if limits:
        return "unreadable"
    found = {check.status for check in checks}
    if "fail" in found:
        return "fail"
    return "pass" if found <= {"pass", "skipped"} and "pass" in found else "inconclusive"


def _decided(check: RuleCheck, policy: Policy, n_tests: int) -> RuleCheck:
    alpha = 1.0 - policy.level
    if check.status == "skipped" or (check.p_beyond_all is None and check.p_within is None):
        return _with_needed(check, policy, n_tests)
    if check.p_beyond_all is not None and check.p_beyond_all < alpha - 1e-12:
        return replace(check, status="fail")
    within = check.p_within is not None and check.p_within <= alpha + 1e-12
    if within or policy.passes == "no_excess_shown":
        return replace(check, status="pass")
    return _with_needed(check, policy, n_tests)


def _with_needed(check: RuleCheck, policy: Policy, n_tests: int) -> RuleCheck:
    """Add how many texts would decide an inconclusive check."""
    if check.status == "skipped" or check.n_prompts < 1:
        return check
    alpha = 1.0 - policy.level
    fewest = fewest_prompts(1.0 - alpha / max(n_tests, 1))
    factor, assuming = _factor(check, alpha, policy.power)
    if check.p_within is None:
        factor = fewest / check.n_carriers if check.n_carriers else math.inf
        assuming = "that the group occurs as often as now"
    if not factor <= _FURTHEST:
        return check
    factor = max(factor, fewest / check.n_prompts, 1.0)
    prompts, texts = math.ceil(factor * check.n_prompts), math.ceil(factor * check.n_texts)
    if prompts == check.n_prompts:
        return check
    return replace(check, needed=SampleSize(prompts, texts, assuming))


def _factor(check: RuleCheck, alpha: float, power: float) -> tuple[float, str]:
    """How many times the texts would decide, from the width of the interval; infinite if none.

    Standard errors shrink with the root of the number of prompts, each asked as often as now.
    """
    if None in (check.low, check.high, check.change):
        return math.inf, ""
    numbers = [float(x) for x in (check.low, check.high, check.change, *check.allowed)]  # type: ignore[arg-type]
    if check.scale == "ratio":
        numbers = [math.log(x) if x > 0 else -math.inf for x in numbers]
    low, high, now, *ends = numbers
    widths = [x for x in (high - now, now - low) if math.isfinite(x)]
    if not widths or not math.isfinite(now):
        return math.inf, ""
    error = sum(widths) / len(widths) / float(normal_isf(alpha / 2.0))
    at, beta = float(normal_isf(alpha)), float(normal_isf(1.0 - power))
    two_sided = all(map(math.isfinite, ends))
    if check.kind == "change":
        sure = at + (float(normal_isf((1.0 - power) / 2.0)) if two_sided else beta)
        factor = _squared(sure * error, min(map(abs, ends)))
        if factor > 1.0:
            return factor, UNCHANGED
    return _squared((at + beta) * error, min(abs(end - now) for end in ends)), AS_IT_IS


def _squared(error: float, distance: float) -> float:
    return (error / distance) ** 2 if distance > 0 else math.inf
