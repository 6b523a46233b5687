"""The command `plan`: how many prompts, texts or pairs it takes to see an effect."""

from typing import Literal

from portrayal.cli.options import Flag, Format, Level, Seed
from portrayal.cli.printing import give
from portrayal.records import finite

DEFAULTS = {"share": (1.1, 1.25, 1.5), "ratio": (1.1, 1.25, 1.5), "difference": (0.1, 0.2, 0.5)}


def plan(
    kind: Literal["share", "ratio", "difference"],
    /,
    *,
    effect: list[float] | None = None,
    blocks: int | None = None,
    samples: int = 1,
    rewritings: int | None = None,
    share: float = 0.5,
    icc: float | None = None,
    varies: float = 0.3,
    apart: Flag = False,
    tests: int = 20,
    power: float = 0.8,
    level: Level = 0.95,
    seed: Seed = 0,
    format: Format = "table",
) -> None:
    """Say how many prompts, texts or pairs it takes to see an effect of a size.

    Example: portrayal plan ratio --effect 1.5 --share 0.2 --samples 20

    Parameters
    ----------
    kind
        share of people over a baseline, ratio of two roles or models, or difference of scores.
    effect
        True effect to find; repeatable.
    blocks
        Prompts that there are: say how many texts of each are needed.
    samples
        Texts of each prompt and group.
    rewritings
        Rewritings of each original: prompts are then originals.
    share
        Share of the group in the baseline.
    icc
        Correlation of texts of a prompt; default as in stories.
    varies
        SD of a difference between prompts, in that of a score.
    apart
        Prompts name one group each: scores are compared between prompts.
    tests
        Tests that share the level.
    power
        Share of audits that would find it.
    """
    from portrayal.planning import plan as needed_for

    needed = needed_for(
        kind,
        effect or DEFAULTS[kind],
        blocks=blocks,
        target_power=power,
        seed=seed,
        texts=samples if rewritings is None else (1, rewritings),
        **{"share": share, "icc": icc, "varies": varies},
        **{"apart": apart, "level": level, "tests": tests},
    )
    facts = {"needed": [finite(size) | {"n_texts": size.design.n_texts} for size in needed]}
    first = needed[0].design
    lead = (
        f"found with {power:.0%} power at level {level:.0%} among {tests:,} tests, in simulated "
        f"audits; taken for granted: texts of a prompt correlate by {first.correlation:.2g}"
        + (f", differences vary by {varies:g} SD between prompts" if kind == "difference" else "")
    )
    rows = []
    for size in needed:
        sides = " and ".join(f"{n:,}" for n in dict.fromkeys(size.design.sides))
        sizes = (f"{size.design.blocks:,}", sides, f"{size.design.n_texts:,}")
        cells = sizes if size.undefined is None else ("–",) * 3
        rows.append((f"{size.design.effect:g}", *cells, f"{size.power:.2f}"))
    unit = "difference in SD" if kind == "difference" else f"true {kind}"
    table = (unit, "prompts", "texts of each", "texts in all", "power"), rows
    reasons = dict.fromkeys(f"–: {size.undefined}" for size in needed if size.undefined)
    give(format, facts, [lead, table, *reasons])
