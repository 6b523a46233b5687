"""Whether a name is a person's: a log-linear model of the words in it and around its mentions.

A word belongs to classes, such as verbs of saying or nouns of places, and the weight of a class
depends on where the word stands: "said" behind a name speaks for a person, "streets of" before it
for a place. `scripts/train_names.py` fits the weights (`weights.json`, in log odds).
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from portrayal.annotate.people.any_text.candidates import LISTS, THINGS, Candidate, gap, honorifics
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import word_set

_MARKS = QUOTES | word_set(", – — : ;")
_SINGLE = frozenset("'‘’")
_ENDINGS = ("ed", "ing", "ly", "s")
_BEFORE_GLOSS = _MARKS | en.COPULAS - {"'s"} | {"("}
_BETWEEN_ITEMS = _MARKS | word_set("and or the")
_BEARERS = word_set("person kin pronoun")
_COUNTED_NEAR = word_set("worship names chants people")

_NEAR, _BESIDE, _LIST, _GLOSS, _FURTHEST = 6, 4, 24, 9, 40
"""Tokens before a name in which words of worship count, and before and behind it other gods and
plants; of an enumeration before it; behind it up to a noun that explains it, and to a pronoun."""

_WELL_KNOWN = 20_000
"""Bearers of a first name that needs little beside it."""

_HYPHEN = re.compile(r"-[^\W\d_A-Z]")


@cache
def _classes() -> dict[str, tuple[str, ...]]:
    """Casefolded word → its classes."""
    lists = {
        "say": en.SAYING,
        "live": en.LIVING,
        "verb": en.VERBS_AFTER_NAME - en.COPULAS,
        "is": en.COPULAS - {"'s"},
        "kin": en.KIN,
        "person": (en.PERSON_NOUNS | THINGS.callings) - THINGS.deities - THINGS.also_no_person,
        "people": en.PLURAL_PEOPLE | THINGS.several,
        "naming": en.NAMING,
        "pronoun": frozenset(en.PRONOUNS),
        "human": LISTS.human,
        "posture": LISTS.posture,
        "in": LISTS.at | THINGS.where,
        "with": LISTS.beside - {"of", "from", "and"},
        "it": LISTS.things,
        "done": LISTS.done,
        "thing": THINGS.nouns | THINGS.nouns_behind,
        "particles": THINGS.particles,
        "chants": THINGS.chants,
        "deities": THINGS.deities,
        "worship": THINGS.worship,
        "nouns_of_places": THINGS.nouns_of_places,
        "nouns_of_things": THINGS.nouns_of_things,
        "qualities": THINGS.qualities,
        "handled": THINGS.handled,
        "happening": THINGS.happening,
        "owned": THINGS.owned,
        "arrival": THINGS.arrival,
        "clad": THINGS.clad,
        "determiners": THINGS.determiners,
        "who": LISTS.who,
        "calls": THINGS.calls,
        "objects": THINGS.objects,
        "extremes": THINGS.extremes,
        "meaning": THINGS.meaning,
        "self": THINGS.self,
        "names": THINGS.names,
        "like": THINGS.like,
        "plants": THINGS.plants,
    }
    found: dict[str, list[str]] = {w: [w] for w in word_set("the of and from river 's not")}
    for name, words in lists.items():
        for word in words:
            found.setdefault(word, []).append(name)
    return {word: tuple(names) for word, names in found.items()}


def _kinds(tokens: Tokens, at: int) -> tuple[str, ...]:
    """Classes of the token at a position; its form where it has none."""
    if not 0 <= at < len(tokens.low):
        return (".",)
    low = tokens.low[at]
    found = _classes().get(low, ())
    if tokens.words[at] != low and low not in en.FUNCTION_WORDS:
        return (*found, "Given" if en.bearers(low) else "Capital")
    if found:
        return found
    if not low[0].isalpha():
        return ('"' if low in QUOTES else low if low in _MARKS or low in "()" else ".",)
    if low in en.FUNCTION_WORDS:
        return (low,)
    return (
        next((f"~{each}" for each in _ENDINGS if low.endswith(each) and len(low) > 3), "other"),
    )


def name_features(
    tokens: Tokens, words: Sequence[str], mentions: Sequence[Candidate]
) -> Iterator[str]:
    """What the words of the longest form of a name say, and how it recurs."""
    several, gods = len(words) > 1, tokens.local.gods
    count, place = en.bearers(words[0]), "first" if several else "alone"
    yield f"{place} {sum(count >= least for least in (1, en.FREQUENT, _WELL_KNOWN))}"
    longest = max(mentions, key=lambda run: len(run.parts))
    divine = {*words[0].split("-")} if not several else set(words)
    later = {run.words[0] for run in mentions if len(run.words) == 1}
    things = THINGS.things_alone | THINGS.plants
    told = {
        f"{place} word": words[0] in en.NAMES_AND_WORDS,
        f"{place} god": gods.issuperset(divine),
        f"{place} thing": words[0] in things,
        f"{place} small": words[0] in tokens.words,
        f"often {min(len(words), 2)} {min(len(mentions), 4)}": len(mentions) > 1,
        "plural": words[-1].endswith("s") and words[-1][-2:] != "ss" and not en.bearers(words[-1]),
        "hyphen": any(_HYPHEN.search(tokens.words[part]) for part in longest.parts),
    }
    if several:
        told |= {
            f"last {'known' if en.bearers(words[-1]) else 'unknown'}": True,
            "last thing": words[-1] in things,
            "last small": words[-1] in tokens.words,
            "long": len(words) > 2,
            "deity": words[0] in THINGS.deities,
            "doubtful": words[-1] in THINGS.doubtful_parts or words[0] in THINGS.doubtful_openers,
            f"later {'last' if words[-1] in later else 'first'}": bool(later),
        }
    yield from (name for name, holds in told.items() if holds)


def _run_features(text: str, tokens: Tokens, run: Candidate) -> Iterator[str]:
    """What stands in a mention, or close around it: titles, letters, quotation marks."""
    low, end = tokens.low, run.end
    first = (run.titles or [run.start])[0]
    before = gap(text, tokens, first - 1).strip()[-1:] in _SINGLE if first else False
    opens = first > 0 and (before or low[first - 1] in QUOTES)
    closes = end < len(low) and (low[end] in QUOTES or gap(text, tokens, end - 1)[:1] in _SINGLE)
    ahead = low[max(0, first - _NEAR) : first]
    named = not THINGS.names.isdisjoint(ahead)
    classes = {each for word in ahead for each in _classes().get(word, ())}
    near = low[max(0, first - _NEAR) : max(0, first - 1)]
    beside = {*low[max(0, first - _BESIDE) : first], *low[end : end + _BESIDE]}
    god = tokens.local.gods.issuperset(run.words)
    sacred = low[first] in THINGS.deities or low[first] in tokens.local.sacred
    kind = "title" if not sacred else "god's title" if god else f"title {low[first]}"
    alone = len(run.words) == 1
    told = {
        kind: bool(run.titles),
        "honorific": bool(honorifics(tokens, run)),
        "letters": run.score > 0,
        f"initials {min(len(run.initials), 2)}": run.initials != "",
        "opening": run.opening,
        "quoted": tokens.quoted[run.start],
        "'": before,
        f"term {min(len(run.words), 2)}{' named' * named}": opens and closes,
        "word inside": alone and run.words[0] in en.NAMES_AND_WORDS and not run.opening,
        "plants": THINGS.plants.issuperset(run.words) and not THINGS.plants.isdisjoint(beside),
        "person named": "named" in ahead[-3:] and not _BEARERS.isdisjoint(classes),
        "god prayed to": god and not THINGS.worship.isdisjoint(near),
        "gods": god and not tokens.local.gods.isdisjoint(beside),
    }
    yield from (name for name, holds in told.items() if holds)
    classes = {each for word in near for each in _classes().get(word, ())}
    yield from (f"near {each}" for each in sorted(classes & _COUNTED_NEAR))


def mention_features(text: str, tokens: Tokens, run: Candidate) -> Iterator[str]:
    """What stands in and around a mention: classes of words, each with its place."""
    yield from _run_features(text, tokens, run)
    low, words, end = tokens.low, tokens.words, run.end
    at = (run.titles or [run.start])[0] - 1
    before = _kinds(tokens, at)
    yield from (f"-1 {each}" for each in before)
    yield from (f"-2 {each} {before[0]}" for each in _kinds(tokens, at - 1))
    # What the names of an enumeration are: "dishes such as Rasam and Vada"
    head, least = at, max(0, at - _LIST)
    while head > least and (low[head] in _BETWEEN_ITEMS or words[head][0].isupper()):
        head -= 1
    if head != at and low[at] not in QUOTES:
        yield from (f"list {each}" for each in _kinds(tokens, head))
    behind = end + (end < len(low) and low[end] in QUOTES)
    after = _kinds(tokens, behind)
    yield from (f"+1 {each}" for each in after)
    yield from (f"+2 {after[0]} {each}" for each in _kinds(tokens, behind + 1))
    # The noun that explains a name: "Salem, a busy city"
    gloss, near = "", low[behind : behind + 1 + _GLOSS]
    explained = len(near) > 1 and near[0] in _BEFORE_GLOSS and not near[1].endswith("ing")
    for word in near[1:] if explained else ():
        kinds = {"person", "thing"}.intersection(_classes().get(word, ()))
        phrase = word[0].isalpha() or word in QUOTES or word == "'s"
        # The last of the nouns side by side counts: "Ravi, the village carpenter"
        if not phrase or (gloss and not kinds):
            break
        gloss = min(kinds, default="")
    if gloss:
        yield f"gloss {gloss}"
    # The pronoun that follows before anybody else is named
    for at in range(end, min(len(low), end + _FURTHEST)):
        if low[at] in en.PRONOUNS or low[at] in LISTS.things:
            apart = tokens.sentence[at] - tokens.sentence[run.start]
            if apart <= 1:
                yield f"then {'she' if low[at] in en.PRONOUNS else 'it'} {apart}"
            break
        if low[at] != words[at] and low[at - 1] not in THINGS.ends | QUOTES:
            break


@cache
def _weights() -> dict[str, float]:
    """Feature → log odds."""
    text = Path(__file__).with_name("weights.json").read_text(encoding="utf-8")
    found: dict[str, float] = json.loads(text)
    return found


def name_score(
    text: str, tokens: Tokens, words: Sequence[str], mentions: Sequence[Candidate]
) -> float:
    """Logarithm of the odds that a name is a person's.

    Parameters
    ----------
    text, tokens
        The text.
    words
        Those of the longest form of the name in lower case.
    mentions
        Where it stands; what is around n of them weighs as much as around the square root of n.
    """
    weights = _weights()
    own = sum(weights.get(each, 0.0) for each in name_features(tokens, words, mentions))
    around = sum(
        weights.get(each, 0.0) for run in mentions for each in mention_features(text, tokens, run)
    )
    return weights["bias"] + own + around / math.sqrt(len(mentions))
