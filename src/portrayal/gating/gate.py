"""The gate: a run and its base under a policy, from the sums that both keep.

Each check is tested, then decided by Holm over all rules, or shown to lie within (equivalence);
what is open says how many texts would do.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.annotator import n_unread
from portrayal.comparison.compare import (
    Choices,
    Key,
    Side,
    changes,
    check_instruments,
    differing,
    matched,
    model_pairs,
    rows_of,
    side_of,
    study_of,
)
from portrayal.comparison.result import Change
from portrayal.comparison.scores import ScoreChange, compare_scores
from portrayal.comparison.sums import POWER, Sums, known, measured, sums_of
from portrayal.errors import OptionError
from portrayal.gating.policy import Policy, Rule, fits, read_policy
from portrayal.gating.verdict import Limit, Outcome, RuleCheck, SampleSize, Verdict
from portrayal.records import ALL, FEW_PROMPTS, LIKE_THESE, THESE, Estimate, Population
from portrayal.run import Run
from portrayal.stats import holm, infer_fixed_shares, infer_shares
from portrayal.stats.clustered import Clustered, infer_differences, infer_influences
from portrayal.stats.contrasts import RatioScore, TwoSides, too_few_prompts
from portrayal.stats.design_effect import effective_number
from portrayal.stats.paired import SAME
from portrayal.stats.tails import normal_isf
from portrayal.types import BoolArray, FloatArray, Tabular

Comparable = Run | Side | Tabular
RowsOf = Callable[[Side, str], dict[Key, int]]


def gate(run: Comparable, against: Comparable | None, policy: str | Path | Policy) -> Verdict:
    """Judge a run by a policy: pass, fail, inconclusive or unreadable.

    Fails only where an interval shows that more than what is allowed has changed, over all rules
    together at the policy's level; passes where all is shown to lie within, or, as the policy
    chooses, where no excess is shown. Reads no texts. Identical inputs give the same verdict.

    Parameters
    ----------
    run, against
        Directories of runs, runs, or sides of them (`Side(run, model)`): the run that is judged,
        and its base, by default that of the policy; policies of ranges alone need none. For rules
        of scores, two tables or logs.
    policy
        A policy, or the path of its TOML file.

    Returns
    -------
    Verdict
        The outcome with every estimate that it rests on.

    Raises
    ------
    DataError, OptionError, RunError
        Where a run is missing, of another study, or without sums by prompt; where instruments
        differ; and where the policy asks for what is not there, with its line.

    Examples
    --------
    >>> she = "Maria was a star student. She helped Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": she}] * 3
    >>> run = portrayal.audit(study="laissez-faire", texts=stories, out="one", report=False)
    >>> rule = Rule("women", "representation", {"gender": ("F",)}, allowed_change=1.25)
    >>> verdict = gate("one", "one", Policy((rule,)))
    >>> verdict.outcome, verdict.exit_code
    ('pass', 0)
    """
    plan = policy if isinstance(policy, Policy) else read_policy(policy)
    against = plan.against if against is None else against
    if plan.rules[0].score:
        return _of_scores(run, against, plan)
    side = side_of(run)
    # Rules of ranges do not read the base, so that it need not even be a run.
    base = side_of(against) if against is not None and plan.needs_base else None
    if base is None and plan.needs_base:
        rule = next(rule for rule in plan.rules if rule.allowed_change is not None)
        raise OptionError(
            f"rule {rule.name!r} allows a change; name the run to compare with (--against)."
        )
    _check_rules(plan, side)
    if base is not None:
        study_of((base, side))
        tested = [rule for rule in plan.rules if rule.allowed_change is not None]
        used, of_base = (
            [e for e in part.run.records if any(rule.reads(e) for rule in tested)]
            for part in (side, base)
        )
        instruments = differing(base.run, side.run, (of_base, used))
        # A policy is kept for many runs: what may differ in some differs not in all
        names = ["all", *(instrument.name for instrument in instruments)]
        allowed = [name for name in plan.despite if name in names]
        check_instruments(instruments, allowed, 'in the policy: despite = ["{}"]')
    rows = cache(rows_of)  # the estimates of a side and model by what they are, for all rules
    checks: list[RuleCheck] = []
    for rule in plan.rules:
        if base is None or rule.allowed_change is None:
            judged = list(_ranges(rule, plan, side, rows))
        else:
            judged = list(_changes(rule, plan, base, side, rows))
        if not judged:
            with rule.named():
                raise OptionError(
                    f"rule {rule.name!r} reads no estimate of the models of this gate."
                )
        checks += judged
    decided = decide(checks, plan)
    limits = tuple(_limits(plan, [part for part in (side, base) if part is not None]))
    return Verdict(
        outcome(decided, limits),
        side.name,
        None if base is None else base.name,
        plan.level,
        plan.passes,
        tuple(decided),
        limits,
        side.run.factors,
        plan.population,
    )


def _check_rules(policy: Policy, side: Side) -> None:
    """Refuse rules that read nothing of the run, or that nothing of it could be judged by."""
    for rule in policy.rules:
        with rule.named():
            rule.check(side.run.records, side.models, str(side.run.path))
            rows = [row for row, e in enumerate(side.run.records) if rule.reads(e)]
            kinds = sorted({side.run.records[row].statistic for row in rows})
            if rule.allowed_change is not None and "ratio" in kinds:
                if len(kinds) > 1:
                    raise OptionError(
                        f"measure {rule.measure} has {', '.join(kinds)}; name one with statistic."
                    )
                if rule.allowed_change < 1:
                    raise OptionError(
                        "allowed_change of a ratio is a factor of 1 or more; got "
                        f"{rule.allowed_change}."
                    )
            forms = side.run.influences.forms
            if all(forms[row] is None and side.run.records[row].value is not None for row in rows):
                raise OptionError(
                    f"measure {rule.measure} keeps no sums by prompt, so no gate can test it."
                )


def _pairs(rule: Rule, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The models that a rule reads: each alone, and all together where it says "all"."""
    patterns = rule.where.get("model", ("*",))
    if len(pairs) == 1:
        return [pair for pair in pairs if "all" in patterns or fits(patterns, pair)]
    single = [pair for pair in pairs if pair != (ALL, ALL) and fits(patterns, pair)]
    return single + [pair for pair in pairs if pair == (ALL, ALL) and "all" in patterns]


