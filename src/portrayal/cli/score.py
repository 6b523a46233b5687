"""The commands `score people` and `score agency`, and what they print."""

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.printing as show
from portrayal.cli.asking import (
    BATCH,
    LIMITS,
    asking_progress,
    asking_record,
    settings_beside,
    settings_of,
    under_way,
)
from portrayal.cli.options import (
    ONE_BY_ONE,
    Columns,
    Draws,
    Format,
    HandLabels,
    Labeler,
    LabelledSentences,
    Level,
    RouteShare,
    RunPath,
    Seed,
)
from portrayal.cli.printing import as_json, line, percent, table
from portrayal.config import classifier_settings
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from portrayal.annotate.agency import AgencyClassifier
    from portrayal.annotate.agency.labelled import AgencyScore
    from portrayal.annotate.agency.labelled import LabelledSentences as LabelledFile
    from portrayal.measure.judging import AgreedShare
    from portrayal.raters.people import PeopleScore


LabelledRun = Annotated[Path | None, Parameter(help="Run whose texts a label file is of.")]
LABELLING = asking_record("model", "samples", *LIMITS, *BATCH, whose="labeler", samples=3)
CLASSIFYING = asking_record(*LIMITS, *BATCH, whose="classifier")

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
    hand_labels: HandLabels,
    column: Columns = None,
    labeler: Labeler = "embedded",
    route_share: RouteShare = 0.2,
    reader: Path | None = None,
    how: Annotated[Any, ONE_BY_ONE] = LABELLING,
    out: Path = Path("runs/score-people"),
    name_table: str = "census-2020",
    level: Level = 0.95,
    draws: Draws = 2000,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Say how often names and genders are right: precision, recall, accuracy, against hand labels.

    Example: portrayal score people runs/laissez-faire --hand-labels labels.csv

    Parameters
    ----------
    reader
        Folder of a reader of your own.
    out
        Folder that keeps the answers of a labeler model.
    name_table
        Table of the races of names.
    """
    from portrayal.annotate.people import extract_people
    from portrayal.annotate.people.labeler.stage import labelling_of
    from portrayal.annotate.people.reader.rows import UNSURE
    from portrayal.raters.people import label_by_model, label_by_reader, read_gold, score_people
    from portrayal.run import Run

    json = format == "json"
    opened = None if run is None else Run.open(run)
    stories = list(read_gold(hand_labels, column or (), opened))
    model = how.labeler_model or None
    with under_way(out, as_object=json), asking_progress(quiet=json or model is None) as answered:
        settings = settings_beside(settings_of(how, answered), "labeler", "--labeler-model")
        labelling = labelling_of(labeler, model, how.labeler_samples, route_share, settings)
        by_model, by_reader = None, None
        if labelling is not None and not stories:
            raise OptionError("no story is labelled, so there is nothing to ask a model about.")
        if labelling is not None:  # a model, alone or where the rules are least sure
            share = labelling.share
            by_model = label_by_model(stories, extract_people, labelling.asking, out, share=share)
        elif labeler != "embedded":  # the reader, everywhere or where the rules are unsure
            below = UNSURE if labeler == "routed" else 1.0
            by_reader = label_by_reader(stories, reader, below=below)
    # Who labelled, beside the score: of routed texts a part is the rules' work
    facts: dict[str, Any] = {"labeler": labeler, "n_stories": len(stories)}
    if by_model is not None:
        facts |= {"n_by_the_model": by_model.n_llm, "n_the_model_failed_on": by_model.n_failed}
    with show.working("scoring", quiet=json):
        score = score_people(
            stories,
            people=by_reader if by_model is None else by_model.people,
            level=level,
            draws=draws,
            seed=seed,
            name_table=name_table,
        )
    if json:
        as_json(facts | score.as_json())
        return
    line(", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()))
    _print(score)


def _print(score: "PeopleScore") -> None:
    """Print the agreement of a labeler with hand labels, in per cent."""
    parts = {f"{name} {value}": p for name, by in score.by.items() for value, p in by.items()}
    rows: list[tuple[str, ...]] = []
    for name, part in ({"all": score} | parts).items():
        rates = (percent(part.rates[column]) for column in _COLUMNS)
        rows.append((name, f"{part.n_slots:,.0f}", *rates))
    table(("", "slots", *_COLUMNS.values()), rows)
    for attribute in score.absent:
        line(f"left out: the file does not say the {attribute}, so there is no breakdown by it")
    unit = f"{score.n_clusters} {score.cluster_unit}{'' if score.n_clusters == 1 else 's'}"
    line(f"per cent; intervals resample {unit.replace('storys', 'stories')}")


_CLASSIFIERS = ("lexicon", *(["sentiment"] if find_spec("textblob") else []), "linear")


def agency(
    *,
    hand_labels: LabelledSentences,
    classifier: list[str] | None = None,
    out: Path | None = None,
    how: Annotated[Any, ONE_BY_ONE] = CLASSIFYING,
    masked: Annotated[bool | None, Parameter(negative="--unmasked")] = None,
    column: Columns = None,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Say how agency classifiers agree with labels, beside the published Table 12.

    Example: portrayal score agency --hand-labels test.csv --classifier linear

    Parameters
    ----------
    classifier
        linear, lexicon[:FILE], sentiment, a trained folder, or llm:PROVIDER:MODEL[:FORM];
        repeatable. Default: the first three, sentiment where TextBlob is installed.
    out
        Folder in which the answers of llm: classifiers are kept.
    masked
        One kind of sentences only; default both.
    """
    from portrayal.annotate.agency.classifier import Checkpoints
    from portrayal.annotate.agency.labelled import read_labelled, score_agency

    json = format == "json"
    kinds = (True, False) if masked is None else (masked,)
    specs = classifier or _CLASSIFIERS
    # All classifiers are loaded before one is scored: a wrong name costs no hour of work
    with under_way(out or hand_labels, as_object=json), asking_progress(quiet=json) as answered:
        settings = classifier_settings(specs, settings_of(how, answered), {}, "--classifier-{}")
        labelled = read_labelled(hand_labels, column or ())
        tell = show.nothing if json else show.line
        loaded = _classifiers(specs, kinds, labelled, out, settings, tell)
    scores = [score_agency(labelled, classify, seed=seed) for _, classify in loaded]
    sets: dict[str, list[AgencyScore]] = {}
    for (spec, one), agency_score in zip(loaded, scores, strict=True):
        # The checkpoints one by one; their set votes and has a row of its own
        if not isinstance(one, Checkpoints):
            sets.setdefault(spec, []).append(agency_score)
    # Print scores in percent with intervals, the published rows, and means over checkpoints.
    n_left_out = labelled.n_left_out
    means = means_of(sets)
    if json:
        facts = {"scores": [score.as_json() for score in scores], "n_left_out": n_left_out}
        more = {"checkpoints": list(means)} if means else {}
        show.as_json(facts | {"published": _published()} | more)
        return
    scores_table(scores, published=True)
    print_means(means)
    first = scores[0]
    show.line(
        f"{first.n:,} sentences; {100 * first.level:g} % percentile bootstrap intervals over "
        "sentences; silent: nothing said, counted as wrong."
    )
    if n_left_out:
        show.line(f"left out: {n_left_out:,} labelled neutral or na.")
    show.line("Published: Wan & Chang 2024, Table 12, on LAC's test sentences, as they stand.")


