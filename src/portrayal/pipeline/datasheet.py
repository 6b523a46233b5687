"""The datasheet of a run: what the run knows of itself, and blanks for what only people know.

The form is that of Gebru et al. (2021) as Shieh et al. (2025) fill it in Supplement E.1: 57
questions in seven sections. The same run gives the same file.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal._version import __version__
from portrayal.collect.ask.provider import Usage
from portrayal.collect.texts import said_left_out
from portrayal.errors import RunError
from portrayal.records import ALL
from portrayal.shown import markdown, markdown_table

if TYPE_CHECKING:
    from portrayal.run.directory import Run

BLANK = "**[to fill in: {}]**"

_LISTED = 20  # models, names of strata or values shown in a line


def write_datasheet(run: "Run", path: str | Path) -> Path:
    """Write the datasheet of a run as Markdown, and return its path.

    A datasheet that someone filled in or changed is left as it is: its text no longer has the
    digest that its last line gives.

    Parameters
    ----------
    run
        An audited or collected run.
    path
        Where to write.

    Raises
    ------
    RunError
        When the run holds no texts.
    """
    from portrayal.run.files import write_atomically

    target = Path(path)
    present = target.read_text(encoding="utf-8") if target.exists() else ""
    body, mark, _ = present.rpartition("<!-- written by portrayal:")
    if not target.exists() or (
        # The digest in the last line fits the text only as long as no one has touched it
        mark and present == f"{body}{_digest_line(body)}\n"
    ):  # nobody has changed it
        text = datasheet(run)
        write_atomically(target, f"{text}{_digest_line(text)}\n")
    return target


def _digest_line(text: str) -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return f"<!-- written by portrayal: {digest} -->"


def run_answers(run: "Run") -> dict[str, str]:
    """Return what a run knows of itself, by the names that forms give it; escaped for Markdown."""
    note = run.texts.note()
    settings = run.settings() if run.settings_path.is_file() else {}
    counts = counted(run)
    options = settings.get("options", {})
    tables = [options[name] for name in ("name_table", "baseline") if name in options]
    measures = [f"`{name}`" for name in settings.get("measures", ())]
    was_asked, source = counts["first"] is not None, markdown(str(note.get("source", "a file")))
    rows = [(*words, f"{n_prompts:,}", f"{n:,}") for *words, n_prompts, n in counts["cells"]]
    heads = ("domain", "condition", "model", "prompts", "texts")
    return {
        "study": markdown(settings.get("study", "not audited yet")),
        "portrayal": markdown(settings.get("portrayal", __version__)),
        "models": _list(counts["models"]),
        "counts": f"{counts['n_texts']:,} texts.\n\n{markdown_table(heads, rows, 2)}",
        "sampling": f"A sample: {counts['n_texts']:,} answers to {counts['n_prompts']:,} prompts, "
        f"{counts['fewest']:,} to {counts['most']:,} of each model to each prompt.",
        "columns": "Of each text: " + ", ".join(f"`{name}`" for name in counts["columns"]) + ". "
        "Of each prompt: its words, and " + (_list(counts["strata"]) or "nothing more") + ".",
        "labels": "People were labelled by the user before the audit."
        if note.get("labelled")
        else "No target. The audit's annotations (names and gender references) are estimates.",
        "unread": _unread(counts, note),
        "cluster_unit": markdown(note.get("cluster_unit", "prompt")),
        "instruments": _list(tables) or "what the audit will name",
        "acquired": ("By asking the models." if was_asked else f"Imported from {source}.")
        + (
            f" The first prompt, in order of name: “{markdown(counts['prompt'])}”"
            * bool(counts["prompt"])
        ),
        "procedure": _procedure(counts, note, source),
        "dates": f"From {counts['first']} to {counts['last']} (UTC)."
        if was_asked
        else BLANK.format("first and last day; the imported texts do not say"),
        "annotator": _annotators(settings),
        "measures": ", ".join(measures) or "no measure yet",
    }


def sections_of(form: str) -> list[dict[str, Any]]:
    """Return the sections of a form of this package, with what they ask."""
    text = files("portrayal.pipeline").joinpath(f"{form}.toml").read_text("utf-8")
    sections: list[dict[str, Any]] = tomllib.loads(text)["section"]
    return sections


def datasheet(run: "Run") -> str:
    """Return the datasheet as Markdown."""
    facts = run_answers(run)
    lines = [
        f"# Datasheet: {facts['study']}",
        "",
        "Questions of Gebru et al. (2021), as in Shieh et al. (2025), Supplement E.1. Answers "
        f"from the run by Portrayal {facts['portrayal']}; what it cannot know is marked "
        f"{BLANK.format('…')}.",
    ]
    number = 0
    for section in sections_of("datasheet"):
        lines += ["", f"## {section['title']}"]
        for question in section["questions"]:
            number += 1
            parts = [question["answer"].format_map(facts)] if "answer" in question else []
            if "blank" in question:
                parts.append(BLANK.format(question["blank"].format_map(facts)))
            answer = " ".join(part for part in parts if part)
            lines += ["", f"**{number}. {question['ask']}**", "", answer]
    return "\n".join(lines) + "\n"


def _annotators(settings: Mapping[str, Any]) -> str:
    names = ", ".join(f"`{name}`" for name in settings.get("annotators", ()))
    if not names:
        return "no annotator yet"
    parts = [names, markdown(settings.get("group_labels", ""))]
    if labelling := settings.get("labeler"):
        from portrayal.annotate.people.labeler import labelling_sentence

        parts.insert(1, markdown(labelling_sentence(labelling)).rstrip("."))
    return ". ".join(filter(None, parts))


def _procedure(counts: Mapping[str, Any], note: Mapping[str, Any], source: str) -> str:
    if counts["first"] is None:
        return BLANK.format(f"how the texts of {source} were obtained")
    lines = ["By the software interfaces of the models."]
    if counts["answered_by"]:
        lines.append(f"They name themselves {_list(counts['answered_by'])}.")
    for model, asking in sorted(note.get("asked", {}).items()):
        parameters = [
            f"{name} {value}" for name, value in sorted(asking.get("parameters", {}).items())
        ]
        usage = Usage.of(asking)
        facts = [_list(parameters) or "default parameters", usage.reasoned, usage.estimated]
        lines.append(f"{markdown(model)}: {'; '.join(filter(None, facts))}.")
    return " ".join(lines)


def _unread(totals: Mapping[str, Any], note: Mapping[str, Any]) -> str:
    """What could not be read, and texts of prompts that the study does not know: not in the run."""
    counts = [f"{n:,} {name}" for name, n in totals["outcomes"] if name != "ok"]
    sentence = "No text was refused, empty or failed."
    if counts:
        sentence = f"Yes: {', '.join(counts)} of {totals['n_texts']:,} texts."
    reasoned = [asking.get("n_reasoned", 0) for asking in note.get("asked", {}).values()]
    if n := note.get("n_reasoned", 0) + sum(reasoned):
        sentence += f" {n:,} held reasoning of the model before its answer, which was removed."
    if not note.get("left_out"):
        return sentence
    unread = f"Left out, as their prompts are not the study's: {said_left_out(note['left_out'])}."
    return f"{sentence} {markdown(unread)}"


_PROMPTS = "select text, map_keys(strata) from read_parquet($prompts) order by prompt_id"
_CELLS = """
    select coalesce(p.strata['domain'], $all), coalesce(p.strata['condition'], '–'), t.model,
           count(distinct t.prompt_id), count(*)
    from read_parquet($texts, union_by_name = true) t
    left join read_parquet($prompts) p using (prompt_id)
    group by all order by all
