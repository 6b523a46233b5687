"""Store: what raters say, in SQLite, on the disk before it is acknowledged.

A *click* is one answer of one rater to one question about one text. Each is written in a
transaction of its own, and the answers that stand are kept beside the log of clicks, so that
nothing has to be replayed. The database runs with a write-ahead log and `synchronous=FULL`: a
commit returns when the log is on the disk, so a process killed at any moment loses no click that
it acknowledged.
"""

import sqlite3
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import KINDS, folded

ABOUT = ("code", "field", "note", "done")
"""What a click answers: a code, a field, the note, or whether the rater is done with the text."""
LONGEST = 20_000
"""Characters of a note or an answer."""


@dataclass(frozen=True, slots=True)
class Click:
    """One answer.

    Attributes
    ----------
    click_id
        Identity that the page gives it, so that a repeated one counts once.
    rater, item_id
        Who says it, about which text.
    about, key
        What it answers: one of `ABOUT`, and the key of the code or field ("" otherwise).
    value
        "1" or "0" for a code and for done, else text; None takes the answer back.
    """

    click_id: str
    rater: str
    item_id: str
    about: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class StandingAnswer:
    """One answer that stands; attributes as those of `Click`, `at` in UTC (ISO 8601)."""

    rater: str
    item_id: str
    about: str
    key: str
    value: str
    at: str
    kind: str


