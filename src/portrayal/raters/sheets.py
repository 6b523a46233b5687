"""Sheets: what raters look for (a codebook), in which texts (a draw), and the files to fill in.

A codebook is a small TOML file. A draw gives each text a known chance. A folder of sheets holds:

`RATER.csv` is a label file with the texts and what is asked of each. `drawn.csv` says what was
drawn with which chance, which tells of the strata and of what a scorer says, so that raters are not
given it. `codebook.toml` is what is asked, and `instructions.md` says it to the raters.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tomli_w

from portrayal.collect.tables import write_table
from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import DRAWN, DRAWN_COLUMNS, NO, YES, YES_OR_NO, Unit
from portrayal.reference.datafile import Catalogue, DataFile, Holds, matching
from portrayal.run.files import write_atomically

Key = Annotated[str, matching("[a-z0-9][a-z0-9_-]{0,59}", "small letters, digits, _ and -")]


@dataclass(frozen=True, slots=True)
class CodebookQuestion:
    """One question about a text.

    Attributes
    ----------
    key, name
        Short name in files, and name on sheets.
    definition
        What counts.
    source, examples
        Where the definition comes from, and short examples, written for the codebook.
    kind
        "code": whether the text shows a pattern, where codes may overlap; "choice": one of
        `choices`; "text": a word of the rater's own.
    choices
        The answers to choose from.
    needed
        Whether a text is done only with an answer, as an audit cannot use it without; codes always
        need one.
    slot
        Which person of a text it asks of; it is needed only where a text has that person.
    """

    key: Key
    name: str
    definition: str = ""
    source: str = ""
    examples: tuple[str, ...] = ()
    kind: Literal["code", "choice", "text"] = "code"
    choices: tuple[str, ...] = ()
    needed: bool = False
    slot: str = ""

    def __post_init__(self) -> None:
        """Refuse a choice between fewer than two, and a code without a definition."""
        if (self.kind == "choice") != (len(self.choices) >= 2):
            raise OptionError('kind "choice" takes two choices or more, the others take none.')
        if self.kind == "code" and not self.definition.strip():
            raise OptionError('kind "code" takes a definition: what counts.')


@dataclass(frozen=True, slots=True)
class Codebook:
    """The questions that raters answer about each text.

    Attributes
    ----------
    name, title
        Name in files, and title of the instructions.
    instructions
        What raters read before they start; paragraphs are parted by an empty line.
    questions
        What is asked.
    warning
        What raters read about the texts before they see one; "" where nothing is needed.
    """

    name: str
    title: str
    instructions: Annotated[str, Holds(convert=str.strip)] = ""
    questions: tuple[CodebookQuestion, ...] = ()
    warning: Annotated[str, Holds(convert=str.strip)] = ""

    def __post_init__(self) -> None:
        """Refuse a codebook that asks nothing, or one thing under two names."""
        if not self.questions:
            raise OptionError("it asks nothing: add [[questions]].")
        keys = [question.key for question in self.questions]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise OptionError(f"the key {twice[0]!r} occurs twice.")

    @property
    def codes(self) -> tuple[CodebookQuestion, ...]:
        """The questions that are answered with yes or no."""
        return tuple(question for question in self.questions if question.kind == "code")


def read_codebook(name: str, file: DataFile) -> Codebook:
    """Return the codebook of a file, by its own name or else `name`."""
    return file.record(Codebook, (), **({} if "name" in file.table else {"name": name}))


CODEBOOKS = Catalogue("a codebook", files("portrayal.raters") / "codebooks", read_codebook)
"""The codebooks that ship."""


def codebook(spec: str | Path) -> Codebook:
    """Return a codebook by its name, or from a TOML file.

    Parameters
    ----------
    spec
        One of `CODEBOOKS.names`, or the path of a TOML file.

    Raises
    ------
    UnknownNameError
        When there is neither such a codebook nor such a file.
    DataError
        When the file is not a codebook; the message says where.

    Examples
    --------
    >>> [code.key for code in codebook("stereotypes").codes][:2]
    ['white_savior', 'perpetual_foreigner']
    """
    return CODEBOOKS.load(spec)


@dataclass(frozen=True)
class Draw:
    """A sample of texts, or of sentences of texts, to label.

    Attributes
    ----------
    about
        What is labelled: a field, or the name of a codebook.
    texts
        text_id and unit → chance with which it was drawn, in the order in which raters see them.
    strata
        Stratum → how many units it has, and how many were drawn.
    width
        Expected width of a 95 % interval of a share of these very texts, by these labels alone;
        None where nothing is corrected.
    """

    about: str
    texts: Mapping[Unit, float]
    strata: Mapping[str, tuple[int, int]]
    width: float | None = None


def drawn(
    about: str,
    strata: Mapping[str, Sequence[Unit]],
    sizes: Sequence[int],
    seed: int,
    width: float | None = None,
) -> Draw:
    """Draw units at random from strata, which may overlap.

    A larger draw with the same seed holds a smaller one.

    Parameters
    ----------
    about, width
        As of `Draw`.
    strata, sizes
        Units by stratum, and how many of each are drawn.
    seed
        Start of the random streams.

    Raises
    ------
    DataError
        When no stratum has a unit.

    Examples
    --------
    >>> draw = drawn("faith", {"one": [("1", ""), ("2", "")], "none": [("3", "")]}, [1, 1], 0)
    >>> sorted(draw.texts.values())
    [0.5, 1.0]
    """
    if not any(strata.values()):
        raise DataError("there is no readable text to label; expected texts with the outcome ok.")
    # Sorted, so that neither the order of files nor shards change what is drawn
    units_of = {name: sorted(strata[name]) for name in sorted(strata)}
    n_of = dict(zip(strata, sizes, strict=True))
    sample: set[Unit] = set()
    for number, (name, units) in enumerate(units_of.items()):
        # The first of a fixed order, so that a larger draw holds a smaller one
        order = np.random.default_rng([seed, number]).permutation(len(units))
        sample.update(units[i] for i in order[: n_of[name]].tolist())
    rates: dict[Unit, list[float]] = {unit: [] for unit in sorted(sample)}
    for name, units in units_of.items():
        for unit in units:
            if unit in rates:
                rates[unit].append(n_of[name] / len(units))
    # Mixed, since a sheet in the order of strata would tell raters what is compared
    names, texts = list(rates), {}
    for i in np.random.default_rng(seed).permutation(len(names)).tolist():
        of_strata = rates[names[i]]
        # A unit is missed where all of its strata miss it
        missed = math.prod(1.0 - rate for rate in of_strata)
        texts[names[i]] = of_strata[0] if len(of_strata) == 1 else 1.0 - missed
    counts = {name: (len(units), n_of[name]) for name, units in units_of.items()}
    return Draw(about, texts, counts, width)


def evenly(n: int, sizes: Sequence[int]) -> list[int]:
    """Share `n` out over strata as evenly as their sizes allow; what is over goes to the larger.

    >>> evenly(20, [10, 30]), evenly(30, [10, 30])
    ([10, 10], [10, 20])
    """
    shares = [0] * len(sizes)
    remaining = min(n, sum(sizes))
    while remaining:
        room = [i for i, size in enumerate(sizes) if shares[i] < size]
        # Again and again, as a small stratum that is full leaves its share to the others
        per_stratum, over = divmod(remaining, len(room))
        for i in room:
            shares[i] += min(per_stratum, sizes[i] - shares[i])
        # Fewer are left than there are strata with room: the largest get one each
        if per_stratum == 0:
            for i in sorted(room, key=lambda i: (-sizes[i], i))[:over]:
                shares[i] += 1
        remaining = min(n, sum(sizes)) - sum(shares)
    return shares


@dataclass(frozen=True, slots=True)
class ShortPlace:
    """A place of which a draw has fewer labels than a correction needs.

    Attributes
    ----------
    place
        A stratum and its value, or domain and condition as the prompts say.
    n_drawn, unit
        How many units of it were drawn, and what they are ("people of a role", "texts").
    least
        How many a correction needs.
    needed
        Size of a draw that should have so many; None where the run has too few.
    """

    place: str
    n_drawn: int
    unit: str
    least: int
    needed: int | None

    @property
    def sentence(self) -> str:
        """What a terminal says of it."""
        would = f"--n {self.needed} should do"
        if self.needed is None:
            would = "the whole run has too few"
        return (
            f"these labels cannot correct {self.place}: they are of {self.n_drawn} {self.unit} "
            f"there, and a correction needs {self.least}; {would}"
        )


def short_places(
    n_all: Mapping[str, int], n_drawn: Mapping[str, int], n: int, unit: str, least: int
) -> list[ShortPlace]:
    """Return the places of which a draw of `n` texts has fewer than `least` units.

    Parameters
    ----------
    n_all, n_drawn
        Units of each place, and how many of them were drawn.
    n
        Texts that were drawn.
    unit, least
        What the units are, and how many a correction needs.
    """
    short = []
    for place, total in sorted(n_all.items()):
        if (have := n_drawn.get(place, 0)) < least and total:
            # A place has its share of a larger draw, or more where smaller strata are exhausted
            needed = math.ceil(n * least / have) if have else None
            short.append(ShortPlace(place, have, unit, least, needed if total >= least else None))
    return short


CODEBOOK, INSTRUCTIONS = "codebook.toml", "instructions.md"
COLUMNS = (
    *("text_id", "unit", "field", "question", "choices", "needed"),
    *("label", "note", "rater", "prompt", "text"),
)


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One text to label, or a sentence of one.

    Attributes
    ----------
    text_id, unit
        Whose, and its number in the text; "" for the text itself.
    text, prompt
        What raters read: the text, and what was asked for; "" where they are not to see it.
    prompt_id, chance
        Of which prompt it is, and with which probability it was drawn.
    roles
        Person of the text ("subject", "object") → role, such as "doctor"; "" where none is known.
    """

    text_id: str
    text: str
    unit: str = ""
    prompt: str = ""
    prompt_id: str = ""
    chance: float = 1.0
    roles: Mapping[str, str] = field(default_factory=dict)


