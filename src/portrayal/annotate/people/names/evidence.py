"""Whether a name is a person's: a log-linear model of the words in it and around its mentions.

A word belongs to classes, such as verbs of saying or nouns of places, and the weight of a class
depends on where the word stands: "said" behind a name speaks for a person, "streets of" before it
for a place. `scripts/train_names.py` fits the weights (`weights.json`, in log odds).
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from portrayal.annotate.people.names import candidates
from portrayal.annotate.people.names.candidates import CLASSES, LISTS, SINGLE, THINGS
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import WordLists, word_set

KINDS = WordLists("names", "kinds.toml")
"""What names are as ordinary words: a verb, a noun that needs an article, a town."""

PREDICATES = {"acting": LISTS.acting} | WordLists("names", "predicates.toml").sets

_MARKS = QUOTES | word_set(", – — : ;")
_ENDINGS = ("ed", "ing", "ly", "s")
_BEFORE_GLOSS = _MARKS | en.COPULAS - {"'s"} | {"("}
_BETWEEN_ITEMS = _MARKS | word_set("and or the")
_FOLLOWING = frozenset(en.PRONOUNS) | CLASSES.it
_NEW_SENTENCE = THINGS.ends | QUOTES

_NEAR, _BESIDE, _LIST, _GLOSS, _FURTHEST, _NAMING, _OBJECT = 6, 4, 24, 9, 40, 4, 4
"""Tokens before a name in which words of worship count, and before and behind it other gods and
plants; of an enumeration before it; behind it up to a noun that explains it, and to a pronoun;
before it up to a named thing; and behind its verb up to whom or what that is done to."""

_BEARERS_OF_BANDS = (1, 500, en.FREQUENT, 20_000)
"""Bearers from which a first name is of the next band."""

_HYPHEN = re.compile(r"-[^\W\d_A-Z]")


@cache
def _classes() -> dict[str, tuple[str, ...]]:
    """Casefolded word → its classes."""
    # Present and past forms for one person of what people do: "paints", "painted", "sang"
    forms = {form for form in LISTS.verbs("acting") - LISTS.acting if not form.endswith("ing")}
    lists = {
        "say": en.SAYING,
        "live": en.LISTS.living,
        "acts": (LISTS.acted | forms) - CLASSES.handled,
        "verb": en.VERBS_AFTER_NAME - en.COPULAS,
        "is": en.COPULAS - {"'s"},
        "kin": en.LISTS.kin,
        "person": (en.PERSON_NOUNS | THINGS.callings) - CLASSES.deities - THINGS.also_no_person,
        "people": en.PLURAL_PEOPLE | THINGS.several,
        "naming": en.LISTS.naming,
        "pronoun": frozenset(en.PRONOUNS),
    }
    # Words so frequent that they are classes of their own
    classes: dict[str, tuple[str, ...]] = {
        word: (word,) for word in ("the", "of", "and", "from", "river", "'s", "not")
    }
    for name, words in (lists | CLASSES.sets).items():
        classes |= {word: (*classes.get(word, ()), name) for word in sorted(words)}
    return classes


def _classes_in(words: Sequence[str]) -> set[str]:
    """The classes of casefolded words."""
    return {name for word in words for name in _classes().get(word, ())}


def _kinds(tokens: Tokens, i: int) -> tuple[str, ...]:
    """Classes of a token; its form where it has none; "start" and "." outside the text."""
    if not 0 <= i < len(tokens.low):
        return ("start",) if i < 0 else (".",)
    word, low = tokens.words[i], tokens.low[i]
    classes = _classes().get(low, ())
    # A capital is noted beside the classes, as the word may be part of another name
    if word != low and low not in en.FUNCTION_WORDS:
        return (*classes, "Given" if en.bearers(low) else "Capital")
    if classes:
        return classes
    if not low[0].isalpha():
        return ('"' if low in QUOTES else low if low in _MARKS or low in "()" else ".",)
    if low in en.FUNCTION_WORDS:
        return (low,)
    # Unlisted words count by their endings: "~ed" is mostly a verb
    endings = (f"~{ending}" for ending in _ENDINGS if low.endswith(ending) and len(low) > 3)
    return (next(endings, "other"),)


@lru_cache(maxsize=65_536)
def kinds_of_word(name: str) -> tuple[str, ...]:
    """What a casefolded name is as an ordinary word: "mark", "amber"; () for "ann"."""
    kinds = tuple(kind for kind, words in KINDS.sets.items() if name in words)
    is_word = name in en.NAMES_OR_WORDS or name in en.LISTS.names_also_words
    return kinds or ("word",) * is_word


def name_features(
    tokens: Tokens, words: Sequence[str], mentions: Sequence[candidates.Candidate]
) -> Iterator[str]:
    """What the words of the longest form of a name say, and how it recurs."""
    first, last, several = words[0], words[-1], len(words) > 1
    count, place = en.bearers(first), "first" if several else "alone"
    kinds = {
        " place": candidates.PLACES_AND_BODIES,
        " word": en.LISTS.names_and_words,
        " rare word": en.NAMES_OR_WORDS,
        " also": en.LISTS.names_also_words,
    }
    kind = next((kind for kind, words_of_kind in kinds.items() if first in words_of_kind), "")
    yield f"{place}{kind} {sum(count >= least for least in _BEARERS_OF_BANDS)}"
    longest = max(mentions, key=lambda run: len(run.parts))
    tests = {
        f"{place} god": tokens.local.gods.issuperset(words if several else first.split("-")),
        f"{place} place": first in LISTS.places_and_months,
        "plural": last.endswith("s") and last[-2:] != "ss" and not en.bearers(last),
        # A word that stands in the text in lower case, too, is mostly that word
        f"{place} small": first in tokens.words,
        f"often {min(len(words), 2)} {min(len(mentions), 4)}": len(mentions) > 1,
        "hyphen": any(_HYPHEN.search(tokens.words[part]) for part in longest.parts),
    }
    if several:
        later = {run.words[0] for run in mentions if len(run.words) == 1}
        tests |= {
            f"last {'known' if en.bearers(last) else 'unknown'}": True,
            "long": len(words) > 2,
            "firm": "+".join(words) in LISTS.firms,
            "doubtful": last in THINGS.doubtful_parts or first in THINGS.doubtful_openers,
            "last small": last in tokens.words,
            f"later {'last' if last in later else 'first'}": bool(later),
        }
    else:
        tests["alone thing"] = first in THINGS.things_alone | CLASSES.plants
        if not count and len(first) > 4:
            tests |= {f"alone ~{end}": first.endswith(end) for end in ("ed", "ing", "ly")}
    yield from (name for name, holds in tests.items() if holds)


def introduces(low: Sequence[str], start: int) -> bool:
    """Whether the name at `start` is that of the one who says "My name is …" or "I'm …"."""
    openings = ["+".join(low[max(0, start - n) : start]) for n in (2, 3)]
    # "I am Mark's sister" is not Mark
    return "'s" not in low[start + 1 : start + 3] and not LISTS.introducing.isdisjoint(openings)


def place_in_text(tokens: Tokens, first: int, end: int) -> str:
    """Where in a letter, dialogue, list of fields or introduction a name stands, or ""."""
    low = tokens.low
    if introduces(low, first):
        return "introduced"
    before = low[max(0, first - 2) : first]
    if len(before) == 2 and before[1] == ":" and before[0] in LISTS.naming_fields:
        after = low[end] if end < len(low) else "\n"
        return "field" if after in ("\n", ".", ",", "(", "and", ";") else ""
    # A closing formula stands on a line of its own
    if before[-1:] == ["\n"]:
        before = low[max(0, first - 3) : first - 1]
    if before[-1:] == [","] and before[0] in LISTS.closing:
        return "signature"
    behind = end
    if low[end : end + 1] == ["("]:
        behind = end + 1 + low[end : end + 5].index(")") if ")" in low[end : end + 5] else end
    if low[behind : behind + 1] in ([":"], ["–"]):
        return "speaker" if candidates.opens_line(tokens, first) else ""
    # A name that is a line: it speaks the next one, or the text is about it
    is_line = low[behind : behind + 1] == ["\n"] and low[behind + 1 : behind + 2] != ["\n"]
    opens = not first or low[max(0, first - 2) : first] == ["\n", "\n"]
    is_named = is_line and opens and behind + 1 < len(low) and en.is_given(low[end - 1])
    return "line" if is_named else ""


def _run_features(tokens: Tokens, run: candidates.Candidate) -> Iterator[str]:
    """What stands in a mention, or close around it: titles, letters, quotation marks."""
    low, end, local = tokens.low, run.end, tokens.local
    first, several = (run.titles or [run.start])[0], len(run.words) > 1
    before = first > 0 and tokens.gaps[first].strip()[-1:] in SINGLE
    opens = before or (first > 0 and low[first - 1] in QUOTES)
    closes = end < len(low) and (low[end] in QUOTES or tokens.gaps[end][:1] in SINGLE)
    ahead = low[max(0, first - _NEAR) : first]
    near = _classes_in(low[max(0, first - _NEAR) : max(0, first - 1)])
    around = (*low[max(0, first - _BESIDE) : first], *low[end : end + _BESIDE])
    god = local.gods.issuperset(run.words)
    sacred = low[first] in CLASSES.deities or low[first] in local.sacred
    joined = sum(len(tokens.words[i]) - len(low[i]) for i in run.parts) > 0
    place = place_in_text(tokens, first, end)
    named_thing = not CLASSES.named.isdisjoint(ahead[-_NAMING:])
    tests = {
        # Sacred titles stand before gods and gurus alike
        "title": run.titles and not sacred,
        # Behind the name, or written together with it ("Ramji")
        "honorific": local.honorifics and (candidates.honorifics(tokens, run) or joined),
        "letters": run.described,
        place: place,
        "initials 2": len(run.initials) > 1,
        "opening": run.opening,
        "quoted": tokens.quoted[run.start],
        "'": before,
        f"term {2 if several else 1}{' named' * ('names' in _classes_in(ahead))}": opens and closes,
        "plants": CLASSES.plants.issuperset(run.words) and not CLASSES.plants.isdisjoint(around),
        "thing named": named_thing and not en.LISTS.naming.isdisjoint(ahead[-2:]),
        "person named": "named" in ahead[-3:] and not LISTS.bearers.isdisjoint(_classes_in(ahead)),
        "god prayed to": god and "worship" in near,
        "gods": god and not local.gods.isdisjoint(around),
    }
    yield from (name for name, holds in tests.items() if holds)
    yield from (f"near {name}" for name in sorted(near & LISTS.counted_near))
    opening = "opening" if run.opening else "inside"
    yield from (f"{kind} {opening}" for kind in (() if several else kinds_of_word(run.words[0])))


def mention_features(tokens: Tokens, run: candidates.Candidate) -> Iterator[tuple[str, ...]]:
    """What stands in and around a mention: groups of features."""
    low, words = tokens.low, tokens.words
    yield tuple(_run_features(tokens, run))
    i = (run.titles or [run.start])[0] - 1
    word_kinds = kinds_of_word(run.words[0]) if len(run.words) == 1 and not run.titles else ()
    # What the sentence before ends with says nothing, but quotation marks and line breaks do
    if run.opening and words[i] not in QUOTES and words[i] != "\n":
        i = -1
    if not run.opening:
        word_kinds = tuple(f"inner {kind}" for kind in word_kinds)

    def of_kinds(*features: str) -> tuple[str, ...]:
        """Features that count once more for each kind of word that the name is."""
        return (*features, *(f"{kind} {feature}" for kind in word_kinds for feature in features))

    kinds = _kinds(tokens, i)
    yield of_kinds(*(f"-1 {kind}" for kind in kinds))
    yield tuple(f"-2 {kind} {kinds[0]}" for kind in _kinds(tokens, i - 1))
    if i >= 0:
        yield (f"-1={low[i]}", f"-2={low[i - 1] if i else '.'} {low[i]}")
    # What the names of an enumeration are: "dishes such as Rasam and Vada"
    head, least = i, max(0, i - _LIST)
    while head > least and (low[head] in _BETWEEN_ITEMS or words[head][0].isupper()):
        head -= 1
    if head != i and low[i] not in QUOTES:
        yield tuple(f"list {kind}" for kind in _kinds(tokens, head))
    behind = run.end + (run.end < len(low) and low[run.end] in QUOTES)
    kinds = _kinds(tokens, behind)
    two_behind = [f"+2 {kinds[0]} {kind}" for kind in _kinds(tokens, behind + 1)]
    yield of_kinds(*(f"+1 {kind}" for kind in kinds), *two_behind)
    yield of_kinds(*(f"+1={word}" for word in low[behind : behind + 1]))
    if behind < len(low) and low[behind][0].isalpha():
        # Nouns that need an article, verbs and adjectives are no subjects, so a name is
        is_subject = bool(word_kinds) and not LISTS.finite.isdisjoint(kinds)
        if is_subject and LISTS.bare.isdisjoint(word.removeprefix("inner ") for word in word_kinds):
            yield ("bare subject",)
        yield of_kinds(*_predicate_features(tokens, behind, is_subject))
    # The noun that explains a name: "Salem, a busy city"
    yield (f"gloss {_gloss(low[behind : behind + 1 + _GLOSS])}",)
    # The pronoun that follows before anybody else is named
    for k in range(run.end, min(len(low), run.end + _FURTHEST)):
        distance = tokens.sentence[k] - tokens.sentence[run.start]
        if low[k] in _FOLLOWING and distance <= 1:
            yield of_kinds(f"then {'she' if low[k] in en.PRONOUNS else 'it'} {distance}")
        if low[k] in _FOLLOWING or (low[k] != words[k] and low[k - 1] not in _NEW_SENTENCE):
            break


def _gloss(near: Sequence[str]) -> str:
    """Whether the words behind a name call it a "person" or a "thing", or ""."""
    gloss = ""
    explained = len(near) > 1 and near[0] in _BEFORE_GLOSS and not near[1].endswith("ing")
    for noun in near[1:] if explained else ():
        glosses = {"person", "thing"}.intersection(_classes().get(noun, ()))
        phrase = noun[0].isalpha() or noun in QUOTES or noun == "'s"
        # The last of the nouns side by side counts: "Ravi, the village carpenter"
        if not phrase or (gloss and not glosses):
            break
        gloss = min(glosses, default="")
    return gloss


def _predicate_features(tokens: Tokens, behind: int, is_subject: bool) -> Iterator[str]:
    """What the verb behind auxiliaries and adverbs says, and whom or what it is done to."""
    low, verb = tokens.low, behind
    while verb < len(low) and (low[verb] in LISTS.before_verbs or low[verb].endswith("ly")):
        verb += 1
    if verb > behind:
        yield from (f"verb {kind}" for kind in _kinds(tokens, verb))
    yield from (f"verb {name}" for name in _predicates(low[verb : verb + 1]))
    if is_subject:
        yield "subject"
    ahead = low[verb + 1 : verb + 1 + _OBJECT]
    objects = sorted(_classes_in(ahead) & LISTS.done_to)
    yield from (f"object {name}" for name in (*objects, *_predicates(ahead)))


def _predicates(words: Sequence[str]) -> list[str]:
    """Which of the lists of predicates hold one of the words."""
    return [name for name, verbs in PREDICATES.items() if not verbs.isdisjoint(words)]


WEIGHTS: dict[str, float] = json.loads(
    Path(__file__).with_name("weights.json").read_text(encoding="utf-8")
)
"""Feature → log odds."""


def name_score(
    tokens: Tokens, words: Sequence[str], mentions: Sequence[candidates.Candidate]
) -> float:
    """Logarithm of the odds that a name is a person's.

    Parameters
    ----------
    tokens
        The text.
    words, mentions
        The longest form of the name, and its mentions; what is around n mentions weighs as much as
        around the square root of n.
    """
    of_name = sum(WEIGHTS.get(name, 0.0) for name in name_features(tokens, words, mentions))
    groups = [group for run in mentions for group in mention_features(tokens, run)]
    around = sum(sum(WEIGHTS.get(name, 0.0) for name in group) for group in groups)
    # Mentions of one text are alike, so n of them are worth less than n
    return WEIGHTS["bias"] + of_name + around / math.sqrt(len(mentions))
