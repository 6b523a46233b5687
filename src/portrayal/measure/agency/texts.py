"""Agency texts: one row for each text, with its ratio gap and the groups it is about.

The *ratio gap* of a text is the share of its agentic sentences minus that of its communal ones,
among the sentences that the classifier can tell (Wan & Chang 2024, Section 3.3); it lies in -1 to
1, so the paper's percentage points are 100 times as much. A sentence is agentic where its
probability is 0.5 or more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from portrayal.annotate.scores import AGENCY
from portrayal.errors import OptionError
from portrayal.measure.corrected import HandUnits, hand_marks, picked, sentence_number
from portrayal.raters.labels import HandTable
from portrayal.records import ALL, OUTCOMES
from portrayal.run.directory import Run, read_chosen, read_prompts, read_shards
from portrayal.run.files import Stage
from portrayal.stats import divide
from portrayal.types import FloatArray, IntArray

MASKED, UNMASKED = "masked", "unmasked"
ORIGINAL = "original"
"""The condition of prompts that add nothing."""
EACH, PROMPT, NAME = "text", "prompt", "name"
"""What is given in place of a column to take each text, or each prompt, as a cluster of its own;
and the column with whom a text is about."""
PER_RUN = 10
"""Texts that a group must have in a run on average for runs to be told apart."""
NOT_SAMPLED = "beyond the balanced sample of its group and stratum"
TOO_FEW = "in a stratum with too few texts of a group"
NO_GROUP = "no value in a group column"
REASONS = (NOT_SAMPLED, TOO_FEW, NO_GROUP)
NO_SENTENCE = "no sentence that the classifier can tell"
WITHIN = "groups shuffled among the texts of one cluster"
STRATUM = "groups shuffled among the texts of one stratum"


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """Labels of texts: the code of each text, shape (n_texts,), and the label of each code."""

    code: IntArray
    labels: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[str]) -> "LabelColumn":
        """Return the column of these values; codes follow the order of the labels."""
        labels, code = np.unique(np.array(values, dtype=object), return_inverse=True)
        return cls(np.asarray(code, dtype=np.int64), tuple(labels.tolist()))

    @classmethod
    def in_order(cls, values: Sequence[Any]) -> "LabelColumn":
        """Return the column of these values; codes follow the order in which labels first come."""
        table = {value: code for code, value in enumerate(dict.fromkeys(values))}
        code = np.array([table[value] for value in values], dtype=np.int64)
        return cls(code, tuple(map(str, table)))

    def take(self, rows: IntArray) -> "LabelColumn":
        """Return the labels of these texts, with codes of those that occur."""
        codes, code = np.unique(self.code[rows], return_inverse=True)
        return LabelColumn(code, tuple(self.labels[i] for i in codes.tolist()))


@dataclass(frozen=True, eq=False)
class MaskingReading:
    """What is said of the texts under one masking.

    Attributes
    ----------
    checkpoints
        Ratio gap by each checkpoint of the classifier, shape (n_checkpoints, n_texts), one where
        it is no set of checkpoints; NaN where a text has none.
    classed, unclassed, bare
        Sentences that the classifier could tell, those it could not, and those that it tells though
        they hold no word of the lists of agentic and communal words, shape (n_texts,).
    other_gap
        Ratio gap by the classifier that reads beside, shape (n_texts,); None where none does.
    sample
        What a second classifier says of a sample of the sentences; None where none does.
    """

    checkpoints: FloatArray
    classed: FloatArray
    unclassed: FloatArray
    bare: FloatArray
    other_gap: FloatArray | None = None
    sample: HandUnits | None = None

    @cached_property
    def gap(self) -> FloatArray:
        """Ratio gap of each text, the mean over checkpoints, shape (n_texts,)."""
        return np.asarray(self.checkpoints.mean(axis=0))


@dataclass(frozen=True, eq=False)
class AgencyTexts:
    """The texts of an agency audit.

    Attributes
    ----------
    model, task, condition, stratum
        Where each text belongs; the code of the stratum is -1 where a text has none.
    groups
        The group columns by name.
    unit, cluster
        What the independent units are ("prompt", "text" where the texts name no prompt, or the
        column asked for), and that of each text. Prompts that differ in their condition alone have
        one name, so that runs are paired before and after an instruction.
    names
        Whom each text is about, where names are units beside the blocks; None where there are
        none, or other units are asked for.
    run
        The run (repetition of all prompts) each text belongs to, shape (n_texts,).
    blocks
        Blocks in which groups may be exchangeable, by name, each of shape (n_texts,); see
        `portrayal.measure.agency.strata`.
    columns
        The prompts' other columns, but for groups, names and clusters: prompts that agree in them
        are alike. Empty where the texts name no prompt.
    spare
        The same where the texts name no prompt and no cluster is asked for: texts that agree in one
        could be compared.
    outcome
        Index into `OUTCOMES`; an annotation that failed counts as "failed".
    readings
        What is said of the texts by masking.
    left_out
        Why a text is not read, as index into `REASONS`; -1 where it is.
    first
        Values of groups that come first in a difference.
    hand
        Sentences that people or a second classifier labelled, of those that the classifier could
        tell under the first masking, by their text: 1 is agentic, 0 communal, NaN neither.
    """

    model: LabelColumn
    task: LabelColumn
    condition: LabelColumn
    stratum: LabelColumn
    groups: Mapping[str, LabelColumn]
    unit: str
    cluster: LabelColumn
    names: LabelColumn | None
    run: IntArray
    blocks: Mapping[str, IntArray]
    columns: Mapping[str, LabelColumn]
    outcome: IntArray
    readings: Mapping[str, MaskingReading]
    left_out: IntArray
    first: tuple[str, ...] = ()
    hand: HandUnits | None = None
    spare: Mapping[str, LabelColumn] = field(default_factory=dict)
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def place(self) -> IntArray:
        """Codes of model, task and condition, shape (n_texts, 3)."""
        return np.stack([self.model.code, self.task.code, self.condition.code], axis=1)

    @cached_property
    def cells(self) -> IntArray:
        """Every combination of values of the group columns, shape (n_cells, n_attributes)."""
        grids = np.indices([len(column.labels) for column in self.groups.values()])
        return np.asarray(grids.reshape(len(self.groups), -1).T)

    @cached_property
    def cell(self) -> IntArray:
        """Index of each text's combination among `cells`, shape (n_texts,)."""
        codes = [column.code for column in self.groups.values()]
        sizes = [len(column.labels) for column in self.groups.values()]
        return np.asarray(np.ravel_multi_index(codes, sizes), dtype=np.int64)


