"""Tasks: a study's prompts, each asked as often as samples are wanted, with our scorers."""

from collections.abc import Callable, Mapping
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.scorer import Scorer
from inspect_ai.solver import generate

from portrayal import __version__
from portrayal.inspect.prompts import (
    Choice,
    parse_where,
    select,
    studies_with_prompts,
    study_prompts,
    to_samples,
)
from portrayal.inspect.scorers import outcome, people
from portrayal.validate import check_count

STUDY_KEY = "portrayal_study"
"""Where a log's metadata name the study that its task asked."""


@task
def laissez_faire(samples: int = 1, domain: Choice = None, condition: Choice = None) -> Task:
    """Ask the 100 prompts of the laissez-faire study (Shieh et al. 2025).

    Parameters
    ----------
    samples
        Answers to each prompt, as Inspect epochs; `--epochs` says the same.
    domain
        Only "Learning", "Labor" or "Love", or several of them.
    condition
        Only "power-neutral" or "power-laden".
    """
    return study_task("laissez-faire", samples, {"domain": domain, "condition": condition})


@task
def portrayal_prompts(
    study: str,
    samples: int = 1,
    where: Choice = None,
    options: dict[str, Any] | None = None,
) -> Task:
    """Ask the prompts of any study that is installed.

    Parameters
    ----------
    study
        Registered name.
    samples
        Answers to each prompt, as Inspect epochs.
    where
        Only prompts of these strata: "FIELD=VALUE", or several.
    options
        Arguments of the study's prompt maker.
    """
    return study_task(study, samples, parse_where(where), options)


def study_task(
    study: str,
    samples: int,
    where: Mapping[str, Choice],
    options: Mapping[str, Any] | None = None,
) -> Task:
    """Return the task of a study.

    Every sample runs even where some fail, so that a rate limit does not cost the others. Inspect's
    cache stays off: it would answer a repeated prompt with the text it has already.

    Parameters
    ----------
    study, samples, options
        As in `portrayal_prompts`.
    where
        Stratum → chosen values.

    Raises
    ------
    OptionError, UnknownNameError
        Naming what can be chosen.
    """
    check_count("samples", samples, minimum=1)
    prompts = select(study_prompts(study, options), where)
    scorers: list[Scorer] = [outcome()]
    if any("subject_role" in prompt.strata for prompt in prompts):
        scorers.append(people())
    name = study.replace("_", "-")
    return Task(
        dataset=MemoryDataset(to_samples(prompts), name=name),
        solver=generate(cache=False),
        scorer=scorers,
        epochs=samples,
        continue_on_fail=True,
        metadata={STUDY_KEY: name, "portrayal_version": __version__},
    )


def register_studies() -> None:
    """Register a task under the name of every installed study that has none of its own."""
    for study in studies_with_prompts():
        name = study.replace("-", "_")
        if name != laissez_faire.__name__:
            task(name=name)(_sibling(study))


def _sibling(study: str) -> Callable[..., Task]:
    def ask(samples: int = 1, where: Choice = None, options: dict[str, Any] | None = None) -> Task:
        return study_task(study, samples, parse_where(where), options)

    return ask
