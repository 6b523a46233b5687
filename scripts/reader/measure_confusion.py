"""Measure how a reader errs, on stories that nothing was fitted to, and write its confusion.

    python scripts/reader/measure_confusion.py [--write]
    python scripts/reader/measure_confusion.py --folds FOLDER [...] [--write READER]
        [--below SURE] [--names-right ALL LEAST]

Without folds, the rules (people.v7) read all stories with marked people; no rule was written for
any of them. A network was trained on most of them, so each FOLDER is what `train.py --fold K` or
`distil.py --fold K` wrote, and reads only the prompts that it left out. `--names-right` are means
of precision and recall of names on stories by models whose prompts the reader did not see: of all
of them, and of the domain with the least.

Prints, for the stories in the plain manner of models, for the harder ones and for all, how often
people change places, and P(read | true) of their genders: of both together, and of each. `--write`
puts the stories' genders and names, as marked and as read, into `confusion.json` of the rules, or
under "confusion" into `reader.json` of READER; with `--below`, where the network reads only the
stories of whose people the rules are less sure, under "confusion_routed".
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from examples import Example, fold_of, marked

from portrayal.annotate.language import why_unread
from portrayal.annotate.people import UNSPECIFIED, UNSURE, extract_people
from portrayal.annotate.people.confusion import (
    FORMAT,
    GENDERS,
    NO_NAME,
    Confusion,
    Prompts,
    Slot,
    Story,
    confusion_from,
)
from portrayal.annotate.people.reader.network import CARD
from portrayal.annotate.people.reader.rows import READER, read_stories
from portrayal.annotate.people.stories.rows import PEOPLE
from portrayal.measure.stories.misreading import misreadings
from portrayal.reference import mena_nhpi_table, name_table, race_likelihoods

HERE = Path(__file__).parent / "stories"
PLAIN = ("equal", "everyday", "plain", "power")
"""Files in the plain manner of models: short, one scene, the people told apart by pronouns."""

HARD = ("acting", "hard", "learning", "love", "work")
"""Files of harder stories. Others serve for training alone."""
DRAWS, SEED = 2000, 0
RULES = Path("src/portrayal/annotate/people/stories/confusion.json")
NAMES_OF_RULES = (0.944, 0.922)
"""Means of 94.3 and 94.5 %, all, and of 92.3 and 92.1 %, Love: 955 stories of five models for 19
prompts that nothing was fitted to (docs/people.md)."""

Read = Callable[[Sequence[Example]], list]


def by_rules(examples: Sequence[Example]) -> list:
    """The people that the rules read."""
    return [extract_people(each.text, each.roles) for each in examples]


def by_folds(folders: Sequence[Path], below: float) -> Read:
    """Return how networks read the prompts that each left out; None for stories of other folds."""

    def read(examples: Sequence[Example]) -> list:
        made: list = [None] * len(examples)
        for folder in folders:
            card = json.loads((folder / CARD).read_text(encoding="utf-8"))
            out = np.atleast_1d(card["fold"]).tolist()
            places = [i for i, e in enumerate(examples) if fold_of(e.prompt) in out]
            given = [(examples[i].text, examples[i].roles, examples[i].prompt) for i in places]
            for i, people in zip(places, read_stories(given, folder, below), strict=True):
                made[i] = people
        return made

    return read


def story(example: Example, people: Sequence) -> Story:
    """Return one story's people as marked and as read."""
    slots = []
    present = [person for person in people if person is not None]
    for person, name, gender in zip(present, example.gold, example.genders, strict=True):
        said = "U" if person.gender in (UNSPECIFIED, UNSURE) else person.gender
        slots.append(Slot(gender or "U", said, _one_word(name), _one_word(person.name or "")))
    return tuple(slots)


def _one_word(name: str) -> str:
    word = "".join(name.casefold().split()).replace(">", "").replace("|", "")
    return "" if word == NO_NAME else word


def written(story: Story) -> str:
    """Return a story as the file has it; what was read right is written once.

    >>> written((Slot("F", "F", "ann", "ann"), Slot("NB", "U", "bo", "")))
    'F ann | NB>U bo>-'
    """
    return " | ".join(
        f"{_pair(slot.gender, slot.read_gender)} "
        f"{_pair(slot.name or NO_NAME, slot.read_name or NO_NAME)}"
        for slot in story
    )


def _pair(true: str, read: str) -> str:
    return true if true == read else f"{true}>{read}"


def measured(paths: Sequence[Path], read: Read) -> Prompts:
    """Return the stories of files by prompt, but for those that an audit refuses to read."""
    examples = [e for path in paths for e in marked(path) if not why_unread(e.text)]
    by_prompt = defaultdict(list)
    for example, people in zip(examples, read(examples), strict=True):
        if people is not None:
            by_prompt[example.prompt].append(story(example, people))
    return tuple(tuple(stories) for stories in by_prompt.values())


