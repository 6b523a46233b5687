"""What the commands that ask models print: progress, costs, plans and prompts."""

import csv
import functools
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter as Argument
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from portrayal import registry
from portrayal.cli import printing as show
from portrayal.cli.printing import as_json
from portrayal.collect.ask.asking import Asking, ask_model, prompts_of
from portrayal.errors import OptionError
from portrayal.records import Prompt

if TYPE_CHECKING:
    from portrayal.collect.ask import AskCallback, AskProgress, CollectReport, CostEstimate
    from portrayal.plan import Detectable, Plan
    from portrayal.run import Run


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
StudyName = Annotated[str, typer.Argument(help="Study, such as laissez-faire.")]
Model = Annotated[
    str | None, typer.Option(help="Model to ask: openai:gpt-5-mini, server:NAME, local:PATH, ….")
]
Samples = Annotated[int, typer.Option(help="Answers to each prompt.")]
PromptFile = Annotated[
    Path | None, typer.Option("--prompts", help="Prompt file of your own (TOML, CSV, JSON lines).")
]
Headlines = Annotated[
    Path | None, typer.Option(help="File of headlines, for the prompts of the news study.")
]
Form = Annotated[
    list[str] | None, typer.Option(help='News: the prompts "unbiased" or "biased"; repeatable.')
]
Fairness = Annotated[
    bool, typer.Option("--fairness", help="Agency: with the fairness instruction.")
]
BaseUrl = Annotated[
    str | None, typer.Option(help="Address of an OpenAI-compatible server (vLLM, Ollama, …).")
]
Parameter = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="temperature, max_tokens, top_p, seed, system."),
]
Concurrency = Annotated[int, typer.Option(help="Most requests in flight.")]
Rpm = Annotated[float | None, typer.Option(help="Requests a minute that the account allows.")]
Tpm = Annotated[float | None, typer.Option(help="Tokens a minute that the account allows.")]
Budget = Annotated[str | None, typer.Option(help='Stop before "5 USD" or "2M tokens".')]
Price = Annotated[
    str | None, typer.Option(help='US dollars per million tokens in and out, "0.25/2".')
]
Judge = Annotated[
    str | None, typer.Option(help="Model that decides what is a refusal, in place of patterns.")
]
Batch = Annotated[bool, typer.Option("--batch", help="Use the batch interface, at half the price.")]
Wait = Annotated[
    float | None, typer.Option(help="Seconds to wait for a batch; 0 hands it in and returns.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Start a paid collection without asking.")]


class OptionGroup:
    """Options that several commands take together; a subclass is a dataclass of them."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in the place of each parameter that is an `OptionGroup`, its options.

    Typer knows no groups of options, so the function that it sees takes each by itself; the command
    gets them together. An option that is not passed keeps its default.
    """
    own = signature(command).parameters
    groups = {
        name: each.annotation
        for name, each in own.items()
        if isinstance(each.annotation, type) and issubclass(each.annotation, OptionGroup)
    }
    options: list[Argument] = []
    for name, each in own.items():
        shown = signature(groups[name]).parameters.values() if name in groups else (each,)
        options += [option.replace(kind=Argument.KEYWORD_ONLY) for option in shown]

    @functools.wraps(command)
    def taking(**given: Any) -> None:
        made = {}
        for name, group in groups.items():
            theirs = [option for option in signature(group).parameters if option in given]
            made[name] = group(**{option: given.pop(option) for option in theirs})
        command(**given, **made)

    taking.__signature__ = Signature(options)  # type: ignore[attr-defined]
    taking.__annotations__ = {option.name: option.annotation for option in options}
    return taking


@dataclass(frozen=True)
class How(OptionGroup):
    """How a command asks a model, as its options say."""

    base_url: BaseUrl = None
    parameter: Parameter = None
    concurrency: Concurrency = 16
    rpm: Rpm = None
    tpm: Tpm = None
    budget: Budget = None
    price: Price = None
    yes: Yes = False

    def settings(self, model: str, progress: "AskCallback | None" = None) -> dict[str, Any]:
        """Return the fields that `Asking` and `LabelAsking` have in common."""
        return {
            "base_url": self.base_url,
            "parameters": parameters_of(self.parameter),
            "concurrency": self.concurrency,
            "rpm": self.rpm,
            "tpm": self.tpm,
            "budget": self.budget,
            "price": self.price,
            "confirm": confirmation(self.yes, model),
            "progress": progress,
        }

    def asking(
        self, model: str | None, progress: "AskCallback | None" = None, **more: Any
    ) -> Asking:
        """Return whom to ask and how; `more` are further fields of `Asking`."""
        if model is None:
            raise OptionError("say whom to ask: --model SERVICE:MODEL.")
        if more.get("wait") is not None and not more.get("batch"):
            raise OptionError("--wait says how long to wait for a batch: give --batch as well.")
        return Asking(model, **self.settings(model, progress), **more)


@contextmanager
def under_way(out: Path, *, as_object: bool) -> Iterator[None]:
    """Say that batches are under way, and end the command, where that is all there is to say."""
    from portrayal.collect.ask.replies import UnderWayError

    try:
        yield
    except UnderWayError as told:
        if as_object:
            show.as_json({"out": str(out), "open_batches": told.n_batches})
        else:
            show.line(str(told))
        raise typer.Exit from None


