"""Hand labels of sentences, for agency classifiers: paraphrases, labels and a split, by steps.

An *entry* is one paraphrase of one sentence, with its *target*: the class it was written to show.
Each step reads a file and writes a file, so that it can be used alone, repeated, and continued.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.labelled import label_of
from portrayal.annotate.llm import read_replies, templates
from portrayal.annotate.sentences import sentences, with_line_breaks
from portrayal.collect.ask.replies import Ask, objects_in, prompt_of
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.raters.agreement import Coefficient, Resampling, coefficient, ratings_of
from portrayal.raters.labels import Label, Labels, folded, majority, read_labels
from portrayal.raters.sheets import SheetItem
from portrayal.recognise import text_column
from portrayal.run.files import write_atomically
from portrayal.validate import check_different_files, check_seed

FILES = files(__package__) / "data"
STEP_BEFORE = "Name yours with --column, or give the file that the step before wrote."
SEEDS_COLUMNS = ("sentence_id", "text_id", "number", "sentence")


FIRST, LAST = 2, 1
"""Sentences left out at the beginning and the end of a text, which tell dates and whereabouts."""


def seed_sentences(texts: str | Path, out: Path, *, columns: Iterable[str] = ()) -> dict[str, int]:
    """Split texts into sentences without the outermost; return counts of texts and sentences.

    Parameters
    ----------
    texts
        A file of texts.
    out
        The CSV file to write, with a row for each sentence.
    columns
        "FIELD=NAME" strings where the column of the text has another name.

    Raises
    ------
    DataError
        When no sentence is left.

    References
    ----------
    Wan & Chang (2024), Appendix B.1.
    """
    rows, n_short, n_texts = [], 0, 0
    table = read_table(texts, ["text"], columns=columns, by_content=text_column)
    for n_texts, row in enumerate(table, 1):
        text = with_line_breaks(row["text"])
        spans = sentences(text)
        # Numbers stay those of the whole text
        inner = list(enumerate(spans))[FIRST : max(len(spans) - LAST, 0)]
        n_short += not inner
        name = row.get("text_id") or f"{n_texts - 1:06d}"
        for number, (start, end) in inner:
            # On one line, as prompts and sheets hold a sentence a line
            words = " ".join(text[start:end].split())
            ids = {"sentence_id": f"{name}-{number:03d}", "text_id": name}
            rows.append(ids | {"number": number, "sentence": words})
    if not rows:
        raise DataError(
            f"{texts}: no text has more than {FIRST + LAST} sentences, and the first {FIRST} and "
            "the last are left out."
        )
    if len({row["sentence_id"] for row in rows}) != len(rows):
        raise DataError(f"{texts}: a text_id comes twice; each text needs one of its own.")
    write_table(out, SEEDS_COLUMNS, rows)
    return {"texts": n_texts, "texts_too_short": n_short, "sentences": len(rows)}


TARGETS = ("agentic", "communal")
PARAPHRASES = ("entry_id", "sentence_id", "target", "text", "sentence")
UNREAD = ("sentence_id", "sentence", "why", "answer")


def paraphrase_prompt(sentence: str) -> str:
    """Return the request for both paraphrases of a sentence.

    References
    ----------
    Wan & Chang (2024), Table 7.
    """
    words = templates("portrayal.raters.data", "paraphrases.toml")
    return words["prompt"].format(**words, sentence=sentence)


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
) -> dict[str, int]:
    """Have every sentence paraphrased; what has an answer is not asked again.

    Returns sentences by what came of them: "ok", "malformed", "refused", "empty", "failed", ….

    Parameters
    ----------
    sentences
        File of sentences, of `seed_sentences` or of one's own.
    ask
        The model; see `portrayal.annotate.llm.ModelReader`.
    out
        CSV file to write, with two rows for each sentence that was paraphrased; the others go to a
        file beside it (`unread_path`), with the reason and the answer as it came.
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
        answer = replies.get(prompts[name].prompt_id, ())
        pairs, reasons = read_replies(answer, 1, read_paraphrases)
        outcome = "ok" if pairs else next(iter(reasons))
        # Unread answers are kept with the reason, to be read by hand
        if not pairs:
            words = "".join(reply.text or reply.reason for reply in answer)
            unread.append({"sentence_id": name, "sentence": text, "why": outcome, "answer": words})
        else:
            facts = {"sentence_id": name, "sentence": text}
            entries += [
                {
                    "entry_id": f"{name}-{target}",
                    "target": target,
                    "text": pairs[0][target],
                    **facts,
                }
                for target in TARGETS
            ]
        outcomes[outcome] += 1
    write_table(unread_path(out), UNREAD, unread)
    write_table(out, PARAPHRASES, entries)
    return {name: n for name, n in sorted(outcomes.items()) if n}


