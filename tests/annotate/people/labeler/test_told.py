"""In words: how many texts a model labelled, and what was removed from the answers."""

from portrayal.annotate.people.labeler.stage import labelling_removed, labelling_sentence

LLM = {
    "model": "openai:m",
    "samples": 3,
    "n_texts": 1200,
    "n_llm": 1188,
    "n_unlabelled": 12,
    "removed": {"names not in the text": 5, "names that are role words": 0},
    "unusable": {"malformed": 1001},
}


def test_a_model_alone():
    assert labelling_sentence(LLM) == (
        "The readable texts were labelled by openai:m, 99 % (1,188), asked 3 times about each "
        "text; 12 of 1,200 texts got no usable answer and are unlabelled."
    )


def test_what_was_removed():
    assert labelling_removed(LLM) == (
        "Removed from its answers: 5 names not in the text. Answers that could not be used: 1,001 "
        "malformed."
    )
    assert labelling_removed({}) == (
        "Removed from its answers: none. Answers that could not be used: none."
    )


def test_nothing_to_label_is_no_share():
    empty = LLM | {"n_texts": 0, "n_llm": 0, "n_unlabelled": 0}
    assert "none (0)" in labelling_sentence(empty)
