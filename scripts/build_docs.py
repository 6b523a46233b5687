"""Write the pages of the site: those of docs/, and what the code says about itself.

`python scripts/build_docs.py [FOLDER]` writes them into build/docs, or into another folder.
"""

import argparse
import dataclasses
import itertools
import json
import re
import shutil
from importlib.metadata import entry_points
from importlib.resources import files
from inspect import cleandoc
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from portrayal import registry
from portrayal.cli import command_line as read_tokens
from portrayal.cli import commands

DOCS = Path(__file__).parents[1] / "docs"
PACKAGE = Path(__file__).parents[1] / "src" / "portrayal"
ROOT_MODULES = ("config", "errors", "records", "registry", "types", "validate")
EXITS = (
    "| exit status | means |",
    "|---|---|",
    "| 0 | done; of `gate`: the run passes |",
    "| 1 | `gate`: the run fails |",
    "| 2 | an error that you can act on: one line `error: …` on standard error |",
    "| 3 | `gate`: inconclusive, as an interval is too wide to tell |",
    "| 4 | `gate`: the texts could not be read well enough |",
    "| 130 | stopped by Ctrl-C; the same command continues where it stopped |",
)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
        "reference/cli.md": command_line(),
        **measures(),
        "reference/annotators.md": annotators(),
        "reference/studies.md": studies(),
        **python(),
        **notebooks(),
    }


def measures() -> dict[str, str]:
    """Return the pages of the measures with the words of the code put in, and their index."""
    described = {name: _component("measures", name) for name in _own("measures")}
    made, rows = dict[str, str](), []
    for name, page in measure_pages().items():
        if name not in described:
            raise SystemExit(f"docs/{page} has a section of {name}, which is not registered.")
        text = made.get(page) or (DOCS / page).read_text(encoding="utf-8")
        title = f"## `{name}`\n"
        made[page] = text.replace(title, f"{title}\n{described[name]}\n", 1)
        found = registry.get("measures", name)
        where = f"{Path(page).name}#{_anchor(name)}"
        rows.append(f"| [`{name}`]({where}) | {_cell(found.summary)} |")
    lead = (
        "A *measure* is a function of a tally of annotated texts; it returns one estimate for each "
        "stratum and group, which carries what [the statistics page](../statistics.md) lists."
    )
    table = "\n".join(["| measure | what it is |", "|---|---|", *sorted(rows)])
    return {**made, "measures/index.md": _page(["# Measures", lead, table])}


