"""The annotator `people-reader.v1`: rules and network joined by weights learned elsewhere.

The two are a log-linear pool, with weights learned on prompts left out.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy import special

from portrayal.annotate.annotator import PROMPT, Annotator
from portrayal.annotate.people.reader.network import (
    CARD,
    GENDERS,
    Network,
    NetworkOutput,
    digest_of,
    hide,
    load_network,
    pieces_of,
)
from portrayal.annotate.people.shared.model import Character, Roles
from portrayal.annotate.people.shared.scan import locale_of
from portrayal.annotate.people.stories.cast import Cast
from portrayal.annotate.people.stories.decide import SINGLY, GenderChoice
from portrayal.annotate.people.stories.extract import (
    cast_of,
    characters,
    log_odds,
    name_confidences,
    people_of_cast,
    read_story,
    story_start,
    weigh,
)
from portrayal.annotate.people.stories.rows import PEOPLE, people_columns
from portrayal.annotate.people.stories.scene import Scene
from portrayal.errors import DataError, OptionError
from portrayal.reference.locales import Locale
from portrayal.types import FloatArray

_LEAST = 1e-9

Weighed = tuple[list[GenderChoice], list[float]]
"""All choices of genders, and their probabilities by the rules."""


@dataclass(frozen=True, slots=True)
class Joining:
    """Weights of the pool, and curves that turn its probabilities into confidences.

    Attributes
    ----------
    names
        Weight of the network's log-probabilities of who has which role, and of the log-odds of the
        rules that their choice is right.
    names_of_equals
        The same where the prompt asks for two equals, whom the order of the names tells apart.
    genders, genders_of_equals
        Weight of the network's log-probabilities of the genders, and of the rules'; and what is
        added for each person of singular "they", of which both see too few.
    name_curve, gender_curve, both_curve
        Intercept and slopes of logistic curves (Platt 1999): of the log-odds of the name; of the
        gender by the network, the gender by the rules, and the name; of both confidences.
    """

    names: tuple[float, float] = (1.0, 1.0)
    names_of_equals: tuple[float, float] = (1.0, 1.0)
    genders: tuple[float, float, float] = (1.0, 1.0, 0.0)
    genders_of_equals: tuple[float, float, float] = (1.0, 1.0, 0.0)
    name_curve: tuple[float, float] = (0.0, 1.0)
    gender_curve: tuple[float, float, float, float] = (0.0, 1.0, 1.0, 0.0)
    both_curve: tuple[float, float, float] = (0.0, 1.0, 1.0)


class Odds(NamedTuple):
    """Log-odds that a slot's name is right, and its gender by the network and by the rules."""

    name: float
    network: float
    rules: float


def read_people(
    scene: Scene, cast: Cast, reading: NetworkOutput, joining: Joining
) -> tuple[Character, Character | None]:
    """Return the subject and the object of a story, by rules and network together.

    Parameters
    ----------
    scene, cast
        From `portrayal.annotate.people.stories.extract.read_story`.
    reading
        What the network says of the story with its names hidden.
    joining
        How both are weighed.

    Returns
    -------
    tuple of Character and (Character or None)
        As `extract_people`, with confidences of the joined choice.
    """
    cast, choice, odds = join(scene, cast, reading, joining)
    return characters(scene, cast, choice, [_confidences(each, joining) for each in odds])


def join(
    scene: Scene, cast: Cast, reading: NetworkOutput, joining: Joining
) -> tuple[Cast, GenderChoice, list[Odds]]:
    """Return who has which role, their genders, and what speaks for each slot."""
    weighed = weigh(scene, cast)
    # Who has which role, and the probability of each slot
    ways, signs = ways_of(scene, cast, weighed, reading)
    scores = signs @ (joining.names_of_equals if scene.paired else joining.names)
    shares = special.softmax(scores)
    chosen = ways[int(scores.argmax())]
    known = [
        float(sum(share for way, share in zip(ways, shares, strict=True) if way[slot] == at))
        for slot, at in enumerate(chosen)
    ]
    nobody = reading.roles.shape[1] - 1
    slots, names = ([None if at == nobody else at for at in chosen], known)
    if slots != cast.slots:
        cast = cast_of(scene, slots)
        weighed = weigh(scene, cast)
    weights = joining.genders_of_equals if scene.paired else joining.genders
    choice = weighed[0][int((signs_of_genders(cast, weighed, reading) @ weights).argmax())]
    odds = []
    rows = _rows(cast, reading)
    for slot, (name, row, gender) in enumerate(zip(names, rows, choice.genders, strict=True)):
        options = zip(*weighed, strict=True)
        rules = sum(chance for option, chance in options if option.genders[slot] == gender)
        network = exp(float(reading.genders[row, GENDERS.index(gender)]))
        odds.append(Odds(log_odds(name), log_odds(network), log_odds(rules)))
    return cast, choice, odds


