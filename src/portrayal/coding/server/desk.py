"""Desk: what each rater has before them: which text, how far along, what may be adjudicated."""

import base64
import json
import logging
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.coding.project import CodingItem, Project
from portrayal.coding.store import ABOUT, Click, Store, rater_key
from portrayal.errors import OptionError
from portrayal.types import BoolArray, IntArray

log = logging.getLogger("portrayal.raters")


RATES, ADJUDICATES = "rate", "adjudicate"
"""What a reader has come to do."""
_SUFFIX = " (adjudication)"


@dataclass(frozen=True, slots=True)
class Reader:
    """A person at the page: key and shown name, and what they do (`RATES` or `ADJUDICATES`)."""

    key: str
    name: str
    does: str

    @property
    def kind(self) -> str:
        """Kind of rater in the store."""
        return "human" if self.does == RATES else "adjudicated"


class Desk:
    """The texts of a project and who may see what of them.

    Parameters
    ----------
    project
        The project.
    store
        Its store.
    adjudicators
        Names that may adjudicate, given by whoever owns the project; nobody else may.
    """

    def __init__(self, project: Project, store: Store, adjudicators: Collection[str] = ()) -> None:
        self.project, self.store = project, store
        self.items: tuple[CodingItem, ...] = project.items
        self.place = {item.item_id: i for i, item in enumerate(self.items, 1)}
        self.adjudicators = frozenset(rater_key(name) for name in adjudicators)

    def reader(self, name: str, does: str) -> Reader:
        """Return the reader of this name, without adding anyone.

        Raises
        ------
        OptionError
            When the name cannot be one, or this rater may not adjudicate yet.
        """
        key = rater_key(name)
        if does == ADJUDICATES:
            if key not in self.adjudicators:
                raise OptionError(
                    "this name may not adjudicate; whoever owns the project names who may, with "
                    "--adjudicator NAME."
                )
            # Whoever rates and adjudicates is two raters: a decision must not overwrite own labels
            name = f"{' '.join(name.split())}{_SUFFIX}"
        return Reader(rater_key(name), " ".join(name.split()), does)

    def person(self, reader: Reader) -> str:
        """Return the key of whoever a reader is, rating or adjudicating."""
        return reader.key.removesuffix(_SUFFIX)

    def begin(self, reader: Reader) -> Reader:
        """Add a reader to the store where new; the owner is warned of names that look alike."""
        if not self.known(reader):
            present = {*self.store.raters(), *self.adjudicators}
            own_name = self.person(reader)
            # Only a warning: two people may well have such names, and the owner can tell
            for other in sorted({key.removesuffix(_SUFFIX) for key in present} - {own_name}):
                if look_of(other) == look_of(own_name):
                    log.warning(
                        "the name %s (%s) looks like that of another rater, %s",
                        *(reader.name, ascii(reader.name), ascii(other)),
                    )
        self.store.enrol(reader.name, reader.kind)
        return reader

    def known(self, reader: Reader) -> bool:
        """Whether someone of this name has been here; one of another kind is refused."""
        rater = self.store.rater(reader.name)
        return rater is not None and rater[1] == reader.kind

    def queue(self, reader: Reader) -> IntArray:
        """Return the places of the texts that a reader has to see, in order."""
        return np.flatnonzero(self._queued(reader))

    def _queued(self, reader: Reader) -> BoolArray:
        """Whether a reader has to see the text at each place, shape (n_items + 1,)."""
        if reader.does == RATES:
            return np.arange(len(self.items) + 1) > 0  # place 0 is none: places count from 1
        own_name = self.person(reader)
        disputed = self.store.disputed()
        # One who codes as well must not see the others' answers before giving their own
        if self.store.rater(own_name):
            disputed &= self.store.done(own_name)
        return self._marked(disputed)

    def _marked(self, item_ids: Iterable[str]) -> BoolArray:
        """Whether the text at each place is one of these, shape (n_items + 1,)."""
        marked = np.zeros(len(self.items) + 1, dtype=np.bool_)
        # The store may hold answers about texts of another draw
        marked[[self.place[item] for item in item_ids if item in self.place]] = True
        return marked

    def item(self, reader: Reader, place: int) -> CodingItem | None:
        """Return the text at a place; None where the reader has none there."""
        if not 1 <= place <= len(self.items):
            return None
        item = self.items[place - 1]
        if reader.does == RATES:
            return item
        # Whoever codes as well is blind to the others until done with the text.
        own_name = self.person(reader)
        is_done = self.store.answers(own_name, item.item_id).get(("done", "")) == "1"
        is_free = self.store.rater(own_name) is None or is_done
        return item if is_free and self.store.disputed(item.item_id) else None

    def needed(self, item: CodingItem) -> dict[str, str]:
        """Return the questions without whose answers an audit cannot use a text, key → label."""
        slots = {one.slot for one in item.people}
        return {
            question.key: question.name
            for question in self.project.codebook.questions
            if question.needed and (not question.slot or question.slot in slots)
        }

    def missing(self, item: CodingItem, answers: Mapping[tuple[str, str], str | None]) -> list[str]:
        """Return which needed questions a rater's answers leave open, by their labels.

        None where a note stands in place of all of them: then nothing is labelled.
        """
        needed = self.needed(item)
        unanswered = [label for key, label in needed.items() if not answers.get(("field", key))]
        # A note alone is an answer: "none of these fits". With half of the fields it is not
        is_unlabelled = not any(value for (about, _), value in answers.items() if about == "field")
        return [] if is_unlabelled and answers.get(("note", "")) else unanswered

    def next_place(self, reader: Reader, after: int = 0) -> int | None:
        """Return the first place after `after` that a reader is not done with, else any other."""
        places = np.flatnonzero(self._queued(reader) & ~self._marked(self.store.done(reader.key)))
        if not places.size:
            return None
        position = np.searchsorted(places, after, side="right")
        return int(places[position % places.size])  # round from the end: skipped texts come again

    def around(self, reader: Reader, place: int) -> tuple[int | None, int | None]:
        """Return the places before and after a place in a reader's queue."""
        queue = self.queue(reader)
        before, after = queue[queue < place], queue[queue > place]
        return (int(before[-1]) if before.size else None, int(after[0]) if after.size else None)

    def progress(self, reader: Reader) -> tuple[int, int]:
        """Return how many texts a reader is done with, and of how many."""
        queued = self._queued(reader)
        finished = queued & self._marked(self.store.done(reader.key))
        return int(finished.sum()), int(queued.sum())


