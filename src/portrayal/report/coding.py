"""Read and coded: how often codes occur by group, and how far raters agree.

The page of a run and the terminal (`label codes`, `label agreement`) show the same blocks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import portrayal.report.formats as fmt
from portrayal.errors import PortrayalError
from portrayal.measure.codes import (
    CodePrevalence,
    CodeShare,
    GroupCodes,
    code_prevalence,
    code_shares,
    coded_texts,
)
from portrayal.raters import (
    Agreement,
    Codebook,
    LabelAgreement,
    agreement,
    codebook,
    label_files,
    read_labels,
)
from portrayal.raters.sheets import CODEBOOK
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


def code_blocks(
    groups: Sequence[GroupCodes], corrected: Sequence[CodePrevalence]
) -> Iterator[Block]:
    """Yield how many texts of each group show each code, and the shares that people correct."""
    rows = [(group.group, share) for group in groups for share in group.shares]
    # Range by chance, p and q stand beside each share: of many codes some always look apart.
    columns: dict[str, Callable[[tuple[str, CodeShare]], str]] = {
        "Group": lambda row: short(row[0], 40),
        "Code": lambda row: _called(row[1].code),
        "Texts": lambda row: f"{row[1].n:,}",
        "of": lambda row: f"{row[1].of:,}",
        "Share": lambda row: fmt.share(row[1].value),
        "Interval": lambda row: fmt.interval(row[1].interval, "share"),
        "By chance": lambda row: fmt.interval(row[1].null, "share"),
        "p": lambda row: fmt.probability(row[1].p),
        "q": lambda row: fmt.probability(row[1].q),
    }
    counted = []
    for group in groups:
        words = f"{short(group.group, 60)}: {fmt.plural(group.n_texts, 'text')} on whose codes "
        words += "people agree."
        if group.n_open:
            words += (
                f" {fmt.plural(group.n_open, 'text')} on which people are divided are left out."
            )
        counted.append(words)
    # Shares are of texts on whose codes people agree; there may be none.
    table = Table.of(rows, columns, 2, len(rows)) if any(g.n_texts for g in groups) else None
    sentences = share_sentences(groups) if table else ()
    yield Block("How many texts of each group show each code", table, tuple(counted), sentences)
    if corrected:
        of_model: dict[str, Callable[[CodePrevalence], str]] = {
            "Group": lambda row: short(row.group, 40),
            "Code": lambda row: _called(row.code),
            "As the model codes": lambda row: f"{fmt.share(row.said)} of {row.n:,}",
            "Corrected": lambda row: fmt.share(row.value),
            "Interval": lambda row: fmt.interval(row.interval, "share"),
            "Coded by people": lambda row: f"{row.n_hand:,}",
        }
        table = Table.of(corrected, of_model, 2, len(corrected))
        reasons = dict.fromkeys(row.undefined for row in corrected if row.undefined)
        title = f"Codes of {corrected[0].rater}, corrected by people"
        yield Block(title, table, (), tuple(f"Not corrected: {reason}." for reason in reasons))


def share_sentences(groups: Sequence[GroupCodes]) -> tuple[str, ...]:
    """Return how the intervals and chances of shares were made, and which are missing or weak."""
    sentences = ["Intervals are clustered by prompt; one prompt alone gives none."]
    # A warning for groups whose intervals hardly mean anything.
    few = [
        f"{short(group.group, 40)} ({group.n_prompts})"
        for group in groups
        if 0 < group.n_prompts < FEW_PROMPTS
    ]
    if few:
        sentences.append(
            f"Fewer than {FEW_PROMPTS} prompts, too little to go by: {fmt.listed(few)}."
        )
    # Explained only where a cell shows it.
    if any(share.null for group in groups for share in group.shares):
        sentences.append(
            "“By chance” is the range of the share if group labels were permuted within each "
            "prompt; p is the chance of a count as unlikely as this one, and q corrects it for all "
            "rows (Benjamini–Hochberg); neither where every arrangement gives one count."
        )
    # One sentence for each reason, whichever groups it is of.
    groups_by_reason: dict[str, list[str]] = {}
    for group in groups:
        for reason in dict.fromkeys(share.no_null for share in group.shares if share.no_null):
            groups_by_reason.setdefault(reason, []).append(short(group.group, 40))
    sentences += [
        f"Nothing by chance for {fmt.listed(names)}: {reason}."
        for reason, names in groups_by_reason.items()
    ]
    return tuple(sentences)


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
        coded = coded_texts(view.run, labels)
        groups, corrected = code_shares(coded, view.level), code_prevalence(coded, view.level)
        agreed = agreement(labels, level=view.level, seed=view.seed)
        blocks = [*code_blocks(groups, corrected), *agreement_blocks(agreed)]
    except PortrayalError as error:
        # Paths from the folder on, as whole ones tell of the machine
        reason = str(error).replace(f"{folder}/", "")
        blocks = [Block("These labels cannot be shown", before=(reason,))]
    definitions = ((c.name, short(c.definition, 600), short(c.source, 300)) for c in book.codes)
    title = short(f"{book.title} ({folder.name})", 100)
    return CodedSection(title, tuple(blocks), tuple(definitions))
