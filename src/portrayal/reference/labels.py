"""How groups, ways of seeing and baselines of factors stand in tables, charts and sentences.

A run keeps the words of its factors in `audit.toml`, so that a report needs no file of the user's.
What prints a run does so inside `speaking_of(run.factors)`; elsewhere factors that ship speak.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

import portrayal.registry as registry
from portrayal.errors import PortrayalError
from portrayal.records import BASIS, MINUS, ORIGINAL, OTHERS
from portrayal.reference.factors import ColumnSource, Factor, Group, factors, is_color, load_factor

PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"),
    *("#882255", "#44AA99", "#999933", "#332288"),
)
"""Colours of groups that have none of their own, in their order."""
_MANNER = ("seen_by", "population", BASIS)
"""Strata that say how groups are seen, compared and corrected, not where."""
_SEEN = {
    "words": "words",
    "names": "names",
    "references": "pronouns and role words",
    "codes": "raters",
}


@dataclass(frozen=True)
class FactorLabels:
    """The words of one factor.

    Attributes
    ----------
    name, label
        Name in files, and in tables.
    groups
        Groups by key, each with a colour.
    sources, baselines
        What each way of seeing is called ("the column religion"), and where shares are from.
    digest
        Tells one content of the factor and its files from another.
    """

    name: str
    label: str
    groups: Mapping[str, Group]
    sources: Mapping[str, str] = field(default_factory=dict)
    baselines: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""


_SPOKEN: ContextVar[Mapping[str, FactorLabels]] = ContextVar("_SPOKEN", default={})  # noqa: B039
_STUDY: ContextVar[str] = ContextVar("_STUDY", default="")


@contextmanager
def speaking_of(labels: Iterable[FactorLabels], study: str = "") -> Iterator[None]:
    """Name groups by these factors inside the block, and by those that ship beside them.

    Places and roles are called as `study` says, a registered name or the path of its file.

    >>> with speaking_of([FactorLabels("faith", "Faith", {"sun": Group("sun", "Of the sun")})]):
    ...     group_label("faith", "sun")
    'Of the sun'
    """
    # A context variable: pages of two runs may be written in threads at once
    token, of_study = _SPOKEN.set({factor.name: factor for factor in labels}), _STUDY.set(study)
    try:
        yield
    finally:
        _SPOKEN.reset(token)
        _STUDY.reset(of_study)


def study_words(study: str = "") -> Mapping[str, Mapping[str, str]]:
    """Return what the study that is spoken of, or else `study`, calls its places and roles.

    >>> study_words("laissez-faire")["places"]["Love"]
    'stories about love'
    """
    return _words_of(_STUDY.get() or study)


@cache
def _words_of(study: str) -> Mapping[str, Mapping[str, str]]:
    with suppress(PortrayalError, AttributeError):
        words: Mapping[str, Mapping[str, str]] = registry.get("studies", study).words
        return words
    return {}


def spoken() -> tuple[FactorLabels, ...]:
    """Return the factors that are spoken of, and after them those that ship."""
    by_name = _SPOKEN.get()
    return (*by_name.values(), *(_shipped(name) for name in factors() if name not in by_name))


def factor_shown(name: str) -> FactorLabels | None:
    """Return the words of a factor that is spoken of or ships; None of any other attribute."""
    return _SPOKEN.get().get(name) or (_shipped(name) if name in factors() else None)


def group_shown(attribute: str, key: str) -> Group | None:
    """Return a group with its label and colour; None where no factor has it."""
    factor = factor_shown(attribute)
    return None if factor is None else factor.groups.get(key)


def group_label(attribute: str, key: str) -> str:
    """Return the label of a group, as people where it has such a word; else the value itself.

    >>> group_label("gender", "F"), group_label("race", "Black"), group_label("job", "nurse")
    ('Women', 'Black', 'nurse')
    """
    if (word := group_shown(attribute, key)) is None:
        return key
    plural = word.said.get("plural", "")
    return plural[:1].upper() + plural[1:] or word.label


def people_words(value: str) -> str:
    """Return the people of a gender or race as many ("women"); of other groups the name, quoted.

    A column may call a group as the factors that ship do, or otherwise.

    >>> people_words("man"), people_words("nurse"), people_words("the others")
    ('men', '“nurse”', 'the others')
    """
    for name in ("gender", "race"):
        for group in load_factor(name).groups:
            if value.casefold() in (group.key.casefold(), group.label.casefold(), *group.also):
                return group.said.get("plural") or f"{group.label} people"
    return value if value.startswith("the ") else f"“{value}”"


def subject_of(pair: str, value: float) -> int:
    """Return which side of a difference of groups its sentence is about: 0 the first, 1 the second.

    A group beside the others, rewritten texts beside their originals, else the side with more.

    >>> subject_of("nurse − the others", -0.2), subject_of("man − woman", -0.2)
    (0, 1)
    """
    first, _, second = pair.partition(MINUS)
    references = ORIGINAL, OTHERS
    if (first in references) != (second in references):
        return int(first in references)
    return int(value < 0)


def attribute_label(attribute: str) -> str:
    """Return what an attribute is called ("Legal class"; "state" of what is no factor)."""
    factor = factor_shown(attribute)
    return attribute.replace("_", " ") if factor is None else factor.label


def place_value(name: str, value: str, group: Mapping[str, str]) -> str:
    """Return the value of a stratum in words: by what a group was seen, against what; or itself.

    A study may call its values otherwise (`words.values` of what it says of itself).

    >>> place_value("seen_by", "references", {"gender": "F"}), place_value("state", "Goa", {})
    ('by pronouns and role words', 'Goa')
    """
    if name != "seen_by":
        value = study_words().get("values", {}).get(value, value)
        return f"against {value}" if name == "population" else value
    ways = [factor.sources for key in group if (factor := factor_shown(key)) is not None]
    for sources in ways:
        if value in sources:
            return f"by {sources[value]}"
    if not ways:
        return value
    for (one, first), (other, second) in product(*(ways[i].items() for i in (0, -1))):
        if f"{one} and {other}" == value:
            return f"by {first}" if first == second else f"by {first} and {second}"
    return value


def strata_parts(
    strata: Mapping[str, str], group: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return where an estimate is of, and how its groups are seen and compared, in words.

    The model and what is pooled are left out, and so is a column where groups are seen in no other
    way.
    """
    labels = {name: v for name, v in strata.items() if name != "model" and v not in ("", "all")}
    places = (place_value(name, v, group) for name, v in labels.items() if name not in _MANNER)
    place = [words for words in places if words]
    ways = [[*f.sources.values()] for name in group if (f := factor_shown(name)) is not None]
    # Nobody asks how groups were seen where a column says them
    if ways and all(len(way) == 1 and way[0].startswith("the column ") for way in ways):
        labels.pop("seen_by", None)
    return place, [place_value(name, labels[name], group) for name in _MANNER if name in labels]


