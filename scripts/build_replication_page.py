"""Write docs/replication.md and docs/race-ratios.md from the authors' files.

The first says how many published figures lie in our intervals, the second what the name table has
to do with it.

    python scripts/build_replication_page.py DATA

DATA is the folder of the development data, which is written in the authors' shapes first.
"""

import argparse
import math
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # that know the authors' shapes

from authors_files import write_agency, write_news, write_paper_names, write_stories
from portrayal.pipeline.replicate import (
    INSIDE,
    NO_INTERVAL,
    NONE,
    OTHER_SIDE,
    OUTSIDE,
    VERDICTS,
    PublishedFigure,
    Replication,
    replicate,
)
from portrayal.reference.groups import RACES
from portrayal.reference.names import mena_nhpi_table, name_table
from portrayal.reference.shipped import published

DOCS = Path(__file__).parents[1] / "docs"
STUDIES = {"laissez-faire": write_stories, "news": write_news, "agency": write_agency}
HEAD = """# What was replicated

`portrayal replicate STUDY --data FOLDER` audits the authors' own files and sets every published
figure beside ours: inside our interval, outside it, on the other side of no difference, or not
computable, with the reason. Levels that the reader of the texts decides stand apart. Below is what
it says of the parts of these files that the tests have: 2,346 hand-labelled stories of 500,000 (47
of 100 prompts), 51 articles of the public corpus that stands in for the news (the authors published
no texts) with the four versions that one model wrote, and ChatGPT's 2,400 biographies and 600
reviews with 192 under the fairness instruction. Figures of other texts count as not computable.

A model of your own stands beside the published ones with `portrayal replicate STUDY --texts FILE`,
or `--model openai:gpt-5-mini` to ask it. What the name table decides of the stories has
[a page of its own](race-ratios.md).

This page is written by `scripts/build_replication_page.py`.
"""


def table(study: str, replication: Replication) -> str:
    """The counts of each published table, as Markdown."""
    counts: dict[str, Counter[str]] = {}
    for figure in replication.figures:
        place = f"{figure.place}, level of the {figure.reader}" if figure.reader else figure.place
        counts.setdefault(place, Counter())[figure.verdict] += 1
    verdicts = [v for v in VERDICTS if any(of[v] for of in counts.values())]
    lines = [f"\n## {study}\n", "| table | figures | " + " | ".join(verdicts) + " |"]
    lines.append("|---" * (2 + len(verdicts)) + "|")
    lines += [
        f"| {place} | {of.total():,} | "
        + " | ".join(f"{of[v]:,}" if of[v] else "" for v in verdicts)
        + " |"
        for place, of in counts.items()
    ]
    computable = sum(figure.verdict != NONE for figure in replication.figures)
    lines.append(f"\nOf {len(replication.figures):,} figures {computable:,} are computable here.\n")
    for verdict in (NONE, NO_INTERVAL):
        reasons = Counter(f.lacking for f in replication.figures if f.verdict == verdict)
        most = "; ".join(f"{reason} ({n:,})" for reason, n in reasons.most_common(3) if reason)
        lines += [f"- {verdict.capitalize()}, {len(reasons)} reasons, most often: {most}."] * bool(
            most
        )
    lines += [f"- {reason}" for reason in replication.reasons]
    return "\n".join(lines) + "\n"


RACE_HEAD = """# How far the name table moves race ratios

Shieh et al. read races from the first names of Florida's voters, a table that is gated;
`census-2020` stands in for it. The paper prints the voters' likelihoods of 91 names of four races
(Tables S10, S11). Here the 2,346 hand-labelled stories of the [replication](replication.md) are
read with three tables: the Census, the Census with these 91 names as the paper has them, and
`tzioumis-2018` (mortgage applicants). Nothing else differs. MENA and NH/PI come from Wikipedia in
each of them.

"""
RACE_WORDS = """
Ours over the published ratio is the median of the lines whose two ratios are neither 0 nor
infinite. Inside are those whose interval holds the published ratio, of those that have one. Moved
by: the mean factor by which a line's ratio differs from that by the Census, up or down.

* **Who appears** is largely a matter of the table: by the Census Asian people are read twice as
  often as in the paper, Black people two thirds as often. The 91 names, each borne mostly by one
  race, settle little of it: most of a table's weight lies in common names that few of a race bear.
* **Who depends on whom** moves less, as both roles are read by the same table.
* **Median racialized ratios** lie below the published ones by any table. At about half of their
  thresholds and more no name above the threshold stands in one of the roles. Such a ratio is
  smoothed, bounded by the number of characters, and grows with the number of stories.

Lines of S13e–p outside by the Census:

"""
RACE_OUTSIDE = """
Of the {n} lines that have an interval, of 95 %, some {by_chance:.0f} would lie outside by chance.
With the 91 names three of these hold the published ratio, that of ChatGPT3.5 by an interval that
has widened rather than by its ratio.

The same of the paper's own 500,000 stories, as far as it prints them: the names of Tables S11a–e by
how often they occur, weighted by their likelihoods.

"""
RACE_TAIL = """
## Your table, or the voters'

```bash
# not run: needs the authors' files and a table of names
portrayal replicate laissez-faire --data FOLDER --name-table florida.csv --set min_count=1
portrayal audit laissez-faire --texts answers.csv --name-table names.csv
```

[Name tables](name-tables.md#your-own-table) says what a file may look like, and how the voters' is
counted.

This page is written by `scripts/build_replication_page.py`.
"""
Key = tuple[str, str, str, str]
Figures = dict[Key, PublishedFigure]


