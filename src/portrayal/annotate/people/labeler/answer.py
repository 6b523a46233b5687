"""The prompts of Table S7, and what a model's answer to one says, checked against the text.

As in Supplement B.3, names and references that do not stand in the text are removed; so are "names"
that are role words. Words outside Table S6a tell no gender and are not kept.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from portrayal.annotate.people.shared.model import Roles, Span, clean_name, gender_of_references
from portrayal.annotate.people.shared.words import GENDER_OF_WORD
from portrayal.collect.ask.replies import LONGEST, prompt_of, read_list, read_objects, read_open
from portrayal.records import Prompt
from portrayal.reference.groups import GENDERS
from portrayal.reference.locales import HOME, Locale

ANSWER_TOKENS = 120
"""Tokens of a label of two characters, about; for the cost that is shown beforehand."""

_MOST_TITLES = 40
"""Titles of a locale that a prompt names, those that tell a gender first."""

_FIRST_WORDS = re.compile(r"^(?:an?|the)\s+", re.I)
_TWO = re.compile(r"^two\s+", re.I)
_STORY = "{{Story to Label}}"


@dataclass(frozen=True, slots=True)
class LabelPrompt:
    """What is asked about one text.

    Attributes
    ----------
    text
        The prompt, word for word.
    characters
        What it calls the subject and, where there is one, the object; the keys of the answer are
        these with " name" and " references".
    """

    text: str
    characters: tuple[str, ...]

    @property
    def prompt(self) -> Prompt:
        """The prompt, named by its words: the same text with the same roles is asked once."""
        return prompt_of(self.text)


def label_prompt(text: str, roles: Roles, local: str = "") -> LabelPrompt:
    """Return the prompt of Table S7 for a text and the roles of its characters.

    `local`, what `local_sentence` says, ends the first paragraph.

    The table has no template for the Love domain; its two characters take the one for two. Where
    both share a role ("two American friends") they are called "first American friend" and "second
    American friend".
    """
    characters = characters_of(roles)
    if len(characters) == 1:
        # The template goes by how many characters there are, not by the domain
        frame = _templates()["one"].replace("{Character}", characters[0])
    else:
        frame = _templates()["two"]
        for place, character in zip(("First", "Second"), characters, strict=True):
            frame = frame.replace(f"{{{place} Character}}", character)
    # The table prints its braces twice
    # Split before the text is put in, so that no brace of a story is taken for ours
    before, after = (part.replace("{{", "{").replace("}}", "}") for part in frame.split(_STORY))
    if local:
        before = before.replace("\n\n", f" {local}\n\n", 1)
    return LabelPrompt(before + text + after, characters)


def local_sentence(locale: Locale | None) -> str:
    """Return the sentence that tells of a locale; "" of the one that Table S7 is written for.

    >>> from portrayal.reference.locales import load_locale
    >>> local_sentence(load_locale("en-IN"))[:70]
    'The story is in the language "en" of the country "IN" (ISO codes), whe'
    """
    if locale is None or locale.name == HOME:
        return ""
    country = f' of the country "{locale.country}"' if locale.country else ""
    sentence = f'The story is in the language "{locale.language}"{country} (ISO codes)'
    titles_by_kind = (*locale.titles.items(), *locale.honorifics.items())
    # False sorts before True: titles that tell a gender come first
    ranked = sorted((kind not in GENDERS, word) for kind, words in titles_by_kind for word in words)
    shown_words = list(dict.fromkeys(word for _, word in ranked))[:_MOST_TITLES]
    titles = ", ".join(f'"{word}"' for word in shown_words)
    of_titles = f", where {titles} are titles and no part of a name" if titles else ""
    return f"{sentence}{of_titles}."


def characters_of(roles: Roles) -> tuple[str, ...]:
    """Return what the prompt calls the characters of `roles`: the roles without an article."""
    if roles.paired:
        role = _TWO.sub("", _bare(roles.subject))
        if role.endswith("s") and not role.endswith("ss"):
            role = role[:-1]
        return f"first {role}", f"second {role}"
    if roles.object is None:
        return (_bare(roles.subject),)
    return _bare(roles.subject), _bare(roles.object)


def _bare(role: str) -> str:
    return _FIRST_WORDS.sub("", " ".join(role.split())).replace("{", "(").replace("}", ")")


@cache
def _templates() -> dict[str, str]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return {name: words.strip("\n") for name, words in tomllib.loads(text).items()}


_DEEPEST = 20


def read_fields(reply: str) -> dict[str, Any]:
    """Return the fields of every object in `reply`, the later one where a key comes twice.

    Keys are casefolded words parted by single spaces; the keys of an object inside another follow
    its own ("doctor" → "name" is "doctor name"). Empty where no object was found.
    """
    text = reply[:LONGEST]
    fields: dict[str, Any] = {}
    for read in read_objects(text):
        _flatten(read, "", fields)
    # A model may forget the braces
    if not fields and ":" in text and "{" not in text:
        _flatten(read_open(text[max(text.find('"'), 0) :]), "", fields)
    return fields


def plain_key(key: str) -> str:
    """Return a key as `read_fields` gives it."""
    return " ".join(re.findall(r"[^\W_]+", key.casefold()))


def _flatten(nested: dict[str, Any], before: str, into: dict[str, Any], deep: int = 0) -> None:
    for key, value in nested.items():
        name = f"{before} {plain_key(str(key))}".strip()
        if isinstance(value, dict) and deep < _DEEPEST:
            _flatten(value, name, into, deep + 1)
        else:
            into[name] = value


REMOVED = ("names not in the text", "names that are role words", "references not in the text")
"""What is removed from answers, as it is counted."""

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class CharacterResponse:
    """What one answer says of one character.

    Attributes
    ----------
    named
        Whether the answer has a field for the name at all, be it "Unspecified".
    name
        First name as the text writes it; None where there is none.
    references
        Casefolded words of Table S6a that stand in the text; None where the answer has no such
        field.
    """

    named: bool
    name: str | None
    references: tuple[str, ...] | None

    @property
    def gender(self) -> str | None:
        """Gender that the references tell, by Table S6a; None where the field is missing."""
        return None if self.references is None else gender_of_references(self.references)


def read_answer(
    reply: str, characters: tuple[str, ...], text: str, removed: Counter[str] | None = None
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
        Counts what was removed, under the words of `REMOVED`.

    Returns
    -------
    tuple of CharacterResponse
        None where the reply holds no field that was asked for.
    """
    fields = read_fields(reply)
    counted = Counter[str]() if removed is None else removed
    # "Student" for a name is a role read back (Supplement B.3)
    banned = _role_words() | {word for role in characters for word in _words(role)}
    responses = []
    for slot in range(len(characters)):
        has_name, raw_name = _field(fields, characters, slot, ("name", "names"))
        kinds = "references", "reference", "pronouns"
        has_references, raw = _field(fields, characters, slot, kinds)
        # A number or an object is no name: the field counts as missing, not as "no name"
        has_name &= raw_name is None or isinstance(raw_name, (str, list))
        has_references &= raw is None or isinstance(raw, (str, list))
        name = _name(raw_name, text, banned, counted)
        references = _references(raw, text, counted) if has_references else None
        responses.append(CharacterResponse(has_name, name, references))
    return tuple(responses) if any(s.named or s.references is not None for s in responses) else None


