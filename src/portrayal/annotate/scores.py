"""Scores: numbers of one whole text, and of the same text with the other person in it.

A *scorer* gives a text one number, such as its length, its sentiment, or the words of a theme among
100 words. Each also scores the exchanged text (`portrayal.annotate.exchange`), so that it is known
how far it reacts to the words of a person alone.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import portrayal.registry as registry
from portrayal.annotate.agency.rows import agency_settings
from portrayal.annotate.annotator import Annotator
from portrayal.annotate.exchange import NOTHING, Pairs, exchange_between, exchange_of, partners
from portrayal.annotate.sentences import sentences
from portrayal.annotate.sentiment import sentiment_of, sentiment_settings
from portrayal.annotate.toxicity import toxicity_settings
from portrayal.annotate.word_match import TOKEN, fold, variants
from portrayal.errors import UnknownNameError
from portrayal.reference import load_factor
from portrayal.reference.factors import ReferenceSource, WordSource
from portrayal.reference.lexicons import lexicon
from portrayal.reference.locales import load_locale
from portrayal.run.reading import read_prompts
from portrayal.types import FloatArray, IntArray
from portrayal.validate import check_choice

LENGTH, READABILITY, SENTIMENT, AGENCY, TOXICITY = (
    "length",
    "readability",
    "sentiment",
    "agency",
    "toxicity",
)
SCORERS = (LENGTH, READABILITY, SENTIMENT, AGENCY, TOXICITY)
PER = 100.0
"""Words that a theme's words are counted among."""


@dataclass(frozen=True)
class TextScore:
    """What a number of a text is.

    Attributes
    ----------
    name, unit
        What it is called, and what it counts ("words").
    exchanged
        Whether the exchanged text is scored as well; an agency classifier is not shown the words.
    """

    name: str
    unit: str
    exchanged: bool = True


@dataclass(frozen=True)
class Lists:
    """Words by theme, from lexicons and factors."""

    themes: tuple[str, ...]
    single: Mapping[str, tuple[int, ...]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], int], ...]]

    def phrases_in(self, words: Sequence[str]) -> list[int]:
        """Return the theme of each phrase of several words among these words of a sentence."""
        return [
            column
            for at, word in enumerate(words)
            for rest, column in self.phrases.get(word, ())
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest
        ]


class Runs(dict[str, int]):
    """Numbers of runs of characters without white space; what each of them holds is read once.

    Attributes
    ----------
    words
        Words of each run, as they are compared.
    rows
        Of each run its words, letters, words that name either side, whether one may open a phrase,
        and its words of each theme.
    """

    def __init__(self, lists: Lists, telling: Sequence[frozenset[str]]) -> None:
        super().__init__()
        self._lists, self._telling = lists, telling
        self.words: list[list[str]] = []
        self.rows: list[list[int]] = []

    def __missing__(self, run: str) -> int:
        words, lists = [*map(fold, TOKEN.findall(run))], self._lists
        themes = Counter(column for word in words for column in lists.single.get(word, ()))
        sides = (sum(word in side for word in words) for side in self._telling)
        opens = not lists.phrases.keys().isdisjoint(words)
        counts = (themes[column] for column in range(len(lists.themes)))
        self.rows.append([len(words), sum(map(len, words)), *sides, opens, *counts])
        self.words.append(words)
        self[run] = len(self)
        return self[run]

    def counts(self, runs: Sequence[Sequence[str]], text: IntArray, n: int) -> FloatArray:
        """Return the sums of `rows` over the sentences of n texts, shape (n, columns).

        `runs` are those of each sentence, and `text` the number of the text of each.
        """
        if len(self) > _REMEMBERED:
            self.clear()
            self.words.clear()
            self.rows.clear()
        length = np.fromiter(map(len, runs), np.int64, len(runs))
        code = np.fromiter(map(self.__getitem__, chain.from_iterable(runs)), np.int64, length.sum())
        of, width = np.repeat(text, length), _OPENS + 1 + len(self._lists.themes)
        table = np.array(self.rows, dtype=np.int64).reshape(len(self), width)
        found = np.zeros((n, width))
        for column, held in enumerate(table.T):
            at = np.flatnonzero(held[code])
            found[:, column] = np.bincount(of[at], held[code[at]], n)
        sentence = np.repeat(np.arange(len(runs)), length)
        for at in np.unique(sentence[table[code, _OPENS] > 0]).tolist():
            words = chain.from_iterable(self.words[self[run]] for run in runs[at])
            for theme in self._lists.phrases_in([*words]):
                found[text[at], _OPENS + 1 + theme] += 1.0
        return found