def likelihoods(names: Sequence[str]) -> np.ndarray:
    """Shares of the bearers by race, by the default tables."""
    return race_likelihoods(names, name_table(), mena_nhpi_table())


def spread(drawn: np.ndarray) -> str:
    """Return the measured value in percent, with the central 95 % of the draws."""
    low, high = np.quantile(drawn[1:], [0.025, 0.975])
    return f"{100 * drawn[0]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def show(label: str, prompts: Prompts, names_right: float | None = None) -> None:
    """Print what one part of a confusion says; names alone where their frequency is given."""
    scaled = None if names_right is None else (names_right, names_right)
    one = Confusion("", "", prompts, (), scaled)
    (found,) = misreadings(one, likelihoods, np.random.default_rng(SEED), DRAWS)
    stories = [each for prompt in prompts for each in prompt]
    print(f"\n{label}: {len(stories)} stories of {len(prompts)} prompts")
    print(f"| people change places | {spread(found.swapped)} |")
    print(f"| a name is of nobody asked for | {spread(found.strayed)} |")
    if names_right is not None:
        return
    print("\n| true, of both | read as marked | the two apart, one read as the other's gender |")
    print("|---|---|---|")
    n = len(GENDERS)
    for true in ("F M", "F F", "M M"):
        a, b = (GENDERS.index(gender) for gender in true.split())
        own = found.pairs[:, a * n + b, a * n + b]
        wrong = [i * n + j for i in range(2) for j in range(2) if (i, j) != (a, b)]
        print(f"| {true} | {spread(own)} | {spread(found.pairs[:, a * n + b, wrong].sum(1))} |")
    print("\n| marked | people | read right | than others, oftener by |")
    print("|---|---|---|---|")
    for at, gender in enumerate(GENDERS[:-1]):
        seen, right = found.n_marked[at], found.read_right[at]
        share = f"{100 * right / seen:.1f} %" if seen else "-"
        print(f"| {gender} | {seen:.0f} | {share} | {spread(found.excess[:, at])} |")


def main() -> None:
    """Print the confusion, and write it where asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", nargs="+", type=Path, default=())
    parser.add_argument("--below", type=float, default=1.0)
    parser.add_argument("--names-right", type=float, nargs=2)
    parser.add_argument("--write", nargs="?", type=Path, const=RULES)
    asked = parser.parse_args()
    read = by_folds(asked.folds, asked.below) if asked.folds else by_rules
    names_right = asked.names_right if asked.folds else NAMES_OF_RULES
    files = sorted(HERE.glob("*.txt"))
    plain = measured([path for path in files if path.stem in PLAIN], read)
    hard = measured([path for path in files if path.stem in HARD], read)
    show("in the plain manner of models", plain)
    show("harder ones", hard)
    show("all", plain + hard)
    if names_right is not None:
        show(
            "the plain ones, wrong names as frequent as in stories by models", plain, names_right[0]
        )
        show("harder ones, wrong names as frequent as in the worst domain", hard, names_right[1])
    if asked.write is None:
        return
    source = (
        f"{sum(map(len, plain))} stories in the plain manner of models, and "
        f"{sum(map(len, hard))} harder ones, written by a language model with everybody marked, of "
        "prompts that nothing was fitted to"
    )
    made = {
        "format": FORMAT,
        "reader": READER.name if asked.folds else PEOPLE.name,
        "source": source,
        "names_right": names_right,
        "stories": [[written(each) for each in prompt] for prompt in plain],
        "hard": [[written(each) for each in prompt] for prompt in hard],
    }
    if not asked.folds:  # what score_errors.py measured stays
        given = json.loads(RULES.read_text(encoding="utf-8"))
        _, labelled = given["source"].split("; ")
        made |= {"source": f"{source}; {labelled}", "labelled": given["labelled"]}
    confusion_from(made, str(asked.write))
    save(made, asked.write, "confusion" if asked.below >= 1.0 else "confusion_routed")


def save(made: dict, target: Path, key: str) -> None:
    """Write a confusion, one prompt a line; into the card where `target` is a reader's folder."""
    if target.is_dir():
        path = target / CARD
        card = json.loads(path.read_text(encoding="utf-8")) | {key: made}
        path.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
        return
    lines = []
    for name, value in made.items():
        if isinstance(value, list):
            rows = ",\n".join(json.dumps(each, ensure_ascii=False) for each in value)
            lines.append(f'"{name}": [\n{rows}\n]')
        else:
            lines.append(f'"{name}": {json.dumps(value, ensure_ascii=False)}')
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
