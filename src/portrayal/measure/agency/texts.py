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

from portrayal.annotate.agency.rows import WITHOUT_NEITHER
from portrayal.annotate.scores import AGENCY
from portrayal.errors import OptionError
from portrayal.measure.corrected import hand_marks, picked, sentence_number
from portrayal.raters import HandTable
from portrayal.records import ALL, OUTCOMES
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen, read_prompts, read_shards
from portrayal.run.stages import Stage
from portrayal.stats import divide
from portrayal.types import BoolArray, FloatArray, IntArray

WITHIN = "groups shuffled among the texts of one cluster"
ALIKE = "groups shuffled among texts that are alike but for group and name"
STRATUM = "groups shuffled among the texts of one stratum"
WHOLE = "groups shuffled among all texts"
MOST_TOLD = {WITHIN: 0.1, ALIKE: 0.02, STRATUM: 0.5}
"""Association of block and group up to which a blocking is used.

Prompts crossed with groups have 0, and hardly more where a few texts are missing. Clusters may hold
single groups now and then; a stratum may hold more of one group than of another, as long as most
texts can move.
"""


def association(block: IntArray, cell: IntArray) -> float:
    """Goodman and Kruskal's tau: how far a text's block tells its group.

    Parameters
    ----------
    block, cell
        Codes of block and group of each unit, shape (n,).

    Returns
    -------
    tau
        0 where every block holds the groups in equal shares, 1 where none holds two groups. The
        mean of shuffled differences lies about tau of the way from none to the observed one where
        blocks differ from each other by chance alone.

    References
    ----------
    Goodman & Kruskal (1954), Measures of association for cross classifications.
    """
    n = len(cell)
    if not n:
        return 0.0
    # Each block and group together as one number, so that one pass counts them.
    place = block.astype(np.int64) * (int(cell.max()) + 1) + cell
    pair_of = np.unique(place, return_index=True, return_counts=True)
    _, code, size = np.unique(block, return_inverse=True, return_counts=True)
    # Texts whose group a draw from their own block would guess, and below, a draw from all.
    stays = float((pair_of[2] ** 2 / size[code[pair_of[1]]]).sum()) / n
    chance = float(((np.bincount(cell) / n) ** 2).sum())
    return 0.0 if chance >= 1.0 else (stays - chance) / (1.0 - chance)


def block_of_units(
    blocks: Mapping[str, IntArray], unit: IntArray, first: IntArray, cell: IntArray
) -> tuple[str, IntArray]:
    """Return how groups are shuffled, and the block of each unit.

    Parameters
    ----------
    blocks
        Block of each text that is read, shape (n_texts,), by name; the finest is taken first.
    unit
        Unit of each text, shape (n_texts,). A unit moves as a whole, so a blocking that parts one
        is not used.
    first, cell
        A text of each unit, and its group, shape (n_units,).
    """
    for name, most in MOST_TOLD.items():
        # The finest first: texts alike in most respects make the sharpest comparison
        block = blocks[name][first] if name in blocks else None
        if block is None:
            continue
        if (block[unit] == blocks[name]).all() and association(block, cell) <= most:
            return name, block
    return WHOLE, np.zeros(len(first), dtype=np.int64)


MASKED, UNMASKED = "masked", "unmasked"
ORIGINAL = "original"
"""The condition of prompts that add nothing."""
HUMAN = "human"
"""The model of texts that people wrote."""
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
_UNKNOWN = ""


@dataclass(frozen=True, eq=False)
class HandSentences:
    """Sentences that people labelled, of those that the classifier could tell.

    Attributes
    ----------
    masking
        Under which the classifier read them.
    text
        Index of each one's text, shape (n,).
    said, truth
        Whether it is agentic (1 or 0), by the classifier and by people; NaN for neither.
    weight
        How many sentences each stands for, shape (n,); 1 where all stand for as many.
    note
        Who labelled them.
    """

    masking: str
    text: IntArray
    said: FloatArray
    truth: FloatArray
    weight: FloatArray
    note: str


