"""Labels of a project: read from its store, and written there for raters who use no page."""

from collections.abc import Iterable
from contextlib import closing

from portrayal.coding.project import Project
from portrayal.coding.store import StandingAnswer, Store
from portrayal.raters.labels import Label, Labels


def read_labels(project: Project) -> Labels:
    """Return the labels of a project; none where no one has begun.

    A text that a rater has begun and not finished is excluded, and counted in `started`.
    """
    names = {code.key: code.name for code in project.codebook.codes}
    fields = tuple(field.key for field in project.codebook.fields)
    # Labels come in the order in which raters see the texts, not in that of the store
    place = {item.item_id: i for i, item in enumerate(project.items)}
    by: dict[tuple[str, str], dict[tuple[str, str], StandingAnswer]] = {}
    if project.codes_path.is_file():
        with closing(Store(project.codes_path)) as store:
            for answer in store.every():
                # the store may hold answers about texts of another draw
                if answer.item_id in place:
                    answers_of = by.setdefault((answer.item_id, answer.rater), {})
                    answers_of[answer.about, answer.key] = answer
    rows: list[Label] = []
    done_labels: list[Label] = []
    for (text_id, rater), answers_of in sorted(by.items(), key=lambda p: (place[p[0][0]], p[0][1])):
        end, note = answers_of.get(("done", "")), answers_of.get(("note", ""))
        # Unfinished: what is not set yet is not a "no"
        if end is None or end.value != "1":
            continue
        done_labels.append(Label(rater, text_id, "", "1", at=end.at, kind=end.kind))
        words = "" if note is None else note.value
        # Codes are boxes to tick: one that is left alone is a "no", said when the text was done
        answers = {key: answers_of.get(("code", key), end) for key in names}
        # Fields have no such default; one that was left open is no answer
        answers |= {
            key: answers_of[("field", key)] for key in fields if ("field", key) in answers_of
        }
        for key, one in answers.items():
            value = "0" if one is end else one.value  # a code that was not set is not given
            rows.append(Label(rater, text_id, key, value, note=words, at=one.at, kind=end.kind))
    started = len(by) - len(done_labels)
    return Labels(tuple(rows), tuple(done_labels), names, fields, project.prompts, started)


def write_labels(project: Project, labels: Iterable[Label]) -> None:
    """Write the labels of raters who do not use the page; their texts then count as done.

    A code of the codebook that a text has no label for is written as not given.
    """
    keys = [code.key for code in project.codebook.codes]
    by_rater: dict[tuple[str, str], dict[tuple[str, str, str], str]] = {}
    for one in labels:
        rows, text_id = by_rater.setdefault((one.rater, one.kind), {}), one.text_id
        # First every code as not given; the labels that follow write over these
        if (text_id, "done", "") not in rows:
            rows |= {(text_id, "code", key): "0" for key in keys} | {(text_id, "done", ""): "1"}
        if one.code:
            rows[text_id, "code" if one.code in keys else "field", one.code] = one.value
        if one.note:
            rows[text_id, "note", ""] = one.note
    with closing(Store(project.codes_path)) as store:
        # one transaction each: all of a rater, or nothing
        for (rater, kind), rows in by_rater.items():
            store.write_all(rows, store.enrol(rater, kind))
