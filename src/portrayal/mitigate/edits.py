"""Edits: what a model proposes to rewrite, applied only where it may, and only if facts stay.

An edit replaces a phrase inside one sentence that was chosen. It is refused where it reaches
outside, where it drops or adds a name, a number or a gender, or where the sentences of the text
would no longer be the same in number. All text outside the chosen sentences stays byte for byte.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from portrayal.annotate.agency import mask
from portrayal.annotate.people import GENDER_WORDS
from portrayal.annotate.people.shared.words import word_set
from portrayal.collect.ask.replies import objects_in
from portrayal.reference import FEMININE, MASCULINE

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


def known_names(
    text: str, spans: Sequence[tuple[int, int]], names: Iterable[str] = ()
) -> frozenset[str]:
    """Return the words that are names wherever they stand capitalised in a text, casefolded.

    That is those of the names passed, and words that are capitalised inside a sentence.
    """
    names_known = {_plain(word) for name in names for word in _WORD.findall(name)}
    for start, end in spans:
        # Only inside of sentences: every first word has a capital
        names_known |= {word for word, opens in _capitalised(text[start:end]) if not opens}
    return frozenset(names_known)


@dataclass(frozen=True, slots=True)
class SentenceFacts:
    """Names and numbers of one sentence, casefolded, and genders ("F", "M") that words tell."""

    names: frozenset[str]
    numbers: frozenset[str]
    genders: frozenset[str]


def facts_of(sentence: str, names_known: Collection[str]) -> SentenceFacts:
    """Return the facts of a sentence.

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
    return SentenceFacts(frozenset(names), frozenset(numbers), frozenset(genders))


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


Span = tuple[int, int]
Split = Callable[[str], list[Span]]

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
    names_known = known_names(text, spans, names)
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
        sentence = rewritten[slice(*expected[number])]
        reason = _lost(originals[number], sentence, names_known)
        if split(rewritten) != expected:
            reason = SENTENCES
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
    before, after = (
        edge if original[end_index].isalnum() else ""
        for end_index, edge in ((0, r"(?<!\w)"), (-1, r"(?!\w)"))
    )
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
    old, new = facts_of(before, names_known), facts_of(after, names_known)
    if old.names != new.names:
        return NAMES
    if old.numbers != new.numbers:
        return NUMBERS
    # Fewer gendered words may do, as in dropping a "she"; a new gender may not
    if not new.genders <= old.genders:
        return GENDER
    # A rewriting that grows or shrinks much says something else, in whatever words
    n_old, n_new = len(before.split()), len(after.split())
    if n_new > MOST_GROWTH * n_old + _FREE_WORDS or n_old > MOST_GROWTH * n_new + _FREE_WORDS:
        return LENGTH
    return ""
