"""Read and coded: how often codes occur by group, counts of cues, and how far raters agree."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import portrayal.measure.cues.counts as cuecounts
import portrayal.report.formats as fmt
from portrayal.coding import Project, open_project, project_labels
from portrayal.coding.llm import coder_notes
from portrayal.coding.shares import CodeShare, GroupCodes, code_shares
from portrayal.raters import Agreement, LabelAgreement, Labels, agreement
from portrayal.records import FEW_PROMPTS
from portrayal.report.figures.figure import Table
from portrayal.report.formats import short
from portrayal.report.view import View
from portrayal.run.directory import Run

_STATISTICS = {
    "percent_agreement": "Agreement",
    "positive_agreement": "Agreement on yes",
    "cohens_kappa": "Cohen’s κ",
    "fleiss_kappa": "Fleiss’ κ",
    "krippendorff_alpha": "Krippendorff’s α",
}
_SHARES = ("percent_agreement", "positive_agreement")
_ROLES = {"neutral": "Base", "dominant": "Dom", "subordinate": "Sub"}


def code_names(project: Project) -> dict[str, str]:
    """Return the names of codes by key."""
    return {code.key: short(code.name, 40) for code in project.codebook.codes}


def codes_by_group(project: Project, groups: Sequence[GroupCodes]) -> Table:
    """Return the share of each group's texts that show each code, with what chance gives."""
    names = code_names(project)
    rows = [(group.group, one) for group in groups for one in group.shares]
    # Range by chance, p and q stand beside each share: of many codes some always look apart.
    columns: dict[str, Callable[[tuple[str, CodeShare]], str]] = {
        "Group": lambda row: short(row[0], 40),
        "Code": lambda row: names[row[1].code],
        "Texts": lambda row: f"{row[1].share.n:,}",
        "of": lambda row: f"{row[1].share.of:,}",
        "Share": lambda row: fmt.share(row[1].share.value),
        "Interval": lambda row: fmt.interval(row[1].share.interval, "share"),
        "By chance": lambda row: fmt.interval(row[1].null, "share"),
        "p": lambda row: fmt.probability(row[1].p),
        "q": lambda row: fmt.probability(row[1].q),
    }
    return Table.of(rows, columns, 2, len(rows))


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


def agreement_table(project: Project, compared: Agreement) -> Table:
    """Return one row for each question, and the statistics beside each other."""
    names = code_names(project) | {field.key: field.label for field in project.codebook.fields}
    names |= {"all codes": "All codes together", "whole set": "The whole set of a text"}
    # Kappas depend on how many raters there are, so no table has all of them.
    present = {figure.statistic for figure in compared.coefficients}

    def cell(question: str, statistic: str) -> str:
        coefficient = compared.get(question, statistic)
        if coefficient is None or coefficient.value is None:
            return fmt.NOTHING
        bounds = (
            ()
            if coefficient.interval is None
            else (coefficient.interval.low, coefficient.interval.high)
        )
        # Agreement is a share; kappas may be below 0, where a per cent sign would mislead.
        value, *ends = (
            f"{100 * x:.0f}{fmt.PERCENT}"
            if statistic in _SHARES
            else f"{round(x, 2) + 0.0:.2f}".replace("-", "−")
            for x in (coefficient.value, *bounds)
        )
        return f"{value} ({ends[0]} to {ends[1]})" if ends else value

    columns: dict[str, Callable[[str], str]] = {
        "Code": lambda question: short(names.get(question, question), 40)
    }
    for name in (name for name in _STATISTICS if name in present):
        columns[_STATISTICS[name]] = partial(cell, statistic=name)
    # Every pair of raters counts for agreement, so it rests on the most texts.
    n_texts = {f.question: f.n_items for f in compared.coefficients if f.statistic == _SHARES[0]}
    columns["Texts"] = lambda question: (
        f"{n_texts[question]:,}" if question in n_texts else fmt.NOTHING
    )
    questions = list(dict.fromkeys(figure.question for figure in compared.coefficients))
    return Table.of(questions, columns, 1, len(questions))