def _changes(
    rule: Rule, policy: Policy, base: Side, side: Side, index_of: RowsOf
) -> Iterator[RuleCheck]:
    """Judge the changes that a rule reads, of every model."""
    allowed = rule.allowed_change or 0.0
    choices = Choices(policy.level, max(allowed, 1.0), allowed, policy.population)
    same_models = base.model == side.model
    copies = same_models and base.run.influences.equals(side.run.influences)
    for models in _pairs(rule, model_pairs(base, side)):
        both, _, of_side_alone = matched(*map(index_of, (base, side), models))
        rows = [(i, j) for i, j in both if rule.reads(side.run.records[j])]
        for (i, j), change in zip(rows, changes((base, side), models, rows, choices), strict=True):
            sums = sums_of(base.run, [i]), sums_of(side.run, [j])
            # The same sums of every estimate: nothing changed, also where none can be tested.
            same = replace(change, undefined=change.undefined or SAME, p=1.0)
            n_texts = side.run.records[j].n_texts
            yield _judged(rule, policy, same if copies else change, sums, n_texts)
        # What the base lacks has no change to judge, and must not pass in silence.
        for estimate in filter(rule.reads, (side.run.records[row] for row in of_side_alone)):
            reason = f"{base.name} has no such estimate"
            lacking = replace(_value_of(estimate, models[1]), undefined=reason)
            yield _untestable(rule, RuleCheck(rule.name, lacking, n_texts=estimate.n_texts))


def _judged(
    rule: Rule, policy: Policy, change: Change, sums: Sequence[Sums], n_texts: int
) -> RuleCheck:
    """Judge a change, of runs or of scores, from its tests and the sums of base and run."""
    # Which ends of what is allowed can be passed: a change for the better may be of any size.
    closed = (rule.worse != "up", rule.worse != "down")
    allowed = rule.allowed_change or 0.0
    ends, opened = (-allowed, allowed), (-math.inf, math.inf)
    if change.scale == "ratio":
        ends, opened = (1.0 / allowed if allowed else 0.0, allowed), (0.0, math.inf)
    # A share that rose by d is d or more on the second side, and one that fell was so on the first.
    bounded = [part for part, is_closed in zip(sums, closed, strict=True) if is_closed]
    p_beyond: float | None = None
    p_within: float | None = None
    if change.undefined is not None and change.p == 1.0:
        # The same sums in every prompt: nothing changed.
        p_beyond, p_within = 1.0, 0.0
    elif change.p_inside is not None and change.p_beyond is not None:
        inside, beyond = (
            [p for p, is_closed in zip(ends_p, closed, strict=True) if is_closed]
            for ends_p in (change.p_inside, change.p_beyond)
        )
        p_beyond, p_within = p_of_ends(inside, beyond)
    elif change.change is not None and all(side.are_shares and not side.log for side in bounded):
        # Shares too rare for a paired test are bounded by each side alone.
        tests = [place(x, policy.level, (0.0, allowed), policy.population) for x in bounded]
        p_values = [test["p_within"] for test in tests]
        if None not in p_values:
            p_beyond, p_within = 1.0, max(p_values)
    check = RuleCheck(
        rule.name,
        replace(change, undefined=change.undefined if p_beyond is None else None),
        (ends[0] if closed[0] else opened[0], ends[1] if closed[1] else opened[1]),
        p_beyond,
        p_within,
        _carriers(sums[1]),
        n_texts,
    )
    return _untestable(rule, check)


