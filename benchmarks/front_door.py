"""Level and power of comparisons of groups, for the designs that files of answers have.

    python -m benchmarks.front_door [--worlds 1000] [--seed 0] [--design NAME]

Each world is drawn for one design: answers to women and men in blocks (pairs, prompts, templates)
or apart, with three scores: a number, whether an answer refuses, and whether it has a phrase. In
null worlds groups do not differ (in prompts like these, though each prompt has its own difference;
of fewer than five prompts, in these). In the others the number is .3 standard deviations higher,
refusals are 10 points more, and the phrase stands in 10 % of one group's answers alone; these
effects too differ between prompts. Printed is the share of worlds with p below .05.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from portrayal.annotate.scores import TextScore
from portrayal.measure import Scope
from portrayal.measure.matched import MatchedSets
from portrayal.measure.matched.differences import Within, contrasts
from portrayal.records import FEW_PROMPTS
from portrayal.types import FloatArray

SCORES = ("score", "refused", "phrase")
EFFECT, POINTS, PHRASE, REFUSALS = 0.3, 0.1, 0.1, 0.1
LEVEL = 0.95


@dataclass(frozen=True)
class Design:
    """A design: its blocks, and answers of each group to each; of one block texts are apart.

    `shared` is the part of a score's variance that answers of a block share; `own` the standard
    deviation of the effect between prompts, as a part of the effect that is planted.
    """

    name: str
    blocks: int
    answers: int
    shared: float = 0.3
    own: float = 0.5

    @property
    def apart(self) -> bool:
        """Whether nothing blocks."""
        return self.blocks == 1

    @property
    def few(self) -> bool:
        """Whether only these very prompts can be spoken of."""
        return 1 < self.blocks < FEW_PROMPTS

    def of_size(self, n_texts: int) -> "Design":
        """Return the design with about so many texts: more answers to few prompts, or more blocks.

        >>> Design("pairs", 100, 1).of_size(400).blocks
        200
        """
        if self.apart or self.few:
            return replace(self, answers=max(n_texts // (2 * self.blocks), 2))
        return replace(self, blocks=max(n_texts // (2 * self.answers), FEW_PROMPTS))


DESIGNS = (
    Design("pairs", 200, 1),
    Design("3 prompts x 200", 3, 100),
    Design("9 prompts x 100", 9, 50, own=0.3),
    Design("30 templates x 5", 30, 5),
    Design("unpaired 400", 1, 200),
    Design("originals", 150, 1, shared=0.6),
    Design("wide", 200, 1, shared=0.5),
)


def world(design: Design, rng: np.random.Generator, *, planted: bool) -> MatchedSets:
    """Draw the answers of one world, as the sets that the study of pairs makes of them."""
    shape = design.blocks, 2, design.answers
    is_first = np.array([1.0, 0.0])[:, np.newaxis]
    own = 0.0 if design.apart or (design.few and not planted) else design.own
    # What each prompt does to the difference, as a multiple of the effect; 0 on average
    effect = own * rng.standard_normal((design.blocks, 1, 1)) + planted
    noise = rng.standard_normal(shape)
    base = np.sqrt(design.shared) * rng.standard_normal((design.blocks, 1, 1))
    score = base + np.sqrt(1.0 - design.shared) * noise + EFFECT * effect * is_first
    share = rng.beta(2.0, 2.0 / REFUSALS - 2.0, (design.blocks, 1, 1))
    refused = rng.random(shape) < np.clip(share + POINTS * effect * is_first, 0.0, 1.0)
    # A phrase that one group's answers alone have; in null worlds both, as often
    usual = PHRASE * (1.0 - planted)
    phrase = rng.random(shape) < np.clip(usual + PHRASE * effect * is_first, 0.0, 1.0)
    return sets_of(np.stack([score, refused * 1.0, phrase * 1.0]), apart=design.apart)


def sets_of(texts: FloatArray, *, apart: bool) -> MatchedSets:
    """Return scores of answers, shape (n_scores, n_blocks, 2, n_answers), as matched sets."""
    k, n_blocks, _, n_answers = texts.shape
    if apart:
        n_sets = 2 * n_answers
        value = np.full((k, n_sets, 2), np.nan)
        half = np.repeat([0, 1], n_answers)
        value[:, np.arange(n_sets), half] = texts[:, 0].reshape(k, n_sets)
        counts = np.eye(2, dtype=np.int64)[half]
        squares, df = np.zeros((2, k, n_sets))
    else:
        n_sets, value = n_blocks, texts.mean(-1)
        counts = np.full((n_sets, 2), n_answers)
        squares = ((texts - value[..., np.newaxis]) ** 2).sum((-1, -2))
        df = np.full((k, n_sets), 2.0 * (n_answers - 1))
    return MatchedSets(
        attribute="gender",
        groups=("woman", "man"),
        models=("m",),
        sources=tuple(map(str, range(n_sets))),
        cluster="text" if apart else "pair",
        scores=tuple(TextScore(name, "", exchanged=False) for name in SCORES),
        model=np.zeros(n_sets, dtype=np.int64),
        source=np.arange(n_sets),
        split={},
        value=value,
        written=value,
        neutral=value,
        n_answers=counts,
        left_out={},
        answers=pa.table({"text_id": [], "set": [], "half": []}),
        exchanged=0,
        squares=squares,
        df=df,
        apart=apart,
    )


def p_values(design: Design, sets: MatchedSets) -> FloatArray:
    """P of each score, shape (3,): of these prompts where they are few; 1 where undefined."""
    rows = np.arange(len(sets.source))
    columns = [(k, *contrasts(sets)[0]) for k in range(len(SCORES))]
    scatter = sets.squares, sets.df, sets.n_answers
    within = Within.of(sets, rows, sets.value, columns, scatter, Scope("pairs", level=LEVEL))
    p = within.means.p
    if design.few:
        assert within.means.fixed is not None
        p = within.means.fixed[2]
    return np.nan_to_num(p, nan=1.0)


def power_of(design: Design, n_worlds: int, seed: int = 0, *, planted: bool = True) -> FloatArray:
    """Return the share of worlds of a design in which each score differs, shape (3,).

    With `planted` off that is the level. `Design.of_size` gives a design of so many texts.
    """
    rng = np.random.default_rng([seed, planted])
    drawn = (world(design, rng, planted=planted) for _ in range(n_worlds))
    return np.mean([p_values(design, sets) < 1.0 - LEVEL for sets in drawn], axis=0)


def lines(designs: tuple[Design, ...], n_worlds: int, seed: int) -> Iterator[str]:
    """Yield a table of level and power of each design, as Markdown."""
    yield "| design | texts | level: " + ", ".join(SCORES) + " | power |"
    yield "|---|---|---|---|"
    for design in designs:
        level, power = (power_of(design, n_worlds, seed, planted=p) for p in (False, True))
        cells = (", ".join(f"{share:.3f}" for share in shares) for shares in (level, power))
        yield f"| {design.name} | {2 * design.blocks * design.answers} | {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", choices=[design.name for design in DESIGNS])
    given = parser.parse_args()
    chosen = tuple(d for d in DESIGNS if given.design in (None, d.name))
    for line in lines(chosen, given.worlds, given.seed):
        print(line, flush=True)
