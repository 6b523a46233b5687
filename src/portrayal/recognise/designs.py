"""The door: from a table to the comparison that it allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from portrayal.collect.outcomes import outcome_of
from portrayal.collect.sources import TextSource
from portrayal.errors import DataError
from portrayal.recognise.choice import Choice, Chooser, Comparison
from portrayal.recognise.columns import InputTable
from portrayal.recognise.lines import lines_of
from portrayal.recognise.roles import roles_of
from portrayal.recognise.wide import ROW, sides_of, unfold
from portrayal.reference.factors import load_factor

MOST_SPLIT = 6
"""Values of a column up to which people are compared by it without being asked to."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A comparison and the rows that it takes.

    Attributes
    ----------
    study
        "pairs", "people", or a registered study whose prompts the file has.
    texts
        The rows, made one after the other; their digest is of the file and of what was made of it.
    columns
        Field of the study → column of `texts`.
    options
        Options of the study.
    lines
        What the file was taken for, at most five lines.
    comparison
        pairs, templates, originals, groups, people or study.
    question
        What must be answered before an audit, as two readings give different sentences; "" where
        nothing must.
    """

    study: str
    texts: TextSource
    columns: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...]
    comparison: Comparison
    question: str = ""


def recognise(
    source: TextSource,
    *,
    by: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    scores: Sequence[str] = (),
    asked: bool = False,
) -> Design:
    """Return the comparison that a table allows, by its columns.

    Parameters
    ----------
    source
        The rows, as `portrayal.collect.sources.open_source` gives them.
    by
        Columns of groups, "race*gender" for each of both; or columns of texts side by side. They go
        before every rule.
    columns
        Field (`portrayal.recognise.roles.FIELDS`) → column; before every rule, too.
    scores
        Columns of numbers, or yes and no, that are compared beside those whose names say so.
    asked
        Whether groups that look as if somebody read them in the texts were asked for.

    Raises
    ------
    DataError
        When no column holds texts, a column is missing, all texts are blank or refused, or the file
        is one of estimates or people that Portrayal wrote.
    OptionError
        When a column of groups has one value, or too many.

    Examples
    --------
    >>> from portrayal.collect.sources import open_source
    >>> rows = [
    ...     {"prompt": f"Describe a {gender} {job}.", "gender": gender, "answer": answer}
    ...     for gender, job, answer in [
    ...         ("female", "cook", "Ann cooks well, and all of them like it."),
    ...         ("male", "cook", "Bob cooks in a large hotel near the sea."),
    ...         ("female", "nurse", "Eve works at night, and sleeps by day."),
    ...         ("male", "nurse", "Tom likes his work, and seldom is late."),
    ...     ]
    ... ]
    >>> design = recognise(open_source(rows))
    >>> design.comparison, design.options
    ('templates', {'group': ('gender',)})
    """
    table = InputTable.of(source)
    explicit = dict(columns or {})
    if (sides := sides_of(table, by)) is not None:
        table = InputTable.of(unfold(source, *sides))
        if sides[1] != "model":
            explicit.setdefault("pair", ROW)
            wide = {name for columns in sides[0].values() for name in columns.values()}
            by = tuple(name for name in by if name not in wide)
    roles = roles_of(table, by, explicit, scores)
    _check_texts(table, roles.text.cells)
    choice = Chooser(table, roles, asked, tuple(by)).choice()
    return _design(table, choice, lines_of(table, roles, choice))


def _check_texts(table: InputTable, texts: Sequence[str]) -> None:
    """Refuse texts of which none can be read."""
    if len({*texts}) == 1 < table.n_rows and texts[0]:
        raise DataError(
            f"{table.source.name}: all {table.n_rows:,} texts are the same ({texts[0][:60]!r}); "
            "expected answers that differ. Is this the right column? --column text=NAME"
        )
    outcomes = {outcome_of(text) for text in texts[:200]}
    if "ok" not in outcomes and outcomes == {outcome_of(text) for text in texts}:
        kinds = " or ".join(sorted(outcomes))
        raise DataError(
            f"{table.source.name}: all {table.n_rows:,} texts are {kinds}; expected answers that "
            "can be compared. Is this the right column? --column text=NAME"
        )


def _of_people(table: InputTable, further: Sequence[str]) -> dict[str, Any]:
    """Columns by which people are split, and the one that says their gender, to check it."""
    gender = load_factor("gender")
    values = {name: table.columns[name].counts for name in further if name in table.columns}
    check = next((n for n, counts in values.items() if any(map(gender.find, counts))), None)
    by = tuple(n for n, counts in values.items() if n != check and 1 < len(counts) <= MOST_SPLIT)
    return {"by": by} | ({"check": check} if check else {})


def _design(table: InputTable, choice: Choice, lines: tuple[str, ...]) -> Design:
    if choice.question or choice.comparison == "study":
        # As they are: a study reads its own columns, and only unusual names must be said
        recipe, texts = choice.recipe, table.source
        fields = {"text": recipe.text, "prompt": "".join(recipe.prompts[:1]), "model": recipe.model}
        fields = {name: column for name, column in fields.items() if column}
        options: dict[str, Any] = {}
    else:
        texts, fields = choice.recipe.source_of(table.source), choice.recipe.fields.copy()
        groups = choice.recipe.group_names
        options = {"group": tuple(groups.values())} if groups else {}
        if choice.comparison == "people":
            options |= _of_people(table, choice.recipe.further)
            # Of people it is an option, and no field
            if source := fields.pop("source", ""):
                options["source"] = source
        elif scores := choice.recipe.further:
            options |= {"score": scores}
        options |= {"apart": True} if choice.recipe.is_unpaired else {}
    return Design(
        study=choice.study,
        texts=texts,
        columns=fields,
        options=options,
        lines=lines,
        comparison=choice.comparison,
        question=choice.question,
    )