class Store:
    """The raters' answers of one project; one object serves any number of threads.

    Parameters
    ----------
    path
        The SQLite file; made where it is missing.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        # Connections are kept and lent, as SQLite takes one for one thread at a time
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._writing = threading.Lock()
        schema = files(__package__).joinpath("schema.sql").read_text("utf-8")
        try:
            with self._lend() as connection:
                connection.executescript(schema)
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"{self.path} cannot be used as a store of codes: {error}. It must be a file that "
                "Portrayal made, on a local disk."
            ) from error

    @contextmanager
    def _lend(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that no one uses; there are as many as were ever in use at once."""
        try:
            # popping is atomic; asking first whether there is one would race
            connection = self._idle.pop()
        except IndexError:
            # Transactions are begun by hand: Python's own would start them late, at the first
            # change
            settings: dict[str, Any] = {"isolation_level": None, "check_same_thread": False}
            connection = sqlite3.connect(self.path, timeout=30, **settings)
            try:
                # Readers go on while a rater's click is written
                connection.execute("pragma journal_mode = wal")
                # Under "normal" a power cut could lose clicks that the page had acknowledged
                connection.execute("pragma synchronous = full")
            except sqlite3.DatabaseError:
                connection.close()
                raise
        try:
            yield connection
        finally:
            # One that is left within a transaction would hold the lock against everybody
            if self._closed or connection.in_transaction:
                connection.close()
            else:
                self._idle.append(connection)

    def close(self) -> None:
        """Close every connection; the object is of no use afterwards."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        # Threads wait here in turn, and not in SQLite, whose waiting is by polling and unfair
        with self._lend() as connection, self._writing:
            # Locked from the start: a read that later wants to write may fail where another wrote
            # first
            connection.execute("begin immediate")
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise

    def _read(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        with self._lend() as connection:
            return connection.execute(query, parameters).fetchall()

    def rater(self, name: str) -> tuple[str, str] | None:
        """Return key and kind of the rater of this name; None where there is none."""
        query = "select rater, kind from raters where rater = ?"
        rows = self._read(query, rater_key(name))
        return (rows[0][0], rows[0][1]) if rows else None

    def raters(self, kind: str | None = None) -> dict[str, str]:
        """Return the names of raters by key, of one kind or of all."""
        query = "select rater, name from raters where ? is null or kind = ? order by since, rater"
        return {row[0]: row[1] for row in self._read(query, kind, kind)}

    def enrol(self, name: str, kind: str = "human") -> str:
        """Return the key of a rater, who is added where new.

        Raises
        ------
        OptionError
            When the name cannot be one, or belongs to a rater of another kind.
        """
        if kind not in KINDS:
            raise OptionError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
        display, key = rater_name(name), rater_key(name)
        with self._write() as connection:
            # Whoever enters first sets the kind; two at once cannot both
            add = "insert or ignore into raters values (?, ?, ?, ?)"
            connection.execute(add, (key, display, kind, _now()))
            query = "select kind from raters where rater = ?"
            (stored_kind,) = connection.execute(query, (key,)).fetchone()
        if stored_kind != kind:
            words = {"llm": "a model", "adjudicated": "an adjudicator", "human": "a rater"}
            raise OptionError(
                f"{display!r} is the name of {words[stored_kind]} here; take another."
            )
        return key

    def code_of(self, rater: str) -> str | None:
        """Return what is kept of a rater's personal code; None without one."""
        rows = self._read("select kept from rater_codes where rater = ?", rater)
        return str(rows[0][0]) if rows else None

    def keep_code(self, rater: str, code_hash: str) -> str:
        """Keep what `hashed` gave for a rater's code, where there is none; return what is kept."""
        with self._write() as connection:
            add = "insert or ignore into rater_codes values (?, ?)"
            connection.execute(add, (rater, code_hash))
        # of two browsers at once, the code of the first holds
        return self.code_of(rater) or code_hash

    def forget_code(self, rater: str) -> bool:
        """Forget a rater's personal code; return whether there was one."""
        with self._write() as connection:
            query = "delete from rater_codes where rater = ?"
            return connection.execute(query, (rater,)).rowcount > 0

    def save(self, click: Click) -> int:
        """Write a click to the disk and return its sequence number; a repeated one counts once.

        Raises
        ------
        OptionError
            When the rater is unknown or the answer is not of its kind.
        """
        _check(click)
        with self._write() as connection:
            query = "select seq from clicks where click_id = ?"
            # A page that heard no answer sends its click again: the same number, and nothing
            # written
            first_seq = connection.execute(query, (click.click_id,)).fetchone()
            if first_seq is not None:
                return int(first_seq[0])
            return _record(connection, click)

    def undo(self, rater: str, click_id: str) -> Click | None:
        """Take back the last click of a rater; return it, or None where none is left.

        `click_id` is the identity of the undoing itself: repeated, it takes back nothing more. The
        clicks stay in the log, marked.
        """
        with self._write() as connection:
            # An undoing that is sent twice must not take back two answers
            query = "select 1 from clicks where click_id = ?"
            if connection.execute(query, (click_id,)).fetchone():
                return None
            query = (
                "select seq, before, click_id, rater, item_id, about, key, value from clicks"
                " where rater = ? and undone = 0 order by seq desc limit 1"
            )
            row = connection.execute(query, (rater,)).fetchone()
            if row is None:
                return None
            seq, before, *fields = row
            click = Click(*fields)
            connection.execute("update clicks set undone = 1 where seq = ?", (seq,))
            # The undoing is a click of its own (2), which can itself not be undone
            _record(connection, replace(click, click_id=click_id, value=before), undone=2)
            return click

    def answers(self, rater: str, item_id: str) -> dict[tuple[str, str], str]:
        """Return what one rater says of one text, by (about, key)."""
        query = "select about, key, value from answers where rater = ? and item_id = ?"
        return {(about, key): value for about, key, value in self._read(query, rater, item_id)}

    def done(self, rater: str) -> set[str]:
        """Return the texts that a rater is done with."""
        query = "select item_id from answers where about = 'done' and rater = ? and value = '1'"
        return {row[0] for row in self._read(query, rater)}

    def disputed(self, item_id: str | None = None) -> set[str]:
        """Return the texts, or the one text, on which the human raters done with them differ."""
        sets: dict[str, set[frozenset[tuple[tuple[str, str], str]]]] = {}
        for (item, _), answers in self.standing(item_id, "human").items():
            end = answers.get(("done", ""))
            if end is not None and end.value == "1":
                # A code that was taken back, or a field emptied, is as one that was never answered
                none = {"code": "0", "field": ""}
                values = {place: folded(one.value) for place, one in answers.items()}
                answered = (x for x in values.items() if x[1] != none.get(x[0][0], x[1]))
                sets.setdefault(item, set()).add(frozenset(answered))
        return {item for item, of_raters in sets.items() if len(of_raters) > 1}

    def standing(
        self, item_id: str | None = None, kind: str | None = None
    ) -> dict[tuple[str, str], dict[tuple[str, str], StandingAnswer]]:
        """Return the answers that stand, of one text or kind or all, by text and rater.

        Each is a map from (about, key); all in the order of text, rater and question.
        """
        query = (
            "select rater, item_id, about, key, value, at, kind from answers"
            " where (?1 is null or item_id = ?1) and (?2 is null or kind = ?2)"
            " order by item_id, rater, about, key"
        )
        answers: dict[tuple[str, str], dict[tuple[str, str], StandingAnswer]] = {}
        for answer in (StandingAnswer(*row) for row in self._read(query, item_id, kind)):
            of_rater = answers.setdefault((answer.item_id, answer.rater), {})
            of_rater[answer.about, answer.key] = answer
        return answers

    def write_all(self, answers: Mapping[tuple[str, str, str], str], rater: str) -> None:
        """Write many answers of one rater, by (item_id, about, key), in one transaction."""
        time = _now()
        with self._write() as connection:
            kind = _kind(connection, rater)
            for (item_id, about, key), value in answers.items():
                click = Click("-", rater, item_id, about, key, value)
                _check(click)
                _put(connection, click, time, kind)


