"""Write docs/replication.md: how many published figures lie in our intervals, from authors' files.

    python scripts/build_replication_page.py DATA

DATA is the folder of the development data, which is written in the authors' shapes first.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # that know the authors' shapes

from authors_files import write_agency, write_news, write_stories
from portrayal.pipeline.replicate import NONE, VERDICTS, Replication, replicate

PAGE = Path(__file__).parents[1] / "docs" / "replication.md"
STUDIES = {"laissez-faire": write_stories, "news": write_news, "agency": write_agency}
HEAD = """# What was replicated

`portrayal replicate STUDY --data FOLDER` audits the authors' own files and sets every published
figure beside ours: inside our interval, outside it, on the other side of no difference, or not
computable, with the reason. Levels that the reader of the texts decides stand apart. Below is what
it says of the parts of these files that the tests have: 2,346 hand-labelled stories of 500,000 (47
of 100 prompts), 51 articles of the public corpus that stands in for the news (the authors published
no texts) with the four versions that one model wrote, and ChatGPT's 2,400 biographies and 600
reviews with 192 under the fairness instruction. Figures of other texts count as not computable.

A model of your own stands beside the published ones with `portrayal replicate STUDY --texts FILE`.

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
    lines += [f"- {reason}" for reason in replication.why]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replicate the three studies and write the page."""
    parts = [HEAD]
    data = Path(sys.argv[1])
    for study, write_files in STUDIES.items():
        with tempfile.TemporaryDirectory() as scratch:
            files, run = Path(scratch) / "files", Path(scratch) / "run"
            write_files(data.joinpath, files)
            parts.append(table(study, replicate(study, files, run, report=False)))
    PAGE.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
