"""Ratings: raters by text for each question, and what a group of raters holds together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.coding.codes import Codes
from portrayal.coding.project import Project

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MISSING = -1
YES = 1


@dataclass(frozen=True)
class Ratings:
    """The answers to one question.

    Attributes
    ----------
    question
        Key of the code or field, or what else is compared.
    raters, items
        Whose answers, about which texts.
    n_categories
        How many answers there are; of a code 0 is no and 1 is yes.
    values
        Number of the answer, shape (n_items, n_raters), -1 where it is missing.
    """

    question: str
    raters: tuple[str, ...]
    items: tuple[str, ...]
    n_categories: int
    values: IntArray

    @property
    def counts(self) -> FloatArray:
        """Raters by text and answer, shape (n_items, n_categories)."""
        answers = np.arange(self.n_categories)
        return np.asarray((self.values[:, :, np.newaxis] == answers).sum(1), dtype=np.float64)

    def between(self, *raters: str) -> "Ratings":
        """Return the ratings of these raters alone, in this order."""
        columns = [self.raters.index(rater) for rater in raters]
        return Ratings(
            self.question, raters, self.items, self.n_categories, self.values[:, columns]
        )

    def only(self, rows: BoolArray) -> "Ratings":
        """Return the ratings of the texts that `rows`, shape (n_items,), marks."""
        items = tuple(name for name, kept in zip(self.items, rows, strict=True) if kept)
        return Ratings(self.question, self.raters, items, self.n_categories, self.values[rows])

    def tables(self) -> FloatArray:
        """Per text, the answer of the first of two raters by the second's, shape (n_items, k, k).

        A text without both answers has a table of zeros.
        """
        one, two = self.values.T
        answers = np.arange(self.n_categories)
        pair = (one[:, None] == answers)[:, :, None] & (two[:, None] == answers)[:, None, :]
        return np.asarray(pair, dtype=np.float64)


def ratings_of(project: Project, codes: Codes) -> list[Ratings]:
    """Return the ratings of every code and field, in the order of the codebook.

    Texts nobody is done with are left out. Written answers are compared without regard to case and
    spaces.
    """
    raters, items = codes.raters, _items(project, codes)
    said: dict[str, dict[tuple[str, str], str]] = {}
    for decision in codes.decisions:
        place = (decision.item_id, decision.rater)
        said.setdefault(decision.code, {})[place] = "1" if decision.value else "0"
    for reply in codes.replies:
        value = " ".join(reply.value.split()).casefold()
        said.setdefault(reply.field, {})[reply.item_id, reply.rater] = value
    found = []
    for code in project.codebook.codes:
        found.append(_ratings(code.key, raters, items, said.get(code.key, {}), ("0", "1")))
    for field in project.codebook.fields:
        of_field = said.get(field.key, {})
        found.append(_ratings(field.key, raters, items, of_field, sorted(set(of_field.values()))))
    return found


def whole_sets(project: Project, codes: Codes) -> Ratings:
    """Return each rater's set of codes for a text as one answer; sets are numbered as they come."""
    given: dict[tuple[str, str], set[str]] = {(d.item_id, d.rater): set() for d in codes.done}
    for decision in codes.decisions:
        if decision.value:
            given[decision.item_id, decision.rater].add(decision.code)
    said = {place: "+".join(sorted(keys)) for place, keys in given.items()}
    names = sorted(set(said.values()))
    return _ratings("whole set", codes.raters, _items(project, codes), said, names)


def _items(project: Project, codes: Codes) -> tuple[str, ...]:
    done = {one.item_id for one in codes.done}
    return tuple(item.item_id for item in project.items if item.item_id in done)


def _ratings(
    question: str,
    raters: tuple[str, ...],
    items: tuple[str, ...],
    said: Mapping[tuple[str, str], str],
    answers: Iterable[str],
) -> Ratings:
    number = {answer: i for i, answer in enumerate(answers)}
    row, column = ({name: i for i, name in enumerate(names)} for names in (items, raters))
    values = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for (item, rater), answer in said.items():
        values[row[item], column[rater]] = number[answer]
    return Ratings(question, raters, items, max(len(number), 1), values)
