"""A policy to start from: the commented example, with rules for the groups that a run has."""

import glob
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from portrayal.errors import OptionError, PortrayalError
from portrayal.gating.policy import parse_policy
from portrayal.measure.matched import PAIR_DIFFERENCE
from portrayal.records import ALL, BASIS, TEXT_SD, Estimate
from portrayal.reference.labels import attribute_label, strata_parts
from portrayal.run import Run, write_atomically

_RULE = "[[rule]]"
_MOVED = "allowed_change = 0.05", "a share may move by five points"
_APART = "allowed_range = [0.5, 2.0]", "of the run alone; 1 is the baseline's share"
_RULES = {
    "group_share.v1": ("share of texts", *_MOVED),
    "people_share.v1": ("share of people", *_MOVED),
    "group_ratio.v1": ("texts over a baseline", *_APART),
    "people_ratio.v1": ("people over a baseline", *_APART),
}


def example_policy(run: Run | None = None) -> str:
    """Return a commented policy to start from; its numbers are examples.

    Parameters
    ----------
    run
        A run whose estimates its rules must fit, with a rule for each of its factors; without one
        the rules are of stories.
    """
    text = files("portrayal.gating").joinpath("example.toml").read_text(encoding="utf-8")
    if run is None:
        return text
    head, *rules = text.split(_RULE)
    # Only rules that this run can be judged by, or the first gate would end in an error.
    examples = [rule.strip() for rule in rules if _fits(head, rule, run)]
    with run.speaking():
        blocks = [*examples, *_rules(run), *_pair_rules(run)]
    if not blocks:
        raise OptionError(
            f"{run.path} has neither roles, outcomes, factors nor pairs to write rules of; "
            "`portrayal gate --init FILE` without a run writes the example."
        )
    return head + "\n\n".join(f"{_RULE}\n{rule}" for rule in blocks) + "\n"


def write_example(path: str | Path, run: Run | None = None) -> None:
    """Write `example_policy` to `path`; OptionError where a file is there already."""
    if Path(path).exists():
        raise OptionError(f"{path} is there already; name another file, or delete it first.")
    write_atomically(Path(path), example_policy(run))


def _fits(head: str, rule: str, run: Run) -> bool:
    """Whether the run has estimates that a rule of the example reads."""
    # Read by the parser of policies itself, so that the example cannot drift from it.
    (read,) = parse_policy(f"{head}{_RULE}{rule}", str(run.path)).rules
    try:
        read.check(run.records, run.settings().get("models", []), str(run.path))
    except PortrayalError:
        return False
    return True


def _rules(run: Run) -> Iterator[str]:
    """Yield rules of each factor: how far shares may move, and lie from a baseline."""
    estimates: dict[tuple[str, ...], Estimate] = {}
    for e in run.records:
        if e.measure in _RULES and e.value is not None:
            key = (e.measure, *e.group, *(e.strata.get(name, "") for name in _HOW))
            # The estimate with the fewest parts stands for all; stars take the values of its parts.
            if key not in estimates or len(_parts(e)) < len(_parts(estimates[key])):
                estimates[key] = e
    for e in estimates.values():
        (factor,) = e.group
        of, allowed, comment = _RULES[e.measure]
        labels = {name: v for name, v in e.strata.items() if name != "model"}
        labels |= dict.fromkeys(_parts(e), "*")
        patterns = (f"{_key(name)} = {_text(_plain(value))}" for name, value in labels.items())
        words = [f"{attribute_label(factor)}: {of}", *strata_parts(e.strata, e.group)[1]]
        yield "\n".join(
            [
                f"name = {_text(', '.join(words))}",
                f"measure = {_text(e.measure.rpartition('.v')[0])}",
                f'group = {{ {_key(factor)} = "*" }}',
                f"where = {{ {', '.join(patterns)} }}",
                f"{allowed:<33} # {comment}",
                'untestable = "skip"               # groups too rare for a test',
            ]
        )


def _pair_rules(run: Run) -> Iterator[str]:
    """Yield a rule for each score of pairs: how far its groups may lie apart, in its own unit."""
    spread: dict[str, list[float]] = {}
    groups: dict[str, str] = {}
    for e in run.records:
        if e.value is not None and e.details.get(TEXT_SD, 0.0) > 0.0 and e.strata["part"] == ALL:
            spread.setdefault(e.strata["score"], []).append(e.details[TEXT_SD])
            groups = dict.fromkeys(e.group, "*")
    for score, sds in spread.items():
        # The narrowest spread gives the strictest range; two digits are plenty for an example.
        most = float(f"{_LITTLE * min(sds):.2g}")
        patterns = (f"{_key(name)} = {_text(value)}" for name, value in groups.items())
        yield "\n".join(
            [
                f"name = {_text(f'pairs: {score}')}",
                f"measure = {_text(PAIR_DIFFERENCE.name.rpartition('.v')[0])}",
                f"group = {{ {', '.join(patterns)} }}",
                f'where = {{ score = {_text(_plain(score))}, part = "{ALL}" }}',
                f"{f'allowed_range = [{-most}, {most}]':<33} # {_LITTLE:g} standard deviations",
                'untestable = "skip"               # scores that never differ',
            ]
        )


_LITTLE = 0.2
"""Standard deviations of texts below which a difference is often called small."""
_HOW = ("seen_by", "population", BASIS)


def _parts(e: Estimate) -> list[str]:
    """Strata of one value each."""
    return [name for name, v in e.strata.items() if v != ALL and name not in ("model", *_HOW)]


def _plain(value: str) -> str:
    """A pattern that fits this value alone, or any where it is a star."""
    # Values may hold brackets, which a pattern would take for a class of letters.
    return value if value == "*" else glob.escape(value)


def _text(value: str) -> str:
    """A TOML string."""
    # A JSON string is a basic string of TOML.
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    """A TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
