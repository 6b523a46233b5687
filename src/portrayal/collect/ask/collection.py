"""A collection: what a run holds of one model's answers, and where the next ones go.

Whoever asks opens a collection, takes requests from its plan, records one row for each, and closes
it. Everything about files, order and restarts is here.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self

import pyarrow.parquet as pq

from portrayal.collect.ask.journal import DAMAGED, JOURNAL, Journal, disk_told
from portrayal.collect.ask.provider import Answer, Provider, RejectedError, Usage
from portrayal.collect.outcomes import outcome_of
from portrayal.collect.texts import SHARD_ROWS, prompt_table
from portrayal.errors import OptionError, RunError
from portrayal.records import OUTCOMES, Prompt
from portrayal.run.directory import Run
from portrayal.run.files import fingerprint, read_parquet, write_parquet
from portrayal.shown import counted
from portrayal.validate import check_count

_ABOUT = ("answered_by", "reasoning_characters")
_REASONS = 20
_LONGEST_REASON = 160


Stopped = Literal["", "interrupted", "budget", "declined"]


@dataclass(slots=True, kw_only=True)
class CollectReport:
    """Where a collection stands, and in the end what it did.

    A collection keeps one as it goes; whoever is told gets a copy.

    Attributes
    ----------
    model
        As the user named it.
    done, total
        Requests with a row, and all requests, of this model in this run.
    outcomes
        Rows by outcome; "failed" ones are asked again by the next collection.
    asked, tries
        Rows written now, and requests sent or handed in for them, retries included.
    usage, cost
        Tokens and US dollars of this model in this run; None where the price is unknown.
    stopped
        Why it ended early: "interrupted", "budget" or "declined"; "" where it did not.
    malformed
        Answers of this model in this run that came whole and could not be read, by what was wrong.
        What they cost is part of `usage`.
    reasons
        Why rows of this collection failed: how many, by reason.
    damaged
        Damaged lines of the journal that were set aside.
    rate, in_flight
        Rows per second since the collection began, and requests in flight.
    waits_for
        What it waits for where no answer comes, in a few words; "" where answers come.
    versions
        Answers of this model in this run by the model that the service names in them.
    n_reasoned
        Answers of this model in this run that came with reasoning, which is no part of their text.
    """

    model: str
    total: int
    done: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    tries: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    stopped: Stopped = ""
    malformed: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    n_reasoned: int = 0
    damaged: int = 0
    rate: float = 0.0
    in_flight: int = 0
    waits_for: str = ""

    def count(self, row: Mapping[str, Any]) -> None:
        """Count the row of a request."""
        self.outcomes[row["outcome"]] += 1
        self.usage += Usage.of(row)
        self.versions.update(filter(None, [row.get("answered_by")]))
        self.n_reasoned += bool(row.get("reasoning_characters"))

    @property
    def seconds_left(self) -> float | None:
        """Seconds at that rate; None while there is no rate."""
        return (self.total - self.done) / self.rate if self.rate else None

    @property
    def n_answered(self) -> int:
        """Requests with an answer, be it a refusal or an empty one."""
        return self.done - self.outcomes.get("failed", 0)

    @property
    def complete(self) -> bool:
        """Whether every request has a row, be it a failed one."""
        return self.done == self.total

    @property
    def summary(self) -> str:
        """One line on what it did: answers, cost, and what was lost on the way."""
        counts = ", ".join(f"{n:,} {name}" for name, n in self.outcomes.items() if n)
        parts = [
            f"asked {self.model}: {self.n_answered:,} of {self.total:,} answers "
            f"({counts or 'none'})" + ("" if self.cost is None else f", {self.cost:.2f} USD so far")
        ]
        if self.stopped:
            parts.append(
                {
                    "budget": "stopped at the budget",
                    "interrupted": "interrupted, the same command continues",
                    "declined": "not started",
                }[self.stopped]
            )
        if self.n_reasoned:
            parts.append(f"{counted(self.n_reasoned, 'text')} held reasoning, which was removed")
        if len(self.versions) > 1:
            parts.append(f"the service answered by several models: {most_frequent(self.versions)}")
        if note := self.usage.estimated:
            parts.append(note)
        if self.reasons:
            parts.append(f"failed: {most_frequent(self.reasons)}")
        if self.malformed:
            n = counted(sum(self.malformed.values()), "malformed answer")
            parts.append(f"{n}, paid for: {most_frequent(self.malformed)}")
        if self.damaged:
            n = counted(self.damaged, "damaged line")
            parts.append(f"set aside from the journal: {n} ({DAMAGED})")
        return "; ".join(parts)


AskCallback = Callable[[CollectReport], None]


def most_frequent(reasons: Mapping[str, int], most: int = 3) -> str:
    """Return the most frequent reasons with their counts.

    >>> most_frequent({"a": 1, "b": 1200}, most=1)
    'b (1,200) and 1 other reasons'
    """
    often = sorted(reasons.items(), key=lambda pair: -pair[1])
    words = ", ".join(f"{reason} ({n:,})" for reason, n in often[:most])
    return words + (f" and {len(often) - most} other reasons" if len(often) > most else "")


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt asked for one sample.

    Attributes
    ----------
    key
        Digest of model, parameters, prompt and sample; the `text_id` of its answer.
    """

    key: str
    prompt: Prompt
    sample: int


