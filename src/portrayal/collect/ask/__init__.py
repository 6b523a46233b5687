"""Asking models: a collection that loses nothing and pays for nothing twice.

A *provider* is one model behind one endpoint. `collect` asks it every prompt of a study as often as
wanted, journals each answer as it comes, and folds the journal into the texts of the run. `Asking`
says whom, how often, and within which limits.
"""

from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
)

__all__ = ["Answer", "Provider", "RejectedError", "StopError", "TryAgainError", "Usage"]
