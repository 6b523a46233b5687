"""The prompts of Table S7, and what a model's answers to one say, checked against the text.

As in Supplement B.3, names and references that do not stand in the text are removed; so are "names"
that are role words. Words outside Table S6a tell no gender and are not kept.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType

from portrayal.annotate.language import is_english, language_of
from portrayal.annotate.llm import plurality, templates
from portrayal.annotate.people.shared.model import (
    UNSPECIFIED,
    UNSURE,
    Character,
    Roles,
    Span,
    clean_name,
    gender_of_references,
    normalise_gender,
    one_gender,
)
from portrayal.annotate.people.shared.scan import gender_of_words
from portrayal.annotate.people.shared.words import GENDER_OF_WORD, WordLists
from portrayal.collect.ask.replies import plain_key, prompt_of, read_fields
from portrayal.records import Prompt
from portrayal.reference.locales import load_locale, locales

_FIRST_WORDS = re.compile(r"^(?:an?|the)\s+", re.I)
_PLURAL = re.compile(r"(?i:^two\s+)|(?<!s)s$")


def label_prompt(text: str, roles: Roles) -> Prompt:
    """Return the prompt of Table S7 for a text and the roles of its characters.

    A text in another language gets a prompt that asks for the person's gender apart from the
    grammatical gender of words, as most words of such languages have one.

    The keys of the answer are what `characters_of` calls them, with " name" and " references".
    The prompt is named by its words: the same text with the same roles is asked once.

    The table has no template for the Love domain; its two characters take the one for two. Where
    both share a role ("two American friends") they are called "first American friend" and "second
    American friend".
    """
    characters = characters_of(roles)
    forms = templates(__package__, "prompts.toml")
    if not is_english(text):
        names = " and ".join(f"the name of the {character}" for character in characters)
        whom = " or ".join(f"the {character}" for character in characters)
        fields = ",\n".join(forms["field"].format(Character=character) for character in characters)
        return prompt_of(forms["any"].format(story=text, what=names, whom=whom, fields=fields))
    # The template goes by how many characters there are, not by the domain
    places = ("Character",) if len(characters) == 1 else ("First Character", "Second Character")
    # The table prints its braces twice
    frame = forms["one" if len(characters) == 1 else "two"].replace("{{Story to Label}}", "{story}")
    return prompt_of(frame.format(story=text, **dict(zip(places, characters, strict=True))))


def characters_of(roles: Roles) -> tuple[str, ...]:
    """Return what the prompt calls the characters of `roles`: the roles without an article."""
    phrases = [" ".join(role.split()) for role in (roles.subject, roles.object) if role is not None]
    braces = str.maketrans("{}", "()")
    subject, *other = (_FIRST_WORDS.sub("", phrase).translate(braces) for phrase in phrases)
    if not roles.paired:
        return subject, *other
    role = _PLURAL.sub("", subject)
    return f"first {role}", f"second {role}"


# Vowel signs of Devanagari are letters of a word, which `\w` does not know
_MARKS = "\u0900-\u0903\u093a-\u094f\u0962\u0963"
_WORD = re.compile(rf"(?:[^\W\d_]|[{_MARKS}])+")


@dataclass(frozen=True, slots=True)
class CharacterResponse:
    """What one answer says of one character.

    Attributes
    ----------
    has_name
        Whether the answer has a field for the name at all, be it "Unspecified".
    name
        First name as the text writes it; None where there is none.
    references
        Casefolded words of Table S6a that stand in the text, of another language than English all
        that do; None where the answer has no such field.
    gender
        Gender that the references tell, in English by Table S6a; None where the field is missing.
    """

    has_name: bool
    name: str | None
    references: tuple[str, ...] | None
    gender: str | None


def read_answer(
    reply: str, characters: tuple[str, ...], text: str, removed: Counter[str]
) -> tuple[CharacterResponse, ...] | None:
    """Return what a reply says of each character, in their order.

    Parameters
    ----------
    reply
        The answer of the model.
    characters
        What the prompt called them.
    text
        The text that was labelled.
    removed
        Counts what was removed: names and references not in the text, names that are role words.

    Returns
    -------
    tuple of CharacterResponse
        None where the reply holds no field that was asked for.
    """
    # A number or an object is no name: the field counts as missing, not as "no name"
    read = read_fields(reply).items()
    fields = {key: value for key, value in read if isinstance(value, (str, list, NoneType))}
    # "Student" for a name is a role read back (Supplement B.3)
    language = language_of(text or "")
    genders = GENDER_OF_WORD if language == "en" else gender_words(language)
    banned = _ROLE_WORDS | {word for role in characters for word in _words(role)}
    present, responses = set(_words(text or "")), []
    for character in characters:
        key, references, gender = plain_key(character), None, None
        # A list is read as one that a table holds as text: "['Emily']"
        name = _name(str(fields.get(f"{key} name")), text, banned, removed)
        if f"{key} references" in fields:
            words = _words(str(fields[f"{key} references"]))
            if language == "en":
                # "doctor" refers to the character and tells no gender
                words = [word for word in words if word in genders]
            removed.update("references not in the text" for word in words if word not in present)
            references = tuple(dict.fromkeys(word for word in words if word in present))
            # By pronouns and titles; else by what is said of the person, if words stand for it
            gender = one_gender(genders[word] for word in references if word in genders)
            if gender == UNSPECIFIED and references:
                gender = normalise_gender(fields.get(f"{key} gender"))
        responses.append(CharacterResponse(f"{key} name" in fields, name, references, gender))
    is_usable = any(one.has_name or one.references is not None for one in responses)
    return tuple(responses) if is_usable else None


def _name(label: str, text: str, banned: frozenset[str], removed: Counter[str]) -> str | None:
    """First name in a label, as the text writes it; None where it is none or not there."""
    name = clean_name(label)
    if name is None:
        return None
    # Models copy the genitive: "Maria's"
    name = re.sub(r"['’]s?$", "", name)
    if name.casefold() in banned:
        removed["names that are role words"] += name.casefold() not in _NOUNS.nameless
        return None
    # As the text writes it; a word in small letters alone is no name, unless the whole text is
    matches = re.finditer(whole(name), text, re.IGNORECASE)
    spellings = [match[0] for match in matches if text.islower() or not match[0].islower()]
    if not spellings:
        removed["names not in the text"] += 1
        return None
    return name if name in spellings else spellings[0]


_NOUNS = WordLists("labeler", "rolenouns.toml")
_ROLE_WORDS = _NOUNS.no_names.union(_NOUNS.pronouns, _NOUNS.roles, GENDER_OF_WORD)


def whole(word: str) -> str:
    """Return a pattern for a whole word."""
    return rf"(?<!\w){re.escape(word)}(?![\w{_MARKS}])"


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


@cache
def gender_words(language: str) -> Mapping[str, str]:
    """Pronouns and titles that tell a gender in a language, by its locales: word → gender."""
    spoken = [locale for locale in map(load_locale, locales()) if locale.language == language]
    lists = [words for locale in spoken for words in (locale.pronouns, locale.titles)]
    return gender_of_words(*lists)


def locate(text: str, slots: Sequence[tuple[str | None, Sequence[str]]]) -> list[tuple[Span, ...]]:
    """Return the spans of each character's name and references, in order of place.

    A model says which words refer to a character and not where. So every place of a word counts,
    but a word that both characters share ("her") is marked for neither.
    """
    words_of = [dict.fromkeys((*references, (name or "").casefold())) for name, references in slots]
    n_claims = Counter(word for words in words_of for word in words)
    spans_of: list[tuple[Span, ...]] = []
    for name, references in slots:
        kinds = [(word, "reference", re.IGNORECASE) for word in references]
        if name is not None:
            kinds.append((name, "name", re.NOFLAG))
        spans = {
            Span(*match.span(), kind)
            for word, kind, flags in kinds
            if n_claims[word.casefold()] == 1
            for match in re.finditer(whole(word), text, flags)
        }
        spans_of.append(tuple(sorted(spans)))
    return spans_of


def vote(
    answers: Sequence[tuple[CharacterResponse, ...]], n_asked: int, text: str
) -> tuple[Character, ...] | None:
    """Put answers to a vote.

    Parameters
    ----------
    answers
        What each usable answer says of each character, one entry for each character.
    n_asked
        Answers that were asked for, the unusable ones included.
    text
        The text, in which names and references are located.

    Returns
    -------
    tuple of Character
        For each field the value that most answers give. Where two values have equally many, there
        is no name, and the gender is "Unsure". `references` are the words that at least half of the
        answers for that gender give. `confidence` is the smaller share, of the answers asked for,
        that agree on the name and on the gender. None where no answer has a field that is needed.
    """
    if not answers:
        return None
    slots = []
    for of_slot in zip(*answers, strict=True):
        names = [response.name for response in of_slot if response.has_name]
        genders = [response.gender for response in of_slot if response.gender is not None]
        if not names or not genders:
            return None
        # Votes are counted without regard to case; the first spelling is shown
        key, name_votes = plurality([None if name is None else name.casefold() for name in names])
        gender, gender_votes = plurality(genders)
        gender = UNSURE if gender is None else gender
        name = next((n for n in names if n is not None and n.casefold() == key), None)
        # References of the answers for that gender, of all where it is a tie
        agreeing = [response for response in of_slot if response.gender == gender] or of_slot
        counts = Counter(word for response in agreeing for word in response.references or ())
        # A word of one answer alone may be the other character's
        shared = tuple(word for word, n in counts.items() if 2 * n >= len(agreeing))
        references = shared if gender_of_references(shared) == gender else tuple(counts)
        slots.append((name, gender, references, min(name_votes, gender_votes)))
    spans = locate(text, [(name, references) for name, _, references, _ in slots])
    return tuple(
        Character(name, gender, references, slot_spans, votes / n_asked)
        for (name, gender, references, votes), slot_spans in zip(slots, spans, strict=True)
    )
