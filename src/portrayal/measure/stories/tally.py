"""Tally: the distinct stories of a run and how often each occurs.

Every measure of people reads the tally and not the texts: half a million stories shrink to the
distinct combinations of prompt, model, names and genders, so measures cost the same at any scale.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from portrayal.records import ALL, OUTCOMES
from portrayal.reference.groups import GENDERS
from portrayal.run.directory import Run, distinct_rows, read_prompts
from portrayal.run.files import Stage
from portrayal.types import BoolArray, FloatArray, IntArray

ROLES = ("neutral", "dominant", "subordinate")
GENDER_CODES = (*GENDERS, "Unspecified", "Unsure")
NEUTRAL, DOMINANT, SUBORDINATE = range(3)
NO_DOMAIN = "no domain"
"""The domain of prompts that have none, beside others that have one."""
NO_SLOT = -1
"""Gender code of an object that the prompt does not ask for, and name code of no first name."""


@dataclass(frozen=True)
class Characters:
    """The characters of the readable stories, one row per distinct kind.

    Attributes
    ----------
    prompt, model, role, name, gender, count
        Shapes (n,): indices into the tally's prompts, models, `ROLES`, names (-1: no first name)
        and `GENDER_CODES`, and the number of such characters.
    """

    prompt: IntArray
    model: IntArray
    role: IntArray
    name: IntArray
    gender: IntArray
    count: IntArray


@dataclass(frozen=True)
class Tally:
    """Distinct stories.

    Attributes
    ----------
    prompt_ids, domains, models, names
        Labels of the codes below.
    prompt_domain, prompt_laden, prompt_couple, prompt_scenario
        What is known of each prompt, shape (n_prompts,): its code in `domains`, whether one role
        depends on the other, whether it is about romantic partners, and its scenario in words.
    prompt, model, outcome, subject_name, subject_gender, object_name, object_gender, count
        Shape (n_rows,): codes of each distinct story and its number; `outcome` indexes `OUTCOMES`.
        An annotation that failed counts as the outcome "failed".
    likelihood
        Shares of each name's bearers by race, shape (n_names + 1, n_races); NaN where the name is
        in no table, and in the last row, which the code -1 reaches.
    cache
        What measures keep for each other, such as the shuffled roles.
    races
        Labels of the columns of `likelihood`.
    attribute
        What they are groups of, as estimates say it: "race", or a column of one's own names.
    n_primary
        The first `n_primary` races come from one name table, the others from the second one.
    """

    prompt_ids: tuple[str, ...]
    domains: tuple[str, ...]
    models: tuple[str, ...]
    names: tuple[str, ...]
    races: tuple[str, ...]
    n_primary: int
    prompt_domain: IntArray
    prompt_laden: BoolArray
    prompt_couple: BoolArray
    prompt_scenario: tuple[str, ...]
    prompt: IntArray
    model: IntArray
    outcome: IntArray
    subject_name: IntArray
    subject_gender: IntArray
    object_name: IntArray
    object_gender: IntArray
    count: IntArray
    likelihood: FloatArray
    attribute: str = "race"
    cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def readable(self) -> BoolArray:
        """Which rows are stories with the outcome "ok", shape (n_rows,)."""
        return np.asarray(self.outcome == OUTCOMES.index("ok"))

    @property
    def laden(self) -> BoolArray:
        """Which rows answer a power-laden prompt, shape (n_rows,)."""
        return np.asarray(self.prompt_laden[self.prompt])

    def prompt_names(self, prompts: IntArray) -> tuple[str, ...]:
        """Return the names of the prompts with these codes."""
        return tuple(self.prompt_ids[code] for code in prompts.tolist())

    def model_strata(self) -> list[tuple[str, list[int]]]:
        """Return the pooled stratum, then each model that was named, with their codes."""
        strata = [(ALL, list(range(len(self.models))))]
        return strata + [(name, [code]) for code, name in enumerate(self.models)]

    @cached_property
    def characters(self) -> Characters:
        """Every character of the readable stories: subjects, then objects where there are any."""
        keep = self.readable
        both = keep & (self.object_gender != NO_SLOT)
        laden = self.laden
        # The subject of a power-laden prompt is the one with power.
        subject_role = np.where(laden, DOMINANT, NEUTRAL)
        object_role = np.where(laden, SUBORDINATE, NEUTRAL)

        def join(first: IntArray, second: IntArray) -> IntArray:
            return np.concatenate([first[keep], second[both]])

        return Characters(
            prompt=join(self.prompt, self.prompt),
            model=join(self.model, self.model),
            role=join(subject_role, object_role),
            name=join(self.subject_name, self.object_name),
            gender=join(self.subject_gender, self.object_gender),
            count=join(self.count, self.count),
        )

    @cached_property
    def pairs(self) -> IntArray:
        """Where `characters` holds subject and object of the readable stories with both, (2, n)."""
        both = (self.object_gender != NO_SLOT)[self.readable]
        # In the order of `characters`: all subjects, then the objects of stories with two
        return np.stack([np.flatnonzero(both), len(both) + np.arange(both.sum())])


PromptFacts = Callable[[dict[str, str]], dict[str, Any]]
Likelihoods = Callable[[Sequence[str]], FloatArray]

_QUERY = """
    select t.prompt_id, t.model,
           case when a.error is null then t.outcome else 'failed' end as outcome,
           a.subject_name, a.subject_gender, a.object_name, a.object_gender,
           count(*)::bigint as n
    from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    group by all order by all
