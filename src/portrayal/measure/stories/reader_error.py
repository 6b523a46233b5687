"""Reader's error: how far the errors of who read the stories could move each headline.

Every ratio that a report may state gets, as details, what it would be without the reader's errors
(`error_value`) and how far they could move it (`error_low`, `error_high`): the hull of its interval
and of the central draws of the corrected ratio, under each part of the reader's confusion (see
`misreading`). A draw takes a random subset of the prompts of the run, as the intervals of roles do,
and a random confusion: Monte Carlo in the manner of Bayer, Fay & Graubard (2023). Where the reader
was not measured on such stories or on enough people of a group, or does not tell them from others,
the reason stands in place of the range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from portrayal.annotate.people.confusion import Confusion, Setting
from portrayal.measure.scope import Scope
from portrayal.measure.stories.medians import MEDIAN_REPRESENTATION, MEDIAN_SUBORDINATION
from portrayal.measure.stories.misreading import (
    KNOWN,
    LEAST_APART,
    LEAST_SEEN,
    Likelihoods,
    Misreading,
    N,
    misreadings,
    unmix,
    unswap,
)
from portrayal.measure.stories.representation import PAIR_REPRESENTATION, REPRESENTATION, couples
from portrayal.measure.stories.strata import GENDERS, Stratum, strata
from portrayal.measure.stories.subordination import MEDIAN_RACIALIZED, SUBORDINATION
from portrayal.measure.stories.tally import NO_SLOT, Tally
from portrayal.records import (
    BASIS,
    ERROR_HIGH,
    ERROR_LOW,
    ERROR_VALUE,
    TEXTS_ALONE,
    Estimate,
    Interval,
    Status,
)
from portrayal.reference import PAIRS
from portrayal.reference.locales import HOME
from portrayal.stats import divide
from portrayal.stats.resampling import sums_over
from portrayal.stats.tails import normal_isf
from portrayal.types import FloatArray

DRAWS = 400
ROWS = 5
"""Subsets of prompts for each draw of the audit."""
ALL_PROMPTS = 13
"""With at most this many prompts, all 2^n subsets are used."""
MOST_BLOCKS = 500
"""With more prompts than this, some are joined."""
MOST_LOST = 0.05
"""Share of draws without a corrected value above which none is given."""

_WORDS = dict(zip(GENDERS, ("feminine", "masculine", "non-binary"), strict=True))
_OF_ROLES = {SUBORDINATION.name, MEDIAN_SUBORDINATION.name, MEDIAN_RACIALIZED.name}
"""Measures of power-laden stories."""
_MEASURES = {
    *_OF_ROLES,
    *(REPRESENTATION.name, PAIR_REPRESENTATION.name, MEDIAN_REPRESENTATION.name),
}
"""Measures that a report may state."""

Shares = Mapping[tuple[str, ...], FloatArray]
"""By the values of a group, its ratio or share in each draw, shape (n_draws,)."""


@dataclass(frozen=True)
class ReaderErrors:
    """Adds to estimates how far the reader's errors could move them.

    Attributes
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    confusion
        How the reader errs.
    likelihoods
        Function of first names to shares by race.
    locale
        Language and country of the stories.
    """

    tally: Tally
    scope: Scope
    confusion: Confusion | None
    likelihoods: Likelihoods
    locale: str = HOME
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    def added(self, e: Estimate) -> Estimate:
        """Return an estimate with its details, or why there are none; as it is without a value."""
        # Labels of these very stories tell more than how the reader erred on others
        if e.value is None or e.corrected:
            return e
        if self.confusion is None or e.measure not in _MEASURES:
            return e
        reason, draws, bounds = self._why_not(e), [], _chance(e, self.scope.level)
        if reason is None and bounds is not None:
            draws = [self.corrected(e, part) for part in range(len(self.misread(e)))]
            lost = max(float(np.isnan(draw[1:]).mean()) for draw in draws)
            if lost > MOST_LOST or np.isnan(draws[0][0]):
                reason = (
                    "cannot be told: with the reader's errors taken out, too few people are left"
                )
        if reason is not None:
            return replace(e, status=e.status | Status(reader_error=reason))
        if bounds is None:
            return e
        tail = (1.0 - bounds.level) / 2.0
        defined = (draw[1:][~np.isnan(draw[1:])] for draw in draws)
        tails = [tail, 1.0 - tail]
        drawn_ends = [np.quantile(draw, tails, method="inverted_cdf").tolist() for draw in defined]
        # The hull: nobody knows which part of the confusion holds for these stories
        low = min(bounds.low, *(end[0] for end in drawn_ends))
        high = max(bounds.high, *(end[1] for end in drawn_ends))
        # Where labels by hand show how the reader errs, the corrected value is no nearer to them
        # than the read one (scripts/score_errors.py), so the range alone has the errors.
        value = e.value if self.confusion.labelled else float(draws[0][0])
        ends = {ERROR_VALUE: value, ERROR_LOW: min(low, value), ERROR_HIGH: max(high, value)}
        return replace(e, details={**e.details, **ends})

    def misread(self, e: Estimate) -> list[Misreading]:
        """Draws of each part of the confusion, in the setting of an estimate."""
        assert self.confusion is not None
        setting = Setting(e.strata["domain"], e.measure in _OF_ROLES)
        if ("misread", setting) not in self._cache:
            rng = self.scope.rng("reader's error", *map(str, setting))
            self._cache["misread", setting] = misreadings(
                self.confusion, self.likelihoods, rng, self.draws, setting
            )
        parts: list[Misreading] = self._cache["misread", setting]
        return parts

    @property
    def draws(self) -> int:
        """Draws of subsets and confusions."""
        return min(self.scope.draws, DRAWS)

    def _why_not(self, e: Estimate) -> str | None:
        """Why the errors cannot be told: what the reader was never measured on."""
        assert self.confusion is not None
        measured = self.confusion.labelled
        # Titles, names and pronouns differ by language: errors there are others
        if self.locale != self.confusion.locale:
            return (
                f"cannot be told: the reader was measured on stories of {self.confusion.locale}, "
                f"and these are of {self.locale}"
            )
        setting = Setting(e.strata["domain"], e.measure in _OF_ROLES)
        about = f"{'power-laden' if setting.laden else 'power-neutral'} stories of {setting.domain}"
        genders = [e.group["gender"]] if "gender" in e.group else []
        genders = e.group["pair"].split("-") if "pair" in e.group else genders
        for code in dict.fromkeys(map(GENDERS.index, genders)):
            for part, misread in enumerate(self.misread(e)):
                if not misread.distinguished[code]:
                    count, right = misread.n_marked[code], misread.read_right[code]
                    share = f" and reads {100 * right / count:.0f} % so" if count else ""
                    of_setting = setting in measured and part == 0
                    place = f" in a role of {about}" if of_setting else ""
                    enough = (
                        count >= LEAST_SEEN
                        and not of_setting
                        and misread.excess[0, code] >= LEAST_APART
                    )
                    differ = ", but hardly so in some roles" if enough else ""
                    return (
                        f"cannot be told: the reader was measured on {count:.0f} "
                        f"{_WORDS[GENDERS[code]]} people{place}{share}{differ}"
                    )
        return None

    def shares(self, e: Estimate, part: int) -> tuple[FloatArray, FloatArray]:
        """Share of the group of an estimate in its stratum, or ratio of roles, in each draw.

        As read, and as corrected by this part of the confusion.
        """
        laden, is_couples = e.measure in _OF_ROLES, e.measure == PAIR_REPRESENTATION.name
        place = (
            ("laden", *e.strata.values()) if laden else ("neutral", is_couples, *e.strata.values())
        )
        if (*place, part) not in self._cache:
            if ("strata", laden) not in self._cache:
                all_strata = strata(self.tally, laden=laden)
                self._cache["strata", laden] = {tuple(s.labels.values()): s for s in all_strata}
            stratum: Stratum | None
            stratum = self._cache["strata", laden][e.strata["domain"], e.strata["model"]]
            if is_couples and stratum is not None:
                stratum = couples(self.tally, stratum)
            assert stratum is not None
            if ("people", place) not in self._cache:
                self._cache["people", place] = _people(self.tally, stratum, names=laden)
            draws = self._drawn(self._cache["people", place], stratum, (*place, part))
            misread, races = self.misread(e)[part], self.tally.races
            self._cache[*place, part] = tuple(
                _ratios(draws, races, confusion) if laden else _shares(draws, confusion)
                for confusion in (None, misread)
            )
        read, corrected = self._cache[*place, part]
        return read[tuple(e.group.values())], corrected[tuple(e.group.values())]

    def corrected(self, e: Estimate, part: int) -> FloatArray:
        """Return the value of an estimate without the errors of this part, in each draw.

        Of a race the share over the drift of its names; medians, and ratios weighted by prompt,
        move by the factor by which the pooled value of their group moves.
        """
        if self.tally.attribute in e.group and e.measure not in _OF_ROLES:
            race = self.tally.races.index(e.group[self.tally.attribute])
            return _around(self, e) / self.misread(e)[part].drift[:, race]
        read, corrected = self.shares(e, part)
        if e.measure in (REPRESENTATION.name, PAIR_REPRESENTATION.name):
            return corrected / e.details["baseline"]
        if e.measure == SUBORDINATION.name and BASIS not in e.strata:
            return corrected
        with np.errstate(invalid="ignore"):  # infinitely often by never is not known
            return np.asarray(_around(self, e) * divide(corrected, read))

    def _drawn(
        self, counts: "_ReadCounts", stratum: Stratum, key: tuple[Any, ...]
    ) -> "_ReadCounts":
        """Counts of all prompts, and of random subsets of them, with the noise of few people."""
        n = len(stratum.prompts)
        starts = np.arange(0, n, -(-n // MOST_BLOCKS))
        subsets = _subsets_of(self.tally, len(starts), ROWS * self.scope.draws - 1, self.scope)
        rng = self.scope.rng("reader's error", *map(str, key))
        # Row 0 is the empty subset, in which nobody is left to be counted.
        rows = 1 + rng.integers(0, len(subsets) - 1, self.draws)
        weights = np.vstack([np.ones(len(starts)), subsets[rows]])
        # Half a person of each gender (Jeffreys): that nobody was seen does not show that there is
        # nobody.
        noise = np.vstack([np.zeros(N), rng.standard_gamma(0.5, (self.draws, N))])

        def sums(values: FloatArray) -> FloatArray:
            flat = np.add.reduceat(values.reshape(n, -1), starts, axis=0)
            return sums_over(weights, flat).reshape(len(weights), *values.shape[1:])

        return _ReadCounts(*map(sums, vars(counts).values())).with_people(noise)


@dataclass(frozen=True)
class _ReadCounts:
    """People of a stratum as read, by prompt or draw (first axis, n).

    Attributes
    ----------
    single
        Genders of people alone in their story, shape (n, 4).
    pairs
        Genders of both, (n, 16).
    upper, lower
        Sums of likelihoods by race and gender pair, of the subjects' and of the objects' names, and
        of names that each race's table has; (n, 2, n_races, 16).
    """

    single: FloatArray
    pairs: FloatArray
    upper: FloatArray
    lower: FloatArray

    def with_people(self, more: FloatArray) -> "_ReadCounts":
        """Add people of each gender, shape (n, 4), beside others as they are."""
        if not self.pairs.any():
            return replace(self, single=self.single + more)
        square = self.pairs.reshape(-1, N, N)
        # Nobody is added to a gender alone: a person stands beside others as those read so do.
        either = square.sum(1) + square.sum(2)
        share = divide(either, np.maximum(either.sum(1, keepdims=True), 1e-12))
        added = more[:, :, np.newaxis] * share[:, np.newaxis]
        both = (added + np.swapaxes(added, 1, 2)) / 2.0
        return replace(self, pairs=self.pairs + both.reshape(-1, N * N))


def _subsets_of(tally: Tally, n_prompts: int, draws: int, scope: Scope) -> FloatArray:
    """Subsets of so many prompts as rows of 0 and 1, the empty one first; kept on the tally."""
    key = ("subsets", n_prompts, draws, scope.study, scope.seed)
    # The same subsets in every stratum, so that estimates vary together and are drawn once
    if key not in tally.cache:
        if n_prompts <= ALL_PROMPTS:
            subsets = (np.arange(2**n_prompts)[:, np.newaxis] >> np.arange(n_prompts)) & 1
        else:
            rng = scope.rng("swaps", str(n_prompts))
            packed = rng.integers(0, 256, size=(draws, -(-n_prompts // 8)), dtype=np.uint8)
            is_drawn = np.unpackbits(packed, axis=1)[:, :n_prompts]
            subsets = np.concatenate([np.zeros((1, n_prompts)), is_drawn])
        tally.cache[key] = subsets.astype(np.float64)
    rows: FloatArray = tally.cache[key]
    return rows


def _people(tally: Tally, stratum: Stratum, *, names: bool = False) -> _ReadCounts:
    """Count the genders of a stratum's stories by prompt; with names, their likelihoods too."""
    n, n_races = len(stratum.prompts), len(tally.races) if names else 0
    inside = stratum.has(tally.prompt, tally.model) & tally.readable
    two = inside & (tally.object_gender != NO_SLOT)

    one = inside & ~two
    code = np.searchsorted(stratum.prompts, tally.prompt)
    # Unspecified and unsure are one: neither tells a gender
    genders = [np.minimum(gender, KNOWN) for gender in (tally.subject_gender, tally.object_gender)]
    cell = code[one] * N + genders[0][one]
    singles = np.bincount(cell, tally.count[one].astype(np.float64), n * N).reshape(n, N)
    place = code[two] * N * N + genders[0][two] * N + genders[1][two]
    weight = tally.count[two].astype(np.float64)
    size = n * N * N
    pairs = np.bincount(place, weight, size).reshape(n, N * N)
    sides = []
    for codes in (tally.subject_name[two], tally.object_name[two]):
        cells = np.zeros((n, 2, n_races, N * N))
        for race in range(n_races):
            likelihood = tally.likelihood[codes, race]
            for kind, values in enumerate((np.nan_to_num(likelihood), ~np.isnan(likelihood))):
                cells[:, kind, race] = np.bincount(place, weight * values, size).reshape(n, N * N)
        sides.append(cells)
    return _ReadCounts(np.asarray(singles), np.asarray(pairs), *sides)


