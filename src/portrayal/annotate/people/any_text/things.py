"""Names of places, gods, rites, plants and dishes, told from names of people by the text.

What stands around every mention of a name is weighed: "the streets of Salem", "prayed to Vishnu",
"served crispy Vada" against "Vishnu smiled", "her son Salem". A name is a thing's where more speaks
for a thing than for a person; a name of which the text says neither is a person's.
"""

from collections.abc import Sequence

from portrayal.annotate.people.any_text.candidates import (
    LISTS,
    PLACES,
    THINGS,
    Candidate,
    gap,
    honorifics,
)
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import QUOTES, Tokens
from portrayal.annotate.people.shared.words import word_set

_ACTS = en.SAYING | en.LIVING | LISTS.human | LISTS.posture | (en.VERBS_AFTER_NAME - en.COPULAS)

_PEOPLE = (en.PERSON_NOUNS | THINGS.callings) - THINGS.deities - THINGS.also_no_person
_SEVERAL = en.PLURAL_PEOPLE | THINGS.several


_PREPOSITIONS = THINGS.where | word_set("at by from of to with")

_BEFORE_GLOSS = en.COPULAS - {"'s"} | word_set(", ( — – - or")
_BEHIND_NOUNS = _PREPOSITIONS | en.CLAUSE_MARKS | word_set("and as for is on that when where which")


_NO_GLOSS = _PEOPLE | word_set("aged age also born formerly left right center centre née pictured")
_SINGLE = frozenset(("'", "‘", "’"))
_MARKS = QUOTES | word_set(", – — :")
_BETWEEN_ITEMS = _MARKS | word_set("and or the")


_NEAR_WORSHIP, _FURTHEST_ITEM, _FURTHEST_NAME, _TERM, _NEAR, _GLOSS = 4, 24, 6, 4, 30, 7
"""Tokens in which a word of worship, the opening of an enumeration, "name", the end of a term in
quotation marks, the pronoun of a name that is rare, and the noun of an explanation are looked for.
"""

_WELL_KNOWN = 20_000
"""Bearers of a first name that needs nothing beside it."""


def is_thing(
    text: str, tokens: Tokens, words: Sequence[str], mentions: Sequence[Candidate]
) -> bool:
    """Whether the mentions of one name speak rather for a thing than for a person.

    `words` are those of the longest form of the name in lower case.
    """
    low, gods = tokens.low, tokens.local.gods
    # What the words of the name say for a thing, whatever stands around them
    if len(words) == 1:
        pair = words[0].split("-")
        listed = words[0] in THINGS.things_alone or (len(pair) > 1 and gods.issuperset(pair))
        things = 1.5 if listed else float(words[0] in tokens.words)
    elif words[-1] in THINGS.doubtful_parts or words[0] in THINGS.doubtful_openers:
        things = 1.0 if en.bearers(words[0]) >= en.FREQUENT else 1.5
    else:
        called = words[0] in THINGS.deities and gods.issuperset(words[1:])
        things = 1.5 if called else float(gods.issuperset(words))
    things += sum(speaks_for_thing(text, tokens, run) for run in mentions)
    known = len(words) == 1 and (len(mentions) > 1 or en.bearers(words[0]) >= _WELL_KNOWN)
    if known and not things:
        return False
    people = sum(speaks_for_person(text, tokens, run) for run in mentions)
    if things or people:
        return things > people
    # Nothing tells a person: a rare name is a term's, unless a pronoun follows before anybody else
    if len(words) == 1:
        start, end, follows = mentions[0].start, mentions[0].end, False
        for at in range(end, min(len(low), end + _NEAR)):
            follows = low[at] in en.PRONOUNS
            if follows or (low[at] != tokens.words[at] and low[at - 1] not in THINGS.ends):
                break
        return not (follows or tokens.quoted[start])
    unknown, frequent = not en.bearers(words[-1]), en.bearers(words[0]) >= en.FREQUENT
    if len(words) > 2 and not frequent:
        return unknown
    if any(is_term(text, tokens, run) for run in mentions):
        return unknown or not frequent
    behind = (_before(text, tokens, run.start) for run in mentions)
    return not frequent and not THINGS.articles.isdisjoint(behind)


