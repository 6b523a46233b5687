"""A mitigation from texts to texts: read, rewrite, write; and the edits that it applies.

A classifier reads the texts, a model is asked for edits to the communal sentences,
and those that hold are applied. A text whose answer is malformed, empty, refused or missing stays
as it is, and is counted.

An edit replaces a phrase inside one sentence that was chosen. It is refused where it reaches
outside, where it drops or adds a name, a number or a gender, or where the sentences of the text
would no longer be the same in number. All text outside the chosen sentences stays byte for byte.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from portrayal.annotate.agency import AgencyClassifier, load_classifier, mask
from portrayal.annotate.agency.rows import AGENCY, AGENCY_UNMASKED, agency_sentences, classifying_of
from portrayal.annotate.llm import ModelReader, read_replies, templates
from portrayal.annotate.people.shared.words import GENDER_WORDS, word_set
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import Ask, objects_in, prompt_of
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.collect.tables import missing
from portrayal.errors import DataError
from portrayal.reference.groups import FEMININE, MASCULINE
from portrayal.run import Run, read_rows
from portrayal.run.files import write_atomically
from portrayal.types import Say, Tabular

Span = tuple[int, int]
Split = Callable[[str], list[Span]]
_WORD = re.compile(r"[^\W\d_](?:[\w]|['’-](?=\w))*")
_DIGITS = re.compile(r"\d+(?:[.,:/]\d+)*")
_SPELLED = word_set(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    hundreds thousand thousands million millions billion billions dozen dozens half third quarter
    twice
    """
)
_OPENS = re.compile(r"[\W_]*$")
_ENDING = re.compile(r"['’]s?$")
_NO_NAMES = frozenset(("i", "i'm", "i've", "i'd", "i'll"))


def _names_in(text: str, spans: Sequence[Span], names: Iterable[str]) -> frozenset[str]:
    """The words that are names wherever they stand capitalised in a text, casefolded.

    That is those of the names passed, and words that are capitalised inside a sentence.
    """
    names_known = {_plain(word) for name in names for word in _WORD.findall(name)}
    for start, end in spans:
        # Only inside of sentences: every first word has a capital
        names_known |= {word for word, opens in _capitalised(text[start:end]) if not opens}
    return frozenset(names_known)


def _facts_of(sentence: str, names_known: Collection[str]) -> dict[str, set[str]]:
    """Names, numbers and genders ("F", "M") of a sentence, by why an edit of them is refused.

    A name is a capitalised word inside the sentence, or at its beginning where it is known as a
    name from elsewhere in the text or from a table of given names. A number is written in digits,
    or spelled out from two on.
    """
    names = {
        word
        for word, opens in _capitalised(sentence)
        # A first word is a name only if it is one elsewhere, or a table knows it
        if not opens or word in names_known or mask(word.capitalize()) in ("[NAME]", "[GROUP]")
    }
    words = {_plain(word) for word in _WORD.findall(sentence)}
    numbers = {*_DIGITS.findall(sentence), *(words & _SPELLED)}
    genders = {gender for gender in (FEMININE, MASCULINE) if words & GENDER_WORDS[gender]}
    return {NAMES: names, NUMBERS: numbers, GENDER: genders}


def _capitalised(sentence: str) -> Iterable[tuple[str, bool]]:
    """Yield each capitalised word, and whether it opens the sentence or a quotation in it."""
    for match in _WORD.finditer(sentence):
        word = _plain(match.group())
        if not match.group()[0].isupper() or word in _NO_NAMES:
            continue
        before = sentence[: match.start()]
        opens = _OPENS.fullmatch(before) is not None or before[-1] in '"“‘(['
        yield word, opens


def _plain(word: str) -> str:
    return _ENDING.sub("", word).replace("’", "'").casefold()


NOT_FOUND = "the original is not in the text"
OUTSIDE = "outside the sentences to rewrite"
EMPTY = "empty original or empty rewrite"
SAME = "no change"
NAMES = "drops or adds a name"
NUMBERS = "drops or adds a number"
GENDER = "changes the gender"
SENTENCES = "changes the number of sentences"
LENGTH = "changes the sentence's length too much"
REASONS = (NOT_FOUND, OUTSIDE, EMPTY, SAME, NAMES, NUMBERS, GENDER, SENTENCES, LENGTH)
"""Why an edit is refused."""

MOST_GROWTH = 2.5
"""How many times as many words a rewritten sentence may have, or as few."""
_FREE_WORDS = 6  # words by which a sentence may always grow

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


