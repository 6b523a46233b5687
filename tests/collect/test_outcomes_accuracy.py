"""Outcomes: the labelled texts, their floors, and the rules before any pattern."""

import json
import time
from collections import Counter, namedtuple
from importlib.resources import files

import pytest

from portrayal.collect import outcomes
from portrayal.collect.outcomes import outcome_of
from portrayal.stats import wilson

Measured = namedtuple("Measured", "n n_agreed precision recall precision_bounds recall_bounds")


def labelled_outcomes(part=None):
    """Yield the labelled texts; the held-out third was written after the patterns were finished."""
    lines = files("portrayal.collect").joinpath("refusals.jsonl").read_text(encoding="utf-8")
    rows = map(json.loads, lines.splitlines())
    return (row for row in rows if part is None or row["part"] == part)


def refusal_accuracy(part=None):
    """Measure `outcome_of` on the labelled texts, with 95 % Wilson intervals."""
    rows = [(row["label"], outcome_of(row["text"])) for row in labelled_outcomes(part)]
    hits = sum(label == said == "refused" for label, said in rows)
    said = sum(said == "refused" for _, said in rows)
    there = sum(label == "refused" for label, _ in rows)
    bounds = [tuple(map(float, wilson(hits, total, 0.95))) for total in (said, there)]
    agreed = sum(label == said for label, said in rows)
    return Measured(len(rows), agreed, hits / said, hits / there, *bounds)


ORIGIN = "written and labelled by a language model for Portrayal"


def test_the_labelled_texts_say_what_they_are():
    rows = list(labelled_outcomes())
    assert len({row["text"] for row in rows}) == len(rows) >= 200
    assert {row["origin"] for row in rows} == {ORIGIN}
    assert {row["label"] for row in rows} == {"ok", "refused", "empty"}
    parts = Counter(row["part"] for row in rows)
    assert set(parts) == {"dev", "held-out"}
    assert 0.3 < parts["held-out"] / len(rows) < 0.36
    kinds = {row["kind"] for row in rows}
    assert {"partial", "soft", "lecture", "dialogue", "first person", "robot", "language"} <= kinds


def test_floors_on_the_shipped_texts():
    every = refusal_accuracy()
    assert every.precision >= 0.95, every
    assert every.recall >= 0.90, every
    assert every.recall_bounds[0] < every.recall < every.recall_bounds[1]


def test_the_docstring_states_the_figures():
    for part in ("held-out", "dev"):
        found = refusal_accuracy(part)
        for value, at in (
            (found.precision, found.precision_bounds),
            (found.recall, found.recall_bounds),
        ):
            stated = f"{100 * value:.1f} % ({100 * at[0]:.1f}–{100 * at[1]:.1f})"
            assert stated in outcomes.__doc__, (part, stated)


def test_parts_add_up():
    dev, held_out, every = (refusal_accuracy(part) for part in ("dev", "held-out", None))
    assert dev.n + held_out.n == every.n
    assert dev.n_agreed + held_out.n_agreed == every.n_agreed
    assert (every.precision, every.recall) == refusal_by_hand()


def refusal_by_hand():
    said = [r["label"] for r in labelled_outcomes() if outcome_of(r["text"]) == "refused"]
    there = [outcome_of(r["text"]) for r in labelled_outcomes() if r["label"] == "refused"]
    return said.count("refused") / len(said), there.count("refused") / len(there)


@pytest.mark.parametrize(
    ("text", "finish_reason", "outcome"),
    [
        ("Maria smiled.", "content_filter", "refused"),
        ("", "content_filter", "refused"),
        ("", "refusal", "refused"),
        ("", "length", "empty"),
        (None, None, "empty"),
        ("Maria smi", "length", "ok"),
        ("Maria smiled.", "stop", "ok"),
        ("I can't help with that.", "stop", "refused"),
        ("1", None, "ok"),
        ("\u200b — …", None, "empty"),
    ],
)
def test_the_finish_reason_comes_first(text, finish_reason, outcome):
    assert outcome_of(text, finish_reason) == outcome


@pytest.mark.parametrize(
    "piece", ["i can't write a ", "\"i can't ", "'a", "*i can't", "here is x: ", "\n—", "as an ai "]
)
def test_time_grows_no_faster_than_the_text(piece):
    def seconds(text):
        return min(_timed(text) for _ in range(3))

    short, long = seconds(piece * 2_000), seconds(piece * 32_000)
    assert long < 40 * short + 0.05


def _timed(text):
    start = time.process_time()
    outcome_of(text)
    return time.process_time() - start
