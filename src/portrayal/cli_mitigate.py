"""Commands that change texts so that groups are more alike: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from portrayal import cli_agency, cli_ask, show, show_ask, show_mitigate
from portrayal.cli_audit import Columns, More
from portrayal.errors import OptionError

app = typer.Typer(
    help="Make texts about different groups more alike, and report what it did.",
    no_args_is_help=True,
    callback=lambda: None,
)


@app.command()
@cli_ask.grouped
def agency(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Directory of an agency audit.")
    ] = None,
    more: More = None,
    texts: Annotated[Path | None, typer.Option(help="File of texts, in place of a run.")] = None,
    model: cli_ask.Model = None,
    out: Annotated[
        Path, typer.Option(help="Directory of the rewritten texts and the report.")
    ] = Path("mitigated"),
    group: Annotated[
        list[str] | None,
        typer.Option(help="Column of the groups; repeatable. Default: gender and race."),
    ] = None,
    stratum: Annotated[
        str | None,
        typer.Option(help="Column, such as occupation, to compare groups within."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="rewrite, or instruction (ask again with the fairness instruction).")
    ] = "rewrite",
    target: Annotated[
        str, typer.Option(help="always-up (as published), or reference (to one group's level).")
    ] = "always-up",
    reference: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="The reference group; default the most agentic."),
    ] = None,
    per_stratum: Annotated[
        bool,
        typer.Option("--per-stratum", help="Reference: toward its level in each --stratum."),
    ] = False,
    min_group: Annotated[
        int, typer.Option(help="Texts of each group that a stratum needs for a level of its own.")
    ] = 10,
    rounds: Annotated[int, typer.Option(help="Rounds of rewriting at most.")] = 3,
    all_rounds: Annotated[
        bool, typer.Option("--all-rounds", help="Go on where differences are inside noise.")
    ] = False,
    text_type: Annotated[
        str | None, typer.Option(help='What the instruction calls a text: "biography", ….')
    ] = None,
    classifier: Annotated[str, typer.Option(help="Classifier of sentences.")] = "linear",
    check_classifier: Annotated[
        str | None, typer.Option(help="A second classifier, to read the result as well.")
    ] = None,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Classify sentences with names and genders.")
    ] = False,
    least_similarity: Annotated[
        float, typer.Option(help="List texts that are less alike than this, 0 to 1.")
    ] = 0.6,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    draws: Annotated[int, typer.Option(help="Bootstrap replicates.")] = 2000,
    permutations: Annotated[int, typer.Option(help="Shuffles of the groups.")] = 999,
    seed: Annotated[int, typer.Option(help="Of all that is random.")] = 0,
    column: Columns = None,
    *,
    how: cli_ask.How,
    reads: cli_agency.ClassifierHow,
    batch: cli_ask.Batch = False,
    wait: cli_ask.Wait = None,
    json: cli_ask.Json = False,
) -> None:
    """Rewrite communal (or agentic) sentences so that groups are alike; the same call continues."""
    from portrayal.mitigate import mitigate_agency

    if (run is None) == (texts is None):
        raise OptionError("give either the directory of a run or --texts FILE.")
    with (
        cli_ask.under_way(out, as_object=json),
        show_ask.asking_progress(quiet=json or batch) as answered,
    ):
        asking = how.asking(model, answered, batch=batch, wait=wait)
        if batch and not json:
            show.line("asking in batches; Ctrl-C is safe, and the same command continues")
        done = mitigate_agency(
            run or texts or Path(),
            asking,
            out,
            group=tuple(group or ("gender", "race")),
            stratum=stratum,
            columns=[*(column or ()), *(more or ())],
            method=method,
            target=target,
            reference=_pairs(reference),
            per_stratum=per_stratum,
            min_group=min_group,
            rounds=rounds,
            until_noise=not all_rounds,
            text_type=text_type,
            classifier=classifier,
            masked=not unmasked,
            check_classifier=check_classifier,
            classifier_settings=reads.settings((classifier, check_classifier), how, answered),
            least_similarity=least_similarity,
            level=level,
            draws=draws,
            permutations=permutations,
            seed=seed,
            say=show.nothing if json else show.line,
        )
    if json:
        show.as_json({"out": str(done.out), **done.facts})
    else:
        show_mitigate.mitigation(done)


def _pairs(given: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise OptionError(f"--reference takes COLUMN=VALUE, such as gender=male; got {text!r}.")
        pairs[name.strip()] = value.strip()
    return pairs
