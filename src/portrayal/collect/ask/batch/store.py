"""Submissions: what is kept of batches that are handed in, so that a restart finds them.

A *submission* is one batch of requests. Its file is written before the batch is created and again
when the endpoint has named it, so at every moment the files say which requests may be under way.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from portrayal.collect.ask.provider import Answer, RejectedError, StopError, TryAgainError
from portrayal.errors import RunError
from portrayal.run.files import write_atomically

FOLDER = "batches"
State = Literal["intended", "submitted", "done", "cancelled", "void"]
_VERSION = 1


class BatchItem(NamedTuple):
    """One request of a submission: its key, and the prompt and sample that the key stands for."""

    key: str
    prompt_id: str
    sample: int


@dataclass(frozen=True, slots=True)
class Submission:
    """One batch; plain data without a key or a prompt's text.

    Attributes
    ----------
    mark
        Its own name, which the endpoint stores with the batch.
    model
        Name of the provider that it was made for.
    state
        "intended" before the endpoint has named it, then "submitted"; "done" once its results are
        in the journal; "cancelled" likewise after a cancellation; "void" when it never came to be.
    items
        What it asks.
    batch_id
        The endpoint's name of it; "" while intended.
    sure
        Whether the endpoint said that this batch is ours; else its results have to show it.
    not_ours
        Batches whose results showed that they are not.
    made_at
        Seconds since 1970 at which it was intended.
    """

    mark: str
    model: str
    state: State
    items: tuple[BatchItem, ...]
    batch_id: str = ""
    sure: bool = True
    not_ours: tuple[str, ...] = ()
    made_at: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether its requests may still be answered."""
        return self.state in ("intended", "submitted")


class Submissions:
    """The folder of submissions of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Submission] = {}
        for path in sorted(folder.glob("*.json")):
            submission = _read(path)
            self._known[submission.mark] = submission

    def all(self) -> list[Submission]:
        """Return every submission, oldest first."""
        return sorted(self._known.values(), key=lambda one: (one.made_at, one.mark))

    def save(self, submission: Submission, **changes: Any) -> Submission:
        """Write a submission with `changes`; when this returns, a killed process keeps it."""
        saved = replace(submission, **changes)
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"version": _VERSION, **asdict(saved)}
        try:
            # Whole or not at all: half a file would hide a batch that is being paid for
            write_atomically(
                self.folder / f"{saved.mark}.json", json.dumps(content, ensure_ascii=False)
            )
        except OSError as error:
            raise RunError(
                f"{self.folder} cannot be written ({error.strerror or error}). Free some space or "
                "make it writable, then run the same command again; no batch is lost."
            ) from error
        self._known[saved.mark] = saved
        return saved


def _read(path: Path) -> Submission:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("version") != _VERSION:
            raise ValueError("it is of another version")
        content["items"] = tuple(BatchItem(*item) for item in content["items"])
        content["not_ours"] = tuple(content["not_ours"])
        return Submission(**content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{path} is not a batch submission that can be read ({error}). It may stand for "
            "requests that are paid for; restore it, or move it away to ask them again."
        ) from error


Result = Answer | TryAgainError | StopError | RejectedError | None
"""What one request got: an answer, why it has none, or None where it was cancelled."""


class NotRunError(TryAgainError):
    """An ended batch that ran none of its requests, which may be submitted again later."""

    def __init__(self, message: str) -> None:
        super().__init__("rate_limit", message)


class RefusedError(StopError):
    """An ended batch whose requests were refused as a whole; none of them ran or will run."""
