"""Prompts as Inspect samples: which studies have some, and choosing among them."""

import inspect
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from inspect_ai.dataset import Sample

from portrayal import registry
from portrayal.errors import OptionError, UnknownNameError
from portrayal.records import Prompt

GROUP = "portrayal.prompts"
"""Entry points that make a study's prompts: a function that returns `Prompt`s."""

Choice = str | Iterable[str] | None


def studies_with_prompts() -> tuple[str, ...]:
    """Return the names of the studies whose prompts can be asked, sorted."""
    return tuple(sorted({*registry.names("studies"), *_makers()}))


def study_prompts(study: str, options: Mapping[str, Any] | None = None) -> tuple[Prompt, ...]:
    """Return the prompts of a study.

    Parameters
    ----------
    study
        Registered name; `_` and `-` are the same.
    options
        Arguments of the study's prompt maker, such as a file of headlines.

    Raises
    ------
    OptionError
        When the maker does not take these options, or needs others.
    UnknownNameError
        Naming the studies that have prompts.
    """
    names = {name.replace("_", "-").casefold(): name for name in studies_with_prompts()}
    name = names.get(study.replace("_", "-").casefold())
    if name is None:
        raise UnknownNameError(
            f"no study with prompts is called {study!r}. Known: {', '.join(names.values())}."
        )
    maker = _makers()[name].load() if name in _makers() else registry.get("studies", name).prompts
    if not callable(maker):
        return tuple(maker)
    try:
        bound = inspect.signature(maker).bind(**(options or {}))
    except TypeError as error:
        raise OptionError(
            f"the prompts of {name} take {inspect.signature(maker)}: {error}. "
            "Give them as -T options='{NAME: VALUE}'."
        ) from None
    return tuple(maker(*bound.args, **bound.kwargs))


def _makers() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def parse_where(where: Choice) -> dict[str, list[str]]:
    """Return "FIELD=VALUE" words as field → values; "domain=Labor,Love" gives two values."""
    chosen: dict[str, list[str]] = {}
    field = ""
    for word in [where] if isinstance(where, str) else list(where or ()):
        for part in str(word).split(","):
            name, sign, value = part.rpartition("=")
            field = name.strip() if sign else field
            if not field:
                raise OptionError(f"prompts are chosen as FIELD=VALUE; got {part!r}.")
            chosen.setdefault(field, []).append(value)
    return chosen


def select(prompts: Iterable[Prompt], where: Mapping[str, Choice]) -> list[Prompt]:
    """Return the prompts whose strata have the chosen values; None chooses all.

    Raises
    ------
    OptionError
        When no prompt has that field or value, naming those there are.
    """
    chosen = list(prompts)
    for field, choice in where.items():
        if choice is None:
            continue
        values = [choice] if isinstance(choice, str) else list(choice)
        wanted = {part.strip().casefold() for value in values for part in value.split(",")}
        known = {value.casefold(): value for p in chosen if (value := p.strata.get(field))}
        if unknown := wanted - set(known):
            raise OptionError(
                f"{field} has no value {', '.join(sorted(unknown))} among these prompts; "
                f"expected one of {', '.join(sorted(known.values())) or 'none'}."
            )
        chosen = [p for p in chosen if p.strata.get(field, "").casefold() in wanted]
    return chosen


def to_samples(prompts: Iterable[Prompt]) -> list[Sample]:
    """Return prompts as samples: the id is the prompt's, the metadata are its strata."""
    return [
        Sample(input=p.text, id=p.prompt_id, metadata={"prompt_id": p.prompt_id, **p.strata})
        for p in prompts
    ]