def is_term(text: str, tokens: Tokens, run: Candidate) -> bool:
    """Whether a mention stands as terms do: in quotation marks, or before what it means."""
    low, start, end = tokens.low, run.start, run.end
    if _named(tokens, start):
        return False
    if low[end : end + 1] == ["("] and _token(low, end + 1) not in _NO_GLOSS:
        return tokens.words[end + 1 : end + 2] == low[end + 1 : end + 2]
    if start and low[start - 1] in QUOTES and not QUOTES.isdisjoint(low[end : end + 2]):
        return True
    if low[max(0, start - 2) : start] == ["known", "as"]:
        return True
    return start > 0 and gap(text, tokens, start - 1).strip() in _SINGLE


def is_quoted(text: str, tokens: Tokens, run: Candidate) -> bool:
    """Whether quotation marks close around a mention, which is neither given as a name nor called.

    Little more may stand before the closing mark: 'called "Anjali," in which', "the 'Anna katha'".
    What somebody chants is quoted in any case.
    """
    low, words, end = tokens.low, tokens.words, run.end
    if tokens.quoted[run.start]:
        opens = run.start
        while opens and tokens.quoted[opens - 1]:
            opens -= 1
        if not THINGS.chants.isdisjoint(low[max(0, opens - _NEAR_WORSHIP - 1) : opens]):
            return True
    if not run.start or _token(low, run.start - 1) in _PEOPLE | en.NAMING:
        return False
    opener = run.start - (low[run.start - 1] in QUOTES)
    if opener == run.start and gap(text, tokens, run.start - 1).strip() not in _SINGLE:
        return False
    if not _closes(text, tokens, end):
        before = words[opener - 1] if opener else "."
        said = not before.islower() or before in en.SAYING or before.endswith("ed")
        if said or not any(_closes(text, tokens, at) for at in range(end + 1, end + _TERM)):
            return False
    if not _named(tokens, run.start):
        return True
    # "name" before several words: "chants of the name 'Om Namo'"
    near = low[max(0, run.start - _FURTHEST_NAME) : run.start]
    meant = _token(low, opener - 1) in THINGS.meaning or not THINGS.worship.isdisjoint(near)
    return len(run.words) > 1 and meant


def _closes(text: str, tokens: Tokens, at: int) -> bool:
    """Whether a quotation mark stands behind the token before `at`."""
    low = tokens.low
    single = 0 < at < len(low) and gap(text, tokens, at - 1)[:1] in _SINGLE
    return single or _token(low, at) in QUOTES


def _before(text: str, tokens: Tokens, at: int) -> str:
    """The token before a position; a full stop where a number stands between."""
    if not at or any(map(str.isdigit, gap(text, tokens, at - 1))):
        return "."
    return tokens.low[at - 1]


def speaks_for_thing(text: str, tokens: Tokens, run: Candidate) -> bool:
    """Whether what stands around a mention speaks for a thing."""
    first = run.titles[0] if run.titles else run.start
    if run.titles and not _of_gods(tokens, first):
        return False
    before, earlier = _before(text, tokens, first), _token(tokens.low, first - 2)
    at = run.end + (_token(tokens.low, run.end) in QUOTES)
    after = _token(tokens.low, at)
    if after in THINGS.nouns_behind and gap(text, tokens, at - 1).strip(" ’'\"”") == "":
        return True
    if (
        after in THINGS.happening
        or before in THINGS.qualities
        or before in THINGS.handled
        or before == "river"
    ):
        return True
    if after in THINGS.particles or before in THINGS.particles or is_explained(tokens, run):
        return True
    if (
        (run.opening and after in THINGS.objects)
        or before in THINGS.extremes
        or _one_of(tokens, run)
    ):
        return True
    return (
        (len(run.words) > 1 and before == "sweet")
        or is_where(tokens, run, before, earlier, after)
        or is_worshipped(tokens, run)
        or is_item(tokens, run)
        or is_quoted(text, tokens, run)
        or _beside_plants(tokens, run)
    )


def _of_gods(tokens: Tokens, at: int) -> bool:
    """Whether the title at `at` also stands before gods."""
    return tokens.low[at] in THINGS.deities or tokens.low[at] in tokens.local.sacred


def _one_of(tokens: Tokens, run: Candidate) -> bool:
    """Whether a mention says of which people somebody is: "an elderly Gond named Bhanu"."""
    low, end = tokens.low, run.end
    return (
        _token(low, end) in en.NAMING and tokens.words[end + 1 : end + 2] != low[end + 1 : end + 2]
    )


