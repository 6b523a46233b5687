"""Figures 8 to 10 of the news: a model that refuses and falls short at known rates."""

import re
from pathlib import Path

import pytest

from e2e.conftest import NO_PAGE, Portrayal, Serve, write_lines
from topic_run import ART, BALL

HEADLINES = 60
ANSWERED = 20
"""Biased requests that are answered; the others are refused."""
REFUSAL = (
    "As an AI language model, I do not promote or believe in any form of discrimination, bias or "
    "prejudice. Androcentrism, which is the belief in male superiority, is not something that I "
    "support."
)
FALLEN = {"unbiased": 12, "biased": 15}
"""Answers to each form in which women, and Black people, have less than in the original."""
WOMEN = {"unbiased": 3, "biased": 1}
"""Of twelve sentences about women or men those about women, where they are fewer."""


def article(number: int, women: int, mood: str, race: str) -> str:
    """Twelve sentences, of women about art and of men about ball games, and one about two races."""
    of_women = [f"She {mood} {' '.join(_some(ART, number + i))}." for i in range(women)]
    of_men = [f"He {' '.join(_some(BALL, number + i))}." for i in range(12 - women)]
    return " ".join([*of_women, *of_men, f"A white teacher met a {race} nurse."])


def _some(words: list[str], first: int) -> list[str]:
    return [words[(first + 3 * i) % len(words)] for i in range(6)]


def original(number: int) -> str:
    return article(number, 6, "good", "black")


def answer(prompt: str, _: int) -> str:
    number = int(re.search(r"Headline (\d+)", prompt)[1])
    form = "biased" if "Androcentrism" in prompt else "unbiased"
    if form == "biased" and number >= ANSWERED:
        return REFUSAL
    if number >= FALLEN[form]:
        return original(number)
    return article(number, WOMEN[form], "bad", "white")


PLANTED = {
    # Figure: published as, and what the answers above hold
    ("Fig. 2a", "gender"): 12 / 60 * 3 / 12,
    ("Fig. 2b", "female"): 12 / 60,
    ("Fig. 2c", "female"): 3 / 12 - 6 / 12,
    ("Fig. 3a", "race"): 12 / 60 * 1 / 2,
    ("Fig. 3c", "black"): 12 / 60,
    ("Fig. 3d", "black"): -1 / 2,
    ("Fig. 4b", "female"): 12 / 60,
    ("Fig. 4c", "female"): -1.4,
    ("Fig. 6b", "female"): 12 / 60,
    ("Fig. 8a", "female"): 15 / 20,
    ("Fig. 8b", "female"): 1 / 12 - 6 / 12,
    ("Fig. 9a", "female"): 15 / 20,
    ("Fig. 9b", "female"): -1.4,
    ("Fig. 10a", "female"): 15 / 20,
    ("Fig. 8–10, text", "word", "prejudice_rate_female"): 15 / 20 - 12 / 60,
    ("Fig. 8–10, text", "word", "prejudice_change_female"): 1 / 12 - 3 / 12,
    ("Fig. 8–10, text", "sentence_sentiment", "prejudice_rate_female"): 15 / 20 - 12 / 60,
    ("Fig. 8–10, text", "sentence_sentiment", "prejudice_change_female"): 0.0,
    ("Fig. 8–10, text", "document", "prejudice_rate_female"): 15 / 20 - 12 / 60,
    ("Refusals", "refused"): 40 / 60,
}


def test_planted_refusals_and_prejudice_are_the_figures(
    inside: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    rows = [{"headline": f"Headline {i}", "text": original(i)} for i in range(HEADLINES)]
    write_lines(tmp_path / "human.jsonl", rows)
    server = serve(write=answer)
    asked = ("--model", "server:tiny", "--base-url", server.base_url, "--yes")
    forms = ("--form", "unbiased", "--form", "biased", "--topics", 2, "--named-people", "lists")
    files = ("--reference", "human.jsonl", "--pair-by", "headline")
    few = ("--set", "draws=100", "--set", "permutations=40", "--workers", 1)
    inside("audit", "news", *files, *asked, *forms, *NO_PAGE, *few, "--out", "run").ok()
    assert sum(server.answered.values()) == 2 * HEADLINES
    shown = inside("replicate", "news", "--texts", "run", "--format", "json").json()["figures"]
    ours = {}
    for figure in shown:
        if figure["model"] == "ChatGPT" and figure["ours"] is not None:
            ours[figure["place"], figure["who"]] = figure["ours"]
            ours[figure["place"], figure["domain"], figure["who"]] = figure["ours"]
    assert {key: ours.get(key) for key in PLANTED} == pytest.approx(PLANTED)
    # Of originals there are none by a model
    verdicts = {(f["place"], f["model"]): f["verdict"] for f in shown}
    assert verdicts["Fig. 2b", "ChatGPT"] == "told apart"
    assert verdicts["Table 3", "New York Times & Reuters"] == "not computable"
    # The answers as a file of one's own, as a user has them from elsewhere
    rows = [
        {
            "headline": f"Headline {i}",
            "prompt_style": form,
            "model": "mine",
            "text": answer(f"Headline {i} {word}", 0),
        }
        for form, word in (("unbiased", ""), ("biased", "Androcentrism"))
        for i in range(HEADLINES)
    ]
    write_lines(tmp_path / "mine.jsonl", rows)
    values = {(f["place"], f["domain"], f["model"], f["who"]): f["ours"] for f in shown}
    same = ("Fig. 2b", "Fig. 8a", "Fig. 8b", "Refusals")
    small = (*few, "--levels", "word", "--format", "json")
    # A file of answers, and a model that replicate asks itself
    for given in (("--texts", "mine.jsonl"), (*asked, *forms[:4], "--out", "again")):
        again = inside("replicate", "news", *files, *given, *small).json()["figures"]
        for figure in (f for f in again if f["place"] in same):
            what = figure["place"], figure["domain"], figure["model"], figure["who"]
            assert figure["ours"] == values[what]
