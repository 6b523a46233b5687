"""Asking models: a collection that loses nothing and pays for nothing twice.

A *provider* is one model behind one endpoint. `collect` asks it every prompt of a study as often as
wanted, journals each answer as it comes, and folds the journal into the texts of the run. `Asking`
says whom, how often, and within which limits.
"""

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.budget import CostEstimate
from portrayal.collect.ask.collection import AskCallback, CollectReport
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.loop import ask_model, collect
from portrayal.collect.ask.provider import (
    Answer,
    FinishReason,
    MakeProvider,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
    Usage,
    provider_of,
    services,
)

__all__ = [
    "Answer",
    "AskCallback",
    "Asking",
    "CollectReport",
    "CostEstimate",
    "FinishReason",
    "MakeProvider",
    "Provider",
    "RejectedError",
    "Retry",
    "StopError",
    "TryAgainError",
    "Usage",
    "ask_model",
    "collect",
    "provider_of",
    "services",
]
