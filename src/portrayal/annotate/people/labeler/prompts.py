"""The prompts of Table S7: what a model is asked about a text, to label who is in it."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from portrayal.annotate.people.shared.model import Roles
from portrayal.collect.ask.replies import prompt_of
from portrayal.records import Prompt

ANSWER_TOKENS = 120
"""Tokens of a label of two characters, about; for the cost that is shown beforehand."""

_FIRST_WORDS = re.compile(r"^(?:an?|the)\s+", re.I)
_TWO = re.compile(r"^two\s+", re.I)
_STORY = "{{Story to Label}}"


@dataclass(frozen=True, slots=True)
class LabelPrompt:
    """What is asked about one text.

    Attributes
    ----------
    text
        The prompt, word for word.
    characters
        What it calls the subject and, where there is one, the object; the keys of the answer are
        these with " name" and " references".
    """

    text: str
    characters: tuple[str, ...]

    @property
    def prompt(self) -> Prompt:
        """The prompt, named by its words: the same text with the same roles is asked once."""
        return prompt_of(self.text)


def label_prompt(text: str, roles: Roles) -> LabelPrompt:
    """Return the prompt of Table S7 for a text and the roles of its characters.

    The table has no template for the Love domain; its two characters take the one for two. Where
    both share a role ("two American friends") they are called "first American friend" and "second
    American friend".
    """
    characters = characters_of(roles)
    if len(characters) == 1:
        frame = _templates()["one"].replace("{Character}", characters[0])
    else:
        frame = _templates()["two"]
        for place, character in zip(("First", "Second"), characters, strict=True):
            frame = frame.replace(f"{{{place} Character}}", character)
    before, after = frame.split(_STORY)
    return LabelPrompt(_plain(before) + text + _plain(after), characters)


def characters_of(roles: Roles) -> tuple[str, ...]:
    """Return what the prompt calls the characters of `roles`: the roles without an article."""
    if roles.paired:
        role = _TWO.sub("", _bare(roles.subject))
        if role.endswith("s") and not role.endswith("ss"):
            role = role[:-1]
        return f"first {role}", f"second {role}"
    if roles.object is None:
        return (_bare(roles.subject),)
    return _bare(roles.subject), _bare(roles.object)


def _bare(role: str) -> str:
    return _FIRST_WORDS.sub("", " ".join(role.split())).replace("{", "(").replace("}", ")")


def _plain(frame: str) -> str:
    """Undouble the braces, as the table prints them."""
    return frame.replace("{{", "{").replace("}}", "}")


def source() -> str:
    """Paper and table of the prompts."""
    return _templates()["source"]


@cache
def _templates() -> dict[str, str]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return {name: words.strip("\n") for name, words in tomllib.loads(text).items()}
