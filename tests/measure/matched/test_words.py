"""Words that nobody asked for: proposed on half of the sources, tested on the other half."""

import sys
import zlib

import numpy as np
import pytest

import portrayal
from matched_pairs import pairs
from portrayal.errors import DataError
from portrayal.measure.matched.words import features, words_of
from portrayal.studies.pairs import PairOptions


def planted(share, seed=2, n=60):
    rng = np.random.default_rng(seed)
    rows = pairs(n_sources=n, per_source=2, seed=seed)
    for row in rows:
        row["text"] = row["text"].replace(" She needs care.", "").replace(" He needs care.", "")
        if row["gender"] == "male" and rng.random() < share:
            row["text"] += " It was done with great vigour."
    return rows


def words(run):
    return [e for e in run.records if e.measure.startswith("pair_words") and e.tests]


def test_a_phrase_of_one_half_is_found(audited):
    found = [e for e in words(audited(planted(0.4))) if e.tests[0].audit_q < 0.05]
    assert found
    said = {"it", "was", "done", "do", "with", "great", "vigour"}
    topics = [e for e in found if e.strata["kind"] == "topic"]
    words_alone = [e for e in found if e not in topics]
    assert words_alone
    assert all(set(e.strata["word"].split()) <= said for e in words_alone)
    assert all(said & set(e.strata["word"].split(", ")) for e in topics)
    assert all(e.value < 0 for e in words_alone)


POOLS = {
    "garden": [f"{a}{b}" for a in ("rose", "soil", "seed", "leaf") for b in ("bud", "bed", "pot")],
    "office": [f"{a}{b}" for a in ("desk", "file", "form", "mail") for b in ("box", "set", "pad")],
    "music": [f"{a}{b}" for a in ("song", "drum", "horn", "tune") for b in ("book", "man", "ful")],
}


def about_gardens():
    """Each half has eight nouns of many; those about men are of gardens in two fifths."""
    rng = np.random.default_rng(5)
    rows = pairs(n_sources=160, per_source=1, seed=7)
    for i, row in enumerate(rows):
        of = str(rng.choice(["office", "music"]))
        if row["gender"] == "male" and rng.random() < 0.4:
            of = "garden"
        row["text"] = " ".join(rng.choice(POOLS[of], 8)) + "."
        row |= {"text_id": f"t{i}", "of": of}
    return rows


def labelled(path, rows, word):
    """Labels by which some texts about women are of gardens as well, in words of other topics."""
    said = [
        (row["text_id"], word if row["of"] == "garden" or i % 8 == 0 else "other")
        for i, row in enumerate(rows)
    ]
    lines = [f'{name},topic,"{label}",ann' for name, label in said]
    path.write_text("\n".join(["text_id,field,label,rater", *lines]), encoding="utf-8")
    return dict(said)


def test_topics_are_corrected_by_what_people_say_texts_are_about(audited, tmp_path):
    """With every text labelled the difference is that of the labels, of sources that test."""
    pytest.importorskip("gensim", reason="topics need gensim (extra 'news')")
    rows = about_gardens()
    given = [{k: v for k, v in row.items() if k != "of"} for row in rows]
    topics = [e for e in words(audited(given)) if e.strata["kind"] == "topic"]
    (first, *_) = sorted(topics, key=lambda e: e.tests[0].p)
    hand = tmp_path / "hand.csv"
    for word in (first.strata["word"], first.strata["word"].split(", ")[0]):
        said = labelled(hand, rows, word)
        found = audited(given, hand_labels=str(hand)).records
        (corrected,) = (e for e in found if "naive" in e.details and e.value is not None)
        testing = [row for row in rows if zlib.crc32(row["note"].encode()) % 2 == 1]
        share = {
            half: np.mean([said[r["text_id"]] == word for r in testing if r["gender"] == half])
            for half in ("female", "male")
        }
        assert corrected.value == pytest.approx(share["female"] - share["male"], abs=1e-9)
        assert corrected.details["naive"] == pytest.approx(first.value)
        assert corrected.interval.low < corrected.value < corrected.interval.high


