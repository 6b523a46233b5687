"""The audit of pairs: how files name their pairs, what is scored, and its stages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from portrayal.annotate import Annotation
from portrayal.annotate.exchange import group_words
from portrayal.annotate.scores import (
    AGENCY,
    SCORERS,
    SENTIMENT,
    TEXT_SCORES,
    score_settings,
    scores_of,
)
from portrayal.collect.fields import MOST_VALUES, TextFields
from portrayal.config import option
from portrayal.errors import MissingExtraError, OptionError
from portrayal.measure.corrected import MARKS, OUTCOME
from portrayal.measure.matched import MatchedSets, MatchedTexts, matched_sets
from portrayal.measure.matched.sets import with_hand_scores
from portrayal.measure.matched.units import PAIR, SOURCE, units_of
from portrayal.measure.tables import Tables
from portrayal.recognise import InputColumn, crossing, is_group_column
from portrayal.records import ALL, SYSTEM
from portrayal.reference.locales import HOME
from portrayal.run.directory import Run, read_prompts
from portrayal.studies.study import Options, Study, said_of
from portrayal.types import Say

FIELDS = TextFields(
    strata=(PAIR, SOURCE, "name"),
    required=(),
    own_ids=False,
    aliases={
        PAIR: (
            "pair_id",
            "prompt_id",
            "case",
            "case_id",
            "item",
            "item_id",
            "set",
            "template_id",
            "vignette",
        ),
        SOURCE: (
            *("source_id", "note", "note_id", "document", "document_id", "scenario", "template"),
            *("prompt_template", "article", "passage", "case_note"),
        ),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions(Options):
    """What a user may choose.

    Attributes
    ----------
    group
        Columns that say which person a text is about; of several, each is compared with the others
        alike.
    source
        Column of what pairs, or texts, were made from: the clusters.
    apart
        Whether nothing blocks: then all texts of a group are compared with all of the others.
    score
        Columns of numbers, or of yes and no, that are scores too.
    by
        Further columns by which differences are split.
    scorers, lexicons, sentiment, classifier
        See `portrayal.annotate.scores.score_settings`.
    """

    group: tuple[str, ...] = option(
        (), "Column in which the texts of a pair differ; default gender, …; repeatable."
    )
    apart: bool = option(False, "Compare all texts of each group; nothing pairs them.")
    score: tuple[str, ...] = option(
        (), "Column of numbers, or of yes and no, that is a score; repeatable."
    )
    source: str | None = option(
        None, "Column of what pairs were made from: the independent units.", panel="Texts"
    )
    by: tuple[str, ...] = option((), "Column whose values are shown apart; repeatable.")
    scorers: tuple[str, ...] = option(SCORERS, f"Scores, of {', '.join(SCORERS)}.")
    lexicons: tuple[str, ...] = option(
        ("themes",), "Word lists of themes: registered ones, or files."
    )
    sentiment: str = option("vader", "Engine that scores sentiment.")
    classifier: str = option("linear", "Classifier of agency, as in the study agency.", rare=True)

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        Options.__post_init__(self)
        self.settings()

    def hand_fields(self) -> tuple[str, ...]:
        """Return the fields that labels by hand may be of: factors, refusals, scores."""
        return *Options.hand_fields(self), OUTCOME, *(n for n in self.scorers if n in MARKS)

    def text_fields(self, fields: TextFields) -> TextFields:
        """Return the study's fields and the columns that are named."""
        # Each with its option, so that an error about a column names it.
        columns = dict.fromkeys(self.group, "--group")
        columns |= dict.fromkeys((column for column in self.by if column != "model"), "--by")
        columns |= {self.source: "--source"} if self.source else {}
        # A text whose cell is blank is left out, and counted
        pairs = {} if self.apart else {PAIR: "--pair-by"}
        recognised = fields.asking(columns).keeping(self.score)
        recognised = replace(
            recognised, asked={**columns, **pairs, **dict.fromkeys(self.score, "--score")}
        )
        if self.source:  # no other column is one of units
            recognised = replace(recognised, aliases={**recognised.aliases, SOURCE: ()})
        return recognised if self.group else replace(recognised, is_stratum=_names_groups)

    def missing(self) -> dict[str, str]:
        """Return the default scorer where it cannot be read here, with the reason."""
        lacking: dict[str, str] = {}
        # A scorer that was chosen must be there; only a default one is left out.
        if SENTIMENT not in self.scorers or tuple(self.scorers) != SCORERS:
            return lacking
        from portrayal.annotate.sentiment import sentiment_of

        try:
            sentiment_of(self.sentiment)
        except MissingExtraError as error:
            lacking[SENTIMENT] = str(error)
        return lacking

    def settings(self) -> dict[str, Any]:
        """Return the settings of `text_scores.v2`; a default scorer that is missing is left out."""
        missing = self.missing()
        return score_settings(
            [name for name in self.scorers if name not in missing],
            sentiment=self.sentiment,
            lexicons=self.lexicons,
            classifier=self.classifier,
            locale=self.locale or HOME,
        )


def annotations(run: Run, options: PairOptions) -> tuple[Annotation, ...]:
    """Return the scores of the texts."""
    return (
        Annotation(TEXT_SCORES.name, options.settings() | {"exchange": exchange(run, options)}),
    )


