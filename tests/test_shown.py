"""Text that others made has no effect where it is shown."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.collect.tables import csv_text
from portrayal.shown import json_text, markdown, markdown_table, one_line, visible

ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
HOSTILE = (
    "<script>alert(1)</script>",
    "![x](https://a.example/p.png)",
    "[x](javascript:alert(1))",
    "\x1b]0;title\x07\x1b[2J",
    "\x9b31m",
    "safe\u202etxt.exe",
    "\u2066a\u2069",
    "a | b\n| c |",
    "@everyone #1 https://a.example www.a.example",
    "$x$ ~~y~~ `z` **b** _i_ &lt;",
)
ACTING = pytest.mark.fault(
    "names, texts and messages that act (HTML, links, escapes of terminals, marks of direction)",
    "they are shown and do nothing, in Markdown, CSV, JSON, tables and lines",
)


@given(st.text(st.characters(), max_size=40))
def test_nothing_that_acts_is_left(text: str) -> None:
    assert not ACTS.search(visible(text))
    assert "\n" not in one_line(text)
    assert not ACTS.search(json_text({"a": text}))


@ACTING
@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_what_was_given_and_no_more(text: str) -> None:
    written = markdown(text)
    assert not ACTS.search(written)
    assert not re.search(r"(?<!\\)[<>|`*_\[\]@#$~!&]", written)
    assert "://" not in written
    assert "www.a" not in written
    assert re.sub(r"\\(.)", r"\1", written) == one_line(text)
    table = markdown_table(["a", "b"], [[text, 1]])
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()] == [3, 3, 3]


@ACTING
@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_of_a_csv_file_acts_on_a_terminal(text: str) -> None:
    stream = io.StringIO(csv_text([text], [{text: text}]))
    assert not ACTS.search(stream.getvalue())
    assert [*csv.reader(stream)] == [[visible(text).removeprefix("'")]] * 2 or text[0] in "=+-@"
