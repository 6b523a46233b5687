"""Batches: requests handed in together and answered within a day, at half the price.

A *batch service* creates, finds, checks and reads batches. A provider has one where it has a method
`batches()` that returns a `BatchService`; its own module and its line among the entry points are
all that a new one takes.
"""

from portrayal.collect.ask.batch.store import (
    BatchService,
    NotRunError,
    RefusedError,
    Result,
    service_of,
)

__all__ = ["BatchService", "NotRunError", "RefusedError", "Result", "service_of"]
