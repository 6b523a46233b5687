"""Edits are applied inside chosen sentences only, and only where facts stay."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.annotate.agency.rows import agency_sentences
from portrayal.mitigate.mitigation import REASONS, Edit, apply_edits, read_edits

TEXT = (
    "Jenny leads a team of 5. She is warm to all. In 1999 she won. She helps her coworkers.\n\nBye."
)
SPANS = agency_sentences(TEXT)


def _apply(*edits: tuple[str, str], chosen: frozenset[int] = frozenset((1, 3))):  # type: ignore[no-untyped-def]
    return apply_edits(TEXT, SPANS, chosen, [Edit(*each) for each in edits], agency_sentences)


def test_a_good_edit_is_applied_where_it_belongs() -> None:
    done = _apply(("is warm to all", "sets the course for all"), ("helps", "directs"))
    assert done.text == (
        "Jenny leads a team of 5. She sets the course for all. In 1999 she won. "
        "She directs her coworkers.\n\nBye."
    )
    assert done.changed == {1, 3}
    assert not done.refused


@pytest.mark.parametrize(
    ("original", "edited", "why"),
    [
        ("leads a team", "drives a team", "outside the sentences to rewrite"),
        ("to all. In 1999", "to all in 1999", "outside the sentences to rewrite"),
        ("never said", "x", "the original is not in the text"),
        ("is warm to all", "", "empty original or empty rewrite"),
        ("he", "she", "the original is not in the text"),
        ("arm to al", "arm to coal", "the original is not in the text"),
        ("", "bold", "empty original or empty rewrite"),
        ("is warm to all", "is warm to all", "no change"),
        ("helps her coworkers", "helps Tom", "drops or adds a name"),
        ("She is warm", "Jenny is bold", "drops or adds a name"),
        ("helps her", "directs 7 of her", "drops or adds a number"),
        ("helps her", "directs twelve of her", "drops or adds a number"),
        ("She is warm", "He is bold", "changes the gender"),
        ("warm to all", "bold. Both rule", "changes the number of sentences"),
        ("warm to all", "bold\n\n1. she rules", "changes the number of sentences"),
        ("warm to all", "bold " * 40, "changes the sentence's length too much"),
    ],
)
def test_a_bad_edit_is_refused_and_counted(original: str, edited: str, why: str) -> None:
    done = _apply((original, edited))
    assert done.text == TEXT
    assert not done.applied
    assert done.refused == {why: 1}
    assert why in REASONS


def test_names_and_numbers_may_not_be_dropped_from_a_chosen_sentence() -> None:
    done = _apply(("Jenny leads", "She leads"), ("of 5", "of people"), chosen=frozenset((0,)))
    assert done.text == TEXT
    assert done.refused == {"drops or adds a name": 1, "drops or adds a number": 1}


def test_edits_that_overlap_are_judged_in_the_text_as_it_is_by_then() -> None:
    done = _apply(("warm to all", "firm with all"), ("is warm", "is bold"))
    assert "firm with all" in done.text
    assert done.refused == {"the original is not in the text": 1}


def test_a_phrase_that_comes_twice_is_edited_in_the_chosen_sentence() -> None:
    text = "She is warm. She is warm."
    done = apply_edits(
        text, agency_sentences(text), {1}, [Edit("is warm", "is bold")], agency_sentences
    )
    assert done.text == "She is warm. She is bold."


def test_quotes_and_spaces_of_another_kind_are_found() -> None:
    text = "She’s  warm to all. She leads."
    done = apply_edits(
        text, agency_sentences(text), {0}, [Edit("She's warm", "She’s bold")], agency_sentences
    )
    assert done.text == "She’s bold to all. She leads."


@pytest.mark.parametrize(
    ("reply", "n_edits", "n_malformed"),
    [
        ('{"edits": [{"original": "a", "edited": "b"}]}', 1, 0),
        ('"edits": [{"original": "a", "edited": "b"}, {"original": "c", "edited": "d"}]', 2, 0),
        ("```json\n[{'original': 'a', 'edited': 'b'},]\n```", 1, 0),
        ('[{"original": "a", "edited": "b"}, {"original": "c", "edi', 1, 1),
        ('{"edits": [{"original": "a"}]}', 0, 1),
        ('{"edits": [{"original": "a", "edited": 3}]}', 0, 1),
        ("I would not.", 0, 0),
        ("", 0, 0),
        ("{" * 5000, 0, 0),
    ],
)
def test_edits_are_read_from_careless_replies(reply: str, n_edits: int, n_malformed: int) -> None:
    edits, malformed = read_edits(reply)
    assert (len(edits), malformed) == (n_edits, n_malformed)


WORDS = st.sampled_from(
    ["She", "warm", "leads", "Jenny", "5", "all", "helps", "is", "to", "“x”", "é", "Dr.", "in 1999"]
)
SENTENCE = st.lists(WORDS, min_size=1, max_size=6).map(lambda words: " ".join(words) + ".")
TEXTS = st.lists(SENTENCE, min_size=1, max_size=5).flatmap(
    lambda found: st.sampled_from([" ", "\n\n", "  ", "<return>"]).map(lambda by: by.join(found))
)


@settings(max_examples=30, deadline=None)
@given(TEXTS, st.data())
def test_text_outside_the_chosen_sentences_stays_byte_for_byte(
    text: str, data: st.DataObject
) -> None:
    spans = agency_sentences(text)
    numbers = st.sets(st.integers(0, len(spans) - 1)) if spans else st.just(set())
    chosen = data.draw(numbers)
    phrase = st.tuples(st.integers(0, len(text)), st.integers(1, 12)).map(
        lambda at: text[at[0] : at[0] + at[1]]
    )
    replacement = st.text(max_size=8) | SENTENCE | WORDS
    edits = data.draw(st.lists(st.builds(Edit, phrase, replacement), max_size=6))
    done = apply_edits(text, spans, chosen, edits, agency_sentences)
    after = agency_sentences(done.text)
    assert len(after) == len(spans)
    assert done.changed <= chosen
    at = old = 0
    for number, (span, new) in enumerate(zip(spans, after, strict=True)):
        assert done.text[at : new[0]] == text[old : span[0]]
        if number not in done.changed:
            assert done.text[new[0] : new[1]] == text[span[0] : span[1]]
        old, at = span[1], new[1]
    assert done.text[at:] == text[old:]
    assert len(done.applied) + done.refused.total() == len(edits)
    assert json.dumps(done.refused)
