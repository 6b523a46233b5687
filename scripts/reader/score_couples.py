"""Score the reader on the genders of couples in the marked stories.

    python scripts/reader/score_couples.py scripts/reader/stories/love.txt [--reader FOLDER]
        [--below P] [--left-out K]

Of every story with two roles, both of whose genders are marked: the pair of genders against the
pair that is read. Precision: of the stories that are read as this pair, how many are it;
recall: of the stories of this pair, how many are read so. A pair with a gender that is not told, or
unsure, is of no kind. Below, the same for each character. Intervals are 95 %, by bootstrap over
prompts.
`--least P` takes a gender for unsure where less than P is sure of it. The other options are those
of `score_marked.py`.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from examples import fold_of, marked
from score_marked import add_reader, people_of

from portrayal.annotate.people.shared.words import word_set
from portrayal.annotate.people.stories.rows import PEOPLE

DRAWS, SEED = 2000, 0
KINDS = ("F-F", "M-M", "F-M", "F-NB", "M-NB", "NB-NB")
PARTNERS = word_set("partner spouse husband wife girlfriend boyfriend lover fiance date ex")
Case = tuple[str, str, str]
"""Prompt, gold label and label read; "" where there is none."""


def pair(genders: list[str]) -> str:
    """The pair of two genders; "" where either is not known."""
    known = [gender for gender in genders if gender in ("F", "M", "NB")]
    return "-".join(sorted(known)) if len(known) == len(genders) else ""


def read(asked: argparse.Namespace) -> Iterator[tuple[Case, list[Case]]]:
    """Each story's couple, and its characters."""
    examples = []
    for example in (each for path in asked.stories for each in marked(path)):
        roles = (example.roles.subject, example.roles.object or "")
        romantic = any(PARTNERS.intersection(role.split()) for role in roles)
        here = asked.left_out in (None, fold_of(example.prompt))
        here = here and not PEOPLE.why_unread(example.text)
        if here and len(example.genders) == 2 and (romantic or not asked.partners):
            examples.append(example)
    for example, people in zip(examples, people_of(examples, asked), strict=True):
        known = [person for person in people if person is not None]
        said = [p.gender if (p.gender_confidence or 0) >= asked.least else "" for p in known]
        gold = [gender or "" for gender in example.genders]
        characters = [(example.prompt, a, b) for a, b in zip(gold, said, strict=True)]
        yield (example.prompt, pair(gold), pair(said)), characters


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
    add_reader(parser)
    both = list(read(parser.parse_args()))
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
