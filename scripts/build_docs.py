"""Write the pages of docs/ that say what the code says about itself.

`python scripts/build_docs.py` writes them; `--check` compares and exits 1 where one is out of date.
"""

import dataclasses
import re
import sys
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

import typer
from python_reference import python_reference

from portrayal import registry
from portrayal.cli import app

DOCS = Path(__file__).parents[1] / "docs"
NOTE = "<!-- Written by scripts/build_docs.py from the code; edit the code and run `make docs`. -->"
ROWS = (
    ("reads", "Reads"),
    ("unit", "Counts"),
    ("range", "Range"),
    ("undefined_when", "Undefined when"),
    ("equation", "Definition"),
    ("source", "Source"),
)


def pages() -> dict[str, str]:
    """Return every generated page by its path below docs/."""
    return {
        "cli.md": command_line(),
        "reference/measures.md": components(
            "measures",
            "Measures",
            "A *measure* is a function of a tally of annotated texts; it returns one estimate for "
            "each stratum and group. Every estimate carries what [the statistics page]"
            "(../statistics.md) lists. Word for word what `portrayal measures` prints.",
        ),
        "reference/annotators.md": components(
            "annotators",
            "Annotators",
            "An *annotator* turns one text into one row: who is in it and what is said of them. "
            "Word for word what `portrayal annotators` prints. `portrayal score people --gold "
            "FILE` measures one against your own hand labels.",
        ),
        "reference/studies.md": studies(),
        "reference/python.md": python(),
    }


def components(kind: registry.Kind, title: str, lead: str) -> str:
    """Return the page of the measures or annotators in their own words."""
    parts = [f"# {title}", NOTE, lead]
    for name in _own(kind):
        found = registry.get(kind, name)
        rows = [f"| {label} | {_cell(getattr(found, field))} |" for field, label in ROWS]
        if kind == "annotators":
            rows.append(f"| Accuracy | {_cell(found.accuracy)} |")
        parts += [f"## `{name}`", found.summary, "\n".join(["| | |", "|---|---|", *rows])]
    return _page(parts)


def studies() -> str:
    """Return the page of the studies: their own words, then their cards one level down."""
    parts = ["# Studies", NOTE, "A *study* names the components of one published audit."]
    for name in _own("studies"):
        study = registry.get("studies", name)
        (point,) = entry_points(group="portrayal.studies", name=name)
        card = files(point.module).joinpath(study.card).read_text(encoding="utf-8")
        body = re.sub(r"^#", "##", card.strip(), flags=re.MULTILINE)
        measures = ", ".join(f"[`{m}`](measures.md#{_anchor(m)})" for m in study.measures)
        facts = [
            f"- Asks: {study.question}",
            f"- Paper: {study.paper}",
            f"- Prompts: {len(study.prompts())} (`portrayal prompts {name}`)",
            f"- Measures: {measures}",
            f"- Presets of columns: {', '.join(f'`{p}`' for p in study.fields.presets) or 'none'}",
        ]
        parts += [f"## `{name}`", study.title, "\n".join(facts), body]
    return _page(parts)


def python() -> str:
    """Return the page of the Python interface: the doors of the folders and what they list."""
    lead = (
        "What each folder of the package offers, in its own words. Arguments are checked: one that "
        "cannot be used raises a `PortrayalError` that says what was expected. Every example is "
        "run by the tests."
    )
    return _page(["# Python interface", NOTE, lead, *python_reference()])


def command_line() -> str:
    """Return the page of the command line: the help of every command."""
    parts = [
        "# Command line",
        NOTE,
        "Exit status: 0 done, 2 an error that you can act on (one line `error: …` on standard "
        "error), 130 stopped by Ctrl-C (the same command continues). `--json` prints one JSON "
        "object on standard output and nothing else.",
    ]
    parts += _commands(typer.main.get_command(app), "portrayal", 2)
    parts.append("## Options in Python")
    for name in registry.names("studies"):
        fields = dataclasses.fields(registry.get("studies", name).options)
        told = ", ".join(f"`{f.name}` ({f.default!r})" for f in fields)
        parts.append(f'`portrayal.audit("{name}", texts=…, **options)` takes {told}.')
    return _page(parts)


def _commands(command: Any, path: str, level: int) -> list[str]:
    parts = [f"{'#' * level} `{path}`", command.help.strip()]
    usage = [path]
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        name, call = _spelled(parameter)
        usage.append(call)
        rows.append(f"| {name} | {_cell(parameter.help or '')} | {_default(parameter)} |")
    subcommands = _subcommands(command)
    usage += ["COMMAND …"] if subcommands else []
    parts.append(f"```text\n{' '.join(usage)}\n```")
    if rows:
        parts.append("\n".join(["| | | default |", "|---|---|---|", *rows]))
    for name, sub in subcommands.items():
        parts += _commands(sub, f"{path} {name}", level + 1 if level > 2 else level)
    return parts


def _subcommands(command: Any) -> dict[str, Any]:
    if not hasattr(command, "list_commands"):
        return {}
    return {name: command.get_command(None, name) for name in command.list_commands(None)}


def _spelled(parameter: Any) -> tuple[str, str]:
    """How a parameter stands in the table, and in the usage line."""
    metavar = (parameter.metavar or parameter.name.upper().replace("_", "-")).strip()
    if parameter.param_type_name == "argument":
        return f"`{metavar}`", metavar
    option = max(parameter.opts, key=len)
    flag = parameter.is_flag
    call = option if flag else f"{option} {metavar}"
    repeat = "…" if parameter.multiple else ""
    return f"`{call}`", f"{call}{repeat}" if parameter.required else f"[{call}]{repeat}"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    default = parameter.default
    return "" if default is None or default is False or callable(default) else f"`{default}`"


def _own(kind: registry.Kind) -> list[str]:
    """Registered names that come with Portrayal, whatever else is installed beside it."""
    points = {p.name: p.module for p in entry_points(group=f"portrayal.{kind}")}
    return [n for n in registry.names(kind) if points[n].partition(".")[0] == "portrayal"]


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*")


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _page(parts: list[str]) -> str:
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them; return the exit status."""
    stale = []
    for name, text in pages().items():
        path = DOCS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")
    if stale and "--check" in arguments:
        print(f"out of date: {', '.join(stale)}; run `make docs`.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
