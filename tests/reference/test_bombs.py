"""Data files that are small and mean much: refused with a message, in little time and memory."""

import time
import tracemalloc

import pytest

from portrayal.annotate.groups import group_reader
from portrayal.annotate.word_match import Entry, WordTable, tokens
from portrayal.collect.promptfile import MOST_PROMPTS
from portrayal.errors import DataError
from portrayal.reference.datafile import MOST_BYTES, parse_toml, read_datafile
from portrayal.reference.factors import load_factor
from portrayal.studies.own import read_study

BOMB = pytest.mark.fault(
    "a small data file that means much (templates, keys of many parts, long lists, large files)",
    "it is refused in one line before it takes memory, or read in time that grows as its length",
)


@BOMB
def test_a_template_of_billions_of_prompts_is_refused(tmp_path):
    lists = "".join(f"s{i} = {[f'w{j}' for j in range(60)]}\n" for i in range(6))
    text = "".join(f"{{s{i}}} " for i in range(6))
    path = tmp_path / "mine.toml"
    path.write_text(f'[[template]]\ntext = "{text}"\n[template.values]\n{lists}')
    with pytest.raises(DataError, match=rf"mine.toml, line 2.*more than {MOST_PROMPTS:,} prompts"):
        read_study(path)


@BOMB
@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 20_000) + " = 1",
        "x = 1\n[" + " . ".join(['"a b"'] * 20_000) + "]",
        "x = {" + ".".join(["a"] * 20_000) + " = 1}",
    ],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(text):
    tracemalloc.start()
    with pytest.raises(DataError, match="more than 64 parts"):
        parse_toml(text, "mine.toml")
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@BOMB
@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_large_file_is_refused_before_it_is_read(tmp_path, ending):
    path = tmp_path / f"mine.{ending}"
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(DataError, match=r"5,000,001 bytes.*at most 5,000,000"):
        read_datafile(path)


def _seconds(n, work):
    start = time.process_time()
    work(n)
    return time.process_time() - start


def _lines(n):
    text = "words = [\n" + '"word",\n' * n + f"]  # {n}\n"
    assert parse_toml(text, "mine.toml").line(("words", n - 1)) == n + 1


def _match(n):
    table = WordTable()
    for i in range(n):
        table.add(0, ("same", str(i)), Entry(0, 2))
    text = "same 7 " * 50
    assert len(table.find(text, tokens(text))) == 50


FACTOR = """name = "mine"\nlabel = "Mine"\nsource = "none"\nnote = "none"
[groups.a]\nlabel = "A"\ncolor = "#0072B2"\n[groups.b]\nlabel = "B"\ncolor = "#009E73"
[[sources]]\nkind = "words"\nname = "words"\nas_written = {words}
[sources.words]\na = {words}\nb = ["other"]
"""


@pytest.fixture
def factor(tmp_path):
    def load(n):
        words = "[" + ",\n".join(f'"Wort{i:06}"' for i in range(n)) + "]"
        path = tmp_path / f"{n}.toml"
        path.write_text(FACTOR.format(words=words))
        reader = group_reader([load_factor(path)])
        assert reader._table.find("a Wort000007 of one")

    return load


@BOMB
@pytest.mark.parametrize("work", [_lines, _match, "factor"], ids=["lines", "words", "factor"])
def test_time_grows_as_length(work, factor):
    work = factor if work == "factor" else work
    _seconds(500, work)
    assert _seconds(40_000, work) < 16 * 4 * max(_seconds(2_500, work), 0.01)
