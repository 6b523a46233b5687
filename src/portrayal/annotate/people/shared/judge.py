"""How much a run of capitalised words behaves like the name of a person."""

from dataclasses import dataclass

from portrayal.annotate.people.shared.notnames import (
    CALENDAR,
    MONTHS,
    NATIONALITIES,
    NICKNAMES,
    NOT_PEOPLE,
    PLACE_HEADS,
    PLACE_TAILS,
    PLACES,
    SENTENCE_STARTERS,
)
from portrayal.annotate.people.shared.scan import Tokens
from portrayal.annotate.people.shared.thesaurus import OCCUPATIONS
from portrayal.annotate.people.shared.words import (
    APPOSITION,
    CLAUSE_MARKS,
    FUNCTION_WORDS,
    KIN,
    PREPOSITIONS_OF_PLACE,
    RELATIVES,
    VERBS_AFTER_NAME,
)

NEVER = FUNCTION_WORDS | NICKNAMES | CALENDAR | NATIONALITIES | PLACES
"""Words that are not part of any name."""

_PLACE_PARTS = frozenset(PLACE_HEADS | PLACE_TAILS)
_BREAKS = (CLAUSE_MARKS | {"(", ")"}) - {","}
_ARTICLES = frozenset(("the", "this", "an", "a"))
_NAMING = frozenset(("named", "called"))
_COMMON = (
    *("ing", "ings", "ence", "ance", "ity", "ism", "ship", "hood"),
    *("tion", "ness", "ment", "ers", "ors", "ents", "ies", "ates"),
)
_SINGULAR = frozenset(("was", "is", "has", "does", "doesn", "wasn", "isn"))
_DATING = frozenset(("by", "in", "last", "next", "since", "until", "early", "late", "mid"))
_PARTICIPLES = ("ed", "ful", "ous", "ent", "less", "ive")
_COMPOUND = ("ing", "ed", "based", "old", "year", "born", "er", "like")


@dataclass(slots=True)
class Run:
    """Consecutive capitalised words.

    Attributes
    ----------
    opens, start, end
        Token positions: of the first title or word, of the first word that is no title, and behind
        the last word.
    parts
        The words, without titles and initials.
    titles
        Token positions of the titles.
    formal
        Whether one of them stands before surnames.
    score
        How much this mention says "a person": about 1 for a plain one, negative for a place.
    """

    opens: int
    start: int
    end: int
    parts: list[str]
    titles: list[int]
    formal: bool
    score: float = 0.0

    def drop_first(self) -> None:
        """Leave out the first word."""
        self.parts = self.parts[1:]
        self.start += 1


def judge(tokens: Tokens, run: Run, forms: set[str]) -> bool:
    """Whether the run may be a name; sets its score and drops words that are not part of it.

    `forms` holds every word of the text as written: a word that also stands there in lower case
    is not a name.
    """
    low, words = tokens.low, tokens.words
    before = low[run.opens - 1] if run.opens else "."
    after = low[run.end] if run.end < len(low) else "."
    second = words[run.end + 1] if run.end + 1 < len(low) else "."
    if _is_place(run, after, second) or (before in _DATING and _is_month(run)):
        return False
    if before == "and" and _follows_name(tokens, run):
        run.score = 1.2
        return True
    if run.start > run.opens and not run.titles:
        before = ","
    if len(run.parts) > 1 and _drop_descriptions(run):
        before = "-"
    first = run.parts[0]
    if first[1:2].isupper() or first.lower() in OCCUPATIONS or _is_compound(first):
        return False
    if run.titles:
        aside = low[run.titles[0]] in RELATIVES or (after == "'s" and second in PLACE_TAILS)
        run.score = 0.5 if aside else 1.5
        return True
    if first.lower() in forms or _in_title_case(tokens, run, before):
        return False
    acts = after == "'s" or after in VERBS_AFTER_NAME or after.endswith("ed")
    if before in _BREAKS:
        run.score = _score_opening(run, after, second, acts=acts)
    else:
        run.score = _score_inside(tokens, run, before, after, second, acts=acts)
    return True


def _follows_name(tokens: Tokens, run: Run) -> bool:
    """Whether the run behind an "and" is the second of two names: "Ann and Bo"."""
    if run.opens < 2:
        return False
    return tokens.words[run.opens - 2][0].isupper() and tokens.low[run.opens - 2] not in NEVER


