"""The command `plan`: how many prompts, texts or pairs it takes to see an effect."""

from typing import Literal

from portrayal.cli.options import Flag, Format, Level, Seed
from portrayal.cli.printing import give
from portrayal.records import finite

RATIOS = (1.1, 1.25, 1.5)
DIFFERENCES = {"sd": (0.1, 0.2, 0.5), "points": (0.05, 0.1, 0.2), "phrase": (0.1, 0.2, 0.5)}


def plan(
    kind: Literal["share", "ratio", "difference"],
    /,
    *,
    effect: list[float] | None = None,
    blocks: int | None = None,
    samples: int = 1,
    rewritings: int | None = None,
    unit: Literal["sd", "points", "phrase"] = "sd",
    share: float | None = None,
    icc: float | None = None,
    varies: float = 0.5,
    apart: Flag = False,
    tests: int | None = None,
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
        share of people over a baseline, ratio of two roles or models, or difference of groups.
    effect
        True effect to find; repeatable.
    blocks
        Prompts that there are: say how many texts of each are needed.
    samples
        Texts of each prompt and group.
    rewritings
        Rewritings of each original: prompts are then originals.
    unit
        Of a difference: sd of a score, points of a share (0.1), or a phrase nobody named.
    share
        Share of the group in the baseline, or of answers where shares differ.
    icc
        Correlation of texts of a prompt; default as in stories.
    varies
        SD of a difference between prompts, as a part of it.
    apart
        Nothing pairs texts, or prompts name one group each: groups are compared between them.
    tests
        Tests that share the level; default as in an audit.
    power
        Share of audits that would find it.
    """
    from portrayal.planning import plan as needed_for

    needed = needed_for(
        kind,
        effect or (DIFFERENCES[unit] if kind == "difference" else RATIOS),
        blocks=blocks,
        target_power=power,
        seed=seed,
        texts=samples if rewritings is None else (1, rewritings),
        **{"unit": unit, "share": share, "icc": icc, "varies": varies},
        **{"apart": apart, "level": level, "tests": tests},
    )
    facts = {"needed": [finite(size) | {"n_texts": size.design.n_texts} for size in needed]}
    first = needed[0].design
    assumptions = f"texts of a prompt correlate by {first.correlation:.2g}"
    if kind == "difference":
        assumptions += f", differences vary by {varies:.0%} of their size between prompts"
    if unit != "sd":
        assumptions += f", of the other group {first.base_share:.0%} have it"
    lead = (
        f"found with {power:.0%} power at level {level:.0%} among {first.n_tests:,} tests; "
        f"taken for granted: {assumptions}"
    )
    rows, notes = [], dict[str, None]()
    for size in needed:
        sides = " and ".join(f"{n:,}" for n in dict.fromkeys(size.design.sides))
        sizes = (f"{size.design.blocks:,}", sides, f"{size.design.n_texts:,}")
        cells = sizes if size.undefined is None else ("–",) * 3
        mark = " (in these)" * size.design.these
        rows.append((f"{size.design.effect:g}{mark}", *cells, f"{size.power:.2f}"))
        if size.undefined:
            notes[f"–: {size.undefined}"] = None
        if mark:
            notes["(in these): of these very prompts; else of all prompts like these"] = None
    nouns = {"sd": "difference in SD", "points": "difference of shares", "phrase": "share with it"}
    effects = nouns[unit] if kind == "difference" else f"true {kind}"
    block = "texts" if apart and samples == 1 else "prompts"
    table = (effects, block, "texts of each", "texts in all", "power"), rows
    give(format, facts, [lead, table, *notes])
