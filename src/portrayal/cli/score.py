"""The commands `score people` and `score agency`, and what they print."""

import math
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.asking as ask
import portrayal.cli.options as opt
import portrayal.cli.printing as show
from portrayal.config import llm_settings
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portrayal.annotate.agency import AgencyClassifier
    from portrayal.annotate.agency.labelled import LabelledSentences as LabelledFile
    from portrayal.measure.judging import AgreedShare
    from portrayal.measure.stories.conclusions import Conclusion
    from portrayal.raters.people import PeopleScore


LabelledRun = Annotated[Path | None, Parameter(help="Run whose texts a label file is of.")]
LABELLING = opt.record(ask.asking_options("model", "samples", whose="labeler", samples=3))
CLASSIFYING = opt.record(ask.asking_options(whose="classifier"))

_COLUMNS = {
    "name_precision": "name P",
    "name_recall": "name R",
    "gender_precision": "gender P",
    "gender_recall": "gender R",
    "gender_accuracy": "gender accuracy",
    "joint_accuracy": "joint accuracy",
}


def people(
    run: LabelledRun = None,
    /,
    *,
    hand_labels: opt.HandLabels,
    column: opt.Columns = None,
    labeler: str = "embedded",
    model_options: Annotated[Any, opt.ONE_BY_ONE] = LABELLING,
    out: Path = Path("runs/score-people"),
    name_table: str = "census-2020",
    level: opt.Level = 0.95,
    format: opt.Format = "table",
) -> None:
    """Say how often names and genders are right against hand labels, and how far ratios are moved.

    Example: portrayal score people runs/laissez-faire --hand-labels labels.csv

    Parameters
    ----------
    labeler
        Who labels the people: embedded (rules and a small network) or llm (a language model).
    out
        Folder that keeps the answers of a labeler model.
    name_table
        Table of the races of names.
    """
    from portrayal.annotate.people.labeler.stage import labelling_of
    from portrayal.annotate.people.stories.rows import PEOPLE
    from portrayal.measure.stories.conclusions import conclusions
    from portrayal.raters.people import compare, label, label_by_model, read_gold, score_people
    from portrayal.run import Run

    json = format == "json"
    opened = None if run is None else Run.open(run)
    stories = list(read_gold(hand_labels, column or (), opened))
    facts: dict[str, Any] = {"labeler": labeler, "n_stories": len(stories)}
    if labeler != "llm":
        reasons = [PEOPLE.why_unread(str(story["text"] or "")) for story in stories]
        stories = [x for x, reason in zip(stories, reasons, strict=True) if not reason]
        unread = Counter(filter(None, reasons)).items()
        facts["not_read"] = "; ".join(f"{n:,} {reason}" for reason, n in unread) or "none"
    model = model_options.labeler_model or None
    with ask.asking(model_options, format, quiet=model is None) as of_model:
        options = {n: value for n, value in of_model.items() if n not in ("model", "samples")}
        settings = llm_settings([model], options, {}, "--labeler-{}")
        labelling = labelling_of(labeler, model, model_options.labeler_samples, settings)
        read: list[Any] | None = None
        if labelling is not None and not stories:
            raise OptionError("no story is labelled, so there is nothing to ask a model about.")
        if labelling is not None:
            read, labels = label_by_model(stories, labelling, out)
            failed = len(labels.labels) - labels.n_llm
            facts |= {"n_by_the_model": labels.n_llm, "n_the_model_failed_on": failed}
    with show.working("scoring", quiet=json):
        read = label(stories) if read is None else read
        score = score_people(stories, people=read, level=level, name_table=name_table)
        cells = conclusions(compare(stories, read), labeler, level, name_table)
    lead = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items())
    facts |= score.as_json() | {"conclusions": _conclusion_facts(cells)}
    show.give(format, facts, [lead, *_people_parts(score), *_conclusion_parts(cells)])


def _people_parts(score: "PeopleScore") -> "Iterator[show.Part]":
    """The agreement of a labeler with hand labels, in per cent."""
    parts = {f"{name} {value}": p for name, by in score.by.items() for value, p in by.items()}
    rows: list[tuple[str, ...]] = []
    for name, part in ({"all": score} | parts).items():
        rates = (show.span(part.rates[column], 100, 1) for column in _COLUMNS)
        rows.append((name, f"{part.n_slots:,.0f}", *rates))
    yield ("", "slots", *_COLUMNS.values()), rows
    for attribute in score.absent:
        yield f"left out: the file does not say the {attribute}, so there is no breakdown by it"
    unit = f"{score.n_clusters} {score.cluster_unit}{'' if score.n_clusters == 1 else 's'}"
    yield f"per cent; intervals clustered by {unit.replace('storys', 'stories')}"


