"""What every command that asks a model shares: its options, the confirmation, and the progress."""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from portrayal.cli.options import given
from portrayal.cli.printing import bar
from portrayal.config import AskingConfig, Option, options_of
from portrayal.errors import OptionError
from portrayal.shown import one_line, visible

if TYPE_CHECKING:
    from portrayal.collect.ask.asking import Asking
    from portrayal.collect.ask.budget import CostEstimate
    from portrayal.collect.ask.collection import AskCallback, CollectReport

ASKING = options_of(AskingConfig)
LIMITS = ("base_url", "parameters", "concurrency", "rpm", "tpm", "timeout", "budget", "price")
OWN = ("model", "samples", "base_url", "parameters", "budget", "price")
"""Options that belong to one model, and bear its name where it labels or classifies."""
_PANEL = "Asking a model"
YES = Option("yes", False, "Start a paid collection without asking.", _PANEL, kind=bool)
_RAW = "What else goes into the body of a request as it is; repeatable."
SHAPING = (
    Option("system", None, "System prompt.", _PANEL, metavar="TEXT"),
    Option("parameter_raw", None, _RAW, _PANEL, metavar="KEY=JSON", repeated=True),
)
"""Options beside --parameter, whose values are parameters too."""


def asking_options(
    *names: str, limits: Iterable[str] = LIMITS, whose: str = "", samples: int = 1
) -> list[Option]:
    """Return the options of asking a model that a command offers, and --yes.

    Parameters
    ----------
    *names, limits
        Fields of `AskingConfig`.
    whose
        The prefix of those in `OWN`, such as "labeler", where it is no model that writes.
    samples
        The command's own default.
    """
    options = []
    for option in (ASKING[name] for name in (*names, *limits)):
        # Limits are shared by all the models of a command; whom it asks is not
        if whose and option.name in OWN:
            option = replace(  # noqa: PLW2901
                option, flag=f"{whose}_{option.flag}", help=f"The {whose}'s: {option.help}"
            )
        options.append(replace(option, default=samples) if option.name == "samples" else option)
    shaping = SHAPING if "parameters" in limits and not whose else ()
    return [*options, *shaping, YES]


@contextmanager
def asking(model_options: Any, format: str, *, quiet: bool = False) -> Iterator[dict[str, Any]]:
    """Give what was given of a record with `asking_options`, as fields of `Asking`.

    Answers, rate, cost and time left stand on the terminal, unless `quiet` or for JSON; elsewhere,
    as in a log, only what it waits for is said, in lines.
    """
    if quiet or format == "json":
        yield settings_of(model_options)
        return
    console = Console(stderr=True, emoji=False, soft_wrap=True)
    waits = Waits(lambda words: console.print(visible(words), markup=False, highlight=False))
    if not console.is_terminal:
        yield settings_of(model_options, waits.say)
        return
    from rich.progress import TextColumn

    with bar("asking", TextColumn("{task.description}", markup=False)) as draw:

        def advance(state: "CollectReport") -> None:
            if state.done or state.in_flight:  # else a question may be next
                draw(state.done, state.total, one_line(progress_line(state)))
            else:
                waits.say(state)

        yield settings_of(model_options, advance)


def settings_of(model_options: Any, progress: "AskCallback | None" = None) -> dict[str, Any]:
    """Return what was given of a record with `asking_options`, as fields of `Asking`."""
    settings = given(model_options)
    system, raw = settings.pop("system", None), dict[str, Any]()
    for text in settings.pop("parameter_raw", ()):
        key, sign, value = text.partition("=")
        try:
            # As JSON, since a bare word could be a text or a number
            raw[key.strip()] = json.loads(value)
        except ValueError as error:
            raise OptionError(
                f"--parameter-raw takes KEY=JSON, such as top_k=20 or 'mode=\"fast\"'; got "
                f"{text!r}" + (f", whose value is no JSON ({error})." if sign else ".")
            ) from None
    shaping = {"system": system, "raw": raw or None}
    if more := {name: value for name, value in shaping.items() if value is not None}:
        settings["parameters"] = {**settings.get("parameters", {}), **more}
    consent = {} if settings.pop("yes", False) else {"confirm": confirm}
    return {**settings, **consent, "progress": progress}


def asking_of(settings: dict[str, Any]) -> "Asking":
    """Return whom to ask and how.

    Raises
    ------
    OptionError
        When no model is named, or it cannot be asked so.
    """
    from portrayal.collect.ask.asking import Asking

    if not settings.get("model"):
        raise OptionError("say whom to ask: --model SERVICE:MODEL.")
    return Asking(**settings)


def confirm(estimate: "CostEstimate") -> bool:
    """Ask on the terminal before a paid collection; what no one bills is not asked about."""
    if not estimate.requests or estimate.model.startswith("server:"):
        return True
    cost = cost_line(estimate)
    from rich.prompt import Confirm

    # Nobody to ask: refused, as going on could cost money that no one agreed to
    if not sys.stdin.isatty():
        raise OptionError(f"{cost} Confirm that on a terminal, or start it with --yes.")
    # On stderr, as stdout may be read as JSON
    console = Console(stderr=True, emoji=False, soft_wrap=True)
    console.print(visible(cost), markup=False, highlight=False)
    # asyncio holds the first Ctrl-C back for its loop, which waits here for the answer.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return Confirm.ask("Start?", console=console, default=False)
    finally:
        signal.signal(signal.SIGINT, before)


def cost_line(estimate: "CostEstimate") -> str:
    """Return what a collection may take, in one line."""
    cost = "unknown, as there is no price for it; --price gives one"
    if estimate.cost is not None:
        cost = f"up to about {estimate.cost:,.2f} USD"
    return (
        f"{estimate.requests:,} requests to {estimate.model}, about {estimate.input_tokens:,} "
        f"tokens in and at most {estimate.output_tokens:,} out; cost {cost}."
    )


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
        self._said, self._said_at = "", 0.0

    def say(self, state: "CollectReport") -> None:
        """Take where a collection stands."""
        now = self._clock()
        # Not at once, as the first answer may come before anyone has read that it is waited for
        self._said_at = self._said_at or now - _NEXT_SECONDS + _FIRST_SECONDS
        # Without figures, or "4 s", "5 s", … would each be news, and fill a log
        kind = "".join(c for c in state.waits_for if not c.isdigit())
        pause = _AGAIN_SECONDS if kind == self._said else _NEXT_SECONDS
        if not kind or now - self._said_at < pause:
            return
        self._said, self._said_at = kind, now
        self._write(f"asking, {state.done:,} of {state.total:,}: {state.waits_for}")


_FIRST_SECONDS, _NEXT_SECONDS, _AGAIN_SECONDS = 0.5, 10.0, 60.0


def progress_line(state: "CollectReport") -> str:
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
    return ", ".join(parts)
