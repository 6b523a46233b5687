"""Labels of a project, from its store and into it, and sheets: label files that raters fill in."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from portrayal.coding.project import CodingItem, Project, item_name
from portrayal.coding.store import Store
from portrayal.collect.tables import write_table
from portrayal.errors import OptionError
from portrayal.raters import Codebook, Label, Labels
from portrayal.raters.labels import DRAWN, DRAWN_COLUMNS, NO, YES, with_nameless
from portrayal.run.files import write_atomically


def project_labels(project: Project) -> Labels:
    """Return the labels of a project; none where no one has begun.

    A text that a rater has begun and not finished is excluded, and counted in `started`.
    """
    names = {question.key: question.name for question in project.codebook.questions}
    # Labels come in the order in which raters see the texts, not in that of the store
    place = {item.item_id: i for i, item in enumerate(project.items)}
    if not project.codes_path.is_file():
        return Labels((), names, 0, str(project.folder))
    with closing(Store(project.codes_path)) as store:
        # The store may hold answers about texts of another draw
        by = {
            labelled: answers
            for labelled, answers in store.standing().items()
            if labelled[0] in place
        }
    rows: list[Label] = []
    started = 0
    for (item_id, rater), answers_of in sorted(by.items(), key=lambda p: (place[p[0][0]], p[0][1])):
        end, note = answers_of.get(("done", "")), answers_of.get(("note", ""))
        # Unfinished: what is not set yet is not a "no"
        if end is None or end.value != "1":
            started += 1
            continue
        item, words = project.items[place[item_id]], "" if note is None else note.value
        text_id = item.strata.get("text_id", item_id), item.strata.get("unit", "")
        prompt_id, chance = item.strata.get("prompt_id", ""), 1.0 / item.weight
        # Codes are boxes to tick: one that is left alone is a "no", said when the text was done
        answers = {code.key: answers_of.get(("code", code.key)) for code in project.codebook.codes}
        # Fields have no such default; one that was left open is no answer
        answers |= {key: one for (about, key), one in answers_of.items() if about == "field"}
        for key, one in answers.items():
            value, time = (NO, end.at) if one is None else (one.value, one.at)
            of_text = (*text_id, key, value, rater, prompt_id)
            rows.append(Label(*of_text, chance, words, time, end.kind))
    return Labels(tuple(with_nameless(rows)), names, started, str(project.folder))


def store_labels(project: Project, labels: Iterable[Label]) -> None:
    """Write the labels of raters who do not use the page; their texts then count as done.

    A code of the codebook that a text has no label for is written as not given.
    """
    keys = [code.key for code in project.codebook.codes]
    by_rater: dict[tuple[str, str], dict[tuple[str, str, str], str]] = {}
    for one in labels:
        rows = by_rater.setdefault((one.rater, one.kind), {})
        item_id = item_name(one.text_id, one.unit)
        # First every code as not given; the labels that follow write over these
        if (item_id, "done", "") not in rows:
            rows |= {(item_id, "code", key): NO for key in keys} | {(item_id, "done", ""): YES}
        if one.field:
            rows[item_id, "code" if one.field in keys else "field", one.field] = one.value
        if one.note:
            rows[item_id, "note", ""] = one.note
    with closing(Store(project.codes_path)) as store:
        # one transaction each: all of a rater, or nothing
        for (rater, kind), rows in by_rater.items():
            store.write_all(rows, store.enrol(rater, kind))


COLUMNS = (
    *("text_id", "unit", "field", "question", "choices"),
    *("label", "note", "rater", "text"),
)


def write_sheets(
    items: Sequence[CodingItem], book: Codebook, out: Path, raters: Sequence[str]
) -> list[Path]:
    """Write a sheet for each rater, what was drawn with which chance, and the instructions.

    Sheets are named as `out` with the rater at the end, and have a row for each question about each
    text. The chances tell of the strata, so they stand in a file of their own, which reading adds.

    Parameters
    ----------
    items
        The texts, in the order of the sheet.
    book
        What is asked.
    out
        CSV file after which the files are named.
    raters
        Who labels.

    Raises
    ------
    OptionError
        When a file is there already, as it may hold a rater's labels.
    """
    *paths, draw_path = (out.with_name(f"{out.stem}-{name}.csv") for name in (*raters, DRAWN))
    for path in (*paths, draw_path):
        if path.exists():
            raise OptionError(f"{path} is there already and may hold labels; give another --out.")
    rows = [row for item in items for row in _rows(item, book)]
    for path, rater in zip(paths, raters, strict=True):
        write_table(path, COLUMNS, ({**row, "rater": rater} for row in rows))
    chances = ({**_name(item), "chance": repr(1.0 / item.weight)} for item in items)
    write_table(draw_path, DRAWN_COLUMNS, chances)
    parts = [f"# {book.title}", book.warning or "", book.instructions]
    parts.append(
        "Write one of the `choices` under `label`, words of your own where there are none, and "
        f"{YES} for yes and {NO} for no. A row that you leave empty is not labelled."
    )
    for question in book.questions:
        parts += [f"## {question.name}", " ".join(question.definition.split())]
    write_atomically(out.with_suffix(".md"), "\n\n".join(filter(None, parts)) + "\n")
    return [*paths, draw_path, out.with_suffix(".md")]


def _name(item: CodingItem) -> dict[str, str]:
    names = {name: item.strata.get(name, "") for name in ("text_id", "unit", "prompt_id")}
    return names | {"text_id": names["text_id"] or item.item_id}


def _rows(item: CodingItem, book: Codebook) -> Iterator[dict[str, str]]:
    """One row for each question about a text; the text itself stands in the first."""
    roles = {person.slot: person.role for person in item.people}
    text = "\n\n".join(filter(None, (item.title, item.text)))
    for question in book.questions:
        if question.slot and question.slot not in roles:
            continue
        role = "" if question.kind == "code" else roles.get(question.key.partition("_")[0])
        words = question.name + (f" ({role})" if role else "")
        choices = "; ".join((YES, NO) if question.kind == "code" else question.choices)
        cells = {"field": question.key, "question": words, "choices": choices}
        yield {**_name(item), **cells, "label": "", "note": "", "text": text}
        text = ""
