"""Policies: what a gate asks of a run, read from TOML or made from a run, with errors by line."""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from glob import escape
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import portrayal.registry as registry
from portrayal.comparison.compare import Side, side_of, stated_of
from portrayal.comparison.sums import POWER
from portrayal.errors import DataError, OptionError, UnknownNameError
from portrayal.measure.matched.differences import COLUMN
from portrayal.measure.scope import stated_changes
from portrayal.records import ALL, LIKE_THESE, Estimate, Population, judged_population
from portrayal.reference.datafile import Holds, KeyName, Share, read_datafile
from portrayal.registry import described
from portrayal.run import Run, write_atomically
from portrayal.run.pages import words_of
from portrayal.stats.tails import normal_isf
from portrayal.validate import check_choice, check_level

Passes = Literal["shown_within", "no_excess_shown"]
Untestable = Literal["inconclusive", "skip"]
Worse = Literal["either", "up", "down"]
Patterns = Annotated[
    tuple[str, ...],
    Holds(
        'a pattern such as "*", or a list of them',
        bool,
        lambda patterns: (patterns,) if isinstance(patterns, str) else patterns,
        reads=str | tuple[str, ...],
    ),
]


def fits(patterns: Iterable[str], values: Iterable[str]) -> bool:
    """Whether any of the patterns fits any of the values."""
    return any(fnmatchcase(value, pattern) for value in values for pattern in patterns)


