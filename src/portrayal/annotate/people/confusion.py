"""How a reader of stories errs: true against read genders and names, story by story.

A reader carries its own confusion, measured on prompts that nothing was fitted to: the rules in
`stories/confusion.json`, the network in its `reader.json` ("confusion", and "confusion_routed" for
stories that the rules are unsure of); `scripts/reader/measure_confusion.py` writes both. The format
is JSON: `format`, 1; `reader` and `source`, the annotator, and on what it was measured; `locale`;
`names_right`; `stories` and `hard`, a list for each prompt, of stories such as "F ann | M>U bo>-":
subject, and object where there is one; gender and first name as marked, then ">" and as read where
that differs; U is no gender, - no name; and `labelled`, a list of `domain`, `laden` (one person has
power over the other) and `prompts`, each of which says how many stories there are of a text.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import portrayal.reference as reference
from portrayal.annotate.people.reader.network import CARD
from portrayal.annotate.people.reader.rows import READER, WEIGHTS
from portrayal.annotate.people.stories.rows import PEOPLE
from portrayal.errors import DataError
from portrayal.reference.locales import HOME

FORMAT = 1
GENDERS = (*reference.GENDERS, "U")
"""Genders of a confusion; U where no word tells one, or the reader read none."""
NO_NAME = "-"


class Slot(NamedTuple):
    """A role of a story: its gender and first name ("" for none) as marked, and as read."""

    gender: str
    read_gender: str
    name: str
    read_name: str


Story = tuple[Slot, ...]
"""The subject, and the object where the prompt asks for one."""
Prompts = tuple[tuple[Story, ...], ...]
"""Stories by prompt: the unit that is drawn again."""


class Setting(NamedTuple):
    """Of what stories are: their domain, and whether one person has power over the other."""

    domain: str
    laden: bool


@dataclass(frozen=True)
class Confusion:
    """How a reader errs.

    Attributes
    ----------
    reader
        Name of the annotator.
    source
        On what it was measured, in words.
    stories
        Stories most like those of models, by prompt.
    hard
        Other stories by prompt, on which the reader does worse: a bound. May be empty.
    labelled
        Stories by models with labels by hand, by setting and prompt. Where there are any, the
        reader's errors are known in these settings alone.
    locale
        Language and country of the stories and their names.
    names_right
        Mean of precision and recall of names on stories by models, 0-1, of all of them and of the
        domain with the least, where they were measured: wrong names are as frequent as that, and of
        the kinds seen in `stories` and `hard`. None: as frequent as they are there.
    borrowed
        Labelled stories as another reader reads them: how far errors differ between settings and
        roles, for a reader without labelled stories of its own.
    """

    reader: str
    source: str
    stories: Prompts
    hard: Prompts = ()
    names_right: tuple[float, float] | None = None
    labelled: Mapping[Setting, Prompts] = field(default_factory=dict)
    locale: str = HOME
    borrowed: Mapping[Setting, Prompts] = field(default_factory=dict)


def confusion_of(annotator: str, settings: Mapping[str, Any] | None = None) -> Confusion | None:
    """Return how an annotator errs; None where that was not measured.

    Parameters
    ----------
    annotator
        Registered name, such as "people.v7".
    settings
        What it was given. The network has its own confusion (in `reader.json`: under
        "confusion_routed" where it reads the unsure stories alone, else under "confusion").

    Raises
    ------
    DataError
        When a confusion is not of the format.
    """
    if annotator == PEOPLE.name:
        return _of_rules()
    if annotator != READER.name or not settings:
        return None
    path = WEIGHTS / CARD
    # Where rules read the stories that they are sure of, errors are those of both
    key = "confusion" if settings["below"] >= 1.0 else "confusion_routed"
    stored = json.loads(path.read_text(encoding="utf-8"))[key]
    # Only the rules have labelled stories by setting; differences are taken from them
    return replace(confusion_from(stored, f"{path}, {key}"), borrowed=_of_rules().labelled)


@cache
def _of_rules() -> Confusion:
    place = files("portrayal.annotate.people.stories").joinpath("confusion.json")
    return confusion_from(json.loads(place.read_text(encoding="utf-8")), place.name)


def confusion_from(stored: Mapping[str, Any], source: str) -> Confusion:
    """Return the confusion of a JSON object; `source` names it in errors.

    Raises
    ------
    DataError
        When it is not of the format.
    """
    try:
        # Another format may hold the same keys and mean something else
        if stored["format"] != FORMAT:
            raise ValueError(f"format {stored['format']!r}, not {FORMAT}")
        names = stored.get("names_right")
        labelled: dict[Setting, Prompts] = {}
        for setting in stored.get("labelled", ()):
            counts = setting["prompts"]
            # Stories that were read alike are stored once with their number
            texts = [[t for t, n in prompt.items() for _ in range(n)] for prompt in counts]
            labelled[Setting(str(setting["domain"]), bool(setting["laden"]))] = _prompts(texts)
        return Confusion(
            str(stored["reader"]),
            str(stored["source"]),
            _prompts(stored["stories"]),
            _prompts(stored.get("hard", ())),
            None if names is None else (float(names[0]), float(names[1])),
            labelled,
            str(stored.get("locale", HOME)),
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"{source} is no confusion of a reader ({error}).") from error


def _prompts(stored: Any) -> Prompts:
    """Stories by prompt from lists of lists of texts such as "F>M ann>bo | M>M bo>ann"."""
    prompts = []
    for texts in stored:
        stories: list[Story] = []
        for text in texts:
            slots = []
            for part in text.split("|"):
                genders, names = part.split()
                gender, _, read = genders.partition(">")
                if gender not in GENDERS or (read or gender) not in GENDERS:
                    raise ValueError(f"genders are {', '.join(GENDERS)}, not {genders!r}")
                # An empty name behind the arrow is one that was not read, so the arrow decides
                name, arrow, read_name = names.partition(">")
                slot_names = [
                    "" if slot_name == NO_NAME else slot_name
                    for slot_name in (name, read_name if arrow else name)
                ]
                # What was read right is written once: "F" stands for "F>F"
                slots.append(Slot(gender, read or gender, *slot_names))
            if len(slots) > 2:
                raise ValueError(f"a story has one or two roles, not {text!r}")
            stories.append(tuple(slots))
        # Prompts stay apart, as the bootstrap draws whole prompts
        prompts.append(tuple(stories))
    return tuple(prompts)