def _is_month(run: Run) -> bool:
    """Whether a dated run is but a month: "in August"; drops that of "in August Ann left"."""
    if run.parts[0].lower() in MONTHS and not run.titles:
        run.drop_first()
    return not run.parts


def _drop_descriptions(run: Run) -> bool:
    """Drop words that only describe the bearer; whether an adjective with a hyphen was dropped."""
    while len(run.parts) > 1 and _is_label(run.parts[0].lower()):
        run.drop_first()
    dropped = False
    while len(run.parts) > 1 and _is_compound(run.parts[0]):
        run.drop_first()
        dropped = True
    return dropped


def _is_place(run: Run, after: str, second: str) -> bool:
    """Whether the run is part of the name of a place or organisation, or a label before a colon."""
    if after == ":" or after in PLACE_TAILS:
        return True
    if after == "'s" and second[0].isupper() and second.lower() in PLACE_TAILS:
        return True
    if len(run.parts) == 1:
        return run.parts[0].lower() in _PLACE_PARTS
    return not _PLACE_PARTS.isdisjoint(map(str.lower, run.parts))


def _is_label(word: str) -> bool:
    """Whether a word before a name only describes its bearer: "Manager Sullivan"."""
    return word in OCCUPATIONS or word in SENTENCE_STARTERS


def _is_compound(word: str) -> bool:
    """Whether a word with a hyphen is an adjective: "New York-based", "Ten-year-old"."""
    first, hyphen, rest = word.partition("-")
    if not hyphen:
        return False
    return first.lower() in NEVER or (rest[:1].islower() and word.endswith(_COMPOUND))


def _in_title_case(tokens: Tokens, run: Run, before: str) -> bool:
    """Whether the run continues a place name or a title such as "My Dearest Fan"."""
    position = run.opens
    if not position or not tokens.words[position - 1][0].isupper():
        return False
    if before in PLACE_HEADS:
        return True
    return before in FUNCTION_WORDS and position > 1 and tokens.low[position - 2] not in _BREAKS


def _score_opening(run: Run, after: str, second: str, *, acts: bool) -> float:
    """Score of a run that opens a sentence, where any word is capitalised."""
    key = run.parts[0].lower()
    if key in SENTENCE_STARTERS:
        return 0.0
    plural = key.endswith("s") and after != "'s" and after not in _SINGULAR
    plain = "-" not in key and (plural or not key.endswith("s"))
    if plain and key.endswith(_COMMON):
        return 0.0
    if key.endswith("ly") and len(key) > 6:
        return 0.2
    if len(run.parts) > 1:
        return 1.2 if acts or not after[0].isalpha() or after in FUNCTION_WORDS else 0.3
    if after == "and":
        score = 1.2 if second[0].isupper() or second in APPOSITION else 0.2
    elif after == ",":
        participle = len(key) > 6 and key.endswith(_PARTICIPLES)
        score = 1.2 if second in APPOSITION and not participle else 0.3
    elif acts:
        score = 0.5 if plural else 1.0
    else:
        score = 0.5 if after.endswith("s") else 0.3
    return score


def _score_inside(
    tokens: Tokens, run: Run, before: str, after: str, second: str, *, acts: bool
) -> float:
    """Score of a run inside a sentence."""
    low, position = tokens.low, run.opens
    earlier = low[position - 2] if position > 1 else "."
    score = 1.0
    if after == "and" and second[0].isupper():
        score = 1.2
    elif (earlier if before in _NAMING else before) in NOT_PEOPLE:
        score = -1.0
    elif before == "," and after in (",", ".") and _in_region(tokens, position):
        score = -0.7
    elif (
        not acts
        and after[0].isalpha()
        and after not in FUNCTION_WORDS
        and (not after.endswith(("s", "ly", "ing")))
    ):
        score = 0.3
    elif before in PREPOSITIONS_OF_PLACE:
        score = 0.6 if before != "in" or after == "'s" else -0.7
    elif earlier in PREPOSITIONS_OF_PLACE and before not in FUNCTION_WORDS:
        score = 0.4
    elif before in _ARTICLES:
        score = 0.0
    elif before in KIN or before == "named":
        score = 2.0
    if after == "," and second in APPOSITION:
        score += 0.6
    return score + 0.5 if acts else score


def _in_region(tokens: Tokens, position: int) -> bool:
    """Whether a place stands before: the second name of "in Savannah, Georgia,"."""
    if position < 3 or not tokens.words[position - 2][0].isupper():
        return False
    return tokens.low[position - 3] in PREPOSITIONS_OF_PLACE
