"""The news audit: prompts from headlines, which levels it measures, and its stages in order."""

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate import Annotation
from portrayal.annotate.group_words import (
    DEFAULT_LEXICONS,
    RACE_LEXICON,
    group_word_settings,
)
from portrayal.annotate.sentiment import sentiment_settings
from portrayal.annotate.topics.fit import TopicSettings, fit_topics, saved_topics, topics_stage
from portrayal.annotate.toxicity import toxicity_settings
from portrayal.collect.fields import TextFields
from portrayal.collect.sources import open_source
from portrayal.collect.tables import missing
from portrayal.config import option
from portrayal.errors import DataError, MissingExtraError, OptionError
from portrayal.measure.corrected import MARKS, OUTCOME, hand_marks
from portrayal.measure.pairs.levels import text_levels, with_hand_scores
from portrayal.measure.pairs.table import Paired, pair_texts
from portrayal.measure.pairs.topics import document_levels, read_topics
from portrayal.measure.tables import Tables
from portrayal.records import Prompt
from portrayal.reference.lexicons import lexicon
from portrayal.run import Run
from portrayal.studies.study import Options, PromptMaker, Study, said_of
from portrayal.types import Say
from portrayal.validate import check_choice

UNBIASED, BIASED = "unbiased", "biased"
FORMS = (UNBIASED, BIASED)

FIELDS = TextFields(
    strata=("pair", "form"),
    required=("pair",),
    aliases={
        "pair": ("headline", "title", "title_en"),
        "form": ("prompt_style", "style", "condition"),
    },
)


def prompts(
    headlines: Any,
    *,
    forms: Sequence[str] = (UNBIASED,),
    columns: Mapping[str, str] | None = None,
) -> tuple[Prompt, ...]:
    """Return one prompt for each headline and form.

    Parameters
    ----------
    headlines
        A file of headlines (CSV, JSON lines, Parquet, Excel), a DataFrame, or rows; what
        `portrayal.collect.sources.open_source` reads. A headline that occurs again makes no second
        prompt.
    forms
        "unbiased", "biased", or both.
    columns
        Column of `headline`, where it has another name than headline or title.

    Returns
    -------
    tuple of Prompt
        Strata: `pair` (the headline) and `form`. A prompt's id depends on its words alone.

    Raises
    ------
    DataError
        Where there is no column of headlines or a row has none.
    OptionError
        For another form, or no form.

    References
    ----------
    Fang et al. (2024), sections "Bias of AIGC under Biased Prompts" and "Methods".
    """
    if isinstance(forms, str) or not forms:
        raise OptionError(f"forms is a list of {' and '.join(FORMS)}; got {forms!r}.")
    # A form that is named twice makes no second prompt.
    form_names = [check_choice("form", form, FORMS) for form in dict.fromkeys(forms)]
    words = tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))
    source = open_source(headlines)
    fields, aliases = ("headline",), {"headline": ("title",)}
    mapping = source.find(fields, columns=columns, needed=fields, aliases=aliases)
    column, distinct = mapping["headline"], dict[str, None]()
    for number, row in enumerate(source.rows(), 1):
        cell = row.get(column)
        headline = "" if missing(cell) else " ".join(str(cell).split())
        if not headline:
            raise DataError(
                f"{source.name}: row {number} has no headline in column {column!r}. "
                "Fill it in or leave the row out."
            )
        distinct[headline] = None
    built: list[Prompt] = []
    for form, headline in product(form_names, distinct):
        text = words[form].format(headline=headline)
        # Ids must not change with the order of the file, so they are of the words alone.
        name = f"news-{form}-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        # The headline is the pair: by it a text finds its original.
        built.append(Prompt(name, text, {"pair": headline, "form": form}))
    return tuple(built)


PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""


WORD, SENTIMENT, TOXICITY, DOCUMENT = "word", "sentiment", "toxicity", "document"
LEVELS = (WORD, SENTIMENT, TOXICITY, DOCUMENT)

_NEEDS = {
    TOXICITY: ("toxicity", ("torch", "transformers")),
    DOCUMENT: ("news", ("lemminflect", "sklearn")),
}