def prompt_options(
    headlines: Path | None, form: list[str] | None, fairness: bool
) -> dict[str, Any]:
    """Return the options of a study's prompts that were given."""
    given = {
        "headlines": headlines,
        "forms": tuple(form) if form else None,
        "fairness": fairness or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def parameters_of(pairs: list[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE pairs, numbers as numbers."""
    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, sign, text = pair.partition("=")
        if not sign or not name.strip():
            raise OptionError(f"--parameter takes NAME=VALUE, such as temperature=1; got {pair!r}.")
        found[name.strip()] = _number(text.strip())
    return found


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def confirmation(yes: bool, model: str) -> "Callable[[CostEstimate], bool] | None":
    """Return what asks before a paid collection; None where nothing is paid or --yes was given."""
    if yes or model.startswith(("local:", "server:")):
        return None

    def confirm(estimate: "CostEstimate") -> bool:
        if not estimate.requests:
            return True
        cost = cost_line(estimate, model)
        if not sys.stdin.isatty():
            raise OptionError(f"{cost} Confirm that on a terminal, or start it with --yes.")
        typer.echo(cost, err=True)
        return typer.confirm("Start?", err=True)

    return confirm


@grouped
def collect(
    study: StudyName,
    model: Model = None,
    samples: Samples = 1,
    out: Annotated[Path | None, typer.Option(help="Run directory; default runs/STUDY.")] = None,
    prompts: PromptFile = None,
    headlines: Headlines = None,
    form: Form = None,
    fairness: Fairness = False,
    *,
    how: How,
    judge: Judge = None,
    batch: Batch = False,
    wait: Wait = None,
    json: Json = False,
) -> None:
    """Ask a model all prompts of a study; the same command continues after anything."""
    from portrayal import registry
    from portrayal.pipeline.datasheet import write_datasheet
    from portrayal.run import Run

    name = registry.resolve("prompts", study)
    run = Run(out or Path("runs") / name)
    with run.lock(), asking_progress(quiet=json) as advance:
        asking = how.asking(
            model,
            advance,
            samples=samples,
            prompts=prompts,
            prompt_options=prompt_options(headlines, form, fairness),
            judge=judge,
            batch=batch,
            wait=wait,
        )
        report = ask_model(run, name, asking, show.nothing if json else show.line)
        if run.texts.parts():
            write_datasheet(run, run.datasheet_path)
    if json:
        show.as_json(report_facts(run, report))
    if report.stopped == "interrupted":
        raise KeyboardInterrupt


def prompts(
    study: StudyName,
    file: PromptFile = None,
    headlines: Headlines = None,
    form: Form = None,
    fairness: Fairness = False,
    format: Annotated[str, typer.Option(help="csv or json.")] = "csv",
    json: Json = False,
) -> None:
    """List the prompts of a study, or check a prompt file of your own."""
    from portrayal.validate import check_choice

    check_choice("format", format, ("csv", "json"))
    found = prompts_of(study, file, prompt_options(headlines, form, fairness))
    print_prompts(study, found, as_object=json or format == "json")


def plan(
    study: StudyName,
    samples: Samples = 1000,
    model: Annotated[list[str] | None, typer.Option(help="Model to ask; repeatable.")] = None,
    run: Annotated[
        Path | None, typer.Option(help="A finished run to measure the assumptions on.")
    ] = None,
    prompts: PromptFile = None,
    headlines: Headlines = None,
    form: Form = None,
    fairness: Fairness = False,
    icc: Annotated[
        float | None, typer.Option(help="Correlation of characters within a prompt.")
    ] = None,
    answer_tokens: Annotated[float | None, typer.Option(help="Tokens of an answer.")] = None,
    price: Price = None,
    power: Annotated[float, typer.Option(help="Power of the clustered test.")] = 0.8,
    level: Annotated[float, typer.Option(help="Confidence level.")] = 0.95,
    json: Json = False,
) -> None:
    """Say how many texts and tokens, what they cost, and what they could find."""
    from portrayal import registry
    from portrayal.collect.ask.budget import Price as KnownPrice
    from portrayal.plan import plan as make_plan
    from portrayal.run import Run

    made = make_plan(
        prompts_of(study, prompts, prompt_options(headlines, form, fairness)),
        samples,
        model or None,
        run=None if run is None else Run.open(run),
        compare="reference" if registry.resolve("prompts", study) == "news" else None,
        icc=icc,
        answer_tokens=answer_tokens,
        price=None if price is None else KnownPrice.parse(price),
        level=level,
        power=power,
    )
    print_plan(study, made, as_object=json)


def import_inspect(
    log: Annotated[list[Path], typer.Argument(help="Inspect logs, .eval or .json, or folders.")],
    study: Annotated[
        str | None, typer.Option(help="Study; logs of Portrayal's own tasks say it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Run directory.")] = Path("runs/inspect"),
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=KEY", help="Metadata KEY holds FIELD."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Empty a run that holds other texts.")
    ] = False,
    json: Json = False,
) -> None:
    """Turn logs of Inspect AI into a run, for `portrayal audit STUDY --out RUN`."""
    from portrayal.inspect import import_inspect as run_import

    done = run_import(
        log, out, study, columns=column, replace=replace, say=None if json else show.line
    )
    facts = {"run": str(out), "study": done.study, "n_texts": done.n_texts}
    if json:
        show.as_json({**facts, "outcomes": dict(done.outcomes), "models": list(done.models)})
    else:
        show.line(f"next: portrayal audit {done.study} --out {out}")


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


def print_prompts(study: str, found: Iterable[Prompt], *, as_object: bool) -> None:
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


def print_plan(study: str, made: "Plan", *, as_object: bool) -> None:
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
            each.undefined or _shown_number(each.below),
            "" if each.undefined else _shown_number(each.above),
            str(each.n_prompts),
            f"{each.design_effect:.3g}",
        )
    Console(emoji=False).print(table)


def _shown_number(value: float | None) -> str:
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