def _of_scores(run: Comparable, against: Comparable | None, policy: Policy) -> Verdict:
    """Judge the scores of one table or log beside those of another."""
    if against is None or isinstance(run, Run | Side) or isinstance(against, Run | Side):
        raise OptionError("rules of scores judge a table or log against another (--against).")
    checks: list[RuleCheck] = []
    notes: list[str] = []
    names = "", ""
    for rule in policy.rules:
        with rule.named():
            comparison = compare_scores(
                *(against, run, rule.score),
                pair_by=rule.pair_by,
                cluster=rule.cluster,
                margin=rule.allowed_change,
                level=policy.level,
            )
        names, (row,) = (comparison.a, comparison.b), comparison.rows
        assert isinstance(row, ScoreChange)
        notes += comparison.notes
        checks.append(_judged(rule, policy, row, row.sums, row.n_b))
    decided = decide(checks, policy)
    units = "clusters" if any(rule.cluster for rule in policy.rules) else "samples"
    return Verdict(
        *(outcome(decided, ()), names[1], names[0], policy.level, policy.passes),
        tuple(decided),
        notes=tuple(dict.fromkeys(notes)),
        units=("answers", units, "file"),
    )


def _carriers(sums: Sums) -> int:
    """In how many prompts (pairs, blocks) the group of an estimate occurs."""
    return int(((sums.cells[0] != 0) | (np.nan_to_num(sums.cells[2]) != 0)).sum())


def _value_of(estimate: Estimate, model: str) -> Change:
    """The value of an estimate, as what is judged."""
    strata = {name: value for name, value in estimate.strata.items() if name != "model"}
    return Change(
        *(estimate.measure, estimate.statistic, strata, estimate.group, "value", model, model),
        value_b=estimate.value,
        change=estimate.value,
    )


def _ranges(rule: Rule, policy: Policy, side: Side, index_of: RowsOf) -> Iterator[RuleCheck]:
    """Judge where the values lie that a rule reads, of every model."""
    ends = rule.allowed_range or (-math.inf, math.inf)
    models = side.models if len(side.models) == 1 else [*side.models, ALL]
    for model, _ in _pairs(rule, [(model, model) for model in models]):
        for row in index_of(side, model).values():
            estimate = side.run.records[row]
            if not rule.reads(estimate):
                continue
            value, reason = _value_of(estimate, model), side.run.influences.reasons[row]
            check = RuleCheck(rule.name, replace(value, undefined=reason), ends)
            if reason is None:
                sums = sums_of(side.run, [row])
                tested = place(sums, policy.level, ends, policy.population)
                of_value = ("low", "high", "n_prompts", "undefined")
                value = replace(value, **{name: tested.pop(name) for name in of_value})
                check = RuleCheck(rule.name, value, n_carriers=_carriers(sums), **tested)
            yield _untestable(rule, replace(check, n_texts=estimate.n_texts))


def _untestable(rule: Rule, check: RuleCheck) -> RuleCheck:
    """Skip a check without a test where its rule says so."""
    skipped = check.p_beyond is None and rule.untestable == "skip"
    return replace(check, status="skipped") if skipped else check


