"""The laissez-faire audit: its components, in order."""

from collections.abc import Iterator
from typing import Any

from portrayal import registry
from portrayal.measure import Scope, tally_stories
from portrayal.records import Estimate
from portrayal.reference import RACES, baseline, mena_nhpi_table, name_table, race_likelihoods
from portrayal.run.directory import Run
from portrayal.studies.laissez_faire.prompts import FIELDS, prompt_facts, prompts, sample
from portrayal.studies.laissez_faire.reproduce import reproduce
from portrayal.studies.study import Options, Study

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


def estimate(run: Run, annotator: str, options: Options) -> Iterator[Estimate]:
    """Yield every estimate of the audit from a run's annotations.

    Parameters
    ----------
    run, annotator
        A run with complete annotations by this annotator.
    options
        Baseline, name table, and how sure to be.
    """
    primary = name_table(options.name_table, min_count=options.min_count)
    secondary = mena_nhpi_table()
    tables = {race: table for table in (primary, secondary) for race in table.races}
    tally = tally_stories(
        run,
        run.annotations(annotator),
        likelihoods=lambda names: race_likelihoods(names, primary, secondary),
        races=RACES,
        n_primary=sum(race in primary.races for race in RACES),
        facts=prompt_facts,
    )
    scope = Scope(
        "laissez-faire",
        level=options.level,
        seed=options.seed,
        draws=options.draws,
        permutations=options.permutations,
        smoothing=options.smoothing,
        min_name_count=options.min_name_count,
        instruments={
            "name_table": primary.name,
            "mena_nhpi_table": secondary.name,
            "word_list": "Table S6a",
            "annotator": annotator,
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
    annotator="people.v1",
    labelled_annotator="people-labelled.v1",
    measures=MEASURES,
    estimate=estimate,
    sample=sample,
    reproduce=reproduce,
    card="card.md",
)
