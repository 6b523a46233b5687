"""Seeds: sentences of biographies, without the first two and the last of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from portrayal.annotate.agency_data.tables import read_table, write_table
from portrayal.annotate.sentences import sentences
from portrayal.errors import DataError
from portrayal.validate import check_count

COLUMNS = ("sentence_id", "text_id", "number", "sentence")


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
    texts: str | Path, out: Path, *, text_column: str = "text", first: int = 2, last: int = 1
) -> Seeds:
    """Split texts into sentences and leave out the outermost, which tell dates and whereabouts.

    Parameters
    ----------
    texts
        A file of texts.
    out
        The CSV file to write.
    text_column
        The column of the texts.
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
    for n_texts, row in enumerate(read_table(texts, [text_column]), 1):
        text = row[text_column]
        spans = sentences(text)
        kept = list(enumerate(spans))[first : max(len(spans) - last, 0)]
        n_short += not kept
        name = row.get("text_id") or f"{n_texts - 1:06d}"
        for number, (start, end) in kept:
            said = " ".join(text[start:end].split())
            made = {"sentence_id": f"{name}-{number:03d}", "text_id": name}
            rows.append(made | {"number": number, "sentence": said})
    if not rows:
        raise DataError(
            f"{texts}: no text has more than {first + last} sentences; leave out fewer with "
            "--first and --last."
        )
    _check_distinct([row["sentence_id"] for row in rows], texts)
    return Seeds(write_table(out, COLUMNS, rows), n_texts, n_short, len(rows))


def _check_distinct(names: Sequence[object], where: str | Path) -> None:
    if len(set(names)) != len(names):
        raise DataError(f"{where}: a text_id comes twice; each text needs one of its own.")
