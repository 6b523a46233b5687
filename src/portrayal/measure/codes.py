"""Shares of codes: how often a group's texts show each code, by people and corrected by them.

A *code* is a pattern that a text shows or does not. Texts of one prompt resemble each other, so
intervals of shares are clustered by prompt. Groups are compared by `portrayal audit` of the table
that `code_table` gives, where a code is a score of yes and no.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from portrayal.collect.corpus import people_parts
from portrayal.errors import OptionError
from portrayal.measure.clustered import corrected_inference, share_inference
from portrayal.measure.corrected import IMPOSSIBLE, HandSums, texts_named
from portrayal.measure.cues.people import run_people
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.raters.labels import YES, Labels, settled
from portrayal.records import Interval
from portrayal.run import Run, read_prompts

EVERYONE = "all texts"
"""The group where texts have none."""
GROUPS = ("group", "race")
"""What groups texts, in the order in which it is looked for."""
OF_PEOPLE = ("gender", "power", "race")
"""What people of a text are grouped by, each of whom adds the text to a group."""
PEOPLE = "people"
CORRECTED = "{}, corrected"
"""Who codes: what people settle on, or a model whose errors on the texts of both are taken out."""
NO_TEXT = "no text of this group is coded"


@dataclass(frozen=True, slots=True)
class CodeShare:
    """The share of a group's texts that show a code.

    Attributes
    ----------
    group, code
        Label of the group, or `EVERYONE`, and key of the code.
    by
        Who codes: `PEOPLE`, a model, or `CORRECTED`.
    value, interval
        The share, in 0–1, and its interval, clustered by prompt, which one prompt alone does not
        have; None without texts. Each text counts once, whatever its weight in the sample.
    n_texts, n_prompts
        Texts that are coded, of a correction by people too, and the prompts that they answer.
    n_open
        Texts left out, as people are divided on a code of theirs.
    undefined
        Why there is no value; "" where there is one.
    """

    group: str
    code: str
    by: str
    value: float | None
    interval: Interval | None
    n_texts: int
    n_prompts: int
    n_open: int = 0
    undefined: str = ""


@dataclass(frozen=True)
class CodedTexts:
    """Labels of codes of the texts of a run, with the prompt and the groups of each text.

    Attributes
    ----------
    labels
        What people and models say.
    prompts
        Prompt of each text, by the name that the labels give it.
    groups
        Group → its texts.
    rows
        Strata, model and text of each text, by the same name.
    """

    labels: Labels
    prompts: Mapping[str, str]
    groups: Mapping[str, Sequence[str]]
    rows: Mapping[str, Mapping[str, Any]]

    @cached_property
    def readings(self) -> dict[str, dict[str, frozenset[str]]]:
        """Who codes → text → its codes: what people settle on, and the model of most texts."""
        models = self.labels.of("llm")
        settled_codes = codes_of_texts(self.labels, self.labels.codes)
        # Texts on which people are divided are left open: they are no "no"
        by_people = {name: codes for name, codes in settled_codes.items() if codes is not None}
        if not models.raters:
            return {PEOPLE: by_people}
        rater = max(models.raters, key=lambda name: len(models.texts(name)))
        by_model: dict[str, set[str]] = {name: set() for name in sorted(models.texts(rater))}
        for row in models.rows:
            if row.rater == rater and row.value == YES:
                by_model[row.text_id].add(row.field)
        return {PEOPLE: by_people, rater: {name: frozenset(x) for name, x in by_model.items()}}

    def units(self, by: str, names: Sequence[str]) -> ScoredUnits:
        """Return these texts with the codes that somebody gives them, as scores (n, k)."""
        codes, keys = self.readings[by], self.labels.codes
        marks = np.array([[key in codes[name] for key in keys] for name in names], dtype=np.float64)
        prompt = [self.prompt_names.index(self.prompts[name]) for name in names]
        ones = np.ones(len(names))
        return ScoredUnits(np.array(prompt, dtype=np.int64), ones, marks, (ones[:, np.newaxis],))

    @cached_property
    def prompt_names(self) -> list[str]:
        """Prompts by their code."""
        return sorted({*self.prompts.values()})


def coded_texts(
    run: Run, labels: Labels, *, by: str | None = None, merge: Mapping[str, str] | None = None
) -> CodedTexts:
    """Set labels beside the groups that the run knows of their texts.

    Parameters
    ----------
    run, labels
        The run, and labels of its texts.
    by
        What groups texts: a stratum of prompts, `model`, or `gender`, `race` or `power` of people,
        of whom each adds its text to its group. The first of `GROUPS` that the run knows, unless
        given.
    merge
        Label of a group → label of the group that it is counted with, as where stories treat two
        terms alike.

    Raises
    ------
    OptionError
        When no labelled text has such a stratum or label, or nothing is labelled by yes and no.
    DataError
        When the run has no such text.
    """
    if not labels.codes:
        fields = ", ".join(labels.fields) or "nothing"
        raise OptionError(f"{labels.source} labels no codes (1 or 0), but {fields}.")
    names = {row.text_id for row in labels.rows}
    rows = texts_named(run, names, ("prompt_id", "model", "text"), labels.source)
    strata = read_prompts(run.prompts_path)
    rows = {name: strata[row["prompt_id"]] | row for name, row in rows.items()}
    prompts = {name: row["prompt_id"] for name, row in rows.items()}
    by_id = {row["text_id"]: row for row in rows.values()}
    people = dict(run_people(run, by_id)) if people_parts(run) else {}
    members: dict[str, list[str]] = {}
    for key in GROUPS if by is None else (by,):
        for name, row in sorted(rows.items()):
            values = [str(row[key])] if row.get(key) else []
            if not values and key in OF_PEOPLE:
                values = [getattr(person, key) for person in people.get(row["text_id"], ())]
            for group in dict.fromkeys((merge or {}).get(value, value) for value in values):
                if group:
                    members.setdefault(group, []).append(name)
        if members:
            return CodedTexts(labels, prompts, dict(sorted(members.items())), rows)
    if by is not None:
        columns = {name for row in rows.values() for name, value in row.items() if value}
        columns -= {"text_id", "source_id", "prompt_id", "text"}
        attributes = ", ".join(sorted(columns | set(OF_PEOPLE if people else ())))
        raise OptionError(f"no labelled text has a {by!r} to group by; texts have: {attributes}.")
    return CodedTexts(labels, prompts, {EVERYONE: sorted(rows)}, rows)


def code_shares(coded: CodedTexts, level: float = 0.95) -> list[CodeShare]:
    """Return how often the texts of each group show each code, by who codes them.

    Where a model coded too, its shares are also corrected by the texts that people coded as well,
    taken as drawn at random among the group's.
    """
    scope, keys, shares = Scope("coding", level=level), coded.labels.codes, []
    people, *models = coded.readings
    open_texts = codes_of_texts(coded.labels, keys).keys() - coded.readings[people].keys()
    for group, members in coded.groups.items():
        names_by = {
            by: [name for name in members if name in codes] for by, codes in coded.readings.items()
        }
        units = {by: coded.units(by, names) for by, names in names_by.items() if names}
        sums = {by: of.sums() for by, of in units.items()}
        inferred = {by: share_inference(upper, n, scope) for by, (upper, n) in sums.items()}
        hand = None
        for model in models:
            both = [name for name in names_by[model] if name in coded.readings[people]]
            names_by[by := CORRECTED.format(model)] = both
            if both:
                everyone, sample = units[model], coded.units(model, both)
                weight = np.full(len(both), len(names_by[model]) / len(both))
                sample = replace(sample, weight=weight)
                truth = sample.scored(coded.units(people, both).score)
                hand = HandSums.of(everyone, sample, truth, model)
                inferred[by] = corrected_inference(hand.sums, scope)
        for by, names in names_by.items():
            result, n_prompts = inferred.get(by), len({coded.prompts[name] for name in names})
            n_open = len(open_texts.intersection(members)) if by == people else 0
            for i, key in enumerate(keys):
                reason = "" if result else NO_TEXT
                if result and hand and by == CORRECTED.format(*models):
                    impossible = IMPOSSIBLE * bool(np.isnan(result.value[i]))
                    reason = hand.too_few(i, {"code": key}) or impossible
                value, interval = None, None
                if result and not reason:
                    value, interval = float(result.value[i]), result.interval(i, scope)
                counts = len(names), n_prompts, n_open
                shares.append(CodeShare(group, key, by, value, interval, *counts, reason))
    return shares


def code_table(coded: CodedTexts) -> list[dict[str, str]]:
    """Return a row for each text, with its group and a column of 1 and 0 for each code.

    A text of several groups is of none, as groups are compared; a code of a model stands apart
    from that of people, with the model's name.
    """
    rows, excluded_columns = [], {"source_id", "side"}
    # Where models are the groups, an audit must not split texts by them
    if coded.groups.keys() <= {about.get("model") for about in coded.rows.values()}:
        excluded_columns.add("model")
    for name, about in coded.rows.items():
        groups = [group for group, members in coded.groups.items() if name in members]
        row = {key: str(value) for key, value in about.items() if key not in excluded_columns}
        row |= {"text_id": name, "group": groups[0] if len(groups) == 1 else ""}
        for by, codes in coded.readings.items():
            for key in coded.labels.codes:
                column = key if by == PEOPLE else f"{key} ({by})"
                row[column] = str(int(key in codes[name])) if name in codes else ""
        rows.append(row)
    return rows


def codes_of_texts(labels: Labels, keys: Sequence[str]) -> dict[str, frozenset[str] | None]:
    """Return the codes that people settle on, by text_id; None where they leave one open."""
    codes: dict[str, set[str] | None] = {}
    for (text_id, _, key), answer in settled(labels).items():
        if key not in keys:
            continue
        text_codes = codes.setdefault(text_id, set())
        if answer is None:
            codes[text_id] = None
        elif answer == YES and text_codes is not None:
            text_codes.add(key)
    return {name: None if one is None else frozenset(one) for name, one in codes.items()}
