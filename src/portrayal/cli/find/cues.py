"""The command `find cues`: parse, call, print."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.cli.printing as show
from portrayal.cli.options import (
    Columns,
    CueListName,
    Format,
    Level,
    RunOr,
    Seed,
    Texts,
    either,
)
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.collect.corpus import Corpus
    from portrayal.measure.cues.lists import CueList
    from portrayal.measure.cues.search import CueHits


def cues(
    run: RunOr = None,
    texts: Texts = None,
    column: Columns = None,
    list_: CueListName = "laissez-faire",
    term: Annotated[
        list[str] | None, typer.Option(help="Term of your own, in place of a list; repeatable.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="STRATUM", help="What the table splits by: nothing, model, domain or role."
        ),
    ] = "nothing",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV file to write every mention to, with its context."),
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Search for terms that name an identity, and count them by model, domain and role.

    Example: portrayal find cues --texts answers.csv --term hospital --by model
    """
    from portrayal.measure import Scope
    from portrayal.measure.cues.counts import cue_estimates, cue_rows
    from portrayal.measure.cues.search import find_cues
    from portrayal.validate import check_choice

    json = format == "json"
    check_choice("by", by, ("nothing", "model", "domain", "role"))
    scope = Scope("coding", level=level, seed=seed)
    corpus = corpus_of(run, texts, column)
    if by == "role" and corpus.people is None:
        raise OptionError(f"--by role needs a run with annotated people; {corpus.name} has none.")
    with show.working("searching", quiet=format == "json"):
        hits = find_cues(corpus, _cue_list(list_, term))
        rows = cue_rows(list(cue_estimates(hits, scope)))
    facts = {
        "list": hits.cues.name,
        "source": hits.cues.source,
        "n_texts": sum(hits.texts.values()),
        "n_readable": hits.n_readable,
        "clustered_by": hits.corpus.cluster,
        "n_mentions": len(hits.mentions),
        "cues": rows,
    }
    if run is not None:
        _keep(run, facts)
    if out is not None:
        _write_passages(hits, out)
    if json:
        show.as_json(facts)
    else:
        _print(hits, rows, by)


def corpus_of(run: Path | None, texts: Path | None, column: list[str] | None) -> "Corpus":
    """Return the texts of the run or the file that was named, whichever it was."""
    from portrayal.collect.corpus import file_corpus, run_corpus
    from portrayal.collect.fields import parse_columns
    from portrayal.run import Run

    either(run, texts)
    if run is not None:
        return run_corpus(Run.open(run))
    return file_corpus(str(texts), parse_columns(column or ()))


def _cue_list(spec: str, terms: list[str] | None) -> "CueList":
    from portrayal.measure.cues.lists import cue_list, cues_of

    return cues_of(terms) if terms else cue_list(spec)


def _keep(run: Path, facts: dict[str, Any]) -> None:
    import json

    from portrayal.run.files import write_atomically

    folder = run / "coding"
    folder.mkdir(exist_ok=True)
    write_atomically(folder / "cues.json", json.dumps(facts, indent=1, ensure_ascii=False))


_PASSAGE = (
    "text_id",
    "prompt_id",
    "model",
    "domain",
    "cues",
    "cue",
    "found",
    "start",
    "end",
    "slot",
    "role",
    "before",
    "after",
)


def _write_passages(hits: "CueHits", path: Path) -> None:
    from portrayal.collect.tables import write_table

    rows = []
    for m in hits.mentions:
        domain = hits.corpus.prompts.get(m.prompt_id, {}).get("domain", "")
        cells = (m.text_id, m.prompt_id, m.model, domain, m.cue.group, m.cue.term, m.found)
        place = (m.start, m.end, m.slot, m.role, m.before, m.after)
        rows.append(dict(zip(_PASSAGE, (*cells, *place), strict=True)))
    write_table(path, _PASSAGE, rows)


def _print(hits: "CueHits", rows: Sequence[dict[str, Any]], by: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    unread = sum(hits.texts.values()) - hits.n_readable
    show.line(
        f"{hits.cues.title}: {len(hits.mentions):,} mentions in {hits.n_readable:,} readable texts"
        f" ({unread:,} refused, empty or failed); intervals are clustered by {hits.corpus.cluster}."
    )
    headers = ("cues", "cue", by, "texts", "mentions", "share", "interval", "exact")
    table = Table(*(Column(h, overflow="fold") for h in headers if h != "nothing"), box=None)
    for row in rows:
        if not _wanted(row, by):
            continue
        cells = [
            row["cues"],
            row["cue"] + _published(row["published"]),
            *([] if by == "nothing" else [row[by]]),
            f"{row['texts']:,} of {row['of_texts']:,}",
            f"{row['mentions']:,}",
            row["undefined"] or _share(row["share"]),
            _range(row["interval"]),
            _exact(row),
        ]
        table.add_row(*(escape(cell) for cell in cells))
    Console(emoji=False).print(table)


def _wanted(row: dict[str, Any], by: str) -> bool:
    """Whether a row belongs to the table: split by `by`, pooled over everything else."""
    pooled = [row[name] == "all" for name in ("model", "domain", "role") if name != by]
    return all(pooled) and (by == "nothing" or row[by] != "all")


def _published(count: float | None) -> str:
    return "" if count is None else f" (paper: {count:,.0f})"


def _exact(row: dict[str, Any]) -> str:
    if row["upper_of_none"] is not None:
        return f"below {_share(row['upper_of_none'])}"
    return _range(row["exact_interval"])


def _range(interval: dict[str, Any] | None) -> str:
    if interval is None:
        return "–"
    return f"{100 * interval['low']:.2g}–{_share(interval['high'])}"


def _share(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.2g} %"