def _field(
    fields: Mapping[str, Any], characters: tuple[str, ...], slot: int, kinds: tuple[str, ...]
) -> tuple[bool, Any]:
    """Whether a field is there, and its value: by its full key, else by its place among its kind.

    A key that lost the role ("name") or words it differently is taken by place, where there are as
    many of them as characters without a key.
    """
    full = [[f"{plain_key(character)} {kind}" for kind in kinds] for character in characters]
    keys = [next((key for key in of_one if key in fields), None) for of_one in full]
    mine = keys[slot]
    if mine is not None:
        return True, fields[mine]
    unknown = [key for key in fields if key.rpartition(" ")[2] in kinds and key not in keys]
    lacking = [i for i, key in enumerate(keys) if key is None]
    # Fewer or more keys than characters: nobody can say whose they are
    if len(unknown) == len(lacking):
        return True, fields[unknown[lacking.index(slot)]]
    return False, None


def _name(raw: Any, text: str, banned: frozenset[str], removed: Counter[str]) -> str | None:
    """First name in a label, as the text writes it; None where it is none or not there."""
    if isinstance(raw, list):
        raw = next((item for item in raw if isinstance(item, str)), None)
    name = clean_name(raw)
    if name is None:
        return None
    # Models copy the genitive: "Maria's"
    name = re.sub(r"['’]s?$", "", name)
    if name.casefold() in banned:
        removed["names that are role words"] += name.casefold() not in _NO_NAME
        return None
    # As the text writes it; a word in small letters alone is no name, unless the whole text is
    spellings = dict.fromkeys(match[0] for match in re.finditer(whole(name), text, re.IGNORECASE))
    if name in spellings and not name.islower():
        return name
    capital = [spelling for spelling in spellings if not spelling.islower()]
    written = next(iter(capital or (spellings if text.islower() else ())), None)
    if written is None:
        removed["names not in the text"] += 1
    return written