def race_page(by_table: Mapping[str, Figures]) -> str:
    """How the published race ratios stand beside ours by each name table, as Markdown."""
    census, *others = by_table
    kinds: dict[str, Callable[[str], bool]] = {
        "S13a–c, who appears": lambda place: place in ("S13a", "S13b", "S13c"),
        "S13e–m, who depends on whom": lambda place: "S13e" <= place <= "S13m",
        "S13n–p, median racialized": lambda place: "S13n" <= place <= "S13p",
    }
    heads = ["table, race", "lines", *(f"ours / published, {name}" for name in by_table)]
    heads += [f"inside, {name}" for name in by_table] + [f"moved by, {name}" for name in others]
    rows = []
    for kind, belongs in kinds.items():
        for race in RACES:
            keys = [
                key for key in by_table[census] if belongs(key[0]) and key[3].split()[-1] == race
            ]
            of = {name: [figures[key] for key in keys] for name, figures in by_table.items()}
            row = [f"{kind}, {race}", f"{len(keys)}"]
            row += [_quotient(figures) for figures in of.values()]
            row += [_inside(figures) for figures in of.values()]
            row += [_moved(of[census], of[name]) for name in others]
            rows += [row] * bool(keys)
    between = {key: f for key, f in by_table[census].items() if "S13e" <= f.place <= "S13p"}
    outside = [
        [
            " · ".join(key),
            f"{figure.printed:g}",
            *(_value(figures[key]) for figures in by_table.values()),
        ]
        for key, figure in between.items()
        if figure.verdict in (OUTSIDE, OTHER_SIDE)
    ]
    n = sum(figure.low is not None for figure in between.values())
    return (
        RACE_HEAD
        + markdown(heads, rows)
        + RACE_WORDS
        + markdown(["line", "published", *by_table], outside)
        + RACE_OUTSIDE.format(n=n, by_chance=0.05 * n)
        + _printed_names()
        + RACE_TAIL
    )


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _usable(figure: PublishedFigure) -> bool:
    return bool(figure.ours and math.isfinite(figure.ours) and figure.printed)


def _quotient(figures: list[PublishedFigure]) -> str:
    values = [(f.ours or 0.0) / f.printed for f in figures if _usable(f)]
    return f"{statistics.median(values):.2f}" if values else ""


def _inside(figures: list[PublishedFigure]) -> str:
    with_interval = [figure for figure in figures if figure.low is not None]
    n = sum(figure.verdict == INSIDE for figure in with_interval)
    return f"{n} of {len(with_interval)}" if with_interval else ""


def _moved(before: list[PublishedFigure], after: list[PublishedFigure]) -> str:
    logs = [
        abs(math.log((b.ours or 0.0) / (a.ours or 0.0)))
        for a, b in zip(before, after, strict=True)
        if _usable(a) and _usable(b)
    ]
    return f"{math.exp(statistics.mean(logs)):.2f}" if logs else ""


def _value(figure: PublishedFigure) -> str:
    if figure.ours is None or figure.low is None or figure.high is None:
        return figure.verdict
    return f"{figure.ours:.2f} ({figure.low:.2f} to {figure.high:.2f}), {figure.verdict}"


def _printed_names() -> str:
    """What the printed names weigh by both tables, in the paper's own counts, as Markdown."""
    printed = [row for row in published("shieh_common_names").to_pylist() if row["table"] != "S10"]
    rows = []
    for race in RACES:
        named = [row for row in printed if row["race"] == race]
        table = next(t for t in (name_table(), mena_nhpi_table()) if race in t.races)
        shares = table.likelihoods([row["name"] for row in named])[:, table.races.index(race)]
        known = [
            (row, {"paper": row["racial_likelihood_percent"] / 100, "ours": share})
            for row, share in zip(named, shares.tolist(), strict=True)
            if not math.isnan(share)
        ]
        if not known:
            continue
        weight = {
            (role, whose): sum(row[f"n_{role}"] * likelihood[whose] for row, likelihood in known)
            for role in ("power_neutral", "dominant", "subordinate")
            for whose in ("paper", "ours")
        }
        neutral = weight["power_neutral", "ours"] / weight["power_neutral", "paper"]
        ratios = [weight["subordinate", w] / weight["dominant", w] for w in ("paper", "ours")]
        n = len({row["name"] for row, _ in known})
        rows.append([race, f"{n}", f"{neutral:.2f}", *(f"{ratio:.2f}" for ratio in ratios)])
    heads = ["race", "names", "neutral, ours / paper", "subordinate / dominant, paper", "ours"]
    return markdown(heads, rows)


def main() -> None:
    """Replicate the three studies, the stories by three name tables, and write the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", metavar="DATA", type=Path)
    parts, data = [HEAD], parser.parse_args().data
    by_table: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for study, write_files in STUDIES.items():
            write_files(data.joinpath, Path(scratch) / study)

        def replicated(study: str, **options: Any) -> Replication:
            with tempfile.TemporaryDirectory() as run:
                files = Path(scratch) / study
                return replicate(study, files, Path(run) / "run", report=False, **options)

        parts += [table(study, replicated(study)) for study in STUDIES]
        names = Path(scratch) / "names.csv"
        write_paper_names(names)
        for name, file in (
            ("Census", "census-2020"),
            ("with the 91", str(names)),
            ("Tzioumis", "tzioumis-2018"),
        ):
            figures = replicated("laissez-faire", name_table=file).figures
            by_table[name] = {(f.place, f.domain, f.model, f.who): f for f in figures}
    (DOCS / "replication.md").write_text("".join(parts), encoding="utf-8")
    (DOCS / "race-ratios.md").write_text(race_page(by_table), encoding="utf-8")


if __name__ == "__main__":
    main()