_REMEMBERED = 200_000
_OPENS = 4  # column of whether a run may open a phrase; those of themes follow


@cache
def lists_of(specs: tuple[str, ...]) -> Lists:
    """Return the words of lexicons (names or files) and of factors, by theme.

    Raises
    ------
    UnknownNameError, DataError
        Where a name is neither, or a file is no lexicon.
    """
    themes: dict[str, int] = {}
    single: dict[str, tuple[int, ...]] = {}
    phrases: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {}
    for spec in specs:
        for label, listed in _words_of(spec):
            column = themes.setdefault(label, len(themes))
            for form in {form for phrase in listed for form in variants(phrase)}:
                first, *rest = form
                if rest:
                    phrases[first] = (*phrases.get(first, ()), (tuple(rest), column))
                elif column not in single.get(first, ()):
                    single[first] = (*single.get(first, ()), column)
    return Lists(tuple(themes), single, phrases)


def _words_of(spec: str) -> Iterable[tuple[str, Iterable[str]]]:
    """Themes of a lexicon, or groups of a factor that has words, with their words."""
    try:
        return tuple(lexicon(spec).words_of.items())
    except UnknownNameError:
        if Path(spec).suffix:
            raise
    factor = load_factor(spec)
    sources = [s for s in factor.sources if isinstance(s, (WordSource, ReferenceSource))]
    if not sources:
        raise UnknownNameError(f"the factor {spec!r} is not seen by words, so none can be counted.")
    return tuple((factor.labels[group], words) for group, words in sources[0].words.items())


