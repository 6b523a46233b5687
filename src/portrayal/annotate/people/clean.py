"""Where the story starts inside a model's answer; offsets stay those of the original text."""

import re

_PREAMBLE = re.compile(
    r"\s*(?:sure|certainly|of course|absolutely|okay|ok)?[,.!:\s]{0,4}"
    r"(?:(?:here is|here's|here’s|here are|this is|below is)\b[^\n]{0,300}?(?::|\n|words\.|story\.)"
    r"|(?:prompt:\s*)?write a (?:short )?story\b[^\n]{0,300}\n"
    r"|(?:sure|certainly|of course|absolutely)\b[^\n.!]{0,200}[!:])",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"[\s>]*(?:#{1,6}[^\n]{1,120}\n|\*\*[^\n*]{1,100}\*\*:?[ \t]*\n|title:[^\n]{1,120}\n"
    r"|[^\n.!?,;:\"“”]{1,60}\n[ \t]*\n)",
    re.IGNORECASE,
)
_OPENING, _CLOSING = frozenset('"“'), frozenset('"”')
_LEAST = 60
"""A heading is only skipped when at least this many characters of story follow."""


def story_start(text: str) -> int:
    """Offset of the first character of the story in `text`, after preamble and heading.

    Nothing is skipped when too little would be left, so an answer set wholly in bold, or one that
    is a single line, is kept whole.
    """
    start = 0
    for pattern in (_PREAMBLE, _TITLE):
        found = pattern.match(text, start)
        if found and len(text) - found.end() >= _LEAST:
            start = found.end()
    rest = text[start:].strip()
    if len(rest) > _LEAST and rest[0] in _OPENING:
        marks = rest.count('"') + rest.count("“") + rest.count("”")
        if marks == 1 or (marks == 2 and rest[-1] in _CLOSING):
            start = text.index(rest[0], start) + 1
    return start