def balanced(texts: AgencyTexts, per_stratum: int, min_group: int, seed: int) -> AgencyTexts:
    """Return the texts with equally many of each group in each stratum, as Appendix C draws them.

    Parameters
    ----------
    texts
        All texts.
    per_stratum
        Texts of each group and stratum at most, drawn at random; 0 keeps all.
    min_group
        Strata in which a group has fewer texts are left out; 0 keeps all. Groups are those of which
        the model has texts of that task and condition.
    seed
        Start of the random stream.
    """
    left_out = texts.left_out.copy()
    # By the first masking, so that both read the same sample
    gap = next(iter(texts.readings.values())).gap
    readable = (texts.left_out < 0) & (texts.outcome == 0) & ~np.isnan(gap)
    rng = np.random.default_rng([seed, 0])
    # One order for all strata and sizes, so that a larger sample holds the smaller one.
    order = rng.permutation(len(gap))
    place = np.column_stack([texts.place, texts.stratum.code])
    for stratum in np.unique(place[readable], axis=0):
        inside = readable & (place == stratum).all(axis=1)
        # Groups that the place has at all, so that a stratum without one of them has too few of it.
        groups = np.unique(texts.cell[readable & (texts.place == stratum[:3]).all(axis=1)])
        counts = np.bincount(texts.cell[inside], minlength=len(texts.cells))
        # A stratum with hardly any of a group says nothing of a difference, so it is left out
        # whole.
        if min_group and counts[groups].min() < min_group:
            left_out[inside] = REASONS.index(TOO_FEW)
        elif per_stratum:
            for cell in np.flatnonzero(counts > per_stratum).tolist():
                members = np.flatnonzero(inside & (texts.cell == cell))
                sample = members[np.argsort(order[members], kind="stable")]
                left_out[sample[per_stratum:]] = REASONS.index(NOT_SAMPLED)
    return replace(texts, left_out=left_out, cache={})