def _shares(read: _ReadCounts, misread: Misreading | None) -> Shares:
    """Share of each gender among people of known gender, and of each pair among known pairs."""
    singles, pairs = read.single, read.pairs
    if misread is not None:
        singles = unmix(singles, misread.single)[0] if singles.any() else singles
        pairs = unmix(pairs, misread.pairs)[0] if pairs.any() else pairs
    square = _without_rounding(pairs.reshape(-1, N, N))
    people = _without_rounding(singles + square.sum(1) + square.sum(2))[:, :KNOWN]
    shares = divide(people, people.sum(1, keepdims=True))
    by_key: dict[tuple[str, ...], FloatArray] = {(g,): shares[:, i] for i, g in enumerate(GENDERS)}
    total = square[:, :KNOWN, :KNOWN].sum((1, 2))
    for pair in PAIRS:
        a, b = (GENDERS.index(g) for g in pair.split("-"))
        both = square[:, a, b] + (square[:, b, a] if a != b else 0.0)
        by_key[pair,] = divide(both, total)
    return by_key


def _ratios(read: _ReadCounts, races: tuple[str, ...], misread: Misreading | None) -> Shares:
    """Ratio of the shares in both roles, of each gender, race, and race and gender."""
    upper, lower, pairs = read.upper, read.lower, read.pairs
    size = len(pairs)
    # Without a confusion, whatever is read as a pair of genders is that pair.
    part = np.broadcast_to(np.eye(N * N), (size, N * N, N * N))
    if misread is not None:
        # Roles come first: the confusion of pairs is of people, whichever role they are read in.
        straight, crossed = unswap(pairs, _exchanged(pairs), misread.swapped), misread.mixing
        pairs, part = unmix(straight, misread.pairs)
        upper, lower = (
            unswap(upper, _exchanged(lower), crossed),
            unswap(lower, _exchanged(upper), crossed),
        )
    square, parts = pairs.reshape(-1, N, N), part.reshape(size, N * N, N, N)
    # By role (first the lesser one), race and gender: likelihoods, and names that the table has.
    sums = [
        np.matmul(side.reshape(size, -1, N * N), parts.sum(axis)).reshape(size, 2, len(races), N)
        for side, axis in ((lower, 2), (upper, 3))
    ]
    people = [square.sum(1)[:, :KNOWN], square.sum(2)[:, :KNOWN]]
    by_key: dict[tuple[str, ...], FloatArray] = {}
    for g, gender in enumerate(GENDERS):
        by_key[gender,] = _ratio([divide(x[:, g], x.sum(1)) for x in people])
        for r, race in enumerate(races):
            cells = [(x[:, 0, r, g], x[:, 1, r, :KNOWN].sum(1)) for x in sums]
            by_key[race, gender] = _ratio([divide(*cell) for cell in cells])
    for r, race in enumerate(races):
        totals = [(x[:, 0, r].sum(1), x[:, 1, r].sum(1)) for x in sums]
        by_key[race,] = _ratio([divide(*cell) for cell in totals])
    return by_key


