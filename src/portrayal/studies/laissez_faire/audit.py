"""The laissez-faire audit: its components, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import portrayal.registry as registry
from portrayal.annotate import Annotation
from portrayal.annotate.people.confusion import confusion_of
from portrayal.annotate.people.labeler import LABELERS, labeler_instrument
from portrayal.annotate.people.reader.rows import READER, UNSURE, reader_settings
from portrayal.collect.corpus import run_corpus
from portrayal.measure import hand_sample, tally_stories
from portrayal.measure.cues import cue_list, find_cues
from portrayal.measure.stories.reader_error import ReaderErrors, key_of
from portrayal.raters.people import read_sheet
from portrayal.records import Estimate
from portrayal.reference import RACES, baseline, mena_nhpi_table, name_table, race_likelihoods
from portrayal.run.directory import Run
from portrayal.studies.laissez_faire.prompts import FIELDS, prompt_facts, prompts, sample
from portrayal.studies.laissez_faire.reproduce import reproduce
from portrayal.studies.study import Options, Study, option
from portrayal.types import FloatArray
from portrayal.validate import check_count

CORRECTED = ("corrected_representation.v2", "corrected_subordination.v2")
"""Measures that need hand labels, and are left out where there are none."""

MEASURES = (
    "representation.v1",
    "pair_representation.v1",
    "subordination.v1",
    "median_representation.v1",
    "median_subordination.v1",
    "median_racialized_subordination.v1",
    "name_subordination.v1",
    "threshold_subordination.v1",
    "common_names.v1",
    "likelihood_histogram.v1",
    "scenario_likelihood.v1",
    "pair_roles.v1",
    "outcomes.v1",
    "cue_counts.v1",
    "representation_mixture.v1",
    "subordination_mixture.v1",
    *CORRECTED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryOptions(Options):
    """What a user may choose.

    Attributes
    ----------
    baseline
        Comparison distribution p*, one of `portrayal.reference.baselines()`.
    name_table
        Registered name table, or the path of one's own.
    min_count
        Bearers a name needs in the table; None takes the table's own.
    smoothing, min_name_count
        See `portrayal.measure.Scope`.
    reader
        Folder of a trained reader, None for the one that ships; see
        `portrayal.annotate.people.reader.reader_settings`.
    labeler, labeler_model, labeler_samples, route_share
        Who finds the people; see `portrayal.annotate.people.labeler.labelling.labelling_of`.
    hand_labels
        Path of a filled-in sheet of this run, by which estimates are corrected; None for none.
    """

    baseline: str = option("census-2022", "Comparison shares p*.")
    name_table: str = option("census-2020", "Name table: a registered one or a file.")
    min_count: int | None = option(None, "Bearers a name needs in the name table.")
    smoothing: float = option(1.0, "Laplace pseudo-count at zero counts.")
    min_name_count: int = option(5, "Characters a name needs for an estimate of its own.")
    labeler: str = option(
        "embedded",
        "Who finds the people: embedded (rules), reader (rules and a small network), llm, or "
        "routed (reader or llm where the rules are unsure).",
    )
    labeler_model: str | None = option(
        None, "Model that labels: openai:gpt-5-mini, server:NAME, …."
    )
    labeler_samples: int = option(3, "Its answers about each text, which are put to a vote.")
    reader: str | None = option(
        None,
        "Folder of a reader of your own, for reader and routed, in place of the one that ships.",
    )
    hand_labels: str | None = option(None, "Filled-in sheet of this run, to correct estimates by.")
    route_share: float = option(
        0.2, "Fraction of the texts, the least sure ones, that routed sends to it."
    )

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        if self.min_count is not None:
            check_count("min_count", self.min_count)
        self.scope("", smoothing=self.smoothing, min_name_count=self.min_name_count)
        if self.labeler == "reader" or (self.labeler == "routed" and self.labeler_model is None):
            reader_settings(self.reader)
        if self.hand_labels is not None:
            read_sheet(self.hand_labels)
        baseline(self.baseline)
        name_table(self.name_table, min_count=self.min_count)


def annotations(run: Run, options: StoryOptions) -> tuple[Annotation, ...]:
    """Return how people are found: by the user's own labels where the texts carry them."""
    if run.texts.note().get("labelled") and options.labeler == "embedded":
        return (Annotation("people-labelled.v1"),)
    if options.labeler == "reader":
        return (Annotation(READER.name, reader_settings(options.reader)),)
    if options.labeler == "routed" and options.labeler_model is None:
        return (Annotation(READER.name, reader_settings(options.reader, below=UNSURE)),)
    return (Annotation(LABELERS[options.labeler]),)


