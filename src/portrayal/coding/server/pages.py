"""Pages: the HTML of each page, with every word of a text or name escaped."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from portrayal.coding.project import CodingItem, ItemPerson
from portrayal.coding.server.desk import ADJUDICATES, Desk, Reader, pack
from portrayal.coding.server.gate import Gate
from portrayal.run.pages import templates
from portrayal.shown import visible

Piece = tuple[str, str]
"""A piece of text and its mark: "", "subject", "object", or "sign" for a character made visible."""

SIGNS = {
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
"""Characters that turn the direction of what follows, and their names in Unicode."""
_SIGN = re.compile(f"([{''.join(SIGNS)}])")


def pieces(text: str, people: Sequence[ItemPerson] = ()) -> list[Piece]:
    """Return a text as pieces that hold all of it in order.

    Characters that turn the direction of a line are replaced by their names, and control characters
    by U+FFFD: a reader sees that they are there, and they do nothing.
    """
    shown_pieces: list[Piece] = []
    position = 0
    for start, end, slot in _spans(text, people):
        shown_pieces += _inert(text[position:start], "")
        shown_pieces += _inert(text[start:end], slot)
        position = end
    shown_pieces += _inert(text[position:], "")
    return shown_pieces


def inert(text: str) -> str:
    """Return a label on one line, with every character that does something made visible."""
    return " ".join("".join(part for part, _ in _inert(text, "")).split())


def _inert(text: str, mark: str) -> Iterator[Piece]:
    for part in _SIGN.split(text):
        if part in SIGNS:
            yield SIGNS[part], "sign"
        elif part:
            yield visible(part), mark


def _spans(text: str, people: Sequence[ItemPerson]) -> list[tuple[int, int, str]]:
    """Marks in order, none overlapping; a name is looked up where no span was kept."""
    marks: list[tuple[int, int, str]] = []
    for person in people:
        spans = list(person.spans)
        if not spans and person.name:
            pattern = rf"(?<!\w){re.escape(person.name)}(?!\w)"
            spans = [match.span() for match in re.finditer(pattern, text)]
        marks += [(start, end, person.slot) for start, end in spans]
    disjoint: list[tuple[int, int, str]] = []
    for start, end, slot in sorted(marks):
        # Labels may come from elsewhere: spans outside the text or over another are left out
        if 0 <= start < end <= len(text) and (not disjoint or start >= disjoint[-1][1]):
            disjoint.append((start, end, slot if slot in ("subject", "object") else "subject"))
    return disjoint


_DIGITS, _LETTERS = "123456789", "abcdefghijklmnopqrstuvwxyz"


class Pages:
    """Renders the pages of a desk; the gate signs who a reader is, and keys every form."""

    def __init__(self, desk: Desk, gate: Gate) -> None:
        self.desk, self.gate = desk, gate
        self.book = desk.project.codebook
        self._shared = {"title": inert(self.book.title), "form_key": gate.form_key}

    def render(self, page: str, /, **fields: Any) -> str:
        """Return a page of this name: "message", "passing", "password", "new_rater" or "code"."""
        template = templates("portrayal.coding.server").get_template(f"{page}.html.j2")
        text = template.render(self._shared | fields)
        # Half a surrogate pair in a text of a model would make the answer fail
        return text.encode("utf-8", "replace").decode("utf-8")

    def welcome(self, name: str = "", error: str = "") -> str:
        """Return the first page: what is asked, what the texts may hold, and the rater's name."""
        desk = self.desk
        return self.render(
            "welcome",
            n_items=len(desk.items),
            warning=_paragraphs(self.book.warning or ""),
            instructions=_paragraphs(self.book.instructions),
            name=inert(name[:60]),
            error=error,
            may_adjudicate=bool(desk.adjudicators),
        )

    def end(self, reader: Reader) -> str:
        """Return the page that follows the last text."""
        n_done, of = self.desk.progress(reader)
        return self.render(
            "end",
            reader=reader.name,
            done=n_done,
            of=of,
            adjudicates=reader.does == ADJUDICATES,
            first=self.desk.around(reader, 0)[1],
        )

    def text(self, reader: Reader, place: int, session: str) -> str:
        """Return the page of one text as this reader has left it, for one session."""
        desk, item = self.desk, self.desk.items[place - 1]
        answers = desk.store.answers(reader.key, item.item_id)
        n_done, of = desk.progress(reader)
        people = item.people if self.book.show_people else ()
        other_raters = list(self._others(item)) if reader.does == ADJUDICATES else []
        # Without marks the page says whom the prompt asks for, not whom an annotator found.
        names = [inert(one.name or "") if people else "" for one in item.people]
        shown_people = [
            {"slot": one.slot, "role": inert(one.role), "name": name}
            for one, name in zip(item.people, names, strict=True)
            if people or inert(one.role)
        ]
        name = reader.name.removesuffix(" (adjudication)")
        return self.render(
            "text",
            reader=reader.name,
            packed=self.gate.sign(pack(name, reader.does), session),
            project=desk.project.folder.name,
            place=place,
            of_texts=len(desk.items),
            done=n_done,
            of=of,
            item_title=inert(item.title),
            pieces=pieces(item.text, people),
            people=shown_people,
            marked=bool(people),
            codes=self._codes(answers, other_raters),
            fields=self._fields(answers, self.desk.needed(item)),
            note=answers.get(("note", ""), ""),
            is_done=answers.get(("done", "")) == "1",
            around=desk.around(reader, place),
            others=other_raters,
            instructions=_paragraphs(self.book.instructions),
        )

    def _codes(
        self, answers: dict[tuple[str, str], str], other_raters: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        shortcuts = self.book.shortcuts
        rows = []
        for code in self.book.codes:
            answer = answers.get(("code", code.key))
            votes = sum(code.name in one["codes"] for one in other_raters)
            # What all raters gave is set beforehand; an adjudicator's own answer goes before
            agreed = answer is None and 0 < votes == len(other_raters)
            divided = 0 < votes < len(other_raters)
            page = {"shortcut": shortcuts[code.key], "set": answer == "1" or agreed}
            page |= {"agreed": agreed, "votes": f"{votes} of {len(other_raters)}" * divided}
            rows.append(asdict(code) | page | {"definition": " ".join(code.definition.split())})
        return rows

    def _fields(
        self, answers: dict[tuple[str, str], str], needed: Collection[str]
    ) -> list[dict[str, Any]]:
        used = set(self.book.shortcuts.values())
        # One supply for all fields, so that no two choices share a key
        digits = (key for key in _DIGITS + _LETTERS[::-1] if key not in used)
        letters = (key for key in _LETTERS if key not in used)
        rows = []
        for field in self.book.fields:
            value = answers.get(("field", field.key))
            choices = [
                {"value": word, "shortcut": next(digits, ""), "chosen": word == value}
                for word in field.choices
            ]
            page = {"choices": choices, "value": value or "", "needed": field.key in needed}
            page["shortcut"] = "" if choices else next(letters, "")
            rows.append(asdict(field) | page | {"definition": " ".join(field.definition.split())})
        return rows

    def _others(self, item: CodingItem) -> Iterator[dict[str, Any]]:
        """What each rater that is done says of a text, without names."""
        names = {question.key: question.name for question in self.book.questions}
        # In the order of their keys, so that "Rater 1" is the same person on every text
        of_raters = self.desk.store.standing(item.item_id, "human").values()
        by_rater = [{place: one.value for place, one in by.items()} for by in of_raters]
        finished = [answers for answers in by_rater if answers.get(("done", "")) == "1"]
        for number, answers in enumerate(finished, 1):
            yield {
                "name": f"Rater {number}",
                "codes": [name for key, name in names.items() if answers.get(("code", key)) == "1"],
                "fields": [
                    (names[key], inert(value))
                    for (about, key), value in answers.items()
                    if about == "field" and key in names
                ],
                "note": pieces(answers.get(("note", ""), "")),
            }


def _paragraphs(text: str) -> list[str]:
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return [part for part in parts if part]
