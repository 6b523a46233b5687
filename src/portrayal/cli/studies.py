"""Commands with one subcommand for each registered study, made from what the study says of itself.

A study's own options become options of its `audit`, and the arguments of its prompt maker options
of every command that makes its prompts. No command knows a study by name.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature, cleandoc, signature
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

import portrayal.registry as registry
from portrayal.cli.asking import option_parameter
from portrayal.errors import OptionError

Command = Callable[..., None]

_ARGUMENTS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.M | re.S)
_ARGUMENT = re.compile(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", re.M)


@dataclass(frozen=True)
class PromptOption:
    """An argument of a study's prompt maker, as an option.

    Attributes
    ----------
    key
        The argument.
    shown
        The option; of an argument that holds several values (`forms`) it is the repeatable `form`.
    named
        Whether its values are NAME=VALUE pairs.
    """

    key: str
    shown: Parameter
    named: bool = False

    def value(self, given: Any) -> Any:
        """Return what the maker is given."""
        if not isinstance(given, list):
            return given
        if not self.named:
            return tuple(given)
        pairs = [pair.partition("=") for pair in given]
        for name, sign, _ in pairs:
            if not (sign and name.strip()):
                raise OptionError(f"--{self.shown.name} takes NAME=VALUE; got {name!r}.")
        return {name.strip(): value for name, _, value in pairs}


def prompt_options(study: str) -> dict[str, PromptOption]:
    """Return the options of the prompts of `study`, by the name of the option."""
    make = registry.get("prompts", study).make
    hints, words = get_type_hints(make), _documented(make.__doc__ or "")
    made = [
        _prompt_option(key, hints.get(key, str), words.get(key, ""))
        for key in signature(make).parameters
    ]
    return {option.shown.name: option for option in made}


def option_name(key: str, value: Any) -> str:
    """Return the option of an argument of a prompt maker, which holds such a value."""
    return key.removesuffix("s") if isinstance(value, (tuple, dict)) else key


def _prompt_option(key: str, kind: Any, words: str) -> PromptOption:
    if isinstance(kind, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    origin = get_origin(kind)
    if isinstance(origin, type) and issubclass(origin, (Sequence, Mapping)):
        named = issubclass(origin, Mapping)
        name = option_name(key, ())
        metavar = ("FIELD=NAME" if name == "column" else "NAME=VALUE") if named else None
        shown = option_parameter(name, list[str] | None, None, f"{words} Repeatable.", metavar)
        return PromptOption(key, shown, named)
    plain = kind if kind in (bool, int, float) else str
    default = False if plain is bool else None
    shown = option_parameter(key, bool if plain is bool else plain | None, default, words)
    return PromptOption(key, shown)


def _documented(text: str) -> dict[str, str]:
    """The first sentence of each argument in a docstring of the numpy convention."""
    found = _ARGUMENTS.search(cleandoc(text))
    words: dict[str, str] = {}
    for name, said in _ARGUMENT.findall(found[1] if found else ""):
        sentence = re.split(r"(?<=[.;])\s", " ".join(said.split()), maxsplit=1)[0]
        words |= dict.fromkeys(name.split(", "), sentence.rstrip(".;") + ".")
    return words


def study_options(study: Any) -> dict[str, Parameter]:
    """Return the options that the study's own dataclass of options makes."""
    hints = get_type_hints(study.options)
    made = {}
    for each in dataclasses.fields(study.options):
        kind, default = hints[each.name], each.default
        if get_origin(kind) is tuple:
            kind, default = list[get_args(kind)[0]] | None, None  # type: ignore[misc]
        elif isinstance(kind, UnionType) and any(get_origin(a) is tuple for a in get_args(kind)):
            kind, default = list[str] | None, None
        made[each.name] = option_parameter(each.name, kind, default, each.metadata.get("help", ""))
    return made


def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given: lists as tuples, those left out by their default."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }


def of_study(command: Command, study: str, *, hidden: frozenset[str] = frozenset()) -> Command:
    """Return the command of one study.

    Parameters
    ----------
    command
        A function with a parameter `study`, and with `prompt_options` or `own` (a mapping each) in
        the place of which the options of the study's prompts, or of its audit, stand.
    study
        Its registered name.
    hidden
        Parameters that say nothing for this study; they keep their defaults.
    """
    shared = {name: p for name, p in signature(command).parameters.items() if name not in hidden}
    own = study_options(registry.get("studies", study)) if "own" in shared else {}
    asked = {}
    if "prompt_options" in shared and study in registry.names("prompts"):
        taken = {*shared, *own}
        asked = {name: o for name, o in prompt_options(study).items() if name not in taken}
    places = {"own": list(own.values()), "prompt_options": [each.shown for each in asked.values()]}
    shown = [
        option.replace(kind=Parameter.KEYWORD_ONLY)
        for name, each in shared.items()
        if name != "study" and name not in own
        for option in places.get(name, [each])
    ]

    def call(**given: Any) -> None:
        more: dict[str, Any] = {}
        if "own" in shared:
            more["own"] = {name: given.pop(name) for name in own}
        if "prompt_options" in shared:
            read = {name: given.pop(name) for name in asked}
            values = {name: asked[name].value(value) for name, value in read.items() if value}
            more["prompt_options"] = {asked[name].key: value for name, value in values.items()}
        command(study=study, **given, **more)

    call.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    call.__annotations__ = {option.name: option.annotation for option in shown}
    return call


def each_study(
    name: str, words: str, kind: registry.Kind, make: Callable[[str], tuple[Command, str]]
) -> typer.Typer:
    """Return the command `name` with a subcommand for each study of `kind`.

    `make` returns the function of a study's subcommand, and its words.
    """

    class Studies(TyperGroup):
        """Subcommands made from the registered studies, each when it is asked for."""

        def list_commands(self, _: Any) -> list[str]:
            """Return the names of the studies."""
            return list(registry.names(kind))

        def get_command(self, _: Any, cmd_name: str) -> Any:
            """Return the command of a study, whose name may use `_` for `-`."""
            study = registry.resolve(kind, cmd_name)
            command, said = make(study)
            single = typer.Typer(add_completion=False)
            single.command(study, help=said)(command)
            return typer.main.get_command(single)

    return typer.Typer(
        cls=Studies, name=name, help=words, no_args_is_help=True, callback=lambda: None
    )
