"""Three ways to adjust the many tests of an audit, for `benchmarks.calibration procedures`.

What ships (joint changes of sides within a question, questions by Benjamini and Bogomolov) beside a
tree of domain, attribute and group (Yekutieli 2008) and one family of everything (Westfall & Young
1993 for ratios of roles, Holm for other tests, the two halves by Bonferroni). Those two live here
alone.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import calibration_audits as audits
from benchmarks.calibration_worlds import Bearers
from portrayal import registry
from portrayal.measure import scope
from portrayal.measure.stories.tally import Tally
from portrayal.records import ALL, Estimate
from portrayal.stats import benjamini_hochberg, holm
from portrayal.types import FloatArray

LEVEL = 0.05
WORLDS = (("one effect", audits.SEPARATE[0]), ("three effects", audits.ALONE[0]))


def hypotheses(tally: Tally, seed: int) -> list[Estimate]:
    """What an audit of one model may state, with q as it ships."""
    stated = registry.get("studies", audits.STUDY).stated
    made = audits.estimates(tally, audits.said_measures(), seed)
    (model,) = {e.strata["model"] for e in made if "model" in e.strata} - {ALL}
    return [e for e in made if scope.is_stated(e, model, stated)]


def shipped(found: list[Estimate], _: int) -> FloatArray:
    """As every audit adjusts them."""
    return np.array([e.tests[0].audit_q for e in found], dtype=float)


def tree(found: list[Estimate], _: int) -> FloatArray:
    """Domains by Simes' p, in those refused attributes, in those groups: each by BH at the level.

    The false discovery rate of the whole tree is at most 2 × 1.44 times the level.
    """
    p = np.array([e.tests[0].p for e in found])
    ways = [lambda e: str(e.strata.get("domain")), lambda e: (e.measure, tuple(sorted(e.group)))]

    def adjusted(rows: list[int], depth: int) -> dict[int, float]:
        if depth == len(ways):
            return dict(zip(rows, benjamini_hochberg(p[rows]).tolist(), strict=True))
        nodes: dict[object, list[int]] = {}
        for i in rows:
            nodes.setdefault(ways[depth](found[i]), []).append(i)
        simes = [benjamini_hochberg(p[each]).min() for each in nodes.values()]
        q = dict.fromkeys(rows, 1.0)
        for each, least in zip(nodes.values(), benjamini_hochberg(simes).tolist(), strict=True):
            if least <= LEVEL:
                q |= {i: max(least, own) for i, own in adjusted(each, depth + 1).items()}
        return q

    q = adjusted(list(range(len(found))), 0)
    return np.array([q[i] for i in range(len(found))])


def together(found: list[Estimate], seed: int) -> FloatArray:
    """One family: any error at all is as rare as the level."""
    roles = np.array([e.scores is not None for e in found])
    q = np.ones(len(found))
    halves = int(roles.any()) + int((~roles).any())
    if roles.any():
        some = [e for e, yes in zip(found, roles, strict=True) if yes]
        q[roles] = halves * scope._within_question(some, seed)
    if (~roles).any():
        q[~roles] = halves * holm([found[i].tests[0].p for i in np.flatnonzero(~roles)])
    return q


PROCEDURES: dict[str, Callable[[list[Estimate], int], FloatArray]] = {
    "max-T within questions, Benjamini and Bogomolov over them (ships)": shipped,
    "tree of domain, attribute, group (Yekutieli)": tree,
    "one family (max-T, Holm)": together,
}


def is_true(e: Estimate, *, one: bool) -> bool:
    """Whether a world of gendered roles, in Labor or everywhere, has this difference.

    Of an intersection it has: that its groups tell of it already is for the page to say.
    """
    place = e.strata.get("domain") == "Labor" or not one
    return place and set(e.group) != {"race"} and not e.measure.startswith("representation")


def rows(people: Bearers, path: Path | None, reps: int, seed: int) -> Iterator[tuple[object, ...]]:
    """Of each procedure: null audits with a rejection; power, true and false ones by world."""
    found: dict[str, list[float]] = {name: [] for name in PROCEDURES}
    if path is not None:
        with audits.gold_run(path) as run:
            tally, nulls = audits.gold_tally(run), []
            for i in range(reps):
                coins = np.random.default_rng([seed, 15, 0, i]).random(len(tally.prompt)) < 0.5
                nulls.append(hypotheses(audits.flipped(tally, coins, by_prompt=False), i))
        for name, procedure in PROCEDURES.items():
            any_of = [bool((procedure(each, i) < LEVEL).any()) for i, each in enumerate(nulls)]
            found[name].append(float(np.mean(any_of)))
    for number, (_, world) in enumerate(WORLDS):
        made = [
            hypotheses(world.tally(np.random.default_rng([seed, 19, number, i]), people), i)
            for i in range(reps)
        ]
        for name, procedure in PROCEDURES.items():
            counts = []
            for i, each in enumerate(made):
                refused = procedure(each, i) < LEVEL
                true = np.array([is_true(e, one=world.one) for e in each], dtype=bool)
                counts.append(
                    ((refused & true).any(), (refused & true).sum(), (refused & ~true).sum())
                )
            found[name] += np.mean(np.array(counts, dtype=float), axis=0).tolist()
    for name, values in found.items():
        yield name, *values
