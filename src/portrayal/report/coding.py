"""Read and coded: how often codes occur by group, and how far raters agree.

The page of a run and the terminal (`label codes`, `label agreement`) show the same blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import portrayal.report.formats as fmt
from portrayal.errors import PortrayalError
from portrayal.measure.codes import PEOPLE, CodeShare, code_shares, coded_texts
from portrayal.raters.agreement import Agreement, LabelAgreement, agreement
from portrayal.raters.labels import label_files, read_labels
from portrayal.raters.sheets import CODEBOOK, Codebook, codebook
from portrayal.records import FEW_PROMPTS
from portrayal.report.figures.figure import Table
from portrayal.report.formats import short
from portrayal.report.view import View

_STATISTICS = {
    "percent_agreement": "Agreement",
    "positive_agreement": "Agreement on yes",
    "cohens_kappa": "Cohen’s κ",
    "fleiss_kappa": "Fleiss’ κ",
    "krippendorff_alpha": "Krippendorff’s α",
}
_SHARES = ("percent_agreement", "positive_agreement")


@dataclass(frozen=True)
class Block:
    """A table under a title, with sentences before and after it."""

    title: str
    table: Table | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _called(key: str) -> str:
    """A question, as tables call it."""
    return short(key.replace("_", " "), 40)


def code_block(shares: Sequence[CodeShare]) -> Block:
    """Return how many texts of each group show each code, and what qualifies these shares."""
    columns: dict[str, Callable[[CodeShare], str]] = {
        "Group": lambda row: short(row.group, 40),
        "Code": lambda row: _called(row.code),
        "Coded by": lambda row: short(row.by, 60),
        "Share": lambda row: fmt.share(row.value),
        "Interval": lambda row: fmt.interval(row.interval, "share"),
        "Texts": lambda row: f"{row.n_texts:,}",
        "Prompts": lambda row: f"{row.n_prompts:,}",
    }
    by_group = {row.group: row for row in shares if row.by == PEOPLE}
    before = [
        f"{short(name, 60)}: {fmt.plural(row.n_texts, 'text')} on whose codes people agree."
        + f" {fmt.plural(row.n_open, 'text')} on which people are divided are left out."
        * bool(row.n_open)
        for name, row in by_group.items()
    ]
    after = ["Intervals are clustered by prompt; one prompt alone gives none."]
    # A warning for groups whose intervals hardly mean anything
    few = [
        f"{short(name, 40)} ({row.n_prompts})"
        for name, row in by_group.items()
        if 0 < row.n_prompts < FEW_PROMPTS
    ]
    if few:
        after.append(f"Fewer than {FEW_PROMPTS} prompts, too little to go by: {fmt.listed(few)}.")
    reasons = dict.fromkeys(row.undefined for row in shares if row.undefined)
    after += [f"No share: {reason}." for reason in reasons]
    table = Table.of(shares, columns, 3, len(shares))
    return Block("How many texts of each group show each code", table, tuple(before), tuple(after))


def agreement_blocks(agreed: LabelAgreement) -> Iterator[Block]:
    """Yield how far people agree, and each model with them."""
    raters = agreed.people.raters
    # Said in words, as an empty table would look like an error.
    few = f"Agreement takes two people or more; {raters[0] if raters else 'nobody'} has labelled."
    yield _agreement(agreed.people, "People", () if len(raters) > 1 else (few,))
    # Models come after, as no agreement of people may include a model's labels
    for compared in agreed.models:
        n_open, model = compared.left_open, compared.raters[1]
        before = (f"{fmt.plural(n_open, 'decision')} that people left open: not compared.",)
        title = f"Language model {model}, against what people settle on (not in the above)"
        yield _agreement(compared, title, before if n_open else ())


def _agreement(compared: Agreement, title: str, before: Sequence[str] = ()) -> Block:
    """One row for each question and the statistics beside each other, and what is missing."""
    questions = list(dict.fromkeys(figure.question for figure in compared.coefficients))
    # Kappas depend on how many raters there are, so no table has all of them.
    present = {figure.statistic for figure in compared.coefficients}

    def cell(question: str, statistic: str) -> str:
        coefficient = compared.get(question, statistic)
        if coefficient is None or coefficient.value is None:
            return fmt.NOTHING
        bounds = coefficient.interval
        ends = () if bounds is None else (bounds.low, bounds.high)
        # Agreement is a share; kappas may be below 0, where a per cent sign would mislead.
        value, *limits = (
            f"{100 * x:.0f}{fmt.PERCENT}"
            if statistic in _SHARES
            # Adding 0 takes the sign from a zero
            else f"{round(x, 2) + 0.0:.2f}".replace("-", "−")
            for x in (coefficient.value, *ends)
        )
        return f"{value} ({limits[0]} to {limits[1]})" if limits else value

    columns: dict[str, Callable[[str], str]] = {"Question": _called}
    for name in (name for name in _STATISTICS if name in present):
        columns[_STATISTICS[name]] = partial(cell, statistic=name)
    # Every pair of raters counts for agreement, so it rests on the most texts.
    n_texts = {f.question: f.n_items for f in compared.coefficients if f.statistic == _SHARES[0]}
    columns["Texts"] = lambda question: f"{n_texts.get(question, 0):,}"
    lacks: dict[str, list[str]] = {}
    for figure in compared.coefficients:
        if reason := figure.undefined or figure.no_interval:
            lack = f"{'No value' if figure.undefined else 'No interval'}, as {reason}"
            words = f"{_STATISTICS[figure.statistic]} of {_called(figure.question)}"
            lacks.setdefault(lack, []).append(words)
    after = [f"{reason}: {fmt.listed(labels)}." for reason, labels in lacks.items()]
    # Fleiss' kappa takes texts that everybody labelled, which may be far fewer.
    n_kappa = [one.n_items for one in compared.coefficients if one.statistic == "fleiss_kappa"]
    if n_kappa and 0 < max(n_kappa) < max(n_texts.values()):
        after.insert(0, f"Fleiss’ κ is of the {max(n_kappa):,} texts that all of them labelled.")
    counts = ", ".join(f"{name} {n:,}" for name, n in compared.n_done.items()) or "nobody"
    table = Table.of(questions, columns, 1, len(questions)) if questions else None
    return Block(short(title, 120), table, (f"Texts done by {counts}.", *before), tuple(after))


@dataclass(frozen=True)
class CodedSection:
    """What the page shows of one folder of labels: its blocks, and what was asked.

    `definitions` are name, definition and source of each code.
    """

    title: str
    blocks: tuple[Block, ...]
    definitions: tuple[tuple[str, str, str], ...]


def sections(view: View) -> list[CodedSection]:
    """Return what people coded in a run, a section for each folder of labels that shows some."""
    books = {
        path.parent: codebook(path)
        for path in sorted((view.run.path / "labels").glob(f"*/{CODEBOOK}"))
    }
    parts = [section(view, folder, book) for folder, book in books.items() if book.codes]
    return [part for part in parts if part]


def section(view: View, folder: Path, book: Codebook) -> CodedSection | None:
    """Return what the page shows of a folder of labels; None where nobody has labelled yet."""
    try:
        files = label_files(folder)
        if not files:
            return None
        labels = read_labels(*files)
        shares = code_shares(coded_texts(view.run, labels), view.level)
        agreed = agreement(labels, level=view.level, seed=view.seed)
        blocks = [code_block(shares), *agreement_blocks(agreed)]
    except PortrayalError as error:
        # Paths from the folder on, as whole ones tell of the machine
        reason = str(error).replace(f"{folder}/", "")
        blocks = [Block("These labels cannot be shown", before=(reason,))]
    definitions = ((c.name, short(c.definition, 600), short(c.source, 300)) for c in book.codes)
    title = short(f"{book.title} ({folder.name})", 100)
    return CodedSection(title, tuple(blocks), tuple(definitions))
