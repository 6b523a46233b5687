"""Files of labels: `codes.csv`, a sheet for each rater, and Label Studio’s tasks; out and in."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from portrayal.coding.codebook import Codebook
from portrayal.coding.labels import read_labels, write_labels
from portrayal.coding.project import CodingItem, Project
from portrayal.coding.shares import SAMPLED
from portrayal.coding.store import rater_key
from portrayal.collect.sources import open_source
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import KINDS, Label
from portrayal.raters.people.sheets import COLUMNS as SHEET
from portrayal.raters.people.sheets import SampledText, is_sheet, read_sheet, sheet_row
from portrayal.run.files import write_atomically
from portrayal.shown import visible
from portrayal.types import Tabular

CODE_COLUMNS = ("item_id", "rater", "code", "value", "note", "at", "kind")
"""Columns of `codes.csv`; `value` is 1 or 0 for a code, text for a field."""
PEOPLE = ("subject_name", "subject_gender", "object_name", "object_gender")
"""Fields that make a sheet of people."""


def export_labels(project: Project, path: str | Path | None = None) -> Path:
    """Write every label to a CSV file and return its path.

    Parameters
    ----------
    project
        The project.
    path
        The file; `codes.csv` of the project where None. One that is there is replaced.
    """
    rows = (
        {"item_id": one.text_id, "rater": one.rater, "code": one.code, "value": one.value}
        | {"note": one.note, "at": one.at, "kind": one.kind}
        for one in read_labels(project).rows
    )
    return write_table(Path(path or project.folder / "codes.csv"), CODE_COLUMNS, rows)


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
    labels, keys = read_labels(project), [field.key for field in project.codebook.fields]
    of_people = set(PEOPLE) <= set(keys)
    if not of_people and len(keys) != 1:
        questions = ", ".join(keys) or "codes alone"
        raise DataError(
            f"{project.folder} asks {questions}; a sheet takes {', '.join(PEOPLE)}, or one field. "
            "Codes go to codes.csv."
        )
    columns = SHEET if of_people else ("sentence", "label")
    sizes: dict[str, float] = {}
    for item in project.items:
        # Weights add up to the texts of the stratum in the run, of which these were drawn
        sizes[_stratum(item)] = sizes.get(_stratum(item), 0.0) + item.weight
    paths: list[Path] = []
    for rater in labels.raters:
        values_by_text: dict[str, dict[str, str]] = {}
        for one in labels.rows:
            if one.rater == rater:
                values_by_text.setdefault(one.text_id, {"notes": one.note})[one.code] = one.value
        rows = [
            _sheet_row(item, sizes) | {"rater": rater} | values_by_text.get(item.item_id, {})
            if of_people
            else {"sentence": item.text, "label": values_by_text[item.item_id][keys[0]]}
            for item in project.items
            if of_people or keys[0] in values_by_text.get(item.item_id, {})
        ]
        # The letters and digits of the name, numbered where another rater has the same.
        bare = "-".join(re.findall(r"\w+", rater)) or "rater"
        name, number = f"labels-{bare}.csv", 2
        while any(path.name == name for path in paths):
            name, number = f"labels-{bare}-{number}.csv", number + 1
        paths.append(write_table(Path(folder or project.folder) / name, columns, rows))
    return paths


def _sheet_row(item: CodingItem, sizes: Mapping[str, float]) -> dict[str, str]:
    roles = {f"{one.slot}_role": one.role for one in item.people}
    facts = {**item.strata, **roles, "text_id": item.item_id, "text": item.text}
    row = sheet_row(SampledText(facts, _stratum(item), round(sizes[_stratum(item)])))
    return row | {"characters": "2" if "object_role" in roles else "1"}


def _stratum(item: CodingItem) -> str:
    """What a text was drawn as; of a text that no sample drew, its strata but the prompt."""
    other_strata = (value for name, value in item.strata.items() if name != "prompt_id")
    return item.strata.get(SAMPLED) or " · ".join(other_strata) or "all"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What came in.

    Attributes
    ----------
    raters
        Texts that each rater is now done with by this import, by name.
    n_texts
        Texts with a label.
    left_out
        Rows or annotations that were excluded, by reason.
    """

    raters: Mapping[str, int]
    n_texts: int
    left_out: Mapping[str, int]


