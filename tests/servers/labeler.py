"""What a labeling model says, for the local server's `write`: the fields a prompt asks for."""

import json
import re
from collections.abc import Callable, Sequence

_FIELD = re.compile(r'^  "(.+ (?:name|references))": ', re.MULTILINE)


def fields_of(prompt: str) -> list[str]:
    """Return the keys that a prompt of Table S7 asks for, in its order."""
    return _FIELD.findall(prompt)


def says(
    names: Sequence[str], references: Sequence[Sequence[str]], form: str = "{}"
) -> Callable[[str, int], str]:
    """Return a `write` that gives each character its name and references, in a form."""

    def write(prompt: str, _: int) -> str:
        keys = fields_of(prompt)
        named = [key for key in keys if key.endswith(" name")]
        told = [key for key in keys if key.endswith(" references")]
        answer: dict[str, object] = dict(zip(named, names, strict=False))
        answer |= {key: list(words) for key, words in zip(told, references, strict=False)}
        return form.replace("{}", json.dumps(answer))

    return write
