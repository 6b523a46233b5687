"""Score the rules on the stories with marked people, for which no rule was written.

    python scripts/reader/score_rules.py scripts/reader/stories/*.txt

Prints, for each file and all, precision and recall of the people of prompted stories, and the share
of named people that the engine for any text finds, with bootstrap intervals over prompts.
"""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from examples import MARK, Example, blocks, first_name, marked

from portrayal.annotate.people import UNSPECIFIED, extract_people, find_everyone

DRAWS, SEED = 2000, 0
COLUMNS = {
    "names P": ("name", "said"),
    "names R": ("name", "named"),
    "genders P": ("gender", "told"),
    "genders R": ("gender", "gendered"),
    "both right": ("both", "slots"),
    "any text: found": ("found", "people"),
}


def counts_of(example: Example, body: str) -> dict[str, int]:
    """What the rules make of one story."""
    n: dict[str, int] = defaultdict(int)
    for person, name, gender in zip(
        (each for each in extract_people(example.text, example.roles) if each is not None),
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


def main() -> None:
    """Print the table."""
    whole: list[tuple[str, dict[str, int]]] = []
    print(f"| stories | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}")
    for path in map(Path, sys.argv[1:]):
        pairs = zip(marked(path), blocks(path), strict=True)
        part = [(example.prompt, counts_of(example, body)) for example, (_, body) in pairs]
        print(row(path.stem, part), flush=True)
        whole += part
    print(row("all", whole))


if __name__ == "__main__":
    main()
