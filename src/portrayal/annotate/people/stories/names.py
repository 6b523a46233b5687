"""Named people of a story: runs of capitalised words that behave like the name of a person."""

from dataclasses import dataclass, field
from itertools import compress
from operator import ne

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.scan import ENGLISH, QUOTES, Tokens

_PLACE_PARTS = frozenset(en.PLACE_HEADS | en.PLACE_TAILS)
_BREAKS = (en.CLAUSE_MARKS | {"(", ")"}) - {","}
_LABELS = en.OCCUPATIONS | en.SENTENCE_STARTERS
_ARTICLES = frozenset(("the", "this", "an", "a"))
_COMMON = (
    *("ing", "ings", "ence", "ance", "ity", "ism", "ship", "hood"),
    *("tion", "ness", "ment", "ers", "ors", "ents", "ies", "ates"),
)
_SINGULAR = frozenset(("was", "is", "has", "does", "doesn", "wasn", "isn"))
_DATING = frozenset(("by", "in", "last", "next", "since", "until", "early", "late", "mid"))
_PARTICIPLES = ("ed", "ful", "ous", "ent", "less", "ive")
_COMPOUND = ("ing", "ed", "based", "old", "year", "born", "er", "like")


@dataclass(slots=True)
class NameRun:
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


def judge(tokens: Tokens, run: NameRun, forms: set[str]) -> bool:
    """Whether the run may be a name; sets its score and drops words that are not part of it.

    `forms` holds every word of the text as written: a word that also stands there in lower case
    is not a name.
    """
    low, words = tokens.low, tokens.words
    before = low[run.opens - 1] if run.opens else "."
    after = low[run.end] if run.end < len(low) else "."
    second = words[run.end + 1] if run.end + 1 < len(low) else "."
    place = _is_place(run, after, second)
    if before in _DATING and run.parts[0].lower() in en.MONTHS and not (place or run.titles):
        run.drop_first()  # "in August Ann left"
    if place or not run.parts:
        return False
    other = run.opens - 2
    if before == "and" and other >= 0 and words[other][0].isupper() and not _no_name(tokens, other):
        run.score = 1.2  # the second of two names: "Ann and Bo"
        return True
    if run.start > run.opens and not run.titles:
        before = ","
    # Drop words that only describe the bearer: "Manager Sullivan", "Ten-year-old Ann"
    while len(run.parts) > 1 and run.parts[0].lower() in _LABELS:
        run.drop_first()
    while len(run.parts) > 1 and _is_compound(run.parts[0]):
        run.drop_first()
        before = "-"
    first = run.parts[0]
    if first[1:2].isupper() or first.lower() in en.OCCUPATIONS or _is_compound(first):
        return False
    if run.titles:
        aside = low[run.titles[0]] in en.RELATIVES or (after == "'s" and second in en.PLACE_TAILS)
        run.score = 0.5 if aside else 1.5
        return True
    # A place name or a title such as "My Dearest Fan" may go on here
    goes_on = before in en.PLACE_HEADS or (
        before in en.FUNCTION_WORDS and run.opens > 1 and low[run.opens - 2] not in _BREAKS
    )
    capital = run.opens > 0 and words[run.opens - 1][0].isupper()
    if first.lower() in forms or (capital and goes_on):
        return False
    acts = after == "'s" or after in en.VERBS_AFTER_NAME or after.endswith("ed")
    if before in _BREAKS:
        run.score = score_opening(run, after, second, acts=acts)
    else:
        run.score = score_inside(tokens, run, before, after, second, acts=acts)
    return True


def _is_place(run: NameRun, after: str, second: str) -> bool:
    """Whether the run is part of the name of a place or organisation, or a label before a colon."""
    if after == ":" or after in en.PLACE_TAILS:
        return True
    if after == "'s" and second[0].isupper() and second.lower() in en.PLACE_TAILS:
        return True
    if len(run.parts) == 1:
        return run.parts[0].lower() in _PLACE_PARTS
    return not _PLACE_PARTS.isdisjoint(map(str.lower, run.parts))


def _is_compound(word: str) -> bool:
    """Whether a word with a hyphen is an adjective: "New York-based", "Ten-year-old"."""
    first, hyphen, rest = word.partition("-")
    if not hyphen:
        return False
    return first.lower() in en.NEVER_NAMES or (rest[:1].islower() and word.endswith(_COMPOUND))


