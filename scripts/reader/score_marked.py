"""Score the reader on the stories with marked people, for which no rule was written.

    python scripts/reader/score_marked.py scripts/reader/stories/*.txt [--reader FOLDER]
        [--below P] [--left-out K]

Prints, for each file and all, precision and recall of the people of prompted stories, and the share
of named people that the engine for any text finds, with bootstrap intervals over prompts; stories
that an audit refuses to read do not count. The network reads stories of which the rules are less
than P sure: with 0 the rules alone read, with 1.1 both read every story. A network is to be scored
with `--left-out K` on the prompts that `train.py --fold K` left out: the one that ships on fold 0.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from examples import MARK, Example, blocks, first_name, fold_of, marked

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.reader.reading import UNSURE, WEIGHTS
from portrayal.annotate.people.shared.model import UNSPECIFIED, Character
from portrayal.annotate.people.stories.rows import PEOPLE

DRAWS, SEED = 2000, 0
COLUMNS = {
    "names P": ("name", "said"),
    "names R": ("name", "named"),
    "genders P": ("gender", "told"),
    "genders R": ("gender", "gendered"),
    "both right": ("both", "slots"),
    "any text: found": ("found", "people"),
}


def counts_of(example: Example, body: str, people: Sequence[Character | None]) -> dict[str, int]:
    """What was made of one story."""
    n: dict[str, int] = defaultdict(int)
    for person, name, gender in zip(
        (each for each in people if each is not None),
        example.gold,
        example.genders,
        strict=True,
    ):
        name_right = (person.name or "").casefold() == name
        gender_right = (None if person.gender == UNSPECIFIED else person.gender) == gender
        n["slots"] += 1
        n["both"] += name_right and gender_right
        n["said"] += person.name is not None
        n["named"] += name != ""
        n["name"] += name_right and name != ""
        n["told"] += person.gender != UNSPECIFIED
        n["gendered"] += gender is not None
        n["gender"] += gender_right and gender is not None
    firsts = {first_name(text) for kind, text in MARK.findall(body) if kind in "ABC"} - {""}
    listed = {(each.first or "").casefold() for each in find_everyone(example.text)}
    n["people"] += len(firsts)
    n["found"] += len(firsts & listed)
    return n


def row(label: str, stories: list[tuple[str, dict[str, int]]]) -> str:
    """Return one row of the table: each share in percent with its interval."""
    prompts = sorted({prompt for prompt, _ in stories})
    place = {prompt: at for at, prompt in enumerate(prompts)}
    rng = np.random.default_rng(SEED)
    weights = rng.multinomial(len(prompts), np.full(len(prompts), 1 / len(prompts)), size=DRAWS)
    cells = []
    for top, bottom in COLUMNS.values():
        sums = np.zeros((2, len(prompts)))
        for prompt, n in stories:
            sums[:, place[prompt]] += n[top], n[bottom]
        drawn = 100 * (weights @ sums[0]) / (weights @ sums[1])
        low, high = np.percentile(drawn, [2.5, 97.5])
        cells.append(f"{100 * sums[0].sum() / sums[1].sum():.1f} [{low:.1f}, {high:.1f}]")
    return f"| {label} ({len(stories)}) | " + " | ".join(cells) + " |"


def people_of(
    examples: Sequence[Example], asked: argparse.Namespace
) -> list[Sequence[Character | None]]:
    """The people of each story by the reader."""
    how = {"folder": asked.reader, "below": asked.below}
    return [read_people(each.text, each.roles, each.prompt, **how) for each in examples]


def read_marked(
    path: Path, asked: argparse.Namespace
) -> list[tuple[Example, str, Sequence[Character | None]]]:
    """The stories of a file that are asked for, their marked texts, and their people as read."""
    pairs = [
        (example, body)
        for example, (_, body) in zip(marked(path), blocks(path), strict=True)
        if asked.left_out in (None, fold_of(example.prompt)) and not PEOPLE.why_unread(example.text)
    ]
    people = people_of([example for example, _ in pairs], asked)
    return [(*pair, each) for pair, each in zip(pairs, people, strict=True)]


def add_reader(parser: argparse.ArgumentParser) -> None:
    """Add what says who reads."""
    parser.add_argument("--reader", type=Path, default=WEIGHTS, metavar="FOLDER")
    parser.add_argument("--below", type=float, default=UNSURE, metavar="P")
    parser.add_argument("--left-out", type=int, metavar="K")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    add_reader(parser)
    asked = parser.parse_args()
    whole: list[tuple[str, dict[str, int]]] = []
    print(f"| stories | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}")
    for path in asked.files:
        part = [
            (example.prompt, counts_of(example, body, people))
            for example, body, people in read_marked(path, asked)
        ]
        print(row(path.stem, part), flush=True)
        whole += part
    print(row("all", whole))


if __name__ == "__main__":
    main()
