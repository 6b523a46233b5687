"""Documents: texts with the groups, role and cluster they belong to, and their words counted."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.masking import is_ambiguous_name
from portrayal.annotate.language import is_english
from portrayal.annotate.names import hidden, hidden_spans
from portrayal.collect.corpus import SLOTS, people_parts
from portrayal.collect.fields import find_columns, parse_columns
from portrayal.collect.outcomes import outcome_of
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.measure.cues.search import role_of
from portrayal.records import OUTCOMES
from portrayal.reference import (
    GENDERS,
    RACES,
    gender_words,
    mena_nhpi_table,
    name_table,
    race_likelihoods,
)
from portrayal.reference.locales import HOME
from portrayal.run import Run, read_chosen, read_rows

if TYPE_CHECKING:
    from scipy import sparse

TEXT = "text"
NOT_ENGLISH = "not English"
"""Why a text of another language is excluded: the words that are masked are English."""
_WORD = re.compile(r"[^\W\d_]+(?:['’\-\u2010\u2011][^\W\d_]+)*")
_AFTER = re.compile(r"\b([A-Z]\w+)\.?[ ](?=([A-Z]\w+))")
_SMALL = re.compile(r"(?<!\w)[a-z]+(?!\w)")
_TITLES = frozenset(("Mr", "Mrs", "Ms", "Miss", "Mx", "Dr", "Prof", "Professor"))
_MARK = "ꙮ"  # a letter that no text has, in place of a name
# Simple on purpose: a closing quotation mark belongs to the sentence before it
_SENTENCE = re.compile(r"[^.!?\n]*[.!?\n]*[\"'”’)]*\s*")
ATTRIBUTES = ("gender", "race", "model", "domain")
"""What the characters of a run can be grouped by."""
THRESHOLD = 0.6
"""Share of its bearers from which a name counts as borne mostly by a group (Table S10)."""
_TYPOGRAPHY = str.maketrans("’\u2010\u2011", "'--")


@dataclass(frozen=True)
class Documents:
    """Readable texts.

    Attributes
    ----------
    name
        How tables and messages speak of them.
    texts
        The texts, n of them.
    groups
        Label of each text by attribute: `race`, `gender`, …; "" where it has none.
    role
        Role of whom each text is about; "all" throughout where texts have no roles.
    cluster, clustered_by
        Cluster of each text, shape (n,), and what clusters are.
    own_names
        Words of first names, masked in every text; one that is a word too where it is a name.
    exclusions
        Texts that could not be read, by outcome.
    unit
        What a document is: "text", or "character" for the sentences about one.
    """

    name: str
    texts: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    role: tuple[str, ...]
    cluster: NDArray[np.int64]
    clustered_by: str
    own_names: frozenset[str] = frozenset()
    exclusions: Mapping[str, int] = field(default_factory=dict)
    unit: str = "text"


@dataclass(frozen=True)
class Counts:
    """Words of documents.

    Attributes
    ----------
    words, matrix
        The words, and how often each text has each: sparse, shape (n_texts, n_words).
    masked
        Words that were left out as names or as naming a group, with their number.
    min_count, min_texts
        Occurrences and texts that a word has at least.
    """

    words: tuple[str, ...]
    matrix: sparse.csr_array
    masked: Mapping[str, int]
    min_count: int
    min_texts: int


def read_documents(
    texts: Any,
    groups: Sequence[str],
    *,
    cluster: str | None = None,
    columns: Mapping[str, str] | Iterable[str] = (),
) -> Documents:
    """Read grouped texts from a file or table.

    Parameters
    ----------
    texts
        What `portrayal.collect.sources.open_source` reads.
    groups
        Columns with the group labels.
    cluster
        Column of what makes texts dependent, or "text" where none does; the prompt where there is
        such a column, else whom texts are about by name, else the text.
    columns
        Field → column, or "FIELD=NAME" strings; fields are text, name (first names, which are
        masked), prompt, outcome, and role, which is never guessed.

    Raises
    ------
    DataError
        When a column is missing, or no text can be read.
    OptionError
        When no group is named.
    """
    source = open_source(texts)
    if not groups:
        raise OptionError("name at least one column of groups, such as --by gender.")
    mapping = parse_columns(columns)
    fields = ("text", "name", "prompt", "outcome", *(["role"] if "role" in mapping else ()))
    field = find_columns(
        fields, source.columns, columns=mapping, needed=("text",), file=source.name
    )
    text, role, outcomes = field["text"], field.get("role"), field.get("outcome", "")
    cluster = cluster or field.get("prompt") or field.get("name")
    # "text" says that texts are independent, unless the file has a column of that name
    if cluster == TEXT and cluster not in (source.columns if text != TEXT else ()):
        cluster = None
    for name in (*groups, cluster):
        if name and name not in source.columns:
            columns_there = ", ".join(source.columns)
            raise DataError(f"{source.name}: there is no column {name!r}; found {columns_there}.")
    rows: list[Mapping[str, Any]] = []
    unread: Counter[str] = Counter()
    for row in source.rows():
        # The file's own word on a refusal counts; without one it is recognised by how it is written
        outcome = _cell(row, outcomes).casefold() or outcome_of(_cell(row, text))
        if outcome == "ok" and not is_english(_cell(row, text)):
            unread[NOT_ENGLISH] += 1
        elif outcome == "ok":
            rows.append(row)
        else:
            unread[outcome if outcome in OUTCOMES else "failed"] += 1
    if not rows:
        raise DataError(
            f"{source.name}: no text could be read: all were refused, empty or not in English."
        )
    # Numbers of rows where nothing is known to make texts dependent
    keys = [_cell(row, cluster) if cluster else str(i) for i, row in enumerate(rows)]
    words = [_cell(row, field["name"]) for row in rows] if "name" in field else []
    return Documents(
        source.name,
        tuple(_cell(row, text) for row in rows),
        {name: tuple(_cell(row, name) for row in rows) for name in groups},
        tuple(_cell(row, role) if role else "all" for row in rows),
        np.unique(keys, return_inverse=True)[1].astype(np.int64),
        cluster or TEXT,
        names_mask(words, (_cell(row, text) for row in rows)),
        dict(unread),
    )


def run_documents(run: Run, groups: Sequence[str] = ("gender",)) -> Documents:
    """Return one document per character of a run: the sentences that refer to the character.

    Parameters
    ----------
    run
        A run with annotated people. Where labels give no places, as a user's own do, the sentences
        that name a character stand for those that refer to it.
    groups
        Of `ATTRIBUTES`. The race of a document says whose bearers share the name at `THRESHOLD` or
        more, which describes a population; other names have none.

    Raises
    ------
    OptionError
        For another group.
    DataError
        When no place of a character is known.
    """
    foreign = [name for name in groups if name not in ATTRIBUTES]
    if foreign or not groups:
        attributes = ", ".join(ATTRIBUTES)
        raise OptionError(f"a run's people are grouped by {attributes}; got {foreign or 'none'}.")
    columns = ("text_id", "prompt_id", "model", "outcome", "text")
    texts = {row["text_id"]: row for row in read_rows(run, columns) if row["outcome"] == "ok"}
    people = sorted(run_people(run, texts), key=lambda of_text: of_text[0])
    rows = [
        (about, person, texts[text_id])
        for text_id, characters in people
        for person in characters
        # A character whom no sentence refers to has no document
        if (
            about := sentences(
                text := texts[text_id]["text"], person.spans or _named(text, person.name)
            )
        )
    ]
    if not rows:
        raise DataError(f"{run.path}: no text says where it refers to its people.")
    abouts, persons, rows_of = zip(*rows, strict=True)
    labels = {
        "gender": [person.gender if person.gender in GENDERS else "" for person in persons],
        "race": [person.race for person in persons],
        "model": [row["model"] for row in rows_of],
        "domain": [row.get("domain", "") for row in rows_of],
    }
    counts = run.texts.note().get("outcomes", {})
    names = (person.name for _, characters in people for person in characters)
    return Documents(
        str(run.path),
        abouts,
        {name: tuple(labels[name]) for name in groups},
        tuple(person.power for person in persons),
        np.unique([row["prompt_id"] for row in rows_of], return_inverse=True)[1].astype(np.int64),
        "prompt",
        names_mask(names, (row["text"] for row in texts.values())),
        {name: counts[name] for name in OUTCOMES[1:] if counts.get(name)},
        "character",
    )


@dataclass(frozen=True, slots=True)
class StoryPerson:
    """One of the people of a story of a run, as an annotator found them.

    Attributes
    ----------
    slot
        "subject" or "object".
    name, gender
        First name and gender; None, or "", where the text gives none.
    power
        Role in which the prompt casts the character: dominant, subordinate or neutral.
    race
        Group that `THRESHOLD` or more of the name's bearers belong to, which describes a
        population; "" where no group has so many.
    spans
        Where the text refers to the character.
    """

    slot: str
    name: str | None
    gender: str
    power: str
    race: str
    spans: tuple[tuple[int, int], ...]


def run_people(
    run: Run, texts: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, list[StoryPerson]]]:
    """Yield text_id and people of these texts of a run, whose rows hold their prompts' strata.

    Raises
    ------
    DataError
        When the run's people were not annotated.
    """
    parts = people_parts(run)
    if not parts:
        raise DataError(f"{run.path}: people were not annotated. Audit it first.")
    of_slot = (f"{slot}_{part}" for slot in SLOTS for part in ("name", "gender", "spans"))
    columns = ("text_id", "error", *of_slot)
    # Shard by shard, so that a run of many need not fit in memory
    for part in parts:
        rows = [row for row in read_chosen([part], columns, texts) if row["error"] is None]
        races = mostly_of([row[f"{slot}_name"] for row in rows for slot in SLOTS])
        for row in rows:
            people = []
            for slot in SLOTS:
                name, gender = row[f"{slot}_name"], row[f"{slot}_gender"]
                if name is not None or gender is not None:
                    power = role_of(slot, texts[row["text_id"]].get("condition", ""))
                    spans = tuple((s["start"], s["end"]) for s in row[f"{slot}_spans"] or ())
                    race = races.get((name or "").casefold(), "")
                    people.append(StoryPerson(slot, name, gender or "", power, race, spans))
            yield row["text_id"], people


def mostly_of(names: Iterable[str | None]) -> dict[str, str]:
    """Return the race of `THRESHOLD` or more of each name's bearers, by the casefolded name."""
    distinct = sorted({name.casefold() for name in names if name})
    likelihoods = race_likelihoods(distinct, name_table(), mena_nhpi_table())
    # NaN, of names that no table has, would be the largest
    shares = np.nan_to_num(likelihoods, nan=-1.0)
    return {
        name: RACES[int(row.argmax())]
        for name, row in zip(distinct, shares, strict=True)
        if row.max() >= THRESHOLD
    }