def unread_path(paraphrases: Path) -> Path:
    """Return the file of the sentences that have no paraphrases, beside those that have."""
    return paraphrases.with_name(f"{paraphrases.stem}-unread.csv")


AGENTIC, NEUTRAL, COMMUNAL, NA = "agentic", "neutral", "communal", "na"
BOOK = FILES / "sentences.toml"
"""What raters are asked of each sentence."""


def row_id(entry_id: str) -> str:
    """Return a name of an entry that does not tell its target."""
    return blake2b(entry_id.encode(), digest_size=6).hexdigest()


def sentences_to_label(paraphrases: str | Path, seed: int = 0) -> list[SheetItem]:
    """Return what raters label: each paraphrase under a name of its own, in a random order.

    Parameters
    ----------
    paraphrases
        The file that `paraphrase` wrote, or one with the columns `entry_id`, `text` and `target`.
    seed
        Of the order.

    References
    ----------
    Wan & Chang (2024), Appendix B.3 and Table 8.
    """
    rows = read_table(paraphrases, ["entry_id", "text", "target"], STEP_BEFORE)
    order = np.random.default_rng(check_seed(seed)).permutation(len(rows)).tolist()
    # Without targets and in random order: raters must not see what a sentence was meant to be
    return [SheetItem(row_id(rows[i]["entry_id"]), rows[i]["text"]) for i in order]


COLUMNS = ("entry_id", "sentence_id", "target", "text", "label", "votes")
KEPT = "kept"
NOT_LABELLED = "not labelled by every rater"
REMOVED_NA = "removed: na"
REMOVED_NEUTRAL = "removed: neutral"
UNDECIDED = "undecided: a third rater is needed"


@dataclass(frozen=True, slots=True)
class SentenceLabels:
    """The merged labels.

    Attributes
    ----------
    path
        CSV file of the entries that are kept; label is 1 for agentic and 0 for communal.
    undecided
        The entries that a third rater decides, as sheets take them.
    counts
        Entries by what became of them.
    kappa_all, kappa_kept
        Agreement on all entries that every rater labelled as something, and on those kept, where
        it must be higher. The paper's 0.90 is that of the finished data set.
    """

    path: Path
    undecided: tuple[SheetItem, ...]
    counts: Mapping[str, int]
    kappa_all: Coefficient
    kappa_kept: Coefficient


