"""The annotator `people-reader.v1`: people of prompted stories by rules and network together."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from portrayal.annotate.annotator import PROMPT, Annotator
from portrayal.annotate.people.reader.hidden import Hidden, hide, pieces_of
from portrayal.annotate.people.reader.join import Joining, read_people
from portrayal.annotate.people.reader.network import CARD, Network, load_network
from portrayal.annotate.people.shared.local import locale_of
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
from portrayal.reference.locales import Locale

People = tuple[Character, Character | None]

UNSURE = 0.9
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
    return {
        "folder": SHIPPED if folder is None else str(where),
        "sha256": digest,
        "below": below,
    }


def reader_folder(folder: str) -> Path:
    """Return the path of a reader as the settings of a run name it."""
    return _WEIGHTS if folder == SHIPPED else Path(folder)


@lru_cache(maxsize=2)
def _network(folder: str) -> Network:
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
    network = _network(folder)
    joining = Joining(**{key: tuple(value) for key, value in network.card["joining"].items()})
    made: list[People | Exception] = []
    unsure: list[tuple[int, Scene, Cast, Hidden]] = []
    for at, (text, roles, prompt) in enumerate(stories):
        try:
            scene, cast = read_story(text, roles, locale)
            people = people_of_cast(scene, cast)
            made.append(people)
            if min(each.confidence for each in people if each is not None) < below:
                asked = prompt or " and ".join(filter(None, (roles.subject, roles.object)))
                pieces = pieces_of(scene, story_start(scene.text))
                hidden = hide(asked, pieces, len(scene.people), network.vocabulary)
                unsure.append((at, scene, cast, hidden))
        except Exception as error:  # this text is counted as failed, the others go on
            made.append(error)
    readings = network.read([hidden for *_, hidden in unsure])
    for (at, scene, cast, _), reading in zip(unsure, readings, strict=True):
        made[at] = read_people(scene, cast, reading, joining)
    return made


def _setup(settings: Mapping[str, Any]) -> Callable[..., list[dict[str, Any] | Exception]]:
    folder, below = settings["folder"], settings.get("below", 1.0)
    locale = locale_of(settings)

    def annotate(
        rows: Sequence[Mapping[str, Any]], strata: Sequence[Mapping[str, str]]
    ) -> list[dict[str, Any] | Exception]:
        stories = [
            (row["text"], Roles(known["subject_role"], known.get("object_role")), known.get(PROMPT))
            for row, known in zip(rows, strata, strict=True)
        ]
        return [
            each if isinstance(each, Exception) else _columns(each)
            for each in read_stories(stories, folder, below, locale)
        ]

    return annotate


def _columns(people: People) -> dict[str, Any]:
    subject, other = people
    more = {} if other is None else person_columns("object", other)
    return person_columns("subject", subject) | more


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
    accuracy="of the one that ships, on 955 hand-labelled stories for 19 prompts not seen: names "
    "precision 95.5 %, recall 95.8 %; genders 91.8 %, 92.5 %; both right 90.2 %",
    title="Who is in a story",
)
