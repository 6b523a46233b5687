"""What is shown: text that others made, without effect, and counts with their nouns."""

import json
import re
from collections.abc import Iterable, Sequence
from io import StringIO

# Controls but tab and newline, marks of direction, and halves of surrogate pairs
_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~!&$@])")
_LINKS = re.compile(r"(?i)(?<=:)//|(?<=www)\.")


def visible(text: str) -> str:
    """Return text in which nothing acts on a terminal or reorders what is read: for all output.

    Control characters (C0 and C1), marks that override the direction of writing, and lone
    surrogates are replaced; lines and tabs stay.

    >>> visible(chr(27) + "[31mred") == chr(0xFFFD) + "[31mred"
    True
    """
    # Returns first: alone, one lets a text write over the line before it
    return _ACTS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def json_text(value: object) -> str:
    """Return one JSON value, in which what `visible` replaces is written as its number."""
    written = json.dumps(value, ensure_ascii=False, indent=1)
    return _ACTS.sub(lambda match: f"\\u{ord(match[0]):04x}", written) + "\n"


def one_line(text: str) -> str:
    """Return text as `visible` shows it, on one line."""
    return " ".join(visible(text).split())


def markdown(text: object) -> str:
    r"""Return text as Markdown shows it, on one line, whatever a model or file is called.

    >>> markdown("<b> *x* https://a.example")
    '\\<b\\> \\*x\\* https:\\//a.example'
    """
    escaped = _MARKS.sub(r"\\\1", one_line(str(text)))
    # Bare addresses become links without any mark, so their signs are escaped too
    return _LINKS.sub(lambda match: f"\\{match[0]}", escaped)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[object]], indent: str = "") -> str:
    r"""Return a table in Markdown, no cell of which takes effect.

    >>> print(markdown_table(["who", "n"], [["a|b", 1]]))
    | who | n |
    | --- | --- |
    | a\|b | 1 |
    """
    lines = [f"| {' | '.join(map(markdown, row))} |" for row in (heads, *rows)]
    lines.insert(1, f"| {' | '.join(['---'] * len(heads))} |")
    return "\n".join(indent + line for line in lines)


def text_table(
    heads: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None
) -> str:
    """Return a table as text in which nothing is cut: as wide as the terminal, or as `width`.

    >>> print(text_table(["who", "n"], [["Ada", 1], ["Grace", 2]]))
    who   n
    Ada   1
    Grace 2
    <BLANKLINE>
    """
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    lines = [tuple(visible(str(cell)) for cell in row) for row in (heads, *rows)]
    columns = (Column(Text(head), overflow="fold") for head in lines[0])
    table = Table(*columns, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    widest = [max(map(len, column)) for column in zip(*lines, strict=True)]
    stream = StringIO()
    console = Console(emoji=False, width=width, file=stream, no_color=True)
    # The first column gives way last: its words say what a row is about
    table.columns[0].width = min(widest[0], max(console.width - sum(n + 1 for n in widest[1:]), 16))
    console.print(table)
    # Tables pad their lines, which shows in logs and diffs
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def counted(n: int, noun: str, many: str = "") -> str:
    """Return a count with its noun.

    >>> counted(1, "prompt"), counted(1_200, "prompt")
    ('1 prompt', '1,200 prompts')
    """
    return f"{n:,} {noun if n == 1 else many or noun + 's'}"
