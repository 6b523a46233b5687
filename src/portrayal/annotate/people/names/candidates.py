"""Runs of capitalised words in any text that may be the names of people.

'Dr. J. Edgar "Speed" Hoover, Jr.' is one run: titles, initials, a nickname, the words of the
name, and what follows. Unlike the names of a story's characters, those of a news article stand
among organisations, places and headlines; what the words of a run rule out is left out here.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import ne

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import WordLists
from portrayal.reference.locales import load_locale

LISTS = WordLists("names")
LOCALE = load_locale("en-US")
THINGS = WordLists("names", "things.toml")
"""Words of places, peoples, gods, rites and dishes."""
CLASSES = WordLists("names", "classes.toml")
"""Words near a name that speak for or against a person, by class."""

_IN_TITLES = en.TITLES | en.LISTS.before_titles

_ADJECTIVES = ("ed", "ing", "ant", "ent", "ous", "ful", "al", "ive", "ic", "less", "able", "ible")
_COMPOUND = re.compile(r"-[a-z]+$")
_DESCRIBES = re.compile(r"-(?:old|based|born|like|[a-z]+ed|[a-z]+ing)$")

_CLOSED_BY = {'"': '"', "“": "”", "(": ")"}
SINGLE = frozenset("'‘’")
_LONGEST_NICKNAME = 3

_ARABIC = re.compile(r"(?:a[dlnrstz]|el|ibn|bin|as[hs])[-’'][A-ZÀ-Þ]\w")

_PEOPLES = en.NATIONALITIES | LOCALE.peoples["groups"] | LOCALE.peoples["elsewhere"]
_NO_NAMES = _PEOPLES | en.CALENDAR | LISTS.captions | THINGS.nobody | en.FUNCTION_WORDS
NOT_PARTS = _NO_NAMES - LISTS.also_names | {"ph"}
"""Words, and the opening of "Ph.D.", that end a run."""


@dataclass(slots=True)
class Candidate:
    """One run of capitalised words.

    Attributes
    ----------
    start, end
        Token positions of the first word of the name, and behind the last word of the run.
    parts
        Positions of its words without titles, initials, nickname and suffixes.
    titles
        Positions of the titles before it.
    described
        Whether nouns for a person stood before its words: "Singer Ann Lee".
    opening
        Whether it opens a sentence, where any word is capitalised.
    words
        The words of `parts` in lower case.
    initials
        Initials before the first of `parts`, in lower case.
    nickname
        The nickname between the words, in lower case, or "".
    gender
        Gender that a title, or a noun before the name, tells, or "".
    bound
        Whether it is a person's only where it repeats part of a longer name: "King" alone.
    """

    start: int
    end: int
    parts: list[int]
    titles: list[int]
    described: bool = False
    opening: bool = False
    words: list[str] = field(default_factory=list)
    initials: str = ""
    nickname: str = ""
    gender: str = ""
    bound: bool = False


def openings(tokens: Tokens) -> list[int]:
    """Positions of the words that can open a run."""
    words, low = tokens.words, tokens.low
    capitals = compress(range(len(words)), map(ne, words, low))
    may_open = [i for i in capitals if _initial(tokens, i) or not _ends_names(tokens, i)]
    # "Plan B", "vitamin C"
    return [i for i in may_open if not (i and len(words[i]) == 1 and low[i - 1] in LISTS.lettered)]


def _ends_names(tokens: Tokens, i: int) -> bool:
    """Whether the word at `i` is part of no name."""
    # "Don't" is no Don
    dont = tokens.low[i] == "don" and tokens.low[i + 1 : i + 2] == ["'t"]
    return dont or tokens.low[i] in NOT_PARTS or tokens.low[i] in tokens.local.nobody


def take(tokens: Tokens, i: int) -> Candidate:
    """The run that opens at `i`."""
    words, low = tokens.words, tokens.low
    suffixes = LISTS.suffixes | tokens.local.honorifics
    run = Candidate(i, i, [], [])
    # Titles stand first
    end = opened = run.start = run.end = take_titles(tokens, i, run)
    while end < len(words):
        word = words[end]
        if run.parts and (behind := take_nickname(tokens, end, run)):
            end = opened = behind
            continue
        if end != opened and tokens.gaps[end].strip():
            break
        if length := _initial(tokens, end):
            end += length
        elif run.parts and word[0].isupper() and low[end] in suffixes:
            end += 1 + (low[end] in ("jr", "sr") and words[end + 1 : end + 2] == ["."])
        elif _is_part(tokens, end):
            saint = low[end] in ("st", "ste") and not run.parts
            run.parts.append(end)
            end += 1 + (saint and words[end + 1 : end + 2] == ["."])
        # A particle belongs to the name only if a part follows, so the end waits
        elif run.parts and low[end] in LISTS.particles and word.islower():
            end += 1
            continue
        else:
            break
        run.end = end
    return run


def take_titles(tokens: Tokens, i: int, run: Candidate) -> int:
    """Note the titles from `i` on; returns the position behind them."""
    words, low = tokens.words, tokens.low
    end = i
    while end < len(words) and words[end][0].isupper():
        local = tokens.is_local_title(end)
        before = low[end] in en.LISTS.before_titles and end + 1 < len(words)
        before = before and (low[end + 1] in _IN_TITLES or tokens.is_local_title(end + 1))
        if not (low[end] in en.TITLES or local or before):
            break
        run.titles.append(end)
        end += 1
        if end < len(words) and low[end] == "." and not tokens.gaps[end]:
            # A full stop behind a title written out ends the sentence
            if local and low[end - 1] not in tokens.local.abbreviations:
                break
            end += 1
    return end


def _is_part(tokens: Tokens, i: int) -> bool:
    """Whether the word at `i` is a word of a name."""
    word = tokens.words[i]
    if not word[0].isupper():
        return _ARABIC.match(word) is not None
    # Words in capitals are acronyms, but for the initials that some are called by
    acronym = word.isupper() and len(word) > 1 and word not in LISTS.called_initials
    return not (acronym or _ends_names(tokens, i))


def _initial(tokens: Tokens, i: int) -> int:
    """How many tokens an initial at `i` takes up; 0 where there is none.

    "A" and "I" are initials only with a full stop and another initial or name behind it.
    """
    words = tokens.words
    word = words[i]
    if len(word) != 1 or not word.isupper():
        return 0
    stopped = words[i + 1 : i + 2] == ["."] and not tokens.gaps[i + 1]
    if tokens.low[i] not in NOT_PARTS:
        return 1 + stopped
    return 2 * (stopped and words[i + 2 : i + 3] != [] and words[i + 2][0].isupper())


def take_nickname(tokens: Tokens, i: int, run: Candidate) -> int:
    """Position behind 'a "Nickname"' before a surname, which is noted; 0 where there is none."""
    words = tokens.words
    closing = _CLOSED_BY.get(words[i], "")
    if run.nickname or not (closing or tokens.gaps[i].strip() in SINGLE):
        return 0
    first = i + len(closing)
    ahead = words[first : first + 1 + _LONGEST_NICKNAME]
    # Position behind the last word of the nickname; one in single quotation marks is one word
    last = first + (ahead.index(closing) if closing in ahead else closing == "")
    behind = last + len(closing)
    if last <= first or behind >= len(words) or not _is_part(tokens, behind):
        return 0
    capital = all(words[k][0].isupper() for k in range(first, last))
    # Small words in brackets are a remark, but for "née" and its like
    if not capital and tokens.low[first] not in LISTS.born:
        return 0
    run.nickname = tokens.low[first] if last == first + 1 else ""
    return behind


PLACES = en.AMERICAN_PLACES | LOCALE.places["world"] | LOCALE.places["elsewhere"]

BODY_PARTS = (
    LISTS.body_parts | THINGS.parts_of_things | {f"{word}s" for word in THINGS.parts_of_things}
)
"""Words that open, and that end or stand in, the name of an organisation, place, event or law."""

_ALONE = 4_000
"""Bearers of a first name that may stand alone, although it is a title, too."""

_LABEL = 3
"""Words and marks of a line before the last word of a label."""

_ASKED = LISTS.acting | LISTS.asking
"""Words that open a request or question and are no part of the name behind: "Tell Erwin"."""

_MOST = 5
"""Words of the longest name."""

_TAILS = PLACES | LISTS.organisations
_HEADS = _TAILS | BODY_PARTS
PLACES_AND_BODIES = _HEADS | LISTS.body_openers
"""Words that, standing alone, name no person; of a first name of many bearers they only say so."""

_OFFICE = en.TITLES | en.PERSON_NOUNS


def find_candidates(tokens: Tokens) -> list[Candidate]:
    """Runs of capitalised words that may name people, in order.

    A run that is ruled out by its own words is left out.
    """
    words, low = tokens.words, tokens.low
    forms = set(words)
    runs: list[Candidate] = []
    behind = 0
    fields = labels_of_form(tokens)
    for i in openings(tokens):
        if i < behind:
            continue
        run = take(tokens, i)
        behind = run.end
        if not run.parts:
            last = run.titles[-1] if run.titles else -1
            if last < 0 or (last and low[last - 1] in LISTS.before_nouns):
                continue
            # The last title is the word, as that of "Martin Luther King" may stand alone
            office = low[last + 1 : last + 2] in (["of"], ["for"])
            bound = office or en.bearers(low[last]) < _ALONE
            run = Candidate(last, last + 1, [last], run.titles[:-1], bound=bound)
        run.opening = opens_sentence(tokens, i)
        if not run.bound and not trim(tokens, run, forms):
            continue
        run.words = [low[part] for part in run.parts]
        letters = "".join([w for w in low[run.start : run.parts[0]] if w.isalpha()])
        # One letter before a frequent first name is no initial of a surname
        frequent = len(letters) == 1 and en.bearers(run.words[0]) >= en.FREQUENT
        run.initials = "" if frequent or letters in LISTS.countries else letters
        if run.bound or not (run.start in fields or is_ruled_out(tokens, run)):
            run.gender = gender_of_titles(tokens, run)
            runs += couple_of(tokens, run)
    return runs


def opens_sentence(tokens: Tokens, i: int) -> bool:
    """Whether the word at `i` stands first in a sentence or quotation."""
    if i == 0 or tokens.sentence[i] != tokens.sentence[i - 1]:
        return True
    before = tokens.words[i - 1]
    return before in QUOTES or (before == ":" and opens_line(tokens, i - 2))


def couple_of(tokens: Tokens, run: Candidate) -> list[Candidate]:
    """The run, or two where it names a couple: "Mr. and Mrs. Patel"."""
    low = tokens.low
    i = run.titles[0] - 1 if run.titles else -1
    back = i - 2 if i > 1 and low[i - 1] == "." else i - 1
    if i < 1 or low[i] != "and" or not LISTS.polite.issuperset((low[back], low[i + 1])):
        return [run]
    # Both have the surname; a first name is that of the first title's bearer
    other = replace(run, titles=[back])
    other.gender = gender_of_titles(tokens, other)
    if len(run.parts) > 1:
        last = run.parts[-1]
        run.start, run.parts, run.words, run.initials = last, [last], run.words[-1:], ""
    return [other, run]


def honorifics(tokens: Tokens, run: Candidate) -> list[int]:
    """Position of the locale's honorific behind the name, in or behind the run."""
    places = [i for i in (run.end - 1, run.end) if run.parts[-1] < i < len(tokens.low)]
    return [i for i in places if tokens.low[i] in tokens.local.honorifics]


