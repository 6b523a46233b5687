"""Keys never leave memory: every message is scrubbed of them before anybody sees it."""

import os
import re
from collections.abc import Iterable

_LOOKS_LIKE_KEY = re.compile(r"\b(?:sk|gsk|hf|xai|AIza)[-_A-Za-z0-9]{12,}")
_HIDDEN = "[key]"


def scrub(message: str, variables: Iterable[str]) -> str:
    """Return `message` without the values of environment `variables` and what looks like a key."""
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if len(value) >= 4:
            message = message.replace(value, _HIDDEN)
    return _LOOKS_LIKE_KEY.sub(_HIDDEN, message)