def agency_texts(
    run: Run,
    stages: Mapping[str, Stage],
    *,
    group: Sequence[str],
    strata: Sequence[str] = (),
    spellings: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    first: Sequence[str] = (),
    cluster: str | None = None,
    table: HandTable | None = None,
) -> AgencyTexts:
    """Read a run with its agency annotations.

    Parameters
    ----------
    run
        A run with texts.
    stages
        The annotations by masking.
    group
        Strata of the prompts that are the groups.
    strata
        Strata by which tables are split: the first of these that a text has.
    spellings
        Other spellings of values, casefolded, by stratum of the prompts: {"gender": {"m": "male"}}.
    first
        Values of groups that come first in a difference.
    cluster
        Stratum whose values are the independent units; "text" takes each text as one, "prompt"
        each prompt; None takes prompts, and names beside them. A text without a value is a unit of
        its own.

    table
        Labels by hand.

    Returns
    -------
    AgencyTexts
        The same for any shard size and number of workers.

    Raises
    ------
    OptionError
        Where no text has a value for a group or for the stratum.
    """
    rows, readings = _rows(run, stages)
    prompts, by_prompt = read_prompts(run.prompts_path), run.is_by_prompt
    about = [prompts[prompt] for prompt in rows["prompt_id"]]
    check_columns(about, group)

    def values(name: str, missing: str) -> list[str]:
        spelling = spellings.get(name, {})
        raw = [facts.get(name, missing) for facts in about]
        return [spelling.get(value.casefold(), value) for value in raw]

    groups = {name: LabelColumn.of(values(name, "")) for name in group}
    has_group = [
        np.array([label != "" for label in column.labels])[column.code]
        for column in groups.values()
    ]
    split = [next((facts[name] for name in strata if name in facts), "") for facts in about]
    tasks, conditions = values("domain", ALL), [facts.get("condition", ORIGINAL) for facts in about]
    stratum = LabelColumn.of(split)
    unit, clusters = _clusters(cluster, rows, about, by_prompt=by_prompt)
    within = {} if cluster in (None, EACH, PROMPT) else {WITHIN: clusters.code}
    other_names = {name for facts in about for name in facts} - {*group, NAME, cluster}
    by_name = cluster is None and NAME not in group and any(NAME in facts for facts in about)
    columns = {
        name: LabelColumn.of([facts.get(name, "") for facts in about])
        for name in sorted(other_names)
    }
    texts = AgencyTexts(
        model=LabelColumn.of(rows["model"]),
        task=LabelColumn.of(tasks),
        condition=LabelColumn.of(conditions),
        stratum=LabelColumn(
            stratum.code - int("" in stratum.labels), tuple(filter(None, stratum.labels))
        ),
        groups=groups,
        unit=unit,
        cluster=clusters,
        names=_clusters(NAME, rows, about)[1] if by_name else None,
        run=np.array(rows["sample"], dtype=np.int64) * by_prompt,
        blocks={
            **within,
            STRATUM: LabelColumn.in_order([*zip(tasks, conditions, split, strict=True)]).code,
        },
        columns=columns if by_prompt else {},
        spare={} if by_prompt or cluster else columns,
        outcome=np.array([OUTCOMES.index(name) for name in rows["outcome"]], dtype=np.int64),
        readings=readings,
        left_out=np.where(np.all(has_group, axis=0), -1, REASONS.index(NO_GROUP)),
        first=tuple(first),
        hand=next(iter(readings.values())).sample
        if table is None
        else hand_sentences(run, stages, rows["text_id"], table, readings),
    )
    return replace(texts, run=_runs(texts))


def _runs(texts: AgencyTexts) -> IntArray:
    """Run of each text; 0 for all of a place where a run would hold too few texts of a group."""
    run, n_cells = texts.run.copy(), len(np.unique(texts.cell))
    for place in np.unique(texts.place, axis=0):
        inside = (texts.place == place).all(axis=1)
        # Means of a few texts would differ between runs by chance alone.
        if inside.sum() < PER_RUN * n_cells * len(np.unique(run[inside])):
            run[inside] = 0
    return run