def hand_sentences(
    run: Run,
    stages: Mapping[str, Stage],
    order: Sequence[str],
    table: HandTable,
    counts: "Mapping[str, Counted]",
) -> HandSentences | None:
    """Set labels of sentences beside the classifier's; None where there are none.

    Parameters
    ----------
    run, stages
        The run and its annotations by masking, of which the first counts.
    order
        Its text_ids, in the order of `AgencyTexts`.
    counts
        What the classifier says of all sentences, as `_rows` gives it.
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
    weight = marks.weight if AGENCY in table.chance else np.ones(len(text))
    # Sentences that the classifier cannot tell count nowhere, whatever people say of them
    guess, valid = np.array(labels), ~np.isnan(labels)
    note = marks.note
    # Without chances of the draw, the labels are compared with all sentences for signs of a choice.
    if AGENCY not in table.chance:
        gap, n, _ = counts[masking]
        acts = float(np.nansum((gap.mean(axis=0) + 1.0) / 2.0 * n) / max(n.sum(), 1.0))
        note += picked(guess[valid][:, np.newaxis], acts)
    return HandSentences(masking, text[valid], guess[valid], truth[valid], weight[valid], note)


@dataclass(frozen=True, eq=False)
class AgencyTexts:
    """The texts of an agency audit.

    Attributes
    ----------
    models, tasks, conditions, strata
        Labels of the codes below.
    attributes, values
        Names of the group columns, and the labels of each.
    clusters
        The independent unit: "prompt", "text" where the texts name no prompt, or the column asked
        for.
    model, task, condition
        Codes, shape (n_texts,).
    stratum
        Code of the stratum; -1 where a text has none.
    group
        Codes of the values of each attribute, shape (n_texts, n_attributes).
    cluster, run
        The independent unit of each text, and the run (repetition of all prompts) it belongs to.
    blocks
        Blocks in which groups may be exchangeable, by name, each of shape (n_texts,); see
        `portrayal.measure.agency.texts`.
    columns
        Codes of the prompts' other columns, but for groups, names and clusters, shape (n_texts,)
        each: prompts that agree in them are alike. Empty where the texts name no prompt.
    outcome
        Index into `OUTCOMES`; an annotation that failed counts as "failed".
    gap
        Ratio gap by masking, shape (n_texts,); NaN where a text has none.
    told, untold
        Sentences that the classifier could tell, and those it could not, by masking.
    left_out
        Why a text is not read, as index into `REASONS`; -1 where it is.
    first
        Values of groups that come first in a difference.
    checkpoints
        Ratio gap by each checkpoint of the classifier, by masking, shape (n_checkpoints, n_texts),
        whose mean is `gap`; empty where the classifier is no set of checkpoints.
    readings, beside
        Names of what reads the sentences beside the classifier, and by masking the ratio gap by
        each, shape (n_readings, n_texts).
    neither
        Share of each text's sentences that are neither agentic nor communal, by masking, shape
        (n_texts,); empty where that was not read.
    cluster_names, column_labels
        Names of the clusters, and labels of the codes of each column. Prompts that differ in their
        condition alone have one name, so that runs are paired before and after an instruction.
    spare
        Codes of columns, shape (n_texts,) each, of texts that name no prompt: texts that agree in
        one could be compared with each other, if that were asked for.
    names, name_labels
        Code of the name that each text is about, shape (n_texts,), and what each is, where names
        are units beside the blocks; None where there are none, or other units are asked for.
    hand
        Sentences that people labelled.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    conditions: tuple[str, ...]
    strata: tuple[str, ...]
    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    clusters: str
    model: IntArray
    task: IntArray
    condition: IntArray
    stratum: IntArray
    group: IntArray
    cluster: IntArray
    run: IntArray
    blocks: Mapping[str, IntArray]
    outcome: IntArray
    gap: Mapping[str, FloatArray]
    told: Mapping[str, FloatArray]
    untold: Mapping[str, FloatArray]
    left_out: IntArray
    columns: Mapping[str, IntArray] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    checkpoints: Mapping[str, FloatArray] = field(default_factory=dict)
    readings: tuple[str, ...] = ()
    beside: Mapping[str, FloatArray] = field(default_factory=dict)
    neither: Mapping[str, FloatArray] = field(default_factory=dict)
    cluster_names: tuple[str, ...] = ()
    column_labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spare: Mapping[str, IntArray] = field(default_factory=dict)
    names: IntArray | None = None
    name_labels: tuple[str, ...] = ()
    cache: dict[Any, Any] = field(default_factory=dict, repr=False)
    hand: HandSentences | None = None

    @property
    def kept(self) -> BoolArray:
        """Which texts are read, shape (n_texts,)."""
        return np.asarray(self.left_out < 0)

    @property
    def maskings(self) -> tuple[str, ...]:
        """The maskings that were annotated."""
        return tuple(self.gap)

    @cached_property
    def cells(self) -> tuple[tuple[int, ...], ...]:
        """Every combination of values, one for each attribute, that can occur."""
        grids = np.meshgrid(*(np.arange(len(v)) for v in self.values), indexing="ij")
        return tuple(zip(*(grid.ravel().tolist() for grid in grids), strict=True))

    @cached_property
    def cell(self) -> IntArray:
        """Code of each text's combination, shape (n_texts,)."""
        code = np.zeros(len(self.model), dtype=np.int64)
        for i, labels in enumerate(self.values):
            code = code * len(labels) + self.group[:, i]
        return code


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
    readable = texts.kept & (texts.outcome == 0) & ~np.isnan(texts.gap[texts.maskings[0]])
    rng = np.random.default_rng([seed, 0])
    # One order for all strata and sizes, so that a larger sample holds the smaller one.
    order = rng.permutation(len(texts.model))
    place = np.stack([texts.model, texts.task, texts.condition, texts.stratum], axis=1)
    for stratum in np.unique(place[readable], axis=0) if readable.any() else ():
        inside = readable & (place == stratum).all(axis=1)
        # Groups that the place has at all, so that a stratum without one of them has too few of it.
        groups = np.unique(texts.cell[readable & (place[:, :3] == stratum[:3]).all(axis=1)])
        counts = np.bincount(texts.cell[inside], minlength=len(texts.cells))
        # A stratum with hardly any of a group says nothing of a difference, so it is left out
        # whole.
        if min_group and counts[groups].min() < min_group:
            left_out[inside] = 1
        elif per_stratum:
            for cell in np.flatnonzero(counts > per_stratum).tolist():
                members = np.flatnonzero(inside & (texts.cell == cell))
                sample = members[np.argsort(order[members], kind="stable")]
                left_out[sample[per_stratum:]] = 0
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
    rows, counts, extras = _rows(run, stages)
    note = run.texts.note()
    by_prompt = note.get("cluster_unit") == "prompt" or "prompt_id" in note.get("mapping", {})
    prompts = read_prompts(run.prompts_path)
    about = [prompts[prompt] for prompt in rows["prompt_id"]]
    check_columns(about, group)

    def values(name: str, missing: str) -> list[str]:
        spelling = spellings.get(name, {})
        raw = [facts.get(name, missing) for facts in about]
        return [spelling.get(value.casefold(), value) for value in raw]

    columns = [values(name, _UNKNOWN) for name in group]
    split = [next((facts[name] for name in strata if name in facts), None) for facts in about]
    named_tasks = values("domain", ALL)
    conditions = [facts.get("condition", ORIGINAL) for facts in about]
    codes = [_coded(column) for column in columns]
    stratum_code, stratum_labels = _coded([name or "" for name in split])
    model, models = _coded(rows["model"])
    task, task_labels = _coded(named_tasks)
    condition, condition_labels = _coded(conditions)
    unit, clusters = _clusters(cluster, rows["prompt_id"] if by_prompt else None, about)
    coarse = numbered(list(zip(named_tasks, conditions, split, strict=True)))
    within = {} if cluster in (None, EACH, PROMPT) else {WITHIN: clusters}
    group_columns = (*group, NAME, *((cluster,) if cluster else ()))
    other_names = sorted({name for facts in about for name in facts} - set(group_columns))
    cell = list(zip(*columns, strict=True))
    runs = np.array(rows["sample"], dtype=np.int64) * by_prompt
    coded = {name: _coded([facts.get(name, "") for facts in about]) for name in other_names}
    return AgencyTexts(
        models=models,
        tasks=task_labels,
        conditions=condition_labels,
        strata=tuple(filter(None, stratum_labels)),
        attributes=tuple(group),
        values=tuple(labels for _, labels in codes),
        clusters=unit,
        model=model,
        task=task,
        condition=condition,
        stratum=stratum_code - int("" in stratum_labels),
        group=np.stack([code for code, _ in codes], axis=1),
        cluster=clusters,
        run=_runs(runs, np.stack([model, task, condition], axis=1), len(set(cell))),
        blocks={**within, STRATUM: coarse},
        outcome=np.array([OUTCOMES.index(name) for name in rows["outcome"]], dtype=np.int64),
        gap={name: np.asarray(count[0].mean(axis=0)) for name, count in counts.items()},
        told={name: count[1] for name, count in counts.items()},
        untold={name: count[2] for name, count in counts.items()},
        left_out=np.where([_UNKNOWN in labels for labels in cell], REASONS.index(NO_GROUP), -1),
        columns={name: codes for name, (codes, _) in coded.items() if by_prompt},
        first=tuple(first),
        checkpoints={n: count[0] for n, count in counts.items() if len(count[0]) > 1},
        **extras,
        cluster_names=_unit_names(rows, about, unit, cluster, clusters),
        column_labels={name: labels for name, (_, labels) in coded.items() if by_prompt},
        spare={n: codes for n, (codes, _) in coded.items() if not by_prompt and not cluster},
        hand=None if table is None else hand_sentences(run, stages, rows["text_id"], table, counts),
        **_people(rows, about, by_name=cluster is None and NAME not in group),
    )


