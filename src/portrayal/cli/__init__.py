"""The command line: parse, call, print. `portrayal VERB THING --texts FILE [--out DIR]`."""

import logging
import os
import sys
import tomllib
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

import portrayal.registry as registry
from portrayal._version import __version__
from portrayal.errors import PortrayalError
from portrayal.registry import Kind, is_study
from portrayal.shown import one_line

START = """\
Portrayal measures how language models portray people. Four ways to begin:

  portrayal audit answers.csv
      audit a file of your own: what its columns are, how groups differ
  portrayal audit laissez-faire --sample
      audit the stories that come with it, and write a report
  portrayal audit laissez-faire --texts answers.csv --out runs/mine
      audit your own answers to the prompts of a study
  portrayal audit laissez-faire --model openai:gpt-5-mini --samples 5
      ask a model the prompts of a study, and audit what it answers

`portrayal --help` lists every command.
"""

UNEXPECTED, BROKEN_PIPE = 70, 141
"""Statuses that are no verdict of any command: 0 to 4 are what `gate` and others say of runs."""
GROUPS = {
    "find": "Find people, or cues of identity, in any texts.",
    "label": "Label texts drawn by `sheet`, by people or a language model (`model`); then `merge`, "
    "`agreement`, `codes`.",
    "list": "List what there is: studies, measures, factors, prompts, estimates of a run, ….",
    "mitigate": "Make texts about different groups more alike in language agency.",
    "score": "Say how often an annotator is right, by hand labels.",
    "build": "For those who build classifiers: a data set of agentic and communal sentences, step "
    "by step, then a classifier that is trained on it.",
}
_FUNCTIONS = (
    ("", "audit", "new"),
    ("", "compare", "compare gate"),
    ("", "documents", "evidence report"),
    ("", "plan", "plan"),
    ("build", "build", "classifier labels paraphrases sentences sheets split"),
    ("find", "find", "cues people"),
    ("label", "label", "agreement codes merge model sheet"),
    ("list", "listing", "annotators estimates findings factors locales measures studies"),
    ("mitigate", "mitigate", "agency"),
    ("score", "score", "agency judge people"),
)
"""Group of commands, its module, and the functions of its commands."""
COMMANDS = {
    f"{group} {name}".strip(): f"{module}:{name}"
    for group, module, names in _FUNCTIONS
    for name in names.split()
}
"""Command → module and function, which are loaded when the command is named."""
ORDER = (
    *("audit", "compare", "report", "list", "collect", "plan", "gate"),
    *("find", "label", "score", "mitigate", "evidence", "replicate", "new"),
    "build",
)
"""The commands in the order of work, as `portrayal --help` lists them."""
STUDIES: dict[str, tuple[Kind, str, str, str]] = {
    "audit": (
        "studies",
        "audit:audit_of",
        "Audit a file of texts, or texts or a model's answers by a study or your own, by its path.",
        "{title}. {question}",
    ),
    "collect": (
        "prompts",
        "audit:collect_of",
        "Ask a model all prompts of a study or file; the same command continues after anything.",
        "Ask a model all prompts of {name}; the same command continues after anything.",
    ),
    "list prompts": (
        "prompts",
        "listing:prompts_of",
        "List the prompts of a study, or check a prompt file of your own.",
        "List the prompts of {name}, or check a prompt file of your own.",
    ),
    "replicate": (
        "studies",
        "documents:replicate_of",
        "Recompute the published tables of a study, and set a model of yours beside them.",
        "Recompute the published tables of {name}, and set a model of yours beside them.",
    ),
}
"""Command with a subcommand for each study → of which kind, what makes one, its help and theirs."""