class RequestPlan:
    """Every (prompt, sample) of one model, sample by sample: all prompts for 0, then all for 1, ….

    What is done is one byte per request, so that a plan of a million requests stays small.
    """

    def __init__(
        self, prompts: Sequence[Prompt], samples: int, model: str, parameters: Mapping[str, Any]
    ) -> None:
        self.prompts, self.model, self.parameters = tuple(prompts), model, dict(parameters)
        self.samples = check_count("samples", samples, minimum=1)
        self._row = {prompt.prompt_id: i for i, prompt in enumerate(self.prompts)}
        if not self.prompts or len(self._row) != len(self.prompts):
            raise OptionError("prompts must be at least one, and each prompt_id must be its own.")
        # Whatever shapes an answer is in its key; the number of samples wanted is not
        self._hashes = []
        for prompt in self.prompts:
            request_key = [model, self.parameters, prompt.prompt_id, *prompt.asked]
            content = json.dumps(request_key, sort_keys=True, default=str)
            self._hashes.append(hashlib.blake2b(content.encode() + b"\n", digest_size=12))
        self._done = bytearray(len(self.prompts) * self.samples)
        self.n_done = 0

    def __len__(self) -> int:
        """Return the number of requests, done or not."""
        return len(self._done)

    @property
    def n_left(self) -> int:
        """Requests that have no row yet."""
        return len(self._done) - self.n_done

    def __iter__(self) -> Iterator[Request]:
        """Yield the requests that are not done, sample-major."""
        for place in range(len(self._done)):
            if not self._done[place]:
                sample, row = divmod(place, len(self.prompts))
                # Model, parameters and prompt are hashed once, for all samples.
                digest = self._hashes[row].copy()
                digest.update(str(sample).encode())
                yield Request(digest.hexdigest(), self.prompts[row], sample)

    def mark_done(self, prompt_id: str, sample: int) -> None:
        """Note that a request has its row; one that is not of this plan is passed over."""
        if prompt_id not in self._row or not 0 <= sample < self.samples:
            return
        # Sample by sample: a collection that stops early has all prompts equally often
        place = sample * len(self.prompts) + self._row[prompt_id]
        self.n_done += not self._done[place]  # a row may be read twice, and counts once
        self._done[place] = 1


