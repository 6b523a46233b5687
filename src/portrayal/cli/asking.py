"""What every command that asks a model shares: its options, the confirmation, and the progress."""

import dataclasses
import functools
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from rich.console import Console

from portrayal.cli.printing import as_json, line
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.collect.ask import AskCallback, AskProgress, CostEstimate
    from portrayal.collect.ask.asking import Asking

WHOM = ("model", "samples")
LIMITS = (
    "base_url",
    "parameter",
    "concurrency",
    "rpm",
    "tpm",
    "timeout",
    "budget",
    "price",
    "yes",
)
BATCH = ("batch", "wait")
BESIDE = ("base_url", "parameter", "budget", "price")
"""What a command offers of a second model; it is asked at the pace of the first."""
OWN = (*WHOM, *BESIDE)
"""Options that belong to one model, and bear its name where it labels or classifies."""
BESIDE_BATCH = (*BESIDE, *BATCH)
"""`BESIDE`, of a model that may be asked by batches while another writes."""


_HELP = {
    "model": "Model to ask: openai:gpt-5-mini, server:NAME, local:PATH, ….",
    "samples": "Answers to each prompt.",
    "base_url": "Address of an OpenAI-compatible server (vLLM, Ollama, …).",
    "parameter": "temperature, max_tokens, top_p, seed, system.",
    "concurrency": "Most requests in flight.",
    "rpm": "Requests a minute that the account allows.",
    "tpm": "Tokens a minute that the account allows.",
    "timeout": "Seconds that one try may take, at most 600; default 180 for a service.",
    "budget": 'Stop before "5 USD" or "2M tokens".',
    "price": 'US dollars per million tokens in and out, "0.25/2".',
    "yes": "Start a paid collection without asking.",
    "judge": "Model that decides what is a refusal, in place of patterns.",
    "batch": "Use the batch interface, at half the price.",
    "wait": "Seconds to wait for a batch; 0 hands it in and returns.",
}
"""What the command line says of each field of `How`."""


@dataclass(frozen=True)
class How:
    """How a command asks a model; an option that a command does not offer keeps its default."""

    model: str | None = None
    samples: int = 1
    base_url: str | None = None
    parameter: list[str] | None = None
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    timeout: float | None = None
    budget: str | None = None
    price: str | None = None
    yes: bool = False
    judge: str | None = None
    batch: bool = False
    wait: float | None = None

    def asking(self, progress: "AskCallback | None" = None, **more: Any) -> "Asking":
        """Return whom to ask and how; `more` are further fields of `Asking`."""
        from portrayal.collect.ask.asking import Asking

        if self.model is None:
            raise OptionError("say whom to ask: --model SERVICE:MODEL.")
        settings = self.settings(progress)
        return Asking(self.model, self.samples, judge=self.judge, **settings, **more)

    def settings(self, progress: "AskCallback | None" = None) -> dict[str, Any]:
        """Return how to ask as fields of `Asking`, without whom."""
        same = ("base_url", "concurrency", "rpm", "tpm", "timeout", "budget", "price")
        return {
            **{name: getattr(self, name) for name in (*same, "batch", "wait")},
            "parameters": parameters_of(self.parameter),
            "confirm": None if self.yes else confirm,
            "progress": progress,
        }

    def beside(self, first: "How") -> "How":
        """Return how a second model is asked: at the pace and with the consent of the `first`."""
        same = ("concurrency", "rpm", "tpm", "timeout", "yes")
        return dataclasses.replace(self, **{name: getattr(first, name) for name in same})

    def refuse(self, without: str, prefix: str = "") -> None:
        """Refuse the options of a model that is not asked, as `without` says."""
        for name in BESIDE:
            if getattr(self, name):
                option = f"--{prefix}{name.replace('_', '-')}"
                raise OptionError(f"{option} says nothing without {without}.")