def _classifiers(
    specs: "Sequence[str]",
    kinds: tuple[bool, ...],
    labelled: "LabelledFile",
    out: Path | None,
    settings: dict[str, Any],
    tell: "Callable[[str], None]",
) -> "list[tuple[str, AgencyClassifier]]":
    """Load every classifier with its name: the checkpoints of a set one by one, then as one.

    A model is asked about all sentences, of both kinds, at once.
    """
    from portrayal.annotate.agency import load_classifier
    from portrayal.annotate.agency.classifier import Checkpoints
    from portrayal.annotate.agency.labelled import shown
    from portrayal.annotate.agency.rows import classifying_of
    from portrayal.collect.ask.replies import kept
    from portrayal.run import Run

    models = {spec: classifying_of(spec, settings) for spec in specs}
    if out is None and any(models.values()):
        raise OptionError(
            "a model's answers are kept in a folder, so that none is paid for twice: give --out."
        )
    loaded: list[tuple[str, AgencyClassifier]] = []
    # First those that cost nothing
    for spec in (spec for spec in specs if models[spec] is None):
        for kind in kinds:
            loaded_one = load_classifier(spec, kind)
            members = (
                (*loaded_one.members, loaded_one)
                if isinstance(loaded_one, Checkpoints)
                else (loaded_one,)
            )
            loaded += [(spec, one) for one in members]
    # Every model is checked before the first is asked and paid
    for model in filter(None, models.values()):
        model.check()
    for model in filter(None, models.values()):
        folder = Run(out or Path())
        with folder.lock():
            # Masked and unmasked sentences in one go, as batches of a service take hours each
            model.ask(folder.path, (s for kind in kinds for s in shown(labelled, kind)), tell)
        # Read back from disk, so what is scored is what a later call would score
        replies = kept(folder.path / model.kept_in)
        loaded += [
            (
                model.spec,
                load_classifier(
                    model.spec, kind, ask=partial(lambda prompts_known, _: prompts_known, replies)
                ),
            )
            for kind in kinds
        ]
    return loaded