class Collection:
    """An open collection; a context manager that closes itself.

    A `mark` of one's own in place of the prompts' fingerprint lets later calls bring further
    prompts to the same run; then a `prompt_id` must stand for one text for ever, as a digest does.

    Attributes
    ----------
    plan
        Every request, and which are done.
    parameters
        What shapes its answers.
    report
        What this run holds of this model's answers; a failed row that is asked again is not in it.
    """

    def __init__(
        self,
        run: Run,
        prompts: Sequence[Prompt],
        provider: Provider,
        samples: int,
        study: str = "",
        mark: str | None = None,
        shard_rows: int = SHARD_ROWS,
    ) -> None:
        self.run, self._shard_rows = run, shard_rows
        self.plan = RequestPlan(prompts, samples, provider.name, provider.parameters)
        self.model, self.parameters = self.plan.model, self.plan.parameters
        self.report = CollectReport(model=self.model, total=len(self.plan))
        self._mark = mark or fingerprint(
            study=study,
            prompts=[[prompt.prompt_id, prompt.text, dict(prompt.strata)] for prompt in prompts],
            collector="ask.v1",
        )
        note = run.texts.note()
        self._asked: dict[str, Any] = dict(note.get("asked", {}))
        if note and note.get("fingerprint") != self._mark:
            raise RunError(
                f"{run.path} already holds other texts or answers to other prompts. "
                "Give another --out to keep both."
            )
        before = self._asked.get(self.model, {}).get("parameters", self.parameters)
        self._unfolded = 0
        with disk_told(run.texts.folder):
            if not note:
                # Noted before the first answer, so that a killed run still says what it asked
                run.texts.begin(self._mark, keep=True)
            write_parquet(prompt_table(prompts), run.prompts_path)
            self.journal = Journal(run.path / JOURNAL, run.texts.folder)
            self.report.damaged = self.journal.n_damaged
            self._in_texts = self._read()
            # One model under two settings is two conditions, which must not be pooled unawares
            if before != self.parameters and self.plan.n_done:
                self.journal.close()
                raise RunError(
                    f"{run.path} holds answers of {self.model} with the parameters {before}; "
                    f"now they are {self.parameters}, which is another condition. Name it with "
                    "--arm to have both in this run, or give another --out."
                )
            self._write_note(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        if isinstance(error, RunError):  # a disk that failed is not asked to take a part as well
            self.journal.close()
        else:
            self.close()

    def record(
        self,
        request: Request,
        result: Answer | RejectedError | str,
        attempts: int = 1,
        asked_at: str | None = None,
    ) -> None:
        """Write the row of a request.

        It is of an answer, of a refusal with what that cost, or "failed" for now for a reason.
        """
        row: dict[str, Any] = {
            "key": request.key,
            "prompt_id": request.prompt.prompt_id,
            "sample": request.sample,
            "model": self.model,
            "outcome": "refused",
            "text": "",
            "attempts": attempts,
            "asked_at": asked_at or now(),
        }
        if isinstance(result, str):
            row |= {"outcome": "failed", "reason": result}
            self.report.reasons[self._brief(result, self.report.reasons)] += 1
        elif isinstance(result, RejectedError):
            row |= {"reason": str(result), **asdict(result.usage)}
        else:
            row |= {
                "outcome": outcome_of(result.text, result.finish_reason),
                "text": result.text,
                "finish_reason": result.finish_reason,
                **asdict(result.usage),
                "response_id": result.response_id,
                "answered_by": result.model,
                "reasoning_characters": result.reasoning,
            }
        self.journal.append(row)
        # Only after the journal has the line: else a killed process would lose the row
        self.plan.mark_done(request.prompt.prompt_id, request.sample)
        self.report.count(row)
        # failed rows stay in the journal, to be tried again
        self._unfolded += row["outcome"] != "failed"
        if self._unfolded >= self._shard_rows:
            with disk_told(self.run.texts.folder):
                self._fold()
                self._write_note(0)

    def record_malformed(self, error: str, usage: Usage) -> None:
        """Write what an answer cost that could not be read, and why; its request has no row yet."""
        reason = self._brief(error, self.report.malformed)
        self.report.malformed[reason] += 1
        self.report.usage += usage
        self.journal.append({"malformed": {reason: 1}, "model": self.model, **asdict(usage)})

    def _brief(self, reason: str, reasons: Mapping[str, int]) -> str:
        """A reason without the model's name; few enough differ to be listed."""
        brief = reason.removeprefix(f"{self.model}: ").rstrip(".")[:_LONGEST_REASON]
        return brief if brief in reasons or len(reasons) < _REASONS else "other reasons"

    def _fold(self) -> None:
        self._in_texts.update(self.journal.fold())
        self._unfolded = 0

    def close(self) -> None:
        """Fold what is left, write failed rows to the texts, and say whether all is there."""
        try:
            with disk_told(self.run.texts.folder):
                self._fold()
                self._write_note(self.journal.write_failed())
        finally:
            self.journal.close()

    def _read(self) -> Counter[str]:
        """Mark what is done, count what this model cost, and count every row by outcome."""
        counted: Counter[str] = Counter()
        names = {"prompt_id", "sample", "model", "outcome", *Usage.__slots__, *_ABOUT}
        for part in self.run.texts.parts():
            # Imported texts and older parts lack some of the columns
            columns = sorted(names & {*pq.read_schema(part).names})
            for row in read_parquet(part, columns=columns).to_pylist():
                counted[row["outcome"]] += 1
                self._count(row)
        for row in self.journal.rows():
            if row["outcome"] != "failed":
                self._unfolded += 1
                self._count(row)
        for spent in self.journal.rows("malformed"):
            if spent["model"] == self.model:
                self.report.malformed.update(spent["malformed"])
                self.report.usage += Usage.of(spent)
        return counted

    def _count(self, row: Mapping[str, Any]) -> None:
        if row["model"] == self.model:
            self.plan.mark_done(row["prompt_id"], row["sample"])
            self.report.count(row)

    def _write_note(self, n_failed: int) -> None:
        self._asked[self.model] = {
            "parameters": self.parameters,
            "samples": self.plan.samples,
            "done": self.plan.n_done,
            "complete": self.plan.n_left == 0,
            "answered_by": dict(sorted(self.report.versions.items())),
            "n_reasoned": self.report.n_reasoned,
            **asdict(self.report.usage),
        }
        counts = self._in_texts + Counter(failed=n_failed)
        facts = {
            "complete": all(model["complete"] for model in self._asked.values()),
            "source_digest": self._mark,  # so that an import does not take their place unasked
            "source": f"asked of {', '.join(sorted(self._asked))}",
            "n_texts": sum(counts.values()),
            "outcomes": {name: counts[name] for name in OUTCOMES},
            "models": sorted(self._asked),
            "cluster_unit": "prompt",
            "labelled": False,
            "n_parts": len(self.run.texts.parts()),
            "asked": self._asked,
        }
        self.run.texts.finish(self._mark, facts)


def now() -> str:
    """Return the wall clock in UTC to the second; informative only."""
    return datetime.now(UTC).isoformat(timespec="seconds")