def _named(text: str, name: str | None) -> list[tuple[int, int]]:
    """Return where a text has a name, for people whose labels give no places."""
    return [hit.span() for hit in re.finditer(rf"\b{re.escape(name)}\b", text)] if name else []


def sentences(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the sentences of a text that hold the start of one of the spans, joined by spaces."""
    starts = sorted(start for start, _ in spans)
    shown_sentences = []
    for hit in _SENTENCE.finditer(text):
        sentence = hit.group()
        low = hit.start() + len(sentence) - len(sentence.lstrip())
        # The start decides, so that a span across a border is in one sentence alone
        first = np.searchsorted(starts, low)
        holds_start = first < len(starts) and starts[first] < low + len(sentence.strip())
        if holds_start and re.search(r"\w", sentence):
            shown_sentences.append(sentence.strip())
    return " ".join(shown_sentences)


def names_mask(names: Iterable[str | None], texts: Iterable[str]) -> frozenset[str]:
    """Return the words to mask for these first names: their parts, and the surnames in `texts`.

    A surname is a capitalised word after one of the names or a title, which the texts do not write
    in small letters as well.
    """
    words: set[str] = set()
    for name in names:
        for word in words_of(name or ""):
            words |= {word, *word.split("-")}  # "Mary-Ann" is called Mary too
    follows: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in texts:
        for first, last in _AFTER.findall(text):
            if first.casefold() in words or first in _TITLES:
                follows[last.casefold()] += 1
        small.update(_SMALL.findall(text))
    # "Dr Brown" beside many a "brown" dog: what is mostly small is a word, no surname
    return frozenset(words | {word for word, n in follows.items() if small[word] < n})


@lru_cache(maxsize=1)
def group_words() -> frozenset[str]:
    """Return the words that name a gender or race, with the gendered references of Table S6a."""
    text = files("portrayal.measure.cues").joinpath("groupwords.toml").read_text(encoding="utf-8")
    words_of_groups = (word for words in tomllib.loads(text).values() for word in words)
    return frozenset(words_of_groups).union(*gender_words().values())


def words_of(text: str) -> list[str]:
    """Return the words of a text: case folded, typographic marks plain, possessive 's left off."""
    words = _WORD.findall(text.translate(_TYPOGRAPHY))
    return [word.casefold().removesuffix("'s") for word in words]


def count_words(
    documents: Documents, *, min_count: int = 10, min_texts: int = 5, masking: bool = True
) -> Counts:
    """Count the words of documents, without names, group labels and words that name a group.

    Names are those that stand as a person's (`portrayal.annotate.names.hidden_spans`), so that
    "hope" and "will" are counted.

    Parameters
    ----------
    documents
        The texts.
    min_count, min_texts
        Occurrences, and texts they are in, that a word needs to be compared.
    masking
        Whether names, labels and words that name a group are left out.
    """
    from scipy import sparse

    names = Counter[str]()
    own_names = sorted(documents.own_names)
    ambiguous = [name.capitalize() for name in own_names if is_ambiguous_name(name)]
    labels = (label for column in documents.groups.values() for label in sorted(set(column)))
    masked_words = {_MARK}
    if masking:
        masked_words |= group_words() | {word for label in labels for word in words_of(label)}
        masked_words |= {name for name in documents.own_names if not is_ambiguous_name(name)}
    vocabulary: dict[str, int] = {}
    indptr: list[int] = [0]
    indices: list[int] = []
    data: list[int] = []
    # The sparse matrix row by row, as compressed rows are built without a copy
    for text in documents.texts:
        spans = hidden_spans(text, HOME, ambiguous) if masking else []
        # Names are cut out where they stand as names, so that "hope" is counted elsewhere
        names.update(word for start, end in spans for word in words_of(text[start:end]))
        counted = Counter(words_of(hidden(text, spans, _MARK)))
        indices += [vocabulary.setdefault(word, len(vocabulary)) for word in counted]
        data += counted.values()
        indptr.append(len(indices))
    shape = (len(documents.texts), len(vocabulary))
    cells = np.array(data, dtype=np.float64), np.array(indices), np.array(indptr)
    matrix = sparse.csr_array(cells, shape=shape)
    totals = np.asarray(matrix.sum(axis=0)).ravel()
    in_texts = np.bincount(np.array(indices, dtype=np.int64), minlength=len(vocabulary))
    terms = np.array(list(vocabulary), dtype=object)
    # A compound is hidden by any of its parts: "African-American", "self-made-man"
    hides = (not masked_words.isdisjoint((word, *word.split("-"))) for word in terms)
    is_hidden = np.fromiter(hides, dtype=bool, count=len(terms))
    keep = np.flatnonzero((totals >= min_count) & (in_texts >= min_texts) & ~is_hidden)
    masked = {str(terms[i]): int(totals[i]) for i in np.flatnonzero(is_hidden)} | names
    masked.pop(_MARK, None)
    if len(keep) == 0:
        raise DataError(
            f"{documents.name}: no word occurs {min_count} times in {min_texts} texts. Lower "
            "--min-count, or give more texts."
        )
    order = keep[np.argsort(terms[keep])]  # by the alphabet, whatever text came first
    words = tuple(map(str, terms[order]))
    return Counts(words, matrix[:, order].tocsr(), masked, min_count, min_texts)


def _cell(row: Mapping[str, Any], name: str | None) -> str:
    value = row.get(name) if name else None
    # A missing number of a table is NaN, the only value that differs from itself
    return "" if value is None or value != value else str(value).strip()  # noqa: PLR0124
