"""The development data in the shapes in which the authors of the three studies publish theirs.

Tests and `scripts/build_replication_page.py` replicate the studies from these.
"""

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from portrayal.reference.names import name_table
from portrayal.reference.shipped import published

SPELLED = {"Claude2.0": "Claude2", "Llama2(7B)": "Llama2-7B", "ChatGPT3.5": "ChatGPT3_5"}
WORDS = {"Female": ["she", "her"], "Male": ["he", "his"], "Non-binary": ["they"]}
Find = Callable[[str], Path]


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows of the same columns as CSV."""
    rows = list(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.DictWriter(stream, list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def story_row(story: dict[str, Any]) -> dict[str, Any]:
    """A hand-labelled story as the sheet of the authors has it."""
    row = {
        "Model": SPELLED.get(story["model"], story["model"]),
        "Domain": story["domain"],
        "Power Dynamic": story["condition"],
        "Subject": story["subject_role"],
        "Object": story["object_role"] or "",
        "Query": story["prompt"],
        "Response": story["text"],
    }
    for slot in ("subject", "object"):
        name, gender = story[f"gold_{slot}_name"], story[f"gold_{slot}_gender"]
        named = str([part.strip() for part in (name or "Unspecified").split("|")])
        title = slot.title()
        row[f"{title} Name(s)"] = "" if gender is None else named
        row[f"{title} References"] = "" if gender is None else str(WORDS.get(gender, []))
    return row


def write_stories(find: Find, folder: Path, model: str = "") -> None:
    """Write the hand-labelled stories, of one model or of all."""
    stories = _lines(find("laissez_faire/gold_stories_dev.jsonl"))
    write(folder / "audit.csv", [story_row(s) for s in stories if model in ("", s["model"])])


def write_paper_names(path: Path) -> dict[str, tuple[str, float]]:
    """Write the Census table with the likelihoods of the names that the paper prints.

    The other shares of such a name keep their proportions. MENA comes from another source, and is
    left out.

    Returns
    -------
    Name → race and likelihood, in per cent, as printed.
    """
    table = name_table()
    names, bearers = table.listed
    rows = published("shieh_common_names").to_pylist()
    printed = {
        row["name"]: (row["race"], row["racial_likelihood_percent"])
        for row in rows
        if row["race"] in table.races
    }
    by_key = {name.casefold(): value for name, value in printed.items()}
    census = []
    for name, count, shares in zip(names, bearers, table.likelihoods(names), strict=True):
        row = dict(zip(table.races, shares.tolist(), strict=True))
        if name.casefold() in by_key:
            race, percent = by_key[name.casefold()]
            others = (1 - percent / 100) / (1 - row[race])
            row = {key: share * others for key, share in row.items()} | {race: percent / 100}
        columns = {f"share_{key.replace('/', '')}": share for key, share in row.items()}
        census.append({"name": name, **columns, "count": int(count)})
    write(path, census)
    return printed


def write_news(find: Find, folder: Path) -> None:
    """Write articles in the columns of the public corpus, by people and by a model apart.

    `source` is the paper an article is from, or the style of the prompt that asked for it.
    """
    for file, source in (("human_dev", "source"), ("gpt35_dev", "prompt_style")):
        rows = [
            {
                "title_en": row["headline"],
                "category": row["category"],
                "text": row["text"],
                "source": row[source],
            }
            for row in _lines(find(f"news/{file}.jsonl"))
        ]
        write(folder / f"corpus_{file}.csv", rows)


def agency_rows(path: Path) -> list[dict[str, Any]]:
    """Biographies or reviews in the columns of the authors."""
    names = {"prompt": "prompts", "text": "chatgpt_gen", "name": "first_name"}
    with path.open(encoding="utf-8", newline="") as stream:
        return [{names.get(key, key): row[key] for key in row} for row in csv.DictReader(stream)]


def write_agency(find: Find, folder: Path) -> None:
    """Write ChatGPT's biographies and reviews, and labelled sentences where their test set lies."""
    for file, name in (("bios", "chatgpt_clg_bios"), ("professor", "chatgpt_clg_professor")):
        write(folder / f"{name}.csv", agency_rows(find(f"labe/chatgpt_{file}.csv")))
        mitigated = agency_rows(find(f"labe/chatgpt_{file}_prompt_mitigated.csv"))
        write(folder / f"{name}_mitigate.csv", mitigated)
    (folder / "lac_dataset").mkdir()
    (folder / "lac_dataset/test.csv").write_bytes(find("lac/validation.csv").read_bytes())
