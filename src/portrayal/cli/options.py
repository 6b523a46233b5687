"""Options that many commands share, and records of options as the command line takes them.

A concept has one name on the whole command line (`tests/cli/test_grammar.py` walks every command):
an option of several commands is declared here, those of an audit in `portrayal.config`.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import field, make_dataclass, replace
from inspect import cleandoc, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from cyclopts import Group, Parameter

import portrayal.registry as registry
from portrayal.config import PANELS, AskingConfig, Option, check_known, options_of
from portrayal.errors import OptionError

PANEL = {name: Group.create_ordered(name) for name in PANELS}
ONE_BY_ONE = Parameter(name="*")
"""Marks a parameter that holds a `record`, whose options stand by themselves."""

Flag = Annotated[bool, Parameter(show_default=False)]
Every = Annotated[
    bool, Parameter(name="--all", show_default=False, help="Every row, not only the first 20.")
]
Format = Annotated[Literal["table", "json"], Parameter(help="table or json.")]
RunPath = Annotated[Path, Parameter(help="Directory of a run.")]
RunOr = Annotated[Path | None, Parameter(help="Directory of a run; or give --texts.")]
Texts = Annotated[
    Path | None,
    Parameter(help="CSV, JSON lines, Parquet or Excel file, or a folder, in place of a run."),
]
HandLabels = Annotated[Path, Parameter(help="File of texts that people labelled.")]
LabelledSentences = Annotated[
    Path, Parameter(help="File of sentences with the columns text and label.")
]
Columns = Annotated[
    list[str] | None,
    Parameter(
        metavar="FIELD=NAME",
        help="Column NAME holds FIELD; repeatable, or several joined by commas.",
    ),
]
Measure = Annotated[str | None, Parameter(help="One measure; its version may be left out.")]
Where = Annotated[
    list[str] | None, Parameter(metavar="KEY=VALUE", help="Only this stratum or group; repeatable.")
]
Masked = Annotated[
    bool,
    Parameter(
        negative="--unmasked",
        help="Hide names and words that name a group, or read texts as they are.",
    ),
]
Score = Annotated[
    list[str] | None,
    Parameter(metavar="COLUMN", help="Numbers, or yes and no, in tables or logs; repeatable."),
]
PairBy = Annotated[
    str | None,
    Parameter(metavar="COLUMN", help="Names the samples of scores; by default id or the like."),
]
Cluster = Annotated[
    str | None, Parameter(metavar="COLUMN", help="Samples of one value may depend on each other.")
]
Level = Annotated[float, Parameter(help="Confidence level.")]
Seed = Annotated[int, Parameter(help="Start of every random stream.")]
Draws = Annotated[int, Parameter(help="Replicates of the bootstrap.")]


def record(options: Iterable[Option]) -> Any:
    """Return a record that a command takes one by one; what is rare, by `--set KEY=VALUE`, too.

    Help names the rare ones beside `--set`, and does not list them one by one. It is the default of
    a parameter that is marked `ONE_BY_ONE`.
    """
    by_name = {option.name: option for option in options}
    shown_fields: list[tuple[str, Any, Any]] = []
    for option in by_name.values():
        if option.rare:
            hidden = Annotated[str | None, Parameter(show=False)]
            shown_fields.append((option.flag, hidden, field(default=None)))
            continue
        # `given` reads NAME=VALUE
        one = str if option.is_map or option.kind is Any else option.kind
        kind = list[one] if option.repeated else one  # type: ignore[valid-type]
        default = None if option.repeated else option.default
        words = Parameter(
            help=option.help,
            group=PANEL[option.panel],
            metavar=option.metavar or None,
            negative=f"--un{option.flag}" if default is True else (),
            show_default=default is not False and default not in (None, ""),
        )
        kind = kind | None if default is None else kind
        shown_fields.append((option.flag, Annotated[kind, words], field(default=default)))
    if rare := [name for name, option in by_name.items() if option.rare]:
        sentence = f"What is rarely needed, repeatable: {', '.join(rare)}."
        words = Parameter(help=sentence, group=PANEL["Output"], metavar="KEY=VALUE")
        shown_fields.append(("set", Annotated[list[str] | None, words], field(default=None)))
    # A class with real annotations, as that is what the parser reads options from
    space = {"__module__": __name__, "options": by_name}
    return make_dataclass("Record", shown_fields, frozen=True, kw_only=True, namespace=space)()


def given(values: Any) -> dict[str, Any]:
    """Return what was given of a `record`, by the names of the options.

    Raises
    ------
    OptionError
        When a key of `--set` is unknown (the nearest is said), or a value is none of its kind.
    """
    declared: dict[str, Option] = values.options
    read_values: dict[str, Any] = {}
    for name, option in declared.items():
        value = getattr(values, option.flag, None)
        # Defaults are left out: what a file of options says must count over them
        if value is None or value == option.default:
            continue
        if option.rare:
            read_values[name] = option.read(value)
            continue
        read_values[name] = tuple(value) if option.repeated else value
        if option.is_map:
            read_values[name] = pairs(f"--{option.flag}", value, option)
    asking = options_of(AskingConfig)
    rare = {name: option for name, option in declared.items() if option.rare}
    for text in getattr(values, "set", None) or ():
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign:
            raise OptionError(f"--set takes KEY=VALUE, such as seed=1; got {text!r}.")
        # "llm_settings.price": a setting of a setting, as the file of options has tables
        name, _, part = key.partition(".")
        check_known(name, declared, "--set", rare)
        if name.endswith("_settings"):
            part, _, inner = part.partition(".")
            check_known(part, asking, name)
            settings, setting = read_values.setdefault(name, {}), asking[part].read(value)
            settings[part] = settings.get(part, {}) | {inner: setting} if inner else setting
        elif part:
            read_values[name] = dict(read_values.get(name, {})) | {part: declared[name].read(value)}
        else:
            read_values[name] = declared[name].read(value)
    return read_values


def either(run: Path | None, texts: Path | None) -> Path:
    """Return the run or the file of texts, whichever was given.

    Raises
    ------
    OptionError
        When neither or both were.
    """
    paths = [path for path in (run, texts) if path is not None]
    if len(paths) != 1:
        raise OptionError("say whose texts: either the directory of a run, or --texts FILE.")
    return paths[0]


def pairs(option: str, texts: Iterable[str] | None, of: Option | str) -> dict[str, Any]:
    """Return NAME=VALUE pairs, each read as the declared option says.

    With an example in place of an option, values are text, and several may be joined by commas.

    Raises
    ------
    OptionError
        When one is not of that form; says the `option` and an example.
    """
    example = of if isinstance(of, str) else of.metavar or "NAME=VALUE"
    # Joined by commas only where values are names; a value of an option may hold commas
    parts = [part for text in texts or () for part in text.split(",")] if of is example else texts
    read_pairs: dict[str, Any] = {}
    for pair in parts or ():
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not (sign and name and (value or of is not example)):
            raise OptionError(f"{option} takes {example} or the like; got {pair!r}.")
        read_pairs[name] = value if isinstance(of, str) else of.read(value)
    return read_pairs


_ARGUMENTS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.M | re.S)
_ARGUMENT = re.compile(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", re.M)


def prompt_options(study: str, other_names: Collection[str] = ()) -> list[Option]:
    """Return the arguments of the study's prompt maker as options, but for `other_names`.

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
        hint = hints.get(name, str)
        words_of = {"help": words.get(name, ""), "panel": "Asking a model"}
        option = Option.of(name, hint, False if hint is bool else None, words_of)
        if option.repeated:
            singular = name.removesuffix("s")
            pair = "FIELD=NAME" if singular == "column" else "NAME=VALUE"
            text, metavar = f"{option.help} Repeatable.", pair * option.is_map
            option = replace(option, default=None, help=text, flag=singular, metavar=metavar)
        if option.flag not in other_names:
            options.append(option)
    return options


def with_prompts(study: str) -> str:
    """Return a study's name as an example gives it, with the files that its prompts need."""
    if study not in registry.names("prompts"):
        return study
    needed = registry.get("prompts", study).needed
    return " ".join([study, *(f"--{name} FILE" for name in needed)])


def split_prompt_options(values: dict[str, Any], study: str) -> dict[str, Any]:
    """Return what was given, with the options of the study's prompts under `prompt_options`."""
    names = [option.name for option in prompt_options(study) if option.name in values]
    other_values = {name: value for name, value in values.items() if name not in names}
    of_prompts = {name: values[name] for name in names}
    return other_values | ({"prompt_options": of_prompts} if of_prompts else {})
