"""Score a reader where gender or order misleads: singular they, and couples told either way round.

    python scripts/reader/score_roles.py scripts/reader/stories/{they,order}.txt
        [--reader FOLDER] [--below P] [--left-out K]

Prints recall and precision of non-binary characters, recall by role and the quotient of the two,
and the share of stories whose two roles are exchanged, by who is named first and by the pair of
genders (the greater role first). Intervals are 95 %, by bootstrap over prompts. Score a reader with
`--left-out K`, as in `score_marked.py`, if it was trained on the other prompts of these files.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from examples import MARK, Example
from score_marked import add_reader, read_marked

DRAWS, SEED = 2000, 0
PLAIN = {"all", "subject first", "object first"}
Case = tuple[str, float, float]
"""Prompt, part and whole."""


def drawn_shares(cases: Sequence[Case], prompts: Sequence[str]) -> np.ndarray:
    """Share of `cases`, then the same in each draw of prompts, shape (1 + DRAWS,)."""
    place = {prompt: i for i, prompt in enumerate(prompts)}
    sums = np.zeros((2, len(prompts)))
    for prompt, part, whole in cases:
        sums[:, place[prompt]] += part, whole
    rng = np.random.default_rng(SEED)
    weights = rng.multinomial(len(prompts), np.full(len(prompts), 1 / len(prompts)), size=DRAWS)
    weights = np.vstack([np.ones(len(prompts), dtype=int), weights])
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights @ sums[0]) / (weights @ sums[1])


def with_interval(shares: np.ndarray, digits: int = 1) -> str:
    """The first of `shares` with the interval of the others."""
    low, high = np.nanpercentile(shares[1:], [2.5, 97.5])
    return f"{shares[0]:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def print_non_binary(rows: list[tuple[Example, list[str], list[str], str]]) -> None:
    """Print how well non-binary characters are read."""
    slots = [
        (example.prompt, role, gold == "NB", read == "NB")
        for example, _, genders, _ in rows
        for role, gold, read in zip(("subject", "object"), example.genders, genders, strict=False)
    ]
    prompts = sorted({slot[0] for slot in slots})
    people = {
        "recall": [slot for slot in slots if slot[2]],
        "precision": [slot for slot in slots if slot[3]],
    }
    recalls = {}
    for label, part in people.items():
        for role in ("", "subject", "object") if label == "recall" else ("",):
            chosen = [(p, a and b, 1) for p, r, a, b in part if role in ("", r)]
            shares = recalls[label, role] = 100 * drawn_shares(chosen, prompts)
            print(f"| non-binary, {label} {role} | {len(chosen)} | {with_interval(shares)} |")
    quotient = recalls["recall", "subject"] / recalls["recall", "object"]
    print(f"| quotient of the recalls, subject / object | | {with_interval(quotient, 2)} |")
    plain = [(p, b, 1) for p, _, a, b in slots if not a]
    print(
        f"| others read as non-binary | {len(plain)} "
        f"| {with_interval(100 * drawn_shares(plain, prompts))} |"
    )


def print_exchanged(rows: list[tuple[Example, list[str], list[str], str]]) -> None:
    """Print how often two people of unequal roles are exchanged."""
    cases = defaultdict(list)
    for example, names, _, first in rows:
        roles = example.roles
        if not roles.has_object or roles.subject == roles.object or not all(example.gold):
            continue
        order = "subject first" if first == "A" else "object first"
        pair = "-".join(gender or "?" for gender in example.genders)
        case = example.prompt, tuple(names) == example.gold[::-1], 1
        for label in ("all", order, pair, f"{pair}, {order}"):
            cases[label].append(case)
    prompts = sorted({prompt for prompt, _, _ in cases["all"]})
    for label in ("all", "subject first", "object first", *sorted(cases.keys() - PLAIN)):
        shares = 100 * drawn_shares(cases[label], prompts)
        print(f"| roles exchanged, {label} | {len(cases[label])} | {with_interval(shares)} |")


def main() -> None:
    """Print the table of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    add_reader(parser)
    asked = parser.parse_args()
    for path in asked.files:
        rows = []
        for example, body, characters in read_marked(path, asked):
            two = [character for character in characters if character is not None]
            first = next((mark for mark, _ in MARK.findall(body) if mark in "AB"), "")
            names = [(character.name or "").casefold() for character in two]
            rows.append((example, names, [character.gender for character in two], first))
        print(f"\n{path.stem}: {len(rows)} stories\n\n| | n | % |\n|---|---|---|")
        print_non_binary(rows)
        print_exchanged(rows)


if __name__ == "__main__":
    main()
