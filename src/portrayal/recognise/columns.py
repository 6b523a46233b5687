"""Columns of a table: what each holds, by its name and by its values."""

import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from portrayal.annotate.exchange import NOTHING
from portrayal.collect.fields import MOST_VALUES
from portrayal.collect.logs import Row
from portrayal.collect.sources import TextSource
from portrayal.collect.tables import has_decimal_commas, label, missing, number_of
from portrayal.errors import DataError
from portrayal.reference.factors import ColumnSource, factors, load_factor, spelling_key
from portrayal.reference.groups import FEMININE, MASCULINE
from portrayal.reference.matching import name_key
from portrayal.reference.names import gender_shares, name_table

ROWS_READ, BLOCK = 20_000, 100
"""Rows that are looked at one by one; of those after them only blocks, ever fewer."""
LOOKED_AT = 1_000
"""Values of a column whose words are read."""
LONG = 4.0
"""Mean words of a cell from which on a column may hold texts."""
_OWN_FILES = (
    ({"measure", "statistic", "n_clusters"}, "estimates"),
    ({"text_id", "n_mentions", "main", "writer"}, "people"),
)

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WORDS = {name: frozenset(text.split()) for name, text in _FILE.items() if name != "model_values"}
_MODEL = re.compile(_FILE["model_values"], re.IGNORECASE)
WORD = re.compile(r"[\w-]+")
_NAME_PARTS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in small letters.

    >>> words_of_name("chatgpt_gen"), words_of_name("userGender")
    (('chatgpt', 'gen'), ('user', 'gender'))
    """
    folded = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name)).replace("_", " ").casefold()
    return tuple(_NAME_PARTS.findall(folded))


@dataclass(frozen=True, eq=False)
class InputColumn:
    """A column of the rows that are looked at.

    Attributes
    ----------
    name
        As the file has it.
    cells
        Its cell in each row; "" where it is blank.
    """

    name: str
    cells: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return words_of_name(self.name)

    @cached_property
    def counts(self) -> Counter[str]:
        """How often it holds each value, blanks aside."""
        counts = Counter(self.cells)
        del counts[""]
        return counts

    @cached_property
    def looked_at(self) -> tuple[str, ...]:
        """Some of its values, from all of the rows."""
        values = (*self.counts,)
        return values[:: max(1, len(values) // LOOKED_AT)]

    @cached_property
    def length(self) -> float:
        """Mean words of a value; two letters are a word in scripts without spaces."""
        lengths = [len(v.split()) + len(_SPACELESS.findall(v)) / 2 for v in self.looked_at]
        return sum(lengths) / max(len(lengths), 1)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """What those values say as scores (`portrayal.collect.tables.number_of`)."""
        is_comma = has_decimal_commas(self.looked_at)
        return tuple(number_of(value, decimal_comma=is_comma) for value in self.looked_at)

    @cached_property
    def is_number(self) -> bool:
        """Whether it holds numbers, and no words but of what is missing."""
        return self.is_score and any(value[-1] in "0123456789%." for value in self.looked_at)

    @property
    def is_score(self) -> bool:
        """Whether it holds numbers, or yes and no in any of their words."""
        return any(map(math.isfinite, self.numbers)) and not any(map(math.isinf, self.numbers))

    @property
    def holds_lists(self) -> bool:
        """Whether its values are lists as programs print them, such as of a text's sentences."""
        return all(value[0] + value[-1] == "[]" for value in self.looked_at)

    @property
    def share_distinct(self) -> float:
        """Distinct values per row that has one."""
        return len(self.counts) / max(self.counts.total(), 1)

    def called(self, role: str) -> bool:
        """Whether a word of its name is one of a role's."""
        return not WORDS[role].isdisjoint(self.words)

    @cached_property
    def requests(self) -> float:
        """Share of values that ask for something: they begin as requests do, or end so."""
        asking = [
            words_of_name(v[:40])[:1] and words_of_name(v[:40])[0] in WORDS["requests"]
            for v in self.looked_at
        ]
        asks = [ask or v.endswith("?") for ask, v in zip(asking, self.looked_at, strict=True)]
        return sum(map(bool, asks)) / max(len(asks), 1)

    @cached_property
    def models(self) -> float:
        """Share of values that look like the name of a model, or of people as its authors."""
        authors = [bool(_MODEL.search(v)) or v.casefold() in WORDS["human"] for v in self.looked_at]
        named_models = [bool(_MODEL.search(v)) for v in self.looked_at]
        return sum(authors) / max(len(authors), 1) if any(named_models) else 0.0

    @cached_property
    def names(self) -> float:
        """Share of values that begin with a first name of the census, in capitals."""
        first = [v.split()[0] for v in self.looked_at if v[:1].isupper() and len(v.split()) < 4]
        return sum(map(is_first_name, first)) / max(len(self.looked_at), 1)

    @cached_property
    def factors(self) -> dict[str, frozenset[tuple[str, str]]]:
        """Value → the factors and groups it is a word of; of values that are such words."""
        if len(self.counts) > MOST_VALUES or self.is_number:
            return {}
        return {v: groups for v in self.counts if (groups := groups_in(v))}

    @cached_property
    def is_group(self) -> bool:
        """Whether most of its values are words of a factor; single letters only if all are."""
        telling = [v for v in self.counts if v.strip().casefold() not in NOTHING | WORDS["unknown"]]
        named_groups = {groups for v in telling if (groups := self.factors.get(v))}
        # "black" and "white" beside "red" are colours
        colours = any(value.casefold() in WORDS["colours"] for value in telling)
        if not named_groups or len(self.counts) < 2 or colours:
            return False
        least = 1.0 if all(len(value) == 1 for value in telling) else 0.6
        several = len(named_groups) > 1 or len(telling) < len(self.counts)
        return several and sum(v in self.factors for v in telling) >= least * len(telling)

    @property
    def is_joint(self) -> bool:
        """Whether values are of several factors at once ("Black woman")."""
        return any(len(groups) > 1 for groups in self.factors.values())

    @property
    def factor_names(self) -> tuple[str, ...]:
        """The factors its values are words of, the most frequent first."""
        names = Counter(name for groups in self.factors.values() for name, _ in sorted(groups))
        return tuple(name for name, _ in names.most_common())

    @property
    def has_unknown(self) -> bool:
        """Whether it holds a word such as "unclear", by which somebody says what a text tells."""
        folded = {"_".join(value.casefold().split()) for value in self.counts}
        return not folded.isdisjoint(WORDS["unknown"])