def undefined_sentences(project: Project, compared: Agreement) -> list[str]:
    """Return which figures are of fewer texts, or have no value or interval, and why."""
    names = code_names(project) | {"all codes": "all codes", "whole set": "the whole set"}
    by: dict[str, list[str]] = {}
    n_kappa = {one.n_items for one in compared.coefficients if one.statistic == "fleiss_kappa"}
    n_agreement = {
        one.n_items for one in compared.coefficients if one.statistic == "percent_agreement"
    }
    few = []
    # Fleiss' kappa takes texts that everybody coded, which may be far fewer.
    if n_kappa and 0 < max(n_kappa) < max(n_agreement):
        few.append(f"Fleiss’ κ is of the {max(n_kappa):,} texts that all of them coded.")
    for figure in compared.coefficients:
        reason = figure.undefined or figure.no_interval
        if reason:
            lack = "No value" if figure.undefined else "No interval"
            question = names.get(figure.question, figure.question)
            label = f"{_STATISTICS[figure.statistic]} of {question}"
            by.setdefault(f"{lack}, as {reason}", []).append(label)
    return few + [f"{reason}: {fmt.listed(labels)}." for reason, labels in by.items()]


def cue_rows(run: Run) -> list[dict[str, Any]]:
    """Return the counts of cues of an audit as rows; none where nothing was counted."""
    if not run.estimates_path.is_file():
        return []
    return cuecounts.cue_rows([e for e in run.records if e.measure == cuecounts.NAME])


def cue_table(rows: Sequence[dict[str, Any]]) -> Table | None:
    """Return counts of cues by role, over all models and domains; None without any."""
    pooled = _pooled(rows)
    cells = []
    for row in pooled:
        if row["role"] == "all":
            # Roles are columns, so only rows over all roles make lines.
            term = "any of them" if row["cue"] == "any" else short(row["cue"], 40)
            head = short(row["cues"], 30), term, f"{row['texts']:,}"
            cells.append((*head, *_by_role(row, pooled), *_certainty(row)))
    roles = tuple(f"# {label}" for label in _ROLES.values())
    heads = ("Cues", "Term", "Texts", *roles, "Share", "Interval", "These prompts alone")
    return Table(heads, tuple(cells), 2) if cells else None


def _pooled(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["domain"] == row["model"] == "all"]


def cue_places(rows: Sequence[dict[str, Any]]) -> Table | None:
    """Return counts of each group's cues by model, by domain and by role; None without any."""
    strata = ("model", "domain", "role")
    places = [(row["cues"], *(row[name] for name in strata)) for row in rows]
    terms = Counter(places)
    lines = []
    for row, place in zip(rows, places, strict=True):
        # One split at a time: cells of several are mostly 0.
        split = [name for name in strata if row[name] != "all"]
        if len(split) == 1 and (row["cue"] == "any" or terms[place] == 1):
            cells = (f"{row['texts']:,}", f"{row['of_texts']:,}", *_certainty(row))
            lines.append((short(row["cues"], 30), split[0], short(row[split[0]], 40), *cells))
    heads = ("Cues", "By", "Of", "Texts", "of", "Share", "Interval", "These prompts alone")
    lines.sort(key=lambda cells: strata.index(cells[1]))
    return Table(heads, tuple(lines), 3) if lines else None


