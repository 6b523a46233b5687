"""A small coding project with raters, as several tests use it."""

import random

from portrayal.coding import CodingItem, ItemPerson, make_project, store_labels
from portrayal.raters import Codebook, CodebookQuestion, Label

CODES = ("savior", "foreigner", "savage")


def book():
    return Codebook(
        "small",
        "Small",
        "Read each story.",
        tuple(
            CodebookQuestion(key, key.title(), f"What {key} means.", "Nobody (2020)")
            for key in CODES
        ),
    )


def people(i):
    """The people of story i: Maria whom John helps, or Priya whom Sarah helps."""
    first, second = (("John", "Maria"), ("Sarah", "Priya"))[i % 2]
    text = story(i)
    return tuple(
        ItemPerson(slot, name, role=role, spans=((text.index(name), text.index(name) + len(name)),))
        for slot, name, role in (("subject", first, "mentor"), ("object", second, "student"))
    )


def story(i):
    first, second = (("John", "Maria"), ("Sarah", "Priya"))[i % 2]
    return f"{first} met {second}, who had just moved here. Tale {i} ended well."


def small_project(folder, n=12, **more):
    items = [
        CodingItem(
            f"t{i}", story(i), f"Story {i}", people(i), {"group": ("Latine", "Asian")[i % 2]}
        )
        for i in range(n)
    ]
    return make_project(folder, items, book(), seed=1, draw={"drawn": "all"}, **more)


def write_codes(project, rater, decisions, *, notes=(), replies=(), kind="llm"):
    """Write a rater's decisions (item_id, code, value), notes and answers to fields."""
    said = dict(notes)
    rows = [(item, key, str(int(value))) for item, key, value in decisions] + list(replies)
    labels = [
        Label(item, "", key, value, rater, note=said.get(item, ""), kind=kind)
        for item, key, value in rows
    ]
    store_labels(project, labels)


def code_all(project, rater, given, *, kind="human", items=None):
    """Write a rater's codes: `given` maps item_id to the codes that it shows."""
    names = [item.item_id for item in project.items] if items is None else items
    rows = [(name, key, key in given.get(name, ())) for name in names for key in CODES]
    return write_codes(project, rater, rows, kind=kind)


def random_codes(project, seed, share=0.4):
    rng = random.Random(seed)
    return {item.item_id: {key for key in CODES if rng.random() < share} for item in project.items}
