"""Logs of Inspect AI: `log_source` reads them wherever texts are read, also those of any task."""

try:
    import inspect_ai  # noqa: F401
except ImportError as error:
    from portrayal.errors import MissingExtraError

    raise MissingExtraError(
        'Inspect AI is not installed. Install it with: pip install "portrayal[inspect]"'
    ) from error

from portrayal.inspect.logs import log_source

__all__ = ["log_source"]
