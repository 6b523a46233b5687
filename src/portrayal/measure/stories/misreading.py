"""Misreading undone: what counts of genders and names would be without a reader's errors.

A reader's confusion K, P(read | true), is measured on stories with known people; counts n that it
read are K't of true counts t (the matrix method: Barron 1977; for two classes Rogan & Gladen 1978).
Genders are taken for both people of a story together, as a reader that takes one for the other errs
on both. t is found by expectation maximisation from n, which keeps counts at 0 or above
(Richardson 1972; Lucy 1974; D'Agostini 1995). Roles that changed places are undone before, as p of
the stories: n = (1 - p) a + p a'.

K is not known but measured on few stories: its prompts are weighed at random (Rubin's 1981 Bayesian
bootstrap), and each row has the noise of Jeffreys' prior, so that what never happened may.

Errors differ between domains and roles. Each row of a role in a setting is drawn around that of all
settings, by a Dirichlet prior that is worth the more people the more alike labelled settings are.
Where stories of the setting are labelled by hand, its own people are added (the proper Bayesian
bootstrap of Muliere & Secchi 1996): few of them leave the row as uncertain as settings are
different, and none of them all that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from scipy.special import gammaln

from portrayal.annotate.people.confusion import GENDERS, Confusion, Prompts, Setting
from portrayal.stats import divide
from portrayal.stats.resampling import sums_over
from portrayal.types import BoolArray, FloatArray

N = len(GENDERS)
KNOWN = N - 1
"""Genders that count as known: all but the last."""
STEPS = 60
"""Steps of expectation maximisation; rows that a reader reads right half the time need some 30."""
JEFFREYS = 0.5
STRENGTHS = np.geomspace(0.3, 300.0, 50)
"""People that the errors in all settings may be worth in one."""
LEAN = 2.0
"""Stories by which a pair of genders leans on the errors of its two genders apart."""
LEAST_SEEN, LEAST_APART = 10, 0.1
"""People of a gender in the measured stories, and how much oftener than other people they must be
read as what they are, for a correction."""

_TINY = 1e-12
_OWN = np.eye(N, dtype=bool)

Likelihoods = Callable[[Sequence[str]], FloatArray]


@dataclass(frozen=True)
class Misreading:
    """Draws of how a reader errs; the first is the measured one, without noise.

    Attributes
    ----------
    single
        P(read | true) of the gender of a story's only person, shape (n_draws, 4, 4).
    pairs
        The same of two people together, shape (n_draws, 16, 16): subject times object.
    swapped
        Share of stories of two whose people changed places, shape (n_draws,).
    strayed
        Share of names that are of nobody asked for, shape (n_draws,).
    drift
        By race, read share over true share of the measured names, shape (n_draws, n_races); 1
        where these are in no table.
    distinguished
        Which genders the reader surely tells from others, shape (3,). People of the others, and
        those whose gender no word tells, are taken as read.
    excess
        How much oftener people of a gender are read so than others are, shape (n_draws, 3).
    n_marked, read_right
        Marked people of each gender, and those of them read so, shape (3,); of a setting, in the
        role with the fewest.
    """

    single: FloatArray
    pairs: FloatArray
    swapped: FloatArray
    strayed: FloatArray
    drift: FloatArray
    distinguished: BoolArray
    excess: FloatArray
    n_marked: FloatArray
    read_right: FloatArray

    @cached_property
    def mixing(self) -> FloatArray:
        """Share of names that stand for either role alike, shape (n_draws,)."""
        # A name of nobody asked for stands in the wrong role every second time.
        return np.asarray(self.swapped + self.strayed / 2.0)


def misreadings(
    confusion: Confusion,
    likelihoods: Likelihoods,
    rng: np.random.Generator,
    draws: int,
    setting: Setting | None = None,
) -> list[Misreading]:
    """Return the draws of each part of a confusion.

    First as in stories of the setting that are labelled by hand, or of all settings where it has
    none; then as on marked stories in the manner of models, and as on hard ones. In each part
    either role of a setting has errors of its own, as far as labelled settings differ.

    Parameters
    ----------
    confusion
        How a reader errs.
    likelihoods
        Function of first names to shares by race, NaN where they are in no table.
    rng, draws
        Source and number of random weights.
    setting
        Of what the stories are; None leaves labelled ones out.
    """
    labelled = confusion.labelled or confusion.borrowed
    settings = {place: _counted(prompts, likelihoods) for place, prompts in labelled.items()}
    worths = None
    if setting is not None and settings:
        worths = _worths(list(settings.values()), rng, draws)
    parts = []
    for i, prompts in enumerate((confusion.stories, confusion.hard)):
        if prompts:  # a confusion may lack stories in the manner of models, or hard ones
            counts = _counted(prompts, likelihoods)
            scale = 1.0
            if confusion.names_right is not None and counts.names_wrong > 0:
                scale = min(1.0, (1.0 - confusion.names_right[i]) / counts.names_wrong)
            parts.append(_drawn(counts, scale, rng, draws, worths))
    if setting is not None and confusion.labelled:
        total = _counted(tuple(chain(*confusion.labelled.values())), likelihoods)
        scale = 1.0
        if confusion.names_right is not None and total.names_wrong > 0:
            # More are wrong in stories of new prompts than in those that rules were written for.
            scale = (1.0 - confusion.names_right[0]) / total.names_wrong
        local = settings.get(setting)
        parts.insert(0, _drawn(total if local is None else local, scale, rng, draws, worths, total))
    return parts


def _worths(settings: Sequence["_Counts"], rng: np.random.Generator, draws: int) -> FloatArray:
    """Draw how many people the errors of all settings are worth in a role of one, (n_draws, 4).

    A row of a role in a setting has counts of a Dirichlet-multinomial around the row of all. How
    many people that row is worth is drawn by its likelihood, gender by gender; before, every
    correlation 1 / (1 + worth) of two people of a row is as likely, so that few people do not make
    the errors of settings alike. The first draw takes the likeliest number.
    """
    # Empirical Bayes: the rows of all settings are the centre around which each one's lie.
    total = np.sum([counts.slots.sum((0, 1)) for counts in settings], axis=0)
    mean = (total + JEFFREYS) / (total + JEFFREYS).sum(1, keepdims=True)
    rows = np.concatenate([counts.slots.sum(0) for counts in settings])
    alpha = STRENGTHS[:, np.newaxis, np.newaxis] * mean
    n, a = rows.sum(-1), alpha.sum(-1)
    likelihood = (gammaln(a) - gammaln(a + n[:, np.newaxis])).sum(0)
    likelihood += (gammaln(alpha + rows[:, np.newaxis]) - gammaln(alpha)).sum((0, -1))
    # The prior: 1 / (1 + worth) is uniform, on a grid that is even in the logarithm of worth.
    likelihood += np.log(STRENGTHS / (1.0 + STRENGTHS) ** 2)[:, np.newaxis]
    # Less its maximum: likelihoods of many people are too small for floating point.
    chance = np.exp(likelihood - likelihood.max(0))
    chance /= chance.sum(0)
    worths = np.stack([rng.choice(STRENGTHS, draws, p=column) for column in chance.T], axis=1)
    return np.vstack([STRENGTHS[likelihood.argmax(0)], worths])


def _by_role(rows: FloatArray, worths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw what the rows of all settings are worth in either role of one, (n_draws, 2, 4, 4).

    `rows` are P(read | true), shape (n_draws, 4, 4). The first draw is without noise.
    """
    mean = (worths[:, :, np.newaxis] * rows)[:, np.newaxis].repeat(2, axis=1)
    return np.concatenate([mean[:1], rng.standard_gamma(mean[1:])])


