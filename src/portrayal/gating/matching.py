"""Which estimates a rule reads."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from portrayal.errors import OptionError
from portrayal.gating.policy import Rule
from portrayal.records import Estimate


def reads(rule: Rule, estimate: Estimate) -> bool:
    """Whether a rule reads an estimate, its model apart."""
    if estimate.measure != rule.measure or not fnmatchcase(estimate.statistic, rule.statistic):
        return False
    if rule.group and rule.group.keys() != estimate.group.keys():
        return False
    strata = {name: values for name, values in rule.where.items() if name != "model"}
    return _fits(rule.group, estimate.group) and _fits(strata, estimate.strata)


def fits(patterns: Iterable[str], values: Iterable[str]) -> bool:
    """Whether any of the patterns fits any of the values."""
    return any(fnmatchcase(value, pattern) for value in values for pattern in patterns)


def check_rule(rule: Rule, records: Iterable[Estimate], models: Sequence[str], path: str) -> None:
    """Refuse a rule that reads no estimate of a run, or none that keeps sums.

    Raises
    ------
    OptionError
        Saying which measure, group or stratum the run does not have, and what it has.
    """
    of_measure = [e for e in records if e.measure == rule.measure]
    if not of_measure:
        known = ", ".join(sorted({e.measure for e in records}))
        raise OptionError(f"measure {rule.measure} has no estimate in {path}; it has {known}.")
    for key, wanted, labels in (
        ("group", rule.group, [e.group for e in of_measure]),
        ("where", rule.where, [e.strata for e in of_measure]),
    ):
        for name, patterns in wanted.items():
            values = list(dict.fromkeys(each[name] for each in labels if name in each))
            if key == "where" and name == "model":
                values = [*models, "all"]
            if not values:
                keys = ", ".join(dict.fromkeys(n for each in labels for n in each)) or "none"
                raise OptionError(f"{key} of {rule.measure} has no {name!r}; it has {keys}.")
            for pattern in patterns:
                if not any(fnmatchcase(value, pattern) for value in values):
                    shown = ", ".join(values[:20])
                    raise OptionError(
                        f"{key} {name} = {pattern!r} fits no estimate of {rule.measure}; "
                        f"{name} is one of {shown}."
                    )
    if not any(reads(rule, e) for e in of_measure):
        raise OptionError(
            f"no estimate of {rule.measure} has this statistic, group and where together; "
            f"`portrayal list estimates {path} --measure {rule.measure}` lists them."
        )


def _fits(patterns: Mapping[str, tuple[str, ...]], labels: Mapping[str, str]) -> bool:
    return all(name in labels and fits(some, [labels[name]]) for name, some in patterns.items())
