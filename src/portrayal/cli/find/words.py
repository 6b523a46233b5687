"""The command `find words`: parse, call, print."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.cli.printing as show
from portrayal.cli.options import (
    By,
    Columns,
    Format,
    Level,
    Masked,
    Permutations,
    ReferenceGroup,
    RunOr,
    Seed,
    Texts,
    either,
    pairs,
)
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.coding import Comparison, Documents, MarkedWord


def words(
    run: RunOr = None,
    texts: Texts = None,
    column: Columns = None,
    by: By = None,
    reference_group: ReferenceGroup = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of what makes texts dependent; default the prompt.",
        ),
    ] = None,
    masked: Masked = True,
    mask_words: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of further words to mask, one on each line."),
    ] = None,
    min_count: Annotated[int, typer.Option(help="Occurrences that a word needs.")] = 10,
    min_texts: Annotated[int, typer.Option(help="Texts that a word needs to be in.")] = 5,
    prior: Annotated[float, typer.Option(help="Words of the Dirichlet prior.")] = 500.0,
    permutations: Permutations = 200,
    top: Annotated[int, typer.Option(help="Words of each comparison.")] = 15,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="HTML page to write, with passages on click."),
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """List the words that mark each group, intersection and role (weighted log odds).

    Of a run, --by takes gender, race, model or domain; of a file its columns, and --column names
    those of the text, role and first names (masked). Two --by give the intersection too.

    Example: portrayal find words --texts letters.csv --by gender --column name=first_name
    """
    from portrayal.coding import count_words, marked_words
    from portrayal.measure import Scope
    from portrayal.run.files import read_utf8
    from portrayal.validate import check_count

    json = format == "json"
    check_count("min_count", min_count, minimum=1)
    check_count("min_texts", min_texts, minimum=1)
    check_count("top", top, minimum=1)
    documents = _documents(run, texts, by or [], cluster, column or [])
    further = read_utf8(mask_words).split() if mask_words is not None else ()
    counts = count_words(
        documents, min_count=min_count, min_texts=min_texts, mask=further, masking=masked
    )
    scope = Scope("words", level=level, seed=seed, permutations=permutations)
    with show.working("comparing words", quiet=json):
        compared = marked_words(
            documents,
            counts,
            scope,
            unmarked=pairs("--reference-group", reference_group, "race=White"),
            prior=prior,
        )
    if out is not None:
        from portrayal.report.marked import words_page
        from portrayal.run.files import write_atomically

        write_atomically(out, words_page(compared, documents, counts, scope, top=top))
    if json:
        show.as_json(_facts(documents, compared, sum(counts.masked.values()), scope, prior, top))
    else:
        _print(documents, compared, len(counts.words), sum(counts.masked.values()), top)


def _documents(
    run: Path | None,
    texts: Path | None,
    groups: list[str],
    cluster: str | None,
    columns: list[str],
) -> "Documents":
    from portrayal.coding import read_documents, run_documents
    from portrayal.run import Run

    either(run, texts)
    if run is None:
        return read_documents(str(texts), groups, cluster=cluster, columns=columns)
    if cluster or columns:
        raise OptionError("--column and --cluster go with --texts; a run has its own.")
    return run_documents(Run.open(run), groups or ["gender"])


def _facts(
    documents: "Documents",
    compared: Sequence["Comparison"],
    masked: int,
    scope: Any,
    prior: float,
    top: int,
) -> dict[str, Any]:
    from portrayal.coding.words import SOURCE

    return {
        "texts": documents.name,
        "n_texts": len(documents.texts),
        "exclusions": dict(documents.exclusions),
        "clustered_by": documents.clustered_by,
        "n_masked": masked,
        "source": SOURCE,
        "prior": prior,
        "level": scope.level,
        "seed": scope.seed,
        "permutations": scope.permutations,
        "comparisons": [
            {
                "group": dict(c.group),
                "role": c.role,
                "against": c.against,
                "n_texts": c.n_texts,
                "n_others": c.n_others,
                "n_clusters": c.n_clusters,
                "n_words": len(c.words),
                "undefined": c.undefined,
                "words": [dataclasses.asdict(word) for word in c.words[:top] if word.z > 0],
            }
            for c in compared
        ],
    }


_HEADERS = ("word", "count", "others", "texts", "log odds", "z", "z cl.", "q", "p")


def _print(
    documents: "Documents", compared: Sequence["Comparison"], n_words: int, masked: int, top: int
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    unread = sum(documents.exclusions.values())
    n, unit = len(documents.texts), documents.unit
    show.line(
        f"{n_words:,} words of {n:,} {unit}s ({unread:,} texts refused, empty or failed left out); "
        f"{masked:,} names and group words masked; clustered by {documents.clustered_by}."
    )
    console = Console(emoji=False)
    for c in compared:
        show.line(
            f"\n{c.title}, against {c.against}: {c.n_texts:,} and {c.n_others:,} {documents.unit}s"
        )
        if c.undefined is not None:
            show.line(f"  no comparison: {c.undefined}")
            continue
        table = Table(*(Column(h, overflow="fold") for h in _HEADERS), box=None)
        for word in (w for w in c.words[:top] if w.z > 0):
            cells = [word.word, f"{word.count:,}", f"{word.count_others:,}", f"{word.texts:,}"]
            cells += [f"{word.log_odds:.2f}{_bounds(word)}", f"{word.z:.1f}"]
            cells += [_figure(word.z_clustered, ".1f"), _figure(word.q, ".1g")]
            cells += [_figure(word.p_shuffled, ".2g")]
            table.add_row(*(escape(cell) for cell in cells))
        console.print(table)


def _bounds(word: "MarkedWord") -> str:
    return "" if math.isnan(word.low) else f" ({word.low:.2f}–{word.high:.2f})"


def _figure(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