@dataclass(frozen=True)
class _Counts:
    """What a reader did by prompt: first axis prompts.

    `pairs` are of true and read persons, whose roles may have changed: (n, 16, 16). `single` has
    them by person, (n, 2, 4, 4). `roles` are stories of two people, and those swapped; names read,
    and those of nobody asked for. `shares` are sums of likelihoods of true and of read names,
    and the names in a table, (n, 2, n_races, 2). `names_wrong` is 1 less the mean of precision and
    recall.
    """

    single: FloatArray
    pairs: FloatArray
    slots: FloatArray
    roles: FloatArray
    shares: FloatArray
    names_wrong: float


@lru_cache(maxsize=32)
def _counted(prompts: Prompts, likelihoods: Likelihoods) -> _Counts:
    names = sorted(
        {name for p in prompts for s in p for slot in s for name in (slot.name, slot.read_name)}
    )
    place = {name: i for i, name in enumerate(names)}
    table = likelihoods(names)
    n, n_races = len(prompts), table.shape[1]
    singles, pairs = np.zeros((n, N, N)), np.zeros((n, N * N, N * N))
    slots, roles = np.zeros((n, 2, N, N)), np.zeros((n, 4))
    shares, right = np.zeros((n, 2, n_races, 2)), np.zeros(3)
    mentions: list[tuple[int, int, int]] = []  # prompt, true or read, name
    code = {gender: i for i, gender in enumerate(GENDERS)}
    for i, stories in enumerate(prompts):
        for story in stories:
            true, guess = [person.name for person in story], [person.read_name for person in story]
            genders = [code[person.gender] for person in story]
            read = [code[person.read_gender] for person in story]
            two = len(story) == 2
            swapped = two and _swapped(true, guess)
            if two:
                # Genders are compared person by person; that they changed roles is counted by
                # itself.
                read = read[::-1] if swapped else read
                pairs[i, genders[0] * N + genders[1], read[0] * N + read[1]] += 1
                roles[i, :2] += 1, swapped  # stories of two, and how many of them changed places
            else:
                singles[i, genders[0], read[0]] += 1
            for slot, (gender, as_read) in enumerate(zip(genders, read, strict=True)):
                slots[i, slot, gender, as_read] += 1
            guesses = [name for name in guess if name]
            roles[i, 2:] += len(guesses), sum(name not in true for name in guesses)
            mentions += [(i, 0, place[name]) for name in true if name]
            mentions += [(i, 1, place[name]) for name in guesses]
            right += (
                sum(a == b != "" for a, b in zip(true, guess, strict=True)),
                sum(map(bool, true)),
                len(guesses),
            )
    prompt, side, name = np.array(mentions, dtype=int).reshape(-1, 3).T
    values = np.stack([np.nan_to_num(table), ~np.isnan(table)], axis=-1)
    # Not +=, which counts a prompt once however many names it has.
    np.add.at(shares, (prompt, side), values[name])
    wrong = 1.0 - (divide(right[0], right[1]) + divide(right[0], right[2])) / 2.0
    return _Counts(singles, pairs, slots, roles, shares, float(wrong))