def is_explained(tokens: Tokens, run: Candidate) -> bool:
    """Whether what follows calls a mention a thing: "Salem, a busy city", "Vada is a dish"."""
    low = tokens.low
    at = run.end + (_token(low, run.end) in QUOTES)
    if _token(low, at) not in _BEFORE_GLOSS:
        return False
    at += 1 + (_token(low, at + 1) in QUOTES)
    at += 2 * (low[at : at + 2] == ["one", "of"])
    if _token(low, at) not in THINGS.glosses:
        return False
    for place in range(at + 1, min(at + _GLOSS, len(low))):
        after = _token(low, place + 1)
        if low[place] in THINGS.nouns and (after in _BEHIND_NOUNS or after.endswith(("ed", "ing"))):
            return True
        if low[place] in _PEOPLE | en.FUNCTION_WORDS or not low[place][0].isalpha():
            return False
    return False


def is_where(tokens: Tokens, run: Candidate, before: str, earlier: str, after: str) -> bool:
    """Whether a mention says where something is, or what something is called."""
    rare = en.bearers(run.words[0]) < en.FREQUENT
    if before == "of":
        heart = tokens.low[max(0, run.start - 4) : run.start - 1] == ["in", "the", "heart"]
        return heart or earlier in THINGS.nouns_of_places or earlier in THINGS.nouns_of_things
    if before in THINGS.where and after != "'s":
        # A land of two words may follow: "in Salem, Tamil Nadu"
        low, end = tokens.low, run.end
        return rare or (_token(low, end) == "," and _token(low, end + 2) in PLACES)
    if before == "from" and earlier in THINGS.arrival:
        return rare
    kind = tokens.words[run.start - 2 : run.start - 1] == [earlier]
    called = before in en.NAMING and earlier not in _PEOPLE and earlier.isalpha() and kind
    return called and rare and not _named(tokens, run.start)


def _beside_plants(tokens: Tokens, run: Candidate) -> bool:
    """Whether the name is a plant's and stands beside another's: "marigold and Jasmine"."""
    if not THINGS.plants.issuperset(run.words):
        return False
    near = tokens.low[max(0, run.start - 4) : run.start] + tokens.low[run.end : run.end + 4]
    return not THINGS.plants.isdisjoint(near) or "garlands" in near


def _token(low: Sequence[str], at: int) -> str:
    """The token at a position, or a full stop beyond the text."""
    return low[at] if 0 <= at < len(low) else "."


def is_worshipped(tokens: Tokens, run: Candidate) -> bool:
    """Whether a mention is a god's to whom somebody prays."""
    low, at = tokens.low, run.start
    god = tokens.local.gods.issuperset(run.words)
    if (low[at - 1] in THINGS.deities and at) or (god and _is_sacred(tokens, at)):
        return True
    if at > 1 and low[at - 1] == "," and low[at - 2] in THINGS.deities:
        return True
    while god and at and (low[at - 1] in tokens.local.gods or low[at - 1] in _BETWEEN_ITEMS):
        at -= 1
    near = low[max(0, at - _NEAR_WORSHIP) : at]
    if god:
        return not THINGS.worship.isdisjoint(near) or low[at - 1] == "river"
    if _token(low, at - 1) not in ("to", "of") or en.bearers(run.words[0]) >= en.FREQUENT:
        return False
    return _token(low, at - 2) in THINGS.worship and _token(low, run.end) != "'s"


def _is_sacred(tokens: Tokens, at: int) -> bool:
    """Whether what stands before a god's name is said of gods: "Mother Ganga", "Lord Ram and"."""
    low = tokens.low
    if at > 1 and tokens.words[at - 1] == "Mother" and low[at - 2] not in _MARKS:
        return True
    joined = at > 2 and low[at - 1] == "and" and low[at - 3] in THINGS.deities
    if joined and low[at - 2] in tokens.local.gods:
        return True
    return _token(low, at - 1) in THINGS.calls or low[max(0, at - 3) : at] == ["the", "name", "of"]


def _before_list(tokens: Tokens, run: Candidate) -> int:
    """Position of the last word before the names that are enumerated up to a mention."""
    at = run.start - 1
    least = max(1, at - _FURTHEST_ITEM)
    while at > least and (tokens.low[at] in _BETWEEN_ITEMS or tokens.words[at][0].isupper()):
        at -= 1
    return at


def is_item(tokens: Tokens, run: Candidate) -> bool:
    """Whether a mention is one of the things that "dishes such as" enumerates."""
    low = tokens.low
    at = _before_list(tokens, run)
    if low[at] not in THINGS.like:
        return False
    at -= 1 + (low[at] == "as" and low[at - 1] == "such")
    at -= low[at] in _MARKS
    noun = _token(low, at)
    plural = noun.endswith("s") and not noun.endswith("ss") and len(noun) > 3
    return plural and noun not in en.PLURAL_PEOPLE and noun[:-1] not in en.PERSON_NOUNS


