"""Sentences written once agentic and once communal, and splits that part no paraphrases."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.sentences import sentences, with_line_breaks
from portrayal.collect.ask.replies import Ask, objects_in, prompt_of
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError, OptionError
from portrayal.run.files import write_atomically
from portrayal.validate import check_count, check_seed

STEP_BEFORE = "Name yours with --column, or give the file that the step before wrote."
SEEDS_COLUMNS = ("sentence_id", "text_id", "number", "sentence")


@dataclass(frozen=True, slots=True)
class Seeds:
    """The sentences of a file of texts.

    Attributes
    ----------
    path
        CSV file with a row for each sentence.
    n_texts, n_short, n_sentences
        Texts, those too short to give a sentence, and sentences.
    """

    path: Path
    n_texts: int
    n_short: int
    n_sentences: int


def seed_sentences(
    texts: str | Path, out: Path, *, columns: Iterable[str] = (), first: int = 2, last: int = 1
) -> Seeds:
    """Split texts into sentences and leave out the outermost, which tell dates and whereabouts.

    Parameters
    ----------
    texts
        A file of texts.
    out
        The CSV file to write.
    columns
        "FIELD=NAME" strings where the column of the text has another name.
    first, last
        Sentences to leave out at the beginning and the end of each text.

    Raises
    ------
    DataError
        When no sentence is left.

    References
    ----------
    Wan & Chang (2024), Appendix B.1.
    """
    check_count("first", first)
    check_count("last", last)
    rows, n_short, n_texts = [], 0, 0
    for n_texts, row in enumerate(read_table(texts, ["text"], columns=columns), 1):
        text = with_line_breaks(row["text"])
        spans = sentences(text)
        # Numbers stay those of the whole text
        inner = list(enumerate(spans))[first : max(len(spans) - last, 0)]
        n_short += not inner
        name = row.get("text_id") or f"{n_texts - 1:06d}"
        for number, (start, end) in inner:
            # On one line, as prompts and sheets hold a sentence a line
            words = " ".join(text[start:end].split())
            ids = {"sentence_id": f"{name}-{number:03d}", "text_id": name}
            rows.append(ids | {"number": number, "sentence": words})
    if not rows:
        raise DataError(
            f"{texts}: no text has more than {first + last} sentences; leave out fewer with "
            "--first and --last."
        )
    if len({row["sentence_id"] for row in rows}) != len(rows):
        raise DataError(f"{texts}: a text_id comes twice; each text needs one of its own.")
    return Seeds(write_table(out, SEEDS_COLUMNS, rows), n_texts, n_short, len(rows))


TARGETS = ("agentic", "communal")
COLUMNS = ("entry_id", "sentence_id", "target", "text", "sentence")
UNREAD = ("sentence_id", "sentence", "why", "answer")
MALFORMED, NO_ANSWER = "malformed", "not asked: the budget was reached"


def paraphrase_prompt(sentence: str) -> str:
    """Return the request for both paraphrases of a sentence.

    References
    ----------
    Wan & Chang (2024), Table 7.
    """
    text = files(__package__).joinpath("prompt.toml").read_text(encoding="utf-8")
    words: dict[str, str] = tomllib.loads(text)
    return words["prompt"].format(
        agentic=words["agentic"], communal=words["communal"], sentence=sentence
    )


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """What came of asking for paraphrases.

    Attributes
    ----------
    path
        CSV file with two rows for each sentence that was paraphrased.
    unread_path
        CSV file with the sentences that were not, why, and the answer as it came.
    outcomes
        Sentences by what came of them: "ok", "malformed", "refused", "empty", "failed", ….
    """

    path: Path
    unread_path: Path
    outcomes: Mapping[str, int]


def read_paraphrases(reply: str) -> dict[str, str] | None:
    """Return the agentic and the communal sentence in a reply; None where it does not hold both."""
    for entry in objects_in(reply):
        # Models write "Agentic" as well as "agentic".
        values = {str(key).strip().casefold(): value for key, value in entry.items()}
        pair = {key: values[key].strip() for key in TARGETS if isinstance(values.get(key), str)}
        if len(pair) == len(TARGETS) and all(pair.values()):
            return pair
    return None


def paraphrase(
    sentences: str | Path, ask: Ask, out: Path, *, columns: Iterable[str] = ()
) -> Paraphrases:
    """Have every sentence paraphrased; what has an answer is not asked again.

    Parameters
    ----------
    sentences
        File of sentences, of `seed_sentences` or of one's own.
    ask
        The model; see `portrayal.collect.ask.replies.asker`.
    out
        CSV file to write; the sentences without paraphrases go to a file beside it.
    columns
        "FIELD=NAME" strings where the column of the sentence has another name.
    """
    rows = read_table(sentences, ["sentence"], columns=columns)
    seeds = {}
    for number, row in enumerate(rows):
        if row["sentence"].strip():
            seeds[row.get("sentence_id") or f"{number:06d}"] = row["sentence"].strip()
    prompts = {name: prompt_of(paraphrase_prompt(text)) for name, text in seeds.items()}
    # All at once: `ask` sees to limits, and keeps what is answered
    replies = ask(prompts.values())
    entries: list[dict[str, str]] = []
    unread: list[dict[str, str]] = []
    outcomes: Counter[str] = Counter(blank=len(rows) - len(seeds))
    for name, text in seeds.items():
        reply = replies.get(prompts[name].prompt_id)
        outcome = NO_ANSWER if reply is None else reply.outcome
        # Unread answers are kept with the reason, to be read by hand
        pair = read_paraphrases(reply.text) if reply is not None and outcome == "ok" else None
        if pair is None:
            outcome = MALFORMED if outcome == "ok" else outcome
            answer = "" if reply is None else reply.text or reply.reason
            unread.append({"sentence_id": name, "sentence": text, "why": outcome, "answer": answer})
        else:
            facts = {"sentence_id": name, "sentence": text}
            entries += [
                {"entry_id": f"{name}-{target}", "target": target, "text": pair[target], **facts}
                for target in TARGETS
            ]
        outcomes[outcome] += 1
    unread_path = out.with_name(f"{out.stem}-unread.csv")
    write_table(unread_path, UNREAD, unread)
    write_table(out, COLUMNS, entries)
    return Paraphrases(out, unread_path, {name: n for name, n in sorted(outcomes.items()) if n})


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
    entries: list[dict[str, Any]] = []
    for number, row in enumerate(rows, 2):
        label = row["label"].strip().casefold()
        if label not in _LABELS:
            raise DataError(
                f"{labelled}: row {number}: label is {row['label']!r}; expected 1 or 0."
            )
        more = {name: row[name] for name in ("entry_id", "sentence_id", "target") if row.get(name)}
        entries.append({"text": row["text"], "label": _LABELS[label], **more})
    # Both paraphrases of a sentence in training and test would let a classifier recognise it.
    names = [entry["sentence_id"] if together else str(i) for i, entry in enumerate(entries)]
    units, size, n = list(dict.fromkeys(names)), Counter(names), len(entries)
    # In floating point 0.29 × 100 is a little less than 29.
    train = int(shares[0] * n + 1e-9)
    edges = (train, train + int(shares[1] * n + 1e-9))
    part_of: dict[str, str] = {}
    n_placed = 0
    for i in np.random.default_rng(check_seed(seed)).permutation(len(units)).tolist():
        # A unit goes where its first entry falls; parts may be larger by a twin
        part_of[units[i]] = PARTS[sum(n_placed >= edge for edge in edges)]
        n_placed += size[units[i]]
    parts_of: dict[str, set[str]] = {}
    for entry, name in zip(entries, names, strict=True):
        if "sentence_id" in entry:
            parts_of.setdefault(entry["sentence_id"], set()).add(part_of[name])
    paths, counts = {}, {}
    out.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        items = [entry for entry, name in zip(entries, names, strict=True) if part_of[name] == part]
        paths[part] = out / f"{part}.jsonl"
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in items)
        write_atomically(paths[part], "".join(lines))
        agentic = sum(entry["label"] for entry in items)
        counts[part] = {"entries": len(items), "agentic": agentic, "communal": len(items) - agentic}
    n_shared = sum(len(parts) > 1 for parts in parts_of.values())
    card = out / "data-card.md"
    table = [f"| {name} | {' | '.join(map(str, row.values()))} |" for name, row in counts.items()]
    steps = ""
    for step, values in (facts or {}).items():
        lines = (
            f"* {key.replace('_', ' ')}: {_as_words(value)}\n" for key, value in values.items()
        )
        steps += f"## {step.capitalize()}\n\n{''.join(lines)}\n"
    words = files(__package__).joinpath("data-card.md").read_text(encoding="utf-8")
    pairs = "stay in one part" if together else "may be in different parts"
    blanks = {"table": "\n".join(table), "seed": seed, "where": pairs, "shared": n_shared}
    write_atomically(card, words.format(**blanks, steps=steps))
    return Parts(paths, card, counts)


def _as_words(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{name} {_as_words(item)}" for name, item in value.items())
        return inside or "none"
    if isinstance(value, float):
        return f"{value:.3f}"
    return " ".join(str(value).split())