def _people(
    rows: Mapping[str, list[Any]], about: Sequence[Mapping[str, str]], *, by_name: bool
) -> dict[str, Any]:
    """Names and their labels, where some text has one and `by_name` holds."""
    if not by_name or not any(NAME in facts for facts in about):
        return {}
    code = _clusters(NAME, None, about)[1]
    return {"names": code, "name_labels": _unit_names(rows, about, NAME, NAME, code)}


def _unit_names(
    rows: Mapping[str, list[Any]],
    about: Sequence[Mapping[str, str]],
    unit: str,
    column: str | None,
    code: IntArray,
) -> tuple[str, ...]:
    """Name the independent units, the same in every run; `code` is that of each text."""
    # The first text of each unit stands for it.
    first = np.unique(code, return_index=True)[1].tolist()
    if unit == EACH:
        return tuple(str(rows["text_id"][i]) for i in first)
    if unit != "prompt":
        return tuple(about[i].get(str(column), str(i)) for i in first)
    label_of = {
        prompt: " · ".join(value for name, value in sorted(facts.items()) if name != "condition")
        for prompt, facts in zip(rows["prompt_id"], about, strict=True)
    }
    place = {
        (about[i].get("condition"), name)
        for i, name in enumerate(map(label_of.get, rows["prompt_id"]))
    }
    # Prompts that differ in nothing that is known cannot be paired by it, and keep their ids.
    distinct = len(place) == len(label_of) and all(label_of.values())
    prompts = [rows["prompt_id"][i] for i in first]
    return tuple(label_of[prompt] if distinct else prompt for prompt in prompts)


