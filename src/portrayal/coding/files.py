"""Files of codes: `codes.csv`, sheets with the labels of each rater, and Label Studio’s tasks."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from portrayal.coding.clusters import SAMPLED
from portrayal.coding.codebook import Codebook
from portrayal.coding.codes import Codes, Decision, FieldAnswer, read_codes, write_codes
from portrayal.coding.project import Item, Project
from portrayal.coding.store import KINDS, rater_key
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError, OptionError
from portrayal.run.files import write_atomically
from portrayal.run.pages import visible
from portrayal.types import Tabular

CODE_COLUMNS = ("item_id", "rater", "code", "value", "note", "at", "kind")
"""Columns of `codes.csv`; `value` is 1 or 0 for a code, text for a field."""
PEOPLE = ("subject_name", "subject_gender", "object_name", "object_gender")
"""Fields that make a sheet of people."""
FACTS = ("prompt_id", "domain", "model", "condition")
SHEET: tuple[str, ...] = (
    "text_id",
    "stratum",
    "stratum_size",
    *FACTS,
    "subject_role",
    "object_role",
    "characters",
    "text",
    *PEOPLE[:2],
    "subject_references",
    *PEOPLE[2:],
    "object_references",
    "notes",
    "rater",
)


def export_codes(project: Project, path: str | Path | None = None) -> Path:
    """Write every decision and reply of raters to a CSV file and return its path.

    Parameters
    ----------
    project
        The project.
    path
        The file; `codes.csv` of the project where None. One that is there is replaced.
    """
    codes = read_codes(project)
    rows = [_row(one, one.code, int(one.value)) for one in codes.decisions]
    rows += [_row(one, one.field, one.value) for one in codes.replies]
    return write_table(Path(path or project.folder / "codes.csv"), CODE_COLUMNS, rows)


def _row(one: Decision | FieldAnswer, key: str, value: int | str) -> dict[str, str | int]:
    cells = (one.item_id, one.rater, key, value, one.note, one.at, one.kind)
    return dict(zip(CODE_COLUMNS, cells, strict=True))


def export_sheets(project: Project, folder: str | Path | None = None) -> list[Path]:
    """Write one sheet of labels for each rater, and return their paths.

    A project of people gives sheets with the columns of hand labels of people (`SHEET`), one row
    for each text, empty where the rater is not done; a project with one field gives
    `sentence,label` of what is done.

    Raises
    ------
    DataError
        When the project asks something else.
    """
    codes = read_codes(project)
    keys = [field.key for field in project.codebook.fields]
    place = Path(folder or project.folder)
    if set(PEOPLE) <= set(keys):
        columns, rows_of = SHEET, _people_rows
    elif len(keys) == 1:
        columns, rows_of = ("sentence", "label"), _sentence_rows
    else:
        asked = ", ".join(keys) or "codes alone"
        raise DataError(
            f"{project.folder} asks {asked}; a sheet takes {', '.join(PEOPLE)}, or one field. "
            "Codes go to codes.csv."
        )
    used: dict[str, str] = {}
    return [
        write_table(place / _file(rater, used), columns, rows_of(project.items, codes, rater))
        for rater in codes.raters
    ]


def _file(rater: str, used: dict[str, str]) -> str:
    """A file name of a rater's own: the letters and digits of the name, numbered where taken."""
    bare = "-".join(re.findall(r"\w+", rater)) or "rater"
    name, number = bare, 2
    while name in used:
        name, number = f"{bare}-{number}", number + 1
    used[name] = rater
    return f"labels-{name}.csv"


def _people_rows(items: Sequence[Item], codes: Codes, rater: str) -> list[dict[str, str]]:
    replies = {(one.item_id, one.field): one for one in codes.replies if one.rater == rater}
    notes = {one.item_id: one.note for one in codes.replies if one.rater == rater}
    rows = []
    sizes: dict[str, float] = {}
    for item in items:
        sizes[_stratum(item)] = sizes.get(_stratum(item), 0.0) + item.weight
    for item in items:
        roles = {one.slot: one.role for one in item.people}
        cells = {
            "text_id": item.item_id,
            "stratum": _stratum(item),
            "stratum_size": str(round(sizes[_stratum(item)])),
            **{name: item.strata.get(name, "") for name in FACTS},
            "subject_role": roles.get("subject", ""),
            "object_role": roles.get("object", ""),
            "characters": "2" if "object" in roles else "1",
            "text": item.text,
            "notes": notes.get(item.item_id, ""),
            "rater": rater,
        }
        for key in PEOPLE:
            reply = replies.get((item.item_id, key))
            cells[key] = reply.value if reply else ""
        rows.append(cells)
    return rows


def _stratum(item: Item) -> str:
    """What a text was drawn as; of a text that no sample drew, its strata but the prompt."""
    own = (value for name, value in item.strata.items() if name != "prompt_id")
    return item.strata.get(SAMPLED) or " · ".join(own) or "all"


