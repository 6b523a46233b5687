"""The annotator `people-reader.v1`: people of prompted stories by rules and network together."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from portrayal.annotate.annotator import PROMPT, Annotator
from portrayal.annotate.people.reader.hidden import Hidden, Vocabulary, hide, pieces_of
from portrayal.annotate.people.reader.join import Joining, read_people
from portrayal.annotate.people.reader.network import CARD, FOLDER, Network, load_network
from portrayal.annotate.people.shared.model import Character, Roles
from portrayal.annotate.people.stories.cast import Cast
from portrayal.annotate.people.stories.extract import (
    people_of_cast,
    read_story,
    story_start,
)
from portrayal.annotate.people.stories.rows import PEOPLE, person_columns
from portrayal.annotate.people.stories.scene import Scene
from portrayal.errors import OptionError

People = tuple[Character, Character | None]

UNSURE = 0.9
"""Where texts are routed, the network reads those of whose people the rules are less sure."""


def reader_settings(folder: str | Path | None = None, *, below: float = 1.0) -> dict[str, Any]:
    """Return the settings of `people-reader.v1`, checked; nothing is loaded yet.

    Parameters
    ----------
    folder
        Folder of a reader; None for the one that ships.
    below
        The network reads stories with a character of whom the rules are less sure than this, 0-1;
        1 for every story.

    Raises
    ------
    OptionError
        For `below` outside 0-1, or a folder without a reader.
    """
    if not 0.0 <= below <= 1.0:
        raise OptionError(f"below must be a probability, 0-1; got {below}.")
    where = FOLDER if folder is None else Path(folder).expanduser()
    if not (where / CARD).is_file():
        raise OptionError(
            f"{where}: there is no reader here (no {CARD}). Give a folder that "
            "scripts/reader/train.py wrote, or choose another labeler."
        )
    return {"folder": None if folder is None else str(where), "below": below}


@lru_cache(maxsize=2)
def _network(folder: str | None) -> Network:
    return load_network(FOLDER if folder is None else Path(folder), threads=1)


def _setup(settings: Mapping[str, Any]) -> Callable[..., list[dict[str, Any] | Exception]]:
    network, below = _network(settings.get("folder")), settings.get("below", 1.0)
    joining = Joining(**{key: tuple(value) for key, value in network.card["joining"].items()})

    def annotate(
        rows: Sequence[Mapping[str, Any]], strata: Sequence[Mapping[str, str]]
    ) -> list[dict[str, Any] | Exception]:
        made: list[dict[str, Any] | Exception] = []
        unsure: list[tuple[int, Scene, Cast, Hidden]] = []
        for at, (row, known) in enumerate(zip(rows, strata, strict=True)):
            try:
                roles = Roles(known["subject_role"], known.get("object_role"))
                scene, cast = read_story(row["text"], roles)
                people = people_of_cast(scene, cast)
                made.append(_columns(people))
                if min(each.confidence for each in people if each is not None) < below:
                    unsure.append((at, scene, cast, _hidden(scene, known, network.vocabulary)))
            except Exception as error:  # this text is counted as failed, the others go on
                made.append(error)
        readings = network.read([hidden for *_, hidden in unsure])
        for (at, scene, cast, _), reading in zip(unsure, readings, strict=True):
            made[at] = _columns(read_people(scene, cast, reading, joining))
        return made

    return annotate


def _hidden(scene: Scene, known: Mapping[str, str], words: Vocabulary) -> Hidden:
    """The story as the network sees it; roles stand for a prompt whose words are not known."""
    roles = " and ".join(filter(None, map(known.get, ("subject_role", "object_role"))))
    pieces = pieces_of(scene, story_start(scene.text))
    return hide(known.get(PROMPT) or roles, pieces, len(scene.people), words)


def _columns(people: People) -> dict[str, Any]:
    subject, other = people
    return person_columns("subject", subject) | (
        {} if other is None else person_columns("object", other)
    )


def _run(rows: Any, strata: Any) -> list[dict[str, Any] | Exception]:
    return _setup({})(rows, strata)


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
    accuracy="see docs/people.md: measured on prompts left out of training",
    title="Who is in a story",
)