_METRICS = ("accuracy", "f1_macro", "f1_micro", "f1_weighted")
_HEADERS = ("accuracy", "F1 macro", "F1 micro", "F1 weighted")


def means_of(sets: "Mapping[str, Sequence[AgencyScore]]") -> list[dict[str, Any]]:
    """Mean and standard deviation of each metric over the checkpoints of a set, by masking."""
    from statistics import mean, stdev

    means = []
    for name, scores in sets.items():
        for masked in sorted({score.masked for score in scores}, reverse=True):
            masked_scores = [score for score in scores if score.masked == masked]
            # One checkpoint has no spread
            if len(masked_scores) < 2:
                continue
            row: dict[str, Any] = {
                "classifier": name,
                "masked": masked,
                "checkpoints": len(masked_scores),
            }
            for metric in _METRICS:
                values = [score.metrics[metric].value for score in masked_scores]
                # Spread of the training, not of the test sentences: that is what the intervals are
                # for
                row[metric] = {"mean": mean(values), "sd": stdev(values)}
            means.append(row)
    return means


def print_means(rows: "Sequence[Mapping[str, Any]]") -> None:
    """Print the mean and standard deviation of each metric over checkpoints."""
    for row in rows:
        kind = "masked" if row["masked"] else "as they stand"
        cells = (
            f"{header} {100 * row[metric]['mean']:.2f} (SD {100 * row[metric]['sd']:.2f})"
            for metric, header in zip(_METRICS, _HEADERS, strict=True)
        )
        show.line(
            f"mean of {row['checkpoints']} checkpoints of {row['classifier']}, {kind}: "
            f"{', '.join(cells)}"
        )


def scores_table(scores: "Sequence[AgencyScore]", *, published: bool) -> None:
    """Print a row of metrics for each classifier and kind of sentences."""
    rows: list[tuple[str, ...]] = []
    for score in scores:
        metrics = (score.metrics[name] for name in _METRICS)
        cells = (f"{100 * x.value:.2f} [{100 * x.low:.1f}, {100 * x.high:.1f}]" for x in metrics)
        kind = "masked" if score.masked else "as they stand"
        rows.append((score.classifier, kind, f"{score.n_silent:,}", *cells))
    for row in _published() if published else ():
        name = f"published: {row['model']}, {row['setting']}"
        rows.append((name, "", "", *(f"{row[metric]:.2f}" for metric in _METRICS)))
    table(("classifier", "sentences", "silent", *_HEADERS), rows)


def _published() -> "list[dict[str, float]]":
    from portrayal.reference import published

    rows: list[dict[str, float]] = published("wan_classifiers").to_pylist()
    return rows


