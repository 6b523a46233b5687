"""A policy made from a run: another run must be no worse than it in what its findings rest on."""

import json
import math
import os
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path

from portrayal.comparison.compare import stated_of
from portrayal.comparison.matching import Side, side_of
from portrayal.comparison.sums import POWER
from portrayal.errors import OptionError
from portrayal.gating.policy import refuse_existing
from portrayal.measure.scope import stated_changes
from portrayal.records import ALL, LIKE_THESE, Estimate, judged_population
from portrayal.registry import described
from portrayal.run import Run, write_atomically
from portrayal.run.pages import words_of
from portrayal.stats.tails import normal_isf

MOST = 12
"""Rules of a policy at most: each takes power from all others."""
_PART = 0.25
_NAMED_ELSEWHERE = ("model", "classifier")  # a candidate may have another

_HEAD = """# No worse than {run}: a policy for `portrayal gate NEW-RUN --policy THIS-FILE`.
#
# Each rule allows a quarter of the smallest change that two runs of this size would show. A model
# that has not changed fails in at most 5 % of gates, all rules together; one that changed by twice
# what two such runs would show in most. Raise what does not matter to you, and strike what is idle.
# Single words and phrases have no rule, as those of a run may be missing in the next.

against = {base}
level = {level}
population = "{population}"
passes = "no_excess_shown"        # nothing is shown to lie beyond what is allowed
"""


def write_policy(run: str | Path | Run | Side, path: str | Path) -> int:
    """Write a policy by which another run is no worse than this one, and return its rules' number.

    Of each measure it takes what a report may state, the most certain first, one group of each
    place. What differs from no difference may not move further from it; all else may move to
    neither side.

    Raises
    ------
    OptionError
        Where a file is there already, or nothing of the run can be compared.

    Examples
    --------
    >>> she = "Maria was a star student. She helped Juan, and he thanked her."
    >>> names = [f"learning-neutral-{x}" for x in ("arts", "math", "music", "science", "history")]
    >>> run = portrayal.audit(
    ...     [{"prompt_id": name, "text": she} for name in names * 9],
    ...     study="laissez-faire", out="one", report=False,
    ... )
    >>> write_policy(run, "no-worse.toml") > 0
    True
    """
    refuse_existing(path)
    side = side_of(run)
    options = side.run.settings().get("options", {})
    level = float(options.get("level", 0.95))
    population = judged_population(options.get("population", LIKE_THESE), side.run.records)
    rules = list(_rules(side.run, [e.of_population(population, level) for e in side.run.records]))
    if not rules:
        raise OptionError(
            f"{side.run.path}: no estimate has an interval and sums by prompt, so that no policy "
            "can compare it; `portrayal gate --init PATH` writes one to fill in."
        )
    # From the folder of the policy, so that both can be moved together.
    base = _text(os.path.relpath(side.run.path, Path(path).parent))
    head = _HEAD.format(run=side.run.path, base=base, level=level, population=population)
    text = "\n".join([head, *rules])
    write_atomically(Path(path), text)
    return len(rules)


def _rules(run: Run, records: Sequence[Estimate]) -> Iterator[str]:
    """Yield rules as TOML, those of the most certain estimates first."""
    models = run.settings().get("models", [])
    main = models[0] if len(models) == 1 else ALL
    flags = stated_changes(records, main, stated_of(str(run.settings().get("study"))))
    compared = [
        (records[row], allowed)
        for row, yes in enumerate(flags)
        if yes and run.influences.reasons[row] is None and "word" not in records[row].strata
        for allowed in (_allowed(records[row]),)
        if allowed is not None
    ]
    questions: set[object] = set()
    by_measure: dict[str, int] = {}
    names: set[str] = set()
    for e, allowed in sorted(compared, key=lambda pair: _p(pair[0])):
        strata = {k: v for k, v in e.strata.items() if k not in _NAMED_ELSEWHERE}
        question = e.measure, e.statistic, frozenset(strata.items()), frozenset(e.group)
        component = described(e.measure)
        most = MOST if component is None else component.findings
        # Groups of one place mirror each other, so that one of them stands for all.
        full = by_measure.get(e.measure, 0) >= most or len(names) >= MOST
        if question in questions or full:
            continue
        questions.add(question)
        by_measure[e.measure] = by_measure.get(e.measure, 0) + 1
        label = words_of(e.measure, strata, e.group)
        name = label if label not in names else f"{label} ({len(names) + 1})"
        names.add(name)
        where = strata | ({"model": ALL} if e.strata.get("model") == ALL and main == ALL else {})
        yield _rule(e, name, where, allowed)


def _p(e: Estimate) -> tuple[float, float]:
    if not e.tests:
        return 1.0, 1.0
    return (1.0 if e.tests[0].audit_q is None else e.tests[0].audit_q), e.tests[0].p


def _allowed(e: Estimate) -> float | None:
    """Return a part of the change that two such runs would show; None where that is not known."""
    if e.value is None or e.interval is None:
        return None
    ends = [e.interval.low, e.interval.high]
    if e.statistic == "ratio":
        ends = [math.log(x) if 0 < x < math.inf else math.nan for x in ends]
    tail = (1.0 - e.interval.level) / 2.0
    # Two runs of the same spread; prompts that both answer make the change surer than that.
    error = math.sqrt(2.0) * (ends[1] - ends[0]) / (2.0 * float(normal_isf(tail)))
    change = _PART * error * float(normal_isf(tail) + normal_isf(1.0 - POWER))
    allowed = math.exp(change) if e.statistic == "ratio" else change
    return allowed if math.isfinite(allowed) and allowed > 0 else None


def _rule(e: Estimate, name: str, where: dict[str, str], allowed: float) -> str:
    """Return a rule as TOML."""

    def table(labels: dict[str, str]) -> str:
        pairs = (f"{_text(key)} = {_text(escape(value))}" for key, value in labels.items())
        return f"{{ {', '.join(pairs)} }}"

    null = 1.0 if e.statistic == "ratio" else 0.0
    is_finding = bool(e.tests) and e.tests[0].judged_q is not None and e.tests[0].judged_q < 0.05
    further = "up" if (e.value or 0.0) > null else "down"
    lines = ["[[rule]]", f"name = {_text(name)}", f"measure = {_text(e.measure)}"]
    lines += [f"statistic = {_text(e.statistic)}"]
    lines += [f"group = {table(dict(e.group))}"] if e.group else []
    lines += [f"where = {table(where)}"] if where else []
    value = f"# {e.value:.3g} in this run"
    lines += [f"allowed_change = {allowed:.3g}  {value}"]
    lines += [f'worse = "{further if is_finding else "either"}"', 'untestable = "skip"', ""]
    return "\n".join(lines)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
