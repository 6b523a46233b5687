"""Groups of factors in any study: what is kept, annotated and measured beside the study's own."""

from collections.abc import Iterable, Sequence

from portrayal.annotate import Annotation
from portrayal.annotate.groups import group_settings
from portrayal.measure.groups.texts import (
    GroupTexts,
    attributes_of,
    read_group_texts,
    with_hand_labels,
)
from portrayal.measure.tables import Tables
from portrayal.reference.factors import (
    Factor,
    ModelSource,
    NameSource,
    ReferenceSource,
    load_factor,
)
from portrayal.run.directory import Run, read_prompts
from portrayal.studies.study import Options, Study

GROUPS, EVERYONE = "groups.v3", "everyone.v8"
MEASURES = (
    "group_share.v1",
    "group_ratio.v1",
    "people_share.v1",
    "people_ratio.v1",
    "group_texts.v1",
    "association.v1",
)
"""Measures of the groups of any factor, in the order of the report."""


def factors_of(options: Options) -> tuple[Factor, ...]:
    """Return the factors that are asked for.

    Raises
    ------
    DataError, OptionError, UnknownNameError
        When one cannot be read, or two have one name.
    """
    group_settings(options.factor)
    return tuple(load_factor(spec) for spec in options.factor)


def named_factors(options: Options) -> tuple[Factor, ...]:
    """Return every factor whose groups estimates name: those asked for, and that of the names."""
    # Not every study has names.
    table = str(getattr(options, "name_table", ""))
    names = [load_factor(table)] if table.endswith(".toml") else []
    return tuple({factor.name: factor for factor in (*names, *factors_of(options))}.values())


def group_annotations(
    options: Options, annotations: Sequence[Annotation]
) -> tuple[Annotation, ...]:
    """Return what is annotated for the factors, beside the study's own annotations."""
    if not options.factor:
        return ()
    sources = [source for factor in factors_of(options) for source in factor.sources]
    settings = group_settings(options.factor)
    reads_people = any(
        source.unit == "person"
        if isinstance(source, ModelSource)
        else isinstance(source, (NameSource, ReferenceSource))
        for source in sources
    )
    # Who is in the texts is read once: the study's own people do for factors too.
    people = people_among(annotation.name for annotation in annotations)
    everyone: tuple[Annotation, ...] = ()
    if reads_people and not people:
        people = EVERYONE
        everyone = (Annotation(EVERYONE, options.locale_settings()),)
    # A model may be asked about people by their names
    if any(isinstance(source, ModelSource) for source in sources):
        settings["people"] = people
    return (*everyone, Annotation(GROUPS, settings))


def people_among(annotators: Iterable[str]) -> str:
    """Return the annotator of people among these; "" where there is none."""
    return next((n for n in annotators if n.startswith(("people", "everyone"))), "")


def group_tables(run: Run, study: Study, options: Options, annotators: Sequence[str]) -> Tables:
    """Return what measures of factors read, from a run with complete annotations.

    Parameters
    ----------
    run, study, options
        The run, and what was asked.
    annotators
        Names of the annotations that the run has.
    """
    people_stage = people_among(annotators)
    instruments = {
        "groups": GROUPS,
        "annotator": people_stage,
        "factor_model": options.factor_model,
    }
    instruments |= options.locale_instrument()
    scope = options.scope(study.name, instruments={k: v for k, v in instruments.items() if v})
    if not options.factor:
        return Tables(scope, {})

    def texts() -> GroupTexts:
        # Read only when a measure asks, as every text is gone through.
        people = run.annotations(people_stage) if people_stage else None
        strata = read_prompts(run.prompts_path).values()
        # One stratum is enough: splits by many leave few texts in each.
        if study.group_by is None:
            by = attributes_of(strata, study.fields.strata)[:1]
        else:
            by = attributes_of(strata, study.group_by)
        factors = factors_of(options)
        texts = read_group_texts(run, factors, run.annotations(GROUPS), people, by)
        table = options.hand_table()
        if table is None:
            return texts
        return with_hand_labels(texts, run, factors, run.annotations(GROUPS), table)

    return Tables(scope, {"group_texts": texts})