def write_sheets(
    items: Sequence[SheetItem], book: Codebook, folder: Path, raters: Sequence[str]
) -> list[Path]:
    """Write a sheet for each rater, what was drawn, and what is asked; return the paths.

    A sheet has a row for each question about each text, in the order of `items`.

    Parameters
    ----------
    items
        The texts.
    book
        What is asked.
    folder
        Where the files are written.
    raters
        Who labels; each is a file.

    Raises
    ------
    OptionError
        When sheets stand there already, as they may hold labels, or a rater's name is no name of a
        file.
    """
    if (folder / DRAWN).exists():
        raise OptionError(f"{folder} holds sheets already, with labels maybe; give another --out.")
    if len({rater.casefold() for rater in raters}) < len(raters):
        raise OptionError(f"each rater has a sheet, and a name of their own; got {list(raters)}.")
    for rater in raters:
        if not re.fullmatch(r"\w[\w .-]{0,59}", rater) or f"{rater}.csv" == DRAWN:
            raise OptionError(
                f"a rater is named by letters, digits, blanks, points and hyphens; got {rater!r}."
            )
    rows = [row for item in items for row in _rows(item, book)]
    paths = [folder / f"{rater}.csv" for rater in raters]
    for path, rater in zip(paths, raters, strict=True):
        write_table(path, COLUMNS, ({**row, "rater": rater} for row in rows))
    parts = [f"# {book.title}", book.warning, book.instructions]
    parts.append(
        "Write one of the `choices` under `label`, words of your own where there are none, and "
        f"{YES} for yes and {NO} for no. Answer all that is `needed` of a text, or nothing of it."
    )
    for question in book.questions:
        parts += [f"## {question.name}", " ".join(question.definition.split())]
        parts += [f"For example: {example}" for example in question.examples]
    write_atomically(folder / INSTRUCTIONS, "\n\n".join(filter(None, parts)) + "\n")
    write_atomically(folder / CODEBOOK, tomli_w.dumps(asdict(book)))
    # Last, as it says that sheets stand here
    write_table(folder / DRAWN, (*DRAWN_COLUMNS, "text"), map(asdict, items))
    return [*paths, folder / DRAWN, folder / CODEBOOK, folder / INSTRUCTIONS]


def _rows(item: SheetItem, book: Codebook) -> Iterator[dict[str, str]]:
    """One row for each question about a text; the text itself stands in the first."""
    text = {"prompt": item.prompt, "text": item.text}
    for question in book.questions:
        if question.slot and question.slot not in item.roles:
            continue
        is_code = question.kind == "code"
        role = "" if is_code else item.roles.get(question.key.partition("_")[0])
        yield {
            "text_id": item.text_id,
            "unit": item.unit,
            "field": question.key,
            "question": question.name + (f" ({role})" if role else ""),
            "choices": YES_OR_NO if is_code else "; ".join(question.choices),
            # A code that nobody decided is no "no"
            "needed": "yes" if is_code or question.needed else "",
            **text,
        }
        text = {}