"""


def tally_stories(
    run: Run,
    annotations: Stage,
    *,
    likelihoods: Likelihoods,
    races: Sequence[str],
    n_primary: int,
    facts: PromptFacts,
    attribute: str = "race",
) -> Tally:
    """Count the distinct stories of a run.

    Parameters
    ----------
    run, annotations
        A run and the stage of its people annotations.
    likelihoods
        Function of first names to shares by race, shape (n_names, n_races).
    races, n_primary
        Labels of those shares, and how many come from the first table.
    attribute
        What the labels are groups of.
    facts
        Function of a prompt's strata to `domain`, `laden`, `couple` and `scenario`.

    Returns
    -------
    Tally
        The same for any shard size and number of workers.
    """
    # Sorted, so that codes do not hang on the order in which texts came.
    columns, prompts = distinct_rows(run.texts, annotations, _QUERY), read_prompts(run.prompts_path)
    prompt_ids = tuple(sorted(prompts))
    prompt_facts = [facts(prompts[prompt_id]) for prompt_id in prompt_ids]
    prompt_domains = [fact["domain"] for fact in prompt_facts]
    if set(prompt_domains) != {ALL}:  # prompts without a domain are a domain beside the others
        prompt_domains = [NO_DOMAIN if domain == ALL else domain for domain in prompt_domains]
    models = tuple(sorted(set(columns["model"])))
    domains = tuple(dict.fromkeys(prompt_domains))
    # Names once each, whatever their case; shown in the spelling that sorts last ("Maria").
    spelled = {*columns["subject_name"], *columns["object_name"]} - {None, ""}
    spelling = {name.casefold(): name for name in sorted(spelled)}
    names = tuple(spelling[key] for key in sorted(spelling))
    # One row more than names, which the code -1 of no first name reaches: NaN.
    shares = np.full((len(names) + 1, len(races)), np.nan)
    shares[:-1] = likelihoods(names)

    def coded(column: str, labels: Sequence[str]) -> IntArray:
        table = {label: code for code, label in enumerate(labels)}
        return np.array([table[label] for label in columns[column]], dtype=np.int64)

    def folded(column: str, labels: Sequence[str]) -> IntArray:
        table = {label.casefold(): code for code, label in enumerate(labels)}
        keys = ((label or "").casefold() for label in columns[column])
        return np.array([table.get(key, NO_SLOT) for key in keys], dtype=np.int64)

    return Tally(
        prompt_ids=prompt_ids,
        domains=domains,
        models=models,
        names=names,
        races=tuple(races),
        n_primary=n_primary,
        prompt_domain=np.array([domains.index(d) for d in prompt_domains], dtype=np.int64),
        prompt_laden=np.array([fact["laden"] for fact in prompt_facts], dtype=bool),
        prompt_couple=np.array([fact["couple"] for fact in prompt_facts], dtype=bool),
        prompt_scenario=tuple(fact["scenario"] for fact in prompt_facts),
        prompt=coded("prompt_id", prompt_ids),
        model=coded("model", models),
        outcome=coded("outcome", OUTCOMES),
        subject_name=folded("subject_name", names),
        subject_gender=folded("subject_gender", GENDER_CODES),
        object_name=folded("object_name", names),
        object_gender=folded("object_gender", GENDER_CODES),
        count=np.array(columns["n"], dtype=np.int64),
        likelihood=shares,
        attribute=attribute,
    )