def _exchanged(pairs: FloatArray) -> FloatArray:
    """Counts by pair of genders with subject and object exchanged, last axis 16."""
    square = pairs.reshape(*pairs.shape[:-1], N, N)
    return np.asarray(np.swapaxes(square, -1, -2).reshape(pairs.shape))


def _ratio(shares: list[FloatArray]) -> FloatArray:
    """Share in the lesser role over that in the greater."""
    lesser, greater = map(_without_rounding, shares)
    return divide(lesser, greater)


def _without_rounding(values: FloatArray) -> FloatArray:
    """Counts or shares; what rounding left of them is 0."""
    return np.where(values < 1e-9, 0.0, values)


def _around(errors: ReaderErrors, e: Estimate) -> FloatArray:
    """Draws of a ratio around its value, as wide as its interval; the first is the value.

    Normal on both sides on the scale of square roots, where counts have about the same variance.
    """
    bounds = _chance(e, errors.scope.level)
    assert e.value is not None
    assert bounds is not None
    if np.isinf(e.value):
        return np.full(errors.draws + 1, np.inf)
    of = tuple(sorted(e.strata.items())), tuple(sorted(e.group.items()))
    rng = errors.scope.rng("around", e.measure, *map(str, of))
    z = np.concatenate([[0.0], rng.standard_normal(errors.draws)])
    # An interval without an upper end still needs a spread to draw from.
    most = bounds.high if np.isfinite(bounds.high) else 4.0 * e.value
    low, middle, high = np.sqrt([max(bounds.low, 0.0), e.value, most])
    scale = np.where(z < 0, middle - low, high - middle) / normal_isf((1 - bounds.level) / 2)
    return np.asarray(np.maximum(middle + z * scale, 0.0) ** 2)


def _chance(e: Estimate, level: float) -> Interval | None:
    """The interval over prompts; of prompts too few for one, that of their texts alone."""
    if e.interval is not None or e.fixed is None:
        return e.interval
    return Interval(e.fixed.low, e.fixed.high, level, TEXTS_ALONE)