Counted = tuple[FloatArray, FloatArray, FloatArray]


def _rows(
    run: Run, stages: Mapping[str, Stage]
) -> tuple[dict[str, list[Any]], dict[str, Counted], dict[str, Any]]:
    """Texts by column in the order of text_id; ratio gap, told and untold sentences by masking.

    The ratio gap has the shape (n_checkpoints, n_texts). Last, the fields `readings`, `beside` and
    `neither` of `AgencyTexts`.
    """
    import pyarrow as pa

    names = ["text_id", "prompt_id", "sample", "model", "outcome"]
    readings = tuple(next(iter(stages.values())).note().get("settings", {}).get("beside", ()))
    fields = ["agentic", "checkpoints", *(["beside"] if readings else []), "error"]
    annotations = [(stage, fields) for stage in stages.values()]
    texts, *annotated = map(
        pa.concat_tables, zip(*read_shards(run.texts, names, *annotations), strict=True)
    )
    # By text_id, so that the size of shards changes no random draw
    order = np.argsort(np.array(texts["text_id"].to_pylist(), dtype=object), kind="stable")
    columns = {name: texts[name].take(order).to_pylist() for name in names}
    counts: dict[str, Counted] = {}
    by_other: dict[str, Counted] = {}
    for name, table in zip(stages, annotated, strict=True):
        rows = table.take(order)
        gap, n_classed, n_unclassed = _counted(rows["agentic"].combine_chunks())
        checkpoints = _by_list(rows["checkpoints"].combine_chunks())
        counts[name] = gap[None] if checkpoints is None else checkpoints[0], n_classed, n_unclassed
        read = _by_list(rows["beside"].combine_chunks()) if readings else None
        if read is not None:
            by_other[name] = read
        # Texts that the classifier failed on are excluded like those that a model failed on.
        for i in np.flatnonzero(np.array(rows["error"].is_valid())).tolist():
            columns["outcome"][i] = "failed"
    extras: dict[str, Any] = {
        "readings": readings,
        "beside": {name: count[0] for name, count in by_other.items()},
    }
    # The last reading leaves out sentences that are neither: their share is what it lacks of all.
    if readings and readings[-1] == WITHOUT_NEITHER:
        silent = {name: divide(count[1][-1], counts[name][1]) for name, count in by_other.items()}
        extras["neither"] = {name: 1.0 - share for name, share in silent.items()}
    return columns, counts, extras