def ways_of(
    scene: Scene, cast: Cast, weighed: Weighed, reading: NetworkOutput
) -> tuple[list[tuple[int, ...]], FloatArray]:
    """All ways to give the roles to the named people, and what speaks for each, shape (n_ways, 2).

    A way is the index of a person for each slot, the number of people for nobody; for it speak the
    network's log-probability, and the rules' log-odds of the people whom they chose.
    """
    nobody = reading.roles.shape[1] - 1
    options, chances = weighed
    best = options[max(range(len(options)), key=chances.__getitem__)]
    odds = list(map(log_odds, name_confidences(scene, cast, best)))
    ways = [
        way
        for way in product(range(nobody + 1), repeat=len(cast.slots))
        if len(set(way)) == len(way) or set(way) == {nobody}
    ]
    chosen = [nobody if at is None else at for at in cast.slots]
    signs = [
        (
            sum(reading.roles[slot, at] for slot, at in enumerate(way)),
            sum(odds[slot] for slot, at in enumerate(way) if at == chosen[slot]),
        )
        for way in ways
    ]
    return ways, np.array(signs)


def signs_of_genders(cast: Cast, weighed: Weighed, reading: NetworkOutput) -> FloatArray:
    """What speaks for each choice of genders, shape (n_choices, 3).

    The log-probabilities of the network and of the rules, and how many are of singular "they".
    """
    rows = _rows(cast, reading)
    return np.array(
        [
            (
                sum(
                    reading.genders[row, GENDERS.index(gender)]
                    for row, gender in zip(rows, option.genders, strict=True)
                ),
                log(max(chance, _LEAST)),
                option.genders.count(SINGLY),
            )
            for option, chance in zip(*weighed, strict=True)
        ]
    )


def _rows(cast: Cast, reading: NetworkOutput) -> list[int]:
    """The row of `reading.genders` for each slot."""
    nobody = reading.roles.shape[1] - 1
    return [nobody + slot if at is None else at for slot, at in enumerate(cast.slots)]


def _confidences(odds: Odds, joining: Joining) -> tuple[float, float, float]:
    """Probabilities that the name, the gender, and both are right."""
    of_name = _curve(joining.name_curve, odds.name)
    of_gender = _curve(joining.gender_curve, odds.network, odds.rules, log_odds(of_name))
    return of_name, of_gender, _curve(joining.both_curve, log_odds(of_name), log_odds(of_gender))


def _curve(weights: Sequence[float], *signs: float) -> float:
    value = weights[0] + sum(w * sign for w, sign in zip(weights[1:], signs, strict=True))
    return round(1.0 / (1.0 + exp(-value)), 4)


People = tuple[Character, Character | None]

UNSURE = 0.8
"""Where texts are routed, the network reads those of whose people the rules are less sure."""

SHIPPED = "shipped"
"""Names the reader that comes with Portrayal in the settings of a run."""

_WEIGHTS = Path(__file__).parent / "weights"


