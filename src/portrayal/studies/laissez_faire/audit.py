"""The laissez-faire audit: its components, in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from portrayal import registry
from portrayal.annotate import Annotation
from portrayal.measure import tally_stories
from portrayal.records import Estimate
from portrayal.reference import RACES, baseline, mena_nhpi_table, name_table, race_likelihoods
from portrayal.run.directory import Run
from portrayal.studies.laissez_faire.prompts import FIELDS, prompt_facts, prompts, sample
from portrayal.studies.laissez_faire.reproduce import reproduce
from portrayal.studies.study import Options, Study, option
from portrayal.validate import check_count

MEASURES = (
    "representation.v1",
    "pair_representation.v1",
    "subordination.v1",
    "median_racialized_subordination.v1",
    "name_subordination.v1",
    "threshold_subordination.v1",
    "common_names.v1",
    "likelihood_histogram.v1",
    "scenario_likelihood.v1",
    "pair_roles.v1",
    "outcomes.v1",
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
    """

    baseline: str = option("census-2022", "Comparison shares p*.")
    name_table: str = option("census-2020", "Name table: a registered one or a file.")
    min_count: int | None = option(None, "Bearers a name needs in the name table.")
    smoothing: float = option(1.0, "Laplace pseudo-count at zero counts.")
    min_name_count: int = option(5, "Characters a name needs for an estimate of its own.")

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        if self.min_count is not None:
            check_count("min_count", self.min_count)
        self.scope("", smoothing=self.smoothing, min_name_count=self.min_name_count)
        baseline(self.baseline)
        name_table(self.name_table, min_count=self.min_count)


def annotations(run: Run, _: StoryOptions) -> tuple[Annotation, ...]:
    """Return how people are found: by the user's own labels where the texts carry them."""
    labelled = run.texts.note().get("labelled")
    return (Annotation("people-labelled.v1" if labelled else "people.v1"),)


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
    tally = tally_stories(
        run,
        run.annotations(people.name),
        likelihoods=lambda names: race_likelihoods(names, primary, secondary),
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
        },
    )
    needs: dict[str, dict[str, Any]] = {
        "representation.v1": {"baseline": baseline(options.baseline), "tables": tables},
        "pair_representation.v1": {"baseline": baseline(options.baseline)},
        "common_names.v1": {"tables": tables},
        "likelihood_histogram.v1": {"tables": tables},
    }
    for name in MEASURES:
        measure = registry.component("measures", name)
        yield from measure.run(tally, scope, **needs.get(name, {}))


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
)