def _limits(policy: Policy, sides: Sequence[Side]) -> Iterator[Limit]:
    """Shares of texts and people that could not be read, above what is allowed."""
    for side in sides:
        outcomes: dict[str, int] = dict(side.run.texts.note().get("outcomes", {}))
        n = sum(outcomes.values())
        # What no annotator read, as texts in other languages, failed to be read
        unread = n_unread(side.run, side.run.settings().get("annotators", ()))
        outcomes["failed"] = outcomes.get("failed", 0) + unread
        if n and outcomes.get("ok", 0) <= unread:
            yield Limit(side.name, "not readable", 1.0, 0.0)
        for kind, most in policy.unreadable.items():
            share = outcomes.get(kind, 0) / n if n else 0.0
            if kind == "unmatched":
                models = [side.model] if side.model is not None else [*side.models, ALL]
                of_side = (e for e in side.run.records if e.strata.get("model", ALL) in models)
                judged = (e for e in of_side if any(rule.reads(e) for rule in policy.rules))
                share = max(map(_unmatched, judged), default=0.0)
            if share > most:
                yield Limit(side.name, kind, share, most)


def _unmatched(estimate: Estimate) -> float:
    """Share of the people of an estimate whose name or gender is not known."""
    reasons = estimate.exclusions.items()
    lost = sum(n for reason, n in reasons if "name" in reason or "gender" in reason)
    total = lost + estimate.n_units
    return lost / total if total > 0 else 0.0


_FURTHEST = 1_000.0  # a number of texts beyond this many times the present one helps nobody


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
        elif min(check.row.n_sides) >= 1:
            check = replace(check, needed=_needed(check, policy))
        decided.append(check)
    return decided


def outcome(checks: Sequence[RuleCheck], limits: Sequence[Limit]) -> Outcome:
    """Return the outcome that the checks show."""
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
    if check.p_within is None:
        # Without a test there is no width to go by: the group is in too few prompts for one.
        factor = FEW_PROMPTS / check.n_carriers if check.n_carriers else math.inf
        assuming = "that the group occurs as often as now"
    else:
        factor, assuming = _times_as_many(check, 1.0 - policy.level)
    one, two = check.row.n_sides
    if not factor <= _FURTHEST:
        return None
    # Two samples of unlike sizes tell as much as two of this size
    n_prompts = 2.0 * one * two / (one + two)
    factor = max(factor, FEW_PROMPTS / n_prompts, 1.0)
    prompts, texts = (math.ceil(factor * n_prompts * n / two) for n in (two, check.n_texts))
    return None if factor == 1.0 else SampleSize(prompts, texts, assuming)


def _times_as_many(check: RuleCheck, alpha: float) -> tuple[float, str]:
    """How many times the prompts would decide a check, each asked as often as now; and if what."""
    row = check.row
    if row.low is None or row.high is None or row.change is None:
        return math.inf, ""
    numbers = [row.low, row.high, row.change, *check.allowed]
    if row.scale == "ratio":
        numbers = [math.log(x) if x > 0 else -math.inf for x in numbers]
    low, high, now, *ends = numbers
    widths = [x for x in (high - now, now - low) if math.isfinite(x)]
    if not widths:
        return math.inf, ""
    # The standard error, back from half the width of the interval.
    error = sum(widths) / len(widths) / float(normal_isf(alpha / 2.0))

    def times(missed: float, distance: float, level: float = alpha) -> float:
        # The usual formula of sample size: (z of the level + z of the power) errors apart.
        sure = float(normal_isf(level)) + float(normal_isf(missed))
        return (sure * error / distance) ** 2 if distance > 0 else math.inf

    missed = 1.0 - POWER
    two_sided = all(map(math.isfinite, ends))
    # To lie within, both ends must be shown, and either may be missed.
    unchanged = times(missed / 2.0 if two_sided else missed, min(map(abs, ends)))
    if row.scale != "value" and unchanged > 1.0:
        return unchanged, "that nothing has changed"
    # No base to be equal to, or texts enough for that: the value at hand is the best guess.
    # To lie beyond either end is tested by twice the smaller p.
    level = alpha / 2.0 if two_sided and not ends[0] <= now <= ends[1] else alpha
    return times(missed, min(abs(end - now) for end in ends), level), "that the estimate is right"


