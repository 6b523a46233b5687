"""The command `mitigate agency`, and what it prints."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.asking import (
    BATCH,
    LIMITS,
    asking_of,
    asking_options,
    asking_progress,
    settings_of,
    under_way,
)
from portrayal.cli.options import (
    ONE_BY_ONE,
    By,
    Columns,
    Draws,
    Flag,
    Format,
    Level,
    Masked,
    Permutations,
    ReferenceGroup,
    RunOr,
    Seed,
    Texts,
    either,
    pairs,
    record,
)
from portrayal.cli.printing import line
from portrayal.config import ReadingConfig, classifier_settings, options_of

if TYPE_CHECKING:
    from portrayal.mitigate import Mitigation


REWRITING = record(
    [*asking_options("model", *LIMITS, *BATCH), options_of(ReadingConfig)["classifier_settings"]]
)


def agency(
    run: RunOr = None,
    /,
    *,
    texts: Texts = None,
    out: Path = Path("mitigated"),
    by: By = None,
    stratum: str | None = None,
    method: str = "rewrite",
    target: str = "always-up",
    reference_group: ReferenceGroup = None,
    per_stratum: Annotated[bool, Parameter(name="--within-strata", show_default=False)] = False,
    min_group: int = 10,
    rounds: int = 3,
    all_rounds: Flag = False,
    text_type: str | None = None,
    classifier: str = "linear",
    check_classifier: str | None = None,
    masked: Masked = True,
    least_similarity: float = 0.6,
    level: Level = 0.95,
    draws: Draws = 2000,
    permutations: Permutations = 999,
    seed: Seed = 0,
    column: Columns = None,
    how: Annotated[Any, ONE_BY_ONE] = REWRITING,
    format: Format = "table",
) -> None:
    """Rewrite communal (or agentic) sentences so that groups are alike; the same call continues.

    Example: portrayal mitigate agency runs/agency --model openai:gpt-5-mini --by gender

    Parameters
    ----------
    out
        Directory of the rewritten texts and the report.
    stratum
        Column, such as occupation, to compare groups within.
    method
        rewrite, or instruction (ask again with the fairness instruction).
    target
        always-up (as published), or reference (to one group's level).
    per_stratum
        Reference: toward its level in each --stratum.
    min_group
        Texts of each group that a stratum needs for a level of its own.
    rounds
        Rounds of rewriting at most.
    all_rounds
        Go on where differences are inside noise.
    text_type
        What the instruction calls a text: "biography", ….
    classifier
        Classifier of sentences.
    check_classifier
        A second classifier, to read the result as well.
    least_similarity
        List texts that are less alike than this, 0 to 1.
    """
    from portrayal.mitigate import mitigate_agency
    from portrayal.studies.agency.audit import FIRST

    json = format == "json"
    source = either(run, texts)
    with under_way(out, as_object=json), asking_progress(quiet=json or how.batch) as answered:
        settings = settings_of(how, answered)
        own = settings.pop("classifier_settings", {})
        asking = asking_of(settings)
        if how.batch and not json:
            show.line("asking in batches; Ctrl-C is safe, and the same command continues")
        done = mitigate_agency(
            source,
            asking,
            out,
            group=tuple(by or ("gender", "race")),
            stratum=stratum,
            first=FIRST,
            columns=column or (),
            method=method,
            target=target,
            reference=pairs("--reference-group", reference_group, "gender=male"),
            per_stratum=per_stratum,
            min_group=min_group,
            rounds=rounds,
            until_noise=not all_rounds,
            text_type=text_type,
            classifier=classifier,
            masked=masked,
            check_classifier=check_classifier,
            classifier_settings=classifier_settings((classifier, check_classifier), own, settings),
            least_similarity=least_similarity,
            level=level,
            draws=draws,
            permutations=permutations,
            seed=seed,
            say=show.nothing if json else show.line,
        )
    if json:
        show.as_json({"out": str(done.out), **done.facts})
    else:
        print_mitigation(done)


def print_mitigation(done: "Mitigation") -> None:
    """Print groups, gaps and variances before and after, what got worse, and what was done."""
    facts = done.facts
    compared = facts["comparison"]
    _table("variance between groups (pp²)", compared["variances"], 2)
    _table("gap in ratio gap (pp)", compared["gaps"], 1)
    _table("share of agentic sentences", compared["groups"], 3)
    for each in compared["variances"]:
        if each["runs"]:
            series = "; ".join(f"{before:.2f} → {after:.2f}" for before, after in each["runs"])
            line(f"variance of {each['attribute']} in each run: {series}")
    if facts["strata"]:
        # Print the variances within strata, and which strata have no level of their own.
        places = facts["strata"]
        rows = [
            {**row, "what": place["stratum"] or "all others"}
            for place in places
            for row in place["comparison"]["variances"]
        ]
        _table("variance within (pp²)", rows, 2)
        rose = [place["stratum"] or "all others" for place in places if place["rose"]]
        line(f"strata in which a variance rose: {', '.join(rose) or 'none'}")
        for place in places:
            for name, why in place["pooled"].items():
                line(f"no level of its own, so toward the overall one: {name or 'texts'} ({why})")
    line(f"texts: {_counted(facts['texts'])}")
    if facts["method"] == "rewrite":
        edits = facts["edits"]
        line(
            f"edits: {edits['applied']:,} applied, {edits['refused']:,} refused "
            f"({_counted(edits['refused_by_reason'])})"
        )
    worse = facts["worse"]
    line(
        f"worse: {len(worse['variances_rose'])} variances rose, {len(worse['gaps_grew'])} gaps "
        f"grew, {len(worse['groups_fell'])} groups fell, {worse['n_texts_against']:,} texts moved "
        f"the other way, {worse['n_texts_unlike']:,} texts are less alike than "
        f"{worse['least_similarity']}"
    )
    idle = not facts["rounds"] and facts["until_noise"]
    hint = ", so nothing was asked; --all-rounds asks all the same" if idle else ""
    line(f"stopped: {facts['stopped']}{hint}")
    line(f"report: {done.out / 'report.html'}")
    line(f"next: portrayal audit agency --texts {done.out / 'texts.jsonl'}")


def _table(title: str, rows: Sequence[Mapping[str, Any]], digits: int) -> None:
    heads = ("attribute", title, "before", "after", "change", "p", "p before", "p after", "n")
    cells = []
    for row in rows:
        spans = (_span(row, what, digits) for what in ("value_a", "value_b", "change"))
        tests = (row[p] for p in ("p", "p_a", "p_b"))
        said = ("" if p is None else f"{p:.3f}" for p in tests)
        cells.append((row["attribute"], row["what"], *spans, *said, f"{row['n_texts']:,}"))
    show.table(heads, cells)


def _span(row: Mapping[str, Any], what: str, digits: int) -> str:
    if row[what] is None:
        return "–"
    bounds = (row["low"], row["high"]) if what == "change" else row[f"interval_{what[-1]}"]
    if bounds is None or None in bounds:
        return f"{row[what]:.{digits}f}"
    return f"{row[what]:.{digits}f} ({bounds[0]:.{digits}f} to {bounds[1]:.{digits}f})"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "none"
