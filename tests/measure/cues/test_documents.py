"""Documents: words of a text, what is masked, and errors of a file."""

import pytest

from portrayal.errors import DataError, OptionError
from portrayal.measure.cues import count_words, read_documents
from portrayal.measure.cues.documents import words_of

ROWS = [
    {
        "text": "Maria Lopez, a Black woman, loves her café's re-opening. She sings.",
        "g": "F",
        "name": "Maria",
    },
    {
        "text": "Dr. Smith met Maria. The smithy smiled; SINGS sings sings!",
        "g": "F",
        "name": "Maria",
    },
    {
        "text": "Jae-Hyun’s father sings. Jae likes men's hats and hats.",
        "g": "M",
        "name": "Jae-Hyun",
    },
    {"text": "I'm sorry, but I can't write that story.", "g": "M", "name": "Jae-Hyun"},
]


def test_words_are_folded_and_keep_their_inner_marks() -> None:
    assert words_of("Ebony’s RE‑opening, don't! x2 naïve") == [
        "ebony",
        "re-opening",
        "don't",
        "x",
        "naïve",
    ]


def test_names_and_group_words_are_masked_and_counted() -> None:
    documents = read_documents(ROWS, ["g"])
    assert documents.exclusions == {"refused": 1}
    assert len(documents.texts) == 3
    counts = count_words(documents, min_count=1, min_texts=1)
    assert {"maria", "lopez", "black", "woman", "her", "she", "jae-hyun", "jae", "smith"} <= set(
        counts.masked
    )
    assert {"sings", "loves", "café", "re-opening", "smithy", "hats"} <= set(counts.words)
    assert not set(counts.words) & set(counts.masked)
    assert counts.matrix[:, counts.words.index("sings")].toarray().ravel().tolist() == [1, 3, 1]


def test_unmasked_every_word_is_counted() -> None:
    documents = read_documents(ROWS, ["g"])
    plain = count_words(documents, min_count=1, min_texts=1, masking=False)
    assert {"maria", "she", "black", "woman"} <= set(plain.words)
    assert not plain.masked


def test_rare_words_are_left_out() -> None:
    documents = read_documents(ROWS, ["g"])
    assert count_words(documents, min_count=5, min_texts=3).words == ("sings",)
    assert "hats" not in count_words(documents, min_count=2, min_texts=2).words
    with pytest.raises(DataError, match="--min-count"):
        count_words(documents, min_count=50)


def test_a_label_of_a_group_is_masked() -> None:
    rows = [{"text": "Martians and martian songs.", "planet": "Martian"}] * 2
    counts = count_words(read_documents(rows, ["planet"]), min_count=1, min_texts=1)
    assert "martian" in counts.masked


def test_clusters_are_the_prompt_or_who_is_named() -> None:
    rows = [{**row, "prompt": "p", "z": str(i)} for i, row in enumerate(ROWS)]
    assert set(read_documents(rows, ["g"]).cluster) == {0}
    assert read_documents(rows, ["g"]).clustered_by == "prompt"
    assert len(set(read_documents(rows, ["g"], cluster="z").cluster)) == 3
    plain = read_documents(ROWS, ["g"])
    assert (plain.clustered_by, len(set(plain.cluster))) == ("name", 2)


def test_errors_say_what_is_missing() -> None:
    with pytest.raises(DataError, match="no column 'h'; found text, g, name"):
        read_documents(ROWS, ["h"])
    with pytest.raises(OptionError, match="--by"):
        read_documents(ROWS, [])
    with pytest.raises(DataError, match="no text could be read"):
        read_documents(ROWS[3:], ["g"])


def test_names_are_masked_where_they_stand_as_names_alone():
    rows = [
        {"g": group, "text": f"Hi {name}! I hope you will like it. Take care, {name}."}
        for group, names in {"a": ("Jane", "Will"), "b": ("Carlos", "Hope")}.items()
        for name in names
    ]
    counts = count_words(read_documents(rows, ["g"]), min_count=1, min_texts=1)
    assert {"jane", "carlos"}.isdisjoint(counts.words)
    column = {word: counts.matrix[:, i].sum() for i, word in enumerate(counts.words)}
    assert (column["hope"], column["will"]) == (4, 4)
    assert counts.masked["will"] == counts.masked["jane"] == 2


def test_a_column_of_customers_gives_names():
    rows = [{"g": g, "customer_name": "Xqua", "text": "xqua asked."} for g in "ab"]
    counts = count_words(read_documents(rows, ["g"]), min_count=1, min_texts=1)
    assert counts.words == ("asked",)


def test_every_text_may_be_a_cluster():
    rows = [{"g": g, "prompt": g, "text": f"It is {g}."} for g in "abab"]
    assert read_documents(rows, ["g"]).clustered_by == "prompt"
    alone = read_documents(rows, ["g"], cluster="text")
    assert (alone.clustered_by, len(set(alone.cluster.tolist()))) == ("text", 4)
