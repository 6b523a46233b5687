"""Policies: what a gate asks of a run, in TOML, and errors that name the line."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import portrayal.registry as registry
from portrayal.errors import DataError, OptionError, PortrayalError, UnknownNameError
from portrayal.validate import check_choice, check_level, check_seed

Passes = Literal["shown_within", "no_excess_shown"]
Inconclusive = Literal["fail", "pass", "inconclusive"]
Untestable = Literal["inconclusive", "skip"]
Worse = Literal["either", "up", "down"]

_RULE_KEYS = (
    "name",
    "measure",
    "statistic",
    "group",
    "where",
    "allowed_change",
    "allowed_range",
    "worse",
    "untestable",
)
_LIMITS = ("refused", "empty", "failed", "unmatched")
_TOP_KEYS = (
    "level",
    "passes",
    "inconclusive",
    "power",
    "seed",
    "despite",
    "unreadable",
    "rule",
)


@dataclass(frozen=True)
class Rule:
    """One rule: which estimates, and how far they may lie from the base, or where.

    Attributes
    ----------
    name
        What messages call it; unique in the policy.
    measure
        Name of a registered measure; its version may be left out.
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
    places
        Where in a file each key stands; errors begin with it.
    """

    name: str
    measure: str
    group: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    statistic: str = "*"
    allowed_change: float | None = None
    allowed_range: tuple[float, float] | None = None
    worse: Worse = "either"
    untestable: Untestable = "inconclusive"
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a rule that no estimate could be judged by."""
        try:
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
    inconclusive
        What a gate does that is neither: "inconclusive", "fail" or "pass".
    power
        With which probability the numbers of texts that a gate names would decide it.
    despite
        Instruments in which run and base may differ; "all" for any.
    unreadable
        Largest shares of texts "refused", "empty" and "failed", and of people "unmatched", with
        which a run is still judged.
    seed
        Start of the random subsets of prompts.
    """

    rules: tuple[Rule, ...]
    level: float = 0.95
    passes: Passes = "shown_within"
    inconclusive: Inconclusive = "inconclusive"
    power: float = 0.8
    despite: tuple[str, ...] = ()
    unreadable: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a policy that cannot be used."""
        if not self.rules:
            raise OptionError("the policy has no rule; begin one with [[rule]].")
        names = [rule.name for rule in self.rules]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise OptionError(f"two rules are called {twice!r}; names must differ.")
        check_level(self.level)
        check_seed(self.seed)
        if not 0.0 < self.power < 1.0:
            raise OptionError(f"power is a fraction between 0 and 1; got {self.power!r}.")
        check_choice("passes", self.passes, ("shown_within", "no_excess_shown"))
        check_choice("inconclusive", self.inconclusive, ("inconclusive", "fail", "pass"))
        for name, share in self.unreadable.items():
            check_choice("unreadable", name, _LIMITS)
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
    >>> import portrayal.gating as gating
    >>> gating.write_example("gate.toml")
    >>> read_policy("gate.toml").level
    0.95
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise DataError(
            f"{path} cannot be read ({why}). `portrayal gate --init {path}` writes a policy."
        ) from None
    return parse_policy(text, str(path))


