"""The command `plan`, and what it prints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import portrayal.registry as registry
from portrayal.cli.asking import How, Offers, offering
from portrayal.cli.options import Format, Level, Margin, PromptFile
from portrayal.cli.printing import as_json, line, table
from portrayal.cli.studies import each_study, of_study

if TYPE_CHECKING:
    from portrayal.planning import Needed, Plan


@offering
def _plan(
    study: str,
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="A finished run to measure the assumptions on."),
    ] = None,
    *,
    model: Annotated[list[str] | None, typer.Option(help="Model to ask; repeatable.")] = None,
    prompts: PromptFile = None,
    prompt_options: Mapping[str, Any],
    how: Annotated[How, Offers(("samples", "price"), changed={"samples": 1000})],
    factor: Annotated[
        list[str] | None,
        typer.Option(help="A factor to plan for: a name or a TOML file; repeatable."),
    ] = None,
    change: Annotated[
        bool, typer.Option("--change", help="Find changes between two models, each asked so often.")
    ] = False,
    icc: Annotated[
        float | None, typer.Option(help="Correlation of characters within a prompt.")
    ] = None,
    answer_tokens: Annotated[float | None, typer.Option(help="Tokens of an answer.")] = None,
    power: Annotated[float, typer.Option(help="Power of the clustered test.")] = 0.8,
    level: Level = 0.95,
    equivalence: Annotated[
        bool, typer.Option("--equivalence", help="Say what shows that two runs are alike.")
    ] = False,
    margin: Margin = 1.25,
    alike: Annotated[
        float, typer.Option(help="Part of the prompts' own spread that both runs share.")
    ] = 1.0,
    format: Format = "table",
) -> None:
    """Say how many texts and tokens, what they cost, and what they could find."""
    from portrayal.collect.ask import Price
    from portrayal.collect.ask.asking import prompts_of
    from portrayal.planning import EVERY
    from portrayal.planning import equivalence as find_needed
    from portrayal.planning import plan as make_plan
    from portrayal.reference import load_factor
    from portrayal.reference.labels import shown_of, speaking_of
    from portrayal.run import Run

    json = format == "json"
    known = study in registry.names("studies") or registry.file_of("studies", study)
    shares = registry.get("studies", study).shares if known else None
    paired = study in registry.names("studies") and registry.get("studies", study).pair_field
    factors = [load_factor(each) for each in factor or _own_factors(study)]
    made = make_plan(
        prompts_of(study, prompts, prompt_options),
        how.samples,
        model or None,
        run=None if run is None else Run.open(run),
        shares=None if shares is None else shares(),
        factors=factors,
        compare="reference" if paired else None,
        change=change,
        icc=icc,
        answer_tokens=answer_tokens,
        price=None if how.price is None else Price.parse(how.price),
        level=level,
        power=power,
    )
    needed: list[Needed] = []
    if equivalence:
        asked = prompts_of(study, prompts, prompt_options)
        found = find_needed(
            asked, assumed=made.assumptions, margin=margin, alike=alike, level=level, power=power
        )
        needed = list(found)
    if json:
        of_runs = {"equivalence": [asdict(each) for each in needed]} if equivalence else {}
        as_json({"study": study, **_facts(made), **of_runs})
    else:
        with speaking_of(map(shown_of, factors)):
            _print(made, change=change)
        if factors and run is None:
            line(f"of factors: {EVERY}, and texts of a prompt to be as alike as for gender")
        _print_needed(needed, margin)


def _own_factors(study: str) -> tuple[str, ...]:
    """The factors that a study measures without being asked."""
    if study in registry.names("studies") or registry.file_of("studies", study):
        return tuple(registry.get("studies", study).options().factor)
    return ()


plan = each_study(
    "plan",
    "Say how many texts and tokens a study takes, what they cost, and what they could find.",
    "prompts",
    lambda study: (
        of_study(_plan, study),
        f"Plan a collection of {study}: texts, tokens, cost.\n\n"
        f"Example: portrayal plan {study} --samples 20 --model openai:gpt-5-mini",
    ),
)


def _print(made: "Plan", *, change: bool) -> None:
    """Print texts, tokens, cost, and the smallest effects that a plan could find."""
    from portrayal.reference.labels import group_label

    answered = "unknown" if made.output_tokens is None else f"{made.output_tokens:,}"
    cost = f"unknown: {made.cost_unknown}" if made.cost is None else f"{made.cost:,.2f} USD"
    line(
        f"texts: {made.n_texts:,} ({made.n_prompts:,} prompts × {made.samples:,} samples"
        f" × {max(len(made.models), 1)} model(s))"
    )
    line(f"tokens: {made.input_tokens:,} in, {answered} out")
    line(f"cost: {cost}")
    whose = "between two models" if change else "for each model alone"
    line(
        f"found with {made.power:.0%} power at level {made.level:.0%}, one test at a time, "
        f"{whose}; reads: what the report then shows, null: what it shows of a fair model"
    )
    heads = ("statistic", "where", "group", "null", "below", "reads", "above", "reads", "prompts")
    rows = []
    reasons: dict[str, list[str]] = {}
    for each in made.detectable:
        group = ", ".join(group_label(*one) for one in each.group.items())
        numbers = (each.null, each.below, each.reads_below, each.above, each.reads_above)
        shown = map(_number, numbers)
        rows.append((_statistic(each.statistic), each.domain, group, *shown, each.n_prompts))
        if each.undefined:
            reasons.setdefault(each.undefined, []).append(f"{each.domain} {group}")
    table(heads, rows)
    for reason, where in reasons.items():
        line(f"{', '.join(dict.fromkeys(where))}: {reason}")


def _print_needed(needed: "Sequence[Needed]", margin: float) -> None:
    """Print how many answers show that two runs are alike; nothing where nobody asked."""
    if not needed:
        return
    line(
        f"answers of each run to each prompt that show two runs alike, less than {margin:g} times "
        "apart, where they are"
    )
    rows = []
    for each in needed:
        group = " ".join(each.group.values())
        answers = each.undefined or "–" if each.samples is None else f"{each.samples:,}"
        texts = "–" if each.n_texts is None else f"{each.n_texts:,}"
        name = each.statistic.removesuffix(" ratio")
        rows.append((name, each.domain, group, each.n_prompts, answers, texts))
    table(("statistic", "domain", "group", "prompts", "answers", "texts"), rows)


def _statistic(name: str) -> str:
    return name if "group" in name else name.removesuffix(" ratio")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _facts(made: "Plan") -> dict[str, Any]:
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
        "detectable": [asdict(each) for each in made.detectable],
    }
