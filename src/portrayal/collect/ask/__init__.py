"""Asking models: a collection that loses nothing and pays for nothing twice.

A *provider* is one model behind one endpoint. `collect_texts` asks it every prompt of a study as
often as wanted, journals each answer as it comes, and folds the journal into the texts of the run.
Whoever asks in another way (a batch, a local model) records its answers in a `Collection`.
"""

from portrayal.collect.ask.budget import (
    Budget,
    CostEstimate,
    Meter,
    Price,
    estimate_cost,
    expecting,
    price_of,
)
from portrayal.collect.ask.collection import Collection, CollectReport, Plan, Request
from portrayal.collect.ask.judge import Verdict, answer_outcome, judge_outcome
from portrayal.collect.ask.limits import Retry
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
from portrayal.collect.ask.runner import AskCallback, AskProgress, collect, collect_texts

__all__ = [
    "Answer",
    "AskCallback",
    "AskProgress",
    "Budget",
    "CollectReport",
    "Collection",
    "CostEstimate",
    "FinishReason",
    "MakeProvider",
    "Meter",
    "Plan",
    "Price",
    "Provider",
    "RejectedError",
    "Request",
    "Retry",
    "StopError",
    "TryAgainError",
    "Usage",
    "Verdict",
    "answer_outcome",
    "collect",
    "collect_texts",
    "estimate_cost",
    "expecting",
    "judge_outcome",
    "price_of",
    "provider_of",
    "services",
]