@dataclass(frozen=True)
class Offers:
    """Which options of `How` a command offers, in the place of a parameter so annotated.

    Attributes
    ----------
    names
        Fields of `How`.
    of
        Whose they are where it is no model that writes, such as "labeler": the prefix of those in
        `own`; pace and consent are the command's.
    own
        Which of them bear that prefix.
    changed
        Field → its default or words where they are this command's own.
    """

    names: tuple[str, ...]
    of: str = ""
    own: tuple[str, ...] = OWN
    changed: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters that Typer is shown, by field."""
        hints = get_type_hints(How)
        fields = {each.name: each for each in dataclasses.fields(How)}
        return {name: self._parameter(fields[name], hints[name]) for name in self.names}

    def _parameter(self, each: "dataclasses.Field[Any]", kind: Any) -> Parameter:
        words = _HELP[each.name]
        default = self.changed.get(each.name, each.default)
        if isinstance(default, str):
            words, default = default, each.default
        name = each.name
        if self.of and name in self.own:
            name, words = f"{self.of}_{name}", f"The {self.of}'s: {words}"
        return option_parameter(
            name, kind, default, words, "NAME=VALUE" if each.name == "parameter" else None
        )


def option_parameter(
    name: str, kind: Any, default: Any, words: str, metavar: str | None = None
) -> Parameter:
    """Return a parameter that Typer makes an option of; what is true turns off by `--un…`."""
    plain = name.replace("_", "-")
    spelled = (f"--{plain}/--un{plain}" if default else f"--{plain}",) if kind is bool else ()
    option = typer.Option(*spelled, help=words, metavar=metavar)
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def offering(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in the place of each `Annotated[How, Offers(…)]`, those options.

    Typer knows no groups of options, so the function that it sees takes each by itself; the command
    gets them together. An option that is not passed keeps its default.
    """
    own = signature(command).parameters
    offers = {
        name: option
        for name, each in own.items()
        for option in get_args(each.annotation)[1:]
        if isinstance(option, Offers)
    }
    groups = {name: option.parameters() for name, option in offers.items()}
    shown = [
        option.replace(kind=Parameter.KEYWORD_ONLY)
        for name, each in own.items()
        for option in (groups[name].values() if name in groups else (each,))
    ]

    @functools.wraps(command)
    def taking(**given: Any) -> None:
        made = {}
        for name, group in groups.items():
            taken = {key: given.pop(p.name, p.default) for key, p in group.items()}
            made[name] = How(**taken)
        command(**given, **made)

    taking.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    taking.__annotations__ = {option.name: option.annotation for option in shown}
    return taking


def asks(spec: str | None) -> bool:
    """Whether a classifier of sentences is a model that is asked."""
    return spec is not None and spec.startswith("llm:")


def classifier_settings(
    specs: Sequence[str | None], how: How, progress: "AskCallback | None" = None, prefix: str = ""
) -> dict[str, Any]:
    """Return how the options of a command ask classifying models, as `classifying_of` takes it."""
    if not any(map(asks, specs)):
        how.refuse("a classifier llm:PROVIDER:MODEL", prefix)
        return {}
    if how.base_url and not any(spec and spec.startswith("llm:server:") for spec in specs):
        raise OptionError(f"--{prefix}base-url is for a classifier llm:server:MODEL.")
    return how.settings(progress)


def reading_settings(
    specs: Sequence[str | None], reads: How, first: How, progress: "AskCallback | None" = None
) -> dict[str, Any]:
    """Return `classifier_settings` of a classifier beside the model that writes, the `first`.

    A server without an address of its own has that of the `first`.
    """
    if reads.base_url is None and any(s and s.startswith("llm:server:") for s in specs):
        reads = dataclasses.replace(reads, base_url=first.base_url)
    return classifier_settings(specs, reads.beside(first), progress, "classifier-")


