"""Texts of other languages are told from English ones, each by itself."""

import json
import tomllib
from pathlib import Path

import pytest

from portrayal.annotate.language import is_english
from portrayal.annotate.people.any_text.everyone import EVERYONE
from portrayal.annotate.sentences import sentences
from portrayal.annotate.sentiment import SENTIMENT

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
    assert EVERYONE.why_unread(text) == f"not in English: {EVERYONE.other_languages}"


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_texts_whose_capitals_show_no_name_are_refused_but_for_short_ones(change):
    text = "She said that Ann Lee was a nurse."
    assert "capitals" in EVERYONE.why_unread(change(text))
    assert EVERYONE.why_unread(change("Of course, Ann!")) == ""
    assert EVERYONE.why_unread(text) == SENTIMENT.why_unread(change(text)) == ""


def sentences_of(part):
    """(language, sentence) of the sentences written for this, of 8 words or more."""
    blocks = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))[part]
    for language, block in blocks.items():
        for sentence in block.strip().splitlines():
            if len(sentence.split()) >= 8 or language in ("zh", "ja"):
                yield language, sentence


@pytest.mark.parametrize("part", ["development", "held_out"])
def test_hardly_a_sentence_of_eight_words_is_taken_for_another_language(part):
    rows = [(language, is_english(text)) for language, text in sentences_of(part)]
    missed = [english for language, english in rows if language != "en"]
    refused = [not english for language, english in rows if language == "en"]
    assert len(missed) >= 40
    assert sum(missed) <= 0.02 * len(missed)
    # English ones are full of names of other languages, far beyond what texts have
    assert sum(refused) <= 0.06 * len(refused)


def test_sentences_of_real_stories_are_hardly_ever_refused(shared_data):
    path = shared_data("laissez_faire/gold_stories_dev.jsonl")
    texts = [json.loads(line)["text"] or "" for line in path.read_text().splitlines()[::10]]
    pieces = [text[a:b] for text in texts for a, b in sentences(text)]
    long = [piece for piece in pieces if len(piece.split()) >= 8]
    refused = [piece for piece in long if not is_english(piece)]
    assert len(refused) <= 0.001 * len(long)
