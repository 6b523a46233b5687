"""Lemmas: what counts as one word."""

import pytest

from portrayal.annotate.topics.model import forms, lemmas_of
from support import needs

needs("lemminflect")


def test_forms_are_words_and_clitics() -> None:
    assert forms("China’s 2nd plan, isn't it?") == ["china", "'s", "2nd", "plan", "isn", "'t", "it"]


@pytest.mark.parametrize(
    ("written", "lemma"),
    [
        ("running", "run"),
        ("Women", "woman"),
        ("said", "say"),
        ("number", "number"),
        ("'s", "'s"),
        ("2nd", "2nd"),
        ("the", "the"),
        ("zxqv", "zxqv"),
    ],
)
def test_lemmas(written: str, lemma: str) -> None:
    assert lemmas_of(written) == [lemma]