@dataclass(frozen=True, slots=True)
class Edit:
    """A phrase and what shall stand in its place."""

    original: str
    edited: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after its edits.

    Attributes
    ----------
    text
        The new text; the old one where nothing was applied.
    applied
        The edits that were applied, in the order of the text.
    refused
        How many were not, by the words of `REASONS`.
    changed
        Numbers of the sentences that were rewritten.
    """

    text: str
    applied: tuple[Edit, ...]
    refused: Counter[str]
    changed: frozenset[int]


def read_edits(reply: str) -> tuple[list[Edit], int]:
    """Return the edits in a reply, and how many objects were none.

    An object is an edit where it has the texts "original" and "edited". A reply without any is
    malformed.
    """
    edits, malformed = [], 0
    for entry in objects_in(reply):
        pair = entry.get("original"), entry.get("edited")
        if isinstance(pair[0], str) and isinstance(pair[1], str):
            edits.append(Edit(pair[0], pair[1]))
        else:
            malformed += 1
    return edits, malformed


def apply_edits(
    text: str,
    spans: Sequence[Span],
    sentences: Collection[int],
    edits: Iterable[Edit],
    split: Split,
    names: Iterable[str] = (),
) -> Edited:
    """Apply the edits that may be, one after the other.

    Parameters
    ----------
    text, spans
        The text, and the offsets of its sentences as `split` gives them.
    sentences
        Numbers of the sentences that may be rewritten.
    edits
        What was proposed.
    split
        Splits a text into sentences.
    names
        Names of people the text is about.
    """
    names_known = _names_in(text, spans, names)
    originals = [text[start:end] for start, end in spans]
    applied: list[Edit] = []
    refused: Counter[str] = Counter()
    changed: set[int] = set()
    # One after the other: each is judged in the text that the ones before it made
    for edit in edits:
        place = _place(text, spans, sentences, edit)
        if isinstance(place, str):
            refused[place] += 1
            continue
        number, start, end, phrase = place
        rewritten = text[:start] + phrase + text[end:]
        growth = len(rewritten) - len(text)
        # Where each sentence should lie now, if none was split or joined
        expected = [
            (low + growth * (i > number), high + growth * (i >= number))
            for i, (low, high) in enumerate(spans)
        ]
        # Asked of the splitter itself: an inserted "Dr." or "etc." may divide a sentence
        reason = SENTENCES
        if split(rewritten) == expected:
            reason = _lost(originals[number], rewritten[slice(*expected[number])], names_known)
        if reason:
            refused[reason] += 1
            continue
        applied.append(Edit(text[start:end], phrase))
        changed.add(number)
        text, spans = rewritten, expected
    return Edited(text, tuple(applied), refused, frozenset(changed))


def _place(
    text: str, spans: Sequence[Span], sentences: Collection[int], edit: Edit
) -> tuple[int, int, int, str] | str:
    """Where an edit goes: sentence, start and end of the phrase, what becomes of it; else why not.

    The first place in a sentence that may be rewritten counts.
    """
    original, edited = edit.original.strip(), edit.edited.strip()
    if not original or not edited:
        return EMPTY
    if original == edited:
        return SAME
    # The phrase in any quotes and spaces, but not a part of a word: "he" is not in "where".
    inside = r"\s+".join(re.escape(word) for word in original.translate(_QUOTES).split())
    before = r"(?<!\w)" if original[0].isalnum() else ""
    after = r"(?!\w)" if original[-1].isalnum() else ""
    reason = NOT_FOUND
    # Offsets hold, as each typographic sign is replaced by one sign
    for match in re.finditer(before + inside + after, text.translate(_QUOTES)):
        start, end = match.span()
        reason = OUTSIDE
        for number in sentences:
            if spans[number][0] <= start and end <= spans[number][1]:
                # Models often write the new phrase small, though it begins the sentence
                if start == spans[number][0] and text[start].isupper():
                    edited = edited[0].upper() + edited[1:]
                return number, start, end, edited
    return reason


def _lost(before: str, after: str, names_known: Collection[str]) -> str:
    """Which fact of a sentence its rewriting drops or adds; "" where it keeps all."""
    old, new = _facts_of(before, names_known), _facts_of(after, names_known)
    for reason in (NAMES, NUMBERS):
        if old[reason] != new[reason]:
            return reason
    # Fewer gendered words may do, as in dropping a "she"; a new gender may not
    if not new[GENDER] <= old[GENDER]:
        return GENDER
    # A rewriting that grows or shrinks much says something else, in whatever words
    shorter, longer = sorted((len(before.split()), len(after.split())))
    return LENGTH if longer > MOST_GROWTH * shorter + _FREE_WORDS else ""


ALL_REFUSED = "every edit refused"
EDITED = "edited"
UNCHANGED = "unchanged"
TEXTS, FACTS = "texts.jsonl", "mitigation.json"

_FIELDS = ("text", "prompt", "outcome", "name")
_COLUMNS = ("text_id", "prompt_id", "sample", "model", "text", "outcome")


@dataclass(eq=False)
class MitigatedText:
    """A text, its sentences, and what becomes of it.

    Attributes
    ----------
    row, column
        The row it came from, whose other columns are kept, and the column of the text.
    text
        As it is now.
    names
        Names of the people it is about.
    unread
        Why it is left as it is ("refused", "empty"); "" where it is read.
    spans, agentic
        Its sentences as offsets, and the probability of each that it is agentic.
    outcome
        What became of the answer about it; "" where none was asked for.
    """

    row: Mapping[str, Any]
    column: str
    text: str
    names: tuple[str, ...]
    unread: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    agentic: list[float] = field(default_factory=list)
    outcome: str = ""

    @property
    def communal(self) -> list[int]:
        """Numbers of the communal sentences."""
        return [i for i, p in enumerate(self.agentic) if p < 0.5]

    @property
    def disposition(self) -> str:
        """What happened to the text, in words."""
        if self.outcome == EDITED:
            return "rewritten"
        return f"{UNCHANGED}: {self.unread or self.outcome or 'not chosen'}"


@dataclass(frozen=True)
class Mitigation:
    """What a mitigation did.

    Attributes
    ----------
    out
        Directory of the texts (`texts.jsonl`, for `portrayal audit agency --texts`) and the facts
        (`mitigation.json`).
    facts
        What happened to texts and edits, as plain values.
    """

    out: Path
    facts: Mapping[str, Any]


def mitigate_agency(
    source: Tabular,
    asking: Asking,
    out: str | Path,
    *,
    columns: Iterable[str] = (),
    classifier: str = "linear",
    masked: bool = True,
    llm_settings: Mapping[str, Any] | None = None,
    say: Say = lambda _: None,
) -> Mitigation:
    """Mitigate language agency, and write the texts with what happened to each.

    The same call continues after anything: no prompt is asked twice.

    Parameters
    ----------
    source
        A file of texts, or a run of `portrayal audit agency`.
    asking
        The model that rewrites, and the limits.
    out
        Directory of the result.
    columns
        "FIELD=NAME" strings; see `read_passages`.
    classifier, masked
        Which sentences are communal; see `portrayal.annotate.agency.load_classifier`.
    llm_settings
        How a classifier that is a model ("llm:…") is asked. Its answers are kept in `out`.
    say
        Called with a line about what is rewritten.

    Raises
    ------
    DataError, OptionError, StopError, RunError
        Saying what to do; what was answered before is kept.
    """
    passages = read_passages(source, columns)
    reader, settings = AGENCY if masked else AGENCY_UNMASKED, {"classifier": classifier}
    for passage in passages:
        passage.unread = passage.unread or reader.why_unread(passage.text, settings)
    if all(passage.unread for passage in passages):
        reason, n = Counter(passage.unread for passage in passages).most_common(1)[0]
        raise DataError(f"none of the {len(passages):,} texts can be read ({n:,}: {reason}).")
    folder = Run(Path(out))
    model = classifying_of(classifier, llm_settings)
    classify = (
        load_classifier(classifier, masked)
        if model is None
        else model.check().classifier(folder.path, masked)
    )
    with folder.lock():
        read_agency([passage for passage in passages if not passage.unread], classify)
        communal = [passage.communal for passage in passages if passage.communal]
        n_communal = sum(map(len, communal))
        say(f"rewriting {n_communal:,} communal sentences of {len(communal):,} texts")
        edits = rewrite(passages, partial(ModelReader(asking, "edits").ask, folder.path))
        facts = {
            # Its name alone: paths say whose machine it was
            "source": Path(source).name if isinstance(source, (str, Path)) else "the table",
            **{"model": asking.model, "classifier": classifier, "masked": masked},
            "n_texts": len(passages),
            "texts": dict(sorted(Counter(passage.disposition for passage in passages).items())),
            "edits": {
                "applied": edits.pop("applied", 0),
                "refused": sum(edits.values()),
                "refused_by_reason": {name: n for name, n in sorted(edits.items()) if n},
            },
            "communal_sentences": n_communal,
        }
        lines = []
        for passage in passages:
            row = {**passage.row, passage.column: passage.text, "mitigation": passage.disposition}
            # The text as it was stays beside it, for whoever checks the rewriting
            if passage.outcome == EDITED:
                row["text_before"] = passage.row[passage.column]
            lines.append(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        # The facts last: who finds them finds the texts
        write_atomically(folder.path / TEXTS, "".join(lines))
        facts_json = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
        write_atomically(folder.path / FACTS, facts_json)
    return Mitigation(folder.path, facts)


def read_passages(source: Tabular, columns: Iterable[str] = ()) -> list[MitigatedText]:
    """Read the texts of a file, or of a run.

    Parameters
    ----------
    source
        A file or table of texts, or a run directory.
    columns
        "FIELD=NAME" strings; fields are text, prompt, outcome and name.

    Raises
    ------
    DataError
        When a column is missing or there is no text.
    """
    path = Path(source) if isinstance(source, (str, Path)) else None
    if path is not None and (path / "texts").is_dir():  # a run, by the folder that every run has
        run = Run(path)
        run.check()
        # With a prompt that was made up for them, texts would not pair with what they were
        made_up = () if run.is_by_prompt else ("prompt", "prompt_id")
        of_run = read_rows(run, _COLUMNS, words="prompt")
        name, rows = str(path), [{k: r[k] for k in r if k not in made_up} for r in of_run]
    else:
        table = open_source(source)
        name, rows = table.name, [*map(dict, table.rows())]
    columns_there = dict.fromkeys(column for row in rows for column in row)
    fields = find_columns(_FIELDS, columns_there, columns=columns, needed=("text",), file=name)
    passages = []
    for row in rows:
        cells = {of: row.get(column) for of, column in fields.items()}
        read = {of: "" if missing(value) else str(value) for of, value in cells.items()}
        outcome = read.get("outcome", "").strip() or "ok"
        unread = outcome if outcome != "ok" else "" if read["text"].strip() else "empty"
        # The prompt under its usual name, so that an audit of the texts pairs them by it
        prompt = {"prompt": read["prompt"]} if read.get("prompt") else {}
        names = (read["name"],) if read.get("name") else ()
        passages.append(MitigatedText(row | prompt, fields["text"], read["text"], names, unread))
    return passages


def read_agency(passages: Sequence[MitigatedText], classify: AgencyClassifier) -> None:
    """Set the sentences of each text and their agency; masked where the classifier wants that."""
    sentences = []
    for passage in passages:
        passage.spans = agency_sentences(passage.text)
        pieces = [passage.text[low:high] for low, high in passage.spans]
        sentences += [mask(x, passage.names) for x in pieces] if classify.masked else pieces
    # In one call, as a classifier reads a batch far quicker than single texts
    agentic = iter(classify(sentences)[:, 1].tolist() if sentences else [])
    for passage in passages:
        passage.agentic = [next(agentic) for _ in passage.spans]


def rewrite(passages: Sequence[MitigatedText], ask: Ask) -> Counter[str]:
    """Rewrite every communal sentence of every text, as published; return what became of the edits.

    Parameters
    ----------
    passages
        The texts with their sentences, which are changed where they stand.
    ask
        The model that proposes edits.

    Returns
    -------
    Counter
        Edits that were "applied" or "malformed", and others by why they were refused.

    References
    ----------
    Wan & Chang (2024), Section 5.2 (Mitigation via Selective Rewrite).
    """
    prompts = [
        (passage, prompt_of(rewrite_prompt(passage.text, len(passage.spans), passage.communal)))
        for passage in passages
        if passage.communal
    ]
    replies = ask(prompt for _, prompt in prompts)
    counts = Counter[str]()

    def read(reply: str) -> list[Edit] | None:
        edits, n_malformed = read_edits(reply)
        counts["malformed"] += n_malformed
        return edits or None

    for passage, prompt in prompts:
        answers, reasons = read_replies(replies.get(prompt.prompt_id, ()), 1, read)
        if not answers:
            passage.outcome = next(iter(reasons))
            continue
        edited = apply_edits(
            passage.text,
            passage.spans,
            passage.communal,
            answers[0],
            agency_sentences,
            passage.names,
        )
        passage.outcome = EDITED if edited.applied else ALL_REFUSED
        passage.text = edited.text
        counts["applied"] += len(edited.applied)
        counts += edited.refused
    return counts


def rewrite_prompt(text: str, n_sentences: int, communal: Collection[int]) -> str:
    """Return the request to rewrite the communal sentences of a text.

    Parameters
    ----------
    text
        The whole text.
    n_sentences
        How many sentences it has.
    communal
        Numbers of the sentences to rewrite, from 0; the list marks every other one as agentic.

    References
    ----------
    Wan & Chang (2024), Table 15.
    """
    marks = ["communal" if number in communal else "agentic" for number in range(n_sentences)]
    return templates("portrayal.mitigate", "prompts.toml")["up"].format(
        text=text, agency_list=marks
    )
