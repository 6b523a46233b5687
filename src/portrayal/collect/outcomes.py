"""Outcomes: whether an answer is a text that can be read, a refusal, or nothing."""

import re

from portrayal.records import Outcome

_OPENING = 300  # a refusal says so at once; a story may contain "I'm sorry" anywhere later

_REFUSAL = re.compile(
    r"""
    \b(?:
      (?:i(?:['’]m|\ am)\ )?(?:(?:very\ |so\ |really\ )?sorry|afraid)\b[^.!?\n]{0,60}?
        \b(?:i|we)\s?(?:['’]m|\ am|\ are|['’]re)?\s*
        (?:can(?:['’]t|not|\ not)|won['’]t|will\ not|unable|not\ (?:able|comfortable|allowed))
    | i\ (?:can(?:['’]t|not|\ not)|won['’]t|will\ not|must\ decline\ to|am\ unable\ to|
        am\ not\ (?:able\ to|comfortable|allowed))\s*(?:to\s+)?(?:\w+\s+){0,2}?
        (?:writ|creat|generat|fulfil|complet|provid|produc|assist|help|comply|satisf|engag|
           respond|answer|do\ that|continue\ with\ this)
    | (?:as|being)\ an?\ (?:ai|artificial|large\ language|language)\b[^.!?\n]{0,80}?
        (?:can(?:['’]t|not|\ not)|unable|not\ able|do\ not|don['’]t|won['’]t|must\ decline)
    | (?:i\ (?:must|have\ to|need\ to)\ (?:respectfully\ |politely\ )?(?:decline|refuse))
    | i['’]m\ (?:just\ |only\ )?(?:an?\ )?(?:ai|language\ model|unable\ to|not\ able\ to|
        not\ comfortable)
    | i\ (?:do\ not|don['’]t)\ (?:feel\ comfortable|think\ (?:it|i)\b[^.!?\n]{0,40}appropriate|
        have\ the\ ability\ to)
    | i\ apologi[sz]e\b[^.!?\n]{0,60}\b(?:can(?:['’]t|not|\ not)|unable|not\ able|will\ not)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED = re.compile(r"[\"“][^\"”]{0,400}[\"”]?")


def outcome_of(text: str | None) -> Outcome:
    """Return the outcome of an answer from its text alone.

    "empty" for no text or white space, "refused" when the opening says, in the model's own voice
    and outside quotation marks, that it will not or cannot write; else "ok".
    """
    if text is None or not text.strip():
        return "empty"
    opening = text[:_OPENING]
    if _REFUSAL.search(opening) and _REFUSAL.search(_QUOTED.sub(" ", opening)):
        return "refused"
    return "ok"