def _sentence_rows(items: Sequence[Item], codes: Codes, rater: str) -> list[dict[str, str]]:
    labels = {one.item_id: one.value for one in codes.replies if one.rater == rater}
    return [
        {"sentence": item.text, "label": labels[item.item_id]}
        for item in items
        if item.item_id in labels
    ]


NEEDED = ("item_id", "rater", "code", "value")


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One decision or reply; `code` is the key of a code or field, `value` as in the file."""

    item_id: str
    rater: str
    code: str
    value: str
    note: str
    kind: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in.

    Attributes
    ----------
    raters
        Texts that each rater is now done with by this import, by name.
    n_texts
        Texts with a code or reply.
    left_out
        Rows or annotations that were left out, by reason.
    """

    raters: Mapping[str, int]
    n_texts: int
    left_out: Mapping[str, int]


def import_codes(project: Project, path: Tabular, *, replace: bool = False) -> Imported:
    """Read codes from a file or table with the columns of `codes.csv`.

    `note` and `kind` may be missing ("human" then); `at` is not read: codes carry the time of
    their import. A text of a rater counts as done; a code it has no row for is not given.

    Parameters
    ----------
    project
        The project; rows of other texts are left out, and counted.
    path
        The file, a DataFrame or rows.
    replace
        Whether codes that a rater has here already are written over.

    Raises
    ------
    DataError
        When a column is missing, or a row cannot be read; the message says which.
    OptionError
        When a rater has codes of these texts already and `replace` is not set.
    """
    rows = []
    name = str(path) if isinstance(path, (str, Path)) else "the table"
    advice = f"A file of codes has {', '.join(CODE_COLUMNS)}."
    for number, cells in enumerate(read_table(path, NEEDED, advice), 2):
        kind = cells.get("kind") or "human"
        if kind not in KINDS:
            raise DataError(
                f"{name}, line {number}: kind is one of {', '.join(KINDS)}; got {kind!r}."
            )
        item_id, rater, code, value = (cells[name] for name in NEEDED)
        rows.append(CodeRow(item_id, rater, code, value, cells.get("note", ""), kind))
    return write_rows(project, rows, name, replace=replace)


def write_rows(project: Project, rows: Sequence[CodeRow], where: str, *, replace: bool) -> Imported:
    """Check rows and write them as codes of their raters; `where` names them in errors."""
    known = {item.item_id for item in project.items}
    kept = [row for row in rows if row.item_id in known]
    foreign = len(rows) - len(kept)
    for row in kept:
        _check(row, project.codebook, where)
    if not kept:
        raise DataError(
            f"{where} holds no codes of this project's texts: {len(rows):,} rows, none with an "
            f"item_id of {project.folder}."
        )
    by_rater: dict[tuple[str, str], list[CodeRow]] = {}
    for row in kept:
        by_rater.setdefault((row.rater, row.kind), []).append(row)
    if not replace:
        _refuse_known(project, by_rater, where)
    codes = {code.key for code in project.codebook.codes}
    raters: Counter[str] = Counter()
    for (rater, kind), of_rater in by_rater.items():
        items = dict.fromkeys(row.item_id for row in of_rater)
        given = {(row.item_id, row.code): row.value == "1" for row in of_rater if row.code in codes}
        decisions = [
            (item, code.key, given.get((item, code.key), False))
            for item in items
            for code in project.codebook.codes
        ]
        notes = {row.item_id: row.note for row in of_rater if row.note}
        replies = [(r.item_id, r.code, r.value) for r in of_rater if r.code not in codes]
        write_codes(project, rater, decisions, notes=notes.items(), replies=replies, kind=kind)
        raters[rater] = len(items)
    left_out = {"of texts that are not in this project": foreign} if foreign else {}
    return Imported(dict(raters), len({row.item_id for row in kept}), left_out)


def _refuse_known(project: Project, by_rater: Iterable[tuple[str, str]], where: str) -> None:
    present = set(read_codes(project).raters)
    again = sorted(rater for rater, _ in by_rater if rater_key(rater) in present)
    if again:
        raise OptionError(
            f"{where}: {again[0]!r} has codes in {project.folder} already. Import them over the "
            "present ones with --replace, or under another name."
        )


def _check(row: CodeRow, book: Codebook, where: str) -> None:
    codes = [code.key for code in book.codes]
    fields = {one.key: one for one in book.fields}
    if row.code in codes:
        if row.value not in ("0", "1"):
            raise DataError(
                f"{where}: the value of a code is 1 or 0; got {row.value!r} for {row.code} of "
                f"{row.item_id}."
            )
    elif row.code in fields:
        choices = fields[row.code].choices
        if choices and row.value not in choices:
            raise DataError(
                f"{where}: {row.code} is one of {', '.join(choices)}; got {row.value!r} for "
                f"{row.item_id}."
            )
    else:
        raise DataError(
            f"{where}: {row.code!r} is not a code of this project; known: "
            f"{', '.join([*codes, *fields])}."
        )


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