def _clusters(
    column: str | None,
    rows: Mapping[str, list[Any]],
    about: Sequence[Mapping[str, str]],
    *,
    by_prompt: bool = False,
) -> tuple[str, LabelColumn]:
    """What the independent units are called, and the unit of each text, named alike in all runs."""
    if column == EACH or (column in (None, PROMPT) and not by_prompt):
        return EACH, LabelColumn(np.arange(len(about)), tuple(rows["text_id"]))
    if column not in (None, PROMPT):
        if not any(column in facts for facts in about):
            raise OptionError(f"--cluster {column}: no text has a value for it.")
        # without a value, a unit of its own
        return str(column), LabelColumn.in_order(
            [f.get(str(column), i) for i, f in enumerate(about)]
        )
    prompts = LabelColumn.of(rows["prompt_id"])
    labels = [
        (
            about[i].get("condition"),
            " · ".join(v for k, v in sorted(about[i].items()) if k != "condition"),
        )
        for i in np.unique(prompts.code, return_index=True)[1].tolist()
    ]
    # Prompts that differ in nothing that is known cannot be paired by it, and keep their ids.
    if len(set(labels)) < len(labels) or not all(label for _, label in labels):
        return PROMPT, prompts
    return PROMPT, LabelColumn(prompts.code, tuple(label for _, label in labels))


def _rows(
    run: Run, stages: Mapping[str, Stage]
) -> tuple[dict[str, list[Any]], dict[str, MaskingReading]]:
    """Texts by column in the order of text_id, and what is said of them by masking."""
    import pyarrow as pa

    names = ["text_id", "prompt_id", "sample", "model", "outcome"]
    fields = ["agentic", "checkpoints", "beside", "chance", "bare", "error"]
    annotations = [(stage, fields) for stage in stages.values()]
    texts, *annotated = map(
        pa.concat_tables, zip(*read_shards(run.texts, names, *annotations), strict=True)
    )
    # By text_id, so that the size of shards changes no random draw
    order = np.argsort(np.array(texts["text_id"].to_pylist(), dtype=object), kind="stable")
    columns = {name: texts[name].take(order).to_pylist() for name in names}
    readings = {}
    for (name, stage), table in zip(stages.items(), annotated, strict=True):
        other = stage.note().get("settings", {}).get("beside", {})
        rows = table.take(order).combine_chunks()
        # Texts that the classifier failed on are excluded like those that a model failed on.
        for i in np.flatnonzero(np.array(rows["error"].is_valid())).tolist():
            columns["outcome"][i] = "failed"
        gap, classed, unclassed = _counted(rows["agentic"].combine_chunks())
        checkpoints = _counted(rows["checkpoints"].combine_chunks())[0]
        is_sample = "chance" in other
        of_other = _counted(rows["beside"].combine_chunks())[0]
        other_gap = None if is_sample or not other else of_other
        sample = _sample(rows, other["name"]) if is_sample else None
        gaps = checkpoints if len(checkpoints) else gap[np.newaxis]
        bare = np.array(rows["bare"].fill_null(0), dtype=np.float64)
        readings[name] = MaskingReading(gaps, classed, unclassed, bare, other_gap, sample)
    return columns, readings


def _sample(rows: Any, name: str) -> HandUnits:
    """The sentences that the second classifier, of this name, read too."""
    agentic, second = (rows[column].combine_chunks() for column in ("agentic", "beside"))
    text = np.repeat(np.arange(len(agentic)), agentic.value_lengths().fill_null(0))
    p, again = (np.array(lists.flatten(), dtype=np.float64) for lists in (agentic, second))
    # Of a sentence that was not drawn there is no number, of one that it cannot tell NaN
    valid = np.array(second.flatten().is_valid()) & ~np.isnan(p)
    label, truth = (np.where(np.isnan(x), np.nan, x >= 0.5)[valid] for x in (p, again))
    weight = 1.0 / np.array(rows["chance"], dtype=np.float64)[text[valid]]
    note = f"{int(valid.sum()):,} of {len(p):,} sentences read again"
    return HandUnits(text[valid], label, truth, weight, note, f"by {name}")


