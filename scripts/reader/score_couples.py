"""Score the rules on the genders of couples, and on non-binary people, in the marked stories.

    python scripts/reader/score_couples.py scripts/reader/stories/love.txt

Of every story with two roles, both of whose genders are marked: the pair of genders against the
pair that the rules read. Precision: of the stories that are read as this pair, how many are it;
recall: of the stories of this pair, how many are read so. A pair with a gender that is not told, or
unsure, is of no kind. Below, the same for each character. Intervals are 95 %, by bootstrap over
prompts.
`--least P` takes a gender for unsure where the rules are less than P sure of it.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from examples import marked

from portrayal.annotate.people import extract_people
from portrayal.annotate.people.shared.words import word_set

DRAWS, SEED = 2000, 0
KINDS = ("F-F", "M-M", "F-M", "F-NB", "M-NB", "NB-NB")
PARTNERS = word_set("partner spouse husband wife girlfriend boyfriend lover fiance date ex")
Case = tuple[str, str, str]
"""Prompt, gold label and label read; "" where there is none."""


def pair(genders: list[str]) -> str:
    """The pair of two genders; "" where either is not known."""
    known = [gender for gender in genders if gender in ("F", "M", "NB")]
    return "-".join(sorted(known)) if len(known) == len(genders) else ""


def read(path: Path, least: float, *, partners: bool) -> Iterator[tuple[Case, list[Case]]]:
    """Each story's couple, and its characters."""
    for example in marked(path):
        roles = (example.roles.subject, example.roles.object or "")
        romantic = any(PARTNERS.intersection(role.split()) for role in roles)
        if len(example.genders) < 2 or (partners and not romantic):
            continue
        people = [p for p in extract_people(example.text, example.roles) if p is not None]
        said = [p.gender if p.gender_confidence >= least else "" for p in people]
        gold = [gender or "" for gender in example.genders]
        people_of = [(example.prompt, a, b) for a, b in zip(gold, said, strict=True)]
        yield (example.prompt, pair(gold), pair(said)), people_of


def cells(cases: list[Case], kind: str) -> list[str]:
    """Precision and recall of a label, in percent with counts and intervals."""
    prompts = sorted({prompt for prompt, _, _ in cases})
    place = {prompt: at for at, prompt in enumerate(prompts)}
    sums = np.zeros((3, len(prompts)))
    for prompt, gold, said in cases:
        sums[:, place[prompt]] += gold == said == kind, said == kind, gold == kind
    rng = np.random.default_rng(SEED)
    weights = rng.multinomial(len(prompts), np.full(len(prompts), 1 / len(prompts)), size=DRAWS)
    right, *totals = weights @ sums.T[:, 0], *(weights @ sums[1:].T).T
    found = []
    for total, n in zip(totals, sums[1:].sum(1), strict=True):
        if not n:
            found.append("none")
            continue
        drawn = 100 * right[total > 0] / total[total > 0]
        low, high = np.percentile(drawn, [2.5, 97.5])
        k = int(sums[0].sum())
        found.append(f"{100 * k / n:.1f} [{low:.1f}, {high:.1f}] ({k} of {int(n)})")
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stories", type=Path, nargs="+")
    parser.add_argument("--least", type=float, default=0.0, metavar="P")
    parser.add_argument("--partners", action="store_true", help="stories of partners alone")
    given = parser.parse_args()
    both = [x for p in given.stories for x in read(p, given.least, partners=given.partners)]
    couples = [couple for couple, _ in both]
    people = [person for _, two in both for person in two]
    known = [case for case in couples if case[1]]
    decided = sum(case[2] != "" for case in known)
    print(f"stories of two whose genders are marked: {len(known)}; of a kind as read: {decided}")
    for name, cases, kinds in (("pair", known, KINDS), ("character", people, ("F", "M", "NB"))):
        print(f"\n| {name} | precision | recall |\n|---|---|---|")
        for kind in kinds:
            print(f"| {kind} | {' | '.join(cells(cases, kind))} |")


if __name__ == "__main__":
    main()
