"""Scores: numbers of one whole text with its names hidden, and of the same text of another person.

A *scorer* gives a text one number, such as its length, its sentiment, or the words of a theme among
100 words. Each scores the text with its names hidden (`portrayal.annotate.names`), and this one
exchanged (`portrayal.annotate.exchange`), so that it is known how far it reacts to the words of a
person alone.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa

import portrayal.registry as registry
from portrayal.annotate.agency.rows import agency_settings
from portrayal.annotate.annotator import PROMPT, SPAN, UNREAD, Annotator, description
from portrayal.annotate.exchange import NOTHING, Pairs, exchange_between, exchange_of
from portrayal.annotate.names import Spans, asked_apart, hidden, hidden_spans
from portrayal.annotate.sentences import sentences
from portrayal.annotate.sentiment import sentiment_of, sentiment_settings
from portrayal.annotate.word_match import TOKEN, fold, variants
from portrayal.reference.lexicons import lexicon, lexicons
from portrayal.reference.locales import load_locale
from portrayal.run.directory import read_prompts
from portrayal.validate import check_choice

LENGTH, READABILITY, SENTIMENT, AGENCY = SCORERS = ("length", "readability", "sentiment", "agency")
TOXICITY = "toxicity"
SIDES = ("written", "masked", "exchanged")
"""Columns of the scores of a text as written, with what is hidden, and exchanged beside that."""
HIDDEN = "hidden"
"""Column of where a text has names, and words in which the requests differ."""
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
    column
        What it is if a column of the file gives it: a "number", or the "share" of texts with yes.
    """

    name: str
    unit: str
    exchanged: bool = True
    column: Literal["", "number", "share"] = ""


@dataclass(frozen=True)
class Lists:
    """Words by theme, from lexicons; `english` are the themes of those that ship."""

    themes: tuple[str, ...]
    english: frozenset[int]
    single: Mapping[str, tuple[int, ...]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], int], ...]]

    def counts(self, words: Sequence[str]) -> Counter[int]:
        """Return how often the words of a sentence, as `fold` writes them, are of each theme."""
        counts = Counter(column for word in words for column in self.single.get(word, ()))
        for position, word in enumerate(words):
            for following, column in self.phrases.get(word, ()):
                end = position + 1 + len(following)
                counts[column] += tuple(words[position + 1 : end]) == following
        return counts


@cache
def lists_of(specs: tuple[str, ...]) -> Lists:
    """Return the words of lexicons (names or files), by theme.

    Raises
    ------
    UnknownNameError, DataError
        Where there is no such lexicon, or a file is none.
    """
    themes: dict[str, int] = {}
    single: dict[str, tuple[int, ...]] = {}
    phrases: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {}
    english: set[int] = set()
    for spec in specs:
        for label, theme_words in lexicon(spec).words_of.items():
            column = themes.setdefault(label, len(themes))
            english |= {column} if spec in lexicons() else set()
            # Forms of all words of a theme at once: each counts once
            for form in sorted({form for phrase in theme_words for form in variants(phrase)}):
                first, *following = form
                if following:
                    phrases[first] = (*phrases.get(first, ()), (tuple(following), column))
                elif column not in single.get(first, ()):
                    single[first] = (*single.get(first, ()), column)
    return Lists(tuple(themes), frozenset(english), single, phrases)


