"""Label Studio: a project as its tasks and labeling configuration, and its export as codes."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from portrayal.coding.codebook import Codebook
from portrayal.coding.files import CodeRow, Imported, write_rows
from portrayal.coding.project import Project
from portrayal.errors import DataError
from portrayal.run.files import write_atomically
from portrayal.run.pages import visible

TASKS, CONFIG = "tasks.json", "config.xml"
CODES, NOTE, TEXT = "codes", "note", "text"
"""Names of the controls and of the text there; a field's control is "field-" and its key."""


def export_tasks(project: Project, folder: str | Path) -> tuple[Path, Path]:
    """Write `tasks.json` and `config.xml` for Label Studio, and return their paths.

    A task holds the text, its title and its `item_id`, and no codes: raters there are as blind to
    others as on the page. Control characters, which XML and browsers refuse, are replaced.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    tasks = [
        {
            "data": {
                "item_id": item.item_id,
                "title": visible(item.title),
                "text": visible(item.text),
            }
        }
        for item in project.items
    ]
    write_atomically(place / TASKS, json.dumps(tasks, indent=1))
    write_atomically(place / CONFIG, labeling_config(project.codebook))
    return place / TASKS, place / CONFIG


def labeling_config(book: Codebook) -> str:
    """Return the labeling configuration of a codebook, as XML.

    A code's definition is the hint of its choice, and its key the alias that exports carry.
    """
    lines = ["<View>", f"  <Header {_attributes(value=book.title)}/>"]
    words = [book.warning or "", *book.instructions.split("\n\n")]
    lines += [f"  <Header {_attributes(value=part, size='5')}/>" for part in words if part.strip()]
    words = [f"{code.name}: {code.definition}" for code in book.codes]
    lines += [f"  <Header {_attributes(value=part, size='6')}/>" for part in words]
    lines.append(f"  <Header {_attributes(value='$title', size='5')}/>")
    lines.append(f"  <Text {_attributes(name=TEXT, value='$text')}/>")
    if book.codes:
        lines.append(f"  <Choices {_attributes(name=CODES, toName=TEXT, choice='multiple')}>")
        for code in book.codes:
            given = {"value": code.name, "alias": code.key, "hint": code.definition}
            hotkey = book.shortcuts[code.key]
            lines.append(f"    <Choice {_attributes(**given, hotkey=hotkey)}/>")
        lines.append("  </Choices>")
    for one in book.fields:
        named = {"name": f"field-{one.key}", "toName": TEXT}
        lines.append(f"  <Header {_attributes(value=one.label, size='5')}/>")
        if one.kind == "text":
            lines.append(f"  <TextArea {_attributes(**named, maxSubmissions='1', rows='1')}/>")
            continue
        lines.append(f"  <Choices {_attributes(**named, choice='single')}>")
        lines += [f"    <Choice {_attributes(value=choice)}/>" for choice in one.choices]
        lines.append("  </Choices>")
    note = {"name": NOTE, "toName": TEXT, "placeholder": "Note", "maxSubmissions": "1"}
    lines += [f"  <TextArea {_attributes(**note)}/>", "</View>", ""]
    return "\n".join(lines)


def import_tasks(
    project: Project,
    path: str | Path,
    *,
    raters: Mapping[str, str] | None = None,
    replace: bool = False,
) -> Imported:
    """Read a JSON export of Label Studio as codes of human raters.

    Parameters
    ----------
    project
        The project whose tasks were coded.
    path
        The export in the format "JSON".
    raters
        Name of a rater here by identity there: an email address or a number. Without one, a rater
        is called by the address, or "label-studio-" and the number.
    replace
        Whether codes that a rater has here already are written over.

    Raises
    ------
    DataError
        When the file is no such export, or holds a choice that the codebook does not know.
    OptionError
        When a rater has codes of these texts already and `replace` is not set.
    """
    try:
        tasks = json.loads(Path(path).read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
    reader = _Reader(project.codebook, str(path), dict(raters or {}))
    rows = list(reader.rows(tasks))
    done = write_rows(project, rows, str(path), replace=replace)
    left_out = Counter(done.left_out) + reader.left_out
    return Imported(done.raters, done.n_texts, dict(left_out))


@dataclass
class _Reader:
    book: Codebook
    where: str
    raters: Mapping[str, str]
    left_out: Counter[str] = field(default_factory=Counter)

    def rows(self, tasks: object) -> Iterator[CodeRow]:
        """Yield the last annotation of each rater and task that was not cancelled, as rows."""
        if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
            raise DataError(f"{self.where} is not a list of tasks. {_HOW}")
        for number, task in enumerate(tasks, 1):
            data, made = task.get("data"), task.get("annotations")
            if not isinstance(data, dict) or not isinstance(made, list):
                raise DataError(f"{self.where}, task {number}: no data or no annotations. {_HOW}")
            item_id = data.get("item_id")
            if not isinstance(item_id, str):
                raise DataError(
                    f"{self.where}, task {number}: no item_id in its data, so it is not one of "
                    "the tasks that `portrayal label export` wrote."
                )
            yield from self._task(item_id, made)

    def _task(self, item_id: str, made: Iterable[Mapping[str, Any]]) -> Iterator[CodeRow]:
        last: dict[str, Mapping[str, Any]] = {}
        for one in sorted(made, key=_when):
            if one.get("was_cancelled"):
                self.left_out["skipped there"] += 1
                continue
            rater = self._rater(one.get("completed_by"))
            if rater in last:
                self.left_out["an earlier annotation of the same rater"] += 1
            last[rater] = one
        for rater, one in last.items():
            yield from self._annotation(item_id, rater, one.get("result") or [])

    def _annotation(
        self, item_id: str, rater: str, result: Iterable[Mapping[str, Any]]
    ) -> Iterator[CodeRow]:
        given: dict[str, list[str]] = {}
        for region in result:
            value = region.get("value") or {}
            said = value.get("choices") or value.get("text") or []
            name = str(region.get("from_name"))
            given.setdefault(name, []).extend([said] if isinstance(said, str) else map(str, said))
        note = "\n".join(given.get(NOTE, []))
        keys = {name: code.key for code in self.book.codes for name in (code.name, code.key)}
        chosen = {self._key(choice, keys) for choice in given.get(CODES, [])}
        for code in self.book.codes:
            yield CodeRow(
                item_id, rater, code.key, "1" if code.key in chosen else "0", note, "human"
            )
        for one in self.book.fields:
            if words := given.get(f"field-{one.key}"):
                yield CodeRow(item_id, rater, one.key, " ".join(words), note, "human")

    def _key(self, choice: str, keys: Mapping[str, str]) -> str:
        if choice not in keys:
            raise DataError(
                f"{self.where}: {choice!r} is not a code of this project; known: "
                f"{', '.join(code.key for code in self.book.codes)}."
            )
        return keys[choice]

    def _rater(self, completed_by: object) -> str:
        """A rater's name here, from a number or a user's table."""
        if isinstance(completed_by, dict):
            names = [str(completed_by[k]) for k in ("email", "id") if completed_by.get(k)]
        else:
            names = [str(completed_by)]
        for name in names:
            if name in self.raters:
                return self.raters[name]
        first = names[0] if names else "unknown"
        return first if "@" in first else f"label-studio-{first}"


_HOW = 'Export from Label Studio in the format "JSON" (not JSON-MIN or CSV).'


def _when(annotation: Mapping[str, Any]) -> tuple[str, str]:
    at = annotation.get("updated_at") or annotation.get("created_at") or ""
    return str(at), str(annotation.get("id", "")).rjust(20)


def _attributes(**given: str) -> str:
    """XML attributes; a text of ours that begins with $ would name a field of the task."""
    cells = {}
    for name, value in given.items():
        text = " ".join(visible(value).split())
        cells[name] = text if value in ("$text", "$title") else text.replace("$", "＄")
    return " ".join(f'{name}="{escape(text, quote=True)}"' for name, text in cells.items() if text)