def score_opening(run: NameRun, after: str, second: str, *, acts: bool) -> float:
    """Score of a run that opens a sentence, where any word is capitalised."""
    key = run.parts[0].lower()
    if key in en.SENTENCE_STARTERS:
        return 0.0
    plural = key.endswith("s") and after != "'s" and after not in _SINGULAR
    plain = "-" not in key and (plural or not key.endswith("s"))
    if plain and key.endswith(_COMMON):
        return 0.0
    if key.endswith("ly") and len(key) > 6:
        return 0.2
    if len(run.parts) > 1:
        return 1.2 if acts or not after[0].isalpha() or after in en.FUNCTION_WORDS else 0.3
    if after == "and":
        score = 1.2 if second[0].isupper() or second in en.APPOSITION else 0.2
    elif after == ",":
        participle = len(key) > 6 and key.endswith(_PARTICIPLES)
        score = 1.2 if second in en.APPOSITION and not participle else 0.3
    elif acts:
        score = 0.5 if plural else 1.0
    else:
        score = 0.5 if after.endswith("s") else 0.3
    return score


def score_inside(
    tokens: Tokens, run: NameRun, before: str, after: str, second: str, *, acts: bool
) -> float:
    """Score of a run inside a sentence."""
    low, position = tokens.low, run.opens
    earlier = low[position - 2] if position > 1 else "."
    # A place stands before the second name of "in Savannah, Georgia,"
    region = position > 2 and tokens.words[position - 2][0].isupper()
    region = region and low[position - 3] in en.PREPOSITIONS_OF_PLACE
    score = 1.0
    if after == "and" and second[0].isupper():
        score = 1.2
    elif (earlier if before in en.NAMING else before) in en.NAMED_THINGS:
        score = -1.0
    elif before == "," and after in (",", ".") and region:
        score = -0.7
    elif (
        not acts
        and after[0].isalpha()
        and after not in en.FUNCTION_WORDS
        and (not after.endswith(("s", "ly", "ing")))
    ):
        score = 0.3
    elif before in en.PREPOSITIONS_OF_PLACE:
        score = 0.6 if before != "in" or after == "'s" else -0.7
    elif earlier in en.PREPOSITIONS_OF_PLACE and before not in en.FUNCTION_WORDS:
        score = 0.4
    elif before in _ARTICLES:
        score = 0.0
    elif before in en.KIN_BEFORE_NAMES or before == "named":
        score = 2.0
    if after == "," and second in en.APPOSITION:
        score += 0.6
    return score + 0.5 if acts else score


LONGEST = 6
"""Words of a run beyond which a new run starts."""

IN_QUOTES, TITLED_IN_QUOTES = 0.4, 0.2
"""Weight of a name inside a quotation; "Mr. Pitt!" there is often someone named otherwise."""


def find_runs(tokens: Tokens) -> tuple[list[NameRun], dict[str, str]]:
    """Runs of capitalised words that are not ruled out, in order; and nickname → first name.

    A nickname stands in quotation marks within a name: 'William "Blitz" Bradford'.
    """
    words, low, quoted = tokens.words, tokens.low, tokens.quoted
    found: list[NameRun] = []
    nicknames: dict[str, str] = {}
    forms = set(words)
    organisations: set[str] = set()
    behind, last = 0, len(words) - 3
    for position in compress(range(len(words)), map(ne, words, low)):
        if position < behind or _no_name(tokens, position) or not words[position][0].isupper():
            continue
        run = _take(tokens, position)
        behind = run.end
        several = len(run.parts) > 1 and not run.titles
        if not run.parts or (several and " ".join(run.parts).lower() in tokens.local.whole):
            continue
        if behind < last and words[behind] in QUOTES:
            # Take a nickname in quotation marks and the surname behind it into the run
            end = run.end
            if words[end + 2] in QUOTES:
                nickname, surname = words[end + 1], words[end + 3]
                if nickname[0].isupper() and surname[0].isupper():
                    nicknames[nickname.lower()] = run.parts[0].lower()
                    run.parts.append(surname)
                    run.end = end + 4
            behind = run.end
        if judge(tokens, run, forms):
            if quoted[run.opens]:
                run.score *= TITLED_IN_QUOTES if run.formal else IN_QUOTES
            found.append(run)
        elif len(run.parts) > 1 and run.parts[-1].lower() in en.PLACE_TAILS:
            organisations.update(run.parts[:-1])
    if organisations:
        found = [run for run in found if run.titles or run.parts[0] not in organisations]
    return found, nicknames


