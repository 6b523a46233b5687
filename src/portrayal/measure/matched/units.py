"""Units: what the pairs of a run were made from, which are independent of each other.

A column says it, or the names of the pairs do ("note7-100" and "note7-300" are of "note7"). Pairs
of which a model wrote one and the same text, but for the words of the person, are of one unit too,
whether or not a column says so, and so are pairs with the same requests.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from portrayal.annotate.exchange import exchange_of
from portrayal.annotate.names import hidden
from portrayal.annotate.scores import HIDDEN
from portrayal.annotate.word_match import TOKEN, fold
from portrayal.collect.tables import UNNAMED
from portrayal.records import FEW_PROMPTS
from portrayal.run.directory import Run, read_prompts, read_shards
from portrayal.run.files import Stage
from portrayal.shown import counted

PAIR, SOURCE = "pair", "source"
FEWEST_WORDS = 10
"""Words from which on two texts are the same because their source is, and not by chance."""
STOCK_SHARE, STOCK_PAIRS = 0.1, 10
"""A text in more pairs than either is what a model says whatever it is asked: it joins nothing."""
MOST_ENDINGS = 20
"""Endings that names of pairs have at most beside the name of their source."""
_ENDING = re.compile(r"(.*[^\W_].*?)[-_./:| ]+([^-_./:| ]+)")
_SUFFIX = re.compile(r"[ _-]*(?:id|name|number|no|text)$", re.IGNORECASE)


@dataclass(frozen=True)
class PairUnits:
    """The independent unit of each pair.

    Attributes
    ----------
    noun
        What a unit is called: "pair", "source", or as its column is ("note").
    of_pair
        Model and name of a pair → name of its unit.
    lines
        How units were recognised where no column says it, and which pairs are one.
    """

    noun: str
    of_pair: Mapping[tuple[str, str], str]
    lines: tuple[str, ...]


def units_of(run: Run, annotated: Stage, source: str, locale: str) -> PairUnits:
    """Return the units of the pairs of a run.

    Parameters
    ----------
    run, annotated
        The run, and the scores of its texts, which say where names stand in them.
    source
        Stratum of what pairs were made from.
    locale
        Whose words of a person count as one.
    """
    # In the key of the cache: the same folder may hold other texts later
    state = str(run.texts.note()), str(annotated.note())
    return _units_of(run, annotated, source, locale, state)


@lru_cache(maxsize=2)
def _units_of(
    run: Run, annotated: Stage, source: str, locale: str, _: tuple[str, str]
) -> PairUnits:
    prompts = read_prompts(run.prompts_path, words="+prompt")
    pairs = {about[PAIR] for about in prompts.values() if about.get(PAIR)}
    column, unit = _by_column(prompts.values(), source)
    noun, lines = PAIR, []
    # The user's word goes before anything that is recognised
    if source == PAIR:
        unit = {}
    elif unit:
        noun = noun_of(run.texts.note().get("mapping", {}).get(column, column))
    elif unit := _by_names(pairs):
        noun = SOURCE
        pair = min(unit)
        lines.append(
            f"{counted(len(pairs), PAIR)} of {counted(len({*unit.values()}), noun)}, which their "
            f"names begin with ({pair!r} is of {unit[pair]!r}); --source {PAIR} makes each pair a "
            "unit"
        )
    # A pair of which no source is known is a unit of its own.
    unit = {pair: pair for pair in sorted(pairs)} | unit
    by_request: dict[frozenset[str], set[str]] = defaultdict(set)
    requests: dict[str, set[str]] = defaultdict(set)
    for about in prompts.values():
        if about.get(PAIR) and about["+prompt"].strip():
            # The same words under another system prompt are another request.
            request = f"{about.get('system', '')}\n{about['+prompt']}"
            requests[about[PAIR]].add(" ".join(request.split()))
    for pair, halves in requests.items():
        if len(halves) > 1:  # a request alone is no pair to compare
            by_request[frozenset(halves)].add(pair)
    of_pair: dict[tuple[str, str], str] = {}
    for model, (n_texts, texts) in sorted(_pairs_by_text(run, annotated, prompts, locale).items()):
        # A text in very many pairs is a stock answer, and no sign of a common source.
        most = max(STOCK_SHARE * len(n_texts), STOCK_PAIRS)
        repeated = _repeated([same for same in texts if 1 < len(same) <= most], n_texts)
        alike = [*repeated, *(same & n_texts.keys() for same in by_request.values())]
        joined = _joined({unit[p] for p in n_texts}, [{unit[p] for p in same} for same in alike])
        of_pair |= {(model, pair): joined[unit[pair]] for pair in n_texts}
        before, after = len(joined), len({*joined.values()})
        if after < before:
            pairs_alike = {pair for same in alike if len(same) > 1 for pair in same}
            reason = "have the requests of another one"
            if repeated:
                reason = "share a text with another one, word for word but for the person"
            prefix = "" if model == UNNAMED else f"{model}: "
            lines.append(
                f"{prefix}{counted(len(pairs_alike), PAIR)} {reason}; such pairs are one unit: "
                f"{after:,} in place of {counted(before, noun)}"
            )
    return PairUnits(noun, of_pair, tuple(lines))


def _repeated(texts: Iterable[set[str]], n_texts: Mapping[str, int]) -> list[set[str]]:
    """Pairs that share a text, or half of the answers to one of their requests.

    Of many answers to a request one may by chance be that to another.
    """
    # Each pair is joined with the first of its text alone; chains of these reach all others.
    shared = Counter((min(same), pair) for same in texts for pair in sorted(same - {min(same)}))
    return [{*two} for two, n in shared.items() if 4 * n >= min(n_texts[pair] for pair in two)]


def noun_of(column: str) -> str:
    """Return what the values of a column are called: "note" of "note_id"; or else "source".

    >>> noun_of("Note_ID"), noun_of("professor_name"), noun_of("Quelle 2")
    ('note', 'professor', 'source')
    """
    noun = _SUFFIX.sub("", column.strip()).lower()
    return noun if re.fullmatch(r"[a-z]+[a-rt-xz]", noun) else SOURCE


def _by_column(prompts: Iterable[Mapping[str, str]], source: str) -> tuple[str, dict[str, str]]:
    """The stratum that says what pairs were made from, and its value for each pair, where it does.

    Where nobody asks for one, a column of one value says nothing; a name that both halves of every
    pair have is of what they are about, not of the person in which they differ.
    """
    values: dict[str, dict[str, set[str]]] = {source: {}, "name": {}}
    n_pairs = len({about[PAIR] for about in prompts if about.get(PAIR)})
    for about in prompts:
        for name, by_pair in values.items():
            if about.get(PAIR) and about.get(name):
                by_pair.setdefault(about[PAIR], set()).add(about[name])
    for name, by_pair in values.items():
        value_of = {pair: min(labels) for pair, labels in by_pair.items()}
        n_values = len({*value_of.values()})
        # A name stands for a source only if both halves have it; that of the person differs.
        one_each = all(len(labels) == 1 for labels in by_pair.values()) and 1 < n_values < n_pairs
        if value_of and (one_each if name == "name" else n_values > 1 or source != SOURCE):
            return name, value_of
    return source, {}


def _by_names(pairs: Iterable[str]) -> dict[str, str]:
    """Name of the source of each pair, where names are those of sources with a few endings.

    That is where most sources have two pairs or more, and sources have the same endings.
    """
    parts = {pair: match for pair in pairs if (match := _ENDING.fullmatch(pair))}
    if len(parts) < len({*pairs}):
        return {}
    sources: dict[str, set[str]] = defaultdict(set)
    endings: dict[str, set[str]] = defaultdict(set)
    for match in parts.values():
        sources[match[1]].add(match[2])
        endings[match[2]].add(match[1])
    several = sum(len(ends) > 1 for ends in sources.values())
    shared = sum(len(names) > 1 for names in endings.values())
    regular = (
        len(sources) >= FEW_PROMPTS
        and len(endings) <= MOST_ENDINGS
        and 2 * several > len(sources)
        and 2 * shared > len(endings)
    )
    return {pair: match[1] for pair, match in parts.items()} if regular else {}


def _pairs_by_text(
    run: Run, annotated: Stage, prompts: Mapping[str, Mapping[str, str]], locale: str
) -> dict[str, tuple[Counter[str], list[set[str]]]]:
    """Of each model the number of texts of its pairs, and the pairs of each longer text.

    Names are hidden and words of a person are one, so that both halves of a pair may be that text.
    """
    neutral = exchange_of(locale).neutral
    by_model: dict[str, tuple[Counter[str], dict[bytes, set[str]]]] = {}
    for texts, scores in read_shards(
        run.texts, ["prompt_id", "model", "outcome", "text"], (annotated, [HIDDEN])
    ):
        for row, places in zip(texts.to_pylist(), scores[HIDDEN].to_pylist(), strict=True):
            pair = prompts[row["prompt_id"]].get(PAIR)
            if not pair:
                continue
            n_texts, by_text = by_model.setdefault(row["model"], (Counter(), defaultdict(set)))
            n_texts[pair] += 1
            spans = [(place["start"], place["end"]) for place in places or ()]
            words = [*map(fold, TOKEN.findall(hidden(row["text"], spans)))]
            # Short texts are alike by chance: "I cannot help with that"
            if row["outcome"] == "ok" and len(words) >= FEWEST_WORDS:
                plain = " ".join(neutral.get(word, word) for word in words)
                # By digest, as texts of half a million pairs would not fit
                by_text[blake2b(plain.encode("utf-8", "replace"), digest_size=12).digest()].add(
                    pair
                )
    return {model: (n_texts, [*by_text.values()]) for model, (n_texts, by_text) in by_model.items()}


def _joined(names: set[str], groups: Iterable[set[str]]) -> dict[str, str]:
    """The first name of everything that groups connect each name with."""
    parent = {name: name for name in sorted(names)}

    def first(name: str) -> str:
        while parent[name] != name:
            # Union-find: paths are halved on the way, so that long chains stay quick.
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for group in groups:
        roots = {first(name) for name in group}
        for root in sorted(roots):
            # the first by name, so that units have the same name in every run
            parent[root] = min(roots)
    return {name: first(name) for name in sorted(names)}
