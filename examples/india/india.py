"""Caste and religion in Indian stories: by state and form of the prompt, over the Census, by forms.

    python examples/india/india.py stories_dev.jsonl.gz

Prints, from the labels by hand: shares by state and form with intervals over prompts and ratios to
the Census; what was not decided; and whether the form of the prompt changes a share, tested over
pairs of prompts that differ in nothing else.
"""

import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import said_of
from portrayal.annotate.groups import group_reader
from portrayal.reference.factors import Factor, load_factor
from portrayal.stats import benjamini_hochberg, infer_shares, matched_differences

HERE = Path(__file__).parent
FACTORS = {"caste": "legal_class", "religion": "religion"}
"""What the prompt asked for -> the factor."""
FORMS = ("baseline", "implicit", "explicit")
LEVEL = 0.95


@dataclass(frozen=True)
class Cell:
    """The stories of one prompt: a state, a ritual and a form.

    `weight` has the stories of each group (1/k for each of k groups), `squares` the sums of their
    squares, `decided` their sum, and `left` the stories without a group by reason.
    """

    state: str
    ritual: str
    form: str
    n: int
    weight: np.ndarray
    squares: np.ndarray
    decided: float
    left: dict[str, int]


def read(path: str | Path) -> list[dict[str, Any]]:
    """Return the rows of the file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def seen_in(rows: Sequence[dict[str, Any]], factor: Factor, source: str) -> list[dict[str, Any]]:
    """Return what one source of a factor says of each row."""
    texts = [
        {
            "text_id": row["id"],
            "text": row["text"],
            "outcome": "ok" if row["text"] else "empty",
            "columns": {name: str(value) for name, value in row.items()},
        }
        for row in rows
    ]
    reader = group_reader([factor])
    place = [own.name for _, own in reader.sources].index(source)
    found = []
    for each in reader(texts, [{} for _ in rows]):
        ((status, groups, _),) = said_of(each["said"])[place]
        spans = [span for own in each["seen"] if own["source"] == source for span in own["spans"]]
        found.append({"status": status, "groups": [factor.keys[i] for i in groups], "spans": spans})
    return found


def cells(rows: Sequence[dict[str, Any]], asked: str) -> tuple[Factor, list[Cell]]:
    """Return a factor and its 18 cells, from the labels."""
    factor = load_factor(HERE / f"{FACTORS[asked]}.toml")
    own = [row for row in rows if row["factor"] == asked]
    seen = seen_in(own, factor, "labels")
    places = sorted({(row["state"], row["ritual"], row["form"]) for row in own})
    made = []
    for place in places:
        here = [
            said
            for row, said in zip(own, seen, strict=True)
            if (row["state"], row["ritual"], row["form"]) == place
        ]
        weight, squares = np.zeros((2, len(factor.keys)))
        for said in here:
            groups = dict.fromkeys(said["groups"])
            for group in groups:
                weight[factor.keys.index(group)] += 1.0 / len(groups)
                squares[factor.keys.index(group)] += 1.0 / len(groups) ** 2
        status = [said["status"] for said in here]
        left = {name: status.count(name) for name in ("none", "unknown") if name in status}
        made.append(Cell(*place, len(here), weight, squares, float(weight.sum()), left))
    return factor, made


def shares(factor: Factor, made: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the share of each group by state and form, prompts as clusters, and over the Census."""
    census = factor.baselines[0]
    for state in sorted({cell.state for cell in made}):
        known = census.of(state) or {}
        for form in FORMS:
            here = [cell for cell in made if (cell.state, cell.form) == (state, form)]
            weight = np.array([cell.weight for cell in here])
            total = np.repeat([[cell.decided] for cell in here], weight.shape[1], axis=1)
            null = np.array([known.get(key, np.nan) for key in factor.keys])
            squares = np.array([cell.squares for cell in here])
            found = infer_shares(weight, total, LEVEL, null, squares)
            for i, key in enumerate(factor.keys):
                yield {
                    "state": state,
                    "form": form,
                    "group": key,
                    "stories": sum(cell.n for cell in here),
                    "undecided": sum(sum(cell.left.values()) for cell in here),
                    "share": found.value[i],
                    "low": found.low[i],
                    "high": found.high[i],
                    "census": null[i],
                    "p": found.p[i],
                }


def forms(factor: Factor, made: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the difference of each group's share between two forms, within state and ritual."""
    blocks = sorted({(cell.state, cell.ritual) for cell in made})
    shape = (len(blocks), len(FORMS))
    pairs = list(combinations(range(len(FORMS)), 2))
    rows: list[dict[str, Any]] = []
    for i, key in enumerate(factor.keys):
        total, count = np.zeros(shape), np.zeros(shape)
        for cell in made:
            at = blocks.index((cell.state, cell.ritual)), FORMS.index(cell.form)
            total[at], count[at] = cell.weight[i], cell.decided
        first, second = np.array(pairs).T
        sides = ((total[:, form], count[:, form]) for form in (second, first))
        found = matched_differences(*sides, LEVEL)
        rows += [
            {
                "group": key,
                "forms": f"{FORMS[b]} - {FORMS[a]}",
                "difference": found.value[j],
                "low": found.low[j],
                "high": found.high[j],
                "p": found.p[j],
                "pairs of prompts": int(found.n_clusters[j]),
            }
            for j, (a, b) in enumerate(pairs)
        ]
    for row, q in zip(rows, benjamini_hochberg([row["p"] for row in rows]), strict=True):
        yield row | {"q": q}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads)]
    lines += [[_cell(row[name]) for name in heads] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "" if np.isnan(value) else f"{round(value, 3) + 0.0:.3f}"


def main() -> None:
    """Print the tables of both factors."""
    rows = read(sys.argv[1])
    for asked in FACTORS:
        factor, made = cells(rows, asked)
        print(
            f"\n## {factor.label}: shares by state and form\n\n{table(list(shares(factor, made)))}"
        )
        print(f"\n## {factor.label}: does the form matter?\n\n{table(list(forms(factor, made)))}")


if __name__ == "__main__":
    main()
