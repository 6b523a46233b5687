"""Wide tables: columns of texts side by side, whose names differ by a group or a model alone."""

from collections import defaultdict
from collections.abc import Sequence

from portrayal.collect.sources import TextSource
from portrayal.collect.tables import missing_column
from portrayal.errors import OptionError
from portrayal.recognise.columns import (
    LONG,
    WORDS,
    InputColumn,
    InputTable,
    group_lexicon,
    words_of_name,
)
from portrayal.recognise.roles import text_score
from portrayal.recognise.rows import unfolded

ROW = "row of the table"
Sides = dict[str, dict[str, str]]


def sides_of(table: InputTable, by: Sequence[str]) -> tuple[Sides, str] | None:
    """Return value of a side → new column → column, and what sides differ in; None where none do.

    Parameters
    ----------
    table
        The rows that are looked at.
    by
        Columns that the user compares: where all of them hold texts, they are the sides.

    Raises
    ------
    OptionError
        Where some of `by` hold texts and others groups.
    """
    for name in by:
        if "*" not in name and name not in table.columns:
            raise missing_column(table.source, name, "--by")
    columns = table.columns.values()
    long = [c for c in columns if c.length >= LONG and not c.is_number and len(c.counts) > 1]
    by_user = [column for column in long if column.name in by]
    if len(by_user) > 1:
        if len(by_user) < len(by):
            raise OptionError("--by names columns of texts and of groups; give either.")
        return {column.name: {"text": column.name} for column in by_user}, "group"
    by_rest: dict[tuple[str, tuple[str, ...]], list[tuple[str, str, str]]] = defaultdict(list)
    for column in long:
        for kind, side, other_words in _parts(column):
            by_rest[kind, other_words].append((kind, side, column.name))
    sides: Sides = {}
    best = ""
    for (kind, other_words), members in by_rest.items():
        # Each side once, and at least two of them
        if len({side for _, side, _ in members}) == len(members) > 1:
            best = best or kind
            for _, side, name in members if kind == best else ():
                sides.setdefault(side, {})["_".join(other_words) or "text"] = name
    full = {side: names for side, names in sides.items() if names}
    return (full, best) if len(full) > 1 and _has_texts(table, full) else None


def _parts(column: InputColumn) -> list[tuple[str, str, tuple[str, ...]]]:
    """Factor or "model", the words of it in a column's name, and the other words."""
    lexicon, words = group_lexicon(), words_of_name(column.name)
    parts = []
    for factor in dict.fromkeys(lexicon[word][0] for word in words if word in lexicon):
        inside = [w for w in words if w in lexicon and lexicon[w][0] == factor and len(w) > 1]
        other_words = tuple(word for word in words if word not in inside)
        if inside:
            parts.append((factor, " ".join(inside), other_words))
    models = [word for word in words if InputColumn("", (word,)).models]
    if models and not parts:
        # A version stands behind the name of its model: "gpt", "4", "o"
        other_words = tuple(w for w in words if w in WORDS["text"] or w in WORDS["prompt"])
        version = [word for word in words if word not in other_words]
        parts.append(("model", " ".join(version), other_words))
    return parts


def _has_texts(table: InputTable, sides: Sides) -> bool:
    """Whether the sides hold texts, and not only requests of texts that stand in another column."""
    inside = [table.columns[name] for names in sides.values() for name in names.values()]
    outside = [c for c in table.columns.values() if c not in inside and c.length >= LONG]
    best_outside = max((text_score(column) for column in outside), default=-1.0)
    return max(map(text_score, inside)) > best_outside - 0.5


def unfold(source: TextSource, sides: Sides, kind: str) -> TextSource:
    """Return a source with one text a row, and columns that say of which side and row it is."""
    column = kind if kind not in source.columns else f"{kind} of the text"
    return unfolded(source, sides, column, ROW)
