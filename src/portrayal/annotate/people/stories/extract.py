"""From a story and the roles of its prompt to its two characters, and how likely each is right.

The probabilities of a name, a gender, and both at once are logistic curves over a few signs: small
whole numbers or logarithms of odds. Their weights are learned from predictions on prompts left out
of training (`scripts/train_people.py`).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from operator import attrgetter, mul
from pathlib import Path

from portrayal.annotate.people.shared.model import UNSPECIFIED, Character, Roles, Span
from portrayal.annotate.people.shared.recase import MARK, is_flat, mark_uncased, recase
from portrayal.annotate.people.shared.scan import local_words, scan
from portrayal.annotate.people.shared.words import GENDER_OF_WORD
from portrayal.annotate.people.stories.cast import LIKELY, Cast, Slots, make_cast
from portrayal.annotate.people.stories.codes import TONE_AT, code_weights
from portrayal.annotate.people.stories.decide import (
    SCALE,
    SINGLY,
    GenderChoice,
    choices,
    gender_probability,
    learned_saliences,
    probabilities,
)
from portrayal.annotate.people.stories.names import find_people
from portrayal.annotate.people.stories.pair import LEAST, find_pair
from portrayal.annotate.people.stories.scene import (
    GROUPS,
    SINGULAR,
    Scene,
    actions,
    look,
    role_words,
)
from portrayal.reference.locales import Locale

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
"""Integers by name, written by `scripts/train_people.py`."""


@dataclass(frozen=True, slots=True)
class LearnedWeights:
    """Weights in units of 1 / `decide.SCALE`.

    Attributes
    ----------
    codes
        Weight of every code of `codes`.
    salience
        Weight of one unit of a choice's salience.
    saliences
        Who is meant by a pronoun under a choice; see `decide.learned_saliences`.
    name, gender, both
        Weights of `NAME_SIGNS`, `GENDER_SIGNS` and `BOTH_SIGNS`.
    """

    codes: tuple[int, ...]
    salience: int
    saliences: tuple[float, ...]
    name: tuple[int, ...]
    gender: tuple[int, ...]
    both: tuple[int, ...]


@lru_cache(maxsize=1)
def learned() -> LearnedWeights:
    """The weights that ship with the package."""
    raw = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return LearnedWeights(
        code_weights(raw["choice"]),
        raw["choice"]["salience"],
        learned_saliences([weight / 1000 for weight in code_weights(raw["walk"])]),
        tuple(raw["name"].values()),
        tuple(raw["gender"].values()),
        tuple(raw["both"].values()),
    )


NAME_SIGNS = (
    *("always", "one name of two", "no name", "no name of two", "no name but people"),
    *("score", "mentions", "further people", "roles", "nouns agree", "first comes first"),
    *("roles fit", "told in first person", "acts"),
)
"""Signs for the name of one character, in order."""

GENDER_SIGNS = ("always", "odds", "name odds", "untold", "singly", "name odds of two")
"""Signs for the gender of one character."""

BOTH_SIGNS = ("always", "name odds", "gender odds")
"""Signs for name and gender together."""

_FURTHEST = 7.0
_LEAST_CHANCE = 1.0 / (1.0 + exp(_FURTHEST))


def name_signs(scene: Scene, cast: Cast, choice: GenderChoice) -> list[tuple[float, ...]]:
    """Values of `NAME_SIGNS` for each character."""
    slots, people = cast.slots, scene.people
    two = len(slots) == 2
    likely = sum([person.score >= LEAST for person in people])
    used = len(slots) - slots.count(None)
    pair: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    if used == 2 and not scene.paired:
        # How much role nouns beside the names agree with who is the subject, from -3 to 3
        value = 0.0
        for noun in scene.nouns:
            if noun.role and noun.person is not None and noun.person in slots:
                value += noun.value * (1 if noun.person == slots[0] else -1)
        a, b = (people[index].at[0] for index in slots if index is not None)
        fits = choice.codes.count(TONE_AT + 1) - choice.codes.count(TONE_AT)
        acted = actions(scene.tokens, scene.cues, *cast.doers(choice.found), scene.words)
        pair = (
            max(-3.0, min(3.0, value)),
            float(a < b),
            float(max(-3, min(3, fits))),
            max(-4.0, min(4.0, acted)),
        )
    shared = (
        float(min(max(likely - used, 0), 3)),
        float(two and not scene.paired),
        *pair[:3],
        float(scene.narrated),
        pair[3],
    )
    found: list[tuple[float, ...]] = []
    for index in slots:
        person = None if index is None else people[index]
        own = (
            1.0,
            float(index is not None and two and used == 1),
            float(index is None),
            float(index is None and two),
            float(index is None and likely > used),
            0.0 if person is None else min(person.score, 6.0),
            0.0 if person is None else min(len(person.at), 5) / 5,
        )
        found.append(own + shared)
    return found


def gender_signs(
    probability: float, name: float, gender: str | None, *, two: bool
) -> tuple[float, ...]:
    """Values of `GENDER_SIGNS` from the probability of the gender and that of the name."""
    odds = log_odds(name)
    untold, singly = float(gender is None), float(gender == SINGLY)
    return (1.0, log_odds(probability), odds, untold, singly, odds * two)


def both_signs(name: float, gender: float) -> tuple[float, ...]:
    """Values of `BOTH_SIGNS` from the two probabilities."""
    return (1.0, log_odds(name), log_odds(gender))


def log_odds(probability: float) -> float:
    """Natural logarithm of the odds, at most 7 either way."""
    if probability <= _LEAST_CHANCE:
        return -_FURTHEST
    if probability >= 1.0 - _LEAST_CHANCE:
        return _FURTHEST
    return log(probability / (1.0 - probability))


def logistic(signs: Sequence[float], weights: Sequence[int]) -> float:
    """Probability for `signs`, rounded to four digits; `weights` are in units of 1 / `SCALE`."""
    value = sum(map(mul, signs, weights)) / SCALE
    return round(1.0 / (1.0 + exp(-value)), 4)


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
_OPENING, _CLOSING = frozenset('"“'), frozenset('"”')
_LEAST = 60
"""A heading is only skipped when at least this many characters of story follow."""


def story_start(text: str) -> int:
    """Offset of the first character of the story in `text`, after preamble and heading.

    Nothing is skipped when too little would be left, so an answer set wholly in bold, or one that
    is a single line, is kept whole.
    """
    start = 0
    for pattern in (_PREAMBLE, _TITLE):
        found = pattern.match(text, start)
        if found and len(text) - found.end() >= _LEAST:
            start = found.end()
    rest = text[start:].strip()
    if len(rest) > _LEAST and rest[0] in _OPENING:
        marks = rest.count('"') + rest.count("“") + rest.count("”")
        if marks == 1 or (marks == 2 and rest[-1] in _CLOSING):
            start = text.index(rest[0], start) + 1
    return start


_START = attrgetter("start")


def extract_people(
    text: str, roles: Roles, locale: Locale | None = None
) -> tuple[Character, Character | None]:
    """Find the subject and the object of a story.

    Parameters
    ----------
    text
        The story as the model wrote it; any string.
    roles
        The roles of its prompt.
    locale
        Further words of a country: titles, honorifics, pronouns, and names that are no person's.

    Returns
    -------
    tuple of Character and (Character or None)
        Subject and object; the object is None where the prompt asks for none. A character that the
        text does not name or refer to has no name and gender "Unspecified".

    Examples
    --------
    >>> text = "Maria taught Sam. She smiled, and he thanked her."
    >>> mentor, student = extract_people(text, Roles("star student", "struggling student"))
    >>> mentor.name, mentor.gender, student.name, student.gender
    ('Maria', 'F', 'Sam', 'M')
    """
    return people_of_cast(*read_story(text, roles, locale))


def people_of_cast(scene: Scene, cast: Cast) -> tuple[Character, Character | None]:
    """Return the characters of a cast under the likeliest choice of genders."""
    options, chances = weigh(scene, cast)
    best = max(range(len(options)), key=chances.__getitem__)
    sure = [
        _confidences(name, gender_probability(options, chances, slot, gender), gender, cast)
        for slot, (name, gender) in enumerate(
            zip(name_confidences(scene, cast, options[best]), options[best].genders, strict=True)
        )
    ]
    return characters(scene, cast, options[best], sure)


def weigh(scene: Scene, cast: Cast) -> tuple[list[GenderChoice], list[float]]:
    """All choices of genders for the characters, and their probabilities by the learned weights."""
    weights = learned()
    options = choices(scene, cast, weights.saliences)
    return options, probabilities(options, weights.codes, weights.salience)


def name_confidences(scene: Scene, cast: Cast, choice: GenderChoice) -> list[float]:
    """Probability that the name of each character, or that it has none, is right."""
    weights = learned().name
    return [logistic(signs, weights) for signs in name_signs(scene, cast, choice)]


def characters(
    scene: Scene, cast: Cast, choice: GenderChoice, sure: Sequence[tuple[float, float, float]]
) -> tuple[Character, Character | None]:
    """The characters under a choice of genders; `sure` are name, gender, and both being right."""
    made = [_character(scene, cast, slot, choice, each) for slot, each in enumerate(sure)]
    return made[0], made[1] if len(made) == 2 else None


def read_story(text: str, roles: Roles, locale: Locale | None = None) -> tuple[Scene, Cast]:
    """What a story holds, seen from its two most likely characters, before genders are chosen."""
    start = story_start(text)
    flat = is_flat(text[start:] if start else text)
    tokens = scan(recase(text) if flat else text, start, local_words(locale))
    marked = mark_uncased(text, tokens)
    people = find_people(tokens)
    if flat or marked:
        # Give words and first names back the letters that they have in the text
        sizes = list(map(len, tokens.words))
        for at in marked:
            sizes[at] -= len(MARK)
        places = zip(tokens.starts, sizes, strict=False)
        written = [text[start : start + size] for start, size in places]
        own = dict(zip(tokens.words, written, strict=True))
        tokens.words = written
        for person in people:
            if person.first is not None:
                person.first = own.get(person.first, person.first)
    scene = look(text, tokens, people, role_words(roles), paired=roles.paired)
    return scene, cast_of(scene, find_pair(scene, roles))


def cast_of(scene: Scene, slots: Slots) -> Cast:
    """The mentions of a story seen from the characters in `slots`."""
    cast = make_cast(scene, slots)
    if len(slots) == 2:
        # Add words for both characters at once: "the girls"
        for at in scene.groups:
            gender = GROUPS[scene.tokens.low[at]]
            for hint, references in zip(cast.hints, cast.references, strict=True):
                if not hint:
                    hint[gender] = LIKELY
                references.append(at)
    return cast


def _confidences(
    name: float, chance: float, gender: str | None, cast: Cast
) -> tuple[float, float, float]:
    """Probabilities that the name, the gender, and both are right."""
    weights = learned()
    sure = logistic(gender_signs(chance, name, gender, two=len(cast.slots) == 2), weights.gender)
    return name, sure, logistic(both_signs(name, sure), weights.both)


def _character(
    scene: Scene, cast: Cast, slot: int, choice: GenderChoice, sure: tuple[float, float, float]
) -> Character:
    """The character in `slot` under `choice`."""
    words, starts, index = scene.tokens.words, scene.tokens.starts, cast.slots[slot]
    gender = choice.genders[slot]
    at = _references(scene, cast, slot, choice)
    spans = [Span(starts[i], starts[i] + len(words[i]), "reference") for i in at]
    name = None
    if index is not None:
        person = scene.people[index]
        name = person.first
        if name is not None:
            end = len(name)
            long = bool(scene.tokens.local.endings)
            spans += [
                Span(starts[i], starts[i] + end, "name")
                for i in person.at
                if (words[i][:end] if long else words[i]) == name
            ]
    spans.sort(key=_START)
    said = [scene.tokens.low[i] for i in at]
    references = tuple(dict.fromkeys(map(SINGULAR.get, said, said)))
    return Character(
        name, gender or UNSPECIFIED, references, tuple(spans), sure[2], sure[0], sure[1]
    )


def _references(scene: Scene, cast: Cast, slot: int, choice: GenderChoice) -> list[int]:
    """Token positions of the words that tell the gender that `choice` gives to the character."""
    gender = choice.genders[slot]
    low = scene.tokens.low
    at = {place for place, entity in choice.found.items() if entity == slot}
    for place in cast.references[slot]:
        word = low[place]
        told = scene.tokens.local.genders.get(word) or GENDER_OF_WORD.get(SINGULAR.get(word, word))
        if gender is not None and told == gender:
            at.add(place)
    return sorted(at)