AUTO, FIRST_NAMES = "auto", "first-names"
NAMED_PEOPLE = (AUTO, FIRST_NAMES, "lists")
BY_FIRST_NAMES = "by race shares of the bearers of their first names"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsOptions(Options):
    """What a user may choose.

    Attributes
    ----------
    levels
        Some of `LEVELS`; none chooses all but toxicity, as far as their libraries are installed.
    lexicons, people
        See `portrayal.annotate.group_words.group_word_settings`.
    named_people
        How people named by first and last name count for race: "first-names" by the race shares of
        the bearers of their first names, where the full name stands; "lists" only where your table
        has them, as published; "auto" by first names where `race-occupations` is counted and no
        table is given.
    sentiment
        Registered engine.
    toxicity_model
        Model directory or hub name; see `portrayal.annotate.toxicity.toxicity_settings`.
    topics, topic_model
        See `TopicSettings`.
    base_form
        Prompt form with which the others are compared; None takes "unbiased" where it occurs, else
        the first.
    """

    levels: tuple[str, ...] = option((), f"Levels to measure, of {', '.join(LEVELS)}.")
    lexicons: tuple[str, ...] = option(
        DEFAULT_LEXICONS, "Word lists of groups: registered ones or files."
    )
    people: str | None = option(None, "Your table of people (CSV: person, race); they count.")
    named_people: str = option(
        AUTO,
        "How named people count for race: first-names (race shares of the bearers), lists (your "
        "--people alone, as published), auto (first-names without --people).",
    )
    sentiment: str = option("textblob", "Engine that scores sentiment.")
    toxicity_model: str = option(
        "unitary/toxic-bert", "Classifier of toxicity: directory or hub.", rare=True
    )
    topics: tuple[int, ...] = option(
        (),
        "Number of topics to try, repeatable; default 250, as the paper kept, from 2,500 texts on.",
    )
    topic_model: str | None = option(
        None, "Saved topic model to use in place of a new one.", rare=True
    )
    base_form: str | None = option(
        None, "Prompt form that the others are compared with.", rare=True
    )

    def __post_init__(self) -> None:
        """Refuse options that cannot be used, before any text is read."""
        Options.__post_init__(self)
        self.chosen()
        self.group_words()
        self.topic_settings()

    def hand_fields(self) -> tuple[str, ...]:
        """Return the fields that labels by hand may be of: factors, refusals, scores."""
        levels, _ = self.chosen()
        return *Options.hand_fields(self), OUTCOME, *(n for n in levels if n in MARKS)

    def group_values(self, strata: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
        """Return the values of strata and groups: those of prompts and word lists."""
        values = Options.group_values(self, strata)
        for words in map(lexicon, self.lexicons):
            values[words.attribute] = values.get(words.attribute, set()) | {*words.groups}
        return values

    def chosen(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the levels to measure, and the reason for each that is left out.

        Where none are named, these are all that are installed, but toxicity.

        Raises
        ------
        OptionError, UnknownNameError
            When a level or the engine is unknown.
        MissingExtraError
            When a level was asked for whose libraries are not installed.
        """
        lacking: dict[str, str] = {}
        for level, (extra, modules) in _NEEDS.items():
            if not all(find_spec(name) for name in modules):
                needed = " and ".join(modules)
                lacking[level] = f'needs {needed}: pip install "portrayal[{extra}]"'
        try:
            sentiment_settings(self.sentiment)
        except MissingExtraError as error:  # engines have needs of their own, and say them
            lacking[SENTIMENT] = str(error)
        # A level that was asked for is never left out in silence; a default one may be.
        for level in self.levels:
            if check_choice("levels", level, LEVELS) in lacking:
                raise MissingExtraError(f"the {level} level needs more: {lacking[level]}")
        left_out = lacking | {
            TOXICITY: "on request (--levels toxicity): its classifier takes some 400 MB"
        }
        if self.levels:
            left_out = {level: "not asked for" for level in LEVELS if level not in self.levels}
        return tuple(level for level in LEVELS if level not in left_out), left_out

    def group_words(self) -> dict[str, Any]:
        """Return the settings of `group_words.v2`."""
        return group_word_settings(self.lexicons, self.people, self.by_first_names)

    @property
    def by_first_names(self) -> bool:
        """Whether named people count by the race shares of the bearers of their first names."""
        check_choice("named_people", self.named_people, NAMED_PEOPLE)
        if self.named_people == AUTO:
            # A table of people is the paper's own way, and is not mixed with likelihoods unasked.
            return self.people is None and RACE_LEXICON in self.lexicons
        return self.named_people == FIRST_NAMES

    def topic_settings(self) -> TopicSettings:
        """Return the settings of the document level."""
        return TopicSettings(self.topic_model, self.topics, self.seed)


def annotations(_run: Run, options: NewsOptions) -> tuple[Annotation, ...]:
    """Return what is read from the texts and, alike, from the originals."""
    levels = options.chosen()[0]
    stages = [("group_words.v2", options.group_words())]
    if SENTIMENT in levels:
        stages.append(("sentiment.v1", sentiment_settings(options.sentiment)))
    if TOXICITY in levels:
        stages.append(("toxicity.v1", toxicity_settings(options.toxicity_model)))
    # Originals are read alike, or a change of instrument would read as one of the texts.
    return tuple(Annotation(*stage, reference) for stage in stages for reference in (False, True))


def fit(run: Run, options: NewsOptions, say: Say) -> str | None:
    """Fit the topic model, and say what is left out; returns the mark of the topics."""
    if options.by_first_names:
        say(f"race: people named by first and last name count {BY_FIRST_NAMES}")
    levels, left_out = options.chosen()
    for level, reason in left_out.items():
        say(f"left out: {level} level: {reason}")
    if DOCUMENT not in levels:
        return None
    fit_topics(run, options.topic_settings(), say)
    return str(topics_stage(run).note()["fingerprint"])


def tables(run: Run, options: NewsOptions) -> Tables:
    """Return what measures of pairs read, from a run with annotations and fitted topics."""
    levels, _ = options.chosen()
    paired = pair_texts(run, sentiment=SENTIMENT in levels, toxicity=TOXICITY in levels)
    paired = with_hand_scores(paired, run, options.hand_table())
    # Before levels are made: keys that do not match are the usual mistake.
    _check_keys(paired)
    if options.base_form is not None and options.base_form not in paired.forms:
        form_names = ", ".join(paired.forms)
        raise OptionError(f"no text has the form {options.base_form!r}; forms: {form_names}.")
    # Levels and measures of topics share one reading.
    topics = cache(lambda: read_topics(run, paired))

    def with_levels() -> Paired:
        names = {WORD: WORD, SENTIMENT: "sentence_sentiment", TOXICITY: "sentence_toxicity"}
        levels_read = text_levels(paired, [names[level] for level in levels if level in names])
        if DOCUMENT in levels:
            levels_read += document_levels(paired, topics())
        return paired.with_levels(levels_read)

    offered: dict[str, Callable[[], Any]] = {
        "paired": with_levels,
        "base_form": lambda: options.base_form,
        "hand_outcomes": lambda: hand_marks(run, options.hand_table(), OUTCOME, ()),
    }
    if DOCUMENT in levels:
        offered["topics"] = topics
    return Tables(options.scope("news", instruments=_instruments(run, options)), offered)


def _check_keys(paired: Paired) -> None:
    """Refuse texts none of which names a pair that has an original."""
    ours, theirs = (side.pair[side.pair >= 0] for side in (paired.generated, paired.reference))
    if np.isin(ours, theirs).any():
        return
    examples = [paired.pairs[side[0]] if len(side) else "" for side in (ours, theirs)]
    raise DataError(
        f"no text names an original: texts have keys such as {examples[0][:80]!r}, originals keys "
        f"such as {examples[1][:80]!r}. Name the column that both files share with --pair-by."
    )


def _instruments(run: Run, options: NewsOptions) -> dict[str, str]:
    """Return what the numbers rest on, and the levels that are missing with the reason."""
    levels, left_out = options.chosen()
    instruments = {"lexicons": ", ".join(Path(name).name for name in options.lexicons)}
    if options.people is not None:
        instruments["people"] = Path(options.people).name
    if options.by_first_names:
        instruments["named people"] = BY_FIRST_NAMES
    engines = {SENTIMENT: options.sentiment, TOXICITY: options.toxicity_model}
    instruments |= {level: engine for level, engine in engines.items() if level in levels}
    if DOCUMENT in levels:
        model, undefined = saved_topics(run)
        instruments["topics"] = str(undefined) if model is None else f"K = {model.n_topics}"
    reasons = {f"{level} level": f"left out: {reason}" for level, reason in left_out.items()}
    return instruments | reasons


STUDY = Study(
    name="news",
    **said_of(__package__),
    fields=FIELDS,
    prompts=lambda: (),
    options=NewsOptions,
    annotations=annotations,
    tables=tables,
    pair_field="pair",
    reference=True,
    fit=fit,
)
