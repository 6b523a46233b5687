"""Split: the labelled sentences in three parts, and the data card."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.collect.tables import read_table
from portrayal.errors import DataError, OptionError
from portrayal.raters.sentences.seeds import STEP_BEFORE
from portrayal.run.files import write_atomically
from portrayal.validate import check_seed

PARTS = ("train", "validation", "test")
SHARES = (0.8, 0.1, 0.1)
_LABELS = {"1": 1, "agentic": 1, "0": 0, "communal": 0}


@dataclass(frozen=True, slots=True)
class Parts:
    """The three files, and entries by part and label."""

    paths: Mapping[str, Path]
    card: Path
    counts: Mapping[str, Mapping[str, int]]


def split_labelled(
    labelled: str | Path,
    out: Path,
    *,
    shares: Sequence[float] = SHARES,
    together: bool = False,
    seed: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> Parts:
    """Split labelled sentences at random, and write the data card.

    Parameters
    ----------
    labelled
        A file with the columns `text` and `label` (1 or agentic, 0 or communal).
    out
        Folder of train.jsonl, validation.jsonl, test.jsonl and data-card.md.
    shares
        Of the three parts; sizes are rounded down and the rest goes to the last, so that 3,724
        entries give 2,979, 372 and 373 as in Table 9.
    together
        Keep both paraphrases of a sentence in one part. The paper's split does not, so that its
        test sentences have twins of the other class in training.
    seed
        Of the order.
    facts
        What the card says of the steps before.

    Raises
    ------
    DataError, OptionError
        When a label is unknown, or the shares do not make 1.
    """
    if len(shares) != 3 or min(shares) <= 0 or abs(sum(shares) - 1.0) > 1e-9:
        raise OptionError(f"shares must be three above 0 that make 1, got {list(shares)}.")
    rows = read_table(labelled, ["text", "label"], STEP_BEFORE)
    if together and any(not row.get("sentence_id") for row in rows):
        raise DataError(f"{labelled}: --together needs a sentence_id in every row.")
    entries = [_entry(row, number, labelled) for number, row in enumerate(rows, 2)]
    part = _assign(entries, shares, together, check_seed(seed))
    paths, counts = {}, {}
    out.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        own = [entry for entry, its in zip(entries, part, strict=True) if its == name]
        paths[name] = out / f"{name}.jsonl"
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in own)
        write_atomically(paths[name], "".join(lines))
        labels = Counter("agentic" if entry["label"] else "communal" for entry in own)
        counts[name] = {"entries": len(own), **{k: labels[k] for k in ("agentic", "communal")}}
    shared = _shared(entries, part)
    card = out / "data-card.md"
    write_atomically(card, _card(counts, shared, together, seed, facts or {}))
    return Parts(paths, card, counts)


def _entry(row: Mapping[str, str], number: int, where: str | Path) -> dict[str, Any]:
    said = row["label"].strip().casefold()
    if said not in _LABELS:
        raise DataError(f"{where}: row {number}: label is {row['label']!r}; expected 1 or 0.")
    more = {name: row[name] for name in ("entry_id", "sentence_id", "target") if row.get(name)}
    return {"text": row["text"], "label": _LABELS[said], **more}


def _assign(
    entries: Sequence[Mapping[str, Any]], shares: Sequence[float], together: bool, seed: int
) -> list[str]:
    """The part of each entry."""
    names = [entry["sentence_id"] if together else str(i) for i, entry in enumerate(entries)]
    units = list(dict.fromkeys(names))
    size, n = Counter(names), len(entries)
    sizes = [int(shares[0] * n + 1e-9), int(shares[1] * n + 1e-9)]
    edges = (sizes[0], sizes[0] + sizes[1])
    part, done = {}, 0
    for i in np.random.default_rng(seed).permutation(len(units)).tolist():
        part[units[i]] = PARTS[sum(done >= edge for edge in edges)]
        done += size[units[i]]
    return [part[name] for name in names]


def _shared(entries: Sequence[Mapping[str, Any]], part: Sequence[str]) -> int:
    """Sentences whose paraphrases stand in more than one part."""
    parts: dict[str, set[str]] = {}
    for entry, its in zip(entries, part, strict=True):
        if "sentence_id" in entry:
            parts.setdefault(entry["sentence_id"], set()).add(its)
    return sum(len(found) > 1 for found in parts.values())


def _card(
    counts: Mapping[str, Mapping[str, int]],
    shared: int,
    together: bool,
    seed: int,
    facts: Mapping[str, Any],
) -> str:
    lines = [
        "# Data card",
        "",
        "Sentences about people, each labelled agentic (1) or communal (0), for training and",
        "measuring classifiers of language agency. Built by the pipeline of the LAC data set",
        "(Wan & Chang 2024, Section 3.2 and Appendix B).",
        "",
        "| part | entries | agentic | communal |",
        "|---|---|---|---|",
        *(
            f"| {p} | {c['entries']} | {c['agentic']} | {c['communal']} |"
            for p, c in counts.items()
        ),
        "",
        f"Split at random with seed {seed}; both paraphrases of a sentence "
        + ("stay in one part." if together else "may be in different parts."),
        f"Sentences with paraphrases in more than one part: {shared}.",
        "",
    ]
    for step, values in facts.items():
        lines += [f"## {step.capitalize()}", ""]
        lines += [f"* {name.replace('_', ' ')}: {_words(value)}" for name, value in values.items()]
        lines.append("")
    lines += [
        "## What it cannot say",
        "",
        "* The sentences are paraphrases by a language model, which wrote both classes on purpose:",
        "  real texts hold sentences that are neither, and a classifier has no class for these.",
        "* Entries that raters call neutral or na are removed, so a classifier looks better here",
        "  than on all sentences.",
        "* The sentences hold words that tell of gender, race and names; mask them in training.",
        "",
    ]
    return "\n".join(lines)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{name} {_words(item)}" for name, item in value.items())
        return inside or "none"
    if isinstance(value, float):
        return f"{value:.3f}"
    return " ".join(str(value).split())