def parameters_of(pairs: list[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE pairs, numbers as numbers."""
    given: dict[str, Any] = {}
    for pair in pairs or ():
        name, sign, text = pair.partition("=")
        if not sign or not name.strip():
            raise OptionError(f"--parameter takes NAME=VALUE, such as temperature=1; got {pair!r}.")
        given[name.strip()] = _number(text.strip())
    return given


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def confirm(estimate: "CostEstimate") -> bool:
    """Ask on the terminal before a paid collection; what no one bills is not asked about."""
    if not estimate.requests or estimate.model.startswith(("local:", "server:")):
        return True
    cost = cost_line(estimate)
    if not sys.stdin.isatty():
        raise OptionError(f"{cost} Confirm that on a terminal, or start it with --yes.")
    typer.echo(cost, err=True)
    return typer.confirm("Start?", err=True)


def cost_line(estimate: "CostEstimate") -> str:
    """Return what a collection may take, in one line."""
    cost = "unknown, as there is no price for it; --price gives one"
    if estimate.cost is not None:
        cost = f"up to about {estimate.cost:,.2f} USD"
    return (
        f"{estimate.requests:,} requests to {estimate.model}, about {estimate.input_tokens:,} "
        f"tokens in and at most {estimate.output_tokens:,} out; cost {cost}."
    )


@contextmanager
def under_way(out: Path, *, as_object: bool) -> Iterator[None]:
    """Say that batches are under way, and end the command, where that is all there is to say."""
    from portrayal.collect.ask.replies import UnderWayError

    try:
        yield
    except UnderWayError as waiting:
        if as_object:
            as_json({"out": str(out), "open_batches": waiting.n_batches})
        else:
            line(str(waiting))
        raise typer.Exit from None


@contextmanager
def asking_progress(*, quiet: bool) -> Iterator["AskCallback | None"]:
    """Show answers, rate, cost and time left on a terminal; nothing when `quiet`.

    Elsewhere, as in a log, only what it waits for is said, in lines.
    """
    console = Console(stderr=True, emoji=False, soft_wrap=True)
    if quiet:
        yield None
        return
    waits = Waits(lambda words: console.print(words, markup=False, highlight=False))
    if not console.is_terminal:
        yield waits.say
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = ("asking", BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    bar = Progress(*columns, console=console)
    task = bar.add_task("", total=None)

    def advance(state: "AskProgress") -> None:
        if not (state.done or state.in_flight):  # a question may be next
            waits.say(state)
            return
        bar.start()  # only now: a question may have stood on the terminal before
        bar.update(task, completed=state.done, total=state.total, description=progress_line(state))

    try:
        yield advance
    finally:
        bar.stop()


class Waits:
    """Says what a collection waits for: once it has waited a second, then as it changes.

    Parameters
    ----------
    write
        Takes a line.
    clock
        Gives seconds.
    """

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._clock = write, clock
        self._began: float | None = None
        self._said, self._said_at = "", clock()

    def say(self, state: "AskProgress") -> None:
        """Take where a collection stands."""
        now = self._clock()
        if self._began is None:
            self._began = now
        kind = "".join(c for c in state.waits_for if not c.isdigit())
        is_due = kind != self._said or now - self._said_at >= _AGAIN_SECONDS
        if not kind or not is_due or now - self._began < _FIRST_SECONDS:
            return
        if self._said and now - self._said_at < _NEXT_SECONDS:
            return
        self._said, self._said_at = kind, now
        self._write(f"asking, {state.done:,} of {state.total:,}: {state.waits_for}")


_FIRST_SECONDS, _NEXT_SECONDS, _AGAIN_SECONDS = 0.5, 10.0, 60.0


def progress_line(state: "AskProgress") -> str:
    """Return rate, cost, time left and troubles in a few words."""
    parts = [f"{state.rate:.1f}/s"]
    if state.cost is not None:
        parts.append(f"{state.cost:.2f} USD")
    if state.seconds_left is not None:
        minutes, seconds = divmod(round(state.seconds_left), 60)
        parts.append(f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d} left")
    parts += [f"{n:,} {name}" for name, n in state.outcomes.items() if n and name != "ok"]
    if state.waits_for:
        parts.append(state.waits_for)
    if state.waiting > 1:
        parts.append(f"waiting {state.waiting:.0f} s")
    if state.stopping:
        parts.append("stopping")
    return ", ".join(parts)
