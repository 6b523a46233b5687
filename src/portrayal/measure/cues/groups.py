"""Groups that the texts of a file show, to try a factor's words and labels before an audit."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from portrayal.annotate.group_labels import said_of
from portrayal.annotate.groups import group_reader, group_settings, text_sources
from portrayal.collect.fields import TextFields, map_columns
from portrayal.collect.outcomes import outcome_of
from portrayal.collect.sources import open_source
from portrayal.collect.tables import label, story
from portrayal.errors import OptionError
from portrayal.measure.cues.search import WINDOW
from portrayal.reference.factors import (
    ColumnSource,
    Factor,
    Source,
    WordSource,
    load_factor,
)
from portrayal.types import Tabular

_FIELDS = TextFields(strata=(), required=())


class GroupMention(NamedTuple):
    """What shows a group, or could not be told, in one text.

    Attributes
    ----------
    text_id, factor, source
        Whose text, and what saw it.
    group
        Key of the group; "(none)" or "(unknown)" where a cell says so or says nothing known.
    found
        The words as the text has them, or the cell.
    start, end
        Place in the text, in characters; None for a cell.
    before, after
        Context of up to `WINDOW` characters.
    """

    text_id: str
    factor: str
    source: str
    group: str
    found: str
    start: int | None = None
    end: int | None = None
    before: str = ""
    after: str = ""


@dataclass
class GroupObservations:
    """What the texts of a file show of one source of a factor.

    Attributes
    ----------
    factor, source
        What sees it.
    n_texts
        Status → texts: "group", "several", "none", "unknown", "unread".
    of_group
        Group → texts that show it.
    found
        Group, "(none)" or "(unknown)" → what was found, in lower case → times.
    """

    factor: Factor
    source: Source
    n_texts: Counter[str] = field(default_factory=Counter)
    of_group: Counter[str] = field(default_factory=Counter)
    found: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def observed_groups(
    path: Tabular, factors: Sequence[str], columns: Mapping[str, str] | None = None
) -> tuple[list[GroupObservations], list[GroupMention]]:
    """Return which groups texts show by the words and columns of factors, and where.

    Parameters
    ----------
    path
        What `portrayal.collect.sources.open_source` reads.
    factors
        Names of factors that ship, or paths of TOML files.
    columns
        Field → column for `text` and `text_id`, over what is guessed from well-known names.

    Returns
    -------
    tuple
        For each source what was counted, and every mention in the order of the texts.

    Raises
    ------
    OptionError
        When no factor has words or a column that texts can show.
    DataError, UnknownNameError
        When the file or a factor cannot be read.
    """
    read = [load_factor(factor_spec) for factor_spec in group_settings(factors)["factors"]]
    source = open_source(path)
    # Numbered before some are left out: the reader answers for every source, in this order
    observed = [
        (number, GroupObservations(factor, text_source))
        for number, (factor, text_source) in enumerate(text_sources(read))
        if isinstance(text_source, WordSource)
        or (isinstance(text_source, ColumnSource) and text_source.column in source.columns)
    ]
    if not observed:
        kinds = sorted({any_source.kind for factor in read for any_source in factor.sources})
        raise OptionError(
            f"{', '.join(factor.name for factor in read)}: nothing to look for in {source.name}. "
            f"Expected words or a column of the file; its sources are {', '.join(kinds)}."
        )
    names = map_columns(_FIELDS, source.columns, columns=columns, file=source.name)
    looked_at = sorted({getattr(one.source, "column", "") for _, one in observed} - {""})
    # The reader of an audit, so that what is tried here is what an audit sees
    reader = group_reader(read)
    mentions: list[GroupMention] = []
    for number, row in enumerate(source.rows(), 1):
        text = story(row.get(names["text"]), source.name, number) or ""
        text_name = row.get(names["text_id"]) if "text_id" in names else None
        text_id = label(text_name, source.name, number) or str(number)
        cells = {name: label(row.get(name), source.name, number) or "" for name in looked_at}
        read_row = {"text": text, "text_id": text_id, "outcome": outcome_of(text), "columns": cells}
        result = reader([read_row], [{}])[0]
        responses = said_of(result["said"])
        entries = {(one["factor"], one["source"]): one for one in result["seen"]}
        for place, observed_source in observed:
            observed_source.n_texts[responses[place][0].status] += 1
            for mention in _mentions(text_id, text, observed_source, entries):
                observed_source.found[mention.group][mention.found.casefold()] += 1
                mentions.append(mention)
    return [observation for _, observation in observed], mentions


def _mentions(
    text_id: str,
    text: str,
    observation: GroupObservations,
    entries: Mapping[tuple[str, str], Mapping[str, Any]],
) -> Iterator[GroupMention]:
    """What a source saw in one text; counts the text for its groups."""
    place = text_id, observation.factor.name, observation.source.name
    entry = entries.get(place[1:])
    if entry is None:
        return
    observation.of_group.update(set(entry["groups"]))
    for span in entry["spans"]:
        start, end = span["start"], span["end"]
        around = text[max(0, start - WINDOW) : start], text[end : end + WINDOW]
        yield GroupMention(*place, span["group"], text[start:end], start, end, *around)
    # A cell has no place in the text: shown as it stands, also where it says no group
    if not entry["spans"] and entry["value"]:
        for group in entry["groups"] or [f"({entry['status']})"]:
            yield GroupMention(*place, group, entry["value"])
