"""Options that many commands share, and records of options as the command line takes them.

A concept has one name on the whole command line (`tests/cli/test_grammar.py` walks every command):
an option of several commands is declared here, those of an audit in `portrayal.config`.
"""

from collections.abc import Iterable
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

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
By = Annotated[
    list[str] | None,
    Parameter(metavar="COLUMN", help="Column whose values are compared; repeatable."),
]
Measure = Annotated[str | None, Parameter(help="One measure; its version may be left out.")]
Where = Annotated[
    list[str] | None, Parameter(metavar="KEY=VALUE", help="Only this stratum or group; repeatable.")
]
ReferenceGroup = Annotated[
    list[str] | None,
    Parameter(metavar="COLUMN=VALUE", help="The group that others are compared with."),
]
Masked = Annotated[
    bool,
    Parameter(
        negative="--unmasked",
        help="Hide names and words that name a group, or read texts as they are.",
    ),
]
Replace = Annotated[
    bool, Parameter(name="--replace", show_default=False, help="Write over what is there already.")
]
Despite = Annotated[
    list[str] | None,
    Parameter(metavar="NAME", help="Instrument that may differ, or all; repeatable."),
]
Margin = Annotated[float, Parameter(help="Factor up to which ratios count as the same.")]
Level = Annotated[float, Parameter(help="Confidence level.")]
Seed = Annotated[int, Parameter(help="Start of every random stream.")]
Draws = Annotated[int, Parameter(help="Replicates of the bootstrap.")]
Permutations = Annotated[int, Parameter(help="Shuffles of the groups.")]
PromptFile = Annotated[
    Path | None, Parameter(help="Prompt file of your own (TOML, CSV, JSON lines).")
]
CueListName = Annotated[
    str, Parameter(name="--list", help="Cue list: a shipped one, or a TOML or CSV file.")
]
Labeler = Annotated[
    str,
    Parameter(
        help="Who labels the people: embedded (rules), reader (rules and a small network), llm, or "
        "routed (reader or llm where the rules are unsure)."
    ),
]
READS = (
    "Who says whom pronouns mean: embedded (rules) or reader (a small network). Default: the "
    "reader where portrayal[reader] is installed."
)
"""Help of an option of the labelers of any text."""
RouteShare = Annotated[
    float, Parameter(help="Fraction of the texts, the least sure ones, that routed sends to it.")
]


def record(options: Iterable[Option]) -> Any:
    """Return a record that a command takes one by one; what is rare, by `--set KEY=VALUE`.

    It is the default of a parameter that is marked `ONE_BY_ONE`.
    """
    known = {each.name: each for each in options}
    shown: list[tuple[str, Any, Any]] = []
    for each in known.values():
        if each.rare:
            continue
        one = str if each.named or each.kind is Any else each.kind  # `given` reads NAME=VALUE
        kind = list[one] if each.repeated else one  # type: ignore[valid-type]
        default = None if each.repeated else each.default
        words = Parameter(
            help=each.help,
            group=PANEL[each.panel],
            metavar=each.metavar or None,
            negative=f"--un{each.shown}" if default is True else (),
            show_default=default is not False and default not in (None, ""),
        )
        kind = kind | None if default is None else kind
        shown.append((each.shown, Annotated[kind, words], field(default=default)))
    if rare := [name for name, each in known.items() if each.rare]:
        words = Parameter(
            help=f"What is rarely needed, repeatable: {', '.join(rare)}.",
            group=PANEL["Output"],
            metavar="KEY=VALUE",
        )
        shown.append(("set", Annotated[list[str] | None, words], field(default=None)))
    space = {"__module__": __name__, "options": known}
    return make_dataclass("Record", shown, frozen=True, kw_only=True, namespace=space)()


def given(taken: Any) -> dict[str, Any]:
    """Return what was given of a `record`, by the names of the options.

    Raises
    ------
    OptionError
        When a key of `--set` is unknown (the nearest is said), or a value is none of its kind.
    """
    known: dict[str, Option] = taken.options
    found: dict[str, Any] = {}
    for name, each in known.items():
        value = getattr(taken, each.shown, None)
        if each.rare or value is None or value == each.default:
            continue
        found[name] = tuple(value) if each.repeated else value
        if each.named:
            found[name] = pairs(f"--{each.shown}", value, each)
    asked = options_of(AskingConfig)
    for text in getattr(taken, "set", None) or ():
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign:
            raise OptionError(f"--set takes KEY=VALUE, such as seed=1; got {text!r}.")
        name, _, part = key.partition(".")
        check_known(name, known, "--set", [each for each in known if known[each].rare])
        if name.endswith("_settings"):
            part, _, inner = part.partition(".")
            check_known(part, asked, name)
            settings = found.setdefault(name, {})
            if inner:
                settings[part] = settings.get(part, {}) | {inner: asked[part].read(value)}
            else:
                settings[part] = asked[part].read(value)
        elif part:
            found[name] = dict(found.get(name, {})) | {part: known[name].read(value)}
        else:
            found[name] = known[name].read(value)
    return found


def given_by_set(taken: Any) -> dict[str, Option]:
    """Return what a `record` takes by `--set` alone; nothing for any other value."""
    return {name: each for name, each in getattr(taken, "options", {}).items() if each.rare}


def either(run: Path | None, texts: Path | None) -> Path:
    """Return the run or the file of texts, whichever was given.

    Raises
    ------
    OptionError
        When neither or both were.
    """
    named = [path for path in (run, texts) if path is not None]
    if len(named) != 1:
        raise OptionError("say whose texts: either the directory of a run, or --texts FILE.")
    return named[0]


def pairs(option: str, texts: Iterable[str] | None, of: Option | str) -> dict[str, Any]:
    """Return NAME=VALUE pairs, each read as the declared option says.

    With an example in place of an option, values are text, and several may be joined by commas.

    Raises
    ------
    OptionError
        When one is not of that form; says the `option` and an example.
    """
    example = of if isinstance(of, str) else of.metavar or "NAME=VALUE"
    each = [part for text in texts or () for part in text.split(",")] if of is example else texts
    found: dict[str, Any] = {}
    for pair in each or ():
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not (sign and name and (value or of is not example)):
            raise OptionError(f"{option} takes {example} or the like; got {pair!r}.")
        found[name] = value if isinstance(of, str) else of.read(value)
    return found