@dataclass(frozen=True)
class Rule:
    """One rule: which estimates, and how far they may lie from the base, or where.

    Attributes
    ----------
    name
        What messages call it; unique in the policy.
    measure
        Name of a registered measure; its version may be left out. Empty for a rule of a score.
    group
        Patterns ("F", "*", a list of them) by attribute. A rule reads estimates of exactly these
        attributes; of any where it names none.
    where
        Patterns by stratum, such as `domain` or `model`; a stratum that is not named may be any.
    statistic
        Pattern of `Estimate.statistic`, for measures with several.
    allowed_change
        Largest change against the base: a factor of 1 or more for ratios, a difference of 0 or more
        for all else.
    allowed_range
        Lowest and highest value of the run alone, for rules without `allowed_change`.
    worse
        Which changes count: "either", only "up" or only "down".
    untestable
        What an estimate does that has no value or no test: "inconclusive", or "skip" the estimate.
    score, pair_by, cluster
        Column of two tables or logs, in place of a measure of runs, and how its samples are paired
        and clustered; see `portrayal.compare`.
    places
        Where in a file each key stands; errors begin with it.
    """

    name: str
    measure: str = ""
    group: Mapping[str, Patterns] = field(default_factory=dict)
    where: Mapping[str, Patterns] = field(default_factory=dict)
    statistic: str = "*"
    allowed_change: float | None = None
    allowed_range: tuple[float, float] | None = None
    worse: Worse = "either"
    untestable: Untestable = "inconclusive"
    score: str = ""
    pair_by: str | None = None
    cluster: str | None = None
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a rule that no estimate could be judged by."""
        if bool(self.measure) == bool(self.score) or (self.score and self.allowed_change is None):
            raise OptionError("give a measure of runs; or a score of tables and allowed_change.")
        try:
            if self.measure:
                object.__setattr__(self, "measure", registry.resolve("measures", self.measure))
        except UnknownNameError as error:
            raise OptionError(f"measure {self.measure!r} is not registered: {error}") from None
        if (self.allowed_change is None) == (self.allowed_range is None):
            raise OptionError("give either allowed_change or allowed_range.")
        if self.allowed_change is not None and not 0 <= self.allowed_change < math.inf:
            raise OptionError(
                f"allowed_change is a number of 0 or more, such as 1.25; got {self.allowed_change}."
            )
        if self.allowed_range is not None:
            low, high = self.allowed_range
            if not low < high:
                raise OptionError(f"allowed_range is [lowest, highest]; got [{low}, {high}].")
            if self.worse != "either":
                raise OptionError("worse goes with allowed_change; a range says it by its ends.")
        check_choice("worse", self.worse, ("either", "up", "down"))
        check_choice("untestable", self.untestable, ("inconclusive", "skip"))

    def reads(self, estimate: Estimate) -> bool:
        """Whether the rule reads an estimate, its model apart."""
        if estimate.measure != self.measure or not fnmatchcase(estimate.statistic, self.statistic):
            return False
        if self.group and self.group.keys() != estimate.group.keys():
            return False
        pairs = [(self.group[name], name, estimate.group) for name in self.group]
        pairs += [(self.where[n], n, estimate.strata) for n in self.where if n != "model"]
        return all(name in labels and fits(some, [labels[name]]) for some, name, labels in pairs)

    def check(self, records: Iterable[Estimate], models: Sequence[str], path: str) -> None:
        """Refuse a rule that reads no estimate of a run.

        Raises
        ------
        OptionError
            Saying which measure, group or stratum the run does not have, and what it has.
        """
        of_measure = [e for e in records if e.measure == self.measure]
        if not of_measure:
            names = ", ".join(sorted({e.measure for e in records}))
            raise OptionError(f"measure {self.measure} has no estimate in {path}; it has {names}.")
        for key, filters, labels in (
            ("group", self.group, [e.group for e in of_measure]),
            ("where", self.where, [e.strata for e in of_measure]),
        ):
            for name, patterns in filters.items():
                values = list(dict.fromkeys(label[name] for label in labels if name in label))
                if key == "where" and name == "model":
                    values = [*models, "all"]
                if not values:
                    keys = ", ".join(dict.fromkeys(n for label in labels for n in label)) or "none"
                    raise OptionError(f"{key} of {self.measure} has no {name!r}; it has {keys}.")
                if strange := [pattern for pattern in patterns if not fits([pattern], values)]:
                    raise OptionError(
                        f"{key} {name} = {strange[0]!r} fits no estimate of {self.measure}; "
                        f"{name} is one of {', '.join(values[:20])}."
                    )
        if not any(map(self.reads, of_measure)):
            raise OptionError(
                f"no estimate of {self.measure} has this statistic, group and where together; "
                f"`portrayal list estimates {path} --measure {self.measure}` lists them."
            )

    @contextmanager
    def named(self) -> Iterator[None]:
        """Put before an error which rule it is about, and where that stands."""
        try:
            yield
        except OptionError as error:
            words = re.findall(r"\w+", str(error))
            place = next((self.places[word] for word in words if word in self.places), "")
            start = f"{place or self.places['rule']}: " if self.places else f"{self.name}: "
            raise OptionError(f"{start}{error}") from None


@dataclass(frozen=True)
class _Unreadable:
    """The largest shares of texts and people that may be unreadable, those that are stated."""

    refused: Share | None = None
    empty: Share | None = None
    failed: Share | None = None
    unmatched: Share | None = None


def _stated(limits: _Unreadable) -> dict[str, float]:
    return {name: share for name, share in vars(limits).items() if share is not None}


@dataclass(frozen=True)
class Policy:
    """What must hold before a run passes.

    Attributes
    ----------
    rules
        At least one.
    level
        Confidence level of the whole policy: at most 1 − level of the gates of a model that has
        not changed fail, whatever the number of rules.
    passes
        "shown_within": every estimate is shown to lie within what is allowed (equivalence);
        "no_excess_shown": none is shown to lie beyond it.
    despite
        Instruments in which run and base may differ; "all" for any.
    unreadable
        Largest shares of texts "refused", "empty" and "failed", and of people "unmatched", with
        which a run is still judged.
    against
        Directory of the base that changes are counted from, where the gate names none; in a file,
        from the folder of the file.
    population
        "prompts-like-these", of which the run's are a sample, or "these-prompts", of which both
        runs hold answers: chance is then in the texts alone, where that is known of an estimate.
    """

    rules: Annotated[tuple[Rule, ...], KeyName("rule")] = ()
    level: float = 0.95
    passes: Passes = "shown_within"
    despite: tuple[str, ...] = ()
    unreadable: Annotated[Mapping[str, float], Holds(reads=_Unreadable, convert=_stated)] = field(
        default_factory=dict
    )
    population: Population = LIKE_THESE
    against: str | None = None

    def __post_init__(self) -> None:
        """Refuse a policy that cannot be used."""
        if not self.rules:
            raise OptionError("the policy has no rule; begin one with [[rule]].")
        names = [rule.name for rule in self.rules]
        if len({bool(rule.score) for rule in self.rules}) > 1:
            raise OptionError("rules of scores judge tables, others runs: write two policies.")
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise OptionError(f"two rules are called {twice!r}; names must differ.")
        check_level(self.level)
        check_choice("population", self.population, get_args(Population))
        check_choice("passes", self.passes, ("shown_within", "no_excess_shown"))
        for name, share in self.unreadable.items():
            check_choice("unreadable", name, tuple(_Unreadable.__annotations__))
            if not 0.0 <= share <= 1.0:
                raise OptionError(f"unreadable.{name} is a share between 0 and 1; got {share!r}.")

    @property
    def needs_base(self) -> bool:
        """Whether any rule is about a change."""
        return any(rule.allowed_change is not None for rule in self.rules)


def read_policy(path: str | Path) -> Policy:
    """Read a policy from a TOML file.

    Raises
    ------
    DataError
        Where the file is missing, is not TOML, or asks for what is not there, with the line.

    Examples
    --------
    >>> write_example("gate.toml")
    >>> read_policy("gate.toml").level
    0.95
    """
    try:
        file = read_datafile(path)
    except DataError as error:
        raise DataError(f"{error} `portrayal gate --init {path}` writes a policy.") from None
    if not isinstance(file.table.get("rule"), list) or not file.table["rule"]:
        raise file.wrong((), "the policy has no rule; begin each with [[rule]].")
    # A file names lines; rules keep them, as what is wrong may only show once a run is read.
    rules = []
    tables = tuple[Mapping[str, Any], ...]
    for i, table in enumerate(file.value(tables, ("rule",))):
        keys = ("rule", i)
        defaults = {} if "name" in table else {"name": f"rule {i + 1}"}
        rule = file.record(Rule, keys, **defaults, places={})
        places = {"rule": f"{file.name}, line {file.line(keys)}"}
        places |= {key: f"{file.name}, line {file.line((*keys, key))}" for key in table}
        rules.append(replace(rule, places=places))
    other_keys = {key: value for key, value in file.table.items() if key != "rule"}
    policy = replace(file, table=other_keys).record(Policy, rules=tuple(rules))
    return replace(policy, against=policy.against and str(Path(path).parent / policy.against))


def write_example(path: str | Path) -> None:
    """Write a commented policy to start from, whose numbers are examples.

    Raises
    ------
    OptionError
        Where a file is there already.
    """
    refuse_existing(path)
    text = files("portrayal.gating").joinpath("example.toml").read_text(encoding="utf-8")
    write_atomically(Path(path), text)


def refuse_existing(path: str | Path) -> None:
    """Raise OptionError where a file is there already, as a policy may have been edited."""
    if Path(path).exists():
        raise OptionError(f"{path} is there already; name another file, or delete it first.")


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

    Of each measure it takes what a report may state, scores of the file and then the most certain
    first, one group of each place. What differs from no difference may not move further from it;
    all else may move to neither side.

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
    by_measure: Counter[str] = Counter()
    names: set[str] = set()
    for e, allowed in sorted(compared, key=lambda pair: _p(pair[0])):
        strata = {k: v for k, v in e.strata.items() if k not in _NAMED_ELSEWHERE}
        question = e.measure, e.statistic, frozenset(strata.items()), frozenset(e.group)
        component = described(e.measure)
        most = MOST if component is None else component.findings
        # Groups of one place mirror each other, so that one of them stands for all.
        if question in questions or by_measure[e.measure] >= most or len(names) >= MOST:
            continue
        questions.add(question)
        by_measure[e.measure] += 1
        label = words_of(e.measure, strata, e.group, e.statistic)
        name = label if label not in names else f"{label} ({len(names) + 1})"
        names.add(name)
        where = strata | ({"model": ALL} if e.strata.get("model") == ALL and main == ALL else {})
        yield _rule(e, name, where, allowed)


def _p(e: Estimate) -> tuple[bool, float, float]:
    # Scores that the user gave matter most to them
    is_given = COLUMN in e.details
    if not e.tests:
        return not is_given, 1.0, 1.0
    return not is_given, (1.0 if (q := e.tests[0].audit_q) is None else q), e.tests[0].p


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