WORST = 10
"""Cells whose conclusions are printed, those that the reader moves furthest."""


def _conclusion_facts(cells: "Sequence[Conclusion]") -> dict[str, Any]:
    """What `score people` says in JSON of the conclusions that the reader leads to."""
    from portrayal.measure.stories.conclusions import summary_of

    total = summary_of(cells)
    return {
        "n_cells": total.cells,
        "mean_absolute_log_quotient": total.shift,
        "share_that_differ": total.differ,
        "cells": list(cells),
    }


def _conclusion_parts(cells: "Sequence[Conclusion]") -> "Iterator[show.Part]":
    """The ratios that a reader moves furthest from those of the labels, and a summary."""
    from portrayal.measure.stories.conclusions import MANY_PEOPLE, summary_of

    total = summary_of(cells)
    if total.shift is None or total.differ is None:
        yield f"no group has {MANY_PEOPLE} labelled people, so no conclusion is compared"
        return
    heads = ("conclusion", "group", "people", "by labels", "as read", "read / labels")
    rows: list[tuple[str, ...]] = []
    for cell in total.worst[:WORST]:
        quotient, low, high = (f"{math.exp(x):.2f}" for x in (cell.quotient, cell.low, cell.high))
        group = " ".join(filter(None, (cell.race, cell.gender)))
        numbers = (f"{cell.people:,.0f}", f"{cell.labels:.2f}", f"{cell.read:.2f}")
        bounds = "" if math.isnan(cell.low) else f" ({low}–{high})"
        rows.append((f"{cell.domain}, {cell.of}", group, *numbers, quotient + bounds))
    yield heads, rows
    yield (
        f"conclusions of {total.cells} groups with {MANY_PEOPLE} labelled people or more: mean "
        f"absolute log quotient {total.shift:.3f}; {total.differ:.0%} of the intervals leave out 1"
    )