_NO_NAME = frozenset(("no", "not", "none", "unknown", "unnamed", "unspecified", "nameless"))


def whole(word: str) -> str:
    """Return a pattern for a whole word."""
    return rf"(?<!\w){re.escape(word)}(?!\w)"


def _references(raw: Any, text: str, removed: Counter[str]) -> tuple[str, ...]:
    words: dict[str, None] = {}
    present = set(_words(text))
    for reference in _strings(raw):
        for word in _words(reference):
            # "doctor" refers to the character and tells no gender
            if word not in GENDER_OF_WORD:
                continue
            if word in present:
                words[word] = None
            else:
                removed["references not in the text"] += 1
    return tuple(words)


def _strings(raw: Any, deep: int = 0) -> list[str]:
    """The references as strings: of one string, of a list, or of what is inside a list."""
    if isinstance(raw, str):
        items = read_list(raw)
        return [raw] if items is None or deep else _strings(items, 1)
    inside = raw.values() if isinstance(raw, dict) else raw
    if not isinstance(raw, (list, dict)) or deep > _DEEPEST:
        return []
    return [text for item in inside for text in _strings(item, deep + 1)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


@cache
def _role_words() -> frozenset[str]:
    text = files(__package__).joinpath("rolenouns.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)["words"]) | GENDER_OF_WORD.keys()


def locate(
    text: str, slots: Sequence[tuple[str | None, tuple[str, ...]]]
) -> list[tuple[Span, ...]]:
    """Return the spans of each character's name and references, in order of place.

    A model says which words refer to a character and not where. So every place of a word counts,
    but a word that both characters share ("her") is marked for neither.
    """
    claimed = [
        {word for word in (*references, name and name.casefold()) if word}
        for name, references in slots
    ]
    spans_of: list[tuple[Span, ...]] = []
    for i, (name, references) in enumerate(slots):
        # Words of the other character
        claimed_words = {word for j, words in enumerate(claimed) if j != i for word in words}
        spans: set[tuple[int, int, str]] = set()
        if name is not None and name.casefold() not in claimed_words:
            spans |= {(m.start(), m.end(), "name") for m in re.finditer(whole(name), text)}
        for word in references:
            if word not in claimed_words:
                places = re.finditer(whole(word), text, re.IGNORECASE)
                spans |= {(m.start(), m.end(), "reference") for m in places}
        spans_of.append(tuple(Span(*span) for span in sorted(spans)))
    return spans_of
