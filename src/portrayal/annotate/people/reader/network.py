"""The network over stories whose names are hidden: an encoder in ONNX, and heads in numpy."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

import portrayal.reference.groups as groups
from portrayal.annotate.people.stories.scene import Scene
from portrayal.errors import DataError
from portrayal.models.loading import checked_card, load_onnx, on_one_core, read_arrays
from portrayal.reference.shipped import toml_beside
from portrayal.types import FloatArray, IntArray

_WORD_DATA = toml_beside(__file__, "words.toml")

PLACEHOLDERS, MORE_PLACEHOLDERS = _WORD_DATA["placeholders"], _WORD_DATA["more_placeholders"]
"""Words that stand for the people of a story, by order of naming, and those of longer texts."""

OTHER_NAME = "someone"
"""Stands for people named after as many as there are placeholders."""

PRONOUNS: dict[str, list[str]] = _WORD_DATA["pronouns"]
"""Words whose referent the network weighs, by the gender that they tell."""

RARE_PRONOUNS: dict[str, str] = _WORD_DATA["rare_pronouns"]
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
class HiddenStory:
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

    @property
    def needed(self) -> list[int]:
        """Places of the tokens whose states are read: the first, names and pronouns."""
        indices = zip(self.candidate, self.pronoun, strict=True)
        return [i for i, places in enumerate(indices) if i == 0 or max(places) >= 0]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What `hide` needs to know of a tokenizer.

    Attributes
    ----------
    encode
        The tokenizer.
    opening, closing, names, other
        Ids of the special tokens, of `PLACEHOLDERS` and `MORE_PLACEHOLDERS`, and of `OTHER_NAME`.
    pronouns
        Token id of a pronoun → place in `PRONOUNS`.
    """

    encode: Encode
    opening: int
    closing: int
    names: tuple[int, ...]
    other: int
    pronouns: dict[int, int]


def vocabulary_of(encode: Encode, opening: int, closing: int) -> Vocabulary:
    """Return the vocabulary of a tokenizer, in which every placeholder must be one token.

    Raises
    ------
    ValueError
        Where a placeholder or "she" and "he" are more than one token.
    """
    token_ids = [(encode(word), i) for i, words in enumerate(PRONOUNS.values()) for word in words]
    # A pronoun of several tokens has no state of its own and is not weighed
    pronouns = {ids[0]: place for ids, place in token_ids if len(ids) == 1}
    stand_ins = (*PLACEHOLDERS, *MORE_PLACEHOLDERS, OTHER_NAME)
    *names, other = [token for word in stand_ins for (token,) in (encode(word),)]
    return Vocabulary(encode, opening, closing, tuple(names), other, pronouns)


def pieces_of(scene: Scene, start: int) -> list[str | int]:
    """Return the story from offset `start` on, cut at its names: text, or index of the person.

    A surname that follows is part of the name; titles stay in the text.
    """
    words, starts, text = scene.tokens.words, scene.tokens.starts, scene.text
    pieces: list[str | int] = []
    for place_at, index in sorted(scene.names.items()):
        surname = words[scene.people[index].longest.parts[-1]]
        # A surname may stand behind a second first name or an initial
        near = (place_at, place_at + 2, place_at + 1)
        last = next((i for i in near if words[i : i + 1] == [surname]), place_at)
        if starts[place_at] >= start:
            pieces += [text[start : starts[place_at]], index]
            start = starts[last] + len(words[last])
    return [*pieces, text[start:]]


def hide(
    prompt: str,
    pieces: Sequence[str | int],
    n_people: int,
    words: Vocabulary,
    order: Sequence[int] | None = None,
) -> HiddenStory:
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
    n = min(n_people, len(PLACEHOLDERS))
    places = order or range(n)
    # The prompt without its frame first, then the story
    ids = [words.opening, *words.encode(_FRAME.sub("", prompt))[:MOST_OF_PROMPT], words.closing]
    second = len(ids)
    candidate = [-1] * second
    for piece in pieces:
        if isinstance(piece, str):
            # Rare pronouns become those of the same case, as the encoder knows none of them
            ids += words.encode(_RARE.sub(lambda match: RARE_PRONOUNS[match[0].lower()], piece))
            candidate += [-1] * (len(ids) - len(candidate))
        else:
            ids.append(words.names[places[piece]] if piece < n else words.other)
            candidate.append(piece if piece < n else -1)
    # A long story is cut at its end: people are introduced early
    ids = [*ids[: MOST_TOKENS - 1], words.closing]
    candidate = [*candidate[: MOST_TOKENS - 1], -1]
    pronoun = [-1] * second + [words.pronouns.get(token, -1) for token in ids[second:]]
    return HiddenStory(ids, candidate, pronoun, second, n)


