"""Rows as a study reads them: made from those of the file, one after the other."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain

from portrayal.collect.logs import Row
from portrayal.collect.sources import TextSource
from portrayal.recognise.columns import WORDS, cell
from portrayal.recognise.templates import Masker
from portrayal.records import ORIGINAL, REWRITTEN

VERSION = ".v1"
"""Ends with another number wherever the same file gives other rows."""
Made = Mapping[str, Callable[[Mapping[str, str]], str]]
"""Columns that are made from a row's cells."""
_BREAKS = re.compile(r"<(?:return|br ?/?|newline)>", re.IGNORECASE)
_OPENING = re.compile(
    r"\s*(?:(?:sure|certainly|of course|absolutely|okay|ok)\b[^\n:]{0,80}[!.:,]\s*)?"
    r"(?:here(?:'s| is| are|’s)\b[^\n:]{0,120}:\s*)(?=\S)",
    re.IGNORECASE,
)
_MARKDOWN = re.compile(r"^\s{0,3}(?:#{1,6}\s+|>\s+|[*+-]\s+)|\*\*|__|^(?:-{3,}|```\w*)$", re.M)
_SIGNS = re.compile(r"[#>*`_]|^\s{0,3}[-+]", re.M)
_CUT = 4
"""Words of a request from which on a text that begins with it repeats it."""


def cleaned(text: str) -> str:
    """Return a text without signs of line breaks, Markdown, and words of the model before it.

    >>> cleaned("Sure! Here is a story:<return>**Ann** left.")
    'Ann left.'
    """
    text = _BREAKS.sub("\n", text) if "<" in text else text
    text = _OPENING.sub("", text, count=1) if ":" in text[:200] else text
    return (_MARKDOWN.sub("", text) if _SIGNS.search(text) else text).strip()


def without_prompt(text: str, prompt: str) -> str:
    """Return a text without the request that it begins with."""
    request = prompt.strip()
    if len(request.split()) >= _CUT and text.lstrip().startswith(request):
        return text.lstrip()[len(request) :].lstrip(" \n:")
    return text