def reader_settings(folder: str | Path | None = None, *, below: float = 1.0) -> dict[str, Any]:
    """Return the settings of `people-reader.v1`, checked; nothing is loaded yet.

    Parameters
    ----------
    folder
        Folder of a reader, as `scripts/reader/train.py` writes it; None for the one that ships.
    below
        The network reads stories with a character of whom the rules are less sure than this, 0-1;
        1 for every story.

    Returns
    -------
    dict
        "folder", `SHIPPED` for the one that ships; "sha256" of its files; "below".

    Raises
    ------
    OptionError
        For `below` outside 0-1, or a folder without a reader.
    DataError
        For a reader of one's own whose files are not those of its card.
    """
    if not 0.0 <= below <= 1.0:
        raise OptionError(f"below must be a probability, 0-1; got {below}.")
    where = _WEIGHTS if folder is None else Path(folder).expanduser().resolve()
    try:
        card = json.loads((where / CARD).read_text(encoding="utf-8"))
        digest = str(card["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(
            f"{where}: there is no reader here ({CARD}: {error}). Give a folder that "
            "scripts/reader/train.py wrote, or none for the reader that ships."
        ) from error
    if folder is not None and digest_of(where) != digest:
        raise _changed(where)
    return {
        "folder": SHIPPED if folder is None else str(where),
        "sha256": digest,
        "below": below,
    }


def _changed(folder: Path) -> DataError:
    return DataError(
        f"{folder}: the files of this reader are not those of its card ({CARD}), or are not what "
        "this audit began with. Copy the folder again, or begin with a new --out."
    )


def reader_folder(folder: str) -> Path:
    """Return the path of a reader as the settings of a run name it."""
    return _WEIGHTS if folder == SHIPPED else Path(folder)


@lru_cache(maxsize=2)
def network_of(folder: str) -> Network:
    """Return the reader of a folder as `reader_settings` names it, loaded once."""
    return load_network(reader_folder(folder), threads=1)


def read_stories(
    stories: Sequence[tuple[str, Roles, str | None]],
    folder: str,
    below: float = 1.0,
    locale: Locale | None = None,
) -> list[People | Exception]:
    """Return the people of stories by rules and network together.

    Parameters
    ----------
    stories
        Text, roles of its prompt, and the words of the prompt, or None where they are not known:
        the roles stand for them then.
    folder, below
        See `reader_settings`.
    locale
        See `extract_people`.

    Returns
    -------
    list
        In the order of `stories`; where a text could not be read, the exception.

    Raises
    ------
    MissingExtraError, DataError
        When the reader cannot be loaded; see `load_network`.
    """
    network = network_of(folder)
    joining = Joining(**{key: tuple(value) for key, value in network.card["joining"].items()})
    made: list[People | Exception] = []
    for text, roles, prompt in stories:
        try:
            scene, cast = read_story(text, roles, locale)
            people = people_of_cast(scene, cast)
            if min(each.confidence for each in people if each is not None) < below:
                asked = prompt or " and ".join(filter(None, (roles.subject, roles.object)))
                pieces = pieces_of(scene, story_start(scene.text))
                hidden = hide(asked, pieces, len(scene.people), network.vocabulary)
                people = read_people(scene, cast, network.read(hidden), joining)
            made.append(people)
        except Exception as error:  # this text is counted as failed, the others go on
            made.append(error)
    return made


def _setup(settings: Mapping[str, Any]) -> Callable[..., list[dict[str, Any] | Exception]]:
    folder, below = settings["folder"], settings.get("below", 1.0)
    if network_of(folder).card["sha256"] != settings.get("sha256"):
        raise _changed(reader_folder(folder))
    locale = locale_of(settings)

    def annotate(
        rows: Sequence[Mapping[str, Any]], strata: Sequence[Mapping[str, str]]
    ) -> list[dict[str, Any] | Exception]:
        stories = [
            (row["text"], Roles(known["subject_role"], known.get("object_role")), known.get(PROMPT))
            for row, known in zip(rows, strata, strict=True)
        ]
        return [
            each if isinstance(each, Exception) else people_columns(each)
            for each in read_stories(stories, folder, below, locale)
        ]

    return annotate


def _run(*_: Any) -> NoReturn:
    """Say that it has settings."""
    raise OptionError("this annotator needs the folder of a reader; see reader_settings.")


READER = Annotator(
    name="people-reader.v1",
    summary="First name and gender of the characters a prompt asks for, by rules and a small "
    "network that never sees a name.",
    reads="texts; the prompt, and its subject_role and object_role",
    unit="story",
    range="names; F, M, NB, Unspecified or Unsure",
    undefined_when=PEOPLE.undefined_when,
    equation="log-linear pool of the rules of people.v2 and an encoder; references of the word "
    "list in Table S6a",
    source="Shieh et al. 2025, Supplement B.1 and B.3; the network is Portrayal's",
    run=_run,
    setup=_setup,
    per_shard=True,
    schema=PEOPLE.schema,
    accuracy="of the one that ships, on hand-labelled stories for prompts not seen, 26 (1,299 "
    "stories) and 19 (955): names precision 95.7 and 96.0 %, recall 94.9 and 96.1 %; genders 93.0 "
    "and 92.7 %, 92.4 and 93.4 %; both right 90.8 and 91.0 %",
    title="Who is in a story",
)
