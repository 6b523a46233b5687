"""What every audit of stories shares: options, names, people, and the order of the measures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal

from portrayal.annotate import Annotation
from portrayal.annotate.people.labeler.stage import LABELERS, labeler_instrument
from portrayal.collect.corpus import run_corpus
from portrayal.collect.fields import TextFields
from portrayal.config import option
from portrayal.errors import DataError, OptionError
from portrayal.measure.corrected import OUTCOME, hand_marks
from portrayal.measure.cues.lists import cue_list
from portrayal.measure.cues.search import find_cues
from portrayal.measure.stories.conclusions import ReaderErrors, measured
from portrayal.measure.stories.corrected import hand_sample
from portrayal.measure.stories.tally import tally_stories
from portrayal.measure.tables import Tables
from portrayal.raters.labels import PEOPLE, SLOTS
from portrayal.records import ALL, Estimate
from portrayal.reference.factors import Factor, NameSource, load_factor
from portrayal.reference.groups import GENDERS, PAIRS, RACES, Baseline, baseline
from portrayal.reference.locales import HOME, load_locale
from portrayal.reference.names import NameTable, mena_nhpi_table, name_table, race_likelihoods
from portrayal.run.directory import Run
from portrayal.studies.study import Options, said_of
from portrayal.types import FloatArray
from portrayal.validate import check_count

MEASURES: tuple[str, ...] = said_of("portrayal.studies.stories")["measures"]

CENSUS, CENSUS_SHARES = "census-2020", "census-2022"
"""Name table and baseline where no others are named."""

NEUTRAL, LADEN = "power-neutral", "power-laden"
STRATA = ("domain", "condition", "subject_role", "object_role", "scenario", "relationship")
_SPELLED = {
    "condition": dict.fromkeys(
        ("power-neutral", "power neutral", "neutral", "baseline", "base"), NEUTRAL
    )
    | dict.fromkeys(
        ("power-laden", "power laden", "laden", "power dynamic", "power-dynamic", "power"), LADEN
    )
}


def story_fields(
    *,
    laden: bool,
    read: bool = True,
    strata: Sequence[str] = (),
    presets: Mapping[str, Mapping[str, str]] | None = None,
    variants: Mapping[str, str] | None = None,
) -> TextFields:
    """Return what a study of stories wants to know of each text.

    Parameters
    ----------
    laden
        Whether some prompts have a powerful and a less powerful person.
    read
        Whether people are read from the texts, which needs the role of whom the prompt names.
    strata
        Further strata of its prompts.
    presets
        Columns of published files.
    variants
        Other words of its prompts → the prompt's id.
    """
    # Every prompt names one person; a second is only asked for where it is laden.
    roles = {"subject_role": None, "object_role": ("condition", LADEN)}
    more = tuple(name for name in strata if name not in STRATA)
    return TextFields(
        strata=(*STRATA, *more),
        required=("condition",) if laden else (),
        required_unlabelled=roles if read else {},
        values=_SPELLED,
        presets=presets or {},
        variants=variants or {},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryOptions(Options):
    """What a user may choose.

    Attributes
    ----------
    baseline
        Comparison distribution p*, one of `portrayal.reference.baselines()` or of the study's own.
    name_table
        Registered name table, the path of one's own, or a factor that names tell (.toml).
    name_column
        What columns of one's own name table hold; see `portrayal.reference.name_table`.
    locale
        See `Options`; its first name table and baseline stand where others are not named. People of
        stories in another language than English are taken from labels.
    min_count
        Bearers a name needs in the table; None takes the table's own.
    smoothing, min_name_count
        See `portrayal.measure.Scope`.
    labeler, labeler_model, labeler_samples
        Who finds the people; see `portrayal.annotate.people.labeler.stage.labelling_of`.
    """

    known_baselines: ClassVar[tuple[str, ...]] = ()
    """Baselines of the study's own."""

    baseline: str = option(CENSUS_SHARES, "Comparison shares p*.", panel="Statistics")
    name_table: str = option(CENSUS, "Name table: a registered one or a file.", metavar="NAME")
    name_column: tuple[str, ...] | None = option(
        None,
        "What a column of your own name table holds, where it is not guessed: name=COLUMN, "
        "group=COLUMN, count=COLUMN, or COLUMN=VALUE for the rows that count.",
        rare=True,
    )
    min_count: int | None = option(None, "Bearers a name needs in the name table.", rare=True)
    smoothing: float = option(
        1.0, "Laplace pseudo-count at zero counts.", panel="Statistics", rare=True
    )
    min_name_count: int = option(
        5, "Characters a name needs for an estimate of its own.", panel="Statistics", rare=True
    )
    labeler: str = option(
        "embedded",
        "Who finds the people: embedded (rules and a small network) or llm (a language model).",
    )
    labeler_model: str | None = option(
        None, "Model that labels: openai:gpt-5-mini, server:NAME, …."
    )
    labeler_samples: int = option(
        3, "Its answers about each text, which are put to a vote.", rare=True
    )

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        Options.__post_init__(self)
        if self.min_count is not None:
            check_count("min_count", self.min_count)
        # Options are tried where they will be used, so that there is one rule of what is valid.
        self.scope("", smoothing=self.smoothing, min_name_count=self.min_name_count)
        # Before the baseline is checked, as the locale may name it.
        self._take_from_locale()
        if self.baseline not in (*self.known_baselines, *naming(self).baselines):
            baseline(self.baseline)

    def hand_fields(self) -> tuple[str, ...]:
        """Return the fields that labels by hand may be of: factors, refusals, and people."""
        return *Options.hand_fields(self), OUTCOME, *PEOPLE

    def group_values(self, strata: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
        """Return the values of strata and groups: those of prompts, names and references."""
        # Beside factors, stories have groups told by names and by words of reference.
        names, values = naming(self), Options.group_values(self, strata)
        for attribute, groups in ((names.attribute, names.groups), ("gender", GENDERS)):
            values[attribute] = values.get(attribute, set()) | {*groups}
        return values | {"pair": {*PAIRS}}

    def _take_from_locale(self) -> None:
        """Let the locale's first name table and baseline stand where no others are named."""
        if self.locale is None:
            return
        locale = load_locale(self.locale)
        # What equals the default was not chosen, so a locale may replace it.
        if self.name_table == CENSUS and locale.names.tables:
            object.__setattr__(self, "name_table", locale.names.tables[0])
        if self.baseline == CENSUS_SHARES and locale.names.baselines:
            object.__setattr__(self, "baseline", locale.names.baselines[0])

    def said(self) -> tuple[str, ...]:
        """Return how the name table was read, where its columns were guessed."""
        return naming(self).primary.notes[:1] if naming(self).attribute != "race" else ()


@dataclass(frozen=True, eq=False)
class Naming:
    """What names tell, and by which tables.

    Attributes
    ----------
    attribute
        "race", or the factor or column that the table's groups are of.
    groups, tables
        Labels in their order, and the table of each; the first `n_primary` have the first table.
    baselines
        Shares of the factor's own baselines, by name.
    """

    attribute: str
    groups: tuple[str, ...]
    tables: Mapping[str, NameTable]
    n_primary: int
    primary: NameTable
    secondary: NameTable | None = None
    baselines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def likelihoods(self, names: Sequence[str]) -> FloatArray:
        """Return the share of each name's bearers by group, shape (len(names), n_groups)."""
        if self.secondary is None:
            return self.primary.likelihoods(names)
        return race_likelihoods(names, self.primary, self.secondary)


def naming(options: StoryOptions) -> Naming:
    """Return what the names of an audit tell: races, the groups of a table, or those of a factor.

    Raises
    ------
    DataError, OptionError, UnknownNameError
        When the table or factor cannot be used.
    """
    columns = options.name_column or ()
    if options.name_table.endswith(".toml"):
        return _of_factor(load_factor(options.name_table), columns, options.min_count)
    primary = name_table(options.name_table, min_count=options.min_count, columns=columns)
    # MENA and NH/PI come from a second source, never renormalised with the first.
    secondary = mena_nhpi_table()
    # A table of other groups than races, or of these as well, stands alone.
    if not {*primary.races} <= {*RACES} - {*secondary.races}:
        of = dict.fromkeys(primary.races, primary)
        return Naming(primary.about, primary.races, of, len(of), primary)
    tables = {race: table for table in (primary, secondary) for race in table.races}
    n = sum(race in primary.races for race in RACES)
    return Naming("race", RACES, tables, n, primary, secondary)


def _of_factor(factor: Factor, columns: Sequence[str], min_count: int | None) -> Naming:
    """The groups of a factor that a table of names tells, spelled as the factor spells them."""
    # The first source that tells names; others of the factor read texts.
    source = next((s for s in factor.sources if isinstance(s, NameSource) and s.table), None)
    if source is None:
        raise DataError(
            f"{factor.path or factor.name}: expected a source of the kind 'names' with a 'table', "
            "as the names of this audit are to tell its groups."
        )
    rows = [f"{column}={value}" for column, value in source.by.items()]
    table = name_table(source.table, min_count=min_count, columns=[*columns, *rows])
    # Tables spell groups as their makers did.
    keys = {label: factor.find(label) for label in table.races}
    strange = [label for label, key in keys.items() if key is None]
    if strange:
        raise DataError(
            f"{source.table}: the group {strange[0]!r} is none of the factor {factor.name} "
            f"({', '.join(factor.keys)}). Add it to a group's 'also'."
        )
    spelled = {label: str(key) for label, key in keys.items()}
    table = replace(
        table,
        races=tuple(spelled.values()),
        population={spelled[label]: share for label, share in table.population.items()},
    )
    shares = {shares_of.name: shares_of.of() or {} for shares_of in factor.baselines}
    of = dict.fromkeys(table.races, table)
    return Naming(factor.name, table.races, of, len(of), table, baselines=shares)


@dataclass(frozen=True, kw_only=True)
class Stories:
    """A study of stories: what differs from one to the next.

    Attributes
    ----------
    name
        The study's name.
    measures
        Registered names, in the order of the report.
    read
        Whether people are read from "texts" or taken from their "labels" only, as in a language
        that no reader here reads; with "none" only factors are measured.
    cues
        The list of terms that name identities, or a file of one's own; "" for none.
    baselines
        The study's own, by name.
    relationships, generic
        Words in roles that say a relationship, the first one a couple's; and roles that say nothing
        of a scenario.
    """

    name: str
    measures: tuple[str, ...] = MEASURES
    read: Literal["texts", "labels", "none"] = "texts"
    cues: str = "laissez-faire"
    baselines: Mapping[str, Baseline] = field(default_factory=dict)
    relationships: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()

    def facts(self, strata: Mapping[str, str]) -> dict[str, Any]:
        """Return what measures need to know of a prompt: domain, roles, couple, scenario."""
        roles = f"{strata.get('subject_role', '')} {strata.get('object_role', '')}".casefold()
        # Words in the roles tell a relationship where no column does.
        relationship = strata.get("relationship") or next(
            (kind for kind in self.relationships if kind.split()[0].rstrip("s") in roles), ""
        )
        subject = strata.get("subject_role", "")
        # "A person" and such say nothing, so the other role names the scenario.
        role = strata.get("object_role", "") if subject in self.generic else subject
        scenario = strata.get("scenario") or role or subject or "unnamed"
        return {
            "domain": strata.get("domain", ALL),
            "laden": strata.get("condition", NEUTRAL) == LADEN,
            "couple": bool(self.relationships) and relationship == self.relationships[0],
            "scenario": f"{relationship}: {scenario}" if relationship else scenario,
        }

    def annotations(self, run: Run, options: StoryOptions) -> tuple[Annotation, ...]:
        """Return how people are found: by the user's own labels where the texts carry them."""
        if self.read == "none":
            return ()
        local = options.locale_settings()
        # The user's own labels go before the rules; who names another labeler wants that one.
        if run.texts.note().get("labelled") and options.labeler == "embedded":
            return (Annotation("people-labelled.v1", local),)
        # The rules and the reader know English alone.
        foreign = options.locale is not None and load_locale(options.locale).language != "en"
        if (foreign or self.read == "labels") and options.labeler != "llm":
            raise OptionError(
                f"{self.name} takes people from labels, and these texts carry none: map their "
                "columns (--column subject_name=COLUMN subject_gender=COLUMN …), or let a model "
                "label (--labeler llm)."
            )
        return (Annotation(LABELERS[options.labeler], local),)

    def tables(self, run: Run, options: StoryOptions) -> Tables:
        """Return what measures of stories read, from a run with complete annotations.

        Parameters
        ----------
        run
            The run.
        options
            Baseline, name table, and the settings of the statistics.
        """
        if self.read == "none":
            return Tables(options.scope(self.name), {})
        (people,) = self.annotations(run, options)
        stage, names = run.annotations(people.name), naming(options)
        # Every table that a number rests on is named beside it.
        second = {} if names.secondary is None else {"mena_nhpi_table": names.secondary.name}
        scope = options.scope(
            self.name,
            smoothing=options.smoothing,
            min_name_count=options.min_name_count,
            instruments={
                "name_table": names.primary.name,
                **second,
                "word_list": "Table S6a",
                "annotator": people.name,
                "labeler": labeler_instrument(run, people.name),
                **options.locale_instrument(),
            },
        )
        # Counting goes through all texts once, for all measures.
        tally = cache(
            lambda: tally_stories(
                run,
                stage,
                likelihoods=names.likelihoods,
                races=names.groups,
                n_primary=names.n_primary,
                facts=self.facts,
                attribute=names.attribute,
            )
        )
        offered: dict[str, Callable[[], Any]] = {
            "tally": tally,
            "baseline": lambda: self.baseline(options.baseline, names),
            "baselines": lambda: self.compared(options, names),
            "name_tables": lambda: names.tables,
            "cue_hits": lambda: find_cues(run_corpus(run, people.name), cue_list(self.cues)),
        }
        hand_table = options.hand_table()
        if hand_table is not None:
            columns = ["prompt_id", "model", "outcome"]
            offered["hand_outcomes"] = lambda: hand_marks(run, hand_table, OUTCOME, columns)
        if hand_table is not None and f"{SLOTS[0]}_gender" in hand_table.labels:
            offered["hand_sample"] = lambda: hand_sample(
                run, stage, hand_table, tally(), names.likelihoods
            )

        def with_reader_errors(estimates: list[Estimate]) -> Iterator[Estimate]:
            local = load_locale(options.locale or HOME)
            cells = measured(people.name)
            errors = ReaderErrors(cells, scope.level, f"{local.language}-{local.country}")
            return map(errors.added, estimates)

        return Tables(scope, offered, with_reader_errors)

    def compared(self, options: StoryOptions, names: Naming) -> list[Baseline]:
        """Return every baseline: the one asked for, the study's, the names' factor's, the locale's.

        Those without a share, such as shares by state, are left out.
        """
        local = () if options.locale is None else load_locale(options.locale).names.baselines
        # Each once, the one that was asked for first.
        in_order = dict.fromkeys((options.baseline, *self.baselines, *names.baselines, *local))
        baselines = (self.baseline(name, names) for name in in_order)
        return [base for base in baselines if any({**base.shares, "pair": ()}.values())]

    def baseline(self, baseline_name: str, names: Naming) -> Baseline:
        """Return the comparison shares: the study's own, those of the names' factor, or shipped."""
        study_baseline = self.baselines.get(baseline_name)
        shares = names.baselines.get(baseline_name)
        if study_baseline is None and shares is None:
            return baseline(baseline_name)
        # A factor gives shares of its groups alone, the study those of genders and pairs.
        base = study_baseline or Baseline(baseline_name, "", {})
        return base if shares is None else replace(base, shares={**base.shares, "names": shares})