def _swapped(true: Sequence[str], guess: Sequence[str]) -> bool:
    """Whether a story's two people changed places: one has the other's name, none their own."""
    # Two people of one name cannot be seen to change places.
    if true[0] == true[1]:
        return False
    # One crossed name will do, as the other person's name may not have been found
    crossed = [guess[0] == true[1] != "", guess[1] == true[0] != ""]
    straight = [guess[0] == true[0] != "", guess[1] == true[1] != ""]
    return any(crossed) and not any(straight)


def _drawn(
    counts: _Counts,
    scale: float,
    rng: np.random.Generator,
    draws: int,
    worths: FloatArray | None = None,
    overall: _Counts | None = None,
) -> Misreading:
    """Draw confusions; wrong names are `scale` times as frequent as counted.

    With what other settings are worth, either role has errors of its own: around those of `overall`
    with the people of this setting added, or around those of the counts, where `overall` is none or
    the same. Where labelled (`overall`), people whose gender no word tells have errors, too.
    """
    chance, labelled = _Chance(len(counts.single), rng, draws), overall is not None
    sums, raw = chance.sums, counts.slots.sum(0)
    square = counts.pairs.reshape(-1, N, N, N, N)
    # Each story also with both people exchanged, half as heavy: errors hardly depend on the order
    turned = np.asarray(square.transpose(0, 2, 1, 4, 3).reshape(counts.pairs.shape)) / 2.0
    used = np.arange(2)
    if worths is not None and overall is not None and overall is not counts:
        around = _Chance(len(overall.slots), rng, draws)
        common = _rows(around.sums(overall.slots.sum(1)) + around.noise(N, N))
        slot = usual = _rows(sums(counts.slots) + _by_role(common, worths, rng))
        used, turned = np.flatnonzero(raw.any((1, 2))), np.zeros_like(turned)
        raw = raw[used]
    else:
        either = _rows(sums(counts.slots.sum(1)) + chance.noise(N, N))
        usual = np.stack([either, either], axis=1)
        slot = usual if worths is None else _rows(_by_role(either, worths, rng))
        raw = raw.sum(0, keepdims=True)
    people = raw.sum(2)[:, :KNOWN]
    count, right = people.min(0), np.diagonal(raw, axis1=1, axis2=2)[people.argmin(0), range(KNOWN)]
    # How often others are read so is known of all settings, a group's own share by role.
    rows = np.where(_OWN, slot, usual)[:, used]
    # The lesser of both roles, as a correction of either needs it.
    gaps = np.min([_apart(row, count >= LEAST_SEEN) for row in np.swapaxes(rows, 0, 1)], axis=0)
    usable = (count >= LEAST_SEEN) & (np.quantile(gaps[1:], 0.025, axis=0) >= LEAST_APART)
    unusable = np.append(~usable, not labelled)
    tilt = divide(slot, np.maximum(usual, _TINY))
    # The first draw is the confusion as measured, in which no role has errors of its own.
    tilt[0] = 1.0
    singles = _rows(sums(counts.single) + LEAN * usual[:, 0]) * tilt[:, 0]
    pairs = _rows(sums(counts.pairs + turned) + LEAN * _both(usual)) * _both(tilt)
    # Where the reader does not tell a gender, undoing its errors would only blow up the noise
    as_read = np.where(unusable[:, np.newaxis], np.eye(N), slot)
    either_unusable = (unusable[:, np.newaxis] | unusable).reshape(-1, 1)
    return Misreading(
        np.where(unusable[:, np.newaxis], np.eye(N), _rows(singles)),
        np.where(either_unusable, _both(as_read), _rows(pairs)),
        *_of_names(counts, scale, chance),
        *(usable, gaps, count, right),
    )


