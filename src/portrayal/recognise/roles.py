"""Roles: which column holds the texts, which the requests, who was asked about, and the like."""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from portrayal.collect.fields import MOST_VALUES
from portrayal.collect.sources import TextSource
from portrayal.collect.tables import missing_column
from portrayal.errors import DataError, OptionError
from portrayal.recognise.columns import LONG, WORDS, InputColumn, InputTable, words_of_name

FIELDS = ("text", "prompt", "model", "pair", "source", "name", "reference", "group")
"""What a user may map to a column."""
MARGIN = 0.25
"""How far the likeliest column of texts must stand before the next one, else it is asked for."""
MOST_MODELS = 100


@dataclass(kw_only=True)
class ColumnRoles:
    """What each column of a table was taken for; None and () where no column is.

    Attributes
    ----------
    text, model, name, reference
        The column of each.
    prompts
        Columns that together are the request, a system prompt first.
    pairs, sources
        Columns that the user named for these.
    groups, results
        Columns of groups: who was asked about, and what somebody read in the texts.
    shared
        Long columns of which several texts hold the same value.
    scores
        Columns of numbers, or yes and no, that are compared.
    ignored
        Columns that are set aside, with the reason.
    """

    text: InputColumn
    prompts: tuple[InputColumn, ...] = ()
    model: InputColumn | None = None
    name: InputColumn | None = None
    reference: InputColumn | None = None
    pairs: InputColumn | None = None
    sources: InputColumn | None = None
    groups: list[InputColumn] = field(default_factory=list)
    results: list[InputColumn] = field(default_factory=list)
    shared: list[InputColumn] = field(default_factory=list)
    scores: list[InputColumn] = field(default_factory=list)
    ignored: dict[str, str] = field(default_factory=dict)

    @property
    def used(self) -> set[str]:
        """Names of the columns that have a role."""
        single = (self.text, self.model, self.name, self.reference, self.pairs, self.sources)
        several = (*self.prompts, *self.groups, *self.results, *self.shared, *self.scores)
        return {c.name for c in (*single, *several) if c is not None} | {*self.ignored}


def roles_of(
    table: InputTable, by: Sequence[str], columns: Mapping[str, str], scores: Sequence[str]
) -> ColumnRoles:
    """Return the roles of a table's columns; what the user says goes before every rule.

    Raises
    ------
    DataError
        When no column holds texts or two may, or one that is named does not exist.
    OptionError
        When a field does not exist, or a score is no number and no yes or no.
    """
    explicit = _explicit(table, columns)
    text, long = _text(table, explicit.get("text"))
    roles = ColumnRoles(text=text)
    roles.model, roles.name = explicit.get("model"), explicit.get("name")
    roles.pairs, roles.sources = explicit.get("pair"), explicit.get("source")
    roles.reference = explicit.get("reference")
    _long_columns(roles, table, long, explicit)
    _short_columns(roles, table, by, scores)
    if "group" in explicit and not by:
        roles.groups = [explicit["group"]]
    return roles


def _explicit(table: InputTable, columns: Mapping[str, str]) -> dict[str, InputColumn]:
    """The columns that the user named, by their field."""
    for name, column in columns.items():
        if name not in FIELDS:
            raise OptionError(
                f"{name!r} is not a field that can be mapped; fields: {', '.join(FIELDS)}."
            )
        if column not in table.columns:
            raise missing_column(table.source, column, f"--column {name}=NAME")
    return {name: table.columns[column] for name, column in columns.items()}


def text_column(source: TextSource, other_columns: Collection[str]) -> str:
    """Return the column of a source that holds texts, by its values and its name.

    Parameters
    ----------
    source
        Its rows.
    other_columns
        Columns that hold something else.

    Raises
    ------
    DataError
        When no column holds texts, or two may.

    Examples
    --------
    >>> from portrayal.collect.sources import open_source
    >>> rows = [{"job": job, "gpt_gen": f"Ann is a {job} of note."} for job in ("cook", "nurse")]
    >>> text_column(open_source(rows), {"job"})
    'gpt_gen'
    """
    table = InputTable.of(source)
    columns = {name: column for name, column in table.columns.items() if name not in other_columns}
    return _text(replace(table, columns=columns), None)[0].name


def text_score(column: InputColumn) -> float:
    """Return how much a column looks like one of texts: its name, its requests, words, values.

    Names weigh 1 for and 1 against; 100 words a text .4; texts that all differ .3.
    """
    against = any(map(column.called, ("prompt", "explanation", "reference", "outcome")))
    name = column.called("text") - 1.0 * against - 0.5 * column.called("source")
    request = 1.0 if column.requests > 0.6 and column.length < 60 else 0.0
    words = min(math.log10(max(column.length, 1.0)), 2.5) / 5
    return name - request + words + 0.3 * column.share_distinct


def _text(table: InputTable, explicit: InputColumn | None) -> tuple[InputColumn, list[InputColumn]]:
    """The column of texts, and all long columns."""
    long = [
        column
        for column in table.columns.values()
        if not column.is_number and (column.length >= LONG or column is explicit)
    ]
    scalar_columns = [column for column in long if not column.holds_lists]
    candidates = [c for c in scalar_columns if len(c.counts) > 1 or table.n_rows == 1]
    # Answers of a word or two are texts only by their name
    candidates = candidates or [
        c
        for c in table.columns.values()
        if c.words[-1] in WORDS["text"]
        and (len(c.counts) > MOST_VALUES or c.share_distinct > 0.2)
        and not (c.is_score or c.models > 0.6)
    ]
    # Texts that are all the same are refused as such
    candidates = candidates or scalar_columns
    if explicit is not None:
        return explicit, long
    ranked = sorted(candidates, key=text_score, reverse=True)
    if not ranked or (ranked[0].requests > 0.6 and text_score(ranked[0]) < 0):
        names = ", ".join(map(repr, table.source.columns[:30]))
        requests = f" ({ranked[0].name!r} holds requests)" if ranked else ""
        raise DataError(
            f"{table.source.name}: no column holds texts{requests}; found {names}. Name yours "
            "with --column text=NAME."
        )
    best = text_score(ranked[0])
    if len(likely := [c.name for c in ranked if best - text_score(c) < MARGIN]) > 1:
        raise DataError(
            f"{table.source.name}: the columns {' and '.join(map(repr, likely))} may hold the "
            f"texts. Say which one with --column text={likely[0]}."
        )
    return ranked[0], long


