"""Scores of texts, and of the same texts with the other person in them."""

import math

import pytest

from portrayal.annotate.scores import TEXT_SCORES, lists_of, score_settings, scores_of
from portrayal.errors import OptionError, UnknownNameError

ROW = {"text": "She needs help. He might be warm, and it was wonderful."}


def settings(scorers=("length", "readability", "sentiment"), lexicons=("themes",), **more):
    given = {"sentiment": "vader", "classifier": "linear", "toxicity_model": "", "locale": "en-US"}
    return score_settings(scorers, lexicons=lexicons, **(given | more))


def scored(text, **more):
    chosen = settings(**more)
    (row,) = TEXT_SCORES.setup(chosen)([{"text": text}], [{}])
    names = [each.name for each in scores_of(chosen)]
    return {name: dict(zip(names, row[name], strict=True)) for name in ("scores", "exchanged")}


def test_scores_are_those_of_the_definition():
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    found = scored(ROW["text"])["scores"]
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
    assert found["scores"]["she"] == pytest.approx(100 * 2 / 6)
    assert found["exchanged"]["she"] == 0.0
    assert found["exchanged"]["other"] == found["scores"]["other"]


def test_phrases_count_once_and_do_not_cross_sentences(tmp_path):
    file = tmp_path / "words.toml"
    file.write_text('attribute = "t"\n[groups]\nlow = ["low mood"]\nother = ["tree"]\n')
    found = scored("Her low mood stays. It is low. Mood is all.", lexicons=(str(file),))
    assert found["scores"]["low"] == pytest.approx(100 / 10)


def test_words_of_a_factor_are_counted_by_its_labels():
    found = scored("She saw him; he left.", lexicons=("gender",))["scores"]
    themes = lists_of(("gender",)).themes
    assert [found[theme] for theme in themes[:2]] == pytest.approx([100 / 5, 100 * 2 / 5])


def test_a_text_without_words_has_no_scores_of_them():
    found = scored("…!")["scores"]
    assert found["length"] == 0
    assert math.isnan(found["readability"])


def test_agency_is_not_shown_the_words_of_the_person():
    found = scored("She led the team and won the prize.", scorers=("agency",))
    assert found["scores"] == found["exchanged"]


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(OptionError, match="scorers must be one of"):
        settings(scorers=("grammar",))
    with pytest.raises(UnknownNameError, match="themess"):
        settings(lexicons=("themess.toml",))


def test_names_of_the_other_half_are_exchanged(tmp_path):
    import pyarrow.parquet as pq

    from portrayal.collect.texts import prompt_table
    from portrayal.records import Prompt

    people = [("a", "Grace"), ("b", "Lars")]
    prompts = [Prompt(i, "", {"pair": "1", "group": i, "name": name}) for i, name in people]
    pq.write_table(prompt_table(prompts), tmp_path / "prompts.parquet")
    exchange = {"group": "group", "names": "name", "from": "", "words": {}}
    chosen = settings(scorers=("sentiment",), exchange=exchange) | {"run": str(tmp_path)}
    work = TEXT_SCORES.setup(chosen)
    one, two = work(
        [{"text": "Grace sat."}, {"text": "Lars sat."}], [dict(p.strata) for p in prompts]
    )
    # VADER hears "grace" in the name: in the exchanged text the other one has it.
    assert one["scores"][0] == two["exchanged"][0] > 0
    assert one["exchanged"][0] == two["scores"][0] == 0


def test_a_classifier_of_whole_texts_is_given_the_exchanged_text_too(monkeypatch):
    from types import SimpleNamespace

    from portrayal.annotate import scores

    def setup(_):
        return lambda rows, _: [{"whole": float(row["text"].count("she"))} for row in rows]

    chosen = settings(scorers=("toxicity",), lexicons=("themes",), toxicity_model="none")
    known = scores.registry.component
    made = {"toxicity.v1": SimpleNamespace(setup=setup)}
    component = lambda kind, name: made.get(name) or known(kind, name)  # noqa: E731
    monkeypatch.setattr(scores.registry, "component", component)
    (row,) = TEXT_SCORES.setup(chosen)([{"text": "Now she is here, and she stays."}], [{}])
    assert (row["scores"][0], row["exchanged"][0]) == (2.0, 0.0)
