"""The page of a board: headlines, models by question, series, and answers to one prompt."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import portrayal.reference.labels as shown
import portrayal.report.formats as fmt
from portrayal.comparison import watch
from portrayal.errors import OptionError, PortrayalError
from portrayal.report.board.entries import Entry, questions, read_entries
from portrayal.report.changes import write_watch
from portrayal.report.charts import Charts, frame
from portrayal.report.formats import script_json, short
from portrayal.run import fingerprint
from portrayal.run.files import check_folder, read_parquet, write_atomically
from portrayal.run.pages import templates
from portrayal.stats import rank_ranges

MOST_ROWS, MOST_ANSWERS = 12, 50
"""Questions of a table before a fold, and answers of one model to one prompt."""


@dataclass(frozen=True)
class Board:
    """The page that was written, how many runs it shows, and why others are left out."""

    path: Path
    n_runs: int
    left_out: Mapping[str, str]


def write_board(folder: str | Path, site: str | Path, *, private: bool = False) -> Board:
    """Write one page of all runs of a folder, which opens offline.

    Parameters
    ----------
    folder
        Folder of runs, or of folders of runs, such as `portrayal audit … --append` makes.
    site
        Folder to write `index.html` to, with `answers/` and `watched/` beside it.
    private
        Whether prompts, texts, folders' names and sentences that may quote a text are withheld, and
        texts stand as a digest; nothing is linked.

    Raises
    ------
    OptionError
        Where there is no such folder, or no run in it, or `site` holds other files.
    """
    root, target = Path(folder), Path(site)
    check_folder(target, "board.json")
    if not root.is_dir():
        raise OptionError(f"{root} is not a folder of runs.")
    entries, left_out = read_entries(root)
    if not entries:
        raise OptionError(f"{root} holds no finished run: none of {len(left_out)} folders is one.")
    prefix = quote(Path(os.path.relpath(root, target)).as_posix())
    models = list(dict.fromkeys(model for each in entries for model in each.models))
    studies = list(dict.fromkeys(each.title for each in entries))
    cards = [
        {
            "number": number,
            "name": "" if private else each.name,
            "study": studies.index(each.title),
            "models": " ".join(str(models.index(model)) for model in each.models),
            "title": each.title,
            "day": each.day,
            "read": each.kept["read"],
            **_headline(each, private=private),
            "links": [] if private else _links(each, f"{prefix}/{quote(each.name)}"),
            "digest": each.data_digest if private else "",
        }
        for number, each in enumerate(entries, 1)
    ]
    groups: dict[str, list[Entry]] = {}
    for each in entries:
        groups.setdefault(each.measured_with, []).append(each)
    tables = [_table(own, models, studies, private=private) for own in groups.values()]
    own = [("portrayal.report", name) for name in ("board.css", "board.js")]
    frame_ = frame(Charts((), {}).packed({}), own)
    text = templates("portrayal.report").get_template("board.html.j2").render(
        brand="board",
        title=fmt.plural(len(entries), "run") + ("" if private else f" in {short(root.name, 60)}"),
        head="Board of runs",
        question="",
        meta=f"{min(e.day for e in entries)} to {max(e.day for e in entries)}",
        citation=f"Board of {fmt.plural(len(entries), 'run')} of {fmt.listed(studies)}.",
        short=False,
        studies=[short(title, 60) for title in studies],
        models=[short(model, 60) for model in models],
        cards=cards,
        tables=[table for table in tables if table["rows"]],
        series=_series(entries, target, private=private),
        answers=[] if private else _answers(groups.values(), target),
        left_out={} if private else left_out,
        n_left_out=len(left_out),
        private=private,
        most=MOST_ROWS,
        **frame_,
    )  # fmt: skip
    if private:
        _clear(target / "answers", ())
        _clear(target / "watched", ())
    target.mkdir(parents=True, exist_ok=True)
    write_atomically(target / "board.json", script_json({"runs": len(entries)}))
    write_atomically(target / "index.html", text)
    return Board(target / "index.html", len(entries), left_out)


def _headline(entry: Entry, *, private: bool) -> dict[str, Any]:
    """The headline of a run and its first findings; only what cannot quote a text where private."""
    facts = entry.kept["findings"]
    every = [f for f in facts["findings"] if "group" in f or not private]
    known = [f for f in every if not private or _is_plain(f["group"])]
    withheld = len(facts["findings"]) - len(known)
    more = f"{fmt.plural(withheld, 'finding')} withheld, as it may quote a text" if withheld else ""
    none = "" if facts["headline"] == "found" else str(facts["sentence"])
    if private and none:
        none = none.partition(" (")[0].rstrip(".") + "."
    shown_ = [(short(f["sentence"], 400), _sure(f)) for f in known[:3]]
    rest = len(known) - len(shown_)
    more = more or (f"and {rest} more in its report" if rest else "")
    return {"none": none, "findings": shown_, "more": more}


def _sure(finding: Mapping[str, Any]) -> str:
    """How sure a finding is, as its page says it."""
    alone = finding.get("population") == "these prompts"
    units = finding.get("units", "prompts")
    return f"holds in these {units}" if alone else f"holds for {units} like these"


def _is_plain(group: Mapping[str, str]) -> bool:
    """Whether a group is named by a factor that ships, so that its words come from no text."""
    parts = [(k, v) for k, value in group.items() for v in value.split(" − ")]
    return all(shown.group_shown(k, v) is not None for k, v in parts)


def _links(entry: Entry, address: str) -> list[tuple[str, str]]:
    """What a run holds to read: its report, its evidence, its datasheet."""
    run = entry.run
    found = [("report", f"{address}/report.html")] if run.report_path.is_file() else []
    for path in sorted(run.path.glob("evidence/*/evidence.md")):
        found.append((f"evidence: {short(path.parent.name, 40)}",
                      f"{address}/evidence/{quote(path.parent.name)}/evidence.md"))  # fmt: skip
    if run.datasheet_path.is_file():
        found.append(("datasheet", f"{address}/datasheet.md"))
    return found


def _table(
    entries: list[Entry], models: list[str], studies: list[str], *, private: bool
) -> dict[str, Any]:
    """Models by question, of runs that asked and measured alike; ranks where there are several."""
    known, level = questions(entries), float(entries[0].kept["level"])
    names = [m for m in models if any(m in rows for rows in known.values())]
    said = set()  # the questions of which some run states a finding
    for f in (f for each in entries for f in each.kept["findings"]["findings"] if "strata" in f):
        place = {name: value for name, value in f["strata"].items() if name != "model"}
        said.add(json.dumps([f["measure"], place, f["group"]], sort_keys=True))
    made = []
    for key, rows in known.items():
        first = next(iter(rows.values()))
        if private and not _is_plain(first["group"]):
            continue
        ranks = _ranks(rows, level)
        cells = []
        for name in names:
            row = rows.get(name)
            value = None if row is None or row["value"] is None else float(row["value"])
            low, high = _bounds(row)
            interval = "" if math.isnan(low) else fmt.span(low, high, first["form"])
            cells.append((fmt.number(value, first["form"]), interval, ranks.get(name, "")))
        is_finding = key in said
        made.append((not is_finding, first["label"], is_finding, cells))
    made.sort(key=lambda row: row[0])
    return {
        "study": studies.index(entries[0].title),
        "title": entries[0].title,
        "models": [(models.index(name), short(name, 40)) for name in names],
        "rows": [row[1:] for row in made],
        "ranked": len(names) > 1,
        "runs": len(entries),
    }


def _bounds(row: Mapping[str, Any] | None) -> tuple[float, float]:
    low, high = (None, None) if row is None or row["interval"] is None else row["interval"]
    return float(math.nan if low is None else low), float(math.nan if high is None else high)


def _ranks(rows: Mapping[str, Mapping[str, Any]], level: float) -> dict[str, str]:
    """Places that each model may have for a question, the highest value first."""
    known = {name: row for name, row in rows.items() if row["value"] is not None}
    if len(known) < 2:
        return {}
    numbers = np.array([[float(r["value"]), *_bounds(r)] for r in known.values()]).T
    if next(iter(known.values()))["statistic"] == "ratio":
        with np.errstate(divide="ignore"):
            numbers = np.log(numbers)
    df = np.array([max(float(row["n_clusters"]) - 1.0, 1.0) for row in known.values()])
    first, last = rank_ranges(numbers[0], numbers[1], numbers[2], df, level)
    n = len(known)
    return {
        name: "" if (a, b) == (1, n) else f"place {a}" if a == b else f"place {a}{fmt.DASH}{b}"
        for name, a, b in zip(known, first, last, strict=True)
    }


def _series(entries: list[Entry], site: Path, *, private: bool) -> list[dict[str, Any]]:
    """What `watch` says of every folder with several rounds of one study, and its page."""
    folders: dict[Path, list[Entry]] = {}
    for each in entries:
        folders.setdefault(each.series, []).append(each)
    made, kept = [], []
    for folder, own in folders.items():
        days = {each.day for each in own}
        is_series = len(own) > 1 and len(days) == len(own) and len({e.title for e in own}) == 1
        if not is_series:
            continue
        name = hashlib.sha256(str(folder.resolve()).encode("utf-8", "replace")).hexdigest()[:12]
        page = site / "watched" / f"{name}.html"
        stats = {each.run.path.name: each.run.estimates_path.stat() for each in own}
        state = {run: f"{stat.st_size}:{stat.st_mtime_ns}" for run, stat in stats.items()}
        mark = f"<!-- {fingerprint(rounds=state)} -->"  # which is later, a clock may say wrongly
        row = {"title": own[0].title, "rounds": len(own), "days": f"{min(days)} to {max(days)}"}
        row |= {"name": "" if private else folder.name, "page": "", "why": ""}
        try:
            if not private:
                if not (page.is_file() and page.read_bytes().endswith(mark.encode())):
                    write_watch(watch(folder), page)
                    write_atomically(page, page.read_text(encoding="utf-8") + mark)
                kept.append(page.name)
                row["page"] = f"watched/{page.name}"
        except (PortrayalError, OSError) as error:
            row["why"] = short(str(error), 300)
        made.append(row)
    if not private:
        _clear(site / "watched", kept)
    return made


def _answers(groups: Iterable[list[Entry]], site: Path) -> list[dict[str, Any]]:
    """Write a page for each prompt, with what every model answered; return title and address."""
    template = templates("portrayal.report").get_template("answers.html.j2")
    fixed = frame(Charts((), {}).packed({}), [("portrayal.report", "board.css")])

    prompts: dict[str, str] = {}
    answers: dict[str, dict[str, list[str]]] = {}
    latest = {(m, e.measured_with): e for own in groups for e in own for m in e.models}
    for entry in {id(each): each for each in latest.values()}.values():
        table = read_parquet(entry.run.prompts_path, ("prompt_id", "text"))
        words = dict(zip(*table.to_pydict().values(), strict=True))
        for part in entry.run.texts.parts():
            table = read_parquet(part, ("prompt_id", "model", "text", "outcome"))
            for prompt, model, text, outcome in zip(*table.to_pydict().values(), strict=True):
                if outcome == "ok" and latest.get((model, entry.measured_with), entry) is entry:
                    said = str(words.get(prompt) or prompt)
                    key = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]
                    prompts[key] = said
                    answers.setdefault(key, {}).setdefault(model, []).append(text)
    (site / "answers").mkdir(parents=True, exist_ok=True)
    made = []
    for key, said in prompts.items():
        own = answers[key]
        text = template.render(
            brand="answers to one prompt",
            title=short(said, 300),
            head="Answers to one prompt",
            question="",
            citation=f"{fmt.plural(sum(map(len, own.values())), 'answer')} to one prompt.",
            short=True,
            prompt=said,
            answers=[(short(m, 60), texts[:MOST_ANSWERS], len(texts)) for m, texts in own.items()],
            **fixed,
        )
        write_atomically(site / "answers" / f"{key}.html", text.encode("utf-8", "replace").decode())
        n = sum(map(len, own.values()))
        made.append(
            {"page": f"answers/{key}.html", "words": short(said, 160), "n": n, "models": len(own)}
        )
    _clear(site / "answers", [f"{key}.html" for key in prompts])
    return sorted(made, key=lambda row: (-row["models"], row["words"]))


def _clear(folder: Path, kept: Iterable[str]) -> None:
    """Remove pages that an earlier board wrote and this one does not show."""
    for path in sorted(set(folder.glob("*.html")) - {folder / name for name in kept}):
        path.unlink()
