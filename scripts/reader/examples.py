"""Examples to train the reader: stories with hidden names, and who is who in them.

Three sources give the same `Example`: hand-labelled stories as `portrayal score people` reads them
(names and genders), stories with marked people (`stories/*.txt`, see `markup`), and their
variations (`vary`): the other gender, other role nouns, roles told the other way round.
"""

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from portrayal.annotate.people.names.clusters import NameCluster
from portrayal.annotate.people.reader.network import PRONOUNS, RARE_PRONOUNS, pieces_of
from portrayal.annotate.people.shared.model import Roles, clean_name, normalise_gender
from portrayal.annotate.people.shared.words import PERSON_NOUNS, TITLES, word_set
from portrayal.annotate.people.stories.scene import Scene, read_story, story_start

SUBJECT, OBJECT = 0, 1
NOBODY, UNKNOWN = -1, -2
"""A role without a name; a label that says nothing."""

_PRONOUN_WORDS = {word for words in PRONOUNS.values() for word in words} | set(RARE_PRONOUNS)
_NAME = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class Example:
    """One labelled story.

    Attributes
    ----------
    prompt, pieces, n_people
        As `hide` takes them.
    names
        First names of the people, None where only a surname is given.
    roles
        What the prompt asks for.
    who
        Index of the person who is the subject, and the object; `NOBODY` where it has no name,
        `UNKNOWN` where the labelled name is not among the candidates.
    genders
        "F", "M", "NB" or None of the subject and the object.
    referents
        For each pronoun of the story in order, `SUBJECT`, `OBJECT`, `NOBODY` for anyone else, or
        `UNKNOWN`; None where pronouns are not labelled.
    gold
        Labelled first names, casefolded, "" for none.
    """

    text: str
    prompt: str
    pieces: tuple[str | int, ...]
    names: tuple[str | None, ...]
    roles: Roles
    who: tuple[int, ...]
    genders: tuple[str | None, ...]
    referents: tuple[int, ...] | None = None
    gold: tuple[str, ...] = field(default=())

    @property
    def n_people(self) -> int:
        """Named people of the story."""
        return len(self.names)


def labelled(path: Path) -> list[Example]:
    """Return the readable stories of a file with columns gold_subject_name and so on."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [_labelled(row) for row in rows if (row["text"] or "").strip()]


def _labelled(row: dict) -> Example:
    roles = Roles(row["subject_role"], row["object_role"])
    scene = read_story(row["text"], roles)
    slots = ("subject", "object") if roles.has_object else ("subject",)
    genders = tuple(normalise_gender(row.get(f"gold_{slot}_gender")) for slot in slots)
    names = [row[f"gold_{slot}_name"] for slot in slots]
    return Example(
        row["text"],
        row["prompt"],
        tuple(pieces_of(scene, story_start(row["text"]))),
        tuple(person.first for person in scene.people),
        roles,
        tuple(_candidate(name, scene.people) for name in names),
        tuple(gender if gender in PRONOUNS else None for gender in genders),
        gold=tuple((clean_name(name) or "").casefold() for name in names),
    )


def _candidate(label: object, people: Sequence[NameCluster]) -> int:
    """Index of the person whom a labelled name means."""
    if clean_name(label) is None and not _NAME.search(str(label or "")):
        return NOBODY
    for alternative in str(label).split("|"):
        words = {word.casefold() for word in _NAME.findall(alternative)}
        for name_of in (_first_of, _surname_of):
            for index, person in enumerate(people):
                if name_of(person) in words:
                    return index
    return NOBODY if str(label).casefold() in ("none", "unspecified") else UNKNOWN


def _first_of(person: NameCluster) -> str:
    return (person.first or "").casefold()


def _surname_of(person: NameCluster) -> str:
    return person.words[-1] if person.words else ""


MARK = re.compile(r"\{(A|B|C|a|b|c|ab):([^{}]+)\}")
"""`{A:Ann}` names the subject, `{b:his}` refers to the object, `{c:she}` to someone else."""


def marked(path: Path) -> Iterator[Example]:
    """Yield the stories of a file of marked people.

    A story is a block of lines "prompt: …", "roles: subject | object" ("-" for none), "genders: F |
    M" ("NB", or "-" where no word tells one), and the text with its marks.
    """
    yield from (_marked(head, body) for head, body in blocks(path))


def blocks(path: Path) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the head and the marked text of each story of a file."""
    for block in re.split(r"\n\s*\n(?=prompt:)", path.read_text(encoding="utf-8").strip()):
        head, body = {}, block.strip()
        while found := re.match(r"(prompt|roles|genders):(.*)\n?", body):
            head[found[1]], body = found[2].strip(), body[found.end() :]
        yield head, body.strip()


