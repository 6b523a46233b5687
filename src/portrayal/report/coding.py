"""Read and coded: how often codes occur by group, and how far raters agree.

The page of a run and the terminal (`label codes`, `label agreement`) show the same blocks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import portrayal.report.formats as fmt
from portrayal.coding import (
    CodePrevalence,
    GroupCodes,
    Project,
    code_prevalence,
    code_shares,
    open_project,
    project_labels,
)
from portrayal.coding.llm import coder_notes
from portrayal.coding.shares import CodeShare
from portrayal.raters import Agreement, LabelAgreement, Labels, agreement
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
_POOLED = {"all codes": "All codes together", "whole set": "The whole set of a text"}


@dataclass(frozen=True)
class Block:
    """A table under a title, with sentences before and after it."""

    title: str
    table: Table | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def code_blocks(
    names: Mapping[str, str], groups: Sequence[GroupCodes], corrected: Sequence[CodePrevalence]
) -> Iterator[Block]:
    """Yield how many texts of each group show each code, and the shares that people correct."""
    rows = [(group.group, one) for group in groups for one in group.shares]
    # Range by chance, p and q stand beside each share: of many codes some always look apart.
    columns: dict[str, Callable[[tuple[str, CodeShare]], str]] = {
        "Group": lambda row: short(row[0], 40),
        "Code": lambda row: short(names.get(row[1].code, row[1].code), 40),
        "Texts": lambda row: f"{row[1].share.n:,}",
        "of": lambda row: f"{row[1].share.of:,}",
        "Share": lambda row: fmt.share(row[1].share.value),
        "Interval": lambda row: fmt.interval(row[1].share.interval, "share"),
        "By chance": lambda row: fmt.interval(row[1].null, "share"),
        "p": lambda row: fmt.probability(row[1].p),
        "q": lambda row: fmt.probability(row[1].q),
    }
    counted = []
    for group in groups:
        words = f"{short(group.group, 60)}: {fmt.plural(group.n_items, 'text')} on whose codes "
        words += "people agree."
        if group.n_open:
            words += (
                f" {fmt.plural(group.n_open, 'text')} on which people are divided are left out."
            )
        counted.append(words)
    # Shares are of texts on whose codes people agree; there may be none.
    table = Table.of(rows, columns, 2, len(rows)) if any(g.n_items for g in groups) else None
    sentences = share_sentences(groups) if table else ()
    yield Block("How many texts of each group show each code", table, tuple(counted), sentences)
    if corrected:
        of_model: dict[str, Callable[[CodePrevalence], str]] = {
            "Group": lambda one: short(one.group, 40),
            "Code": lambda one: short(names.get(one.code, one.code), 40),
            "As the model codes": lambda one: f"{fmt.share(one.said)} of {one.n:,}",
            "Corrected": lambda one: fmt.share(one.value),
            "Interval": lambda one: fmt.interval(one.interval, "share"),
            "Coded by people": lambda one: f"{one.n_hand:,}",
        }
        table = Table.of(corrected, of_model, 2, len(corrected))
        reasons = dict.fromkeys(one.undefined for one in corrected if one.undefined)
        title = f"Codes of {corrected[0].rater}, corrected by people"
        yield Block(title, table, (), tuple(f"Not corrected: {reason}." for reason in reasons))


def share_sentences(groups: Sequence[GroupCodes]) -> tuple[str, ...]:
    """Return how the intervals and chances of shares were made, and which are missing or weak."""
    has_prompts = any(group.n_prompts is not None for group in groups)
    sentences = [
        "Intervals resample the prompts with their texts, or count each prompt once where none "
        "differs from another."
        if has_prompts
        else "No prompts are known: intervals are Wilson’s, which take texts as independent."
    ]
    # A warning for groups whose intervals hardly mean anything.
    few = [
        f"{short(group.group, 40)} ({group.n_prompts})"
        for group in groups
        if group.n_prompts is not None and 0 < group.n_prompts < FEW_PROMPTS
    ]
    if few:
        sentences.append(
            f"Fewer than {FEW_PROMPTS} prompts, too little to go by: {fmt.listed(few)}; one prompt "
            "alone gives no interval."
        )
    # Explained only where a cell shows it.
    if any(one.null for group in groups for one in group.shares):
        sentences.append(
            "“By chance” is the range of the share if group labels were permuted within each "
            "prompt; p is the chance of a count as unlikely as this one, and q corrects it for all "
            "rows (Benjamini–Hochberg); neither where every arrangement gives one count."
        )
    # One sentence for each reason, whichever groups it is of.
    groups_by_reason: dict[str, list[str]] = {}
    for group in groups:
        for reason in dict.fromkeys(one.no_null for one in group.shares if one.no_null):
            groups_by_reason.setdefault(reason, []).append(short(group.group, 40))
    sentences += [
        f"Nothing by chance for {fmt.listed(names)}: {reason}."
        for reason, names in groups_by_reason.items()
    ]
    return tuple(sentences)


def agreement_blocks(
    names: Mapping[str, str], agreed: LabelAgreement, notes: Sequence[Mapping[str, Any]] = ()
) -> Iterator[Block]:
    """Yield how far people agree, all and in pairs, and each model with them.

    `names` are those of the questions, and `notes` what models did (`coder_notes`).
    """
    raters = agreed.people.raters
    # Said in words, as an empty table would look like an error.
    few = f"Agreement takes two people or more; {raters[0] if raters else 'nobody'} has coded."
    yield _agreement(names, agreed.people, "People", () if len(raters) > 1 else (few,))
    for pair in agreed.pairs:
        yield _agreement(names, pair, " and ".join(pair.raters))
    # Models come after, as no agreement of people may include a model's codes
    for compared in agreed.models:
        model, before = compared.raters[1], []
        for note in notes:
            # What a model failed to answer is missing from its agreement, and so is said.
            if note["rater"].casefold() == model.casefold():
                failed = f"{note['n_failed']:,} of {note['n_items']:,} texts have no usable answer"
                removed = sum(note["removed"].values())
                before.append(f"{failed}; {fmt.plural(removed, 'code')} taken out of its answers.")
        if n_open := compared.left_open:
            before.append(f"{fmt.plural(n_open, 'decision')} that people left open: not compared.")
        title = f"Language model {model}, against what people settle on (not in the above)"
        yield _agreement(names, compared, title, before)


def _agreement(
    names: Mapping[str, str], compared: Agreement, title: str, before: Sequence[str] = ()
) -> Block:
    """One row for each question and the statistics beside each other, and what is missing."""
    questions = list(dict.fromkeys(figure.question for figure in compared.coefficients))
    called = {key: short(_POOLED.get(key) or names.get(key, key), 40) for key in questions}
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
            else f"{round(x, 2) + 0.0:.2f}".replace("-", "−")
            for x in (coefficient.value, *ends)
        )
        return f"{value} ({limits[0]} to {limits[1]})" if limits else value

    columns: dict[str, Callable[[str], str]] = {"Question": lambda question: called[question]}
    for name in (name for name in _STATISTICS if name in present):
        columns[_STATISTICS[name]] = partial(cell, statistic=name)
    # Every pair of raters counts for agreement, so it rests on the most texts.
    n_texts = {f.question: f.n_items for f in compared.coefficients if f.statistic == _SHARES[0]}
    columns["Texts"] = lambda question: f"{n_texts.get(question, 0):,}"
    lacks: dict[str, list[str]] = {}
    for figure in compared.coefficients:
        if reason := figure.undefined or figure.no_interval:
            lack = f"{'No value' if figure.undefined else 'No interval'}, as {reason}"
            words = f"{_STATISTICS[figure.statistic]} of {called[figure.question]}"
            lacks.setdefault(lack, []).append(words)
    after = [f"{reason}: {fmt.listed(labels)}." for reason, labels in lacks.items()]
    # Fleiss' kappa takes texts that everybody coded, which may be far fewer.
    n_kappa = [one.n_items for one in compared.coefficients if one.statistic == "fleiss_kappa"]
    if n_kappa and 0 < max(n_kappa) < max(n_texts.values()):
        after.insert(0, f"Fleiss’ κ is of the {max(n_kappa):,} texts that all of them coded.")
    after += [f"Read with care. {warning}" for warning in compared.warnings]
    counts = ", ".join(f"{name} {n:,}" for name, n in compared.n_done.items()) or "nobody"
    table = Table.of(questions, columns, 1, len(questions)) if questions else None
    return Block(short(title, 120), table, (f"Texts done by {counts}.", *before), tuple(after))


@dataclass(frozen=True)
class CodedSection:
    """What the page shows of one project."""

    title: str
    facts: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    definitions: tuple[tuple[str, str, str], ...]


def sections(view: View) -> list[CodedSection]:
    """Return what people coded in a run, a section for each project that shows something."""
    projects = []
    for path in sorted((view.run.path / "coding").glob("*/project.toml")):
        project = open_project(path.parent)
        labels = project_labels(project)
        # A project in which nobody finished a text has nothing to show yet.
        if labels.rows and project.codebook.codes:
            projects.append(section(project, labels, level=view.level, seed=view.seed))
    return projects


def section(
    project: Project, labels: Labels, *, level: float = 0.95, seed: int = 0
) -> CodedSection:
    """Return what the page shows of one project."""
    groups = code_shares(project, labels, level=level)
    corrected = code_prevalence(project, labels, level=level)
    agreed = agreement(labels, level=level, seed=seed)
    # How texts were drawn decides what shares are of.
    draw = project.settings.get("how") or {}
    facts = {
        "Texts": f"{len(project.items):,}",
        "Drawn": short(", ".join(f"{key} {value}" for key, value in draw.items() if value), 160),
        "Seed of the draw": str(project.settings.get("seed", "")),
        "Begun, not done": f"{labels.started:,}" if labels.started else "",
        "Confidence level": fmt.level(level),
    }
    return CodedSection(
        short(f"{project.codebook.title} ({project.folder.name})", 100),
        tuple((label, value) for label, value in facts.items() if value),
        (
            *code_blocks(labels.names, groups, corrected),
            *agreement_blocks(labels.names, agreed, coder_notes(project)),
        ),
        tuple(
            (short(c.name, 60), short(c.definition, 600), short(c.source, 300))
            for c in project.codebook.codes
        ),
    )