def _long_columns(
    roles: ColumnRoles,
    table: InputTable,
    long: Iterable[InputColumn],
    explicit: Mapping[str, InputColumn],
) -> None:
    """Requests, references and shared sources, in the order in which names and values tell."""
    requests = [explicit["prompt"]] if "prompt" in explicit else []
    assigned = {c.name for c in (roles.text, *explicit.values())}
    for column in table.columns.values():
        if column.name in assigned or column.is_number:
            continue
        asks = column.called("prompt") and (column.length >= 2 or column.requests > 0.6)
        if column not in long and not asks:
            continue
        if column.called("explanation") and not column.called("prompt"):
            roles.ignored[column.name] = "explanation"
        elif asks or column.requests > 0.6:
            if "prompt" not in explicit:
                requests.append(column)
        elif column.called("reference") and roles.reference is None:
            roles.reference = column
        elif _covered(column, roles.text) > 0.9:
            roles.ignored[column.name] = "copy of the texts"
        elif column.share_distinct <= 0.7:
            roles.shared.append(column)
        else:
            roles.ignored[column.name] = "not audited"
    # A system prompt stands before what is asked
    roles.prompts = tuple(sorted(requests, key=lambda c: "system" not in c.words))


def _covered(column: InputColumn, text: InputColumn) -> float:
    """Share of a column's words that stand in the text of their row."""
    inside = total = 0
    for value, whole_text in [*zip(column.cells, text.cells, strict=True)][:200]:
        words = set(words_of_name(whole_text))
        value_words = words_of_name(value)
        inside += sum(word in words for word in value_words)
        total += len(value_words)
    return inside / max(total, 1)


def _short_columns(
    roles: ColumnRoles, table: InputTable, by: Sequence[str], scores: Sequence[str]
) -> None:
    """Models, names, scores and groups; constants and results are set aside."""
    compared = [part for names in by for part in names.split("*")]
    for name in (*scores, *compared):
        if name not in table.columns:
            raise missing_column(table.source, name, "--by" if name in compared else "--score")
    for column in table.columns.values():
        if column.name in scores:
            if not column.is_score:
                values = zip(column.looked_at, column.numbers, strict=True)
                example = next((v for v, number in values if math.isinf(number)), "no value")
                raise OptionError(
                    f"--score {column.name} holds {example[:40]!r}; a score is a number, or yes "
                    "or no."
                )
            roles.scores.append(column)
        elif column.name not in compared and column.name not in roles.used:
            _assign(roles, column)
    for column in table.columns.values() if roles.name is None and roles.prompts else ():
        # Names under another header count where requests name them
        if column.name not in roles.used and column.names > 0.6:
            pairs = zip(column.cells, roles.prompts[-1].cells, strict=True)
            if sum(bool(name) and name in prompt for name, prompt in pairs) > table.n_read / 2:
                roles.name = column
                break


def _assign(roles: ColumnRoles, column: InputColumn) -> None:
    """Give a short column its role, if it has one."""
    if roles.model is None and _is_model(column):
        roles.model = column
    elif len(column.counts) == 1:
        roles.ignored[column.name] = "one value"
    elif column.called("name") and not column.is_group and column.names > 0.5:
        roles.name = roles.name or column
    elif is_group_column(column):
        if column.called("outcome") or column.has_unknown or _is_extract(column, roles.text):
            roles.results.append(column)
        # Ages and other amounts are no groups; 0 and 1 may be
        elif column.is_number and any(len(value) > 1 for value in column.counts):
            roles.ignored[column.name] = "numbers"
        else:
            roles.groups.append(column)
    elif column.called("outcome"):
        roles.ignored[column.name] = "a result"
    elif column.is_score and column.called("score"):
        roles.scores.append(column)


def _is_model(column: InputColumn) -> bool:
    few = len(column.counts) <= MOST_MODELS and column.length < LONG
    by_name = column.called("model") and not column.is_score
    return few and (by_name or (column.models > 0.6 and not column.called("id")))


def is_group_column(column: InputColumn) -> bool:
    """Return whether a column says of whom texts are, by its values or its name.

    >>> is_group_column(InputColumn("wording", ("she/her", "he/him")))
    True
    """
    if len(column.counts) > MOST_VALUES or column.length >= LONG or column.called("counter"):
        return False
    by_name = column.called("group") and not column.called("id")
    return column.is_group or (by_name and not column.called("score"))


def _is_extract(column: InputColumn, text: InputColumn) -> bool:
    """Whether values are pieces of the texts, written as they stand there ("His", "his")."""
    if len({value.casefold() for value in column.counts}) == len(column.counts):
        return False
    rows = [(v, t) for v, t in zip(column.cells, text.cells, strict=True) if v and t][:200]
    return all(re.search(rf"\b{re.escape(value)}\b", text_cell) for value, text_cell in rows)


def asked_for(column: InputColumn) -> bool:
    """Return whether a column's name says that its groups were asked for ("user_gender")."""
    return not WORDS["asked"].isdisjoint(column.words)
