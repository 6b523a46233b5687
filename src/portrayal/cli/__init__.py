"""The command line: parse, call, print."""

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, NoReturn

import typer

import portrayal.cli.printing as show
from portrayal._version import __version__
from portrayal.cli import agency, agency_data, code, label, mitigate, people, score, words
from portrayal.cli.audit import audit, new
from portrayal.cli.collect import collect, import_inspect, prompts
from portrayal.cli.compare import compare
from portrayal.cli.evidence import evidence
from portrayal.cli.gate import gate
from portrayal.cli.options import Json
from portrayal.cli.plan import plan
from portrayal.cli.watch import watch
from portrayal.errors import PortrayalError

app = typer.Typer(
    name="portrayal",
    help="Measure how language models portray people in open-ended text.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    most_unpacked: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="What a compressed file or spreadsheet may unpack to, such as 8GB; default 1GB.",
        ),
    ] = None,
) -> None:
    if most_unpacked is not None:
        os.environ["PORTRAYAL_MOST_UNPACKED"] = most_unpacked


@app.command()
def report(
    run: RunPath,
    out: Annotated[Path | None, typer.Option(help="File to write; default in the run.")] = None,
) -> None:
    """Rebuild the HTML report of a run."""
    from portrayal.report import write_report
    from portrayal.run import Run

    show.line(f"report: {write_report(Run.open(run), out)}")


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
        show.as_csv(table.column_names, table.to_pylist())
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
        bool,
        typer.Option(
            "--rows", help="List the printed figures that do not reproduce, or all it looked at."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Recompute the published tables of a study."""
    show.reproduction(study, list_rows=rows, as_object=json)


app.add_typer(score.app, name="score")
score.app.command("agency")(agency.score)
app.add_typer(label.app, name="label")
app.add_typer(code.app, name="code")
for each_study in (audit, collect, plan, prompts):
    app.add_typer(each_study)
app.command()(new)
app.command()(compare)
app.command()(words.words)
app.command()(people.people)
app.command()(evidence)
app.command()(gate)
app.command()(watch)
app.command()(import_inspect)
app.add_typer(agency_data.app, name="agency-data")
app.add_typer(agency.train_app, name="train")
app.add_typer(mitigate.app, name="mitigate")


def main() -> None:
    """Run the command line; an error a user can act on is one line and exit status 2."""
    _speak_utf8()
    # Matrices here are small: threads of BLAS only wait for one another and for our own workers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
    except Exception as error:
        if type(error).__module__.strip("_").partition(".")[0] not in ("pyarrow", "duckdb"):
            raise
        _stop(f"a Parquet file that this command reads is damaged: {error}")
    if status == _INTERRUPTED:
        typer.echo("interrupted: the same command continues where it stopped.", err=True)
    sys.exit(status if isinstance(status, int) else 0)


def _speak_utf8() -> None:
    """Take names of files with any letters, and print any letters, whatever the locale says.

    Where names of files are not read as UTF-8 (a C locale without UTF-8 mode) the command begins
    again in UTF-8 mode; letters that a terminal lacks are printed by their numbers.
    """
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        command = [sys.executable, "-X", "utf8", "-m", "portrayal", *sys.argv[1:]]
        os.execv(sys.executable, command)  # noqa: S606
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


_INTERRUPTED = 130
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "portrayal"
    text = getattr(error, "format_message", error.__str__)().rstrip(".")
    end = "" if text.endswith("?") else "."
    return f"{text}{end} `{command} --help` lists what it takes." if text else ""


def _stop(message: str) -> NoReturn:
    """Leave with status 2; a command without arguments has shown its help and needs no message."""
    if message:
        typer.echo(f"error: {' '.join(message.translate(show.CONTROL).split())}", err=True)
    sys.exit(2)
