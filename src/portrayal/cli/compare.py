"""The commands `compare` and `gate`, and what they print."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.options import Cluster, Level, Measure, PairBy, Score, Seed, Where
from portrayal.errors import OptionError
from portrayal.records import LIKE_THESE, Population
from portrayal.shown import counted

if TYPE_CHECKING:
    from portrayal.comparison.result import Comparison


def compare(
    runs: list[Path],
    /,
    *,
    by: Annotated[str | None, Parameter(metavar="model")] = None,
    against: Annotated[str | None, Parameter(metavar="MODEL")] = None,
    measure: Measure = None,
    where: Where = None,
    score: Score = None,
    pair_by: PairBy = None,
    cluster: Cluster = None,
    margin: float | None = None,
    despite: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    model_alias: Annotated[list[str] | None, Parameter(metavar="NAME=NAME")] = None,
    show_all: Annotated[bool, Parameter(name="--all", show_default=False)] = False,
    format: Literal["table", "csv", "json"] = "table",
    out: Path | None = None,
    population: Population = LIKE_THESE,
    level: Level = 0.95,
    seed: Seed = 0,
) -> None:
    """Say what differs between runs, models of one run, or scores in two files.

    Example: portrayal compare old.jsonl new.jsonl --score accuracy

    Parameters
    ----------
    runs
        Directories of runs, or files with --score; the first is the base.
    by
        Compare the models of one run: model.
    against
        Model that the others are compared with; with --by model.
    margin
        Factor up to which ratios count as the same (1.25), or difference of scores (none).
    despite
        Instrument that may differ, or all; repeatable.
    model_alias
        Name of a model=name under which it is compared; repeatable.
    show_all
        Every estimate, not only what may be stated.
    format
        table, csv or json.
    out
        File to write in place of printing.
    population
        prompts-like-these, or these-prompts: chance is in the answers alone.
    """
    from portrayal.collect.fields import parse_columns
    from portrayal.comparison.compare import compare_several, models_of, side_of

    opened = [side_of(path) for path in runs] if score is None else []
    if by not in (None, "model"):
        raise OptionError(f"--by takes model; got {by!r}.")
    if (by is not None) != (len(runs) == 1) or (by and score):
        raise OptionError("give two runs or files or more, or one run with --by model.")
    if against is not None and by is None:
        raise OptionError("--against names a model of --by model; the first run is the base.")
    # Models of one run are sides like runs, so one comparison serves both
    sides: Sequence[Any] = models_of(opened[0], against) if by else opened or runs
    aliases = parse_columns(model_alias)
    with show.working("comparing", quiet=format != "table"):
        comparisons = compare_several(
            sides,
            score=score,
            pair_by=pair_by,
            cluster=cluster,
            level=level,
            margin=margin,
            despite=despite or (),
            seed=seed,
            aliases=aliases,
            population=population,
        )
    # Chosen after all were tested: picking first would make q-values smaller
    selected = [
        replace(comparison, rows=tuple(show.select(comparison.rows, measure, where or ())))
        for comparison in comparisons
    ]
    # Words of the base's factors: labels of groups are those of its study
    with opened[0].run.speaking() if opened else nullcontext():
        show.give(format, *_shown(selected, sides, full=show_all), out)
    if out is not None:
        show.line(f"comparison: {out}")


def _shown(
    comparisons: "Sequence[Comparison]", sides: Sequence[Any], *, full: bool
) -> tuple[dict[str, Any], list[show.Part], list[dict[str, Any]]]:
    """What comparisons say in JSON, to people and in CSV."""
    from portrayal.comparison.result import CHANGED, HEADS, about, cells, ordered, verdict
    from portrayal.report.compared import change_lines
    from portrayal.stats.paired import SAME

    facts, flat = list[dict[str, Any]](), list[dict[str, Any]]()
    parts: list[show.Part] = []
    for comparison, side in zip(comparisons, sides[1:], strict=True):
        rows = ordered(comparison, full=full)
        of_sides = {k: v for k, v in vars(comparison).items() if k not in ("rows", "factors")}
        facts.append(of_sides | {"changes": rows})
        flat += comparison.flat(rows)
        head, *notes = about(comparison)
        # What changed is shown, up to a screen of it, and in any case what comes nearest.
        verdicts = Counter(
            ("the same in every prompt" if x.undefined == SAME else "no test")
            if x.undefined
            else verdict(x, comparison.level)
            for x in rows
        )
        most = None if full else min(max(verdicts[CHANGED], 5), show.ROWS)
        lead = ", ".join(f"{n:,} {label}" for label, n in verdicts.items()) or "nothing compared"
        table = [cells(row, comparison.level) for row in rows]
        # Scores have their sentences among the notes.
        sentences = () if comparison.notes else change_lines(comparison, (sides[0], side))
        leads = [] if comparison.notes else [f"{lead}."]
        parts += [head, *leads, *notes, *sentences, show.text_table(HEADS, table, most)]
    return {"base": comparisons[0].a, "comparisons": facts}, parts, flat


def gate(
    run: Path | None = None,
    /,
    *,
    against: Annotated[Path | None, Parameter(metavar="BASE")] = None,
    policy: Path | None = None,
    score: Score = None,
    allowed_change: float | None = None,
    worse: Literal["either", "up", "down"] = "either",
    passes: Literal["shown_within", "no_excess_shown"] = "shown_within",
    pair_by: PairBy = None,
    cluster: Cluster = None,
    format: Literal["table", "json", "markdown"] = "table",
    out: Path | None = None,
    init: Path | None = None,
) -> None:
    """Judge a run, or scores of a file: exits 0 pass, 1 fail, 3 inconclusive, 4 unreadable.

    Example: portrayal gate runs/new --against runs/old --policy gate.toml

    Parameters
    ----------
    run
        Directory of the run that is judged, or file with --score.
    against
        Run or file that changes are counted from.
    policy
        Policy (TOML); see --init.
    allowed_change
        Largest change of a score that passes.
    worse
        Which changes of a score count: either, up or down.
    passes
        A score passes when shown_within what is allowed, or with no_excess_shown.
    format
        table, json or markdown.
    out
        Write there, and print one line.
    init
        Write a commented policy, and no more: of a run, that another be no worse than it.
    """
    from portrayal.gating.gate import gate as judge
    from portrayal.gating.policy import Policy, Rule, write_example, write_policy
    from portrayal.gating.verdict import FORMATS
    from portrayal.run import write_atomically

    if init is not None:
        if run is None:
            write_example(init)
            show.line(f"policy: {init} (its numbers are examples: choose your own)")
        else:
            n = write_policy(run, init)
            show.line(f"policy: {init}, no worse than {run} in {counted(n, 'rule')}")
            show.line(f"next: portrayal gate NEW-RUN --policy {init}")
        return
    # Neither is required by the parser, as --init needs none
    if run is None or ((policy is None) == (score is None or allowed_change is None)):
        raise OptionError(
            "name a run and a policy: portrayal gate RUN --against BASE --policy gate.toml; "
            "`portrayal gate --init gate.toml` writes one. Of tables and logs, name a column: "
            "portrayal gate FILE --against BASE --score accuracy --allowed-change 0.02."
        )
    rules = tuple(
        Rule(
            name,
            score=name,
            allowed_change=allowed_change,
            worse=worse,
            pair_by=pair_by,
            cluster=cluster,
        )
        for name in score or ()
    )
    verdict = judge(run, against, policy or Policy(rules, passes=passes))
    text = FORMATS[format](verdict)
    if out is None:
        show.data(text)
    else:
        write_atomically(out, text)
        show.line(verdict.summary)
    raise SystemExit(verdict.exit_code)  # the verdict is the status: a pipeline reads nothing else