def _of_names(
    counts: _Counts, scale: float, chance: "_Chance"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw how many stories are swapped and names strayed, and the drift of each race's share."""
    roles = chance.sums(counts.roles) + chance.noise(4)
    swapped, strayed = (
        np.minimum(scale * divide(roles[:, a], np.maximum(roles[:, b], 1e-9)), 1.0)
        for a, b in ((1, 0), (3, 2))
    )
    shares = chance.sums(counts.shares)
    level = divide(shares[..., 0], shares[..., 1])
    # In logarithms, so that twice as many wrong names drift twice as far.
    drift = divide(level[:, 1], level[:, 0]) ** scale
    return swapped, strayed, np.where(np.isnan(drift), 1.0, drift)


class _Chance:
    """Random weights of n prompts, and the noise of what never happened; the first without."""

    def __init__(self, n: int, rng: np.random.Generator, draws: int) -> None:
        self.rng, self.draws = rng, draws
        # Exponential numbers over their sum are the Dirichlet weights of the Bayesian bootstrap.
        self.weights = np.vstack([np.ones(n), rng.standard_exponential((draws, n))])

    def sums(self, by_prompt: FloatArray) -> FloatArray:
        """Return weighted sums over the prompts, shape (n_draws, ...)."""
        flat = by_prompt.reshape(len(by_prompt), -1)
        return sums_over(self.weights, flat).reshape(self.draws + 1, *by_prompt.shape[1:])

    def noise(self, *shape: int) -> FloatArray:
        """Return Jeffreys' prior, shape (n_draws, *shape)."""
        draws = self.rng.standard_gamma(JEFFREYS, (self.draws, *shape))
        return np.concatenate([np.zeros((1, *shape)), draws])


def _apart(matrix: FloatArray, usable: BoolArray) -> FloatArray:
    """How much oftener people of each gender are read so than others that are known, (n, 3)."""
    rows = matrix[:, :KNOWN, :KNOWN]
    correct = np.diagonal(rows, axis1=1, axis2=2)
    wrong = np.where(~usable[:, np.newaxis] | np.eye(KNOWN, dtype=bool), 0.0, rows).max(axis=1)
    return np.asarray(correct - wrong)


def _both(slot: FloatArray) -> FloatArray:
    """P(read | true) of two people who are read separately, shape (n_draws, 16, 16)."""
    both = np.einsum("bij,bkl->bikjl", slot[:, 0], slot[:, 1])
    return np.asarray(both.reshape(-1, N * N, N * N))


def _rows(counts: FloatArray) -> FloatArray:
    """Rows as probabilities; a gender that never occurred is read as what it is."""
    total = counts.sum(-1, keepdims=True)
    size = counts.shape[-1]
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), np.eye(size))


def unswap(one: FloatArray, other: FloatArray, share: FloatArray) -> FloatArray:
    """Return what belongs to the first of two roles, where a share of the stories changed them.

    `one` is what was read in the first role and `other`, in the second role, what would be there:
    one = (1 - p) a + p b and other = p a + (1 - p) b. NaN where no share can be told from its
    reverse (p of ½ or more).
    """
    p = share.reshape(-1, *(1,) * (one.ndim - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        first = ((1.0 - p) * one - p * other) / (1.0 - 2.0 * p)
    return np.asarray(np.where(p < 0.5 - LEAST_APART / 2, np.maximum(first, 0.0), np.nan))


def unmix(read: FloatArray, matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return true counts of each class, and the part of each read class that they are.

    Parameters
    ----------
    read
        Counts by read class, shape (n_draws, k).
    matrix
        P(read | true), shape (n_draws, k, k).

    Returns
    -------
    true, part
        Shapes (n_draws, k), and (n_draws, k, k): P(true | read), read classes along the rows.
    """
    # A class that starts at 0 stays there in expectation maximisation.
    guess = np.maximum(read, 1e-12)
    for _ in range(STEPS):
        expected = np.matmul(guess[:, np.newaxis], matrix)[:, 0]
        guess = (
            guess * np.matmul(matrix, divide(read, np.maximum(expected, 1e-300))[..., None])[..., 0]
        )
    # Bayes: what a reader says is divided among the true classes that may be behind it.
    joint = guess[:, :, np.newaxis] * matrix
    part = divide(joint, np.maximum(joint.sum(1, keepdims=True), 1e-300))
    return guess, np.swapaxes(part, 1, 2)
