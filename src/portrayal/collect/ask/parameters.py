"""Parameters that shape an answer, checked before anything is asked."""

from collections.abc import Collection, Mapping
from typing import Any

from portrayal.errors import OptionError

KNOWN = ("temperature", "max_tokens", "top_p", "seed", "system")


def check_parameters(
    name: str, parameters: Mapping[str, Any], unsupported: Collection[str] = ()
) -> dict[str, Any]:
    """Return `parameters` without the ones that are None, each of its right kind and range.

    Raises
    ------
    OptionError
        For an unknown parameter, a value out of range, or one that the service would ignore: an
        audit that says it set a temperature must have set it.
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    for key, value in given.items():
        if key not in KNOWN:
            raise OptionError(f"{name}: there is no parameter {key!r}; known: {', '.join(KNOWN)}.")
        if key in unsupported:
            raise OptionError(f"{name} ignores {key}; leave it out to ask with its own default.")
        wanted = _wanted(key, value)
        if wanted:
            raise OptionError(f"{name}: {key} must be {wanted}; got {value!r}.")
    return given


def _wanted(key: str, value: Any) -> str:
    """What `value` should have been; "" where it is."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    whole = number and isinstance(value, int)
    if key == "temperature":
        return "" if number and 0 <= value <= 2 else "a number from 0 to 2"
    if key == "top_p":
        return "" if number and 0 < value <= 1 else "a fraction above 0, at most 1"
    if key == "max_tokens":
        return "" if whole and value >= 1 else "a whole number of at least 1"
    if key == "seed":
        return "" if whole else "a whole number"
    return "" if isinstance(value, str) and value.strip() else "a text"
