"""The command line: parse, call, print. `portrayal VERB THING --texts FILE [--out DIR]`."""

import logging
import os
import re
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import portrayal.cli.printing as show
from portrayal._version import __version__
from portrayal.cli import build, find, label, listing, mitigate, score
from portrayal.cli.audit import audit, collect, new
from portrayal.cli.compare import compare, gate, watch
from portrayal.cli.listing import doctor
from portrayal.cli.options import Format, RunPath, formats
from portrayal.cli.plan import plan
from portrayal.errors import OptionError, PortrayalError

START = """\
Portrayal measures how language models portray people. Three ways to begin:

  portrayal audit laissez-faire --sample
      audit the stories that come with it, and write a report
  portrayal audit laissez-faire --texts answers.csv --out runs/mine
      audit your own file of answers: columns such as prompt, text, model
  portrayal audit laissez-faire --model openai:gpt-5-mini --samples 5
      ask a model the prompts of a study, and audit what it answers

`portrayal doctor` says what is there, `portrayal --help` lists every command.
"""

app = typer.Typer(
    name="portrayal",
    help="Measure how language models portray people in open-ended text.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
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
    if context.invoked_subcommand is None:
        typer.echo(START, nl=False)


@app.command()
def report(
    run: RunPath,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write; default in the run.")
    ] = None,
    format: Annotated[str, typer.Option(help="html, md, docx or pdf.")] = "html",
    short: Annotated[bool, typer.Option("--short", help="The findings only: two pages.")] = False,
) -> None:
    """Write the report of a run again: a page, Markdown, a Word document or PDF.

    Example: portrayal report runs/laissez-faire --format pdf --short
    """
    from portrayal.report import export_report
    from portrayal.run import Run

    show.line(f"report: {export_report(Run.open(run), out, format, short=short)}")


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="Study, such as laissez-faire.")],
    rows: Annotated[
        bool,
        typer.Option(
            "--rows", help="List the printed figures that do not reproduce, or all it looked at."
        ),
    ] = False,
    format: Format = "table",
) -> None:
    """Recompute the published tables of a study.

    Example: portrayal reproduce laissez-faire --rows
    """
    show.reproduction(study, list_rows=rows, as_object=format == "json")


def evidence(
    run: RunPath,
    form: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="FORM",
            help="eu-ai-act, colorado, iso-42001, model-card, or a form of your own (TOML).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the pack; default RUN/evidence/FORM."),
    ] = None,
    format: Annotated[str, formats("both", "md", "json")] = "both",
    verify: Annotated[
        bool, typer.Option("--verify", help="Check run and packs against their manifests.")
    ] = False,
) -> None:
    """Fill a form of documentation from a run, or check one: exits 1 where a file differs.

    Example: portrayal evidence runs/first --for model-card
    """
    from portrayal.evidence import pack_of, verify_evidence, write_pack
    from portrayal.evidence.manifest import MANIFEST, digest
    from portrayal.run import Run

    if verify:
        own = None if form is None else run / "evidence" / Path(form).stem
        checked = verify_evidence(Run(run), out or own)
        for line in (*checked.problems, *checked.notes):
            show.line(str(line))
        for name, value in checked.manifests.items():
            show.line(f"sha256 of {name}: {value}")
        n = len(checked.problems)
        said = f"{n:,} not as they were" if n else "all as they were"
        show.line(f"{checked.n_files:,} files checked: {said}")
        raise typer.Exit(int(not checked.ok))
    if form is None:
        raise OptionError(
            "say what the evidence is for: --for eu-ai-act, colorado, iso-42001 or model-card; or "
            "--verify to check what is there."
        )
    pack = pack_of(Run.open(run), form)
    folder = write_pack(pack, out, formats=() if format == "both" else (format,))
    for path in sorted(folder.iterdir()):
        show.line(f"wrote {path}")
    n = len(pack.answers)
    show.line(f"{pack.n_measured} of {n} fields filled; the others: not measured by this audit")
    show.line(f"sha256 of {MANIFEST}: {digest(folder / MANIFEST)}")


MAKERS = "For those who build classifiers"

for each_study in (audit, collect, plan):
    app.add_typer(each_study)
app.add_typer(listing.app, name="list")
app.add_typer(find.app, name="find")
app.add_typer(label.app, name="label")
app.add_typer(score.app, name="score")
app.add_typer(mitigate.app, name="mitigate")
app.command()(new)
app.command()(compare)
app.command()(evidence)
app.command()(doctor)
app.command()(gate)
app.command()(watch)
app.add_typer(build.app, name="build", rich_help_panel=MAKERS)


def main() -> None:
    """Run the command line; an error a user can act on is one line and exit status 2."""
    _speak_utf8()
    _speak_log()
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


def _speak_log() -> None:
    """Print on standard error what reading a file has to say, such as which column is which."""
    log = logging.getLogger("portrayal")
    if not log.handlers:
        handler = logging.Handler()
        handler.emit = lambda record: typer.echo(show.plain(record.getMessage()), err=True)  # type: ignore[method-assign]
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False


_INTERRUPTED = 130
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "portrayal"
    said = getattr(error, "format_message", error.__str__)()
    text = re.sub(r"( Did you mean .+?\?)\1", r"\1", said).rstrip(".")  # Typer and Click ask both
    end = "" if text.endswith("?") else "."
    hint = _elsewhere(text, getattr(context, "command", None))
    return f"{text}{end}{hint} `{command} --help` lists what it takes." if text else ""


def _elsewhere(text: str, command: Any) -> str:
    """Where a command is that was not given with its verb, as `portrayal people`."""
    name = text.removeprefix("No such command '").partition("'")[0]
    verbs = getattr(command, "commands", {}).items() if name != text else ()
    there = [
        f"`portrayal {verb} {name}`" for verb, of in verbs if name in getattr(of, "commands", {})
    ]
    return f" There is {' and '.join(there)}." if there else ""


def _stop(message: str) -> NoReturn:
    """Leave with status 2; a command without arguments has shown its help and needs no message."""
    if message:
        typer.echo(f"error: {show.plain(message)}", err=True)
    sys.exit(2)