def estimate(run: Run, options: StoryOptions) -> Iterator[Estimate]:
    """Yield every estimate of the audit from a run with complete annotations.

    Parameters
    ----------
    run
        The run.
    options
        Baseline, name table, and how sure to be.
    """
    (people,) = annotations(run, options)
    primary = name_table(options.name_table, min_count=options.min_count)
    secondary = mena_nhpi_table()
    tables = {race: table for table in (primary, secondary) for race in table.races}

    def likelihoods(names: Sequence[str]) -> FloatArray:
        return race_likelihoods(names, primary, secondary)

    tally = tally_stories(
        run,
        run.annotations(people.name),
        likelihoods=likelihoods,
        races=RACES,
        n_primary=sum(race in primary.races for race in RACES),
        facts=prompt_facts,
    )
    scope = options.scope(
        "laissez-faire",
        smoothing=options.smoothing,
        min_name_count=options.min_name_count,
        instruments={
            "name_table": primary.name,
            "mena_nhpi_table": secondary.name,
            "word_list": "Table S6a",
            "annotator": people.name,
            "labeler": labeler_instrument(run, people.name),
        },
    )
    shares = baseline(options.baseline)
    needs: dict[str, dict[str, Any]] = {
        "representation.v1": {"baseline": shares, "tables": tables},
        "median_representation.v1": {"baseline": shares, "tables": tables},
        "pair_representation.v1": {"baseline": shares},
        "corrected_representation.v2": {"baseline": shares},
        "representation_mixture.v1": {"baseline": shares, "tables": tables},
        "subordination_mixture.v1": {"tables": tables},
        "common_names.v1": {"tables": tables},
        "likelihood_histogram.v1": {"tables": tables},
        "cue_counts.v1": {"hits": find_cues(run_corpus(run, people.name), cue_list())},
    }
    if options.hand_labels is not None:
        sheet, stage = read_sheet(options.hand_labels), run.annotations(people.name)
        hand = hand_sample(run, stage, sheet, tally, likelihoods)
        needs["corrected_representation.v2"] = {"hand": hand, "baseline": shares}
        needs["corrected_subordination.v2"] = {"hand": hand}

    def estimates_of(name: str) -> Iterator[Estimate]:
        found: Iterator[Estimate] = registry.component("measures", name).run(
            tally, scope, **needs.get(name, {})
        )
        return found

    corrected = {name: list(estimates_of(name)) for name in CORRECTED}
    by_hand = {key_of(name, e): e for name, found in corrected.items() for e in found}
    confusion = confusion_of(people.name, people.settings)
    errors = ReaderErrors(tally, scope, confusion, likelihoods, by_hand)
    for name in MEASURES:
        yield from map(errors.added, corrected.get(name) or estimates_of(name))


STUDY = Study(
    name="laissez-faire",
    title="Laissez-faire: who open-ended stories omit and subordinate",
    paper="Shieh, E., Vassel, F.-M., Sugimoto, C. R., & Monroe-White, T. (2025). Language Models "
    "Generate Widespread Intersectional Biases in Narratives of Learning, Labor, and Love.",
    question="When a model is asked for a story about an American student, worker, friend or "
    "partner, who appears, and who depends on whom?",
    fields=FIELDS,
    prompts=prompts,
    options=StoryOptions,
    annotations=annotations,
    measures=MEASURES,
    estimate=estimate,
    sample=lambda: {"texts": sample()},
    reproduce=reproduce,
    card="card.md",
    report="portrayal.studies.laissez_faire.report:REPORT",
)