_OTHER_FIELDS = ("id", "text_id", "prompt_id", "outcome")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is made of a row.

    Attributes
    ----------
    text, model, name, reference
        Columns of these; "" where there is none.
    prompts
        Columns that together are the request.
    groups, further
        Columns of groups, and other columns that are kept.
    derived
        Columns that are made beforehand.
    pair, source
        Columns whose values together name the pair, and what pairs were made from.
    masker
        What takes words out of requests; the pair, or the source where nothing blocks, is then the
        template.
    is_unpaired
        Whether nothing blocks.
    rewriters
        Models besides that of people, where texts of people are the originals.
    """

    text: str
    model: str = ""
    name: str = ""
    reference: str = ""
    prompts: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    derived: Made = field(default_factory=dict)
    pair: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    masker: Masker | None = None
    is_unpaired: bool = False
    rewriters: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, str]:
        """Field of the study → column of the rows, of the same name but for the source.

        That is called as in the file, or "request", as reports speak of it by this name.
        """
        template = "source" if self.is_unpaired else "pair"
        present = {
            "text": True,
            "prompt": bool(self.prompts),
            "model": bool(self.model),
            "name": bool(self.name),
            "pair": bool(self.pair or self.reference),
            "source": bool(self.source),
        }
        present[template] = present[template] or self.masker is not None
        source = "source"
        # What the study would read as these
        reserved = {*present, *self.groups, *_OTHER_FIELDS}
        if self.is_unpaired and self.masker is not None:
            source = "request"
        elif len(self.source) == 1 and self.source[0].casefold() not in reserved:
            source = self.source[0]
        columns = {name: name for name, is_present in present.items() if is_present}
        return columns | ({"source": source} if present["source"] else {})

    @property
    def group_names(self) -> dict[str, str]:
        """Column of groups → its name in the rows, where it must not hide a field."""
        return {name: "group" if name in self.fields else name for name in self.groups}

    def source_of(self, source: TextSource) -> TextSource:
        """Return the rows of a source as a study reads them."""
        columns = (*self.fields.values(), *self.group_names.values(), *self.further)
        facts = (VERSION, source.digest, sorted(self.derived), repr(self._facts()))
        digest = blake2b(repr(facts).encode(), digest_size=16).hexdigest()

        def rows() -> Iterator[Row]:
            originals = set[str]()
            for row in source.rows():
                cells = {name: cell(row.get(name)) for name in source.columns}
                for name, make in self.derived.items():
                    cells[name] = make(cells)
                yield from self._rows_of(row, cells, originals)

        return TextSource(source.name, digest, tuple(dict.fromkeys(columns)), rows)

    def _facts(self) -> dict[str, object]:
        plain = {k: v for k, v in vars(self).items() if k not in ("derived", "masker")}
        mask = self.masker
        masks = mask and (mask.factors, sorted(mask.names), mask.slots, mask.columns)
        return plain | {"mask": masks}

    def _rows_of(
        self, row: Row, cells: Mapping[str, str], originals: set[str]
    ) -> Iterator[dict[str, object]]:
        prompt = "\n".join(filter(None, (cells[name] for name in self.prompts)))
        text = row.get(self.text)
        record: dict[str, object] = {
            "text": cleaned(without_prompt(text, prompt)) if isinstance(text, str) else text,
            "prompt": prompt,
            "model": cells.get(self.model, ""),
            "name": cells.get(self.name, ""),
            "pair": " · ".join(cells[name] for name in self.pair),
            "source": " · ".join(cells[name] for name in self.source),
        }
        if self.masker is not None:
            template = self.masker(prompt, [cells[name] for name in self.masker.columns])[1]
            record["source" if self.is_unpaired else "pair"] = template if prompt else ""
        record = {column: record[name] for name, column in self.fields.items()}
        record |= {new: cells.get(name, "") for name, new in self.group_names.items()}
        record |= {name: cells[name] for name in self.further}
        if self.reference:
            yield from self._beside(record, cells[self.reference], originals)
        elif self.rewriters and cells[self.model].casefold() in WORDS["human"]:
            # Each model is compared with the same originals
            for model in self.rewriters:
                yield record | {"model": model, self.groups[0]: ORIGINAL}
        else:
            yield record

    def _beside(
        self, record: dict[str, object], original: str, originals: set[str]
    ) -> Iterator[dict[str, object]]:
        """A rewriting, and its original where it is the first of it by this model."""
        if not original:
            return
        pair = record["pair"] or blake2b(original.encode(), digest_size=6).hexdigest()
        (group,) = self.groups
        yield record | {"pair": pair, group: REWRITTEN}
        key = f"{record.get('model', '')}\x1f{pair}"
        if key not in originals:
            originals.add(key)
            no_prompt = {"prompt": ""} if self.prompts else {}
            yield record | {"pair": pair, group: ORIGINAL, "text": cleaned(original)} | no_prompt


def unfolded(
    source: TextSource, sides: Mapping[str, Mapping[str, str]], column: str, row_id: str
) -> TextSource:
    """Return a source with a row for each side of its rows.

    Parameters
    ----------
    source
        Rows that hold several texts, side by side.
    sides
        Value of a side → column of the new rows → column of the source.
    column
        The new column that says of which side a text is.
    row_id
        The new column that says of which row.
    """
    wide = {name for names in sides.values() for name in names.values()}
    shared = [name for name in source.columns if name not in wide]
    new = dict.fromkeys(chain.from_iterable(sides.values()))
    digest = blake2b(f"{source.digest} {sides} {VERSION}".encode(), digest_size=16).hexdigest()

    def rows() -> Iterator[Row]:
        for number, row in enumerate(source.rows(), 1):
            for side, names in sides.items():
                texts = {name: row.get(names.get(name, "")) for name in new}
                yield {
                    **{name: row.get(name) for name in shared},
                    **texts,
                    **({column: side} if column else {}),
                    row_id: str(number),
                }

    extra = [name for name in (column, row_id) if name]
    return TextSource(source.name, digest, (*shared, *new, *extra), rows)
