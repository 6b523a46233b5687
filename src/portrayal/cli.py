"""The command line: parse, call, print."""

import csv
import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from portrayal import __version__, cli_ask, registry, show, show_ask
from portrayal.asking import Asking
from portrayal.errors import OptionError, PortrayalError

app = typer.Typer(
    name="portrayal",
    help="Measure how language models portray people in open-ended text.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
score_app = typer.Typer(help="Measure an annotator against hand labels.", no_args_is_help=True)
app.add_typer(score_app, name="score")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=NAME", help="Column NAME holds FIELD; several may follow."
    ),
]
More = Annotated[
    list[str] | None, typer.Argument(metavar="[FIELD=NAME]...", help="Further columns.")
]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def audit(
    study: Annotated[str, typer.Argument(help="Study, such as laissez-faire.")],
    more: More = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="CSV, JSON lines, Parquet or Excel file, or a folder of them."),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Audit the study's sample.")] = False,
    model: cli_ask.Model = None,
    samples: cli_ask.Samples = 1,
    prompts: cli_ask.PromptFile = None,
    base_url: cli_ask.BaseUrl = None,
    parameter: cli_ask.Parameter = None,
    concurrency: cli_ask.Concurrency = 16,
    rpm: cli_ask.Rpm = None,
    tpm: cli_ask.Tpm = None,
    budget: cli_ask.Budget = None,
    price: cli_ask.Price = None,
    judge: cli_ask.Judge = None,
    batch: cli_ask.Batch = False,
    yes: cli_ask.Yes = False,
    out: Annotated[Path | None, typer.Option(help="Run directory; default runs/STUDY.")] = None,
    column: Columns = None,
    preset: Annotated[str | None, typer.Option(help="Columns of a published file.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Empty a run that holds other texts.")
    ] = False,
    baseline: Annotated[str, typer.Option(help="Comparison shares p*.")] = "census-2022",
    name_table: Annotated[
        str, typer.Option(help="Name table: a registered one or a file.")
    ] = "census-2020",
    min_count: Annotated[
        int | None, typer.Option(help="Bearers a name needs in the name table.")
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Start of every random stream.")] = 0,
    draws: Annotated[int, typer.Option(help="Replicates of the cluster bootstrap.")] = 2000,
    permutations: Annotated[int, typer.Option(help="Replicates of the null.")] = 200,
    smoothing: Annotated[float, typer.Option(help="Laplace pseudo-count at zero counts.")] = 1.0,
    workers: Annotated[
        int | None, typer.Option(help="Local processes; default one per core.")
    ] = None,
    json: Json = False,
) -> None:
    """Audit texts, or a model's answers: who is in them, in which role, how certainly."""
    from portrayal.auditing import audit as run_audit

    name = registry.resolve("studies", study)
    chosen = _texts(name, texts, sample)
    asked = model is not None
    with (
        show.progress(quiet=json or asked) as advance,
        show_ask.asking_progress(quiet=json or not asked) as answered,
    ):
        asking = None
        if model is not None:
            asking = Asking(
                model,
                samples,
                prompts=prompts,
                base_url=base_url,
                parameters=cli_ask.parameters_of(parameter),
                concurrency=concurrency,
                rpm=rpm,
                tpm=tpm,
                budget=budget,
                price=price,
                judge=judge,
                batch=batch,
                confirm=cli_ask.confirmation(yes, model),
                progress=answered,
            )
        run = run_audit(
            name,
            texts=chosen,
            model=asking,
            out=out or Path("runs") / name,
            columns=[*(column or ()), *(more or ())],
            preset=preset,
            replace=replace,
            workers=(os.cpu_count() or 1) if workers is None else workers,
            progress=advance,
            say=None if json else show.line,
            baseline=baseline,
            name_table=name_table,
            min_count=min_count,
            level=level,
            seed=seed,
            draws=draws,
            permutations=permutations,
            smoothing=smoothing,
        )
    if json:
        show.as_json(show.run_facts(run))


def _texts(study: str, texts: Path | None, sample: bool) -> Any:
    """Return the texts that an audit was told to read; None where it was not told any."""
    if not sample:
        return texts
    if texts is not None:
        raise OptionError("give either --texts FILE or --sample, not both.")
    return registry.get("studies", study).sample()


@app.command()
def report(
    run: RunPath,
    out: Annotated[Path | None, typer.Option(help="File to write; default in the run.")] = None,
) -> None:
    """Rebuild the HTML report of a run."""
    from portrayal.run import Run

    show.line(f"report: {Run.open(run).report(out)}")


@app.command()
def estimates(
    run: RunPath,
    measure: Annotated[
        str | None, typer.Option(help="One measure; its version may be left out.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Only this stratum or group; repeatable."),
    ] = None,
    format: Annotated[str, typer.Option(help="table, csv or json.")] = "table",
    json: Json = False,
) -> None:
    """Print the estimates of a run."""
    from portrayal.run import Run, flatten_estimates
    from portrayal.validate import check_choice

    check_choice("format", format, ("table", "csv", "json"))
    rows = show.select(Run.open(run).records, measure, where or [])
    if json or format == "json":
        show.as_json({"estimates": [show.estimate_facts(row) for row in rows]})
    elif format == "csv":
        table = flatten_estimates(rows)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
        typer.echo(text.getvalue(), nl=False)
    else:
        show.estimates_table(rows)


@app.command()
def studies(json: Json = False) -> None:
    """List the studies."""
    show.studies(as_object=json)


@app.command()
def measures(json: Json = False) -> None:
    """List the measures with paper and equation."""
    show.components("measures", as_object=json)


@app.command()
def annotators(json: Json = False) -> None:
    """List the annotators."""
    show.components("annotators", as_object=json)


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="Study, such as laissez-faire.")],
    rows: Annotated[
        bool, typer.Option("--rows", help="List the printed figures that do not reproduce.")
    ] = False,
    json: Json = False,
) -> None:
    """Recompute the published tables of a study."""
    show.reproduction(study, list_rows=rows, as_object=json)


@score_app.command()
def people(
    gold: Annotated[Path, typer.Option(help="File of stories with hand-labelled people.")],
    more: More = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Precision and recall of names and genders against hand labels."""
    from portrayal.annotate.people import score_people
    from portrayal.collect.gold import read_gold

    columns = [*(column or ()), *(more or ())]
    show.people_score(score_people(read_gold(gold, columns)), as_object=json)


for command in (cli_ask.collect, cli_ask.plan, cli_ask.prompts):
    app.command()(command)
app.command("import-inspect")(cli_ask.import_inspect)


def main() -> None:
    """Run the command line; an error a user can act on is one line and exit status 2."""
    try:
        status = app(prog_name="portrayal", standalone_mode=False)
    except PortrayalError as error:
        _stop(str(error))
    except _UsageError as error:
        _stop(_usage(error))
    except (typer.Abort, KeyboardInterrupt):
        status = _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _stop(f"{error.filename or 'the system'}: {error.strerror or error}.")
    if status == _INTERRUPTED:
        typer.echo("interrupted: the same command continues where it stopped.", err=True)
    sys.exit(status if isinstance(status, int) else 0)


_INTERRUPTED = 130
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "portrayal"
    text = getattr(error, "format_message", error.__str__)().rstrip(".")
    return f"{text}. `{command} --help` lists what it takes." if text else ""


def _stop(message: str) -> NoReturn:
    """Leave with status 2; a command without arguments has shown its help and needs no message."""
    if message:
        typer.echo(f"error: {message}", err=True)
    sys.exit(2)
