"""Commands with one subcommand for each registered study, made from what the study says of itself.

A study's own options become options of its `audit`, and the arguments of its prompt maker options
of every command that makes its prompts. No command knows a study by name.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from inspect import cleandoc, signature
from typing import Any, get_type_hints

from cyclopts import App

import portrayal.registry as registry
from portrayal.config import Option

_ARGUMENTS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.M | re.S)
_ARGUMENT = re.compile(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", re.M)


def prompt_options(study: str, taken: Collection[str] = ()) -> list[Option]:
    """Return the arguments of the study's prompt maker as options, but for names that are `taken`.

    Of an argument that holds several values (`forms`) the option is the repeatable `form`.
    """
    if study not in registry.names("prompts"):
        return []
    make = registry.get("prompts", study).make
    hints = get_type_hints(make)
    section = _ARGUMENTS.search(cleandoc(make.__doc__ or ""))
    words: dict[str, str] = {}
    for names, text in _ARGUMENT.findall(section[1] if section else ""):
        # The first sentence of the docstring is the help: one place to say what it does
        sentence = re.split(r"(?<=[.;])\s", " ".join(text.split()), maxsplit=1)[0]
        words |= dict.fromkeys(names.split(", "), sentence.rstrip(".;") + ".")
    options = []
    for name in signature(make).parameters:
        hint, words_of = (
            hints.get(name, str),
            {"help": words.get(name, ""), "panel": "Asking a model"},
        )
        option = Option.of(name, hint, False if hint is bool else None, words_of)
        if option.repeated:
            singular = name.removesuffix("s")
            metavar = (
                ("FIELD=NAME" if singular == "column" else "NAME=VALUE") if option.named else ""
            )
            text = f"{option.help} Repeatable."
            option = replace(option, default=None, help=text, shown=singular, metavar=metavar)
        if option.shown not in taken:
            options.append(option)
    return options


def with_prompts(study: str) -> str:
    """Return a study's name as an example gives it, with the files that its prompts need."""
    if study not in registry.names("prompts"):
        return study
    needed = registry.get("prompts", study).needed
    return " ".join([study, *(f"--{name} FILE" for name in needed)])


def split_prompt_options(given: dict[str, Any], study: str) -> dict[str, Any]:
    """Return what was given, with the options of the study's prompts under `prompt_options`."""
    names = [option.name for option in prompt_options(study) if option.name in given]
    other_values = {name: value for name, value in given.items() if name not in names}
    return (
        {**other_values, "prompt_options": {name: given[name] for name in names}}
        if names
        else other_values
    )


def each_study(
    app: App,
    kind: registry.Kind,
    makers: tuple[Callable[[str], tuple[Callable[..., Any], str]], str],
    tokens: Sequence[str] | None,
) -> App:
    """Return `app` with a subcommand for each study of `kind`.

    Parameters
    ----------
    makers
        What returns the function of a study's subcommand, and an example; and its help, with the
        fields name, title and question.
    tokens
        What follows the command: the one study that it names is made, also one by its path. Where
        it names none, they are listed alone, as making one loads the study; for None all are made.
    """
    make, help_of_one = makers
    names: Sequence[str] = registry.names(kind)
    one = tokens[0] if tokens and not tokens[0].startswith("-") else None
    if one is not None:
        names = [registry.resolve(kind, one)]
    for name in names:
        words = help_of_one.format(name=name, **_said_by(name))
        if tokens is not None and one is None:  # for the help alone: a study takes a second to load
            app.command(App(name=name, help=words))
            continue
        command, example = make(name)
        # Also as it was written, such as a path, since the parser compares words
        called = (name,) if one is None else (name, one)
        words = f"{words}\n\nExample: {example}"
        app.command(command, name=tuple(dict.fromkeys(called)), help=words)
    return app


def _said_by(name: str) -> dict[str, str]:
    """Title and question of a study; read from its own file, as loading it takes a second."""
    folder = registry.folder("studies", name)
    for file in ("study.toml", "about.toml"):
        if folder is not None and (folder / file).is_file():
            table = tomllib.loads((folder / file).read_text(encoding="utf-8"))
            return {key: table[key] for key in ("title", "question")}
    study = registry.get("studies", name) if name in registry.names("studies") else None
    return {key: getattr(study, key, "") for key in ("title", "question")}