def merge_labels(
    paraphrases: str | Path,
    sheets: Sequence[str | Path],
    out: Path,
    *,
    third: str | Path | None = None,
    draws: int = 2000,
    seed: int = 0,
) -> SentenceLabels:
    """Take the label that more than half of the raters and the paraphrase target agree on.

    An entry that any rater calls "na" is removed. Where no label has a majority, the third rater's
    label counts. Entries whose label is neutral are removed, as LAC has two classes.

    Parameters
    ----------
    paraphrases
        The file that the sheets were made from.
    sheets
        Label files of two raters or more.
    out
        CSV file to write.
    third
        Label file of the third rater.
    draws, seed
        Of the kappas' intervals, which resample sentences.

    Raises
    ------
    DataError
        With fewer than two raters, a label that is none, or labels of other sentences.
    OptionError
        When one file is given twice.

    References
    ----------
    Wan & Chang (2024), Section 3.2.1 and Appendices B.3 to B.5.
    """
    check_different_files([*sheets, *([] if third is None else [third])])
    rows = read_table(paraphrases, ["entry_id", "text", "target"], STEP_BEFORE)
    names = {row_id(row["entry_id"]) for row in rows}
    of_raters = _answers(read_labels(*sheets), names)
    if len(of_raters) < 2:
        raise DataError(f"labels are merged from two raters or more; got {len(of_raters)}.")
    last: dict[str, str] = {}
    if third is not None:
        last = dict(*_answers(read_labels(third), names).values())
    raters = ("target", *of_raters)
    counts: Counter[str] = Counter()
    decided: list[dict[str, str]] = []
    undecided: list[SheetItem] = []
    votes: list[Label] = []
    for row in rows:
        name, target = row_id(row["entry_id"]), row["target"].strip().casefold()
        if target not in (AGENTIC, COMMUNAL):
            raise DataError(
                f"{paraphrases}: target must be agentic or communal; got {row['target']!r}."
            )
        ballots = [answers.get(name, "") for answers in of_raters.values()]
        # The target has a vote, as in the paper
        label = majority([target, *ballots])
        if NA in ballots:
            outcome = REMOVED_NA
        elif not all(ballots):
            outcome = NOT_LABELLED
        else:
            # The third rater decides only where there is no majority
            label = label or last.get(name, UNDECIDED)
            removed = {NEUTRAL: REMOVED_NEUTRAL, NA: REMOVED_NA, UNDECIDED: UNDECIDED}
            outcome = removed.get(label, KEPT)
        counts[outcome] += 1
        if outcome == UNDECIDED:
            undecided.append(SheetItem(name, row["text"]))
        # Kappa is of entries that every rater labelled as something
        if all(ballots) and NA not in ballots:
            pairs = zip(raters, (target, *ballots), strict=True)
            prompt_id = row.get("sentence_id") or ""
            label_of = partial(Label, name, "", KEPT, prompt_id=prompt_id, note=outcome)
            votes += [label_of(value, rater) for rater, value in pairs]
        if outcome == KEPT:
            value = "1" if label == AGENTIC else "0"
            decided.append({**row, "label": value, "votes": " ".join([target, *ballots])})
    write_table(out, COLUMNS, decided)
    prompts, kappas = Labels(tuple(votes)).prompts, list[Coefficient]()
    resampling = Resampling(draws=draws, seed=seed, prompts=prompts)
    # What is kept is kept because raters agree, so the kappa of all rows stands beside its own.
    for part in (votes, [one for one in votes if one.note == KEPT]):
        answers = ratings_of(Labels(tuple(part)), raters, (KEPT,))[KEPT]
        kappas.append(coefficient("label", "fleiss_kappa", answers, resampling))
    return SentenceLabels(out, tuple(undecided), dict(sorted(counts.items())), *kappas)


def _answers(labels: Labels, names: Collection[str]) -> dict[str, dict[str, str]]:
    """Rater → name of a sentence → label, of sentences that were drawn from one file."""
    answers: dict[str, dict[str, str]] = {}
    for row in labels.rows:
        if row.text_id not in names:
            raise DataError(
                f"{labels.source}: {row.text_id!r} is no sentence of the file of paraphrases; "
                "merge labels with the file that their sheets were made from."
            )
        value = folded(row.value)
        if value not in (AGENTIC, NEUTRAL, COMMUNAL, NA):
            raise DataError(
                f"{labels.source}: {row.rater!r} says {row.value!r} of {row.text_id!r}; expected "
                "agentic, neutral, communal or na."
            )
        answers.setdefault(row.rater, {})[row.text_id] = value
    return answers


PARTS = ("train", "validation", "test")
SHARES = (0.8, 0.1, 0.1)
CARD = "data-card.md"