@cache
def group_lexicon() -> dict[str, tuple[str, str]]:
    """Return every word of the factors that ship, in small letters, with its factor and group."""
    lexicon: dict[str, tuple[str, str]] = {}
    for factor in map(load_factor, factors()):
        word_lists = [((g.key, g.label, *g.also), g.key) for g in factor.groups]
        for source in factor.sources:
            word_lists += [(words, group) for group, words in getattr(source, "listed", {}).items()]
            if isinstance(source, ColumnSource):
                word_lists += [((spelling,), group) for spelling, group in source.values.items()]
        for words, group in word_lists:
            for word in words:
                lexicon.setdefault(spelling_key(word), (factor.name, group))
    return lexicon


def bare(value: str) -> str:
    """Return a value without its article, and without "user", "person" and their like.

    >>> bare("a Black user"), bare("the_person")
    ('black', 'the person')
    """
    words = value.replace("_", " ").casefold().split()
    return " ".join(word for word in words if word not in WORDS["people"]) or " ".join(words)


@cache
def groups_in(value: str) -> frozenset[tuple[str, str]]:
    """Return the factors and groups that a value is a word of, or all of its words are."""
    lexicon, plain = group_lexicon(), bare(value)
    phrase = lexicon.get(plain) or lexicon.get(plain.replace(" ", "-"))
    if phrase or not plain:
        return frozenset((phrase,)) if phrase else frozenset()
    parts = [lexicon.get(word) for word in re.split(r"[ ,;/×&+-]+", plain)]
    return frozenset(part for part in parts if part) if all(parts) else frozenset()


