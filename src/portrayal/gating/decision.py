"""From p-values to a verdict: Holm over all rules, equivalence, and how many texts would do."""

import math
from collections.abc import Sequence
from dataclasses import replace

from portrayal.gating.policy import Policy
from portrayal.gating.verdict import Limit, Outcome, RuleCheck, SampleSize
from portrayal.records import FEW_PROMPTS
from portrayal.stats import holm
from portrayal.stats.tails import normal_isf

_FURTHEST = 1_000.0  # a number of texts beyond this many times the present one helps nobody
UNCHANGED = "that nothing has changed"
AS_IT_IS = "that the estimate is right"


def decide(checks: Sequence[RuleCheck], policy: Policy) -> list[RuleCheck]:
    """Give every check its status.

    A check fails where Holm's p-value over all tests of the policy is below 1 − level, so that runs
    within what is allowed fail in at most that share of gates. That all lie within needs no
    adjustment: each must be shown at 1 − level (an intersection of unions, Berger 1982).
    """
    # Estimates without a test are no member of the family, and cost the others no power.
    alpha = 1.0 - policy.level
    tested = [i for i, check in enumerate(checks) if check.p_beyond is not None]
    adjusted = holm([float(checks[i].p_beyond or 0.0) for i in tested])
    p_all = dict(zip(tested, adjusted.tolist(), strict=True))
    decided = []
    for i, blank in enumerate(checks):
        check = replace(blank, p_beyond_all=p_all.get(i))
        beyond = check.p_beyond_all is not None and check.p_beyond_all < alpha - 1e-12
        # A p of just 1 - level shows it, whatever rounding makes of either number.
        within = check.p_within is not None and check.p_within <= alpha + 1e-12
        has_test = check.p_beyond_all is not None or check.p_within is not None
        if check.status == "skipped":
            pass
        elif beyond:
            check = replace(check, status="fail")
        elif has_test and (within or policy.passes == "no_excess_shown"):
            check = replace(check, status="pass")
        elif check.n_prompts >= 1:
            check = replace(check, needed=_needed(check, policy))
        decided.append(check)
    return decided


def outcome(checks: Sequence[RuleCheck], limits: Sequence[Limit]) -> Outcome:
    """Return the outcome that the checks show, whatever the policy makes of "inconclusive"."""
    # Where too much could not be read, estimates say little of the model, whatever they show.
    if limits:
        return "unreadable"
    statuses = {check.status for check in checks}
    if "fail" in statuses:
        return "fail"
    # Nothing but skipped checks shows nothing, so that is no pass.
    return "pass" if statuses <= {"pass", "skipped"} and "pass" in statuses else "inconclusive"


def _needed(check: RuleCheck, policy: Policy) -> SampleSize | None:
    """How many texts would decide an inconclusive check; None where that is not known."""
    alpha = 1.0 - policy.level
    factor, assuming = math.inf, ""
    if check.low is not None and check.high is not None and check.change is not None:
        # How many times the texts would decide, from the width of the interval: standard errors
        # shrink with the root of the number of prompts, each asked as often as now.
        numbers = [check.low, check.high, check.change, *check.allowed]
        if check.scale == "ratio":
            numbers = [math.log(x) if x > 0 else -math.inf for x in numbers]
        # The standard error, back from half the width of the interval.
        low, high, now, *ends = numbers
        widths = [x for x in (high - now, now - low) if math.isfinite(x)]
        if widths and math.isfinite(now):
            error = sum(widths) / len(widths) / float(normal_isf(alpha / 2.0))

            def times(missed: float, distance: float) -> float:
                # The usual formula of sample size: (z of the level + z of the power) errors apart.
                sure = float(normal_isf(alpha)) + float(normal_isf(missed))
                return (sure * error / distance) ** 2 if distance > 0 else math.inf

            missed = 1.0 - policy.power
            two_sided = all(map(math.isfinite, ends))
            nearest = min(map(abs, ends))
            # To lie within, both ends must be shown, and either may be missed.
            factor, assuming = times(missed / 2.0 if two_sided else missed, nearest), UNCHANGED
            # No base to be equal to, or texts enough for that: the value at hand is the best guess.
            if check.kind != "change" or not factor > 1.0:
                factor, assuming = times(missed, min(abs(end - now) for end in ends)), AS_IT_IS
    # Without a test there is no width to go by: the group is in too few prompts for one.
    if check.p_within is None:
        factor = FEW_PROMPTS / check.n_carriers if check.n_carriers else math.inf
        assuming = "that the group occurs as often as now"
    if not factor <= _FURTHEST:
        return None
    factor = max(factor, FEW_PROMPTS / check.n_prompts, 1.0)
    prompts, texts = math.ceil(factor * check.n_prompts), math.ceil(factor * check.n_texts)
    return None if prompts == check.n_prompts else SampleSize(prompts, texts, assuming)
