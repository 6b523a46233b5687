"""The command `plan`, and what it prints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.registry as registry
from portrayal.cli.options import ONE_BY_ONE, Format, given, record
from portrayal.cli.printing import as_json, line, table
from portrayal.cli.studies import prompt_options, split_prompt_options, with_prompts
from portrayal.config import option, options_of
from portrayal.shown import counted

if TYPE_CHECKING:
    from portrayal.planning import Needed, Plan


_ASKING, _STATISTICS = "Asking a model", "Statistics"


@dataclass(frozen=True, kw_only=True)
class PlanConfig:
    """What is planned, and what its plan supposes."""

    model: tuple[str, ...] = option((), "Model to ask; repeatable.", panel=_ASKING)
    samples: int = option(1000, "Answers to each prompt.", panel=_ASKING)
    prompts: str | None = option(
        None, "Prompt file of your own (TOML, CSV, JSON lines).", panel=_ASKING, metavar="FILE"
    )
    prompt_options: Mapping[str, Any] = field(default_factory=dict)
    price: str | None = option(
        None, 'US dollars per million tokens in and out, "0.25/2".', panel=_ASKING
    )
    answer_tokens: float | None = option(None, "Tokens of an answer.", panel=_ASKING)
    factor: tuple[str, ...] = option((), "A factor to plan for: a name or a TOML file; repeatable.")
    change: bool = option(
        False, "Find changes between two models, each asked so often.", panel=_STATISTICS
    )
    icc: float | None = option(
        None, "Correlation of characters within a prompt.", panel=_STATISTICS
    )
    power: float = option(0.8, "Share of audits that would state it.", panel=_STATISTICS)
    level: float = option(0.95, "Confidence level.", panel=_STATISTICS)
    equivalence: bool = option(False, "Say what shows that two runs are alike.", panel=_STATISTICS)
    margin: float = option(1.25, "Factor up to which ratios count as the same.", panel=_STATISTICS)
    alike: float = option(
        1.0, "Part of the prompts' own spread that both runs share.", panel=_STATISTICS
    )
    difference: tuple[float, ...] = option(
        (),
        "Mean difference within pairs to find, in standard deviations, default .05, .1, .2, .5; "
        "repeatable.",
        panel=_STATISTICS,
    )
    share: float | None = option(
        None,
        "Share of answers, such as refusals: differences are then of shares.",
        panel=_STATISTICS,
    )
    pairs: int | None = option(
        None,
        "Pairs of each source (names, wordings), default 1 or as the prompts have.",
        panel=_STATISTICS,
    )
    correlation: float | None = option(
        None, "Correlation of the halves of a pair, default .5 or the run's.", panel=_STATISTICS
    )
    tests: int | None = option(
        None,
        "Tests that share the level, default those of the study's own scores.",
        panel=_STATISTICS,
    )


_OF_PAIRS = ("difference", "share", "pairs", "correlation", "tests")
_NOT_OF_PAIRS = ("factor", "change", "equivalence", "margin", "alike")
_ICC = "Correlation of the differences of one source, default .1 or the run's."


def plan_of(study: str) -> tuple[Callable[..., None], str]:
    """Return the command `plan` of a study, and an example."""
    own = options_of(PlanConfig)
    matched = study in registry.names("studies") and registry.get("studies", study).matched
    for name in _NOT_OF_PAIRS if matched else _OF_PAIRS:
        del own[name]
    if matched:  # each half of a pair is asked once, unless the user says otherwise
        own["samples"] = replace(own["samples"], default=1)
        own["icc"] = replace(own["icc"], help=_ICC)
    options = record([*own.values(), *prompt_options(study, own)])

    def plan(
        run: Annotated[
            Path | None, Parameter(help="A finished run to measure the assumptions on.")
        ] = None,
        /,
        *,
        chosen: Annotated[Any, ONE_BY_ONE] = options,
        format: Format = "table",
    ) -> None:
        asked = {"samples": own["samples"].default} | given(chosen)
        config = PlanConfig(**split_prompt_options(asked, study))
        (_plan_pairs if matched else _plan)(study, run, config, as_object=format == "json")

    return plan, f"portrayal plan {with_prompts(study)} --samples 20 --model openai:gpt-5-mini"


def _plan(study: str, run: Path | None, config: PlanConfig, *, as_object: bool) -> None:
    """Say how many texts and tokens, what they cost, and what they could find."""
    from portrayal.collect.ask import Price
    from portrayal.collect.ask.asking import prompts_of
    from portrayal.planning import EVERY
    from portrayal.planning import equivalence as find_needed
    from portrayal.planning import plan as make_plan
    from portrayal.reference import load_factor
    from portrayal.reference.labels import shown_of, speaking_of
    from portrayal.run import Run

    known = study in registry.names("studies") or registry.file_of("studies", study)
    audit = registry.get("studies", study) if known else None
    paired = audit is not None and study in registry.names("studies") and audit.pair_field
    factor = config.factor or (tuple(audit.options().factor) if audit is not None else ())
    factors = [load_factor(each) for each in factor]
    asked = prompts_of(study, config.prompts, config.prompt_options)
    made = make_plan(
        asked,
        config.samples,
        list(config.model) or None,
        run=None if run is None else Run.open(run),
        shares=None if audit is None or audit.shares is None else audit.shares(),
        factors=factors,
        compare="reference" if paired else None,
        change=config.change,
        icc=config.icc,
        answer_tokens=config.answer_tokens,
        price=None if config.price is None else Price.parse(config.price),
        level=config.level,
        power=config.power,
    )
    needed: list[Needed] = []
    if config.equivalence:
        needed = list(
            find_needed(
                asked,
                assumed=made.assumptions,
                margin=config.margin,
                alike=config.alike,
                level=config.level,
                power=config.power,
            )
        )
    if as_object:
        of_runs = {"equivalence": [asdict(each) for each in needed]} if config.equivalence else {}
        detectable = [asdict(each) for each in made.detectable]
        judged = {"hypotheses": made.hypotheses, "questions": made.questions}
        as_json({"study": study, **_facts(made), **judged, "detectable": detectable, **of_runs})
        return
    with speaking_of(map(shown_of, factors)):
        _print(made, change=config.change)
    if factors and run is None:
        line(f"of factors: {EVERY}, and texts of a prompt to be as alike as for gender")
    _print_needed(needed, config.margin)


def _plan_pairs(study: str, run: Path | None, config: PlanConfig, *, as_object: bool) -> None:
    """Say what pairs cost, and how many sources find a difference within them."""
    from portrayal.collect.ask import Price
    from portrayal.collect.ask.asking import prompts_of
    from portrayal.measure.matched.units import PAIR, SOURCE
    from portrayal.pipeline.config import AuditConfig
    from portrayal.planning import TESTS, PairDesign, measured, of_share
    from portrayal.planning import plan as make_plan
    from portrayal.run import Run

    tests = TESTS if config.tests is None else config.tests
    design = PairDesign(power=config.power, level=config.level, tests=tests)
    if run is not None:
        audit, done = registry.get("studies", study), Run.open(run)
        chosen = AuditConfig.of({}, audit.options, audit.name, done.settings_path).options
        sets = audit.tables(done, audit.options(**chosen)).offered["matched_sets"]()
        design = measured(sets, design, f"of the run {run}")
    stated: dict[str, Any] = {"icc": config.icc, "correlation": config.correlation}
    stated["pairs"] = config.pairs
    made, facts, sources, halves = None, dict[str, Any](), 0, 2
    if config.prompts or config.prompt_options:
        asked = prompts_of(study, config.prompts, config.prompt_options)
        price = None if config.price is None else Price.parse(config.price)
        made = make_plan(
            asked, config.samples, config.model, shares={}, compare="", price=price,
            answer_tokens=config.answer_tokens,
        )  # fmt: skip
        facts = _facts(made)
        sources = len({each.strata.get(SOURCE, each.strata[PAIR]) for each in asked})
        n_pairs = len({each.strata[PAIR] for each in asked})
        halves = round(len(asked) / n_pairs)
        stated["pairs"] = config.pairs or max(round(n_pairs / sources), 1)
    design = replace(design, **{name: value for name, value in stated.items() if value is not None})
    if config.share is not None:
        design = of_share(config.share, design)
    found = [(d, design.sources(d)) for d in config.difference or (0.05, 0.1, 0.2, 0.5)]
    finds = design.detectable(sources) if sources >= design.fewest else None
    if as_object:
        needed = [{"difference": d, "sources": n} for d, n in found]
        facts |= {**asdict(design), "sources": sources or None, "finds": finds, "needed": needed}
        as_json({"study": study, **facts})
        return
    if made is not None:
        _print_cost(made)
        least = f"find a difference of {finds:.3g}" if finds else (
            f"find none, whatever its size: give {design.fewest} or more"
        )  # fmt: skip
        line(f"sources: {sources:,}, each of {counted(design.pairs, 'pair')}: {least}")
    line(
        f"found with {design.power:.0%} power at level {design.level:.0%} among {design.tests:,} "
        f"tests; taken for granted: differences of one source correlate by {design.icc:.2g}, the "
        f"halves of a pair by {design.correlation:.2g} ({design.source})"
    )
    unit = "in standard deviations" if config.share is None else f"of a share of {config.share:g}"
    rows = [
        (f"{d:g}", f"{n:,}", f"{n * design.pairs:,}", f"{n * design.pairs * halves:,}")
        for d, n in found
    ]
    table((f"difference {unit}", "sources", "pairs", "prompts"), rows)


def _facts(made: "Plan") -> dict[str, Any]:
    """What a plan takes, as JSON says it."""
    names = "n_prompts samples n_texts input_tokens output_tokens cost_unknown level power"
    facts = {name: getattr(made, name) for name in names.split()}
    return {**facts, "cost_usd": made.cost, "models": list(made.models)}


def _print_cost(made: "Plan") -> None:
    """Print the texts, tokens and cost of a plan."""
    answered = "unknown" if made.output_tokens is None else f"{made.output_tokens:,}"
    cost = f"unknown: {made.cost_unknown}" if made.cost is None else f"{made.cost:,.2f} USD"
    each = (made.n_prompts, "prompt"), (made.samples, "sample"), (len(made.models) or 1, "model")
    line(f"texts: {made.n_texts:,} ({' × '.join(counted(*one) for one in each)})")
    line(f"tokens: {made.input_tokens:,} in, {answered} out")
    line(f"cost: {cost}")


def _print(made: "Plan", *, change: bool) -> None:
    """Print texts, tokens, cost, and the smallest effects that a plan could find."""
    from portrayal.reference.labels import group_label

    _print_cost(made)
    whose = "between two models" if change else "for each model alone"
    line(
        f"stated with {made.power:.0%} power at level {made.level:.0%}, if nothing else differs, "
        f"among {made.hypotheses} hypotheses of {counted(made.questions, 'question')}, {whose}; "
        "reads: what the report then shows, null: what it shows of a fair model"
    )
    heads = ("statistic", "where", "group", "null", "below", "reads", "above", "reads", "prompts")
    rows = []
    reasons: dict[str, list[str]] = {}
    for each in made.detectable:
        group = ", ".join(group_label(*one) for one in each.group.items())
        numbers = (each.null, each.below, each.reads_below, each.above, each.reads_above)
        shown = ("–" if number is None else f"{number:.3g}" for number in numbers)
        name = each.statistic
        name = name if "group" in name else name.removesuffix(" ratio")
        rows.append((name, each.domain, group, *shown, each.n_prompts))
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