def import_labels(
    project: Project,
    path: Tabular,
    *,
    raters: Mapping[str, str] | None = None,
    replace: bool = False,
) -> ImportResult:
    """Read labels from a file, check them against the codebook, and write them to the store.

    A text of a rater counts as done; a code it has no row for is not given.

    Parameters
    ----------
    project
        The project; labels of other texts are excluded, and counted.
    path
        A file, DataFrame or rows with the columns of `codes.csv`, where `note` and `kind` may be
        missing ("human" then) and `at` is not read: labels carry the time of their import; a sheet
        of people that is filled in; or a JSON export of Label Studio.
    raters
        Name of a rater here by identity in Label Studio: an email address or a number. Without
        one, a rater is called by the address, or "label-studio-" and the number.
    replace
        Whether labels that a rater has here already are written over.

    Raises
    ------
    DataError
        When a column is missing, or a row cannot be read or answers no question of the codebook.
    OptionError
        When a rater has labels of these texts already and `replace` is not set.
    """
    source = str(path) if isinstance(path, (str, Path)) else "the table"
    excluded = Counter[str]()
    if source.lower().endswith(".json"):
        labels = list(_of_tasks(project.codebook, Path(source), raters or {}, excluded))
    elif raters:
        raise OptionError("--rater names raters of Label Studio; another file holds the names.")
    else:
        labels = list(_of_table(path, source))
    item_ids = {item.item_id for item in project.items}
    of_project = [one for one in labels if one.text_id in item_ids]
    if not of_project:
        raise DataError(
            f"{source} holds no codes of this project's texts: {len(labels):,} rows, none with an "
            f"item_id of {project.folder}."
        )
    codes = [code.key for code in project.codebook.codes]
    choices = {field.key: field.choices for field in project.codebook.fields}
    for one in of_project:
        if one.code not in (*codes, *choices):
            raise DataError(
                f"{source}: {one.code!r} is not a code of this project; known: "
                f"{', '.join([*codes, *choices])}."
            )
        allowed = ("1", "0") if one.code in codes else choices[one.code]
        if allowed and one.value not in allowed:
            expected = "the value of a code is 1 or 0"
            if one.code in choices:
                expected = f"{one.code} is one of {', '.join(allowed)}"
            raise DataError(
                f"{source}: {expected}; got {one.value!r} for {one.code} of {one.text_id}."
            )
    present = set(read_labels(project).raters)
    # By key, as "Anna" and "anna" are one rater here
    again = sorted({one.rater for one in of_project if rater_key(one.rater) in present})
    if again and not replace:
        raise OptionError(
            f"{source}: {again[0]!r} has codes in {project.folder} already. Import them over the "
            "present ones with --replace, or under another name."
        )
    write_labels(project, of_project)  # after all checks, so a bad file changes nothing
    if len(of_project) < len(labels):
        excluded["of texts that are not in this project"] = len(labels) - len(of_project)
    texts = dict.fromkeys((label.rater, label.text_id) for label in of_project)
    counts = Counter(rater for rater, _ in texts)
    return ImportResult(dict(counts), len({text_id for _, text_id in texts}), dict(+excluded))


def _of_table(path: Tabular, source: str) -> Iterator[Label]:
    """Labels of a sheet of people, or of a file with the columns of `codes.csv`."""
    if isinstance(path, (str, Path)) and is_sheet(open_source(path).columns):
        sheet = read_sheet(path)
        for text in sheet.labels:
            for slot, person_given in (("subject", text.subject), ("object", text.object)):
                for part, value in zip(("name", "gender"), person_given or (), strict=False):
                    rater, note = sheet.rater or sheet.path.stem, text.facts.get("notes", "")
                    if value:
                        yield Label(rater, text.text_id, f"{slot}_{part}", value, note=note)
        return
    needed = ("item_id", "rater", "code", "value")
    advice = f"A file of codes has {', '.join(CODE_COLUMNS)}."
    # From 2: the first line of the file holds the heads
    for number, cells in enumerate(read_table(path, needed, advice), 2):
        kind, note = cells.get("kind") or "human", cells.get("note", "")
        if kind not in KINDS:
            raise DataError(
                f"{source}, line {number}: kind is one of {', '.join(KINDS)}; got {kind!r}."
            )
        text_id, rater, code, value = (cells[name] for name in needed)
        yield Label(rater, text_id, code, value, note=note, kind=kind)


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
            attributes = {"value": code.name, "alias": code.key, "hint": code.definition}
            hotkey = book.shortcuts[code.key]
            lines.append(f"    <Choice {_attributes(**attributes, hotkey=hotkey)}/>")
        lines.append("  </Choices>")
    for one in book.fields:
        attributes_of_field = {"name": f"field-{one.key}", "toName": TEXT}
        lines.append(f"  <Header {_attributes(value=one.label, size='5')}/>")
        if one.kind == "text":
            lines.append(
                f"  <TextArea {_attributes(**attributes_of_field, maxSubmissions='1', rows='1')}/>"
            )
            continue
        lines.append(f"  <Choices {_attributes(**attributes_of_field, choice='single')}>")
        lines += [f"    <Choice {_attributes(value=choice)}/>" for choice in one.choices]
        lines.append("  </Choices>")
    note = {"name": NOTE, "toName": TEXT, "placeholder": "Note", "maxSubmissions": "1"}
    lines += [f"  <TextArea {_attributes(**note)}/>", "</View>", ""]
    return "\n".join(lines)


