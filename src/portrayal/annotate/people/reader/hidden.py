"""Stories as the network sees them: a prompt and a story whose names are hidden."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from portrayal.annotate.people.stories.scene import Scene
from portrayal.reference import FEMININE, MASCULINE, NON_BINARY

PLACEHOLDERS = ("alex", "jordan", "taylor", "casey", "morgan", "jamie")
"""Words that stand for the first named person of a story, the second, and so on.

Names that many women and many men bear, each a single token; in training they change places at
random, so that none of them tells anything.
"""

OTHER_NAME = "someone"
"""Stands for people named after as many as there are placeholders."""

PRONOUNS = {
    FEMININE: ("she", "her", "hers", "herself"),
    MASCULINE: ("he", "him", "his", "himself"),
    NON_BINARY: ("they", "them", "their", "theirs", "themself", "themselves"),
}
"""Words whose referent the network weighs, by the gender that they tell."""

RARE_PRONOUNS = {
    "xe": "they", "ze": "they", "zie": "they",
    "xem": "them", "zir": "them",
    "xyr": "their", "xir": "their", "hir": "their", "eir": "their", "faer": "their",
    "xyrs": "theirs", "xirs": "theirs", "zirs": "theirs", "hirs": "theirs", "eirs": "theirs",
    "themself": "themselves", "xemself": "themselves", "xyrself": "themselves",
    "zirself": "themselves", "hirself": "themselves",
}  # fmt: skip
"""Pronouns too rare for an encoder to know, and the words that are put in their place."""

MOST_TOKENS, MOST_OF_PROMPT = 256, 60

Encode = Callable[[str], Sequence[int]]
"""A text as token ids, without special tokens."""

_FRAME = re.compile(
    r"^\s*write (?:a|me a|one) (?:short |very short )?story[^,]*(?:, 100 words or less)?,? "
    r"(?:of|about) (?:an? american |an? |the )?",
    re.IGNORECASE,
)


_RARE = re.compile(rf"\b(?:{'|'.join(RARE_PRONOUNS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hidden:
    """One story as token ids.

    Attributes
    ----------
    ids
        Token ids with special tokens, at most `MOST_TOKENS`.
    candidate
        Index of the named person whose placeholder stands there, -1 elsewhere.
    pronoun
        Place in `PRONOUNS` of the gender that the token tells, -1 where it is no pronoun.
    second
        Where the story starts behind the prompt.
    n_candidates
        Named people that have a placeholder.
    """

    ids: list[int]
    candidate: list[int]
    pronoun: list[int]
    second: int
    n_candidates: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What `hide` needs to know of a tokenizer.

    Attributes
    ----------
    encode
        The tokenizer.
    opening, closing, placeholders, other
        Ids of the special tokens, of `PLACEHOLDERS` and of `OTHER_NAME`.
    pronouns
        Token id of a pronoun → place in `PRONOUNS`.
    """

    encode: Encode
    opening: int
    closing: int
    placeholders: tuple[int, ...]
    other: int
    pronouns: dict[int, int]


def vocabulary_of(encode: Encode, opening: int, closing: int) -> Vocabulary:
    """Return the vocabulary of a tokenizer, in which every placeholder must be one token.

    Raises
    ------
    ValueError
        Where a placeholder or "she" and "he" are more than one token.
    """

    def one(word: str) -> int:
        (only,) = encode(word)
        return only

    pronouns = {}
    for place, words in enumerate(PRONOUNS.values()):
        for word in words:
            ids = encode(word)
            if len(ids) == 1:
                pronouns[ids[0]] = place
    placeholders = tuple(map(one, PLACEHOLDERS))
    return Vocabulary(encode, opening, closing, placeholders, one(OTHER_NAME), pronouns)


def pieces_of(scene: Scene, start: int) -> list[str | int]:
    """Return the story from offset `start` on, cut at its names: text, or index of the person.

    A surname that follows is part of the name; titles stay in the text.
    """
    tokens, text = scene.tokens, scene.text
    spans = sorted(
        (tokens.starts[at], _end_of_name(scene, at, index), index)
        for at, index in scene.names.items()
    )
    pieces: list[str | int] = []
    for begin, end, index in spans:
        if begin >= start:
            pieces += [text[start:begin], index]
            start = end
    return [*pieces, text[start:]]


def _end_of_name(scene: Scene, at: int, index: int) -> int:
    """Offset behind the name at token `at` and the surname that follows it."""
    words, starts = scene.tokens.words, scene.tokens.starts
    surname = scene.people[index].surname
    for last in range(min(at + 2, len(words) - 1), at, -1):
        if words[last] == surname and words[at] != surname:
            return starts[last] + len(words[last])
    return starts[at] + len(words[at])


def hide(
    prompt: str,
    pieces: Sequence[str | int],
    n_people: int,
    words: Vocabulary,
    order: Sequence[int] | None = None,
) -> Hidden:
    """Return a story with its names hidden.

    Parameters
    ----------
    prompt
        Wording of the prompt, or the roles that it asks for.
    pieces
        From `pieces_of`.
    n_people
        Named people of the story.
    words
        Vocabulary of the tokenizer.
    order
        Which placeholder each person gets; by default the first gets the first.
    """
    n = min(n_people, len(words.placeholders))
    places = order or range(n)
    ids = [words.opening, *words.encode(_FRAME.sub("", prompt))[:MOST_OF_PROMPT], words.closing]
    second = len(ids)
    candidate = [-1] * second
    for piece in pieces:
        if isinstance(piece, str):
            more = list(words.encode(_known(piece)))
            ids += more
            candidate += [-1] * len(more)
        else:
            ids.append(words.placeholders[places[piece]] if piece < n else words.other)
            candidate.append(piece if piece < n else -1)
    ids = [*ids[: MOST_TOKENS - 1], words.closing]
    candidate = [*candidate[: MOST_TOKENS - 1], -1]
    pronoun = [-1] * second + [words.pronouns.get(each, -1) for each in ids[second:]]
    return Hidden(ids, candidate, pronoun, second, n)


def _known(text: str) -> str:
    """Return `text` with singular they for the pronouns that an encoder does not know."""
    return _RARE.sub(lambda found: RARE_PRONOUNS[found[0].lower()], text)
