"""What a story holds before anyone is given a role: names, nouns, pronouns, and what people do.

Role nouns beside names and the verbs of the roles say who is the subject and who the object.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress, takewhile

from portrayal.annotate.people.names.clusters import SURE, NameCluster, scan_people
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.links import PersonMention, pronoun_at
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.shared.scan import Tokens, local_words
from portrayal.annotate.people.shared.words import WordLists
from portrayal.reference.locales import Locale

LISTS = WordLists("stories")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class RoleWords:
    """Nouns of the two roles, casefolded, of which one may stand in both; modifiers with weights.

    A modifier of the subject weighs more than 0, one of the object less.
    """

    subject_nouns: frozenset[str]
    object_nouns: frozenset[str]
    modifiers: Mapping[str, float]


@lru_cache(maxsize=1024)
def role_words(roles: Roles) -> RoleWords:
    """Words for `roles`, from the role's own words and the families they belong to."""
    subject, subject_modifiers = _expand(roles.subject)
    other, other_modifiers = _expand(roles.object or "")
    if roles.object and not roles.paired:
        # A mentor is the giver unless the prompt calls its receiver one
        subject |= LISTS.givers - other
        other |= LISTS.receivers - subject
    modifiers = dict.fromkeys(LISTS.younger, -0.6) | dict.fromkeys(LISTS.elder, 1.2)
    modifiers |= dict.fromkeys(sorted(other_modifiers - subject_modifiers), -1.0)
    modifiers |= dict.fromkeys(sorted(subject_modifiers - other_modifiers), 1.0) | {"american": 1.0}
    return RoleWords(subject, other, modifiers)


def _expand(role: str) -> tuple[frozenset[str], frozenset[str]]:
    """Nouns and modifiers that a role's wording suggests."""
    wording = takewhile(lambda word: word not in LISTS.role_ends, _WORD.findall(role.casefold()))
    words = [word for word in wording if word not in LISTS.drop]
    if not words:
        return frozenset(), frozenset()
    # "two friends": stories say "friend"
    *modifiers, head = words
    head = re.sub(r"(?<!s)s$", "", head)
    # "person" and its like may be anybody
    nouns = frozenset((head,)) - LISTS.generic_roles
    families = [family for family in en.LISTS.lines("role_families") if head in family]
    similar = [row for row in en.LISTS.lines("modifier_families") if not row.isdisjoint(modifiers)]
    nouns = nouns.union(*(family - {"culinary"} for family in families))
    return nouns, frozenset(modifiers).union(*similar)


LEAST, MOST = -1.25, 6.0
"""Log odds from which a name is a person's, as a story names hardly anything else; the highest
score, of one that stands in the story often."""

IN_QUOTES = 0.4
"""What a mention counts that stands in a quotation."""

_PREAMBLE = re.compile(
    r"\s*(?:sure|certainly|of course|absolutely|okay|ok)?[,.!:\s]{0,4}"
    r"(?:(?:here is|here's|here’s|here are|this is|below is)\b[^\n]{0,300}?(?::|\n|words\.|story\.)"
    r"|(?:prompt:\s*)?write a (?:short )?story\b[^\n]{0,300}\n"
    r"|(?:sure|certainly|of course|absolutely)\b[^\n.!]{0,200}[!:])",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"[\s>]*(?:#{1,6}[^\n]{1,120}\n|\*\*[^\n*]{1,100}\*\*:?[ \t]*\n|title:[^\n]{1,120}\n"
    r"|[^\n.!?,;:\"“”]{1,60}\n[ \t]*\n)",
    re.IGNORECASE,
)
_LEAST = 60
"""A heading is only skipped when at least this many characters of story follow."""


def story_start(text: str) -> int:
    """Offset of the first character of the story in `text`, after preamble and heading.

    Nothing is skipped when too little would be left, so an answer set wholly in bold, or one that
    is a single line, is kept whole.
    """
    start = 0
    for pattern in (_PREAMBLE, _TITLE):
        match = pattern.match(text, start)
        if match and len(text) - match.end() >= _LEAST:
            start = match.end()
    remaining = text[start:].strip()
    # A story set in quotation marks as a whole is no speech
    if len(remaining) > _LEAST and remaining[0] in '"“':
        marks = sum(map(remaining.count, '"“”'))
        if marks == 1 or (marks == 2 and remaining[-1] in '"”'):
            start = text.index(remaining[0], start) + 1
    return start