def strata_words(strata: Mapping[str, str], group: Mapping[str, str], lead: str = "") -> str:
    """Return strata in words, without the model and what is pooled.

    >>> strata_words({"state": "Goa", "seen_by": "words"}, {"religion": "hindu"}, "in ")
    'in Goa, by words'
    """
    place, manner = strata_parts(strata, group)
    return ", ".join([*([lead + ", ".join(place)] if place else []), *manner])


def kept_words(factors: Sequence[Factor]) -> list[dict[str, Any]]:
    """Return what a run keeps of its factors, for `audit.toml`."""
    rows = []
    for factor in factors:
        words = shown_of(factor)
        groups = {
            key: {"label": group.label, "color": group.color}
            | ({"said": dict(group.said)} if group.said else {})
            for key, group in words.groups.items()
        }
        # Of what the factor says and of the files that it reads, wherever they stand
        parts = (factor.digest.encode(), *(Path(path).read_bytes() for path in factor.files))
        digest = blake2b(b"\0".join(parts), digest_size=8).hexdigest()
        rows.append({**vars(words), "groups": groups, "digest": digest})
    return rows


def read_words(rows: Iterable[Mapping[str, Any]]) -> tuple[FactorLabels, ...]:
    """Return the factors whose words a run kept."""
    factors_read = []
    for row in rows:
        groups = {}
        for key, group in row["groups"].items():
            # What is no colour must not stand in a page's style.
            color = group["color"] if is_color(group["color"]) else PALETTE[0]
            groups[key] = Group(key, group["label"], color, said=group.get("said", {}))
        factors_read.append(FactorLabels(**{**row, "groups": groups}))
    return tuple(factors_read)


@cache
def _shipped(name: str) -> FactorLabels:
    return shown_of(load_factor(name))


def shown_of(factor: Factor) -> FactorLabels:
    """Return the words of a factor; a group without a colour gets one that no other group has."""
    colours_used = {group.color.casefold() for group in factor.groups}
    # Where the groups' own colours use up the palette, its colours come again.
    free = [colour for colour in PALETTE if colour.casefold() not in colours_used] or list(PALETTE)
    bare = [group.key for group in factor.groups if not group.color]
    colours = {key: free[i % len(free)] for i, key in enumerate(bare)}
    groups = {g.key: replace(g, color=g.color or colours[g.key]) for g in factor.groups}
    # What a way of seeing is called: its own name, or what its kind reads
    sources = {}
    for source in factor.sources:
        read = f"the column {source.column}" if isinstance(source, ColumnSource) else source.name
        is_kind = source.name == source.kind
        sources[source.name] = _SEEN.get(source.kind, read) if is_kind else source.name
    baselines = {b.name: ", ".join(filter(None, (b.source, b.date))) for b in factor.baselines}
    return FactorLabels(factor.name, factor.label, groups, sources, baselines)