def gender_of_titles(tokens: Tokens, run: Candidate) -> str:
    """Gender that the titles of a run, or a noun of kinship beside it, tell, or ""."""
    low = tokens.low
    for i in (*run.titles, *honorifics(tokens, run)):
        if gender := tokens.local.genders.get(low[i]) or en.GENDER.get(low[i]):
            return gender
    before = (run.titles or [run.start])[0] - 1
    if before >= 0 and low[before] in en.LISTS.kin:
        return en.GENDER.get(low[before], "")
    # "Ann Lee, the mother of Kim"
    behind = low[run.end : run.end + 4]
    if not LISTS.before_nouns.isdisjoint(behind[1:2]):
        del behind[1]
    is_kin = behind[:1] == [","] and not en.LISTS.kin.isdisjoint(behind[1:2])
    return en.GENDER.get(behind[1], "") if is_kin and behind[2:3] in ([","], ["."], ["of"]) else ""


def trim(tokens: Tokens, run: Candidate, forms: set[str]) -> bool:
    """Drop words that only open the sentence or describe the bearer; whether a name is left."""
    low, parts = tokens.low, run.parts
    behind = bisect_left(tokens.sentence, tokens.sentence[run.start] + 1)
    is_question = tokens.words[behind - 1].startswith("?")
    # Word by word from the front, as several may describe the bearer
    while parts:
        word = low[parts[0]]
        describes = word in en.PERSON_NOUNS and (len(parts) > 1 or not en.is_given(word))
        second = low[parts[1]] if len(parts) > 1 else ""
        # "Young Ann", "Talented Ann", "Ten-year-old Ann"
        is_compound = _COMPOUND.search(tokens.words[parts[0]]) is not None
        adjective = word.endswith(_ADJECTIVES) and not en.is_given(word)
        adjective = adjective or is_compound or word in LISTS.before_names
        adjective = adjective and en.bearers(second) >= en.FREQUENT
        described = _DESCRIBES.search(tokens.words[parts[0]]) is not None
        dated = word in LISTS.months and low[parts[0] - 1] in LISTS.dating and parts[0] > 0
        adjective = adjective or (second != "" and (described or dated))
        opens = run.opening and not run.titles and parts[0] == run.start
        gerund = word.endswith("ing") and len(parts) > 1 and not en.is_given(word)
        small = word in forms and en.bearers(word) < en.FREQUENT
        # "Tell Erwin", "Will Erwin come?"
        requests = word in _ASKED and en.bearers(word) < en.FREQUENT
        asks = requests or (word in ("will", "may") and is_question)
        asks = asks and opens and en.is_given(second)
        # A first name before another name is left to the text, whatever it means
        opens = opens and (small or gerund) and not (second and en.is_given(word))
        if describes and len(parts) > 1:
            run.described = True
        elif not (adjective or describes or asks or opens):
            break
        run.start = parts.pop(0) + 1
    offices = LISTS.offices if parts and en.is_given(low[parts[0]]) else _OFFICE
    office = [i for i in parts[1:-1] if low[i] in offices]
    # A title inside the run: "London Mayor Sadiq Khan"
    if office:
        run.titles = office[-1:]
        run.parts = [i for i in parts if i > office[-1]]
        run.start = run.parts[0]
    return bool(parts)