def _by_role(row: dict[str, Any], pooled: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    by_role = {
        one["role"]: one["texts"]
        for one in pooled
        if (one["cues"], one["cue"]) == (row["cues"], row["cue"])
    }
    counts = (by_role.get(role) for role in _ROLES)
    return tuple(fmt.NOTHING if n is None else f"{n:,}" for n in counts)


def _certainty(row: dict[str, Any]) -> tuple[str, str, str]:
    """Share, clustered interval, and exact interval, which is one-sided where nothing was found."""
    # Cues are rare: where none was found, the exact interval still says how many there may be.
    exact = _bounds(row["exact_interval"])
    if row["upper_of_none"] is not None:
        # A bound has two digits, however small: 0 is none.
        top = row["upper_of_none"]
        exact = f"below {f'{100 * top:.2g}{fmt.PERCENT}' if top < 0.001 else fmt.share(top)}"
    return fmt.share(row["share"]), _bounds(row["interval"]), exact


def _bounds(bounds: dict[str, Any] | None) -> str:
    return fmt.NOTHING if bounds is None else fmt.span(bounds["low"], bounds["high"], "share")


@dataclass(frozen=True)
class RatersView:
    """The agreement of some raters: sentences before and after a table."""

    title: str
    before: tuple[str, ...]
    table: Table | None
    after: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class CodedSection:
    """What the page shows of one project."""

    title: str
    facts: tuple[tuple[str, str], ...]
    warning: str
    groups: tuple[str, ...]
    codes: Table | None
    shares: tuple[str, ...]
    people: RatersView
    pairs: tuple[RatersView, ...]
    models: tuple[RatersView, ...]
    definitions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Coded:
    """What was read and coded: a section for each project, and counts of cues, whole and split."""

    sections: tuple[CodedSection, ...]
    cues: Table | None
    cue_places: Table | None


def sections(view: View) -> Coded | None:
    """Return what was read and coded in a run; None where nothing was."""
    projects = []
    for path in sorted((view.run.path / "coding").glob("*/project.toml")):
        project = open_project(path.parent)
        labels = project_labels(project)
        # A project in which nobody finished a text has nothing to show yet.
        if labels.rows and project.codebook.codes:
            projects.append(section(project, labels, level=view.level, seed=view.seed))
    rows = cue_rows(view.run)
    return Coded(tuple(projects), cue_table(rows), cue_places(rows)) if projects or rows else None


def section(
    project: Project, labels: Labels, *, level: float = 0.95, seed: int = 0
) -> CodedSection:
    """Return what the page shows of one project."""
    groups = code_shares(project, labels, level=level)
    agreed = agreement(labels, level=level, seed=seed)
    # Shares are of texts on whose codes people agree; there may be none.
    settled = any(group.n_items for group in groups)
    people = _raters(project, agreed.people, "People")
    # Said in words, as an empty table would look like an error.
    if len(raters := agreed.people.raters) < 2:
        coders = f"{raters[0]} alone has coded" if raters else "nobody has coded yet"
        few = (f"Agreement takes two people or more; {coders}.",)
        people = RatersView("People", few, None, (), ())
    return CodedSection(
        short(f"{project.codebook.title} ({project.folder.name})", 100),
        _facts(project, labels, agreed, level),
        short(project.codebook.warning or "", 400),
        tuple(map(_counted, groups)),
        codes_by_group(project, groups) if settled else None,
        share_sentences(groups) if settled else (),
        people,
        tuple(_raters(project, pair, " and ".join(pair.raters)) for pair in agreed.pairs),
        tuple(_model(project, model) for model in agreed.models),
        tuple(
            (short(c.name, 60), short(c.definition, 600), short(c.source, 300))
            for c in project.codebook.codes
        ),
    )


def _facts(
    project: Project, labels: Labels, agreed: LabelAgreement, level: float
) -> tuple[tuple[str, str], ...]:
    # How texts were drawn decides what shares are of.
    draw = project.settings.get("how") or {}
    draw_words = ", ".join(
        f"{key} {value}" for key, value in draw.items() if key != "run" and value
    )
    people = ", ".join(f"{name} ({n:,})" for name, n in agreed.people.n_done.items())
    models = ", ".join(f"{m.raters[1]} ({m.n_done[m.raters[1]]:,})" for m in agreed.models)
    rows = [
        ("Texts", f"{len(project.items):,}"),
        ("Drawn", short(draw_words, 160)),
        ("Seed of the draw", str(project.settings.get("seed", ""))),
        ("People (texts done)", short(people, 200) or "nobody yet"),
        ("Begun, not done", f"{labels.started:,}" if labels.started else ""),
        ("Language models, apart", short(models, 200)),
        ("Confidence level", fmt.level(level)),
    ]
    return tuple((label, value) for label, value in rows if value)


def _counted(group: GroupCodes) -> str:
    sentence = f"{short(group.group, 60)}: {fmt.plural(group.n_items, 'text')} on whose codes "
    sentence += "people agree."
    if group.n_open:
        sentence += f" {fmt.plural(group.n_open, 'text')} on which people are divided are left out."
    return sentence


def _raters(
    project: Project, compared: Agreement, title: str, before: Sequence[str] = ()
) -> RatersView:
    table = agreement_table(project, compared) if compared.coefficients else None
    after = tuple(undefined_sentences(project, compared))
    return RatersView(short(title, 120), tuple(before), table, after, compared.warnings)


def _model(project: Project, compared: Agreement) -> RatersView:
    """A model against what people settle on, with what failed."""
    name = compared.raters[1]
    before = [f"Compared with what people settle on, on {compared.n_done[name]:,} texts it coded."]
    for note in coder_notes(project):
        # What a model failed to answer is missing from its agreement, and so is said.
        if note["rater"].casefold() == name.casefold():
            failed = f"{note['n_failed']:,} of {note['n_items']:,} texts have no usable answer"
            removed = sum(note["removed"].values())
            before.append(f"{failed}; {fmt.plural(removed, 'code')} taken out of its answers.")
    if compared.left_open:
        before.append(
            f"{fmt.plural(compared.left_open, 'decision')} that people left open are not compared."
        )
    return _raters(project, compared, f"Language model {name}", before)
