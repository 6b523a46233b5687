"""Tables for the tests of recognition: texts of a topic, and what is made of their rows."""

import random
from collections.abc import Sequence
from typing import Any

from portrayal.collect.sources import open_source
from portrayal.recognise import Design, recognise

TOPICS = (
    ("bread", "oven", "flour", "dough", "crust", "yeast"),
    ("bridge", "steel", "river", "cable", "tower", "arch"),
    ("violin", "concert", "string", "bow", "stage", "score"),
    ("harbour", "boat", "anchor", "sail", "tide", "rope"),
    ("garden", "rose", "soil", "spade", "seed", "hedge"),
    ("court", "judge", "verdict", "jury", "appeal", "statute"),
    ("engine", "piston", "valve", "diesel", "gear", "clutch"),
    ("school", "lesson", "pupil", "chalk", "homework", "grammar"),
)
JOBS = ("baker", "cook", "pilot", "nurse", "lawyer", "farmer", "tailor", "painter")
COMMON = "the day was long and work went on until evening came then all of them rested".split()  # noqa: SIM905


def text(rng: random.Random, topic: int | None = None) -> str:
    """Thirty words, ten of them of a topic."""
    words = rng.choices(COMMON, k=20)
    words += rng.choices(TOPICS[topic % 8] if topic is not None else sum(TOPICS, ()), k=10)
    rng.shuffle(words)
    return " ".join(words).capitalize() + "."


def table(*rows: dict[str, Any], **options: Any) -> Design:
    return recognise(open_source(rows), **options)


def made(design: Design) -> list[dict[str, Any]]:
    return [dict(row) for row in design.texts.rows()]


def asked(rng: random.Random, prompt: str, jobs: Sequence[str] = JOBS, n: int = 4) -> list[dict]:
    """Answers to requests for two groups, each in its place of the prompt."""
    return [
        {"prompt": prompt.format(group=group, job=job), "answer": text(rng, i), "group_in": group}
        for i, job in enumerate(jobs)
        for group in ("woman", "man")
        for _ in range(n)
    ]