def is_ruled_out(tokens: Tokens, run: Candidate) -> bool:
    """Whether the run's own words, or what it is joined to, name no person."""
    low, local = tokens.low, tokens.local.places
    name_words = [low[part] for part in run.parts]
    first, last = name_words[0], name_words[-1]
    opens = (run.titles or [run.start])[0]
    before = low[opens - 1] if opens else "."
    if low[run.start - 3 : run.end] == ["to", "whom", "it", "may", "concern"]:
        return True
    # One word: its own meaning decides
    if len(name_words) == 1:
        frequent = en.bearers(first) >= en.FREQUENT
        adjective = not run.titles and run.opening and first in LISTS.before_names
        firm = "+".join([*(low[i] for i in run.titles), first]) in LISTS.firms
        polite = run.titles and low[run.titles[-1]] in LISTS.polite
        place = (first in PLACES_AND_BODIES and not frequent) or first in local
        office = first in en.PLURAL_PEOPLE or low[run.end : run.end + 1] in (["of"], ["for"])
        nobody = adjective or firm or (place and not polite)
        return nobody or (office and not en.is_given(first)) or _continues(tokens, run)
    # Several words may name an organisation, place or event
    body = (
        not BODY_PARTS.isdisjoint(name_words[1:])
        or first in LISTS.body_openers
        or first in LISTS.place_openers
        or (first in _HEADS and not en.is_given(first))
        or not local.isdisjoint((first, last))
        or (last in _TAILS and not en.is_given(last))
    )
    located = before in CLASSES.determiners or (run.titles and before in LISTS.place_prepositions)
    hall = last in LISTS.halls and located
    nobody = not (en.is_given(first) or en.is_given(last))
    office = last in en.PERSON_NOUNS or last in en.PLURAL_PEOPLE
    addressed = before in LISTS.greetings and not run.titles
    if last in BODY_PARTS or hall or (nobody and (office or addressed)):
        return True
    # A title and a first name outweigh a word of organisations among the rest
    if len(name_words) > _MOST or body:
        return not (run.titles and en.is_given(first) and len(name_words) <= _MOST)
    return _continues(tokens, run)