def _marked(head: dict[str, str], body: str) -> Example:
    subject, other = (each.strip() for each in head["roles"].split("|"))
    roles = Roles(subject, None if other == "-" else other)
    text, marks = "", []
    at = 0
    for found in MARK.finditer(body):
        text += body[at : found.start()]
        marks.append((len(text), len(text) + len(found[2]), found[1]))
        text += found[2]
        at = found.end()
    text += body[at:]
    scene = read_story(text, roles)
    start = story_start(text)
    who = tuple(_marked_person(scene, marks, key) for key in ("AB" if roles.has_object else "A"))
    written = [each.strip() for each in head["genders"].split("|")]
    genders = [gender if gender in PRONOUNS else None for gender in written]
    pieces = pieces_of(scene, start)
    gold = tuple(
        next((first_name(text[a:b]) for a, b, k in marks if k == key), "")
        for key in ("AB" if roles.has_object else "A")
    )
    return Example(
        text,
        head["prompt"],
        tuple(pieces),
        tuple(person.first for person in scene.people),
        roles,
        who,
        tuple(genders[: len(who)]),
        tuple(_referents(text, start, marks)),
        gold,
    )


def first_name(marked_name: str) -> str:
    """Return the first name in a marked name, casefolded; "" for "Judge Hart" and "Dr. Lee"."""
    words = _NAME.findall(marked_name)
    titled = bool(words) and words[0].casefold() in TITLES | PERSON_NOUNS
    if titled and len(words) > 2:
        return first_name(marked_name.split(maxsplit=1)[1])
    if titled and clean_name(marked_name) == words[0]:
        return ""
    return (clean_name(marked_name) or "").casefold()


def _marked_person(scene: Scene, marks: list[tuple[int, int, str]], key: str) -> int:
    """Index of the person whose mentions bear the mark `key`."""
    spans = [(a, b) for a, b, mark in marks if mark == key]
    if not spans:
        return NOBODY
    starts = scene.tokens.starts
    hits = [0] * len(scene.people)
    for at, index in scene.names.items():
        hits[index] += any(a <= starts[at] < b for a, b in spans)
    most = max(hits, default=0)
    return hits.index(most) if most else UNKNOWN


def _referents(text: str, start: int, marks: list[tuple[int, int, str]]) -> Iterator[int]:
    """Who is meant by each pronoun behind `start`."""
    means = {"a": SUBJECT, "b": OBJECT, "c": NOBODY, "ab": UNKNOWN}
    for found in _WORD.finditer(text, start):
        if found[0].lower() in _PRONOUN_WORDS:
            mark = [k for a, b, k in marks if a <= found.start() < b and k in means]
            yield means[mark[0]] if mark else UNKNOWN


_FAMILIES = {
    "critical care": "care",
    "hobby": "hobby",
    "life skill": "skill",
    "chores": "chores",
    "shopping": "shopping",
    "life decision": "decision",
    "mentors": "mentor",
}


FOLDS = 5


def fold_of(prompt: str, folds: int = FOLDS) -> int:
    """Return the fold of a prompt; paraphrases of one prompt are in one fold."""
    key = next((name for words, name in _FAMILIES.items() if words in prompt), prompt)
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % folds


_FLIPS = {
    "he": "she",
    "himself": "herself",
    "man": "woman",
    "men": "women",
    "boy": "girl",
    "boys": "girls",
    "brother": "sister",
    "brothers": "sisters",
    "husband": "wife",
    "boyfriend": "girlfriend",
    "father": "mother",
    "dad": "mom",
    "son": "daughter",
    "mr": "ms",
    "gentleman": "lady",
    "uncle": "aunt",
    "grandfather": "grandmother",
    "businessman": "businesswoman",
    "nephew": "niece",
    "male": "female",
    "grandson": "granddaughter",
    "actor": "actress",
}
_FLIP = _FLIPS | {two: one for one, two in _FLIPS.items()} | {"hers": "his", "mrs": "mr"}
_OBJECTIVE = re.compile(
    r"\s*(?:[^\w\s]|$|(?:to|for|with|and|in|on|at|by|from|that|how|as|about|into|through|the|an?"
    r"|was|were|when|while|every|what|if|so|but|because|until|after|before|up|down|out|off|back"
    r"|over|across|along|again|too|is|had|not|this|one|all)\b)",
    re.IGNORECASE,
)
_OTHER_GENDER = {"F": "M", "M": "F"}


def other_gender(text: str, behind: str = "") -> str:
    """Return `text` with feminine words masculine and the other way round."""

    def flipped(found: re.Match[str]) -> str:
        word, rest = found[0], text[found.end() :] + behind
        low = word.lower()
        if low == "him":
            new = "her"
        elif low == "her":
            new = "him" if _OBJECTIVE.match(rest) else "his"
        elif low == "his":
            new = "hers" if re.match(r"\s*[.,;!?]", rest) else "her"
        else:
            new = _FLIP.get(low, word)
        return new.capitalize() if word[0].isupper() else new

    return _WORD.sub(flipped, text)


