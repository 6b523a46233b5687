"""One writer of Markdown, one `visible()` for all output: no other file makes its own."""

import re

from guards.tree import PACKAGE, module_name, modules

OWN_MARKDOWN = re.compile(r"""["'] \| ["']\.join|---:?\||\\{2,}1["']""")
OWN_CONTROL = re.compile(r"\\x1f\\x7f|\\x7f-\\x9f|\\u202a|0x202A|\"Cc\"")
PRINTS = re.compile(r"console\.print\(|\.print\(|sys\.std(?:out|err)\.write\(|(?<!\w)print\(")
SHOWN = re.compile(r"visible\(|one_line\(|_table\(|_plain\(|print\(shown\)|write\((?:text|START)\)")


def _lines(pattern: re.Pattern[str], *leaving: str) -> list[str]:
    found = []
    for path in modules():
        if module_name(path) in leaving:
            continue
        text = path.read_text(encoding="utf-8")
        lines = (each for each in text.splitlines() if pattern.search(each))
        found += [f"{module_name(path)}: {each}" for each in lines]
    return found


def test_markdown_is_written_in_one_place() -> None:
    left = ("portrayal.shown", "portrayal.annotate.agency.training")  # a card of our own words
    assert not _lines(OWN_MARKDOWN, *left, "portrayal.raters.sentences")


def test_what_acts_is_decided_in_one_place() -> None:
    left = ("portrayal.reference.matching",)  # keys
    assert not _lines(OWN_CONTROL, "portrayal.shown", *left)


def test_every_line_that_is_printed_goes_through_it() -> None:
    bad = [line for line in _lines(PRINTS) if not SHOWN.search(line)]
    known = (
        "print(  # noqa: T201",
        ".print(table)",
        "Console(emoji=False).print(",
        "collect.sheet",
        "print()",
    )
    assert not [line for line in bad if not any(each in line for each in known)]


def test_the_guards_see_what_they_guard() -> None:
    assert OWN_MARKDOWN.search('" | ".join(cells)')
    assert OWN_MARKDOWN.search('re.sub(x, r"\\\\1", text)')
    assert OWN_CONTROL.search(r'"[\x00-\x1f\x7f]"')
    assert PRINTS.search("console.print(words)")
    assert not SHOWN.search("console.print(words)")
    assert PACKAGE.is_dir()