def measure_pages() -> dict[str, str]:
    """Return the page below docs/ that has the section of each measure."""
    return {
        name: page.relative_to(DOCS).as_posix()
        for page in sorted((DOCS / "measures").glob("*.md"))
        for name in re.findall(r"^## `(.+)`$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }


def annotators() -> str:
    """Return the page of the annotators in their own words."""
    lead = (
        "An *annotator* turns one text into one row: who is in it and what is said of them. "
        "`portrayal score people --hand-labels FILE` measures one against your own hand labels."
    )
    parts = ["# Annotators", lead]
    for name in _own("annotators"):
        parts += [f"## `{name}`", _component("annotators", name)]
    return _page(parts)


def _component(kind: registry.Kind, name: str) -> str:
    found = registry.get(kind, name)
    rows = [f"| {label} | {_cell(getattr(found, field))} |" for field, label in ROWS]
    if kind == "annotators":
        rows.append(f"| Accuracy | {_cell(found.accuracy)} |")
    table = "\n".join(["| | |", "|---|---|", *rows])
    return f"{found.summary}\n\n{table}"


def _asked(name: str) -> int:
    """Return how many prompts of its own a study asks where no option is given."""
    maker = registry.get("prompts", name)
    return 0 if maker.needed else len(maker())


def studies() -> str:
    """Return the page of the studies: their own words, then their cards one level down."""
    at = measure_pages()
    parts = ["# Studies", "A *study* names the components of one published audit."]
    for name in _own("studies"):
        study = registry.get("studies", name)
        (point,) = entry_points(group="portrayal.studies", name=name)
        card = files(point.module).joinpath(study.card).read_text(encoding="utf-8")
        body = re.sub(r"^#", "##", card.strip(), flags=re.MULTILINE)
        measures = ", ".join(f"[`{m}`](../{at[m]}#{_anchor(m)})" for m in study.measures)
        facts = [
            f"- Asks: {study.question}",
            f"- Paper: {study.paper}",
            *(
                [f"- Prompts: {_asked(name):,} (`portrayal list prompts {name}`)"]
                if name in registry.names("prompts")
                else []
            ),
            f"- Measures: {measures}",
            f"- Presets of columns: {', '.join(f'`{p}`' for p in study.fields.presets) or 'none'}",
        ]
        parts += [f"## `{name}`", study.title, "\n".join(facts), body]
    return _page(parts)


def python() -> dict[str, str]:
    """Return the pages of the Python interface; mkdocstrings fills them when the site is built."""
    lead = (
        "What each folder of the package offers, in the words of its docstrings, which `make docs` "
        "puts here. Arguments are checked: one that cannot be used raises a `PortrayalError` that "
        "says what was expected. Every example is run by the tests."
    )
    found = (each.parent for each in PACKAGE.glob("*/__init__.py"))
    stages = sorted(stage for stage in found if stage.name != "cli")
    below = [f"- [`portrayal.{each.name}`](python/{each.name}.md)" for each in stages]
    root = [_described(name) for name in ("portrayal", *(f"portrayal.{n}" for n in ROOT_MODULES))]
    made = {"reference/python.md": _page(["# Python", lead, "\n".join(below), *root])}
    for stage in stages:
        places = (p.relative_to(PACKAGE.parent) for p in stage.rglob("*.py") if _is_door(p))
        doors = (".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in places)
        parts = [f"# `portrayal.{stage.name}`", *map(_described, sorted(doors))]
        made[f"reference/python/{stage.name}.md"] = _page(parts)
    return made


def _is_door(path: Path) -> bool:
    """Whether a module says what it offers: a folder's door, or a module that no door passes on."""
    text, door = (
        each.read_text(encoding="utf-8") for each in (path, path.with_name("__init__.py"))
    )
    if path.name == "__init__.py":
        return bool(text.strip())
    passed = f".{path.stem} import " in door
    return path.name[0] != "_" and "\n__all__ = " in text and not passed


def notebooks() -> dict[str, str]:
    """Return the notebooks: the pages of docs/notebooks, their Python as cells, without outputs."""
    made = dict[str, str]()
    for page in sorted((DOCS / "notebooks").glob("*.md")):
        parts = PYTHON.split(page.read_text(encoding="utf-8"))
        kinds = itertools.cycle(("markdown", "code"))
        cells = [_cell_of(kind, part.strip()) for kind, part in zip(kinds, parts, strict=False)]
        told = [cell | {"id": f"cell-{n}"} for n, cell in enumerate(cells) if cell["source"]]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = {
            "cells": told,
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        text = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
        made[page.relative_to(DOCS).with_suffix(".ipynb").as_posix()] = text
    return made


def _cell_of(kind: str, text: str) -> dict[str, Any]:
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)} | more


def _described(module: str) -> str:
    return f"::: {module}"


def command_line() -> str:
    """Return the page of the command line: the help of every command."""
    parts = [
        "# Command line",
        "One grammar: `portrayal VERB THING --texts FILE [--out DIR]`. A concept has one name in "
        "every command. `--format json` prints one JSON object on standard output and nothing "
        "else; what is to be known beside it, such as which column was read as what, goes to "
        "standard error. Tables fit 80 columns where they are piped. `portrayal "
        "--install-completion` completes commands and options in your shell.",
        "\n".join(EXITS),
    ]
    app = read_tokens()
    for path, command in (("", app), *commands(app)):
        parts += _command(command, f"portrayal {path}".strip())
    parts.append("## Options in Python")
    for name in registry.names("studies"):
        fields = dataclasses.fields(registry.get("studies", name).options)
        told = ", ".join(f"`{f.name}` ({f.default!r})" for f in fields)
        parts.append(f'`portrayal.audit(study="{name}", texts=…, **options)` takes {told}.')
    return _page(parts)


def _command(command: Any, path: str) -> list[str]:
    """The help of one command: its words, its usage, and a table of what it takes."""
    words, *_ = cleandoc(command.help).partition("\n\nParameters\n---")
    parts = [f"{'#' * min(2 + path.count(' '), 4)} `{path}`", words.strip()]
    usage, rows = [path], []
    if command.default_command is not None:
        for each in command.assemble_argument_collection(parse_docstring=True):
            if not each.parse or each.children:
                continue
            words, call, default = _option(each)
            usage.append(call)
            text = _cell(str(each.parameter.help or ""))
            rows.append(f"| {words} | {text} | {default} |")
    else:
        usage.append("COMMAND …")
    parts.append(f"```text\n{' '.join(usage)}\n```")
    if rows:
        parts.append("\n".join(["| | | default |", "|---|---|---|", *rows]))
    return [*parts, *_rare(command.default_command)]


def _rare(function: Any) -> list[str]:
    """A table of what a command takes by `--set`."""
    defaults = (getattr(function, "__kwdefaults__", None) or {}).values()
    options = [each for taken in defaults for each in getattr(taken, "options", {}).values()]
    rows = [
        f"| `--set {each.name}=…` | {_cell(each.help)} | {_shown(each.default)} |"
        for each in options
        if each.rare
    ]
    return ["\n".join(["| rarely needed | | default |", "|---|---|---|", *rows])] if rows else []


def _option(argument: Any) -> tuple[str, str, str]:
    """How an option stands in the table and in the usage line, and its default."""
    default = argument.field_info.default
    required = argument.required
    kinds = [each for each in get_args(argument.hint) or (argument.hint,) if each is not type(None)]
    if argument.field_info.is_positional:
        name = argument.name.lstrip("-").upper()
        return f"`{name}`", name if required else f"[{name}]", "required" if required else ""
    names = [*argument.names[:1], *(n for n in argument.negatives if n.startswith("--un"))]
    literal = get_origin(argument.hint) is Literal
    metavar = argument.parameter.metavar or ("|".join(get_args(argument.hint)) if literal else "")
    if not metavar and kinds[0] is not bool:
        first = get_args(kinds[0])[0] if get_origin(kinds[0]) is list else kinds[0]
        metavar = {Path: "PATH", int: "INTEGER", float: "NUMBER"}.get(first, "TEXT")
    call = f"{'/'.join(names)} {metavar}".strip()
    repeat = "…" if get_origin(kinds[0]) is list else ""
    usage = f"{call}{repeat}" if required else f"[{call}]{repeat}"
    return f"`{call}`", usage, "required" if required else _shown(default)


def _shown(default: Any) -> str:
    nothing = any(default is each for each in (None, False, "", (), dataclasses.MISSING))
    return "" if nothing else f"`{default}`"


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


def write(folder: Path) -> None:
    """Write the pages of docs/ and those from the code below a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DOCS.parent / "build" / "docs")
    write(parser.parse_args().folder)
