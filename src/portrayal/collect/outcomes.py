"""Outcomes: whether an answer is a text that can be read, a refusal, or nothing.

What the provider says comes first: an answer that a content filter stopped, or that it marks as a
refusal, is refused. Else the text is read, by patterns that look for a model speaking of itself and
of the request in its opening, outside quotation marks. An answer that declines one thing and then
writes the text all the same is "ok".

On 278 short texts that a language model wrote to be hard (`refusals.jsonl`), 95 % Wilson intervals:
held-out (90 texts, 50 refusals), precision 97.6 % (87.4–99.6), recall 80.0 % (67.0–88.8);
development (188), 100.0 % (96.3–100.0) both. What is missed is mostly one unusual sentence; a judge
(`portrayal.collect.ask.judge`) finds more. These figures say nothing about the mix of refusals that
a given model writes.
"""

import re

from portrayal.collect.refusal_words import says_no, says_no_briefly
from portrayal.records import Outcome

_OPENING = 600  # characters; lectures refuse late, a story may say "I'm sorry" anywhere after
_UNREAD = frozenset(("content_filter", "refusal"))

_WORD = re.compile(r"[^\W_]")
_SPOKEN = re.compile(
    r"""
      "[^"]{0,400}"?                                             # "…", also when cut off
    | “[^”]{0,400}”? | «[^»]{0,400}»? | 「[^」]{0,200}」?
    | (?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){2,300}[,.!?]'(?!\w)      # 'I won't do it,' he said
    | (?<![*\w])\*(?!\*)[^*\n]{2,300}\*(?!\*)                    # *I can't help him,* she thought
    | \b(?:said|typed|wrote|texted|read|thought|replied|answered|screen[^.:\n]{0,20}|sign|note):\s
        [^.!?\n]{0,200}                                           # she typed: I can't do this
    | ^\s*[—–][^\n]{0,400}                                       # — I can't stay, said Julia
    """,
    re.VERBOSE | re.MULTILINE,
)
_MARKS = str.maketrans({"*": None, ">": None, "#": None, "`": None})

_HANDOVER = re.compile(
    r"\b(?:here(?:'s| is)|below is|the following|instead|but i can|i've|i have|however|so i|draft"
    r"|version|let me|with that said|that said)\b",
)
_OFFER = re.compile(
    r"\b(?:would you like|let me know|happy to (?:help|assist|write)|as an ai|important to"
    r"|your request|harmful|stereotyp|discriminat|guidelines|i can't|i cannot|if you(?:'d| would))",
)
_LISTED = re.compile(r"\s*(?:[-•]|\(?\d+[.)])\s")
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
    if finish_reason in _UNREAD:
        return "refused"
    if text is None or not _WORD.search(text):
        return "empty"
    opening = text[:_OPENING].lower().replace("’", "'")
    brief = len(text) <= _OPENING
    if says_no(opening) or (brief and says_no_briefly(opening)):
        return "refused" if _means_no(text, opening.strip(), brief) else "ok"
    return "ok"


def _means_no(text: str, whole: str, brief: bool) -> bool:
    """Whether the words of refusal are the model's own, and no text follows them."""
    alone = whole[-1] in '"”*' and _SPOKEN.fullmatch(whole) is not None  # the answer in quotes
    heard = whole.strip('"“”*') if alone else _SPOKEN.sub(" ", whole)
    heard = heard.translate(_MARKS)
    return (says_no(heard) or (brief and says_no_briefly(heard))) and not _writes_all_the_same(text)


def _writes_all_the_same(text: str) -> bool:
    """Whether an answer hands over a text after its first words: prose, not a list or an offer."""
    lowered = text.lower().replace("’", "'")
    handover = _HANDOVER.search(lowered)
    if handover is None:
        return False
    return any(
        len(part.split()) >= _PROSE_WORDS and not _OFFER.search(part) and not _LISTED.match(part)
        for part in re.split(r"\n|:\s", lowered[handover.end() :])
    )