def _counted(agentic: Any) -> Counted:
    """Ratio gap, sentences told and untold of each text, from its list of probabilities."""
    length = np.array(agentic.value_lengths().fill_null(0), dtype=np.int64)
    of = np.repeat(np.arange(len(length)), length)
    p = np.array(agentic.flatten().fill_null(float("nan")), dtype=np.float64)
    n_classed = np.bincount(of, weights=~np.isnan(p), minlength=len(length))
    # NaN is not ≥ 0.5, so untold sentences are not agentic
    acts = np.bincount(of, weights=p >= 0.5, minlength=len(length))
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(n_classed > 0, 2.0 * acts / n_classed - 1.0, np.nan)
    return gap, n_classed.astype(np.float64), (length - n_classed).astype(np.float64)


def _by_list(lists: Any) -> Counted | None:
    """What `_counted` gives of each of a text's lists, shapes (k, n_texts); None without lists."""
    import pyarrow.compute as pc

    n = pc.max(pc.list_value_length(lists)).as_py()
    if not n:
        return None
    # Texts without lists stay NaN: they were not read, which is not a gap of 0.
    valid = np.array(lists.is_valid())
    counts = np.full((3, n, len(valid)), np.nan)
    counts[:, :, valid] = [part.reshape(-1, n).T for part in _counted(lists.flatten())]
    return counts[0], counts[1], counts[2]


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


def _clusters(
    column: str | None, prompts: Sequence[str] | None, about: Sequence[Mapping[str, str]]
) -> tuple[str, IntArray]:
    """What the independent units are called, and the unit of each text."""
    by_text = np.arange(len(about))
    if column is None or column == PROMPT:
        return ("text", by_text) if prompts is None else ("prompt", _coded(prompts)[0])
    if column == EACH:
        return "text", by_text
    if not any(column in facts for facts in about):
        raise OptionError(f"--cluster {column}: no text has a value for it.")
    # without a value, a unit of its own
    labels = [facts.get(column, i) for i, facts in enumerate(about)]
    return column, numbered(labels)


def _coded(labels: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    distinct = sorted(set(labels))
    table = {label: i for i, label in enumerate(distinct)}
    return np.array([table[label] for label in labels], dtype=np.int64), tuple(distinct)


def numbered(labels: Sequence[Any]) -> IntArray:
    """Return a code of each label, numbered in the order in which labels first come."""
    table: dict[Any, int] = {}
    return np.array([table.setdefault(label, len(table)) for label in labels], dtype=np.int64)


def told_runs(sample: IntArray, n_cells: int) -> IntArray:
    """Return the run of each text; 0 for all where a run would hold too few texts of a group."""
    # Means of a few texts would differ between runs by chance alone.
    few = len(sample) < PER_RUN * n_cells * len(np.unique(sample))
    return np.zeros_like(sample) if few else sample


def _runs(sample: IntArray, place: IntArray, n_cells: int) -> IntArray:
    """Runs of each place."""
    runs = sample.copy()
    for key in np.unique(place, axis=0):
        inside = (place == key).all(axis=1)
        runs[inside] = told_runs(sample[inside], n_cells)
    return runs