_REACH = 7


def attached(tokens: Tokens, i: int, names: Mapping[int, int]) -> int | None:
    """Index of the person whom the noun at `i` names or describes, if one stands beside it.

    "her friend Emily", "a student named Alex", "Maria, a shy student" and "Sarah was the star".
    """
    low = tokens.low
    ahead, limit = i + 1, len(low) - 1
    # "the student's mother Ann": Ann is not the student
    if low[ahead : ahead + 1] == ["'s"]:
        return None
    ahead += ahead < limit and low[ahead] in LISTS.marks
    ahead += ahead < limit and low[ahead] in en.LISTS.naming
    limit = min(limit, i + _REACH)
    while ahead < limit and low[ahead] in LISTS.title_dots:
        ahead += 1
    # First whoever is named behind the noun
    if ahead in names and tokens.sentence[ahead] == tokens.sentence[i]:
        return names[ahead]
    # The person described by a noun phrase that ends at `at`, after a comma or a copula
    determined = False
    for back in range(i - 1, max(0, i - _REACH), -1):
        word = low[back]
        if word in LISTS.marks or (word in en.COPULAS and (word != "'s" or determined)):
            person = names.get(back - 1, names.get(back - 2))
            if person is not None or word != "," or determined:
                return person
            continue
        between = word in LISTS.not_between - {"and"}
        if determined or between or not (word[0].isalpha() or word == "'s"):
            return None
        determined = word in LISTS.determiners
    return None


def owner_of(low: Sequence[str], i: int) -> int | None:
    """Position of the possessive that opens the noun phrase ending at `i`, if any."""
    for back in range(i - 1, max(-1, i - 5), -1):
        if low[back] in LISTS.possessives:
            return back
        if low[back] in LISTS.not_between or not low[back][0].isalpha():
            return None
    return None


GIVES = LISTS.giving
"""The one who does these is the subject, the one they are done to the object."""

RECEIVES = LISTS.receiving
"""The one who does or is these is the object, the one they are done to the subject."""

_CUES = GIVES | RECEIVES | LISTS.decides


SINGULAR = {f"{word}s": word for word in ("girl", "sister", "boy", "brother")}
SINGULAR |= {"women": "woman", "men": "man"}
"""Plural of a listed word → the listed word."""

GROUPS = {plural: en.GENDER_OF_WORD[word] for plural, word in SINGULAR.items()}
"""Words for two characters at once → their gender."""

_INTEREST = en.THEY.union(en.PLURAL_PEOPLE, en.PRONOUNS, en.GENDERED, en.OTHER_PEOPLE, GROUPS, "i")


@dataclass(slots=True)
class Noun:
    """A role noun or gendered noun.

    Attributes
    ----------
    position
        That of its token.
    value
        Above 0 for the subject's noun, below 0 for the object's, 0 where it may be either's.
    gender
        Gender that the noun tells, or "".
    person
        Index of the named person it stands beside, or None.
    owner
        Token position of the possessive before it ("her" friend), or None.
    role
        Whether it is one of the roles' nouns.
    """

    position: int
    value: float
    gender: str
    person: int | None
    owner: int | None
    role: bool