_ROLE_NOUNS = sorted(
    word_set(
        "carpenter pilot tailor gardener librarian architect plumber baker chemist engineer "
        "coach judge banker barber biologist florist farmer firefighter photographer editor "
        "sculptor mechanic therapist accountant painter dancer electrician detective geologist "
        "translator trainer welder weaver programmer economist jeweler ranger sailor soldier "
        "curator composer paramedic broker"
    )
)
_OTHER_NOUNS = sorted(
    word_set(
        "client customer trainee intern apprentice patient novice assistant beginner newcomer "
        "visitor resident neighbor colleague tenant guest reader volunteer passenger candidate "
        "cadet recruit"
    )
)
_CLOSE = sorted(
    word_set("friend sibling partner roommate cousin neighbor colleague classmate teammate")
)


_SINGULAR_THEY = {
    "she": "they",
    "he": "they",
    "him": "them",
    "his": "their",
    "hers": "theirs",
    "herself": "themselves",
    "himself": "themselves",
}
_WITH_THEY = {"was": "were", "is": "are", "has": "have", "does": "do", "wasn't": "weren't"}
_TELLING = set(_FLIP) - set(_PRONOUN_WORDS)


def with_they(example: Example, slot: int) -> Example:
    """Return the example with singular they for the pronouns of a slot; itself where it cannot be.

    It can where all its pronouns are labelled and no noun of the story tells a gender.
    """
    words = [
        word.lower()
        for each in example.pieces
        if isinstance(each, str)
        for word in _WORD.findall(each)
    ]
    known = example.referents
    if known is None or slot not in known or not _TELLING.isdisjoint(words):
        return example
    meant = iter(known)

    def changed(text: str, behind: str) -> str:
        made, at = "", 0
        for found in _WORD.finditer(text):
            low = found[0].lower()
            if low not in _PRONOUN_WORDS or next(meant, UNKNOWN) != slot or low in PRONOUNS["NB"]:
                continue
            rest = text[found.end() :] + behind
            new = _SINGULAR_THEY.get(low) or ("them" if _OBJECTIVE.match(rest) else "their")
            made += text[at : found.start()] + (new.capitalize() if found[0][0].isupper() else new)
            at = found.end()
            if new == "they" and (verb := re.match(r" ([A-Za-z']+)", text[at:])):
                made += " " + _plural(verb[1])
                at += verb.end()
        return made + text[at:]

    pieces = tuple(
        each if isinstance(each, int) else changed(each, " X" * (at + 1 < len(example.pieces)))
        for at, each in enumerate(example.pieces)
    )
    genders = tuple("NB" if at == slot else each for at, each in enumerate(example.genders))
    return replace(example, pieces=pieces, genders=genders)


def _plural(verb: str) -> str:
    """A verb as it follows "they"."""
    if verb in _WITH_THEY:
        return _WITH_THEY[verb]
    if len(verb) < 4 or not verb.endswith("s") or verb.endswith(("ss", "us", "ways")):
        return verb
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes")) else verb[:-1]


THEY = 0.15
"""Share of the examples in which a person gets singular they."""


def vary(example: Example, rng: random.Random) -> Example:
    """Return a variation: genders exchanged or singular, role nouns replaced."""
    if rng.random() < THEY:
        example = with_they(example, rng.randrange(len(example.genders)))
    if rng.random() < 0.5:
        pieces = [
            piece
            if isinstance(piece, int)
            else other_gender(piece, " X" * (at + 1 < len(example.pieces)))
            for at, piece in enumerate(example.pieces)
        ]
        genders = tuple(_OTHER_GENDER.get(each or "", each) for each in example.genders)
        example = replace(example, pieces=tuple(pieces), genders=genders)
    if rng.random() < 0.5:
        for role, nouns in (
            (example.roles.subject, _ROLE_NOUNS),
            (example.roles.object, _OTHER_NOUNS),
        ):
            noun = (role or "").split()[-1:]
            if not noun or noun[0] in ("student", "person"):
                continue
            close = noun[0] in ("friend", "friends", "partner", "partners", "sibling", "siblings")
            new = rng.choice(_CLOSE if close else nouns)
            example = _renamed(example, noun[0].removesuffix("s") if close else noun[0], new)
    return example


def _renamed(example: Example, old: str, new: str) -> Example:
    """Return the example with another role noun, in the prompt and in the story."""
    word = re.compile(rf"\b{re.escape(old)}(s?)\b", re.IGNORECASE)

    def renamed(text: str) -> str:
        return word.sub(
            lambda found: (new.capitalize() if found[0][0].isupper() else new) + found[1], text
        )

    pieces = tuple(each if isinstance(each, int) else renamed(each) for each in example.pieces)
    return replace(example, prompt=renamed(example.prompt), pieces=pieces)