_PLAIN = re.compile(r"[ -Z\\\]-~\n“”‘’—–…]*")
_WORD = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9 \n]")
"""Text whose words and signs are tokens of their own, so that each is looked up once."""

ENCODER, HEADS, CARD = "encoder.onnx", "heads.npz", "reader.json"
TOKENIZER, WORDS = "tokenizer.json", "words.npz"
"""Files of a reader; a folder inside that of another reader shares the last two with it."""

GENDERS = (*groups.GENDERS, None)
"""Genders that the network tells apart; None where no word tells one."""

SLOTS = 2
_HIDDEN_SCORE = -1e4


@dataclass(frozen=True, slots=True)
class NetworkOutput:
    """What the network says of one story.

    Attributes
    ----------
    roles
        Log-probabilities that each candidate, and at the end that nobody named, is the subject and
        the object, shape (2, n_candidates + 1).
    genders
        Log-probabilities of `GENDERS` for each candidate, and then for a nameless subject and
        object, shape (n_candidates + 2, 4).
    """

    roles: FloatArray
    genders: FloatArray


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Embeddings of words in 8 bits, which encoders share.

    Attributes
    ----------
    table
        Shape (n_words, width).
    scale, zero
        An embedding is `scale * (table[word] - zero)`.
    """

    table: npt.NDArray[np.uint8]
    scale: np.float32
    zero: np.float32

    @classmethod
    def load(cls, path: Path) -> "Embeddings":
        """Read the file of a reader's words; DataError or KeyError where it is none."""
        raw = read_arrays(path)
        return cls(raw["table"], np.float32(raw["scale"]), np.float32(raw["zero"]))

    def of(self, ids: Sequence[int]) -> npt.NDArray[np.float32]:
        """Return the embeddings of tokens, shape (n_tokens, width)."""
        return (self.table[list(ids)].astype(np.float32) - self.zero) * self.scale


@dataclass
class Network:
    """A loaded reader.

    Attributes
    ----------
    session, vocabulary, words
        The encoder, its tokenizer as `hide` needs it, and the embeddings that it reads.
    heads
        Weights by name, as `load_network` reads them.
    card
        What `reader.json` says: how it was trained, how it is joined, and its digest.
    """

    session: Any
    vocabulary: Vocabulary
    words: Embeddings
    heads: Mapping[str, FloatArray]
    card: Mapping[str, Any]

    @on_one_core
    def read(self, story: HiddenStory) -> NetworkOutput:
        """Return what the network says of a story."""
        needed = story.needed
        states = self.states(story.ids, story.second, needed)
        first, width = states[0], states.shape[1]
        candidate, pronoun = np.array(story.candidate)[needed], np.array(story.pronoun)[needed]
        of_candidate = [candidate == k for k in range(story.n_candidates)]
        # A person is the mean of the mentions; one cut off with the end has none
        means = [states[i].sum(0) / max(i.sum(), 1) for i in of_candidate]
        people = np.array(means, dtype=np.float32).reshape(-1, width)
        absent = np.array([not i.any() for i in of_candidate], dtype=bool)

        # Who has which role, or nobody who is named
        role = self._two_layers("role", np.hstack([people, np.tile(first, (len(people), 1))]))
        role[absent] = _HIDDEN_SCORE
        role = np.vstack([role, self._linear("null", first)[np.newaxis]]).T

        # Whom each pronoun means, and by that each person's gender
        asked_of = np.vstack([people, self._linear("slot", first).reshape(SLOTS, width)])
        keys, queries = self._linear("pk", states), self._linear("pq", asked_of)
        meant = keys @ queries.T / sqrt(keys.shape[1])
        meant[:, : len(absent)][:, absent] = _HIDDEN_SCORE
        meant = np.hstack([meant, self._linear("pn", states)])
        meant = np.exp(special.log_softmax(meant, axis=1))[:, :-1]
        evidence = [meant[pronoun == gender].sum(0) for gender in range(len(PRONOUNS))]
        # Logarithms, as the tenth "she" says little more than the third
        log_evidence = np.log1p(np.array(evidence).T)
        signs = np.hstack([asked_of, np.tile(first, (len(asked_of), 1)), log_evidence])
        genders = self._two_layers("gen", signs, last="3")
        return NetworkOutput(*(special.log_softmax(scores, axis=1) for scores in (role, genders)))

    def states(
        self, ids: Sequence[int], second: int, needed: Sequence[int] | None = None
    ) -> FloatArray:
        """Return states of a text that starts at token `second`, shape (n_tokens, width).

        Where `needed` are given, only those of the tokens at these places.
        """
        inputs = {
            "words": self.words.of(ids)[np.newaxis],
            "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
            "token_type_ids": np.array([[int(i >= second) for i in range(len(ids))]]),
            "needed": np.array([needed]),
        }
        # Encoders of other readers take fewer inputs
        fed = {entry.name: inputs[entry.name] for entry in self.session.get_inputs()}
        states = np.asarray(self.session.run(["states"], fed)[0][0])
        return states if needed is None or "needed" in fed else states[list(needed)]

    @on_one_core
    def referents(
        self, pronouns: FloatArray, mentions: FloatArray, bands: IntArray, ranks: IntArray
    ) -> FloatArray:
        """Return what speaks for each mention as what each pronoun means, and for none of them.

        Parameters
        ----------
        pronouns, mentions
            States, shapes (n_pronouns, width) and (n_mentions, width).
        bands, ranks
            Classes of the distance and of the mentions between, shape (n_pronouns, n_mentions).

        Returns
        -------
        array
            Scores without a unit, shape (n_pronouns, n_mentions + 1).
        """
        one, two = self._linear("ref.p", pronouns), self._linear("ref.q", mentions)
        b, c, d, r = (self.heads[f"ref.{name}.weight"] for name in "bcdr")
        inner = self._linear("ref.a", pronouns)[:, np.newaxis] + mentions @ b.T
        inner = inner + (one[:, np.newaxis] * two) @ c.T + d[bands] + r[ranks]
        scores = self._linear("ref.u", _gelu(inner))[..., 0]
        return np.hstack([scores, self._two_layers("ref.none", pronouns)])

    def _linear(self, name: str, values: FloatArray) -> FloatArray:
        return np.asarray(values @ self.heads[f"{name}.weight"].T + self.heads[f"{name}.bias"])

    def _two_layers(self, name: str, values: FloatArray, last: str = "2") -> FloatArray:
        return self._linear(f"{name}.{last}", _gelu(self._linear(f"{name}.0", values)))


