"""Checks of arguments that recur, each under the one name it has everywhere."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from portrayal.errors import MissingExtraError, OptionError


@contextmanager
def from_extra(name: str, reason: str) -> Iterator[None]:
    """Name the extra that brings what the block imports, where it is not installed.

    `reason` is what needs which package ("sentiment by TextBlob needs textblob").

    Raises
    ------
    MissingExtraError
        When an import fails.
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ImportError as error:
        message = f'{reason}, which is not installed: pip install "portrayal[{name}]".'
        raise MissingExtraError(message) from error


def check_level(level: float) -> float:
    """Return `level`, the confidence level of an interval, a fraction inside (0, 1).

    >>> check_level(0.95)
    0.95
    >>> check_level(95)
    Traceback (most recent call last):
    portrayal.errors.OptionError: level must be a fraction between 0 and 1, such as 0.95; got 95.
    """
    if not 0.0 < level < 1.0:
        raise OptionError(f"level must be a fraction between 0 and 1, such as 0.95; got {level!r}.")
    return float(level)


def check_seed(seed: int) -> int:
    """Return `seed`, a non-negative integer that starts every random stream."""
    # True is an int to Python
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError(f"seed must be a whole number of 0 or more; got {seed!r}.")
    return seed


def check_smoothing(smoothing: float) -> float:
    """Return `smoothing`, a Laplace pseudo-count of 0 or more."""
    if not 0.0 <= smoothing < float("inf"):  # written so that NaN fails as well
        raise OptionError(f"smoothing must be a number of 0 or more, such as 1; got {smoothing!r}.")
    return float(smoothing)


def check_count(name: str, value: int, *, minimum: int = 0) -> int:
    """Return `value`, a whole number of at least `minimum`, named `name` in the message.

    >>> check_count("workers", 4, minimum=1)
    4
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise OptionError(f"{name} must be a whole number of at least {minimum}; got {value!r}.")
    return value


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Return `value` when it is one of `choices`; else name the choices.

    >>> check_choice("unit", "texts", ["text", "prompt"])
    Traceback (most recent call last):
    portrayal.errors.OptionError: unit must be one of text, prompt; got 'texts'.
    """
    allowed = tuple(choices)
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def check_different_files(paths: Sequence[str | Path]) -> None:
    """Raise OptionError when two paths lead to one file, as when a rater is given twice."""
    resolved = set[Path]()
    for path in map(Path, paths):
        if path.resolve() in resolved:
            raise OptionError(f"{path} is given twice, and would agree with itself; give it once.")
        resolved.add(path.resolve())