def judge(
    run: RunPath,
    /,
    *,
    hand_labels: HandLabels | None = None,
    field: str,
    by: str | None = None,
    level: Level = 0.95,
    format: Format = "table",
) -> None:
    """Say how a run's scorer agrees with people by group, and with itself where it was asked again.

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
    from portrayal.annotate.group_labels import FORMS
    from portrayal.measure.drawing import field_for, label_fields
    from portrayal.measure.judging import judge_card, repeated_shares
    from portrayal.raters import read_hand_labels
    from portrayal.run import Run

    opened = Run.open(run)
    label_field = field_for(opened, field)
    path = hand_labels or opened.settings()["options"].get("hand_labels")
    # Consistency with itself needs no labels, so it is told also where there are none
    repeated = repeated_shares(opened, label_field, level)
    if path is None and not repeated:
        raise OptionError(
            f"nothing says how right the scorer of {label_field} is: give --hand-labels FILE, or "
            "audit with --set retest=100."
        )
    labels = path and read_hand_labels(str(path), label_fields(opened))
    card = judge_card(opened, labels, label_field, by, level) if labels else None
    if format == "json":
        facts: dict[str, Any] = {"field": label_field}

        def asdict(of: "AgreedShare") -> dict[str, float]:
            return {"value": of.value, "low": of.low, "high": of.high, "n": of.n}

        if card is not None:
            facts |= {"labels": card.note, "agreement": asdict(card.agreement)}
            for name in ("recall", "precision"):
                shares_of = getattr(card, name).items()
                facts[name] = [{"group": g, "part": p} | asdict(x) for (g, p), x in shares_of]
            facts |= {"kappa": {part: asdict(x) for part, x in card.kappa.items()}}
            facts |= {"sentences": list(card.sentences)}
        keys = ("source", "group", "form")
        rows = ((of, form, x) for of, forms in repeated.items() for form, x in forms.items())
        again = [dict(zip(keys, (*of, form), strict=True)) | asdict(x) for of, form, x in rows]
        as_json(facts | {"asked_again": again})
        return

    def shown(of: "AgreedShare") -> str:
        # NaN: too few to have an interval
        bounds = "" if of.low != of.low else f" ({100 * of.low:.0f}–{100 * of.high:.0f})"
        return f"{100 * of.value:.0f}{bounds} of {of.n:.0f}" if of.n else "–"

    if card is not None:
        line(f"{card.field}: {card.note}; the same in {shown(card.agreement)}")
        cells = [(*key, shown(card.recall[key]), shown(card.precision[key])) for key in card.recall]
        table(("people say", by or "", "found", "of what it says right"), cells)
        kappas = (
            f"{part} {x.value:.2f}".strip() + f" ({x.low:.2f}–{x.high:.2f})" * (x.low == x.low)
            for part, x in card.kappa.items()
        )
        line("\n".join((f"kappa beyond chance: {', '.join(kappas)}", *card.sentences)))
    if repeated:
        repeats = [
            (a, b or "all", *(shown(of[x]) for x in FORMS)) for (a, b), of in repeated.items()
        ]
        table(("asked again", "it said first", *FORMS), repeats)


def share(
    *,
    said: Annotated[str, Parameter(metavar="K/N")],
    found: Annotated[str, Parameter(metavar="K/N")],
    cleared: Annotated[str, Parameter(metavar="K/N")],
    design_effect: float = 1.0,
    level: Level = 0.95,
    format: Format = "table",
) -> None:
    """Correct a classifier's share where only its errors on other texts are known.

    With labels of texts of your own, `audit --hand-labels` corrects by what it does there.

    Example: portrayal score share --said 140/1000 --found 60/100 --cleared 290/300

    Parameters
    ----------
    said
        Texts that it puts into the group, and all.
    found
        Of texts known to be of the group, those that it finds, and all.
    cleared
        Of texts known not to be of it, those that it does not put there, and all.
    design_effect
        How much wider the share's variance is than of independent texts, as those of one prompt
        are alike (`list estimates` has it).
    """
    from math import isnan

    from portrayal.stats import rogan_gladen

    def counts(name: str, cell: str) -> tuple[float, float]:
        k, sign, n = cell.partition("/")
        if not sign or not k.strip().isdigit() or not n.strip().isdigit() or int(k) > int(n):
            raise OptionError(f"--{name} takes a count of a total, such as 60/100; got {cell!r}.")
        return float(k), float(n)

    if not design_effect >= 1.0:
        raise OptionError(f"--design-effect is 1 or more; got {design_effect:g}.")
    k, n = counts("said", said)
    sides = counts("found", found), counts("cleared", cleared)
    # Fewer texts in effect: dividing both keeps the share and widens its variance
    corrected = rogan_gladen(k / design_effect, n / design_effect, *sides, level)
    value, low, high = map(float, corrected)
    # Sensitivity and specificity add up to 1 or less: the correction would divide by nothing
    if isnan(value):
        raise OptionError(
            f"a classifier that finds {found} and clears {cleared} is no better than chance, so "
            "its share says nothing."
        )
    facts = {"said": k / n, "value": value, "low": low, "high": high, "level": level}
    if format == "json":
        as_json(facts)
        return
    line(
        f"{100 * value:.1f} % ({100 * low:.1f}–{100 * high:.1f}) are of the group, where the "
        f"classifier says {100 * k / n:.1f} %, if it errs here as where it was tried. Labels of "
        "texts of your own say how it errs here: audit --hand-labels."
    )