def _gelu(values: FloatArray) -> FloatArray:
    return np.asarray(0.5 * values * (1.0 + special.erf(values / sqrt(2.0))))


def files_of(folder: Path) -> dict[str, Path]:
    """Return the files of a reader by name; the shared ones may lie in the folder above."""
    files = {name: folder / name for name in (ENCODER, HEADS, TOKENIZER, WORDS)}
    shared = (name for name in (TOKENIZER, WORDS) if not files[name].is_file())
    return files | {name: folder.parent / name for name in shared}


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of the encoder, the heads, the tokenizer and the words of a reader."""
    contents = b"".join(path.read_bytes() for path in files_of(folder).values())
    return hashlib.sha256(contents).hexdigest()


def load_network(folder: Path, *, threads: int = 0) -> Network:
    """Return the reader in a folder; nothing in it is executed.

    Parameters
    ----------
    folder
        With `encoder.onnx`, `heads.npz`, `words.npz`, `tokenizer.json` and `reader.json`, as
        `scripts/reader/train.py` writes them.
    threads
        Cores to use; 0 for all.

    Raises
    ------
    DataError
        When a file is missing, is not what was expected, or does not have the digest of the card.
    """
    files = files_of(folder)
    card = checked_card(folder / CARD, lambda: digest_of(folder))
    session, tokenizer = load_onnx(files[ENCODER], files[TOKENIZER], threads=threads)
    try:
        weights = read_arrays(files[HEADS])
        heads: dict[str, Any] = {n: values.astype(np.float32) for n, values in weights.items()}
        words = Embeddings.load(files[WORDS])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder}: no reader could be read ({error}).") from error
    # Padding of its own would shift the places of names
    tokenizer.no_padding()
    tokenizer.no_truncation()

    @lru_cache(maxsize=50_000)
    def ids_of(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    def encode(text: str) -> list[int]:
        if not _PLAIN.fullmatch(text):
            return ids_of.__wrapped__(text)
        return [token for word in _WORD.findall(text) for token in ids_of(word)]

    special_ids = [tokenizer.token_to_id(special) for special in ("[CLS]", "[SEP]")]
    return Network(session, vocabulary_of(encode, *special_ids), words, heads, card)
