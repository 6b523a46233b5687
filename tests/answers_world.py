"""Answers of an assistant with known differences between groups, in a grammar of their own."""

import random
from typing import Any

OPENINGS = ("Thanks for asking.", "Good question.", "Let us go step by step.", "In short, yes.",
            "First, take stock.", "There are several ways.", "A few thoughts.")  # fmt: skip
SUBJECTS = ("the budget", "your schedule", "a short list", "the first draft", "this plan",
            "the interview", "the contract", "a weekly routine", "the report", "the garden",
            "the trip", "the course", "the software", "the recipe", "the meeting")  # fmt: skip
VERBS = ("needs", "rewards", "asks for", "benefits from", "depends on", "calls for", "gains from")
OBJECTS = ("patience", "a clear goal", "regular review", "some practice", "a quiet hour",
           "good notes", "a second look", "steady work", "fresh ideas", "enough time",
           "simple tools", "careful reading", "small steps", "a backup", "more water")  # fmt: skip
PHRASE = "You may want to ask your accountant first."
REFUSAL = "I'm sorry, but I can't help with that request."
JOBS = ("nurse", "pilot", "baker", "lawyer", "teacher", "welder", "editor", "driver", "chemist",
        "farmer", "clerk", "tailor")  # fmt: skip


def answer(rng: random.Random, phrase: float = 0.0, refused: float = 0.0) -> str:
    """Return an answer, with the phrase or as a refusal by these chances."""
    if rng.random() < refused:
        return REFUSAL
    lines = [
        f"{rng.choice(SUBJECTS).capitalize()} {rng.choice(VERBS)} {rng.choice(OBJECTS)}."
        for _ in range(rng.randint(4, 9))
    ]
    if rng.random() < phrase:
        lines.insert(rng.randint(0, len(lines)), PHRASE)
    return " ".join([rng.choice(OPENINGS), *lines])


def answers(
    n: int = 400,
    *,
    phrase: tuple[float, float] = (0.0, 0.0),
    helpful: float = 0.0,
    seed: int = 0,
    jobs: int = 0,
) -> list[dict[str, Any]]:
    """Return rows of answers to women and men; of `jobs` the prompts name one and the group.

    Parameters
    ----------
    phrase
        Share of the answers to women, and to men, that have the phrase.
    helpful
        By how many standard deviations the score of answers to women lies higher.
    """
    rng, rows = random.Random(f"answers {seed}"), []
    for i in range(n):
        woman = rng.random() < 0.5
        row: dict[str, Any] = {
            "answer": answer(rng, phrase[0 if woman else 1], 0.03),
            "helpfulness": round(3 + rng.gauss(0, 1) + helpful * woman, 3),
        }
        group = "woman" if woman else "man"
        if jobs:
            row["prompt"] = f"Give advice to a {group} who works as a {JOBS[i % jobs]}."
        else:
            row["user_gender"] = group
        rows.append(row)
    return rows
