"""Every annotator refuses a text in a language it does not read, and counts it with a remedy."""

import math
from typing import Any

import pyarrow.parquet as pq
import pytest

from portrayal import registry
from portrayal.annotate import Annotator, annotate_run
from portrayal.annotate.agency.rows import agency_settings
from portrayal.annotate.annotator import unread_words
from portrayal.annotate.group_words import group_word_settings
from portrayal.annotate.groups import group_settings
from portrayal.annotate.scores import score_settings
from portrayal.annotate.sentiment import sentiment_settings
from portrayal.collect import import_texts
from portrayal.run import Run

ENGLISH = "Maria is a Muslim woman. She led her team, and it was a wonderful year for all of them."
OTHERS = {
    "es": "María es una mujer musulmana. Dirigió a su equipo y fue un año maravilloso para todas.",
    "de": "Maria ist eine muslimische Frau. Sie leitete ihr Team, und es war ein wunderbares Jahr.",
    "fr": "Marie est une femme musulmane. Elle dirigeait son équipe et ce fut une belle année.",
    "pt": "Maria é uma mulher muçulmana. Ela dirigiu a sua equipe e foi um ano maravilhoso.",
    "hi": "मारिया एक मुस्लिम महिला है। उसने अपनी टीम का नेतृत्व किया और साल बहुत अच्छा रहा।",
    "zh": "玛丽亚是一位穆斯林妇女。她带领自己的团队，度过了美好的一年。",
    "tr": "Meryem Müslüman bir kadındır. Ekibini yönetti ve herkes için harika bir yıl oldu.",
}
CODES = ("en", *OTHERS)
WORDS = 'attribute = "faith"\n[groups]\nmuslim = ["musulmana"]\nother = ["budista"]\n'
FAITH = (
    'name = "faith"\nlabel = "Faith"\nnote = "Words."\n[groups.muslim]\n[groups.other]\n'
    "[[sources]]\n"
    'kind = "words"\nwords = { muslim = ["musulmana"], other = ["budista"] }\n'
)
SCORES = {"sentiment": "vader", "classifier": "linear", "locale": "en-US"}
SETTINGS: dict[str, dict[str, Any]] = {
    "agency.v1": agency_settings("linear"),
    "agency-unmasked.v1": agency_settings("lexicon"),
    "everyone.v8": {"unnamed": True},
    "group_words.v2": group_word_settings(),
    "groups.v3": group_settings(["religion"]),
    "people.v8": {},
    "sentiment.v1": sentiment_settings("vader"),
    "text_scores.v2": score_settings(
        ("length", "sentiment", "readability"), lexicons=("themes",), **SCORES
    ),
}
"""Settings of every annotator that reads English alone, but of the one that takes 400 MB."""
COLUMN = {"agency": "agentic", "agency-unmasked": "agentic", "everyone": "people"}
COLUMN |= {"group_words": "counts", "sentiment": "polarity"}
COLUMN |= {"people": "subject_gender"}


def rows_of(tmp_path: Any, name: str, settings: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The stage of an annotator over a text in each language, and its rows by language."""
    texts = [
        {"prompt_id": "learning-neutral-arts", "text": text} for text in (ENGLISH, *OTHERS.values())
    ]
    run, study = Run(tmp_path / "r"), registry.get("studies", "laissez-faire")
    import_texts(run, texts, study.fields, study.prompts())
    stage = annotate_run(run, name, settings=settings)
    rows = [row for part in stage.parts() for row in pq.read_table(part).to_pylist()]
    return stage, dict(zip(CODES, rows, strict=True))


def test_every_annotator_that_reads_english_is_tried() -> None:
    found = {
        name
        for name in registry.names("annotators")
        if registry.component("annotators", name).other_languages
    }
    assert found == {*SETTINGS, "toxicity.v1"}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_text_of_another_language_is_refused_and_counted(name: str, tmp_path: Any) -> None:
    stage, rows = rows_of(tmp_path, name, SETTINGS[name])
    annotator: Annotator = registry.get("annotators", name)
    reason = f"not in English: {annotator.other_languages}"
    assert rows["en"]["error"] is None
    assert rows["en"].get("unread") is None
    assert unread_words(stage.note()) == f"7 not read in full (7: {reason})"
    for code in OTHERS:
        if annotator.in_part:
            assert (rows[code]["error"], rows[code]["unread"]) == (None, reason)
            continue
        assert rows[code]["error"] == f"DataError: {reason}"
        # Nothing is said of it: no empty list, no 0
        columns = rows[code].keys() - {"text_id", "error"}
        assert all(rows[code][column] is None for column in columns)
    if not annotator.in_part:
        assert rows["en"][COLUMN[name.rpartition(".")[0]]] is not None


def test_words_that_ship_are_unread_where_words_of_ones_own_are_read(tmp_path: Any) -> None:
    own = tmp_path / "faith.toml"
    own.write_text(FAITH, encoding="utf-8")
    stage, rows = rows_of(tmp_path, "groups.v3", group_settings(["religion", str(own)]))
    shipped, of_own = rows["es"]["said"].split("|")[0], rows["es"]["said"].split("|")[-1]
    assert (shipped, of_own) == ("unread=not in English:", "group:0")
    assert rows["en"]["said"].startswith("group:")
    assert rows["tr"]["said"].endswith("|none:")
    assert stage.note()["n_errors"] == len(OTHERS)
    # With words of one's own alone nothing is left out
    annotator = registry.component("annotators", "groups.v3")
    assert annotator.why_unread(OTHERS["es"], group_settings([str(own)])) == ""


def test_scores_of_english_words_are_undefined_and_length_is_not(tmp_path: Any) -> None:
    _, rows = rows_of(tmp_path, "text_scores.v2", SETTINGS["text_scores.v2"])
    assert not any(map(math.isnan, rows["en"]["masked"]))
    for code in OTHERS:
        length, *others = rows[code]["masked"]
        assert length > 0
        assert all(map(math.isnan, others))


def test_what_is_of_ones_own_reads_any_language(tmp_path: Any) -> None:
    words = tmp_path / "palabras.toml"
    words.write_text(WORDS, encoding="utf-8")
    settings = {
        "agency-unmasked.v1": {"classifier": "llm:server:m"},
        "group_words.v2": group_word_settings([str(words)]),
        "sentiment.v1": {"engine": "sentido"},
        "toxicity.v1": {"model": "multilingual"},
    }
    for name, of_own in settings.items():
        annotator = registry.component("annotators", name)
        assert annotator.why_unread(OTHERS["es"], of_own) == ""
        assert annotator.why_unread(OTHERS["es"], SETTINGS.get(name, {}))
    # Masking knows English words, whoever reads the sentences
    masked = registry.component("annotators", "agency.v1")
    assert "--unmasked" in masked.why_unread(OTHERS["es"], {"classifier": "llm:server:m"})
