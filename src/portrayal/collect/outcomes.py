"""Outcomes: whether an answer is a text that can be read, a refusal, or nothing.

What the provider says comes first: an answer that a content filter stopped, or that it marks as a
refusal, is refused. Else the text is read, by patterns that look for a model speaking of itself and
of the request in its opening, outside quotation marks. An answer that declines one thing and then
writes the text all the same is "ok".

On 278 short texts that a language model wrote to be hard (`refusals.jsonl`), 95 % Wilson intervals:
held-out (90 texts, 50 refusals), precision 97.6 % (87.4–99.6), recall 80.0 % (67.0–88.8);
development (188), 100.0 % (96.3–100.0) both. What is missed is mostly one unusual sentence. These
figures say nothing about the mix of refusals that a given model writes.

Each part pairs a pattern with pieces of text, one of which stands in whatever the pattern matches:
the pieces are looked for first, as that is quick, and the pattern is then tried around them alone.
Patterns expect lower case and straight apostrophes; every repetition in them is bounded.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from portrayal.records import Outcome

_BEFORE, _AFTER = 110, 160  # characters around a piece in which its pattern may match


@dataclass(frozen=True, slots=True)
class Part:
    """One way of refusing: a pattern, and pieces of which each match holds one."""

    pieces: tuple[str, ...]
    pattern: re.Pattern[str]

    def says(self, opening: str) -> bool:
        """Whether a lower-cased opening refuses in this way."""
        for piece in self.pieces:
            start = opening.find(piece)
            while start >= 0:
                if self.pattern.search(opening, max(start - _BEFORE, 0), start + _AFTER):
                    return True
                start = opening.find(piece, start + 1)
        return False


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _parts(kind: str) -> tuple[Part, ...]:
    """The parts of one kind in `outcomes.toml`."""
    parts = []
    for part in _FILE[kind]:
        pattern = part["pattern"]
        for name, fragment in _FILE["fragments"].items():
            pattern = pattern.replace(f"@{name}@", fragment)
        parts.append(Part(tuple(part["pieces"].split("|")), re.compile(pattern, re.VERBOSE)))
    return tuple(parts)


ENGLISH, (BRIEF,) = _parts("english"), _parts("brief")
ASCII_LANGUAGES, OTHER_LANGUAGES = _parts("ascii_languages"), _parts("other_languages")
_STORY = {
    name: re.compile(pattern, re.VERBOSE | re.MULTILINE) for name, pattern in _FILE["story"].items()
}
"""What tells a text that was written after all, and words that are not the model's own."""


def says_no(opening: str) -> bool:
    """Whether an opening, in lower case with straight apostrophes, says no in any way known."""
    head = opening[:_HEAD]
    if _is_spoken(opening) or _has_any(head, _IMPERSONAL):
        for part in ENGLISH:
            if part.says(opening):
                return True
    # Languages with other letters are tried only where there are such letters
    if not head.isascii():
        return any(part.says(head) for part in ASCII_LANGUAGES + OTHER_LANGUAGES)
    return _has_any(head, _ASCII_PIECES) and any(part.says(head) for part in ASCII_LANGUAGES)


def says_no_briefly(opening: str) -> bool:
    """Whether a short answer that speaks of no one and of no past says no, or asks back, at all.

    Looser than `says_no`: without third persons there is hardly a story, a review or a letter.
    """
    if not (len(opening) < _SHORT or _is_spoken(opening)) or not BRIEF.says(opening):
        return False
    persons, past = _STORY["persons"].search(opening), _STORY["past"].findall(opening)
    return not persons and len(past) < _PAST_WORDS


_SHORT, _PAST_WORDS = 120, 3
_HEAD = 160  # characters in which a refusal without an "I", or in another language, has begun
_IMPERSONAL = ("unable", "request", "sorry", "not within", "we ca")
_ASCII_PIECES = tuple(piece for part in ASCII_LANGUAGES for piece in part.pieces)


def _is_spoken(opening: str) -> bool:
    """Whether someone says "I": nearly every refusal does, and most stories do not."""
    return (
        " i " in opening
        or " i'" in opening
        or "\ni" in opening
        or opening.lstrip('*>_"“ \n#')[:2] in ("i ", "i'")
    )


def _has_any(text: str, pieces: tuple[str, ...]) -> bool:
    for piece in pieces:  # noqa: SIM110 (a generator would take twice the time)
        if piece in text:
            return True
    return False


_OPENING = 600  # characters; lectures refuse late, a story may say "I'm sorry" anywhere after
_UNREAD = frozenset(("content_filter", "refusal"))

_WORD = re.compile(r"[^\W_]")
_MARKS = str.maketrans({"*": None, ">": None, "#": None, "`": None})
_PROSE_WORDS = 25


def outcome_of(text: str | None, finish_reason: str | None = None) -> Outcome:
    """Return the outcome of an answer.

    Parameters
    ----------
    text
        What the model wrote.
    finish_reason
        Why it stopped, as `portrayal.collect.ask.provider.FinishReason`; None where unknown.

    Returns
    -------
    Outcome
        "refused" after a content filter or a provider's refusal; "empty" where no letter or digit
        was written; "refused" where the opening says, in the model's own voice, that it will not or
        cannot write, and no text follows; else "ok". Never "failed", which is the collector's word.

    Examples
    --------
    >>> outcome_of("I'm sorry, but I can't help with that request.")
    'refused'
    >>> outcome_of("Ann left the house.")
    'ok'
    """
    if finish_reason in _UNREAD:  # the provider knows; patterns only guess
        return "refused"
    if text is None or not _WORD.search(text):
        return "empty"
    opening = text[:_OPENING].lower().replace("’", "'")
    brief = len(text) <= _OPENING
    # Most answers end here: the costlier look at who speaks is for the few that may refuse
    if not (says_no(opening) or (brief and says_no_briefly(opening))):
        return "ok"
    # It is a refusal where the words are the model's own, and no text follows them.
    words, spoken = opening.strip(), _STORY["spoken"]
    is_quote = words[-1] in '"”*' and spoken.fullmatch(words) is not None  # the answer in quotes
    heard = words.strip('"“”*') if is_quote else spoken.sub(" ", words)
    heard = heard.translate(_MARKS)
    if not (says_no(heard) or (brief and says_no_briefly(heard))):
        return "ok"
    # A text may follow a first refusal: prose, not a list or an offer
    lowered = text.lower().replace("’", "'")
    handover = _STORY["handover"].search(lowered)
    after = [] if handover is None else re.split(r"\n|:\s", lowered[handover.end() :])
    writes = any(
        len(part.split()) >= _PROSE_WORDS
        and not _STORY["offer"].search(part)
        and not _STORY["listed"].match(part)
        for part in after
    )
    return "ok" if writes else "refused"
