"""A journal damaged on its disk: what was not touched stays, what was is set aside and said."""

import re
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from collect.ask.asked import collect_texts
from portrayal.collect.ask.collection import Collection
from portrayal.collect.ask.journal import DAMAGED, JOURNAL, Journal
from portrayal.collect.ask.provider import Answer, StopError

BAD_DISK = pytest.mark.fault(
    "bytes of the journal change on the disk",
    "the damaged lines alone are set aside, counted, said and asked again",
)


class Counting:
    """A provider that answers with its count, and stops after so many."""

    name = "counting:one"
    parameters = MappingProxyType({})

    def __init__(self, most=10**6):
        self.asked, self.most = 0, most

    async def ask(self, prompt):
        if self.asked == self.most:
            raise StopError("enough.")
        self.asked += 1
        return Answer(f"Story {self.asked}.\nÆrø \u2028 東京")

    async def close(self):
        pass


def write(path, keys):
    path.unlink(missing_ok=True)
    book = Journal(path, path.parent)
    for key in keys:
        book.append({"key": key, "text": f"Story {key}\n Ærø \u2028 東京"})
    book.close()


def keys(book):
    return [row["key"] for row in book.rows()]


def test_the_checksum_is_the_documented_one(tmp_path):
    import zlib

    path = tmp_path / "journal.jsonl"
    write(path, "a")
    for line in path.read_bytes().splitlines():
        match = re.fullmatch(rb'(.*),"crc":"([0-9a-f]{8})"\}', line)
        assert int(match[2], 16) == zlib.crc32(match[1])


@pytest.fixture(scope="module")
def book_path(tmp_path_factory):
    return tmp_path_factory.mktemp("damage") / "journal.jsonl"


@BAD_DISK
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([(0.375, 0), (0.376953125, 0)])  # the end of a line and the line feed after it
@given(st.lists(st.tuples(st.floats(0, 0.9999), st.integers(0, 255)), min_size=1, max_size=6))
def test_whatever_bytes_change_every_line_without_one_is_kept(book_path, changes):
    names = [f"k{i}" for i in range(12)]
    write(book_path, names)
    aside = book_path.with_name(DAMAGED)
    aside.unlink(missing_ok=True)
    before = book_path.read_bytes()
    after = bytearray(before)
    for place, value in changes:
        after[int(place * len(after))] = value
    book_path.write_bytes(after)
    touched, at = set(), 0
    for number, line in enumerate(before.split(b"\n")[:-1]):
        if after[at : at + len(line)] != line:
            touched.add(number)
        at += len(line) + 1
    again = Journal(book_path, book_path.parent)
    untouched = [name for i, name in enumerate(names) if i not in touched]
    assert keys(again) == untouched
    assert all(row["text"] == f"Story {row['key']}\n Ærø \u2028 東京" for row in again.rows())
    assert (again.n_damaged > 0) == aside.exists() or again.n_damaged == 0
    again.append({"key": "new"})
    again.close()
    once_more = Journal(book_path, book_path.parent)
    assert keys(once_more) == [*untouched, "new"]
    assert once_more.n_damaged == 0
    once_more.close()


@pytest.mark.fault("a torn last line of the journal", "it is cut off; every whole line stays")
@pytest.mark.parametrize("cut", [1, 9, 30])
def test_a_torn_tail_is_cut_and_is_no_damage(tmp_path, cut):
    path = tmp_path / "journal.jsonl"
    write(path, "abc")
    path.write_bytes(path.read_bytes()[: -cut - 1] + b"\x00" * 3)
    again = Journal(path, path.parent)
    assert (keys(again), again.n_damaged) == (["a", "b"], 0)
    assert not path.with_name(DAMAGED).exists()
    again.close()


def test_a_line_without_its_line_feed_is_whole(tmp_path):
    path = tmp_path / "journal.jsonl"
    write(path, "abc")
    path.write_bytes(path.read_bytes()[:-1])
    again = Journal(path, path.parent)
    assert (keys(again), again.n_damaged) == (["a", "b", "c"], 0)
    again.append({"key": "d"})
    assert keys(again) == ["a", "b", "c", "d"]
    again.close()


@BAD_DISK
@pytest.mark.parametrize("line", [10, 100, 0])
def test_one_damaged_line_of_a_hundred_costs_one_answer(run, prompts, rows, line):
    first = Counting(101)
    with Collection(run, prompts, first, 20) as collection:
        taken = zip(collection.plan, range(101), strict=False)
        for number, (request, _) in enumerate(taken):
            collection.record(request, Answer(f"Story {number}."))
        collection.journal.sync(now=True)
        collection.journal.close()
        collection.close = lambda: None
    path = run.path / JOURNAL
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 102
    damaged = bytearray(lines[line])
    damaged[3] ^= 1
    damaged[40] ^= 64
    lines[line] = bytes(damaged)
    path.write_bytes(b"\n".join(lines))
    second = Counting()
    report = collect_texts(run, prompts, second, 20)
    assert second.asked == report.asked == 200 - 101 + 1
    assert report.damaged == 1
    assert "set aside from the journal: 1 damaged line (journal.damaged)" in report.summary
    assert (run.path / DAMAGED).read_bytes() == bytes(damaged) + b"\n"
    kept = rows(run)
    assert len(kept) == len({row["text_id"] for row in kept}) == 200
    third = collect_texts(run, prompts, Counting(), 20)
    assert (third.asked, third.damaged) == (0, 0)
    assert "damaged" not in third.summary


@BAD_DISK
def test_a_damaged_line_of_a_fold_cut_short_doubles_no_row(run, prompts, rows):
    """The journal as it was before the fold's last step."""
    collect_texts(run, prompts, Counting(), 2, shard_rows=20)
    path, book = run.path / JOURNAL, Journal(run.path / JOURNAL, run.path)
    for row in rows(run):
        names = ("outcome", "prompt_id", "sample", "model", "text")
        book.append({"key": row["text_id"], **{name: row[name] for name in names}})
    book.close()
    path.write_bytes(b"X" + path.read_bytes()[1:])
    again = Counting()
    report = collect_texts(run, prompts, again, 3, shard_rows=20)
    assert report.complete
    assert again.asked == 10
    assert len(rows(run)) == len({row["text_id"] for row in rows(run)}) == 30


def test_a_file_without_one_whole_line_is_set_aside(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text("some\nother file\n")
    book = Journal(path, tmp_path)
    assert (book.n_damaged, keys(book)) == (2, [])
    assert path.with_name(DAMAGED).read_text() == "some\nother file\n"
    book.close()