def test_a_topic_that_no_text_has_is_refused(audited, tmp_path):
    pytest.importorskip("gensim", reason="topics need gensim (extra 'news')")
    rows = about_gardens()
    labelled(tmp_path / "hand.csv", rows, "rocketry")
    given = [{k: v for k, v in row.items() if k != "of"} for row in rows]
    with pytest.raises(DataError, match="no topic of these texts is 'rocketry'; their topics are"):
        audited(given, hand_labels=str(tmp_path / "hand.csv"))


def test_a_topic_of_one_half_is_found_though_its_words_are_many(audited):
    pytest.importorskip("gensim", reason="topics need gensim (extra 'news')")
    rows = [{k: v for k, v in row.items() if k != "of"} for row in about_gardens()]
    topics = [e for e in words(audited(rows)) if e.strata["kind"] == "topic"]
    (first, *_) = sorted(topics, key=lambda e: e.tests[0].p)
    assert first.tests[0].audit_q < 0.05
    assert first.value < 0
    assert {*first.strata["word"].split(", ")} <= {*POOLS["garden"]}


def test_topics_are_fitted_to_the_half_that_proposes_alone(audited, monkeypatch):
    """What only the texts that test say is of no topic."""
    pytest.importorskip("gensim", reason="topics need gensim (extra 'news')")
    from portrayal.measure.matched import words as measured

    fitted = []
    known = measured.fit_texts
    monkeypatch.setattr(
        measured, "fit_texts", lambda texts, *a, **k: fitted.extend(texts) or known(texts, *a, **k)
    )
    rows = pairs(n_sources=60, per_source=1, seed=3)
    for row in rows:
        side = zlib.crc32(row["note"].encode()) % 2
        row["text"] += f" It was a {('proposing', 'testing')[side]} day."
    audited(rows)
    assert fitted
    assert all("proposing" in text and "testing" not in text for text in fitted)


def test_nothing_is_found_where_nothing_was_planted(audited):
    assert not [e for e in words(audited(planted(0.0))) if e.tests[0].audit_q < 0.05]


def test_tests_rest_on_other_sources_than_proposals(audited):
    found = words(audited(planted(0.4)))
    (estimate, *_) = found
    assert 0 < estimate.n_clusters < 60
    # The value is the plain difference of shares among the sources that test.
    counts = estimate.details
    assert estimate.value == pytest.approx(
        (counts["with_first"] - counts["with_second"]) / estimate.n_units
    )


def test_sets_that_were_refused_whole_leave_the_others_as_they_are(audited):
    """What the sets behind a refused one say is not counted as of their neighbours."""
    rows = planted(0.4)
    refused = {f"n{source}" for source in range(8)}
    others = [row for row in rows if row["note"] not in refused]
    for row in rows:
        if row["note"] in refused:
            row["text"] = "I'm sorry, but I cannot help with that."
    found, expected = (
        {(e.strata["kind"], e.strata["word"]): e.value for e in words(audited(each))}
        for each in (rows, others)
    )
    assert expected
    assert found == pytest.approx(expected)


def test_words_of_the_persons_and_their_names_are_joined():
    neutral = {"she": "he/she", "he": "he/she"}
    woman, man = (
        features(words_of("She met Ann Lee.", neutral, [(8, 15)])),
        features(words_of("He met Bo.", neutral, [(7, 9)])),
    )
    assert woman == man
    assert "^ he/she met [name]" in woman


def test_halves_exchanged_by_coins_find_nothing_more_often_than_they_may(audited):
    """Half of the words differ within pairs; which half says them is a coin."""
    rng = np.random.default_rng(4)
    rows = pairs(n_sources=40, per_source=1, seed=9)
    for i in range(0, len(rows), 2):
        texts = [rows[i]["text"].replace("She", "It"), rows[i + 1]["text"].replace("He", "It")]
        texts[0] += " A tall clock rang."
        rng.shuffle(texts)
        rows[i]["text"], rows[i + 1]["text"] = texts
    run = audited(rows)
    assert not [e for e in run.records if e.tests and (e.tests[0].audit_q or 1.0) < 0.05]


def test_without_gensim_the_audit_says_that_topics_were_not_read(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)
    told: list[str] = []
    options = PairOptions(scorers=("length",))
    given = {"scorers": ("length",), "report": False, "say": told.append}
    portrayal.audit("pairs", texts=pairs(5), source="note", **given)
    assert 'left out: topics: needs gensim and lemminflect: pip install "portrayal[news]"' in told
    assert options.settings()["scorers"] == ["length"]
