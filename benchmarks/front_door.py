"""Level and power of comparisons of groups, for the designs that files of answers have.

    python -m benchmarks.front_door [--worlds 1000] [--seed 0] [--design NAME] [--audits 50]

Each world is drawn for one design: answers to women and men in blocks (pairs, prompts, templates)
or apart, with three scores: a number, whether an answer refuses, and whether it has a phrase. In
null worlds groups do not differ (in prompts like these, though each prompt has its own difference;
of fewer than five prompts, in these). In the others the number is .3 standard deviations higher,
refusals are 10 points more, and the phrase stands in 10 % of one group's answers alone; these
effects too differ between prompts. Worlds have as many texts as `portrayal.plan` names for each
score. Printed is the share of null worlds with p below .05, and of the others with p below that of
the tests that share the level; a phrase must also be proposed by the other half of the texts. With
`--audits` texts are written, with one effect in them, that `portrayal.audit` is to state.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import portrayal
from portrayal.annotate.scores import TextScore
from portrayal.measure.matched import MatchedSets
from portrayal.measure.matched.differences import Within, contrasts
from portrayal.measure.scope import Scope
from portrayal.planning.design import FAR, Unit
from portrayal.records import FEW_PROMPTS
from portrayal.types import FloatArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from answers_world import JOBS, PHRASE, answer

SCORES: dict[str, Unit] = {"score": "sd", "refused": "points", "phrase": "phrase"}
EFFECT, POINTS, WITH_PHRASE, REFUSALS = 0.3, 0.1, 0.1, 0.1
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
    these: bool = False

    @property
    def apart(self) -> bool:
        """Whether nothing blocks."""
        return self.blocks == 1

    @property
    def few(self) -> bool:
        """Whether only these very prompts can be spoken of."""
        return self.these or 1 < self.blocks < FEW_PROMPTS

    def planned(self, unit: Unit) -> tuple["Design", int]:
        """Return the design with the texts that a plan names, and the tests that share the level.

        That is answers to few prompts, or blocks; a user does not know how alike their texts are.
        """
        few = not self.apart and self.blocks < 2 * FEW_PROMPTS
        more: dict[str, Any] = {"blocks": self.blocks} if few else {"texts": self.answers}
        more = {"apart": True} if self.apart else more
        effect = EFFECT if unit == "sd" else POINTS
        needed = portrayal.plan("difference", [effect], unit=unit, **more)
        these = self.few or (unit == "phrase" and few)
        plan = needed[-1 if these else 0].design
        size = (1, plan.blocks // 2) if self.apart else (plan.blocks, plan.sides[0])
        return replace(self, blocks=size[0], answers=size[1], these=these), plan.n_tests

    @property
    def half(self) -> "Design":
        """Half of the texts: of the answers to few blocks, or else of the blocks."""
        if self.apart or self.few:
            return replace(self, answers=self.answers // 2)
        return replace(self, blocks=self.blocks // 2)


DESIGNS = (
    Design("pairs", 200, 1),
    Design("3 prompts x 200", 3, 100),
    Design("9 prompts x 100", 9, 50),
    Design("these 9 prompts", 9, 50, these=True),
    Design("30 templates x 5", 30, 5),
    Design("unpaired 400", 1, 200, shared=0.0),
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
    usual = WITH_PHRASE * (1.0 - planted)
    phrase = rng.random(shape) < np.clip(usual + WITH_PHRASE * effect * is_first, 0.0, 1.0)
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


def shares(design: Design, score: str, n_worlds: int, seed: int) -> tuple[int, float, float]:
    """Texts that a plan names to find an effect in a score, and level and power there."""
    planned, n_tests = design.planned(SCORES[score])
    tested = planned.half if score == "phrase" else planned
    k, rates = list(SCORES).index(score), []
    for planted in (False, True):
        rng = np.random.default_rng([seed, planted])
        limit, n_found = (1.0 - LEVEL) / (n_tests if planted else 1), 0
        for _ in range(n_worlds):
            p = p_values(tested, world(tested, rng, planted=planted))[k]
            proposes = planted and score == "phrase"
            n_found += p < limit and (not proposes or far(world(tested, rng, planted=True)))
        rates.append(n_found / n_worlds)
    return 2 * planned.blocks * planned.answers, rates[0], rates[1]


def far(sets: MatchedSets) -> bool:
    """Whether a phrase stands among the words that these texts propose."""
    n = sets.n_answers.sum(0)
    count = (np.nan_to_num(sets.value[2]) * sets.n_answers).sum(0)
    return bool(abs(count[0] / n[0] - count[1] / n[1]) >= FAR * np.sqrt((count / n**2).sum()))


def rows_of(design: Design, score: str, seed: int) -> list[dict[str, Any]]:
    """Write the answers of one world as rows of a file, with one effect in them."""
    rng, rows = random.Random(f"front door {seed}"), list[dict[str, Any]]()
    sizes = {"score": EFFECT, "refused": POINTS, "phrase": WITH_PHRASE}
    n_answers, apart = design.answers, design.apart
    for block in range(design.blocks):
        of_block = 0.0 if apart else np.sqrt(design.shared) * rng.gauss(0, 1)
        share = REFUSALS if apart else rng.betavariate(2.0, 2.0 / REFUSALS - 2.0)
        size = sizes[score] * (1.0 if apart else 1.0 + design.own * rng.gauss(0, 1))
        for group in ("woman", "man") * n_answers:
            effect = {name: size * (name == score and group == "woman") for name in sizes}
            text = answer(rng, effect["phrase"], share + effect["refused"])
            number = of_block + np.sqrt(1.0 - design.shared) * rng.gauss(0, 1) + effect["score"]
            asked = {"user_gender": group}
            if not apart and n_answers == 1:
                asked["pair"] = f"p{block}"
            elif not apart:
                job = f"{JOBS[block % 12]} of town {block // 12}"
                asked = {"prompt": f"Give advice to a {group} who works as a {job}."}
            rows.append({"answer": text, "helpfulness": round(number, 3), **asked})
    return rows


def states(rows: list[dict[str, Any]], score: str) -> bool:
    """Whether an audit of these rows states the planted effect, of these prompts or of all."""
    columns = {"pair": "pair"} if "pair" in rows[0] else ()
    run = portrayal.audit(rows, score="helpfulness", columns=columns, report=False)
    name = {"score": "helpfulness", "refused": "refused"}.get(score)
    phrase = {word.strip(".,") for word in PHRASE.lower().split()}
    for e in run.records:
        words = {*e.strata["word"].split()} & phrase if "word" in e.strata else None
        if words if score == "phrase" else e.strata.get("score") == name:
            q = [e.tests[0].audit_q if e.tests else None, e.fixed.q if e.fixed else None]
            if any(x is not None and x < 1.0 - LEVEL for x in q):
                return True
    return False


def lines(designs: tuple[Design, ...], options: argparse.Namespace) -> Iterator[str]:
    """Yield texts, level and power of each design, as Markdown."""
    names = ", ".join(SCORES)
    yield f"| design | texts: {names} | level | power |{' audits |' * bool(options.audits)}"
    yield f"|---|---|---|---|{'---|' * bool(options.audits)}"
    for design in designs:
        results = [shares(design, score, options.worlds, options.seed) for score in SCORES]
        cells = [", ".join(f"{n:,}" for n, *_ in results)]
        cells += [", ".join(f"{result[i]:.3f}" for result in results) for i in (1, 2)]
        if options.audits:
            rates = []
            for score, unit in SCORES.items():
                planned, _ = design.planned(unit)
                audits = range(options.audits)
                rates.append(np.mean([states(rows_of(planned, score, i), score) for i in audits]))
            cells.append(", ".join(f"{rate:.2f}" for rate in rates))
        yield f"| {design.name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", choices=[design.name for design in DESIGNS])
    parser.add_argument("--audits", type=int, default=0)
    given = parser.parse_args()
    chosen = tuple(d for d in DESIGNS if given.design in (None, d.name))
    for line in lines(chosen, given):
        print(line, flush=True)
