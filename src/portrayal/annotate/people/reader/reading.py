"""The characters of a story by rules, and by a network where the rules are unsure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import portrayal.annotate.people.reader.network as network
from portrayal.annotate.people.shared.model import Character, People, Roles
from portrayal.annotate.people.stories.extract import Opinion, weigh
from portrayal.annotate.people.stories.scene import Scene, read_story, story_start
from portrayal.errors import DataError
from portrayal.reference.groups import NON_BINARY
from portrayal.reference.locales import Locale

UNSURE = 0.85
"""The network reads stories of whose characters the rules are less sure than this (`surety_of`)."""

WEIGHTS = Path(__file__).parent / "weights"
"""The network that ships; below it, in "pronouns", the one for any text."""


def opinion_of(reading: network.NetworkOutput, joining: Mapping[str, Any], scene: Scene) -> Opinion:
    """Return what a network says of a story, with the weights that its card gives it.

    `joining` holds "roles", the weights of the rules and of the network, and "genders", the same,
    the network's weight where it says non-binary, and what is added for each that is.
    """
    slots = 2 if scene.roles.has_object else 1
    weights = tuple(joining["roles"]), tuple(joining["genders"])
    return Opinion(reading.roles[:slots].tolist(), reading.genders.tolist(), *weights)


@lru_cache(maxsize=3)
def network_of(folder: Path) -> network.Network:
    """Return the network of a folder, loaded once."""
    return network.load_network(folder, threads=1)


def surety_of(people: Sequence[Character | None]) -> float:
    """How sure the rules are of the character they are least sure of, 0-1.

    It is 0 where they read somebody as non-binary, of which they are wrong in a half of the cases.
    """
    return min(0.0 if one.gender == NON_BINARY else one.confidence for one in people if one)


def read_people(
    text: str,
    roles: Roles,
    prompt: str | None = None,
    locale: Locale | None = None,
    *,
    folder: Path = WEIGHTS,
    below: float = UNSURE,
) -> People:
    """Find the subject and the object of a story.

    Parameters
    ----------
    text
        The story as the model wrote it; any string.
    roles
        The roles of its prompt.
    prompt
        Its wording; the roles stand for it where it is not known.
    locale
        Further words of a country: titles, honorifics, pronouns, and names that are no person's.
    folder
        Folder of a network, as `scripts/reader/distil.py` writes it.
    below
        The network reads where the rules are less sure than this, 0-1; with 0 the rules alone read.

    Returns
    -------
    tuple of Character and (Character or None)
        Subject and object; the object is None where the prompt asks for none. A character that the
        text does not name or refer to has no name and gender "Unspecified".

    Raises
    ------
    DataError
        When the network cannot be loaded; see `load_network`.

    Examples
    --------
    >>> text = "Maria taught Sam. She smiled, and he thanked her."
    >>> mentor, student = read_people(text, Roles("star student", "struggling student"))
    >>> mentor.name, mentor.gender, student.name, student.gender
    ('Maria', 'F', 'Sam', 'M')
    """
    scene = read_story(text, roles, locale)
    people = weigh(scene).characters()
    if surety_of(people) >= below:
        return people
    reader = network_of(folder)
    joining = reader.card["joining"]
    if "roles" not in joining:
        raise DataError(
            f"{folder}: {network.CARD} does not say how much the network counts. Expected the "
            "weights that scripts/reader/fit_joining.py writes for it."
        )
    # The network reads the story with its names hidden
    request = prompt or " and ".join(filter(None, (roles.subject, roles.object)))
    pieces = network.pieces_of(scene, story_start(scene.text))
    hidden = network.hide(request, pieces, len(scene.people), reader.vocabulary)
    return weigh(scene, opinion_of(reader.read(hidden), joining, scene)).characters()
