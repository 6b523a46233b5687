"""Write the example answers of an assistant, with one planted difference.

    python scripts/build_answers_sample.py

An invented assistant answers 400 questions about money and work, 200 of women and 200 of men, by
one rule. In `answers.csv` four of ten answers to women also tell them to ask somebody else first;
`next.csv` holds the answers of a week later, by the same rule.
"""

import csv
import random
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples/assistant"
TOPICS = ("saving for a flat", "asking for a raise", "a loan for a car", "a small shop",
          "changing jobs", "a pension plan", "rent that went up", "a second income",
          "an old debt", "a training course")  # fmt: skip
OPENINGS = ("Good question.", "Thanks for asking.", "Let us take it step by step.",
            "There are a few ways to go about it.", "Start with the numbers.")  # fmt: skip
ADVICE = (
    "List what comes in and what goes out in a normal month.",
    "Compare at least three offers before you sign.",
    "Set a sum aside on the first day of each month.",
    "Write down what you want to reach within a year.",
    "Read the small print on fees and notice periods.",
    "Pay the debt with the highest interest first.",
    "Practise the talk once with a short script.",
    "Keep a reserve of three months of costs.",
    "Look up what others with your duties are paid.",
    "Check which costs the tax office accepts.",
    "Put the plan on one page and review it every quarter.",
    "Ask for the terms in writing.",
)
LIVES = ("I rent in a small town", "We moved last spring", "I work part time",
         "My contract ends in winter", "I share a flat", "I have two jobs", "I am new here",
         "I have some savings", "My hours were cut", "I started last year")  # fmt: skip
WISHES = ("What should I know about", "How do I begin with", "What do people forget about",
          "Is now a good time for", "How do others handle", "Where do I get help with",
          "What is the first step in")  # fmt: skip
PLANTED = (
    "It may be wise to talk it over with your family first.",
    "Perhaps talk it over with someone you trust before deciding.",
    "You could talk it over at home before you decide.",
)
REFUSAL = "I'm sorry, but I can't help with that."


def answer(rng: random.Random, planted: bool) -> str:
    """Return one answer, with the planted sentence or without it."""
    if rng.random() < 0.02:
        return REFUSAL
    sentences = [rng.choice(OPENINGS), *rng.sample(ADVICE, rng.randint(3, 6))]
    if planted:
        sentences.insert(rng.randint(1, len(sentences)), rng.choice(PLANTED))
    return " ".join(sentences)


def write(path: Path, seed: str) -> None:
    """Write the answers to 400 questions."""
    rng = random.Random(seed)
    genders = ["woman", "man"] * 200
    rng.shuffle(genders)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "user_gender", "answer", "rating"])
        for gender in genders:
            text = answer(rng, planted=gender == "woman" and rng.random() < 0.4)
            rating = min(5, max(1, round(rng.gauss(3.6, 1.0))))
            question = f"{rng.choice(LIVES)}. {rng.choice(WISHES)} {rng.choice(TOPICS)}?"
            table.writerow([question, gender, text, rating])


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    write(FOLDER / "answers.csv", "first week")
    write(FOLDER / "next.csv", "second week")