def score_settings(
    scorers: Sequence[str],
    *,
    sentiment: str,
    lexicons: Sequence[str],
    classifier: str,
    toxicity_model: str,
    locale: str,
    exchange: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the settings of `text_scores.v1`, checked.

    Parameters
    ----------
    scorers
        Some of `SCORERS`.
    sentiment, classifier, toxicity_model
        What scores sentiment, agency and toxicity.
    lexicons
        Registered lexicons, files, or factors that have words.
    locale
        Whose words are exchanged.
    exchange
        The strata `group` of the person and `names`, where `words` of the groups are from, and
        those of each; the locale's gendered words alone without it.

    Raises
    ------
    OptionError, UnknownNameError, DataError, MissingExtraError
        Where one of them cannot be used.
    """
    chosen = [check_choice("scorers", name, SCORERS) for name in dict.fromkeys(scorers)]
    lists = lists_of(tuple(lexicons))
    settings: dict[str, Any] = {
        "scorers": chosen,
        "lexicons": list(lexicons),
        "words": sorted(f"{w}:{c}" for w, c in lists.single.items()),
        "locale": load_locale(locale).mark(),
        "exchange": dict(exchange or {}),
    }
    if SENTIMENT in chosen:
        settings["sentiment"] = sentiment_settings(sentiment)["engine"]
    if AGENCY in chosen:
        settings["agency"] = agency_settings(classifier)
    if TOXICITY in chosen:
        settings["toxicity"] = toxicity_settings(toxicity_model)
    return settings


_UNITS = {
    LENGTH: TextScore(LENGTH, "words"),
    READABILITY: TextScore(READABILITY, "grades"),
    SENTIMENT: TextScore(SENTIMENT, "points of −1 to 1"),
    AGENCY: TextScore(AGENCY, "points of −1 to 1", exchanged=False),
    TOXICITY: TextScore(TOXICITY, "points of 0 to 1"),
}


def scores_of(settings: Mapping[str, Any]) -> tuple[TextScore, ...]:
    """Return what the numbers of an annotated text are, in their order."""
    themes = lists_of(tuple(settings["lexicons"])).themes
    words = (TextScore(theme, f"words in {PER:.0f}") for theme in themes)
    return (*(_UNITS[name] for name in settings["scorers"]), *words)


def _setup(settings: Mapping[str, Any]) -> Callable[..., list[Any]]:
    scorers, lists = settings["scorers"], lists_of(tuple(settings["lexicons"]))
    exchange = exchange_of(settings["locale"]["locale"])
    known = Runs(lists, exchange.telling)
    polarity = sentiment_of(settings["sentiment"]) if SENTIMENT in scorers else None
    same = getattr(polarity, "same", lambda *_: False)
    given, locale = settings["exchange"], settings["locale"]["locale"]
    partner: Mapping[tuple[str, str], _Partner] = {}
    if given:
        prompts = Path(settings["run"]) / "prompts.parquet"
        partner = _partners(prompts, prompts.stat().st_mtime_ns, given["group"], json.dumps(given))

    def work(rows: Sequence[Mapping[str, Any]], strata: Sequence[Mapping[str, str]]) -> list[Any]:
        # Runs of each sentence, as it is and exchanged, and the text that it is of.
        sides: tuple[list[list[str]], list[list[str]]] = ([], [])
        of: list[int] = []
        heard: list[list[float]] = [[], []]
        failed: dict[int, Exception] = {}
        weights: list[float] = []
        for number, (row, about) in enumerate(zip(rows, strata, strict=True)):
            other = partner.get((about.get("pair", ""), about.get(given.get("group", ""), "")))
            names, weight = ((), 0.5) if other is None else (other.names, other.weight)
            change = exchange if other is None else exchange_between(locale, other.words)
            weights.append(0.0)
            text = row["text"]
            pieces = [text[start:end] for start, end in sentences(text)] or [text]
            of += [number] * len(pieces)
            for piece in pieces:
                own, twin = piece.split(), change.runs(piece, names)
                if own != twin:
                    weights[number] = weight
                value = after = 0.0
                if polarity is not None:
                    try:
                        value = polarity(piece)
                        known_same = own == twin or same(own, twin)
                        after = value if known_same else polarity(" ".join(twin))
                    except Exception as failure:  # stands in the place of its row
                        failed[number] = failure
                for runs, each, side in zip((own, twin), (value, after), (0, 1), strict=True):
                    sides[side].append(runs)
                    heard[side].append(each)
        text, n = np.array(of, dtype=np.int64), len(rows)
        twins = [""] * n
        if TOXICITY in scorers:
            for number, runs in zip(of, sides[1], strict=True):
                twins[number] += " ".join(["", *runs])
        models = _by_models(settings, rows, twins, strata)
        n_sentences, scores = np.bincount(text, minlength=n), []
        for side, runs in enumerate(sides):
            held = known.counts(runs, text, n)
            if not side:
                gendered = held[:, 2:_OPENS].astype(np.int64).tolist()
            numbers = {name: np.array(found[side]) for name, found in models.items()}
            numbers[SENTIMENT] = np.bincount(text, heard[side], n) / n_sentences
            scores.append(_numbers(held, n_sentences, scorers, numbers))
        columns = ("scores", "exchanged", "gendered", "weight")
        made = zip(*scores, gendered, weights, strict=True)
        return [failed.get(i, dict(zip(columns, row, strict=True))) for i, row in enumerate(made)]

    return work


def _numbers(
    held: FloatArray, n_sentences: IntArray, scorers: Sequence[str], known: Mapping[str, FloatArray]
) -> list[list[float]]:
    """The scores of texts from the sums over their runs, and what is known of them."""
    words, letters = held[:, 0], held[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        index = 4.71 * letters / words + 0.5 * words / n_sentences - 21.43
    found = {LENGTH: words, READABILITY: np.where(words > 0, index, math.nan), **known}
    shares = PER * held[:, _OPENS + 1 :] / np.maximum(words, 1.0)[:, None]
    made: list[list[float]] = np.column_stack([*(found[name] for name in scorers), shares]).tolist()
    return made


def _by_models(
    settings: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    twins: Sequence[str],
    strata: Sequence[Mapping[str, str]],
) -> dict[str, tuple[list[float], list[float]]]:
    """What classifiers say of texts and of exchanged ones, by scorer."""

    def read(annotator: str, key: str, given: Sequence[Mapping[str, Any]]) -> list[Any]:
        setup = registry.component("annotators", annotator).setup  # type: ignore[attr-defined]
        return list(setup(settings[key])(given, strata))

    found: dict[str, tuple[list[float], list[float]]] = {}
    if AGENCY in settings["scorers"]:
        gaps = [_gap(row["agentic"]) for row in read("agency.v1", AGENCY, rows)]
        found[AGENCY] = gaps, gaps
    if TOXICITY in settings["scorers"]:
        other = [{**row, "text": twin} for row, twin in zip(rows, twins, strict=True)]
        own, exchanged = (
            [float(row["whole"]) for row in read("toxicity.v1", TOXICITY, given)]
            for given in (rows, other)
        )
        found[TOXICITY] = own, exchanged
    return found


def _gap(agentic: Sequence[float]) -> float:
    """Agentic less communal sentences among those that the classifier can tell."""
    told = [p for p in agentic if not math.isnan(p)]
    return 2.0 * sum(p >= 0.5 for p in told) / len(told) - 1.0 if told else math.nan


class _Partner(NamedTuple):
    """What stands in place of a person's words, names too, and the `weight` of the other text.

    The weight is a half where either wording has its words; where only one of the two has words
    that are left out, its text counts as exchanged and the other's as it is.
    """

    words: Pairs
    names: Pairs
    weight: float


_ELSEWHERE = frozenset(
    ("pair", "source", "name", "names", "template", "wording", "system", "model")
)
_LONGEST = 60  # characters of a value that may be looked for in texts


@lru_cache(maxsize=2)
def _partners(prompts: Path, _: int, group: str, given: str) -> dict[tuple[str, str], _Partner]:
    """What is exchanged in a text, by its pair and group: with the first other half."""
    words, names = json.loads(given)["words"], json.loads(given)["names"]
    of_pair: dict[str, dict[str, Mapping[str, str]]] = {}
    for strata in read_prompts(prompts).values():
        of_pair.setdefault(strata.get("pair", ""), {}).setdefault(strata.get(group, ""), strata)
    found, same = {}, dict[Pairs, Pairs]()  # equal lists of words are kept once
    for pair, halves in of_pair.items():
        for own, here in halves.items():
            others = sorted((o for o in halves if o != own), key=lambda o: o not in words)
            if not others:
                continue
            there = halves[others[0]]
            pairs = [*zip(words.get(own, ()), words.get(others[0], ()), strict=False)]
            # What the two requests differ in, where it is more than a letter and no text of its own
            for column in sorted({*here, *there} - _ELSEWHERE):
                sides = [side.get(column, "").strip(" ,.;:") for side in (here, there)]
                one, two = ("" if each.lower() in NOTHING else each for each in sides)
                known = (one, two) in pairs or (two, one) in pairs
                if one != two and not known and all(len(x) != 1 for x in sides):
                    pairs[:0] = [(one, two)] * (max(map(len, sides)) <= _LONGEST)
            lost, gained = (any(not pair[side] for pair in pairs) for side in (1, 0))
            weight = 0.5 if lost == gained else float(lost)
            called = partners([here.get(names, "")], [there.get(names, "")])
            listed: Pairs = tuple((one, two) for one, two in pairs)
            found[pair, own] = _Partner(same.setdefault(listed, listed), called, weight)
    return found


def _run(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
    settings = score_settings(
        (LENGTH, READABILITY), sentiment="", lexicons=("themes",), classifier="", toxicity_model="",
        locale="en-US",
    )  # fmt: skip
    made: list[dict[str, Any]] = _setup(settings)([row], [strata])
    return made[0]


TEXT_SCORES = Annotator(
    name="text_scores.v1",
    summary="Numbers of a text: length, readability, sentiment, agency, and words of themes, also "
    "with the words of the other person in place of this one's.",
    reads="texts",
    unit="text",
    range="as of each scorer: words, school grades, −1 to 1, words in 100",
    undefined_when="a text that was refused, empty or failed has no scores; agency is NaN where no "
    "sentence can be told",
    equation="length = words; readability = 4.71 letters / words + .5 words / sentences − 21.43; "
    "sentiment = mean polarity of the sentences; a theme = 100 · its words / words",
    source="Senter & Smith 1967 (automated readability index); Hutto & Gilbert 2014 (VADER); Wan & "
    "Chang 2024, Section 3.3 (ratio gap); Rickman 2025 (themes)",
    run=_run,
    schema=pa.schema(
        [
            pa.field("scores", pa.list_(pa.float64())),
            pa.field("exchanged", pa.list_(pa.float64())),
            pa.field("gendered", pa.list_(pa.int32())),
            pa.field("weight", pa.float64()),
        ]
    ),
    accuracy="that of each scorer; how far one reacts to the words of a person alone is measured "
    "on the texts themselves and printed as instrument bias",
    setup=_setup,
    per_shard=True,
    in_run=True,
    title="Scores of texts",
)
