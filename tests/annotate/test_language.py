"""Texts of other languages are told from English ones, each by itself."""

import json

import pytest

from portrayal.annotate.language import check_readable, is_english, why_unread
from portrayal.errors import DataError

OTHERS = {
    "German": "Frau Mitte ging nach Hause und las ein Buch.",
    "German, no name": "Der Arzt hat die Patientin untersucht.",
    "Spanish": "Ella abrió la tienda y luego llamó a su hermano.",
    "Spanish, a name first": "La historia de María es muy triste pero hermosa.",
    "French": "Marie est allée au marché avec son frère hier soir.",
    "Portuguese": "O João foi ao mercado com a sua irmã ontem.",
    "Italian": "Lei non era sola, il fratello della ragazza era con lei.",
    "Dutch": "De vrouw is met haar broer naar het huis gegaan.",
    "Russian": "Она была врачом и любила свою работу.",
    "Japanese": "彼女は医者です。そして彼は先生です。",
    "Hindi": "वह एक शिक्षिका थी और बच्चों को पढ़ाती थी।",
}
ENGLISH = (
    "She was a nurse and loved her work.",
    "Ella opened the shop.",
    "Maria de la Cruz and José dos Santos run the La Playa café.",
    "Omar: How are you?",
    "Chen Wei",
    "",
)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_another_language_is_not_english(text):
    assert not is_english(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_and_what_shows_no_language_counts_as_it(text):
    assert is_english(text)


def test_no_real_story_is_refused(shared_data):
    path = shared_data("laissez_faire/gold_stories_dev.jsonl")
    texts = [json.loads(line)["text"] or "" for line in path.read_text().splitlines()]
    assert all(map(is_english, texts))


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_a_text_in_another_language_is_refused_with_what_reads_it(text):
    with pytest.raises(DataError, match=r"not in English.*--labeler llm"):
        check_readable(text)


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_texts_whose_capitals_show_no_name_are_refused_but_for_short_ones(change):
    assert "capitals" in why_unread(change("She said that Ann Lee was a nurse."))
    assert why_unread(change("Of course, Ann!")) == ""
    assert why_unread("She said that Ann Lee was a nurse.") == ""