def _take(tokens: Tokens, position: int) -> NameRun:
    """The run of capitalised words that opens at `position`, with the titles before it."""
    words, low = tokens.words, tokens.low
    n = len(words)
    end = position
    titles: list[int] = []
    if end + 1 < n and not words[end + 1][0].isupper() and not _is_title(tokens, end):
        return NameRun(
            position, end, end + 1, [words[end]] if len(words[end]) > 1 else [], titles, False
        )
    while end < n and _is_title(tokens, end) and words[end][0].isupper():
        titles.append(end)
        end += 1
        full = (
            low[end - 1] in tokens.local.titles and low[end - 1] not in tokens.local.abbreviations
        )
        if end < n and low[end] == "." and not full:
            end += 1
    start = end
    limit = min(n, start + LONGEST)
    while end < limit and words[end][0].isupper() and not _no_name(tokens, end):
        end += 1
    parts = [part for part in words[start:end] if len(part) > 1]
    if tokens.local is not ENGLISH:
        # Leave out the honorifics behind the name and at the end of its words
        while len(parts) > 1 and parts[-1].lower() in tokens.local.honorifics:
            parts.pop()
        parts = [part[: len(tokens.local.bare(part.lower()))] for part in parts]
    formal = any(
        low[title] in en.FORMAL_TITLES or low[title] in tokens.local.formal for title in titles
    )
    return NameRun(position, start, end, parts, titles, formal)


def _no_name(tokens: Tokens, at: int) -> bool:
    """Whether the word at `at` is part of no name."""
    word, local = tokens.low[at], tokens.local
    return word in en.NEVER_NAMES or word in local.nobody or word in local.places


def _is_title(tokens: Tokens, at: int) -> bool:
    """Whether the word at `at` is a title."""
    return tokens.low[at] in en.COMMON_TITLES or tokens.is_local_title(at)


SOME = 0.45
"""Score up to which a name is no person's."""

_ADJECTIVE = (
    *("ant", "ent", "ous", "ful", "ed", "ing", "al", "ive", "ic", "less", "able", "ible"),
    *("bright", "star", "brave", "smart", "kind", "sweet"),
)


@dataclass(slots=True)
class NamedPerson:
    """A named person: every place where the name stands.

    Attributes
    ----------
    first, surname
        As written; `first` is None where only a formal title and a surname are given.
    at
        Token positions of the name proper, in order.
    titles
        Token positions of titles before the name.
    score
        How much the name behaves like a person's, summed over its mentions.
    """

    first: str | None
    surname: str | None
    at: list[int] = field(default_factory=list)
    titles: list[int] = field(default_factory=list)
    score: float = 0.0


def find_people(tokens: Tokens) -> list[NamedPerson]:
    """People named in the text, in order of first mention."""
    runs, nicknames = find_runs(tokens)
    # Drop "Vibrant" from "Vibrant Megan" where "Megan" also stands alone
    alone = {run.parts[0] for run in runs if len(run.parts) == 1}
    for run in runs:
        if (
            len(run.parts) > 1
            and not run.titles
            and run.parts[1] in alone
            and run.parts[0] not in alone
            and (run.parts[0].lower().endswith(_ADJECTIVE) or tokens.quoted[run.start])
        ):
            run.drop_first()
    people: dict[str, NamedPerson] = {}
    by_surname: dict[str, NamedPerson] = {}
    for run in runs:
        if len(run.parts) > 1 and (first := run.parts[0].lower()) not in people:
            people[first] = NamedPerson(run.parts[0], run.parts[-1])
            by_surname.setdefault(run.parts[-1].lower(), people[first])
    for run in runs:
        key = run.parts[0].lower()
        key = nicknames.get(key, key)
        person = people.get(key)
        if person is None or (run.formal and len(run.parts) == 1 and key in by_surname):
            person = by_surname.get(key)
        if person is None:
            person = NamedPerson(None if run.formal else run.parts[0], run.parts[0])
            people[key] = person
            if run.formal:
                by_surname[key] = person
        person.at.append(run.start)
        person.titles.extend(run.titles)
        person.score += run.score
    for person in people.values():
        if person.first is None and 2 <= len(person.at) - len(person.titles) >= len(person.titles):
            person.first = person.surname
    likely = [person for person in people.values() if person.score > SOME]
    return sorted(likely, key=lambda person: person.at[0])