def command_line(tokens: Sequence[str] | None = None) -> App:
    """Return the command line that reads these tokens; for None, with the commands of every study.

    A study's commands are made when a command that takes studies is named, as that loads the study.
    """
    app = App(
        name="portrayal",
        help="Measure how language models portray people in open-ended text.",
        version=__version__,
        help_format="plaintext",
        default_parameter=Parameter(negative=()),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    app.register_install_completion_command(help="Install completion for your shell.")
    order = {name: i for i, name in enumerate(ORDER)}
    for name, words in GROUPS.items():
        app.command(App(name=name, help=words, sort_key=order[name]))
    for path, module_path in COMMANDS.items():
        *group, name = path.split()
        parent = app[group[0]] if group else app
        # By its path: importing every command would make each start slow
        parent.command(f"portrayal.cli.{module_path}", name=name, sort_key=order.get(path))
        if tokens and tokens[-1] in ("--help", "-h") and list(tokens[:-1]) == group:
            parent[name]  # loaded, as the help of its group says what it does
    for path, (_, _, words, _) in STUDIES.items():
        *group, name = path.split()
        studies = App(name=name, help=words, sort_key=order.get(path))
        (app[group[0]] if group else app).command(studies)
        n = len(group) + 1
        # Loading the studies takes longest, so only where one is named
        if tokens is None or list(tokens[:n]) == path.split():
            _add_studies(studies, path, None if tokens is None else tokens[n:])
    return app


def _add_studies(app: App, path: str, tokens: Sequence[str] | None) -> None:
    """Add a subcommand for each study, or for the file that is named in place of one.

    `tokens` follow the command: the one study that they name is made, also one by its path. Where
    they name none, studies are listed alone, as making one loads it; for None all are made.
    """
    kind, module_path, help_of_all, help_of_one = STUDIES[path]
    module, _, function = module_path.partition(":")
    cli_module = import_module(f"portrayal.cli.{module}")
    first = tokens[0] if tokens else ""
    one = "" if first.startswith("-") else first
    # A bare word that names no file is a study's name with a slip, and is told so
    is_file = bool(one) and (bool(Path(one).suffix) or Path(one).exists()) and not is_study(one)
    if path == "collect" and is_file:
        command, _ = cli_module.collect_of("people", one)
        app.command(command, name=one, help=f"Ask a model the prompts of {one}.")
        return
    if path == "audit" and (tokens is None or first != one or is_file):
        command, example = cli_module.audit_file(tokens is None or is_file)
        app.default(command)
        app.help = f"{help_of_all}\n\nExample: {example}"
        if is_file:
            return  # it is no study to look up
    for name in [registry.resolve(kind, one)] if one else registry.names(kind):
        folder = registry.folder(kind, name)
        if path == "replicate" and not (one or (folder and (folder / "replicate.toml").is_file())):
            continue
        words = help_of_one.format(name=name, **_said_by(name))
        if tokens is not None and not one:  # for the help alone: a study takes a second to load
            app.command(App(name=name, help=words))
            continue
        command, example = getattr(cli_module, function)(name)
        # Also as it was written, such as a path, since the parser compares words
        called = dict.fromkeys((name, one or name))
        app.command(command, name=tuple(called), help=f"{words}\n\nExample: {example}")


def _said_by(name: str) -> dict[str, str]:
    """Title and question of a study; read from its own file, as loading it takes a second."""
    folder = registry.folder("studies", name)
    for file in ("study.toml", "about.toml"):
        if folder is not None and (folder / file).is_file():
            table = tomllib.loads((folder / file).read_text(encoding="utf-8"))
            return {key: table[key] for key in ("title", "question")}
    study = registry.get("studies", name) if name in registry.names("studies") else None
    return {key: getattr(study, key, "") for key in ("title", "question")}


def commands(app: App, path: str = "") -> Iterator[tuple[str, App]]:
    """Go through the commands of the command line, each with its words, groups before their own."""
    for name in sorted(app.resolved_commands()):
        if not name.startswith("-"):
            yield f"{path} {name}".strip(), app[name]
            yield from commands(app[name], f"{path} {name}".strip())


def main() -> None:
    """Run the command line; an error a user can act on is one line and exit status 2."""
    _set_up_streams()
    _speak_log()
    # Matrices here are small: threads of BLAS only wait for one another and for our own workers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    tokens = sys.argv[1:]
    if not tokens:
        sys.stdout.write(START)
        sys.exit(0)
    status = None
    try:
        app = command_line(tokens)
        # Errors come here, so that they are one line, with our status
        status = app(tokens, exit_on_error=False, print_error=False)
        _, path, unparsed = app.parse_commands(tokens)
        if path[-1].default_command is None and not unparsed:
            status = 2  # a group was named and none of its commands: its help was printed
    except PortrayalError as error:
        _stop(str(error))
    except CycloptsError as error:
        _stop(_usage(error, tokens))
    except KeyboardInterrupt:
        print(  # noqa: T201
            "interrupted: the same command continues where it stopped.", file=sys.stderr
        )
        sys.exit(130)
    # `| head` closed the pipe; closing stderr keeps Python from complaining at its exit
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(BROKEN_PIPE)
    except OSError as error:  # a full disk, a file that may not be read: the user can act on it
        reason = f"{error.filename}: {error.strerror or error}" if error.filename else str(error)
        _stop(f"{reason}.")
    except Exception as error:
        is_duckdb = "OutOfMemory" in type(error).__name__  # which is no MemoryError
        if is_duckdb or isinstance(error, (MemoryError, ImportError)):
            _stop(no_memory(error), UNEXPECTED)
        # Only these libraries fail by what is in a file; anything else is a mistake of ours
        if type(error).__module__.strip("_").partition(".")[0] not in ("pyarrow", "duckdb"):
            traceback.print_exc()
            sys.exit(UNEXPECTED)
        _stop(f"a Parquet file that this command reads is damaged: {error}")
    sys.exit(status if isinstance(status, int) else 0)


def no_memory(error: Exception) -> str:
    """Return what to do about memory that is not there, or a library that cannot be loaded.

    A library is mapped into memory: where an address space is too small, importing it fails.
    """
    words = one_line(str(error)) or type(error).__name__
    if isinstance(error, ImportError):
        return (
            f"a library cannot be loaded ({words}). Install Portrayal again, or give it more "
            "memory (`ulimit -v`)."
        )
    return f"there is not enough memory ({words}). Give it more, or fewer --workers."


def _set_up_streams() -> None:
    """Open standard streams that are closed, and take and print any letters.

    Where names of files are not read as UTF-8 (a C locale without UTF-8 mode) the command begins
    again in UTF-8 mode; letters that a terminal lacks are printed by their numbers.
    """
    # Streams that were closed (`>&-`): the next file that is opened would take their number
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # Lowest free number first, as POSIX promises, so this one takes the closed stream's
            # place
            if os.open(os.devnull, os.O_RDWR) == number:
                setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        command = [sys.executable, "-X", "utf8", "-m", "portrayal", *sys.argv[1:]]
        # Python fixes how names of files are read at its start, so it has to start again
        os.execv(sys.executable, command)  # noqa: S606
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _speak_log() -> None:
    log = logging.getLogger("portrayal")
    # A program that has set up logging and calls us keeps its own
    if not log.handlers:
        log.addHandler(LogLines())
        log.setLevel(logging.INFO)
        log.propagate = False


class LogLines(logging.Handler):
    """Prints on standard error what reading a file has to say, such as which column is which."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        print(one_line(record.getMessage()), file=sys.stderr)  # noqa: T201


def _usage(error: CycloptsError, tokens: Sequence[str]) -> str:
    """What is wrong with the words of a command, and where the right ones are."""
    text = str(error).partition(" Available commands:")[0]  # dozens of names bury the error
    if isinstance(error, UnusedCliTokensError):
        unused = [*(error.unused_tokens or ())]
        text = f"unexpected: {' '.join(unused)}."
        if any(map(os.path.isfile, unused)):
            text += " Texts are named with --texts FILE."
    # The command may stand in another group: say in which
    name = next((token for token in tokens if token not in GROUPS), "")
    commands = [f"`portrayal {path}`" for path in COMMANDS if path.endswith(f" {name}")]
    hint = f" There is {' and '.join(commands)}." if commands and "nknown command" in text else ""
    chain = " ".join(("portrayal", *(error.command_chain or ())))
    return f"{text}{hint} `{chain} --help` lists what it takes."


def _stop(message: str, status: int = 2) -> NoReturn:
    """Leave with one line."""
    print(f"error: {one_line(message)}", file=sys.stderr)  # noqa: T201
    sys.exit(status)