def parse_policy(text: str, name: str) -> Policy:
    """Return the policy that a text in TOML asks for; errors begin with `name`."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{name} is not TOML: {error}.") from None
    return _Reader(name, text).policy(table)


class _Reader:
    """One file, so that every error can name its line."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = list(_places(text))

    @contextmanager
    def at(self, section: str, key: str | None = None) -> Iterator[None]:
        """Put file and line before what is wrong with a key of a section."""
        try:
            yield
        except DataError:
            raise
        except PortrayalError as error:
            words = [key] if key else re.findall(r"\w+", str(error))
            raise DataError(f"{self._path}{self._line(section, words)}: {error}") from None

    def _line(self, section: str, words: list[str]) -> str:
        """The line of the first of these keys, else of the section."""
        sections = (section, "unreadable") if section == "" else (section,)
        there = [(key, number) for found, key, number in self._lines if found in sections]
        exact = [number for word in words for key, number in there if key == word]
        numbers = exact or [number for _, number in there if section]
        return f", line {numbers[0]}" if numbers else ""

    def policy(self, table: dict[str, Any]) -> Policy:
        """Return the policy of a parsed file."""
        self._known("", table, _TOP_KEYS)
        rules = table.get("rule", [])
        with self.at("", "rule"):
            if not isinstance(rules, list) or not all(isinstance(each, dict) for each in rules):
                raise OptionError("rules are tables; begin each with [[rule]].")
        made = [self._rule(number, each) for number, each in enumerate(rules, 1)]
        limits = self._typed("", table, "unreadable", dict, {})
        self._known("unreadable", limits, _LIMITS)
        shares = {key: self._number("unreadable", limits, key) for key in limits}
        known: dict[str, Any] = {
            key: self._number("", table, key) for key in ("level", "power") if key in table
        }
        for key in ("passes", "inconclusive"):
            if key in table:
                known[key] = self._typed("", table, key, str)
        if "seed" in table:
            known["seed"] = self._typed("", table, "seed", int)
        despite = self._typed("", table, "despite", list, [])
        with self.at(""):
            return Policy(tuple(made), unreadable=shares, despite=tuple(map(str, despite)), **known)

    def _rule(self, number: int, table: dict[str, Any]) -> Rule:
        section = f"rule {number}"
        self._known(section, table, _RULE_KEYS)
        with self.at(section):
            if "measure" not in table:
                raise OptionError(f'rule {number} names no measure; add measure = "…".')
        known: dict[str, Any] = {
            key: self._typed(section, table, key, str)
            for key in ("measure", "statistic", "worse", "untestable")
            if key in table
        }
        known["name"] = self._typed(section, table, "name", str, f"rule {number}")
        for key in ("group", "where"):
            known[key] = {
                name: self._patterns(section, key, name, value)
                for name, value in self._typed(section, table, key, dict, {}).items()
            }
        if "allowed_change" in table:
            known["allowed_change"] = self._number(section, table, "allowed_change")
        if "allowed_range" in table:
            ends = self._typed(section, table, "allowed_range", list)
            with self.at(section, "allowed_range"):
                if len(ends) != 2 or not all(map(_is_number, ends)):
                    raise OptionError("allowed_range is [lowest, highest], two numbers.")
            known["allowed_range"] = (float(ends[0]), float(ends[1]))
        keys = ("rule", *table)
        places = {key: f"{self._path}{self._line(section, [key])}" for key in keys}
        with self.at(section):
            return Rule(**known, places=places)

    def _patterns(self, section: str, key: str, name: str, value: Any) -> tuple[str, ...]:
        values = value if isinstance(value, list) else [value]
        with self.at(section, key):
            if not values or not all(isinstance(each, str) for each in values):
                raise OptionError(f'{key}.{name} is a pattern such as "*", or a list of them.')
        return tuple(values)

    def _known(self, section: str, table: Mapping[str, Any], known: Any) -> None:
        for key in table:
            with self.at(section, key):
                if key not in known:
                    where = f"[{section}]" if section == "unreadable" else section or "a policy"
                    raise OptionError(f"{where} has no key {key!r}; keys: {', '.join(known)}.")

    def _typed(
        self, section: str, table: Mapping[str, Any], key: str, kind: type, *default: Any
    ) -> Any:
        value = table.get(key, *default)
        with self.at(section, key):
            if not isinstance(value, kind) or isinstance(value, bool):
                raise OptionError(f"{key} must be {_KINDS[kind]}; got {value!r}.")
        return value

    def _number(self, section: str, table: Mapping[str, Any], key: str) -> float:
        with self.at(section, key):
            if not _is_number(table[key]):
                raise OptionError(f"{key} must be a number; got {table[key]!r}.")
        return float(table[key])


_KINDS = {str: "text in quotes", dict: "a table", list: "a list", int: "a whole number"}


def _is_number(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return (isinstance(value, float) and not math.isnan(value)) or abs(value) < 1e300


def _places(text: str) -> Iterator[tuple[str, str | None, int]]:
    """Yield (section, key, line) of every table header and key of a TOML text."""
    section, rules = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*\[\[\s*rule\s*\]\]", line):
            rules += 1
            section = f"rule {rules}"
            yield section, None, number
        elif header := re.match(r"\s*\[\s*([\w.]+)\s*\]", line):
            name, _, inner = header[1].partition(".")
            section = f"rule {rules}" if name == "rule" else name
            yield section, inner or None, number
        elif key := re.match(r"\s*[\"']?(\w+)[\"']?\s*[.=]", line):
            yield section, key[1], number
