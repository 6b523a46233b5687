"""Options that many commands share, each under one name and in the same words.

A concept has one name on the whole command line (`tests/cli/test_grammar.py` walks every command):
an option of several commands is declared here, and the options of asking a model in `asking`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from portrayal.errors import OptionError
from portrayal.validate import check_choice


def formats(*kinds: str) -> Any:
    """Return the option --format of a command that prints or writes these; the first is usual."""
    *others, last = kinds

    def checked(value: str) -> str:
        return check_choice("format", value, kinds)

    def completed(incomplete: str) -> list[str]:
        return [kind for kind in kinds if kind.startswith(incomplete)]

    return typer.Option(
        "--format",
        metavar="|".join(kinds),
        help=f"{', '.join(others)} or {last}.",
        callback=checked,
        autocompletion=completed,
    )


Format = Annotated[str, formats("table", "json")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a run.")]
RunOr = Annotated[
    Path | None, typer.Argument(metavar="[RUN]", help="Directory of a run; or give --texts.")
]
Texts = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="CSV, JSON lines, Parquet or Excel file, or a folder of them, in place of a run.",
    ),
]
HandLabels = Annotated[
    Path, typer.Option(metavar="FILE", help="File of texts that people labelled.")
]
LabelledSentences = Annotated[
    Path,
    typer.Option(
        "--hand-labels", metavar="FILE", help="File of sentences with the columns text and label."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="FIELD=NAME",
        help="Column NAME holds FIELD; repeatable, or several joined by commas.",
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="COLUMN", help="Column whose values are compared; repeatable."),
]
Measure = Annotated[str | None, typer.Option(help="One measure; its version may be left out.")]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Only this stratum or group; repeatable."),
]
ReferenceGroup = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=VALUE", help="The group that others are compared with."),
]
Masked = Annotated[
    bool,
    typer.Option(
        "--masked/--unmasked", help="Hide names and words that name a group, or read texts as is."
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Write over what is there already.")]
Despite = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Instrument that may differ, or all; repeatable."),
]
Margin = Annotated[float, typer.Option(help="Factor up to which ratios count as the same.")]
Level = Annotated[float, typer.Option(help="Confidence level.")]
Seed = Annotated[int, typer.Option(help="Start of every random stream.")]
Draws = Annotated[int, typer.Option(help="Replicates of the bootstrap.")]
Permutations = Annotated[int, typer.Option(help="Shuffles of the groups.")]
PromptFile = Annotated[
    Path | None,
    typer.Option(
        "--prompts", metavar="FILE", help="Prompt file of your own (TOML, CSV, JSON lines)."
    ),
]
CueListName = Annotated[
    str, typer.Option("--list", help="Cue list: a shipped one, or a TOML or CSV file.")
]
Labeler = Annotated[
    str,
    typer.Option(
        help="Who labels the people: embedded (rules), reader (rules and a small network), llm, or "
        "routed (reader or llm where the rules are unsure)."
    ),
]
RouteShare = Annotated[
    float, typer.Option(help="Fraction of the texts, the least sure ones, that routed sends to it.")
]


def either(run: Path | None, texts: Path | None) -> Path:
    """Return the run or the file of texts, whichever was given.

    Raises
    ------
    OptionError
        When neither or both were.
    """
    given = [path for path in (run, texts) if path is not None]
    if len(given) != 1:
        raise OptionError("say whose texts: either the directory of a run, or --texts FILE.")
    return given[0]


def pairs(option: str, given: list[str] | None, example: str) -> dict[str, str]:
    """Return NAME=VALUE pairs, also several joined by commas.

    Raises
    ------
    OptionError
        When one is not of that form; says the `option` and an `example`.
    """
    found = {}
    for pair in (part for text in given or () for part in text.split(",")):
        one, sign, other = pair.partition("=")
        if not (sign and one.strip() and other.strip()):
            raise OptionError(f"{option} takes {example} or the like; got {pair!r}.")
        found[one.strip()] = other.strip()
    return found


Command = Callable[..., None]
"""What Typer makes a command of."""
