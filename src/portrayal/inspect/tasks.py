"""Tasks: a study's prompts, each asked as often as samples are wanted, with our scorers."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Scorer
from inspect_ai.solver import generate

import portrayal.registry as registry
from portrayal._version import __version__
from portrayal.errors import OptionError, UnknownNameError
from portrayal.inspect.scorers import groups, outcome, people, seen_in_answers
from portrayal.records import Prompt
from portrayal.reference import load_factor
from portrayal.validate import check_count

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
        Registered name, in which `_` and `-` are the same; or the path of a study of one's own.
    options
        Arguments of the study's prompt maker, such as a file of headlines.

    Raises
    ------
    OptionError
        When the maker does not take these options, or needs others.
    UnknownNameError
        Naming the studies that have prompts.
    """
    if registry.file_of("studies", study) is not None:
        if options:
            raise OptionError(f"the prompts of {study} stand in it, and take no options.")
        made: tuple[Prompt, ...] = registry.get("studies", study).prompts()
        return made
    names = {name.replace("_", "-").casefold(): name for name in studies_with_prompts()}
    name = names.get(study.replace("_", "-").casefold())
    if name is None:
        raise UnknownNameError(
            f"no study with prompts is called {study!r}. Known: {', '.join(names.values())}; "
            "a study of your own is named by the path of its TOML file."
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

    def input_of(prompt: Prompt) -> str | list[ChatMessage]:
        text, *system = prompt.asked
        before = [ChatMessageSystem(content=words) for words in system]
        return [*before, ChatMessageUser(content=text)] if before else text

    return [
        Sample(input=input_of(p), id=p.prompt_id, metadata={"prompt_id": p.prompt_id, **p.strata})
        for p in prompts
    ]


@task
def laissez_faire(
    samples: int = 1, domain: Choice = None, condition: Choice = None, factor: Choice = None
) -> Task:
    """Ask the 100 prompts of the laissez-faire study (Shieh et al. 2025).

    Parameters
    ----------
    samples
        Answers to each prompt, as Inspect epochs; `--epochs` says the same.
    domain
        Only "Learning", "Labor" or "Love", or several of them.
    condition
        Only "power-neutral" or "power-laden".
    factor
        Factors whose groups are looked for in each answer: names that ship, or TOML files.
    """
    where = {"domain": domain, "condition": condition}
    return study_task("laissez-faire", samples, where, factor=factor)


@task
def portrayal_prompts(
    study: str,
    samples: int = 1,
    where: Choice = None,
    options: dict[str, Any] | None = None,
    factor: Choice = None,
) -> Task:
    """Ask the prompts of any study that is installed, or of one's own.

    Parameters
    ----------
    study
        Registered name, or the path of a study of one's own: a TOML file, or its folder.
    samples
        Answers to each prompt, as Inspect epochs.
    where
        Only prompts of these strata: "FIELD=VALUE", or several.
    options
        Arguments of the study's prompt maker.
    factor
        Factors whose groups are looked for in each answer: names that ship, or TOML files. Those
        that the study's own file names are looked for as well, where answers show them.
    """
    return study_task(study, samples, parse_where(where), options, factor)


def study_task(
    study: str,
    samples: int,
    where: Mapping[str, Choice],
    options: Mapping[str, Any] | None = None,
    factor: Choice = None,
) -> Task:
    """Return the task of a study.

    Every sample runs even where some fail, so that a rate limit does not cost the others. Inspect's
    cache stays off: it would answer a repeated prompt with the text it has already.

    Parameters
    ----------
    study, samples, options, factor
        As in `portrayal_prompts`.
    where
        Stratum → chosen values.

    Raises
    ------
    OptionError, UnknownNameError, DataError
        Naming what can be chosen, or what is wrong in a file.
    """
    check_count("samples", samples, minimum=1)
    prompts = select(study_prompts(study, options), where)
    scorers: list[Scorer] = [outcome()]
    if any("subject_role" in prompt.strata for prompt in prompts):
        scorers.append(people())
    own = registry.file_of("studies", study) is not None
    given = [factor] if isinstance(factor, str) else list(factor or ())
    wanted = [part.strip() for each in given for part in str(each).split(",")]
    if own:
        # Of a study of one's own, those factors that an answer shows.
        named = registry.get("studies", study).options().factor
        wanted += [name for name in named if seen_in_answers(load_factor(name))]
    if wanted:
        scorers.append(groups(list(dict.fromkeys(wanted))))
    name = registry.called(study) if own else study.replace("_", "-")
    return Task(
        dataset=MemoryDataset(to_samples(prompts), name=name),
        solver=generate(cache=False),
        scorer=scorers,
        epochs=samples,
        continue_on_fail=True,
        metadata={"portrayal_study": name, "portrayal_version": __version__},
    )


def register_studies() -> None:
    """Register a task under the name of every installed study that has none of its own."""
    for study in studies_with_prompts():
        name = study.replace("-", "_")
        if name != laissez_faire.__name__:
            task(name=name)(_sibling(study))


def _sibling(study: str) -> Callable[..., Task]:
    def ask(
        samples: int = 1,
        where: Choice = None,
        options: dict[str, Any] | None = None,
        factor: Choice = None,
    ) -> Task:
        return study_task(study, samples, parse_where(where), options, factor)

    return ask
