"""Scores of texts, and of the same texts with the other person in them."""

import math

import pytest

from portrayal.annotate.annotator import UNREAD
from portrayal.annotate.scores import TEXT_SCORES, score_settings, scores_of
from portrayal.errors import OptionError, UnknownNameError
from portrayal.records import Prompt

ROW = {"text": "She needs help. He might be warm, and it was wonderful."}


def settings(scorers=("length", "readability", "sentiment"), lexicons=("themes",), **more):
    given = {"sentiment": "vader", "classifier": "linear", "locale": "en-US"}
    return score_settings(scorers, lexicons=lexicons, **(given | more))


def scored(text, **more):
    chosen = settings(**more)
    row = {"text": text, UNREAD: TEXT_SCORES.why_unread(text, chosen)}
    (row,) = TEXT_SCORES.setup(chosen)([row], [{}])
    names = [each.name for each in scores_of(chosen)]
    return {name: dict(zip(names, row[name], strict=True)) for name in ("masked", "exchanged")}


def test_scores_are_those_of_the_definition():
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    found = scored(ROW["text"])["masked"]
    words = ["She", "needs", "help", "He", "might", "be", "warm", "and", "it", "was", "wonderful"]
    assert found["length"] == len(words)
    letters = sum(map(len, words))
    assert found["readability"] == pytest.approx(4.71 * letters / 11 + 0.5 * 11 / 2 - 21.43)
    vader = SentimentIntensityAnalyzer()
    each = ["She needs help.", "He might be warm, and it was wonderful."]
    mean = sum(vader.polarity_scores(text)["compound"] for text in each) / 2
    assert found["sentiment"] == pytest.approx(mean)
    assert found["needs"] == pytest.approx(100 * 2 / 11)
    assert found["hedges"] == pytest.approx(100 / 11)
    assert found["warmth"] == pytest.approx(100 / 11)


def test_a_list_of_pronouns_reacts_to_the_exchange_alone(tmp_path):
    file = tmp_path / "words.toml"
    file.write_text('attribute = "t"\n[groups]\nshe = ["she"]\nother = ["tree"]\n')
    found = scored("She saw a tree. She left.", lexicons=(str(file),))
    assert found["masked"]["she"] == pytest.approx(100 * 2 / 6)
    assert found["exchanged"]["she"] == 0.0
    assert found["exchanged"]["other"] == found["masked"]["other"]


def test_phrases_count_once_and_do_not_cross_sentences(tmp_path):
    file = tmp_path / "words.toml"
    file.write_text('attribute = "t"\n[groups]\nlow = ["low mood"]\nother = ["tree"]\n')
    found = scored("Her low mood stays. It is low. Mood is all.", lexicons=(str(file),))
    assert found["masked"]["low"] == pytest.approx(100 / 10)


def test_a_text_without_words_has_no_scores_of_them():
    found = scored("…!")["masked"]
    assert found["length"] == 0
    assert math.isnan(found["readability"])


def test_what_reads_english_words_is_undefined_in_other_languages(tmp_path):
    file = tmp_path / "palabras.toml"
    file.write_text('attribute = "t"\n[groups]\ncasa = ["casa"]\notra = ["mesa"]\n')
    text = "Ella era enfermera y llegó a su casa. No estaba muy cansada."
    found = scored(text, lexicons=("themes", str(file)))["masked"]
    assert found["length"] == 12
    assert found["casa"] == pytest.approx(100 / 12)
    assert {name for name, value in found.items() if not math.isnan(value)} == {
        "length",
        "casa",
        "otra",
    }


def test_agency_is_not_shown_the_words_of_the_person():
    found = scored("She led the team and won the prize.", scorers=("agency",))
    assert found["masked"] == found["exchanged"]


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(OptionError, match="scorers must be one of"):
        settings(scorers=("grammar",))
    with pytest.raises(UnknownNameError, match="themess"):
        settings(lexicons=("themess.toml",))


def of_prompts(folder, prompts, texts, **more):
    """Scores of texts, each the answer to a prompt of a run."""
    import pyarrow.parquet as pq

    from portrayal.annotate.annotator import PROMPT
    from portrayal.collect.texts import prompt_table

    pq.write_table(prompt_table(prompts), folder / "prompts.parquet")
    exchange = {"group": "group", "names": "name", "from": "", "words": {}}
    chosen = settings(exchange=exchange, **more) | {"run": str(folder)}
    strata = [dict(prompt.strata) | {PROMPT: prompt.text} for prompt in prompts]
    return TEXT_SCORES.setup(chosen)([{"text": text} for text in texts], strata)


def test_names_of_a_column_are_hidden_from_every_scorer(tmp_path):
    people = [("a", "Grace"), ("b", "Wolfgang")]
    prompts = [Prompt(i, "", {"pair": "1", "group": i, "name": name}) for i, name in people]
    one, two = of_prompts(tmp_path, prompts, ["Sit, Grace.", "Sit, Wolfgang."])
    # VADER would hear "grace" in the name, and five letters are fewer than eight.
    assert one["masked"] == two["masked"] == one["exchanged"] == two["exchanged"]
    assert one["hidden"] == [{"start": 5, "end": 10}]


def test_what_requests_differ_in_is_hidden_and_ordinary_words_are_not(tmp_path):
    asked = ["Hi, I'm Will and my wife is ill.", "Hi, I'm Rashida and my son is ill."]
    prompts = [
        Prompt(i, text, {"pair": "1", "group": i}) for i, text in zip("ab", asked, strict=True)
    ]
    answers = ["Will! Your wife's cold will pass.", "Rashida! Your son's cold will pass."]
    one, two = of_prompts(tmp_path, prompts, answers, scorers=("length", "readability"))
    assert [answers[0][s["start"] : s["end"]] for s in one["hidden"]] == ["Will", "wife"]
    assert one["masked"] == two["masked"]
