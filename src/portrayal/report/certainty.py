"""How sure: clustered beside naive intervals, multiplicity, and the instruments' own error."""

import math

from portrayal.annotate.people.labeler import labelling_removed, labelling_sentence
from portrayal.records import Estimate, Interval
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Table
from portrayal.report.findings import distance, headline_measures
from portrayal.report.inert import short
from portrayal.report.view import FEW_PROMPTS, View, q_of
from portrayal.report.words import group_label, measure_title
from portrayal.studies.news.report.head import is_paired

ROWS = 12


def naive_sentence(view: View) -> str:
    """Return how many ratios lose their difference once prompts are resampled."""
    naive = [e for e in _ratios(view) if _excludes(e, naive=True)]
    kept = [e for e in naive if _excludes(e, naive=False)]
    if not naive:
        return "No naive interval excludes 1, so none is lost by resampling prompts."
    rest = f"{len(kept)} of them still do" if kept else "none of them still does"
    both = [e for e in naive if e.interval is not None and e.paper_interval is not None]
    wider = sum(_width(e.interval) > _width(e.paper_interval) for e in both)
    return (
        f"Treating every character as independent, as published audits do, {len(naive)} ratios "
        f"differ from 1. Resampling prompts, {rest}. Stories from one prompt "
        f"resemble each other: the clustered interval is the wider one for {wider} of these "
        f"{len(both)} ratios. For races the naive one can be wider, as Wilson’s interval takes "
        "fractional counts for all or nothing."
    )


def comparison(view: View) -> Table:
    """Return clustered beside naive intervals of the ratios furthest from 1."""
    rows = [e for e in _ratios(view) if e.interval is not None and e.paper_interval is not None]
    rows = [e for e in rows if e.n_clusters >= FEW_PROMPTS and _excludes(e, naive=True)]
    rows.sort(key=lambda e: (-distance(e), e.measure, *e.group.values()))
    cells = tuple(
        (
            measure_title(e.measure),
            short(e.strata.get("domain", "all"), 30),
            short(group_label(e.group)),
            fmt.ratio(e.value),
            fmt.interval(e.interval),
            fmt.interval(e.paper_interval),
            fmt.count(e.n_clusters),
            fmt.probability(e.tests[0].p if e.tests else None),
            fmt.probability(q_of(e)),
        )
        for e in rows[:ROWS]
    )
    heads = ("Measure", "Domain", "Group", "Ratio", "Clustered", "Naive", "Prompts", "p", "q")
    return Table(heads, cells, 3, max(len(rows) - ROWS, 0))


def multiplicity(view: View) -> list[str]:
    """Return one sentence for each measure: tests, p below 0.05, q below 0.05."""
    said = []
    for name, estimates in view.by_measure.items():
        tested = [e for e in estimates if e.tests and e.tests[0].p == e.tests[0].p]
        if not tested:
            continue
        p = sum(e.tests[0].p < 0.05 for e in tested)
        q = sum((q_of(e) or 0.0) < 0.05 for e in tested if q_of(e) is not None)
        said.append(
            f"{measure_title(name)}: {len(tested):,} tests, {p:,} with p below 0.05, {q:,} with q "
            "below 0.05."
        )
    return said


def instruments(view: View) -> list[str]:
    """Return what is known of the error of what the numbers rest on."""
    annotator = next(iter(view.settings.get("annotators", ())), "")
    if is_paired(view):
        return _word_lists(view)
    said = []
    if "labelled" in annotator:
        said.append(
            "Names and genders came with the texts; this report does not know how often they err."
        )
    elif labelling := view.settings.get("labeler"):
        said += [
            labelling_sentence(labelling),
            labelling_removed(labelling),
            f"How often {labelling['model']} errs on texts like these is not known here: the share "
            "of its answers that agree is not a measured accuracy. Measure it by portrayal score "
            "people --labeler; the extractor’s accuracy stands with its annotator.",
        ]
    elif annotator:
        said.append(
            f"People were found by {annotator}. It errs at times, most often in who is the first "
            f"and who the second character and in singular they. Accuracy {_accuracy(view)}. "
            "Measure it on texts of your own by portrayal score people; your labels can be given "
            "in its place."
        )
    said.append(
        "A name’s likelihoods depend on the name table. The table named above is the only one "
        "used here; repeat the audit with another one to see what changes."
    )
    return said


def _word_lists(view: View) -> list[str]:
    """What is known of the error of word lists and scores."""
    names = dict.fromkeys(e.strata["lexicon"] for e in view.estimates if "lexicon" in e.strata)
    lists = short(", ".join(names), 200)
    return [
        f"Groups are those of word lists ({lists}): a text that speaks of someone in other words "
        "counts as silent. Compare the lists where several are given.",
        "Sentiment and toxicity are scores of general tools, which err on irony, quotations and "
        "reports of grim events; both sides of a pair are scored by the same tool.",
        "The originals are what people wrote under the same headline, not a standard of fairness.",
    ]


def _accuracy(view: View) -> str:
    """What the annotator says of its own accuracy; of one that says nothing, that."""
    return getattr(view.annotator, "accuracy", "") or "is not known"


def _width(bounds: Interval | None) -> float:
    """Width of an interval of a ratio on the log scale; infinite where it reaches 0 or ∞."""
    if bounds is None or bounds.low <= 0 or math.isinf(bounds.high):
        return math.inf
    return math.log(bounds.high / bounds.low)


def _ratios(view: View) -> list[Estimate]:
    return [
        e for name in headline_measures(view) for e in view.of_main(name) if e.value is not None
    ]


def _excludes(e: Estimate, *, naive: bool) -> bool:
    bounds = e.paper_interval if naive else e.interval
    return bounds is not None and not bounds.low <= 1 <= bounds.high