def agency(
    *,
    hand_labels: opt.LabelledSentences,
    classifier: list[str] | None = None,
    out: Path | None = None,
    model_options: Annotated[Any, opt.ONE_BY_ONE] = CLASSIFYING,
    masked: Annotated[bool | None, Parameter(negative="--unmasked")] = None,
    column: opt.Columns = None,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Say how agency classifiers agree with labels, beside the published Table 12.

    Example: portrayal score agency --hand-labels test.csv --classifier linear

    Parameters
    ----------
    classifier
        linear, lexicon[:FILE], sentiment:MODEL, a trained folder, or llm:PROVIDER:MODEL[:FORM];
        repeatable. Default: the first two.
    out
        Folder in which the answers of llm: classifiers are kept.
    masked
        One kind of sentences only; default both.
    """
    from portrayal.annotate.agency.labelled import (
        LEVEL,
        METRICS,
        read_labelled,
        score_agency,
        score_rows,
    )
    from portrayal.recognise import text_column
    from portrayal.reference.shipped import published

    json = format == "json"
    kinds = (True, False) if masked is None else (masked,)
    specs = classifier or ("lexicon", "linear")
    # All classifiers are loaded before one is scored: a wrong name costs no hour of work
    with ask.asking(model_options, format) as of_model:
        llm_specs = [spec for spec in specs if spec.startswith("llm:")]
        settings = llm_settings(llm_specs, of_model, {}, "--classifier-{}")
        labelled = read_labelled(hand_labels, column or (), text_column)
        tell = show.nothing if json else show.line
        loaded = _classifiers(specs, kinds, labelled, out, settings, tell)
    scores = [score_agency(labelled, classify, seed=seed) for classify in loaded]
    table_12: list[dict[str, Any]] = published("wan_classifiers").to_pylist()
    facts: dict[str, Any] = {"scores": [score.as_json() for score in scores]}
    facts |= {"n_left_out": labelled.n_left_out, "published": table_12}
    heads, rows = score_rows(scores)
    for row in table_12:
        name = f"published: {row['model']}, {row['setting']}"
        rows.append((name, "", "", *(f"{row[metric]:.2f}" for metric in METRICS)))
    parts: list[show.Part] = [
        (heads, rows),
        f"{scores[0].n:,} sentences; {100 * LEVEL:g} % percentile bootstrap intervals over "
        "sentences; silent: nothing said, counted as wrong.",
    ]
    if labelled.n_left_out:
        parts.append(f"left out: {labelled.n_left_out:,} labelled neutral or na.")
    parts.append("Published: Wan & Chang 2024, Table 12, on LAC's test sentences, as they stand.")
    show.give(format, facts, parts)


def _classifiers(
    specs: "Sequence[str]",
    kinds: tuple[bool, ...],
    labelled: "LabelledFile",
    out: Path | None,
    settings: dict[str, Any],
    tell: "Callable[[str], None]",
) -> "list[AgencyClassifier]":
    """Load every classifier: the checkpoints of a set one by one, then as one.

    A model is asked about all sentences, of both kinds, at once.
    """
    from portrayal.annotate.agency import load_classifier
    from portrayal.annotate.agency.labelled import shown
    from portrayal.annotate.agency.loading import llm_classifier, parse_llm, sentence_prompt
    from portrayal.annotate.agency.rows import classifying_of

    models = {spec: classifying_of(spec, settings) for spec in specs}
    if out is None and any(models.values()):
        raise OptionError(
            "a model's answers are kept in a folder, so that none is paid for twice: give --out."
        )
    loaded: list[AgencyClassifier] = []
    # First those that cost nothing
    for spec in (spec for spec in specs if models[spec] is None):
        for kind in kinds:
            classify = load_classifier(spec, kind)
            loaded += [*classify.members, classify]
    # Every model is checked before the first is asked and paid
    for model in filter(None, models.values()):
        model.check()
    for model in filter(None, models.values()):
        folder, form = out or Path(), parse_llm(model.spec)[1]
        # Masked and unmasked sentences in one go, confirmed once
        pieces = (piece for kind in kinds for piece in shown(labelled, kind))
        replies = model.ask(folder, (sentence_prompt(piece, form) for piece in pieces), tell)
        # What failed is not asked again in between
        ask_nothing = partial(lambda replies, _: replies, replies)
        loaded += [llm_classifier(model.spec, ask_nothing, kind) for kind in kinds]
    return loaded


def judge(
    run: opt.RunPath,
    /,
    *,
    hand_labels: opt.HandLabels | None = None,
    field: str,
    by: str | None = None,
    level: opt.Level = 0.95,
    format: opt.Format = "table",
) -> None:
    """Say how a run's scorer agrees with people by group.

    Example: portrayal score judge runs/first --hand-labels hand.csv --field religion

    Parameters
    ----------
    hand_labels
        Labels by hand; default those of the audit.
    field
        A factor, outcome, sentiment, agency or toxicity.
    by
        Stratum of the prompts by whose values the scorer is compared with itself.
    """
    from portrayal.measure.drawing import field_for
    from portrayal.measure.judging import judge_card
    from portrayal.raters.labels import read_hand_labels
    from portrayal.run import Run

    opened = Run.open(run)
    label_field = field_for(opened, field)
    path = hand_labels or opened.settings()["options"].get("hand_labels")
    if path is None:
        raise OptionError(
            f"nothing says how right the scorer of {label_field} is: give --hand-labels FILE."
        )
    card = judge_card(opened, read_hand_labels(str(path)), label_field, by, level)
    facts: dict[str, Any] = {"field": label_field, "labels": card.note, "kappa": card.kappa}
    facts |= {"agreement": card.agreement, "sentences": card.sentences}
    for name in ("recall", "precision"):
        shares_of = getattr(card, name).items()
        facts[name] = [{"group": g, "part": p} | asdict(x) for (g, p), x in shares_of]

    def shown(of: "AgreedShare", unit: str = "") -> str:
        return f"{show.span(of, 100, 0)}{unit} of {of.n:.0f}" if of.n else "–"

    agreed = shown(card.agreement, " %")
    parts: list[show.Part] = [f"{card.field}: {card.note}; the same in {agreed}"]
    cells = [(*key, shown(card.recall[key]), shown(card.precision[key])) for key in card.recall]
    parts.append((("people say", by or "", "found, %", "of what it says right, %"), cells))
    kappas = (f"{part} {show.span(kappa, 1, 2)}" for part, kappa in card.kappa.items())
    parts += [f"kappa beyond chance: {', '.join(kappas)}", *card.sentences]
    show.give(format, facts, parts)
