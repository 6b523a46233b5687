"""Labels of sentences, put to a vote together with the paraphrase targets."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.raters.agreement import Coefficient, Resampling, coefficient, ratings_of
from portrayal.raters.labels import Label, Labels, folded, majority, read_labels
from portrayal.raters.sentences.seeds import STEP_BEFORE
from portrayal.validate import check_different_files, check_seed

AGENTIC, NEUTRAL, COMMUNAL, NA = "agentic", "neutral", "communal", "na"
FIELD = "agency"
BOOK = files(__package__) / "codebook.toml"
"""What raters are asked of each sentence."""


def row_id(entry_id: str) -> str:
    """Return a name of an entry that does not tell its target."""
    return blake2b(entry_id.encode(), digest_size=6).hexdigest()


def sentences_to_label(paraphrases: str | Path, seed: int = 0) -> list[tuple[str, str]]:
    """Return name and text of each paraphrase in a random order, as raters see them.

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
    return [(row_id(rows[i]["entry_id"]), rows[i]["text"]) for i in order]


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
        Name and text of the entries that a third rater decides.
    counts
        Entries by what became of them.
    kappa_all, kappa_kept
        Agreement on all entries that every rater labelled as something, and on those kept, where
        it must be higher. The paper's 0.90 is that of the finished data set.
    """

    path: Path
    undecided: tuple[tuple[str, str], ...]
    counts: Mapping[str, int]
    kappa_all: Coefficient
    kappa_kept: Coefficient

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        facts: dict[str, Any] = {"path": str(self.path)}
        for name, one in (("kappa_all", self.kappa_all), ("kappa_kept", self.kappa_kept)):
            bounds = one.interval
            facts[name] = {
                "value": one.value,
                "low": None if bounds is None else bounds.low,
                "high": None if bounds is None else bounds.high,
                "n_entries": one.n_items,
                "n_raters": len(one.raters),
                "why": one.undefined or one.no_interval,
            }
        return facts | {"counts": dict(self.counts)}


def merge_labels(
    paraphrases: str | Path,
    sheets: Sequence[str | Path],
    out: Path,
    *,
    third: str | Path | None = None,
    level: float = 0.95,
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
    level, draws, seed
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
    undecided: list[tuple[str, str]] = []
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
            undecided.append((name, row["text"]))
        # Kappa is of entries that every rater labelled as something
        if all(ballots) and NA not in ballots:
            pairs = zip(raters, (target, *ballots), strict=True)
            prompt_id = row.get("sentence_id") or ""
            votes += [
                Label(name, "", KEPT, value, rater, prompt_id, note=outcome)
                for rater, value in pairs
            ]
        if outcome == KEPT:
            value = "1" if label == AGENTIC else "0"
            decided.append({**row, "label": value, "votes": " ".join([target, *ballots])})
    write_table(out, COLUMNS, decided)
    resampling, kappas = Resampling(level, draws, seed, Labels(tuple(votes)).prompts), []
    # What is kept is kept because raters agree, so the kappa of all rows stands beside its own.
    for part in (votes, [one for one in votes if one.note == KEPT]):
        answers = ratings_of(Labels(tuple(part)), raters, (KEPT,))[KEPT]
        kappas.append(coefficient("label", "fleiss_kappa", [answers], resampling))
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