def exchange(run: Run, options: PairOptions) -> dict[str, Any]:
    """Return what is exchanged: the column of groups, and the words of each with their source.

    Raises
    ------
    OptionError
        When no column says which person a text is about, or several do.
    """
    prompts = [*read_prompts(run.prompts_path).values()]
    groups = options.group or (group_column(prompts, options.by),)
    settings: list[dict[str, Any]] = []
    for group in groups:
        values = sorted({about[group] for about in prompts if about.get(group)})
        origin, words = group_words(values, options.locale or HOME)
        settings.append({"group": group, "names": "name", "from": origin, "words": words})
    # A text has one other wording: that of the first column of which words are known.
    first = next((one for one in settings if one["words"]), settings[0])
    alike = [group for group in groups if group != first["group"]]
    return {**first, "alike": alike} if alike else first


def _names_groups(name: str, values: Iterable[str]) -> bool:
    return is_group_column(InputColumn(name, tuple(values)))


def group_column(prompts: Sequence[Mapping[str, str]], strata: Sequence[str] = ()) -> str:
    """Return the stratum that says which person a text is about: one in which pairs differ.

    Parameters
    ----------
    prompts
        Strata of each prompt.
    strata
        Strata that are something else.

    Raises
    ------
    OptionError
        When there is none, or several tell the texts of pairs apart in different ways.
    """
    names = dict.fromkeys(name for about in prompts for name in about)
    columns = [
        InputColumn(name, tuple(about.get(name, "") for about in prompts))
        for name in names
        if name not in (*FIELDS.strata, *strata, SYSTEM)
    ]
    groups = [column for column in columns if is_group_column(column)]
    pairs = [about.get(PAIR) or "all" for about in prompts]
    telling = [column for column in groups if crossing(pairs, column.cells)[1]]
    first = telling[:1]
    for column in telling[1:]:
        both = len({*zip(first[0].cells, column.cells, strict=True)})
        # Of columns of which one follows from the other ("woman", "she") either will do
        if max(len({*first[0].cells}), len({*column.cells})) < both:
            first.append(column)
    if len(first) > 1:
        values = [f"{c.name} ({', '.join(sorted(c.counts)[:4])})" for c in first]
        raise OptionError(
            f"the texts of a pair differ in {' and in '.join(values)}. Say which of them is "
            f"compared: --group {first[0].name}."
        )
    # Texts of no pair may differ in it, which is said where pairs are made
    if not (first := first or groups[:1]):
        raise OptionError(
            "which person a text is about stands in no column of a name such as gender, race or "
            f"group and at most {MOST_VALUES} values, and in none with values such as woman and "
            "man or she/her and he/him. Name it with --group COLUMN."
        )
    return first[0].name


def fit(run: Run, options: PairOptions, say: Say) -> None:
    """Say what is left out, and how units were recognised where no column says it."""
    for name, reason in options.missing().items():
        say(f"left out: {name}: {reason}")
    group = exchange(run, options)["group"]
    if not options.group:
        say(f"groups: the column {group!r}; --group COLUMN names another")
    if options.apart:
        return
    scores, source = run.annotations(TEXT_SCORES.name), options.source or SOURCE
    for line in units_of(run, scores, source, options.locale or HOME).lines:
        say(f"units: {line}")


def tables(run: Run, options: PairOptions) -> Tables:
    """Return what measures of matched sets read, from a run with scores."""
    settings = options.settings()
    instruments = {"lexicons": ", ".join(Path(name).name for name in options.lexicons)}
    if SENTIMENT in settings["scorers"]:
        instruments["sentiment"] = options.sentiment
    if AGENCY in settings["scorers"]:
        instruments["classifier"] = options.classifier

    exchanged = exchange(run, options)
    instruments["exchange"] = ", ".join(
        filter(None, (exchanged["from"], "what the requests of a pair differ in"))
    )

    groups = exchanged["group"], *exchanged.get("alike", ())

    def made() -> MatchedSets:
        annotated = run.annotations(TEXT_SCORES.name)
        by_column = [
            with_hand_scores(
                matched_sets(
                    run,
                    annotated,
                    scores_of(settings),
                    group=group,
                    alike=[name for name in groups if name != group],
                    source=options.source or SOURCE,
                    columns=[name for name in options.by if name != "model"],
                    locale=options.locale or HOME,
                    measured=options.score,
                    apart=options.apart,
                ),
                run,
                annotated,
                options.hand_table(),
            )
            for group in groups
        ]
        return replace(by_column[0], siblings=tuple(by_column[1:]))

    sets = cache(made)
    offered: dict[str, Callable[[], Any]] = {
        "matched_sets": sets,
        "matched_texts": cache(lambda: MatchedTexts(sets(), run, options.locale or HOME)),
    }
    return Tables(options.scope("pairs", instruments=instruments), offered)


STUDY = Study(
    name="pairs",
    **said_of(__package__),
    fields=FIELDS,
    prompts=lambda: (),
    options=PairOptions,
    annotations=annotations,
    tables=tables,
    pair_field=PAIR,
    fit=fit,
    stated={"part": ALL},
)
