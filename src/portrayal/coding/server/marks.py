"""Marks: which texts raters are done with or differ on, kept in memory and brought up to date."""

import threading
from collections.abc import Mapping

import numpy as np

from portrayal.coding.ratings import BoolArray
from portrayal.coding.store import Store


class Marks:
    """The marks of a store by place, read once and from then on by what changed.

    Parameters
    ----------
    store
        The store; whoever else writes to it, in whatever process, is heard at the next look.
    place
        Place of each text by `item_id`, from 1.
    """

    def __init__(self, store: Store, place: Mapping[str, int]) -> None:
        self._store, self._place = store, place
        self._known: dict[str, tuple[int, BoolArray]] = {}
        self._looking = threading.Lock()

    def of(self, what: str) -> BoolArray:
        """Return whether `what` marks each place, shape (n_items + 1,); place 0 is never marked.

        `what` is a rater's key, for the texts that the rater is done with, or `DISPUTES`.
        """
        with self._looking:
            if what not in self._known:
                self._known[what] = self._whole(what)
            last, marked = self._known[what]
            for seq, item_id, is_marked in self._store.changes(what, last):
                place = self._place.get(item_id)
                if place is not None:
                    marked[place] = is_marked
                last = seq
            self._known[what] = (last, marked)
            return marked.copy()

    def _whole(self, what: str) -> tuple[int, BoolArray]:
        last, items = self._store.marked(what)
        marked = np.zeros(len(self._place) + 1, dtype=np.bool_)
        marked[[self._place[item] for item in items if item in self._place]] = True
        return last, marked