def split_labelled(
    labelled: str | Path,
    out: Path,
    *,
    together: bool = False,
    seed: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, int]]:
    """Split labelled sentences at random, with a data card; return entries by part and label.

    Sizes of the parts (`SHARES`) are rounded down and the rest goes to the last, so that 3,724
    entries give 2,979, 372 and 373 as in Table 9.

    Parameters
    ----------
    labelled
        A file with the columns `text` and `label` (1 or agentic, 0 or communal).
    out
        Folder of train.jsonl, validation.jsonl, test.jsonl and data-card.md.
    together
        Keep both paraphrases of a sentence in one part. The paper's split does not, so that its
        test sentences have twins of the other class in training.
    seed
        Of the order.
    facts
        What the card says of the steps before.

    Raises
    ------
    DataError
        When a label is unknown, or sentences are to stay together and have no sentence_id.
    """
    rows = read_table(labelled, ["text", "label"], STEP_BEFORE)
    if together and any(not row.get("sentence_id") for row in rows):
        raise DataError(f"{labelled}: --together needs a sentence_id in every row.")
    entries: list[dict[str, Any]] = []
    for number, row in enumerate(rows, 2):
        place = f"{labelled}: row {number}"
        if (label := label_of(row["label"], place)) is None:
            raise DataError(f"{place}: label is {row['label']!r}; expected 1 or 0.")
        more = {name: row[name] for name in ("entry_id", "sentence_id", "target") if row.get(name)}
        entries.append({"text": row["text"], "label": label, **more})
    # Both paraphrases of a sentence in training and test would let a classifier recognise it.
    names = [entry["sentence_id"] if together else str(i) for i, entry in enumerate(entries)]
    units, size, n = list(dict.fromkeys(names)), Counter(names), len(entries)
    # In floating point 0.29 × 100 is a little less than 29.
    train = int(SHARES[0] * n + 1e-9)
    edges = (train, train + int(SHARES[1] * n + 1e-9))
    part_of: dict[str, str] = {}
    n_placed = 0
    for i in np.random.default_rng(check_seed(seed)).permutation(len(units)).tolist():
        # A unit goes where its first entry falls; parts may be larger by a twin
        part_of[units[i]] = PARTS[sum(n_placed >= edge for edge in edges)]
        n_placed += size[units[i]]
    of_parts = [part_of[name] for name in names]
    placed = zip((entry.get("sentence_id") for entry in entries), of_parts, strict=True)
    in_parts = dict.fromkeys((sentence, part) for sentence, part in placed if sentence)
    counts = {}
    out.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        items = [entry for entry, its in zip(entries, of_parts, strict=True) if its == part]
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in items)
        write_atomically(out / f"{part}.jsonl", "".join(lines))
        agentic = sum(entry["label"] for entry in items)
        counts[part] = {"entries": len(items), "agentic": agentic, "communal": len(items) - agentic}
    # Sentences whose paraphrases stand in two parts
    n_shared = sum(n > 1 for n in Counter(sentence for sentence, _ in in_parts).values())
    table = [f"| {name} | {' | '.join(map(str, row.values()))} |" for name, row in counts.items()]
    steps = ""
    for step, values in (facts or {}).items():
        lines = (f"* {key.replace('_', ' ')}: {fact_words(x)}\n" for key, x in values.items())
        steps += f"## {step.capitalize()}\n\n{''.join(lines)}\n"
    words = FILES.joinpath("data-card.md").read_text(encoding="utf-8")
    pairs = "stay in one part" if together else "may be in different parts"
    blanks = {"table": "\n".join(table), "seed": seed, "where": pairs, "shared": n_shared}
    write_atomically(out / CARD, words.format(**blanks, steps=steps))
    return counts


def fact_words(value: Any) -> str:
    """Return what a step tells of itself, such as its counts, in words.

    >>> fact_words({"ok": 1200, "kappa": 0.90261})
    'ok 1,200, kappa 0.903'
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {fact_words(item)}" for name, item in value.items()) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else " ".join(str(value).split())