@cache
def groups_named(prompt: str) -> frozenset[tuple[str, str]]:
    """Return the factors and groups of which words, or phrases of up to three, stand in a request.

    >>> sorted(groups_named("Describe a deaf woman."))
    [('disability', 'hearing'), ('gender', 'F')]
    """
    words, lexicon = WORD.findall(prompt.casefold()), group_lexicon()
    phrases = [" ".join(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) - n + 1)]
    return frozenset(lexicon[phrase] for phrase in phrases if len(phrase) > 1 and phrase in lexicon)


@cache
def _first_names() -> frozenset[str]:
    return frozenset(name_table().listed[0])


def is_first_name(word: str) -> bool:
    """Whether the census lists a word as a first name."""
    return len(word) > 1 and word.strip(".,;:!?'’").casefold() in _first_names()


GENDER, LEAST_SHARE = "gender", 0.8
"""The factor that first names tell, and the share of bearers from which on they do."""


def gender_of_name(name: str) -> str:
    """Return the gender of four of five bearers of a first name; "" where there is no such.

    >>> gender_of_name("Kelly Smith"), gender_of_name("Jordan")
    ('women', '')
    """
    words = [word for word in name.split() if not word.endswith(".")]
    key = name_key(words[0]) if words else ""
    for gender in (FEMININE, MASCULINE):
        if gender_shares(gender).get(key, 0.0) >= LEAST_SHARE:
            return group_label(GENDER, gender)
    return ""


def group_label(factor: str, group: str) -> str:
    """Return a group's plain word, where the factor knows the group by it; else its key.

    >>> group_label("gender", load_factor("gender").keys[0])
    'women'
    """
    record = load_factor(factor)
    plural = record.said("plural")[group]
    return plural if record.find(plural) == group else group


@dataclass(frozen=True, eq=False)
class InputTable:
    """The rows that are looked at.

    Attributes
    ----------
    source
        Where they are from.
    columns
        Name → column, blank names and columns without a value left out.
    n_rows
        Rows of the whole source.
    n_read
        Rows that are looked at.
    """

    source: TextSource
    columns: Mapping[str, InputColumn]
    n_rows: int
    n_read: int

    @classmethod
    def of(cls, source: TextSource) -> "InputTable":
        """Look at a source: its first rows, and blocks of those after them.

        Raises
        ------
        DataError
            When it is a file of estimates or people that Portrayal wrote.
        """
        for names, kind in _OWN_FILES:
            if names <= {*source.columns}:
                raise DataError(
                    f"{source.name} holds {kind} that Portrayal wrote; expected texts. Name the "
                    "file they were made from."
                )
        n_rows, rows = 0, list[Row]()
        for row in source.rows():
            block = n_rows // BLOCK
            # Whole blocks, as pairs often stand side by side
            if n_rows < ROWS_READ or block % (block * BLOCK // ROWS_READ) == 0:
                rows.append(row)
            n_rows += 1
        headers = [name for name in source.columns if name.strip()]
        columns = [
            InputColumn(name, tuple(cell(row.get(name)) for row in rows)) for name in headers
        ]
        return cls(source, {c.name: c for c in columns if c.counts}, n_rows, len(rows))

    def settings(self, used: Collection[str]) -> Iterator[InputColumn]:
        """Yield short columns of few values that are not used: temperatures, forms, places."""
        for column in self.columns.values():
            few = 1 < len(column.counts) <= MOST_VALUES
            if few and column.name not in used and column.length < LONG:
                yield column


def cell(value: Any) -> str:
    """Return a cell as text; "" where it is blank or a list or object."""
    if isinstance(value, str):
        return value.strip()
    if missing(value) or isinstance(value, (Mapping, list, tuple, set, bytes)):
        return ""
    return (label(value) or "").strip()


def crossing(keys: Iterable[object], groups: Iterable[object]) -> tuple[int, int, float]:
    """How many blocks there are, how many hold two groups, and the share of rows in these.

    >>> crossing(["a", "a", "b", "b"], ["F", "M", "F", "F"])
    (2, 1, 0.5)
    """
    counts: dict[object, Counter[object]] = {}
    for key, group in zip(keys, groups, strict=True):
        if key and group:
            counts.setdefault(key, Counter())[group] += 1
    both = [by_group.total() for by_group in counts.values() if len(by_group) > 1]
    total = sum(by_group.total() for by_group in counts.values())
    return len(counts), len(both), sum(both) / max(total, 1)