def _counted(lists: Any) -> FloatArray:
    """Ratio gap, and sentences classed and unclassed, of each text from its probabilities.

    Shape (3, n_texts), or (3, k, n_texts) where a text has k lists.
    """
    import pyarrow as pa

    length = np.array(lists.value_lengths().fill_null(0), dtype=np.int64)
    if pa.types.is_list(lists.type.value_type):
        # Texts without lists stay NaN: they were not read, which is not a gap of 0.
        counts = np.full((3, length.max(initial=0), len(length)), np.nan)
        of_lists = _counted(lists.flatten()).reshape(3, -1, counts.shape[1] or 1)
        counts[:, :, length > 0] = of_lists.swapaxes(1, 2)
        return counts
    of = np.repeat(np.arange(len(length)), length)
    p = np.array(lists.flatten().fill_null(float("nan")), dtype=np.float64)
    n_classed = np.bincount(of, weights=~np.isnan(p), minlength=len(length))
    # NaN is not ≥ 0.5, so unclassed sentences are not agentic
    acts = np.bincount(of, weights=p >= 0.5, minlength=len(length))
    return np.stack([2.0 * divide(acts, n_classed) - 1.0, n_classed, length - n_classed])


def check_columns(
    about: Sequence[Mapping[str, str]], group: Sequence[str], stratum: str | None = None
) -> None:
    """Raise an OptionError for a group or stratum that no text has a value for."""
    options = [("--by", name) for name in group] + ([("--stratum", stratum)] if stratum else [])
    for option, name in options:
        if not any(name in facts for facts in about):
            columns = ", ".join(sorted({key for facts in about for key in facts}))
            read = f" (columns that were read and have values: {columns})" if columns else ""
            raise OptionError(
                f"{option} {name}: no text has a value for it{read}. Give {option} a column of "
                f"your file, or say which one it is with --column {name}=NAME."
            )


def hand_sentences(
    run: Run,
    stages: Mapping[str, Stage],
    order: Sequence[str],
    table: HandTable,
    readings: Mapping[str, MaskingReading],
) -> HandUnits | None:
    """Set labels of sentences beside the classifier's; None where there are none.

    Parameters
    ----------
    run, stages
        The run and its annotations by masking, of which the first counts.
    order
        Its text_ids, in the order of `AgencyTexts`.
    readings
        What the classifier says of all sentences, by masking.
    table
        Labels of the field "agency": agentic, communal or neither; `unit` is the number of the
        sentence in its text, from 1.

    Raises
    ------
    DataError
        For a text or sentence that the run has not, or another label.
    """
    marks = hand_marks(run, table, AGENCY, (), sentences=True)
    if marks is None:
        return None
    # Labels correct the first masking alone.
    masking, stage = next(iter(stages.items()))
    ids = {row["text_id"] for row in marks.rows}
    read = {r["text_id"]: r for r in read_chosen(stage.parts(), ["text_id", "agentic"], ids)}
    place = {text_id: i for i, text_id in enumerate(order)}
    labels = []
    for row in marks.rows:
        scores = read[row["text_id"]]["agentic"] or []
        p = scores[sentence_number(table, row["named"], row["unit"], len(scores))]
        labels.append(np.nan if p is None else float(p >= 0.5))
    text = np.array([place[row["text_id"]] for row in marks.rows], dtype=np.int64)
    truth = np.where(marks.truth == 0.5, np.nan, np.round(marks.truth))  # neither is in between
    by_chance = AGENCY in table.chance
    weight = marks.weight if by_chance else np.ones(len(text))
    # Sentences that the classifier cannot tell count nowhere, whatever people say of them
    label, valid, note = np.array(labels), ~np.isnan(labels), marks.note
    # Without chances of the draw, the labels are compared with all sentences for signs of a choice.
    if not by_chance:
        reading = readings[masking]
        acts = np.nansum((reading.gap + 1.0) / 2.0 * reading.classed)
        note += picked(label[valid][:, np.newaxis], float(acts / max(reading.classed.sum(), 1.0)))
    return HandUnits(text[valid], label[valid], truth[valid], weight[valid], note)
