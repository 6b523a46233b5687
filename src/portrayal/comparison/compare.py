"""Compare runs, or models of one: every estimate that both sides have, paired by prompt."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow.parquet as pq

import portrayal.registry as registry
from portrayal.comparison.result import Change, Comparison, Instrument, Prompts
from portrayal.comparison.scores import compare_scores
from portrayal.comparison.sums import changes_against, codes_of, known, sums_of, why_not
from portrayal.errors import OptionError, PortrayalError
from portrayal.measure.scope import stated_changes, with_q_values
from portrayal.records import ALL, LIKE_THESE, REFERENCE, THESE, Estimate, Population, Test
from portrayal.run import Run, read_parquet
from portrayal.stats import benjamini_hochberg, holm
from portrayal.stats.tails import normal_isf
from portrayal.types import FloatArray, Tabular
from portrayal.validate import check_choice, check_level

_OF_SIDE = ("model", "classifier")
"""Strata that say who wrote and who read, by which sides may differ."""

Key = tuple[str, str, frozenset[tuple[str, str]], frozenset[tuple[str, str]]]


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison: a run, and its model; None for the run as it is."""

    run: Run
    model: str | None = None

    @property
    def name(self) -> str:
        """The directory, with the model where one was chosen."""
        path = str(self.run.path)
        return path if self.model is None else f"{path} ({self.model})"

    @property
    def models(self) -> list[str]:
        """Models of the run, or the one that was chosen.

        Raises
        ------
        OptionError
            Where the run has no such model, naming those it has.
        """
        models: list[str] = self.run.settings().get("models", [])
        if self.model is None:
            return models
        if self.model not in (*models, ALL):
            raise OptionError(
                f"{self.run.path} has no model {self.model!r}; models: {', '.join(models)}."
            )
        return [self.model]


def side_of(run: Run | Side | Tabular) -> Side:
    """Return a side of a comparison from what `compare` takes; OptionError for a table or log."""
    if isinstance(run, Run | Side):
        return run if isinstance(run, Side) else Side(run)
    if not isinstance(run, str | Path) or Path(run).is_file():
        name = f"{run} is" if isinstance(run, str | Path) else "a table is"
        raise OptionError(f"{name} no run; of tables and logs, name a column: --score COLUMN.")
    return Side(Run.open(run))


