"""The null of roles: subject and object swapped at random within each story."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from portrayal.measure.scope import Scope
from portrayal.measure.stories.strata import Stratum, stratum_of
from portrayal.measure.stories.tally import GENDER_CODES, Tally
from portrayal.stats import divide
from portrayal.types import FloatArray, IntArray

_BLOCK = 20_000  # distinct stories handled at once, to bound memory


@dataclass(frozen=True)
class Swaps:
    """Characters of each kind in each role, in every draw.

    Attributes
    ----------
    name, gender
        Codes of each kind of character, shape (n_kinds,).
    subordinate, dominant
        How many of each kind stand in the role, shape (draws, n_kinds).
    """

    name: IntArray
    gender: IntArray
    subordinate: FloatArray
    dominant: FloatArray

    def ratio(self, numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
        """Return the ratio of shares in every draw, shape (draws, k).

        Parameters
        ----------
        numerator, denominator
            What a character of each kind adds to count and total, shapes (n_kinds, k) or
            (n_kinds, 1).
        """
        above = np.asarray(numerator, dtype=np.float64)
        total = np.asarray(denominator, dtype=np.float64)
        lesser = divide(self.subordinate @ above, self.subordinate @ total)
        greater = divide(self.dominant @ above, self.dominant @ total)
        return divide(lesser, greater)


def swapped_roles(tally: Tally, stratum: Stratum, scope: Scope) -> Swaps:
    """Return the characters of a stratum with roles swapped at random within each story.

    In every draw each power-laden story keeps its two characters, and a fair coin decides who
    stands above whom: of `c` equal stories a binomial number is swapped. A pooled stratum sums the
    draws of its domains and models. The result is kept on the tally, as several measures read it.
    """
    prompts, models = stratum.prompts.tobytes(), stratum.models.tobytes()
    key = ("swaps", prompts, models, scope.permutations, scope.seed)
    if key not in tally.cache:
        parts = [_swapped_part(tally, part, scope) for part in _parts(tally, stratum)]
        tally.cache[key] = parts[0] if len(parts) == 1 else _summed(parts)
    swaps: Swaps = tally.cache[key]
    return swaps


def _swapped_part(tally: Tally, part: Stratum, scope: Scope) -> Swaps:
    """The draws of one domain and one model, the same in every stratum that pools them."""
    key = ("swaps of a part", part.domain, part.model, scope.permutations, scope.seed)
    if key not in tally.cache:
        rng = scope.rng("swaps", part.domain, part.model)
        tally.cache[key] = _drawn(tally, part, scope.permutations, rng)
    swaps: Swaps = tally.cache[key]
    return swaps


def _parts(tally: Tally, stratum: Stratum) -> Iterator[Stratum]:
    """The single domains and models that a stratum pools."""
    for domain in np.unique(tally.prompt_domain[stratum.prompts]).tolist():
        prompts = stratum.prompts[tally.prompt_domain[stratum.prompts] == domain]
        for model in stratum.models.tolist():
            part = stratum_of(tally, tally.domains[domain], tally.models[model], prompts, [model])
            if part is not None:
                yield part


def _summed(parts: list[Swaps]) -> Swaps:
    kinds = np.concatenate([_kind(part.name, part.gender) for part in parts])
    kind, at = np.unique(kinds, return_inverse=True)
    shape = (len(parts[0].subordinate), len(kind))
    subordinate, dominant = np.zeros(shape), np.zeros(shape)
    start = 0
    for part in parts:
        where = at[start : start + len(part.name)]
        subordinate[:, where] += part.subordinate
        dominant[:, where] += part.dominant
        start += len(part.name)
    return Swaps(*_name_gender(kind), subordinate, dominant)


def _drawn(tally: Tally, stratum: Stratum, draws: int, rng: np.random.Generator) -> Swaps:
    from scipy import sparse

    inside = stratum.has(tally.prompt, tally.model) & tally.readable & (tally.object_gender >= 0)
    subject = _kind(tally.subject_name[inside], tally.subject_gender[inside])
    other = _kind(tally.object_name[inside], tally.object_gender[inside])
    pair, row = np.unique(np.stack([subject, other], axis=1), axis=0, return_inverse=True)
    count = np.bincount(row.ravel(), weights=tally.count[inside], minlength=len(pair)).astype(int)
    kind, at = np.unique(pair, return_inverse=True)
    greater, lesser = at.reshape(pair.shape).T
    rows = np.arange(len(pair))
    shape = (len(pair), len(kind))
    is_lesser = sparse.csr_array((np.ones(len(pair)), (rows, lesser)), shape=shape)
    is_greater = sparse.csr_array((np.ones(len(pair)), (rows, greater)), shape=shape)
    total = count @ (is_lesser + is_greater)
    subordinate = np.tile(count @ is_lesser, (draws, 1)).astype(np.float64)
    moves = (is_greater - is_lesser).tocsr()
    differ = np.flatnonzero(greater != lesser)
    for start in range(0, len(differ), _BLOCK):
        block = differ[start : start + _BLOCK]
        swapped = rng.binomial(count[block], 0.5, size=(draws, len(block)))
        subordinate += (moves[block].T @ swapped.T.astype(np.float64)).T
    return Swaps(*_name_gender(kind), subordinate, total - subordinate)


def _kind(name: IntArray, gender: IntArray) -> IntArray:
    """One code for a name and a gender; no name is 0."""
    return (name + 1) * len(GENDER_CODES) + gender


def _name_gender(kind: IntArray) -> tuple[IntArray, IntArray]:
    return kind // len(GENDER_CODES) - 1, kind % len(GENDER_CODES)