"""


def counted(run: "Run") -> dict[str, Any]:
    """Count the texts of a run; every list in a fixed order."""
    import duckdb

    texts = [str(part) for part in run.texts.parts()]
    if not texts:
        raise RunError(f"{run.path} holds no texts yet; a datasheet describes texts.")
    with duckdb.connect() as connection:

        def rows(query: str, **more: Any) -> list[Any]:
            return connection.execute(query, {"texts": texts, **more}).fetchall()

        # Shards by name of their columns: those that were asked for have more than imported ones
        source = "from read_parquet($texts, union_by_name = true)"
        columns = [row[0] for row in rows(f"describe select * {source}")]
        # Least first, so that the ends are the fewest and the most answers to a prompt
        cells = rows(f"select count(*) as n {source} group by model, prompt_id order by n")
        first, last, answered = None, None, []
        if "asked_at" in columns:
            first, last = rows(f"select min(asked_at)[:10], max(asked_at)[:10] {source}")[0]
            names = rows(f"select distinct answered_by {source} order by all")
            answered = [name for (name,) in names if name]
        prompts = {"prompts": str(run.prompts_path)}
        prompt_rows = connection.execute(_PROMPTS, prompts).fetchall()
        return {
            "cells": rows(_CELLS, all=ALL, **prompts),
            "outcomes": rows(f"select outcome, count(*) {source} group by all order by outcome"),
            "models": [row[0] for row in rows(f"select distinct model {source} order by model")],
            "n_texts": sum(row[0] for row in cells),
            "n_prompts": rows(f"select count(distinct prompt_id) {source}")[0][0],
            "fewest": cells[0][0],
            "most": cells[-1][0],
            "columns": columns,
            "strata": sorted({name for _, strata in prompt_rows for name in strata}),
            "prompt": next((text for text, _ in prompt_rows if text), ""),
            "first": first,
            "last": last,
            "answered_by": answered,
        }


def _list(names: list[Any]) -> str:
    listing = ", ".join(markdown(name) for name in names[:_LISTED])
    return listing + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