_TWINS = str.maketrans(
    "авсԁеɡһіјӏмноорԛѕтуԝхԍαβεηικνορτυχνω",
    "abcdeghijlmhoopqstywxgabenikvoptuxvw",
)
"""Small letters, Cyrillic and Greek, and the Latin ones that they look like (Unicode TS 39)."""


def look_of(name: str) -> str:
    """Return what a name looks like: without accents, in Latin letters, and O and l for 0 and 1.

    >>> look_of("Cl\u0435o") == look_of("cleo")
    True
    """
    # Apart into letter and accent, so that the accents can go
    letters = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(c for c in letters if not unicodedata.combining(c) and c.isalnum())
    # Zero and one last: they stand for small letters here
    return plain.translate(_TWINS).translate(str.maketrans("01i", "oll"))


def pack(name: str, does: str) -> str:
    """Return name and task of a reader as text for a cookie or a page."""
    return base64.urlsafe_b64encode(json.dumps([name, does]).encode()).decode().rstrip("=")


def unpack(text: str | None) -> tuple[str, str]:
    """Return what `pack` was given.

    Raises
    ------
    OptionError
        When it is None, as where the signature was wrong.
    """
    if text is None:
        raise OptionError("this page did not sign who you are; enter your name on the first page.")
    name, does = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return name, does


_ID = re.compile(r"[0-9a-f]{16,64}")


def click_of(desk: Desk, reader: Reader, click: dict[str, Any]) -> Click:
    """Return the click that a page sent.

    Raises
    ------
    OptionError
        When it is about a text that the reader does not have, or answers no question of the
        codebook.
    """
    place, about, key = click.get("place"), click.get("about"), click.get("key", "")
    item = desk.item(reader, place) if type(place) is int else None  # True is an int too
    if item is None:
        raise OptionError(f"there is no text {place!r} for this rater.")
    if about not in ABOUT or not isinstance(key, str):
        raise OptionError(f"a click is about one of {', '.join(ABOUT)}; got {about!r}.")
    value = click.get("value")
    if value is not None and not isinstance(value, str):
        raise OptionError(f"the value of a click is text or null; got {value!r}.")
    book = desk.project.codebook
    questions = {"code": book.codes, "field": book.fields}.get(about)
    choices_of = {"": ()} if questions is None else {one.key: one.choices for one in questions}
    if key not in choices_of:
        raise OptionError(f"the codebook has no {about} {key[:60]!r}.")
    # A page may be older than the codebook, and a click may be forged: every value is checked
    if (choices := choices_of[key]) and value and value not in choices:
        raise OptionError(f"{key} is one of {', '.join(choices)}; got {value[:60]!r}.")
    # As they will stand after this click: taking one back can leave a finished text open
    answers = {**desk.store.answers(reader.key, item.item_id), (about, key): value or None}
    if answers.get(("done", "")) == "1" and (unanswered := desk.missing(item, answers)):
        raise OptionError(
            f"a text is done with an answer to: {', '.join(unanswered)}. "
            "Where none of the answers fits, leave all of them open and write a note."
        )
    return Click(undo_of(click), reader.key, item.item_id, about, key, value or None)


def undo_of(click: dict[str, Any]) -> str:
    """Return the identity of what a page sent."""
    click_id = click.get("click_id")
    if not isinstance(click_id, str) or not _ID.fullmatch(click_id):
        raise OptionError("click_id is 16 to 64 digits and letters a to f.")
    return click_id