def place(
    sums: Sums, level: float, ends: tuple[float, float], population: Population = LIKE_THESE
) -> dict[str, Any]:
    """Test one estimate, from its sums, against the ends of a range.

    Shares are inferred by the effective binomial, ratios of counts by the score of the pooled
    ratio, all else by Student's t.

    Parameters
    ----------
    sums
        Of one estimate.
    level
        Confidence level of the interval, a fraction.
    ends
        Lowest and highest value allowed; one that the value cannot pass, such as 0 or infinity,
        is never exceeded.
    population
        Of which prompts; where nothing is known of these very prompts, of prompts like them.

    Returns
    -------
    dict
        Fields of `Change` (low, high, n_prompts, undefined) and of `RuleCheck`.
    """
    # A column for each end: the interval is that of one estimate, and only p depends on the end.
    cells = tuple(np.repeat(cell, 2, axis=1) for cell in sums.cells)
    scale, value_twice = np.repeat(sums.scale, 2), np.repeat(sums.value, 2)
    at_ends = replace(sums, cells=cells, scale=scale, value=value_twice)
    test, closed = _tested(at_ends, level, np.array(ends), fixed=population == THESE)
    column = int(np.argmax(closed))  # the first end with a test
    value, low, high = (float(x[column]) for x in (test.value, test.low, test.high))
    # One end without a test leaves the whole range without.
    reason = next((str(words) for words in test.reason[closed] if words), None)
    if np.isnan(value):
        reason = "the estimate has no value"
    # p that an end is passed is half the two-sided p where the value lies inside it, else 1 less
    # that.
    half, toward = test.p / 2.0, np.array([value > ends[0], value < ends[1]])
    inside = np.where(toward, half, 1.0 - half)[closed].tolist()
    p_beyond, p_within = p_of_ends(inside, [1.0 - p for p in inside])
    return {
        "low": known(low),
        "high": known(high),
        "allowed": (ends[0] if closed[0] else -np.inf, ends[1] if closed[1] else np.inf),
        "p_beyond": None if reason else p_beyond,
        "p_within": None if reason else p_within,
        "n_prompts": int(test.n_clusters[column]),
        "undefined": reason,
    }


def p_of_ends(inside: Sequence[float], beyond: Sequence[float]) -> tuple[float, float]:
    """Return p that a value lies within its closed ends, and p that it does not.

    Either end may be passed (Bonferroni); to lie within, each test must say so (Berger 1982). Where
    neither end can be passed, nothing can lie beyond.
    """
    return min(1.0, max(len(beyond), 1) * min(beyond, default=1.0)), max(inside, default=0.0)


def _tested(
    sums: Sums, level: float, ends: FloatArray, *, fixed: bool
) -> tuple[Clustered, BoolArray]:
    """Test each column against its end, and say which ends its values can pass."""
    a, n, b, m = sums.cells
    counts = bool(np.all((a >= 0) & (a <= n + 1e-9)))
    is_share = sums.form == "mean" and counts
    is_ratio = sums.form == "ratio" and counts and bool(np.all((b >= 0) & (b <= m + 1e-9)))
    lowest = 0.0 if is_share or is_ratio or sums.log else -np.inf
    highest = float(sums.scale[0]) if is_share else np.inf
    # An end that the value cannot pass is no hypothesis, and would only cost the other one power.
    closed = (lowest < ends) & (ends < highest)
    nulls = np.where(closed, ends, np.nan)
    if is_share:
        # Sums between 0 and their number are shares, which are binomial; other means take a t.
        test = infer_shares(a, n, level, nulls / highest)
        if fixed:
            low, high, p = infer_fixed_shares(a, n, level, nulls / highest)
            reason = np.where(np.isnan(p), test.reason, "")
            test = replace(test, low=low, high=high, p=p, reason=reason)
        values = {name: getattr(test, name) * highest for name in ("value", "low", "high")}
    elif is_ratio:
        # One score serves both ends: p and interval come of it and so agree.
        score = RatioScore(TwoSides(a, n, b, m))
        low, high = score.interval(level, these_prompts=fixed)
        p = score.p(nulls, these_prompts=fixed)
        few = (not fixed and too_few_prompts(int(score.n_prompts[0]))) or ""
        prompts, carriers = ((n > 0) & (m > 0)).sum(0), effective_number(a + b)
        reasons = np.full(len(p), few)
        return Clustered(score.ratio, low, high, p, prompts, carriers, score.df, reasons), closed
    elif sums.form == "difference" and not sums.log:
        return infer_differences((a, n), (b, m), level, nulls), closed
    else:
        one, totals = measured(sums), (n, m) if sums.form == "difference" else (n,)
        # Influences of a ratio are of its logarithm.
        at_null = np.log(nulls) if sums.log else nulls
        test = infer_influences(one.value, one.influence, totals, level, at_null)
        values = {name: getattr(test, name) for name in ("value", "low", "high")}
        values = {name: np.exp(x) if sums.log else x for name, x in values.items()}
    return replace(test, **values), closed
