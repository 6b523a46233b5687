"""What the commands that ask models print: progress, costs, plans and prompts."""

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from portrayal import registry
from portrayal.records import Prompt
from portrayal.show import as_json

if TYPE_CHECKING:
    from portrayal.collect.ask import AskProgress, CollectReport, CostEstimate
    from portrayal.plan import Detectable, Plan
    from portrayal.run import Run


@contextmanager
def asking_progress(*, quiet: bool) -> "Iterator[Callable[[AskProgress], None] | None]":
    """Show answers, rate, cost and time left on a terminal; nothing when `quiet`."""
    console = Console(stderr=True, emoji=False)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = ("asking", BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    bar = Progress(*columns, console=console)
    task = bar.add_task("", total=None)

    def advance(state: "AskProgress") -> None:
        bar.start()  # only now: a question may have stood on the terminal before
        bar.update(task, completed=state.done, total=state.total, description=progress_line(state))

    try:
        yield advance
    finally:
        bar.stop()


def progress_line(state: "AskProgress") -> str:
    """Return rate, cost, time left and troubles in a few words."""
    parts = [f"{state.rate:.1f}/s"]
    if state.cost is not None:
        parts.append(f"{state.cost:.2f} USD")
    if state.seconds_left is not None:
        minutes, seconds = divmod(round(state.seconds_left), 60)
        parts.append(f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d} left")
    parts += [f"{n:,} {name}" for name, n in state.outcomes.items() if n and name != "ok"]
    if state.waiting > 1:
        parts.append(f"waiting {state.waiting:.0f} s")
    if state.stopping:
        parts.append("stopping")
    return ", ".join(parts)


def cost_line(estimate: "CostEstimate", model: str) -> str:
    """Return what a collection may take, in one line."""
    cost = "unknown, as there is no price for it; --price gives one"
    if estimate.cost is not None:
        cost = f"up to about {estimate.cost:,.2f} USD"
    return (
        f"{estimate.requests:,} requests to {model}, about {estimate.input_tokens:,} tokens in and "
        f"at most {estimate.output_tokens:,} out; cost {cost}."
    )


def report_facts(run: "Run", report: "CollectReport") -> dict[str, Any]:
    """Return what a collection did, as plain values."""
    return {
        "run": str(run.path),
        "model": report.model,
        "done": report.done,
        "total": report.total,
        "outcomes": dict(report.outcomes),
        "asked": report.asked,
        "tries": report.tries,
        "input_tokens": report.usage.input_tokens,
        "output_tokens": report.usage.output_tokens,
        "cost_usd": report.cost,
        "stopped": report.stopped or None,
        "open_batches": getattr(report, "open_batches", 0),
    }


def prompts(study: str, found: Iterable[Prompt], *, as_object: bool) -> None:
    """Print prompts as CSV or one JSON object."""
    rows = [{"prompt_id": p.prompt_id, **p.strata, "text": p.text} for p in found]
    if as_object:
        as_json({"study": registry.resolve("prompts", study), "prompts": rows})
        return
    names = dict.fromkeys(name for row in rows for name in row if name != "text")
    text = io.StringIO()
    writer = csv.DictWriter(text, [*names, "text"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    sys.stdout.write(text.getvalue())


def plan(study: str, made: "Plan", *, as_object: bool) -> None:
    """Print a plan: texts, tokens, cost, and the smallest effects it could find."""
    if as_object:
        as_json({"study": registry.resolve("prompts", study), **_plan_facts(made)})
        return
    console = Console(soft_wrap=True, emoji=False)
    answered = "unknown" if made.output_tokens is None else f"{made.output_tokens:,}"
    cost = f"unknown: {made.cost_unknown}" if made.cost is None else f"{made.cost:,.2f} USD"
    for line in (
        f"texts: {made.n_texts:,} ({made.n_prompts:,} prompts × {made.samples:,} samples"
        f" × {max(len(made.models), 1)} model(s))",
        f"tokens: {made.input_tokens:,} in, {answered} out",
        f"cost: {cost}",
        f"found with {made.power:.0%} power at level {made.level:.0%}, clustered by prompt, "
        "for each model alone:",
    ):
        console.print(line, markup=False, highlight=False)
    table = Table("statistic", "domain", "group", "below", "above", "prompts", "design", box=None)
    for each in made.detectable:
        table.add_row(
            each.statistic,
            each.domain,
            " ".join(each.group.values()),
            each.undefined or _number(each.below),
            "" if each.undefined else _number(each.above),
            str(each.n_prompts),
            f"{each.design_effect:.3g}",
        )
    Console(emoji=False).print(table)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _plan_facts(made: "Plan") -> dict[str, Any]:
    return {
        "n_prompts": made.n_prompts,
        "samples": made.samples,
        "models": list(made.models),
        "n_texts": made.n_texts,
        "input_tokens": made.input_tokens,
        "output_tokens": made.output_tokens,
        "cost_usd": made.cost,
        "cost_unknown": made.cost_unknown,
        "level": made.level,
        "power": made.power,
        "detectable": [_detectable(each) for each in made.detectable],
    }


def _detectable(each: "Detectable") -> dict[str, Any]:
    return {
        "statistic": each.statistic,
        "domain": each.domain,
        "group": dict(each.group),
        "below": each.below,
        "above": each.above,
        "n_prompts": each.n_prompts,
        "n_texts": each.n_texts,
        "n_units": each.n_units,
        "design_effect": each.design_effect,
        "undefined": each.undefined,
    }
