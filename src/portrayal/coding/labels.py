"""Labels of a project: read from its store, and written there for raters who use no page."""

from collections.abc import Iterable
from contextlib import closing

from portrayal.coding.project import Project, item_name
from portrayal.coding.store import StandingAnswer, Store
from portrayal.raters import Label, Labels
from portrayal.raters.labels import NO, YES, with_nameless


def project_labels(project: Project) -> Labels:
    """Return the labels of a project; none where no one has begun.

    A text that a rater has begun and not finished is excluded, and counted in `started`.
    """
    codes = {code.key: code.name for code in project.codebook.codes}
    names = codes | {field.key: field.label for field in project.codebook.fields}
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
        answers = {key: answers_of.get(("code", key)) for key in codes}
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