def labels_of_form(tokens: Tokens) -> set[int]:
    """Positions of words in labels of a form ("Age: 41"), and where a value begins that is nobody.

    A text is a form where a line has the label of a field, or where two lines or more have labels
    and no label is a first name; else the words before colons may be those who speak.
    """
    words, low = tokens.words, tokens.low
    lines: list[tuple[list[int], int, int]] = []
    start = 0
    for end in [i for i, word in enumerate((*words, "\n")) if word == "\n"]:
        ahead = low[start : min(end, start + _LABEL + 2)]
        mark = next((i for i, word in enumerate(ahead) if word in (":", "–") and i), -1)
        label = [i for i in range(start, start + mark) if words[i][0].isalpha()]
        if label and words[label[0]][0].isupper():
            lines.append((label, start + mark + 1, end))
        start = end + 1
    is_form = any(_names_field(low, label) for label, _, _ in lines) or (
        len(lines) > 1 and not any(en.bearers(low[label[-1]]) for label, _, _ in lines)
    )
    places: set[int] = set()
    for label, value, end in lines:
        is_field = _names_field(low, label)
        unborne = en.bearers(low[label[0]]) < en.FREQUENT
        if low[label[-1]] in LISTS.naming_fields or (is_form and (is_field or unborne)):
            places.update(label)
        if is_field:
            article = value < end and low[value] in LISTS.indefinite | LISTS.definite
            places.add(value + article)
    return places


