"""The commands `compare`, `watch` and `gate`, and what they print."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.options import Despite, Flag, Format, Level, Margin, Measure, Seed, Where
from portrayal.errors import OptionError
from portrayal.records import LIKE_THESE, Population, finite
from portrayal.shown import json_text, one_line

if TYPE_CHECKING:
    from portrayal.comparison import Change, Comparison, Several, Summary, Watch


_ON_A_TERMINAL = (0, 1, 2, 3, 4, 6, 8)
"""Columns of `HEADS` that fit a terminal; files have all."""


def compare(
    runs: list[Path],
    /,
    *,
    by: Annotated[str | None, Parameter(metavar="model")] = None,
    against: Annotated[str | None, Parameter(metavar="MODEL")] = None,
    measure: Measure = None,
    where: Where = None,
    margin: Margin = 1.25,
    difference_margin: float | None = None,
    despite: Despite = None,
    model_alias: Annotated[list[str] | None, Parameter(metavar="NAME=NAME")] = None,
    every: Annotated[bool, Parameter(name="--all", show_default=False)] = False,
    format: Literal["table", "csv", "json", "markdown", "html"] = "table",
    out: Path | None = None,
    population: Population = LIKE_THESE,
    level: Level = 0.95,
    seed: Seed = 0,
) -> None:
    """Say what differs between runs, or models of one run, and what is shown not to.

    Example: portrayal compare runs/before runs/after --format html --out changes.html

    Parameters
    ----------
    runs
        Directories of runs; the first is the base.
    by
        Compare the models of one run: model.
    against
        Model that the others are compared with; with --by model.
    difference_margin
        Difference that counts as none; .05 for shares if it is left out.
    model_alias
        Name of a model=name under which it is compared; repeatable.
    every
        Every estimate, not only what may be stated.
    format
        table, csv, json, markdown or html.
    out
        File to write in place of printing.
    population
        prompts-like-these, or these-prompts: chance is in the answers alone.
    """
    from portrayal.collect.fields import parse_columns
    from portrayal.collect.texts import alike_models
    from portrayal.comparison import Side, compare_several, models_of
    from portrayal.comparison.result import ordered
    from portrayal.run import Run, write_atomically

    opened = [Side(Run.open(path)) for path in runs]
    if by not in (None, "model"):
        raise OptionError(f"--by takes model; got {by!r}.")
    if (by is not None) != (len(opened) == 1):
        raise OptionError("give two runs or more, or one run with --by model.")
    if against is not None and by is None:
        raise OptionError(
            "--against names a model of --by model; the first run is the base of runs."
        )
    # Models of one run are sides like runs, so one comparison serves both
    sides = models_of(opened[0], against) if by else opened
    if format == "html" and len(sides) > 2:
        raise OptionError("a page shows two sides: name two runs, or a run of two models.")
    aliases = parse_columns(model_alias)
    with show.working("comparing", quiet=format != "table"):
        several = compare_several(
            sides,
            level=level,
            margin=margin,
            difference_margin=difference_margin,
            despite=despite or (),
            seed=seed,
            aliases=aliases,
            population=population,
        )
    # A service may rename a model: asked, as a difference of models is what is looked for
    for one, other in alike_models({m for side in sides for m in side.models} - aliases.keys()):
        question = f"are {one} and {other} one model? --model-alias '{one}={other}' says so"
        print(one_line(question), file=sys.stderr)  # noqa: T201
    # Words of the base's factors: labels of groups are those of its study
    with opened[0].run.speaking():
        # The rows of a measure, stratum and group; an unknown one is refused.
        comparisons = [
            # Chosen after all were tested: picking first would make q-values smaller
            replace(comparison, rows=tuple(show.select(comparison.rows, measure, where or ())))
            for comparison in several.comparisons
        ]
        if format == "html":
            from portrayal.report.changes import write_comparison

            out = write_comparison(
                comparisons[0], (sides[0], sides[1]), out or Path("comparison.html"), seed
            )
        else:
            pairs = [(comparison, ordered(comparison, full=every)) for comparison in comparisons]
            valued = [row for row in several.summaries if row.undefined is None]
            with_summaries = valued and format == "table"
            summaries = show.select(valued, measure, where or ()) if with_summaries else []
            text = _written(several, pairs, summaries, format, full=every)
            if out is None:
                (sys.stdout.write if format == "table" else show.data)(text)
                return
            write_atomically(out, text)
        show.line(f"comparison: {out}")


def _written(
    several: "Several",
    pairs: "Sequence[tuple[Comparison, Sequence[Change]]]",
    summaries: "Sequence[Summary]",
    kind: str,
    *,
    full: bool,
) -> str:
    """Return comparisons, each with its rows, in a format; the table with those `summaries`."""
    from portrayal.collect.tables import csv_text
    from portrayal.comparison import flat_change
    from portrayal.comparison.result import (
        CHANGED,
        HEADS,
        about,
        cells,
        to_markdown,
        verdict,
        words_of,
    )
    from portrayal.run.pages import number

    def plain(row: "Change | Summary") -> dict[str, Any]:
        fields = {name: getattr(row, name) for name in row.__dataclass_fields__ if name != "scores"}
        return fields | {"strata": dict(row.strata), "group": dict(row.group)}

    if kind == "json":
        facts = []
        for one, changes in pairs:
            names = ("study", "a", "b", "level", "population", "only_a", "only_b")
            facts_of: dict[str, Any] = {name: getattr(one, name) for name in names}
            facts_of |= {"prompts": asdict(one.prompts), "changes": list(map(plain, changes))}
            facts_of["asked"] = [asdict(x) for x in one.asked]
            facts.append(facts_of | {"instruments": [asdict(x) for x in one.instruments]})
        over = [plain(row) for row in several.summaries]
        return json_text(finite({"base": several.base, "comparisons": facts, "summaries": over}))
    if kind == "csv":
        flat = [{"a": c.a, "b": c.b, **flat_change(x)} for c, changes in pairs for x in changes]
        # Heads of all rows, as strata differ from measure to measure
        return csv_text(list(dict.fromkeys(name for row in flat for name in row)), flat)
    if kind == "markdown":
        return "\n".join(to_markdown(one, changes) for one, changes in pairs)
    parts = []
    for one, changes in pairs:
        heads = tuple(HEADS[i] for i in _ON_A_TERMINAL)
        rows = [tuple(cells(row, one.level)[i] for i in _ON_A_TERMINAL) for row in changes]
        # What changed is shown, up to a screen of it, and in any case what comes nearest.
        verdicts = Counter("no test" if x.undefined else verdict(x, one.level) for x in changes)
        most = min(max(verdicts[CHANGED], 5), show.ROWS)
        sides, *notes = about(one)
        lead = ", ".join(f"{n:,} {label}" for label, n in verdicts.items()) or "nothing compared"
        table = show.text_table(heads, rows, None if full else most)
        parts += [sides, f"{lead}.", *notes, table]
    if summaries:
        heads = ("over all models", "value", "interval", "a further model", "spread", "q", "models")
        means = [
            (
                words_of(row.measure, row.strata, row.group),
                number(row.value),
                f"[{number(row.low)}, {number(row.high)}]",
                f"[{number(row.least)}, {number(row.most)}]",
                # of ratios the spread is a factor
                ("×" if row.scale == "ratio" else "") + number(row.spread),
                *(number(row.q), str(row.n_models)),
            )
            for row in summaries
        ]
        parts.append(show.text_table(heads, means, None if full else show.ROWS))
    return "\n".join(parts)


def watch(
    folder: Path,
    /,
    *,
    out: Path | None = None,
    level: Level = 0.95,
    despite: Despite = None,
    fail: Flag = False,
    format: Format = "table",
) -> None:
    """Test whether a repeated audit has changed since its first round, however often you look.

    First whether its texts are still written alike, then which numbers changed. The level holds for
    all looks together, and for rounds that wobble.

    Example: portrayal watch runs/weekly --fail

    Parameters
    ----------
    folder
        Folder of runs of one study, one a round.
    out
        Write an HTML page as well.
    fail
        Exit with status 1 where something has changed.
    """
    from portrayal.comparison import watch as watch_runs
    from portrayal.comparison import watch_values
    from portrayal.reference.labels import speaking_of

    json = format == "json"
    with show.working("reading rounds", quiet=json):
        watched = watch_runs(folder, level=level, despite=despite or ())
    # The page first: a failing exit must not cost it
    if out is not None:
        from portrayal.report.changes import write_watch

        write_watch(watched, out)
    if json:
        show.as_json(watch_values(watched))
    else:
        with speaking_of(watched.factors):
            _print(watched)
        if out is not None:
            show.line(f"page: {out}")
    # only when asked for, so that a script may look without failing
    if fail and watched.has_changed:
        raise SystemExit(1)


def _print(watched: "Watch") -> None:
    from portrayal.comparison.result import change_number, form_of_change, words_of
    from portrayal.registry import form_of
    from portrayal.run.pages import number as plain
    from portrayal.run.pages import spread

    for text in watched.said:
        show.line(text)
    rounds = [
        (number, look.when.isoformat(), look.name, ", ".join(look.models), f"{look.n_texts:,}")
        for number, look in enumerate(watched.rounds, 1)
    ]
    show.table(("round", "date", "run", "models", "texts"), rounds)
    for text in watched.differences:
        show.line(f"differs: {text}")
    for instrument in watched.instruments:
        show.line(f"instruments differ: {instrument}")
    if watched.left_out:
        show.line(f"left out, as no audit was finished there: {', '.join(watched.left_out)}")
    tested = [row for row in watched.rows if row.p is not None]
    rows = []
    # Least q first; what has changed stands on top
    for row in sorted(tested, key=lambda row: (row.q or 0.0, row.p or 0.0)):
        # A round in which a number is undefined is no end of the series
        values = [value for value in row.values if value is not None]
        ends = (plain(value, form_of(row)) for value in (values[0], values[-1]))
        change = f"{change_number(row, row.change)} ({spread(row, form_of_change(row))})"
        name = words_of(row.measure, row.place, row.group)
        alarm = f"round {row.alarm}" if row.alarm else ""
        rows.append((name, *ends, change, change_number(row, row.findable), plain(row.q), alarm))
    if rows:
        heads = ("number", "first", "last", "change", "would be seen", "q", "changed")
        show.data(show.text_table(heads, rows, None))


def gate(
    run: Path | None = None,
    /,
    *,
    against: Annotated[Path | None, Parameter(metavar="BASE")] = None,
    policy: Path | None = None,
    format: Literal["table", "json", "junit", "markdown"] = "table",
    out: Path | None = None,
    init: Path | None = None,
) -> None:
    """Judge a run by a policy: exits 0 pass, 1 fail, 3 inconclusive, 4 unreadable.

    Example: portrayal gate runs/new --against runs/old --policy gate.toml

    Parameters
    ----------
    run
        Directory of the run that is judged.
    against
        Run that changes are counted from.
    policy
        Policy (TOML); see --init.
    format
        table, json, junit or markdown.
    out
        Write there, and print one line.
    init
        Write a commented policy (for RUN, where it is named), and no more.
    """
    from portrayal.gating import FORMATS, write_example
    from portrayal.gating import gate as judge
    from portrayal.run import Run, write_atomically

    if init is not None:
        write_example(init, None if run is None else Run.open(run))
        show.line(f"policy: {init} (its numbers are examples: choose your own)")
        return
    # Neither is required by the parser, as --init needs none
    if run is None or policy is None:
        raise OptionError(
            "name a run and a policy: portrayal gate RUN --against BASE --policy gate.toml; "
            "`portrayal gate --init gate.toml` writes one."
        )
    verdict = judge(run, against, policy)
    text = FORMATS[format](verdict)
    if out is None:
        show.data(text)
    else:
        write_atomically(out, text)
        show.line(verdict.summary)
    raise SystemExit(verdict.exit_code)  # the verdict is the status: a pipeline reads nothing else