def score_settings(
    scorers: Sequence[str],
    *,
    sentiment: str,
    lexicons: Sequence[str],
    classifier: str,
    locale: str,
    exchange: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the settings of `text_scores.v2`, checked.

    Parameters
    ----------
    scorers
        Some of `SCORERS`.
    sentiment, classifier
        What scores sentiment and agency.
    lexicons
        Registered lexicons, or files.
    locale
        Whose words are exchanged.
    exchange
        The strata `group` of the person and `names`, where `words` of the groups are from, and
        those of each; the locale's gendered words alone without it, and names of nobody known.

    Raises
    ------
    OptionError, UnknownNameError, DataError, MissingExtraError
        Where one of them cannot be used.
    """
    own_scorers = [check_choice("scorers", name, SCORERS) for name in dict.fromkeys(scorers)]
    lists = lists_of(tuple(lexicons))
    settings: dict[str, Any] = {
        "scorers": own_scorers,
        "lexicons": list(lexicons),
        # The words themselves, so that an edited lexicon is counted anew
        "words": sorted(f"{w}:{c}" for w, c in lists.single.items()),
        "locale": load_locale(locale).mark(),
        "exchange": dict(exchange or {}),
    }
    if SENTIMENT in own_scorers:
        settings["sentiment"] = sentiment_settings(sentiment)["engine"]
    if AGENCY in own_scorers:
        settings["agency"] = agency_settings(classifier)
    return settings


_UNITS = {
    LENGTH: TextScore(LENGTH, "words"),
    READABILITY: TextScore(READABILITY, "grades"),
    SENTIMENT: TextScore(SENTIMENT, "points of −1 to 1"),
    AGENCY: TextScore(AGENCY, "points of −1 to 1", exchanged=False),
}


def scores_of(settings: Mapping[str, Any]) -> tuple[TextScore, ...]:
    """Return what the numbers of an annotated text are, in their order."""
    themes = lists_of(tuple(settings["lexicons"])).themes
    return tuple(map(score_of, (*settings["scorers"], *themes)))


def score_of(name: str) -> TextScore:
    """Return what a score is: one of a text's own, or the words of a theme.

    >>> score_of("readability").unit, score_of("warmth").unit
    ('grades', 'words in 100')
    """
    return _UNITS.get(name) or TextScore(name, f"words in {PER:.0f}")


@dataclass
class _Wording:
    """What is counted in a text in one wording, sentence by sentence."""

    pieces: list[str] = field(default_factory=list)
    words: int = 0
    letters: int = 0
    polarity: float = 0.0
    themes: Counter[int] = field(default_factory=Counter)

    def add(self, piece: str, polarity: float, lists: Lists) -> None:
        words = [*map(fold, TOKEN.findall(piece))]
        self.pieces.append(piece)
        self.words += len(words)
        self.letters += sum(map(len, words))
        self.polarity += polarity
        self.themes += lists.counts(words)

    def numbers(
        self, scorers: Sequence[str], agency: float, lists: Lists, *, english: bool
    ) -> list[float]:
        """Return the scores of the text, of which `agency` is one, and its themes.

        Where it is not `english`, what reads English words is NaN: all but its length, and themes
        of lexicons of the user's own.
        """
        index = math.nan
        if self.words:  # automated readability index (Senter and Smith 1967)
            index = 4.71 * self.letters / self.words + 0.5 * self.words / len(self.pieces) - 21.43
        sentiment = self.polarity / len(self.pieces)
        scores = dict(zip(SCORERS, (float(self.words), index, sentiment, agency), strict=True))
        # Per 100 words, as longer texts hold more of every theme
        shares = [PER * self.themes[k] / max(self.words, 1) for k in range(len(lists.themes))]
        if not english:
            scores = dict.fromkeys(SCORERS, math.nan) | {LENGTH: scores[LENGTH]}
            shares = [math.nan if k in lists.english else x for k, x in enumerate(shares)]
        return [*(scores[name] for name in scorers), *shares]


def _setup(settings: Mapping[str, Any]) -> Callable[..., list[Any]]:
    scorers, lists = settings["scorers"], lists_of(tuple(settings["lexicons"]))
    locale = settings["locale"]["locale"]
    exchange = exchange_of(locale)
    engine = sentiment_of(settings["sentiment"]) if SENTIMENT in scorers else None
    # Most sentences are the same in every wording
    polarity: Callable[[str], float] = lru_cache(256)(engine or (lambda _: 0.0))
    exchanging = settings["exchange"]
    partner: Mapping[tuple[str, ...], _Partner] = {}
    if exchanging:
        prompts = Path(settings["run"]) / "prompts.parquet"
        mtime = prompts.stat().st_mtime_ns
        partner = _partners(prompts, mtime, exchanging["group"], locale, json.dumps(exchanging))

    def wordings(text: str, other: _Partner) -> tuple[_Wording, _Wording, _Wording, float, Spans]:
        # Without a known partner the gendered words of the locale are exchanged
        change = exchange if other is _NOBODY else exchange_between(locale, other.words)
        spans, weight = hidden_spans(text, locale, other.names, other.prompt_words), 0.0
        written, masked, twin = _Wording(), _Wording(), _Wording()
        for piece in _pieces(hidden(text, spans)):
            value = after = polarity(piece)
            exchanged = change(piece)
            if exchanged != piece:
                after, weight = polarity(" ".join(exchanged.split())), other.weight
            masked.add(piece, value, lists)
            twin.add(exchanged, after, lists)
        for piece in _pieces(text) if spans else ():
            written.add(piece, polarity(piece), lists)
        return written if spans else masked, masked, twin, weight, spans

    def work(rows: Sequence[Mapping[str, Any]], strata: Sequence[Mapping[str, str]]) -> list[Any]:
        results: list[Any] = []
        for row, about in zip(rows, strata, strict=True):
            alike = (about.get(name, "") for name in exchanging.get("alike", ()))
            key = about.get("pair", ""), *alike, about.get(exchanging.get("group", ""), "")
            other = partner.get(key, _NOBODY)
            if not key[0] and about.get(exchanging.get("names", "")):  # nobody shares a block
                other = other._replace(names=frozenset((about[exchanging["names"]],)))
            try:
                results.append(wordings(row["text"], other))
            except Exception as failure:  # stands in the place of its row
                results.append(failure)
        read = [i for i, result in enumerate(results) if not isinstance(result, Exception)]
        gaps = _agency_gaps(settings, [rows[i] for i in read], [strata[i] for i in read])
        for i, gap in zip(read, gaps, strict=True):
            *sides, weight, spans = results[i]
            english = not rows[i].get(UNREAD)
            scores = [side.numbers(scorers, gap, lists, english=english) for side in sides]
            words = Counter(map(fold, TOKEN.findall(rows[i]["text"])))
            gendered = [sum(words[word] for word in side) for side in exchange.signs]
            places = [{"start": start, "end": end} for start, end in spans]
            columns = (*SIDES, "gendered", "weight", HIDDEN)
            results[i] = dict(zip(columns, (*scores, gendered, weight, places), strict=True))
        return results

    return work


def _pieces(text: str) -> list[str]:
    """The sentences of a text; the text where it has none."""
    return [text[start:end] for start, end in sentences(text)] or [text]


def _agency_gaps(
    settings: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    strata: Sequence[Mapping[str, str]],
) -> list[float]:
    """Agentic less communal sentences of each text; NaN where agency is not scored.

    The classifier masks names and gendered words itself, so that every wording reads alike.
    """
    if AGENCY not in settings["scorers"]:
        return [math.nan] * len(rows)
    setup = registry.component("annotators", "agency.v1").setup  # type: ignore[attr-defined]
    gaps = []
    for row in setup(settings[AGENCY])(rows, strata):
        # Sentences of which the classifier cannot tell count neither way
        p = [p for p in row["agentic"] if not math.isnan(p)]
        gaps.append(2.0 * sum(x >= 0.5 for x in p) / len(p) - 1.0 if p else math.nan)
    return gaps


class _Partner(NamedTuple):
    """What stands in place of a person's words, what is hidden, and the `weight` of the other text.

    Hidden are `names` and the words that the requests of the block differ in (`prompt_words`). The
    weight is a half where either wording has its words; where only one of the two has words that
    are left out, its text counts as exchanged and the other's as it is.
    """

    words: Pairs = ()
    names: frozenset[str] = frozenset()
    prompt_words: frozenset[str] = frozenset()
    weight: float = 0.5


_NOBODY = _Partner()
_ELSEWHERE = frozenset(
    ("pair", "source", "name", "names", "template", "wording", "system", "model", PROMPT)
)
_LONGEST = 60  # characters of a value that may be looked for in texts


@lru_cache(maxsize=2)
def _partners(
    prompts: Path, _: int, group: str, locale: str, exchange_json: str
) -> dict[tuple[str, ...], _Partner]:
    """What is exchanged and hidden in a text, by its pair and group: with the first other half.

    Between the two come the columns in which the two texts are alike.
    """
    exchanging = json.loads(exchange_json)
    words, names, alike = exchanging["words"], exchanging["names"], exchanging.get("alike", ())
    of_pair: dict[str, list[Mapping[str, str]]] = {}
    for strata in read_prompts(prompts, words=PROMPT).values():
        pair = strata.get("pair", "")
        # Texts without a pair have nothing in common but the words of their groups
        of_groups: Mapping[str, str] = {name: strata.get(name, "") for name in (group, *alike)}
        of_pair.setdefault(pair, []).append(strata if pair else of_groups)
    partners = {}
    for pair, block in of_pair.items():
        requests = {" ".join((s.get("system", ""), s.get(PROMPT, ""))).strip() for s in block}
        known_names = frozenset(filter(None, (strata.get(names) for strata in block)))
        # One half for each group of the person, among those that are alike otherwise
        by_rest: dict[tuple[str, ...], dict[str, Mapping[str, str]]] = {}
        for request in block:
            alike_key = tuple(request.get(name, "") for name in alike)
            by_rest.setdefault(alike_key, {})[request.get(group, "")] = request
        cells = [(alike_key, name) for alike_key, halves in by_rest.items() for name in halves]
        for alike_key, half_group in cells:
            halves = by_rest[alike_key]
            half = halves[half_group]
            other_groups = sorted(
                (o for o in halves if o != half_group), key=lambda o: o not in words
            )
            pairs: list[tuple[str, str]] = []
            if other_groups:
                pairs = [
                    *zip(words.get(half_group, ()), words.get(other_groups[0], ()), strict=False)
                ]
                # Before the groups' own words: of several twins the first is put in
                pairs[:0] = _column_pairs(half, halves[other_groups[0]], pairs)
            # Words without a twin are left out, which only one of the two texts can lose
            lost, gained = (any(not pair[side] for pair in pairs) for side in (1, 0))
            weight = 0.5 if lost == gained else float(lost)
            pair_words: Pairs = tuple(pairs)
            request_names, asked_words = _asked(tuple(sorted(requests)), locale, pair_words)
            hidden_names = known_names | request_names
            partners[pair, *alike_key, half_group] = _Partner(
                pair_words, hidden_names, asked_words, weight
            )
    return partners


def _column_pairs(
    half: Mapping[str, str], other_half: Mapping[str, str], known_pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """What the columns of two requests differ in, where it is more than a letter and no text."""
    pairs: list[tuple[str, str]] = []
    for column in sorted({*half, *other_half} - _ELSEWHERE, reverse=True):
        sides = [side.get(column, "").strip(" ,.;:") for side in (half, other_half)]
        one, two = ("" if side.lower() in NOTHING else side for side in sides)
        is_known = not {(one, two), (two, one)}.isdisjoint((*known_pairs, *pairs))
        if one != two and not is_known and all(len(side) != 1 for side in sides):
            pairs += [(one, two)] * (max(map(len, sides)) <= _LONGEST)
    return pairs


@lru_cache(maxsize=4096)
def _asked(
    requests: tuple[str, ...], locale: str, exchanged: Pairs
) -> tuple[frozenset[str], frozenset[str]]:
    """Names and words that the requests of a block differ in, but words that are exchanged."""
    # One request: nothing differs
    if len(requests) < 2:
        return frozenset(), frozenset()
    idle = {fold(word) for pair in exchanged for side in pair for word in TOKEN.findall(side)}
    return asked_apart(requests, locale, idle)


TEXT_SCORES = Annotator(
    **description("text_scores.v2"),
    schema=pa.schema(
        [
            *(pa.field(side, pa.list_(pa.float64())) for side in SIDES),
            pa.field("gendered", pa.list_(pa.int32())),
            pa.field("weight", pa.float64()),
            pa.field(HIDDEN, pa.list_(SPAN)),
        ]
    ),
    setup=_setup,
    per_shard=True,
    in_run=True,
)