def _names_field(low: Sequence[str], label: Sequence[int]) -> bool:
    """Whether a label is that of a field whose value names nobody."""
    last = low[label[-1]]
    if last == "name" and low[label[0]] in LISTS.parts_of_names:
        return True
    return not LISTS.fields.isdisjoint(low[i] for i in label)


def opens_line(tokens: Tokens, i: int) -> bool:
    """Whether at most three words, a bullet or a time stand before `i` in its line."""
    return i <= _LABEL or "\n" in tokens.words[i - _LABEL - 1 : i]


def _continues(tokens: Tokens, run: Candidate) -> bool:
    """Whether the run is joined to more of a name that is no person's: "Ernst & Young", "WHO"."""
    words, low, end = tokens.words, tokens.low, run.end
    if run.start and "&" in tokens.gaps[run.start]:
        return True
    if end >= len(words):
        return False
    between = tokens.gaps[end]
    after = words[end]
    second = words[end + 1] if end + 1 < len(words) else ""
    acronym = after.isupper() and len(after) > 1 and after not in LISTS.post_nominals
    if "&" in between or (acronym and not between.strip()):
        return True
    # "Wendy's Restaurants" is no Wendy
    if low[end] == "'s":
        return second[:1].isupper() and second.lower() in BODY_PARTS
    return after == "(" and second.isupper() and len(second) > 1