def _of_tasks(
    book: Codebook, path: Path, raters: Mapping[str, str], excluded: Counter[str]
) -> Iterator[Label]:
    """The last annotation of each rater and task that was not cancelled, as labels."""
    export_hint = 'Export from Label Studio in the format "JSON" (not JSON-MIN or CSV).'
    try:
        tasks = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise DataError(f"{path} is not a list of tasks. {export_hint}")
    for number, task in enumerate(tasks, 1):
        data, annotations = task.get("data"), task.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise DataError(f"{path}, task {number}: no data or no annotations. {export_hint}")
        text_id = data.get("item_id")
        if not isinstance(text_id, str):
            raise DataError(
                f"{path}, task {number}: no item_id in its data, so it is not one of the tasks "
                "that `portrayal label export` wrote."
            )
        # Label Studio keeps every version; the latest of a rater counts
        last: dict[str, Mapping[str, Any]] = {}
        for one in sorted(annotations, key=_when):
            if one.get("was_cancelled"):
                excluded["skipped there"] += 1
                continue
            coder = one.get("completed_by")  # a number, or a user's table
            names = [str(coder)]
            if isinstance(coder, dict):
                names = [str(coder[key]) for key in ("email", "id") if coder.get(key)] or [
                    "unknown"
                ]
            default_name = names[0] if "@" in names[0] else f"label-studio-{names[0]}"
            rater = next((raters[name] for name in names if name in raters), default_name)
            excluded["an earlier annotation of the same rater"] += rater in last
            last[rater] = one
        for rater, one in last.items():
            yield from _of_annotation(book, path, text_id, rater, one.get("result") or [])


def _of_annotation(
    book: Codebook, path: Path, text_id: str, rater: str, regions: list[Mapping[str, Any]]
) -> Iterator[Label]:
    choices: dict[str, list[str]] = {}
    for region in regions:
        value = region.get("value") or {}
        words = value.get("choices") or value.get("text") or []
        name = str(region.get("from_name"))
        choices.setdefault(name, []).extend([words] if isinstance(words, str) else map(str, words))
    note = "\n".join(choices.get(NOTE, []))
    keys = {name: code.key for code in book.codes for name in (code.name, code.key)}
    if unknown := [choice for choice in choices.get(CODES, []) if choice not in keys]:
        raise DataError(
            f"{path}: {unknown[0]!r} is not a code of this project; known: "
            f"{', '.join(code.key for code in book.codes)}."
        )
    code_keys = {keys[choice] for choice in choices.get(CODES, [])}
    for code in book.codes:
        yield Label(rater, text_id, code.key, str(int(code.key in code_keys)), note=note)
    for one in book.fields:
        if words := choices.get(f"field-{one.key}"):
            yield Label(rater, text_id, one.key, " ".join(words), note=note)


def _when(annotation: Mapping[str, Any]) -> tuple[str, str]:
    time = annotation.get("updated_at") or annotation.get("created_at") or ""
    return str(time), str(annotation.get("id", "")).rjust(20)


def _attributes(**attributes: str) -> str:
    """XML attributes; a text of ours that begins with $ would name a field of the task."""
    cells = {}
    for name, value in attributes.items():
        text = " ".join(visible(value).split())
        cells[name] = text if value in ("$text", "$title") else text.replace("$", "＄")
    return " ".join(f'{name}="{escape(text, quote=True)}"' for name, text in cells.items() if text)
