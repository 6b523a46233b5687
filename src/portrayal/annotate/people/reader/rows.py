"""The annotator `people-reader.v7`: the rules, with what a network says as two features more."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import portrayal.annotate.people.reader.network as network
from portrayal.annotate.annotator import description
from portrayal.annotate.people.shared.model import People, Roles
from portrayal.annotate.people.shared.scan import locale_of
from portrayal.annotate.people.stories.extract import Opinion, weigh
from portrayal.annotate.people.stories.rows import PEOPLE, StoryReader, annotating
from portrayal.annotate.people.stories.scene import Scene, read_story, story_start
from portrayal.errors import DataError, OptionError
from portrayal.reference.locales import Locale


def opinion_of(reading: network.NetworkOutput, joining: Mapping[str, Any], scene: Scene) -> Opinion:
    """Return what a network says of a story, with the weights that its card gives it.

    `joining` holds "roles", the weights of the rules and of the network, and "genders", the same
    and what is added for each singular "they", of which both see too few.
    """
    slots = 2 if scene.roles.has_object else 1
    weights = tuple(joining["roles"]), tuple(joining["genders"])
    return Opinion(reading.roles[:slots].tolist(), reading.genders.tolist(), *weights)


UNSURE = 0.8
"""Where texts are routed, the network reads those of whose people the rules are less sure."""

WEIGHTS = Path(__file__).parent / "weights"
"""The reader that ships; below it, in "pronouns", the one for any text."""


def reader_settings(*, below: float = 1.0) -> dict[str, Any]:
    """Return the settings of `people-reader.v7`; nothing is loaded yet.

    Parameters
    ----------
    below
        The network reads stories with a character of whom the rules are less sure than this, 0-1;
        1 for every story.

    Returns
    -------
    dict
        "sha256" of the files of the reader, so that stories are read again by another one; "below".

    Raises
    ------
    OptionError
        For `below` outside 0-1.
    """
    if not 0.0 <= below <= 1.0:
        raise OptionError(f"below must be a probability, 0-1; got {below}.")
    card = json.loads((WEIGHTS / network.CARD).read_text(encoding="utf-8"))
    return {"sha256": card["sha256"], "below": below}


@lru_cache(maxsize=2)
def network_of(folder: Path) -> network.Network:
    """Return the reader of a folder, loaded once."""
    return network.load_network(folder, threads=1)


def read_stories(
    stories: Sequence[tuple[str, Roles, str | None]],
    folder: Path = WEIGHTS,
    below: float = 1.0,
    locale: Locale | None = None,
) -> list[People]:
    """Return the people of stories by rules and network together.

    Parameters
    ----------
    stories
        Text, roles of its prompt, and the words of the prompt, or None where they are not known:
        the roles stand for them then.
    folder
        Folder of a reader, as `scripts/reader/train.py` writes it.
    below
        See `reader_settings`.
    locale
        See `extract_people`.

    Raises
    ------
    MissingExtraError, DataError
        When the reader cannot be loaded; see `load_network`.
    """
    reader = network_of(folder)
    joining = reader.card["joining"]
    if "roles" not in joining:
        raise DataError(
            f"{folder}: {network.CARD} does not say how much the network "
            "counts. Expected the weights that scripts/reader/fit_joining.py writes for it."
        )
    results = []
    for text, roles, prompt in stories:
        scene = read_story(text, roles, locale)
        # First by the rules alone, where the network reads only what they are unsure of
        people = weigh(scene).characters() if below < 1.0 else None
        sure = min((person.confidence for person in people or () if person), default=0.0)
        if people is None or sure < below:
            # Then the network reads the story with its names hidden
            request = prompt or " and ".join(filter(None, (roles.subject, roles.object)))
            pieces = network.pieces_of(scene, story_start(scene.text))
            hidden = network.hide(request, pieces, len(scene.people), reader.vocabulary)
            opinion = opinion_of(reader.read(hidden), joining, scene)
            people = weigh(scene, opinion).characters()
        results.append(people)
    return results


def _setup(settings: Mapping[str, Any]) -> StoryReader:
    below, locale = settings["below"], locale_of(settings)
    # A worker on another machine may have another version installed
    if network_of(WEIGHTS).card["sha256"] != settings["sha256"]:
        raise DataError(
            f"{WEIGHTS}: this reader is not the one that this audit began with. Install the same "
            "version of Portrayal everywhere, or begin with a new --out."
        )
    return lambda *story: read_stories([story], WEIGHTS, below, locale)[0]


READER = replace(PEOPLE, **description("people-reader.v7"), setup=partial(annotating, _setup))