def model_pairs(
    a: Side, b: Side, aliases: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Return the models to compare: those of one name; the only two; else all together."""
    ours, theirs = a.models, b.models
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    # Versions of one model have several names; aliases bring them together.
    alias_of = aliases or {}
    called = {alias_of.get(model, model): model for model in theirs}
    names = [(model, alias_of.get(model, model)) for model in ours]
    return [(model, called[name]) for model, name in names if name in called] + [(ALL, ALL)]


def rows_of(side: Side, model: str) -> dict[Key, int]:
    """Return the estimates of a model by what they are, as rows of the run.

    Where the run has one model, what is only known of all models together is that model's.
    """
    single = len(side.run.settings().get("models", [])) < 2
    index: dict[Key, int] = {}
    # The model's own estimate comes last, and so replaces that of all models.
    for label in [ALL, model] if single and model != ALL else [model]:
        for row, estimate in enumerate(side.run.records):
            if estimate.strata.get("model", ALL) == label:
                strata = frozenset(
                    item for item in estimate.strata.items() if item[0] not in _OF_SIDE
                )
                group = frozenset(estimate.group.items())
                index[estimate.measure, estimate.statistic, strata, group] = row
    return index


def matched(
    a: dict[Key, int], b: dict[Key, int]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return the rows of both sides that are the same estimate, and those of each side alone."""
    both = [(row, b[key]) for key, row in a.items() if key in b]
    only_a, only_b = ([row for key, row in x.items() if key not in y] for x, y in ((a, b), (b, a)))
    return both, only_a, only_b


_NO_INSTRUMENT = {*("seed", "draws", "permutations", "hand_labels", "labeler_samples", "factor")}
"""Options that change no value, or give data; factors are compared by what they say."""


def differing(a: Run, b: Run, records: tuple[list[Estimate], list[Estimate]]) -> list[Instrument]:
    """Return what the runs measured with differently.

    That is what their estimates name as instruments, for the measures that both have, and the
    options of the audits that are neither seeds nor numbers of draws.

    Parameters
    ----------
    a, b
        The runs.
    records
        Estimates of each that are compared.
    """
    measures = {e.measure for e in records[0]} & {e.measure for e in records[1]}
    sides: list[dict[str, str]] = []
    for estimates, run in zip(records, (a, b), strict=True):
        by_name: dict[str, set[str]] = defaultdict(set)
        for estimate in estimates:
            for name, value in estimate.instruments.items() if estimate.measure in measures else ():
                # What follows a semicolon is a note on an instrument, no other instrument.
                by_name[name].add(value.partition(";")[0])
        used = {name: ", ".join(sorted(values)) for name, values in by_name.items()}
        settings = run.settings()
        for name, value in settings.get("options", {}).items():
            if name not in _NO_INSTRUMENT and value not in ("", [], False):
                used[name] = str(value)
        for factor in settings.get("factors", ()):
            # A factor is what it says, not what its file is called.
            used[f"factor {factor['name']}"] = str(factor["digest"])
        sides.append(used | {"annotators": ", ".join(settings.get("annotators", []))})
    return _unlike(*sides)


def _unlike(first: Mapping[str, str], second: Mapping[str, str]) -> list[Instrument]:
    """What two sides have of different names, or under one name with different values."""
    return [
        Instrument(name, first.get(name, ""), second.get(name, ""))
        for name in sorted(first.keys() | second.keys())
        if first.get(name, "") != second.get(name, "")
    ]


def asked_differently(
    sides: tuple[Side, Side], pairs: Iterable[tuple[str, str]]
) -> list[Instrument]:
    """Return by which parameters, and by which versions of models, the sides were asked.

    Nothing for texts that were not asked here. Differences are no fault: they may be what is
    compared.
    """
    by_side: list[dict[str, set[str]]] = [defaultdict(set), defaultdict(set)]
    for pair in pairs:
        notes = [
            side.run.texts.note().get("asked", {}).get(model)
            for side, model in zip(sides, pair, strict=True)
        ]
        # Texts that were not asked here have no parameters to differ in.
        for into, note in zip(by_side, notes, strict=True) if all(notes) else ():
            facts = {**note["parameters"], "model named in answers": ", ".join(note["answered_by"])}
            for name, value in facts.items():
                into[name].add(str(value))
    return _unlike(*({n: "; ".join(sorted(v)) for n, v in values.items()} for values in by_side))


def check_instruments(
    instruments: Iterable[Instrument], despite: Iterable[str], remedy: str = "with --despite {}"
) -> None:
    """Refuse runs that measured with something else, but for what `despite` names.

    Raises
    ------
    OptionError
        Listing what differs; or where `despite` names what does not.
    """
    items, allowed = list(instruments), set(despite)
    # A permission for what does not differ is most likely a misspelled name.
    needless = allowed - {item.name for item in items} - {"all"}
    if needless:
        names = ", ".join(item.name for item in items) or "nothing"
        raise OptionError(
            f"despite {', '.join(sorted(needless))}: that does not differ; what does: {names}."
        )
    refused = [item for item in items if item.name not in allowed and "all" not in allowed]
    if refused:
        words = "; ".join(map(str, refused))
        raise OptionError(
            f"the runs measured with different instruments ({words}). Audit both alike, or name "
            f"what may differ {remedy.format(refused[0].name)}."
        )


MARGIN = 1.25
"""Factor up to which ratios count as the same."""
SHARE_MARGIN = 0.05
"""Difference up to which shares count as the same; other differences have no such margin."""


@dataclass(frozen=True)
class Choices:
    """How sure, what counts as the same, and of which prompts."""

    level: float = 0.95
    margin: float = MARGIN
    difference_margin: float | None = None
    population: Population = LIKE_THESE

    def __post_init__(self) -> None:
        """Refuse choices that cannot be used."""
        check_level(self.level)
        check_choice("population", self.population, get_args(Population))
        if not self.margin >= 1.0:
            raise OptionError(
                f"margin is a factor of 1 or more, such as 1.25; got {self.margin!r}."
            )
        if self.difference_margin is not None and not self.difference_margin >= 0.0:
            raise OptionError(
                "the margin of differences is 0 or more, such as 0.05; got "
                f"{self.difference_margin}."
            )

    def margin_of(self, estimate: Estimate) -> float | None:
        """Return the margin: a factor of ratios, else a difference; None where there is none."""
        if estimate.statistic == "ratio":
            return self.margin
        if self.difference_margin is not None:
            return self.difference_margin
        component = registry.described(estimate.measure)
        is_share = component is not None and component.range.startswith("0 to 1")
        counted = estimate.statistic in ("share", "agentic", "communal")
        # Five points are a margin of shares; of a score or distance they would mean nothing.
        return SHARE_MARGIN if counted and is_share else None


def compare(
    a: Run | Side | Tabular,
    b: Run | Side | Tabular,
    *,
    score: str | Sequence[str] | None = None,
    pair_by: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    margin: float | None = None,
    difference_margin: float | None = None,
    despite: Collection[str] = (),
    seed: int = 0,
    aliases: Mapping[str, str] | None = None,
    population: Population = LIKE_THESE,
) -> Comparison:
    """Compare two runs of one study, or scores in two tables or logs.

    Runs are compared estimate by estimate, without reading their texts: ratios as a ratio of ratios
    on the log scale, everything else by its difference; always the second run beside the first.
    Prompts that both runs have are paired.

    Parameters
    ----------
    a, b
        Directories of runs, runs, or sides of them (`Side(run, model)`); with `score`, whatever
        texts are read from.
    score
        Columns of numbers, or of yes and no, to compare; see `ScoreChange`.
    pair_by, cluster
        Of scores: the column that names samples, by default one such as `id` or `doc_id`; and one
        whose samples may depend on each other.
    level
        Confidence level; tests of equivalence are each at 1 − level.
    margin
        Factor, 1 or more, up to which ratios count as the same, by default 1.25; of scores the
        difference, in their unit, by default none.
    difference_margin
        The same for differences. By default .05 for shares, and none for others.
    despite
        Names of instruments that may differ; "all" for any.
    seed
        Start of the joint draws by which changes are adjusted for each other.
    aliases
        Name of a model → the name under which it is compared.
    population
        "prompts-like-these", of which the prompts are a sample, or "these-prompts": the same fixed
        prompts, asked twice, so that chance is in the answers alone.

    Returns
    -------
    Comparison
        A row for every estimate that both have, with the reason where it has no change.

    Raises
    ------
    RunError, OptionError
        Where a run is missing, of another study, or without sums by prompt; and where instruments
        differ, listing them.

    Examples
    --------
    >>> she = "Maria was a star student. She helped Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": she}] * 3
    >>> run = portrayal.audit(study="laissez-faire", texts=stories, out="one", report=False)
    >>> found = compare("one", "one")
    >>> len(found.rows) > 50, found.prompts.both
    (True, 1)
    """
    if score is not None:
        if isinstance(a, Run | Side) or isinstance(b, Run | Side):
            raise OptionError("score names a column of tables or logs; a run has none.")
        return compare_scores(
            *(a, b, score), pair_by=pair_by, cluster=cluster, margin=margin, level=level
        )
    if pair_by is not None or cluster is not None:
        raise OptionError("pair_by and cluster go with score: runs are paired by their prompts.")
    sides = side_of(a), side_of(b)
    models = model_pairs(*sides, aliases)
    choices = Choices(level, MARGIN if margin is None else margin, difference_margin, population)
    study = study_of(sides)
    matches = [matched(*map(rows_of, sides, pair)) for pair in models]
    records = sides[0].run.records, sides[1].run.records
    used = [[records[s][rows[s]] for both, *_ in matches for rows in both] for s in (0, 1)]
    only_a, only_b = (
        Counter(records[s][row].measure for _, *only in matches for row in only[s]) for s in (0, 1)
    )
    instruments = differing(sides[0].run, sides[1].run, (used[0], used[1]))
    check_instruments(instruments, despite)
    rows = [
        row
        for pair, (both, *_) in zip(models, matches, strict=True)
        for row in changes(sides, pair, both, choices)
    ]
    return Comparison(
        study,
        sides[0].name,
        sides[1].name,
        tuple(_with_q(rows, used, study, seed)),
        level,
        tuple(instruments),
        _prompts(sides[0].run, sides[1].run),
        dict(only_a),
        dict(only_b),
        sides[0].run.factors,
        tuple(asked_differently(sides, models)),
        population,
    )


def compare_several(sides: Sequence[Any], **options: Any) -> tuple[Comparison, ...]:
    """Compare several runs, or models of runs, with the first of them.

    Parameters
    ----------
    sides
        What `compare` takes, two or more; each of one model, if they are more than two.
    **options
        As in `compare`.

    Returns
    -------
    tuple of Comparison
        Of each other side with the base. `audit_q` is of all of them together, and `p_family` of a
        row holds the error of all sides for that estimate (Holm).

    Raises
    ------
    OptionError, RunError
        As `compare`, and where a side has several models.
    """
    of_runs = options.get("score") is None
    base, *compared = map(side_of, sides) if of_runs else sides
    if not compared:
        raise OptionError("a comparison takes two sides or more.")
    # Of two sides, models can be matched; of more, each must be one.
    for side in (base, *compared) if of_runs and len(compared) > 1 else ():
        if len(side.models) > 1:
            raise OptionError(
                f"{side.name} has several models; compare them with each other by --by model."
            )
    return _in_one_family([compare(base, other, **options) for other in compared])


def models_of(side: Side, base: str | None) -> list[Side]:
    """Return the models of a run as sides, the base first; the first by name without one.

    Raises
    ------
    OptionError
        Where the run has fewer than two models, or not the base.
    """
    models = side.models
    if len(models) < 2:
        raise OptionError(f"{side.run.path} has one model; name a second run to compare it with.")
    first = models[0] if base is None else base
    # `Side.models` refuses a base that is no model.
    names = [*Side(side.run, first).models, *(model for model in models if model != first)]
    return [Side(side.run, model) for model in names]


def _in_one_family(pairs: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Adjust p over the sides of each estimate, and `audit_q` over all that is stated."""
    if len(pairs) < 2:
        return tuple(pairs)
    rows = [row for pair in pairs for row in pair.rows]
    families: dict[object, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        strata, group = frozenset(row.strata.items()), frozenset(row.group.items())
        families[row.measure, row.statistic, strata, group].append(i)
    # All sides share the base and so its chance; Holm holds however tests depend on each other.
    tests: list[tuple[str, list[int], Callable[[list[float]], FloatArray]]] = [
        *(("p_family", members, holm) for members in families.values()),
        ("audit_q", [i for i, row in enumerate(rows) if row.stated], benjamini_hochberg),
    ]
    for name, members, adjust in tests:
        p = [np.nan if (p := rows[i].p) is None else p for i in members]
        for i, value in zip(members, adjust(p).tolist(), strict=True):
            number: Any = known(value)
            rows[i] = replace(rows[i], **{name: number})
    # Adjusted rows go back into the comparison that they are from.
    adjusted = iter(rows)
    return tuple(replace(pair, rows=tuple(islice(adjusted, len(pair.rows)))) for pair in pairs)


def study_of(sides: tuple[Side, Side]) -> str:
    """Return the study of both sides; OptionError where they have two."""
    studies = [str(side.run.settings().get("study")) for side in sides]
    if studies[0] != studies[1]:
        raise OptionError(
            f"{sides[0].run.path} is an audit of {studies[0]} and {sides[1].run.path} of "
            f"{studies[1]}; runs of one study can be compared."
        )
    return studies[0]


def _within(run: Run, row: int) -> float:
    """Variance of an estimate that the texts of its prompts give; NaN where it is not known."""
    fixed = run.records[row].fixed
    if fixed is None or run.records[row].statistic == "ratio":
        return np.nan
    tail = (1.0 - float(run.settings().get("options", {}).get("level", 0.95))) / 2.0
    return float((fixed.high - fixed.low) / 2.0 / normal_isf(tail)) ** 2


def changes(
    sides: tuple[Side, Side],
    models: tuple[str, str],
    rows: Sequence[tuple[int, int]],
    choices: Choices,
) -> list[Change]:
    """Compare the matched estimates of a pair of models, in their order; q is not added here.

    Parameters
    ----------
    sides, models
        Both sides, and the model of each.
    rows
        Rows of the first and of the second run that are the same estimate.
    choices
        Level, margins and population.
    """
    runs = sides[0].run, sides[1].run
    codes_by_run, buckets = codes_of(runs)
    results: list[Change] = []
    batches: dict[object, list[int]] = defaultdict(list)
    for i, j in rows:
        one = runs[0].records[i]
        change = Change(
            one.measure,
            one.statistic,
            {name: value for name, value in one.strata.items() if name != "model"},
            one.group,
            "ratio" if one.statistic == "ratio" else "difference",
            *models,
            one.value,
            runs[1].records[j].value,
            margin=choices.margin_of(one),
            undefined=why_not(runs, (i, j)),
            rows=(i, j),
            details=one.details,
        )
        if change.undefined is None:
            # What shares form, scale and prompts is compared together.
            stores = runs[0].influences, runs[1].influences
            prompts = [s.prompts_of(row).tobytes() for s, row in zip(stores, (i, j), strict=True)]
            batches[stores[0].forms[i], change.scale, *prompts].append(len(results))
        results.append(change)
    for numbers in batches.values():
        of_rows = [rows[n] for n in numbers]
        before, after = map(sums_of, runs, zip(*of_rows, strict=True), codes_by_run)
        margins = np.array([results[n].margin for n in numbers], dtype=np.float64)
        new_fields = changes_against(
            after,
            before,
            choices.level,
            margin=np.log(margins) if before.log else margins,
            buckets=buckets,
            part=np.array([runs[0].records[i].part for i, _ in of_rows]),
            fixed=choices.population == THESE,
            within=np.array([_within(runs[0], i) + _within(runs[1], j) for i, j in of_rows]),
        )
        for n, fields in zip(numbers, new_fields, strict=True):
            values = {name: value for name, value in fields.items() if value is not None}
            results[n] = replace(results[n], **values)
    return results


def _with_q(
    rows: list[Change], originals: Sequence[Sequence[Estimate]], study: str, seed: int
) -> Iterator[Change]:
    """Add q of details and of what may be stated, as an audit's estimates get them.

    `originals` are the estimates of each side; a change is stated where both rest on enough people.
    """
    # Changes take the place of the estimates they are of, so that families are those of an audit.
    tested = []
    for row, estimate in zip(rows, originals[0], strict=True):
        tested.append(
            replace(
                estimate,
                strata={**row.strata, "model": row.model},
                tests=() if row.p is None else (Test(row.p, row.method),),
                value=0.0 if row.change is None else row.change,
                undefined=None,
                scores=row.scores,
            )
        )
    models = sorted({e.strata["model"] for e in tested} - {ALL, REFERENCE})
    main = models[0] if len(models) == 1 else ALL
    may_be = stated_changes(tested, main, stated_of(study))
    flags = [
        yes and row.p is not None and other.enough
        for row, yes, other in zip(rows, may_be, originals[1], strict=True)
    ]
    adjusted = with_q_values(tested, seed=seed, members=flags)
    for row, e, yes in zip(rows, adjusted, flags, strict=True):
        first = e.tests[0] if e.tests else None
        q = None if first is None or first.q is None or np.isnan(first.q) else first.q
        yield replace(row, q=q, audit_q=None if first is None else first.audit_q, stated=yes)


def stated_of(study: str) -> dict[str, str]:
    """Return the strata that a study's sentences keep to; none for a study that is not there."""
    try:
        return dict(registry.get("studies", study).stated)
    except PortrayalError:
        return {}


def _prompts(a: Run, b: Run) -> Prompts:
    """Count the prompts of both runs, and those of both whose words differ.

    Prompts are the same where they have one name, or else where all is the same that is known of
    them but the condition.
    """
    if a.path == b.path:
        return Prompts(pq.read_metadata(a.prompts_path).num_rows, 0, 0)
    ours, theirs = (
        read_parquet(run.prompts_path, columns=["prompt_id", "text", "strata"]) for run in (a, b)
    )
    shared_ids = set(ours["prompt_id"].to_pylist()) & set(theirs["prompt_id"].to_pylist())

    def about(strata: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        # An instruction may rename a prompt, so the condition must not part it from its pair.
        return tuple(sorted(item for item in strata if item[0] != "condition"))

    words, other_words = (
        {
            name if name in shared_ids else about(strata) or name: text
            for name, text, strata in zip(*table.to_pydict().values(), strict=True)
        }
        for table in (ours, theirs)
    )
    shared = words.keys() & other_words.keys()
    reworded = sum(words[key] != other_words[key] for key in shared)
    only = [len(table) - len(shared) for table in (ours, theirs)]
    return Prompts(len(shared), only[0], only[1], reworded)
