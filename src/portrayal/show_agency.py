"""Printing what the commands for agency classifiers found."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Column, Table

from portrayal import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portrayal.annotate.agency.scoring import AgencyScore, Score
    from portrayal.annotate.agency.training import Trained
    from portrayal.annotate.agency.transformer_training import Epoch

_METRICS = ("accuracy", "f1_macro", "f1_micro", "f1_weighted")
_HEADERS = ("accuracy", "F1 macro", "F1 micro", "F1 weighted")


def epoch(done: "Epoch") -> None:
    """Print one pass of a training."""
    share = f"{100 * done.accuracy:.2f} %"
    show.line(f"epoch {done.number}: loss {done.loss:.4f}, validation accuracy {share}")


def trained(done: "Trained", *, as_object: bool) -> None:
    """Print where a classifier lies and how it scores on the validation sentences."""
    if as_object:
        scores = [score.as_json() for score in done.scores]
        show.as_json({"folder": str(done.folder), "scores": scores})
        return
    _table(done.scores, published=False)
    show.line(f"classifier: {done.folder} (model card: {done.folder / 'README.md'})")


def scores(found: "Sequence[AgencyScore]", n_left_out: int, *, as_object: bool) -> None:
    """Print scores in percent with intervals, and the published rows below them."""
    if as_object:
        made = [score.as_json() for score in found]
        show.as_json({"scores": made, "n_left_out": n_left_out, "published": _published()})
        return
    _table(found, published=True)
    first = found[0]
    show.line(
        f"{first.n:,} sentences; {100 * first.level:g} % percentile bootstrap intervals over "
        "sentences; silent: nothing said, counted as wrong."
    )
    if n_left_out:
        show.line(f"left out: {n_left_out:,} labelled neutral or na.")
    show.line("Published: Wan & Chang 2024, Table 12, on LAC's test sentences, as they stand.")


def _table(found: "Sequence[AgencyScore]", *, published: bool) -> None:
    headers = ("classifier", "sentences", "silent", *_HEADERS)
    table = Table(*(Column(header, overflow="fold") for header in headers), box=None)
    for score in found:
        cells = [_cell(score.metrics[name]) for name in _METRICS]
        kind = "masked" if score.masked else "as they stand"
        table.add_row(score.classifier, kind, f"{score.n_silent:,}", *cells)
    for row in _published() if published else ():
        name = f"published: {row['model']}, {row['setting']}"
        table.add_row(name, "", "", *(f"{row[metric]:.2f}" for metric in _METRICS))
    Console(emoji=False, width=max(120, Console().width)).print(table)


def _cell(score: "Score") -> str:
    return f"{100 * score.value:.2f} \\[{100 * score.low:.1f}, {100 * score.high:.1f}]"


def _published() -> "list[dict[str, float]]":
    from portrayal.reference import published

    rows: list[dict[str, float]] = published("wan_classifiers").to_pylist()
    return rows