@dataclass(slots=True)
class Scene:
    """A story's people and the words that may stand for them; positions are those of tokens.

    Attributes
    ----------
    people, names
        Named people, and token position of a name → index of the person.
    nouns, outsiders
        Role nouns and gendered nouns, and nouns for people outside the roles.
    pronouns, they
        Pronouns of a gender, and forms of "they".
    groups, plurals
        Words for both characters ("the girls"), and nouns for several people.
    narrated
        Whether someone says "I" outside quotations.
    cues
        Words that may tell who acts as the subject, where two roles differ.
    """

    text: str
    tokens: Tokens
    words: RoleWords
    roles: Roles
    people: Sequence[NameCluster]
    names: dict[int, int]
    nouns: list[Noun] = field(default_factory=list)
    outsiders: list[int] = field(default_factory=list)
    pronouns: list[PersonMention] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    they: list[int] = field(default_factory=list)
    plurals: list[int] = field(default_factory=list)
    narrated: bool = False
    cues: list[int] = field(default_factory=list)

    def add_noun(self, i: int) -> None:
        """Add the noun at `i`, or the stranger whom it stands for."""
        low = self.tokens.low
        word, before = low[i], low[i - 1] if i else "."
        is_subject, is_object = word in self.words.subject_nouns, word in self.words.object_nouns
        role = is_subject or is_object
        if not role and word not in en.GENDERED:
            self.outsiders.append(i)
            return
        # "to coach" is a verb
        if word in LISTS.also_verbs and before == "to":
            return
        # "Love" stands for a person in "her love, Ann"
        behind = i + 1 + (low[i + 1 : i + 2] == [","])
        if word == "love" and (before not in LISTS.owners or behind not in self.names):
            return
        value = 0.0
        # Where both share a role, its noun is either's
        if not self.roles.paired:
            modifiers = [self.words.modifiers.get(word, 0.0) for word in low[max(0, i - 3) : i]]
            value = sum(modifiers) + is_subject - is_object
        near = attached(self.tokens, i, self.names), owner_of(low, i)
        self.nouns.append(Noun(i, value, en.GENDERED.get(word, ""), *near, role))

    def tones(self, events: Sequence[PersonMention]) -> dict[int, int]:
        """Token position of a pronoun → 0 where a giver would be meant there, 1 for a receiver.

        "she taught" and "thanked her" mean who gives, "she thanked" and "taught her" who receives.
        """
        low = self.tokens.low
        tone_at: dict[int, int] = {}
        for event in events:
            i, case = event.token, event.case
            # Before an object the nearest verb counts, so from the pronoun backwards
            near = low[i + 1 : i + 4] if case == "s" else low[max(0, i - 3) : i][::-1]
            verb = next((word for word in near if word in GIVES or word in RECEIVES), None)
            if verb is not None and case in ("s", "o"):
                tone_at[i] = int((verb in RECEIVES) == (case == "s"))
        return tone_at


def read_story(text: str, roles: Roles, locale: Locale | None = None) -> Scene:
    """Collect what a story holds before anyone is given a role: names, nouns and pronouns."""
    _, tokens, clusters = scan_people(text, local_words(locale), story_start(text))
    low, people = tokens.low, []
    for person in clusters:
        # "Saskia, the falconer" is somebody, however rare the name
        ends = [low[run.end : run.end + 2] for run in person.mentions]
        described = any(end[:1] == [","] and end[-1] in LISTS.describing for end in ends)
        if person.score + described < LEAST:
            continue
        people.append(person)
        # Bounded, so that a name said often does not decide alone
        weights = [IN_QUOTES if tokens.quoted[i] else 1.0 for i in person.places]
        person.score = min(MOST, max(0.0, min(SURE, person.score + described)) + sum(weights))
    words = role_words(roles)
    names = {i: index for index, person in enumerate(people) for i in person.places}
    scene = Scene(text, tokens, words, roles, people, names)
    # Few words matter: most of the text is passed over in one go
    vocabulary = _INTEREST | words.subject_nouns | words.object_nouns
    for i in compress(range(len(low)), map(vocabulary.__contains__, low)):
        word = low[i]
        if word in en.PRONOUNS:
            scene.pronouns.append(pronoun_at(tokens, i))
        elif word in en.THEY:
            scene.they.append(i)
        elif word in en.PLURAL_PEOPLE:
            scene.plurals.append(i)
        elif word in GROUPS:
            if i and low[i - 1] in LISTS.both:
                scene.groups.append(i)
        elif word == "i":
            scene.narrated |= not tokens.quoted[i]
        elif i not in names:
            scene.add_noun(i)
    if words.object_nouns and not scene.roles.paired:
        scene.cues = list(compress(range(len(low)), map(_CUES.__contains__, low)))
    return scene