def rater_name(name: str) -> str:
    """Return a rater's name as it is shown: one line, at most 60 characters.

    Raises
    ------
    OptionError
        When it is empty, too long, or holds characters that do not print.
    """
    # One form of accented letters, as two that look the same would be two raters
    line = " ".join(unicodedata.normalize("NFC", name).split())
    if not 1 <= len(line) <= 60 or not line.isprintable():
        raise OptionError(
            f"a rater's name has 1 to 60 characters that print; got {line[:60]!r}. "
            "Enter a name or initials."
        )
    return line


def rater_key(name: str) -> str:
    """Return what identifies a rater: the name without regard to case or to forms of letters."""
    # Twice, as folding the case can give letters that are not normal (Unicode, chapter 3.13)
    folded = unicodedata.normalize("NFKC", rater_name(name)).casefold()
    return unicodedata.normalize("NFKC", folded)


def _check(click: Click) -> None:
    if click.about not in ABOUT or not click.click_id or not click.item_id:
        raise OptionError(f"a click says what it is about, one of {', '.join(ABOUT)}; got {click}.")
    if click.value is None:
        return
    if click.about in ("code", "done") and click.value not in ("0", "1"):
        raise OptionError(f'a code is "1" or "0"; got {click.value[:60]!r}.')
    if len(click.value) > LONGEST:
        raise OptionError(
            f"an answer has at most {LONGEST:,} characters; got {len(click.value):,}."
        )


def _kind(connection: sqlite3.Connection, rater: str) -> str:
    row = connection.execute("select kind from raters where rater = ?", (rater,)).fetchone()
    if row is None:
        raise OptionError(f"no rater is called {rater!r}; enter the name on the first page.")
    return str(row[0])


def _record(connection: sqlite3.Connection, click: Click, undone: int = 0) -> int:
    """Log a click, and keep the answers true; return its sequence number."""
    kind, time = _kind(connection, click.rater), _now()
    click_id, *place, value = astuple(click)
    query = "select value from answers where rater = ? and item_id = ? and about = ? and key = ?"
    # What stood before is kept with the click, so that undoing needs no replay of the log
    before = (connection.execute(query, place).fetchone() or (None,))[0]
    add = (
        "insert into clicks (click_id, rater, item_id, about, key, value, before, at, undone)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    cursor = connection.execute(add, (click_id, *place, value, before, time, undone))
    _put(connection, click, time, kind)
    return int(cursor.lastrowid or 0)


def _put(connection: sqlite3.Connection, click: Click, time: str, kind: str) -> None:
    _, *place, value = astuple(click)
    if value is None:
        query = "delete from answers where rater = ? and item_id = ? and about = ? and key = ?"
        connection.execute(query, place)
    else:
        put = "insert or replace into answers values (?, ?, ?, ?, ?, ?, ?)"
        connection.execute(put, (*place, value, time, kind))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