def _named(tokens: Tokens, at: int) -> bool:
    """Whether "name" stands before: "they chose the name Salem"."""
    return not THINGS.names.isdisjoint(tokens.low[max(0, at - _FURTHEST_NAME) : at])


def speaks_for_person(text: str, tokens: Tokens, run: Candidate) -> float:
    """What stands around a mention and speaks for a person."""
    low = tokens.low
    first = run.titles[0] if run.titles else run.start
    if (run.titles and not _of_gods(tokens, first)) or honorifics(tokens, run):
        return 2.0
    before, earlier = _before(text, tokens, first), _token(low, first - 2)
    after, second = _token(low, run.end), _token(low, run.end + 1)
    if before in THINGS.deities | THINGS.extremes or _one_of(tokens, run):
        return 0.0
    if tokens.local.gods.issuperset(run.words) and _is_sacred(tokens, first):
        return 0.0
    found = 0.5 * (low[first] in tokens.local.sacred)
    kin = before in _MARKS and (earlier in en.KIN or (after in _MARKS and earlier in _PEOPLE))
    # Whether who said something follows a verb: "said Ann", '"Now!" prompted Ann'
    spoke = not run.opening and (
        before in en.SAYING or (earlier in QUOTES and before.endswith("ed"))
    )
    kind = before in en.NAMING and tokens.words[max(0, first - 2)] != earlier
    found += before in _PEOPLE or kin or spoke or kind or _named(tokens, first)
    found += before in _BETWEEN_ITEMS and tokens.low[_before_list(tokens, run)] in _SEVERAL
    if before not in _PREPOSITIONS:
        told = second if after.endswith("ly") else after
        worn = _token(low, run.end + 2) if second.endswith("ly") else second
        acts = told in _ACTS if _beside_plants(tokens, run) else _is_act(told)
        found += acts or (after == "," and (worn in THINGS.clad or second.isdigit()))
        busy = second.endswith("ing") and second not in THINGS.meaning
        found += after == "," and busy and _token(low, run.end + 2) in en.PRONOUNS
    if after == "'s":
        found += (
            1
            if second in _PEOPLE or second in THINGS.owned
            else 0.5 * (second not in THINGS.nouns_behind)
        )
    if after in THINGS.who or (after == "," and second in THINGS.who) or after in THINGS.self:
        found += 1
    if after in (",", "(", "—", "–") or after in en.COPULAS:
        found += second in THINGS.determiners and _is_person(tokens, run.end + 2)
    if after == "," and tokens.words[run.end + 1 : run.end + 2] != [second]:
        found += _token(low, run.end + 2) == "'s" and _is_person(tokens, run.end + 3)
    if before == "and" or after == "and":
        beside = earlier if before == "and" else second
        if en.bearers(beside) > 0 and beside not in THINGS.plants:
            found += 0.5 * (beside not in tokens.local.gods) + _pair(tokens, run)
    return found


def _pair(tokens: Tokens, run: Candidate) -> float:
    """What speaks for people around "A and B", one of which is `run`: "her parents, A and B"."""
    low, start, end = tokens.low, run.start, run.end
    start, end = (start - 2, end) if low[start - 1] == "and" and start > 1 else (start, end + 2)
    before, earlier = _token(low, start - 1), _token(low, start - 2)
    after, second = _token(low, end), _token(low, end + 1)
    kin = before in _SEVERAL or (before in _MARKS and earlier in _SEVERAL)
    told = after == "," and second in THINGS.determiners and _is_person(tokens, end + 2, _SEVERAL)
    return 0.5 * (kin or told or (before not in _PREPOSITIONS and _is_act(after)))


def _is_act(word: str) -> bool:
    """Whether a word behind a name is a verb of people: "Ann laughed", "saw Ann laugh"."""
    if f"{word}s" in LISTS.human:
        return True
    return word in _ACTS or (word.endswith("ed") and word not in THINGS.happening)


def _is_person(tokens: Tokens, at: int, nouns: frozenset[str] = _PEOPLE) -> bool:
    """Whether the noun phrase whose second word stands at `at` is a person's."""
    for word in tokens.low[at : at + 5]:
        if word in nouns:
            return True
        if not word[0].isalpha() or word in _PREPOSITIONS or word in THINGS.deities:
            return False
    return False
