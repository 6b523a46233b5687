"""Sentences: what ends one and what does not, and the contract of the offsets."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.sentences import sentences

PIECES = st.lists(
    st.sampled_from(
        [
            *("Dr.", "U.S.", "Ann", "said", "…", "...", "?!", '"', "”", "(a.)", "\n", "\n\n", " "),
            *("3.5", "1.", "- ", "😀", "❤️", "。", "e.g.", "No.", "J.", "•", "\t", "\u2028", "*"),
        ]
    )
)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["Mr. Hill met Dr. Ann Lee in Washington, D.C. on Jan. 5.", "He left."],
        ["She left the U.S. Senate.", "The rest stayed in the U.S.", "They did."],
        ["J. K. Hall and George W. Hill ran.", "Both won."],
        ["It cost 3.5 million at www.example.org today.", "Yes!"],
        ["At 5 p.m. Monday he came.", "He left at 6 p.m.", "Ann stayed."],
        ["Plan B.", "The end."],
        ["No.", "I won't.", "No. 5 lives."],
        ["Acme Inc. grew.", "It sold to Acme Inc.", "The end."],
        ['"Stop!" he said.', '"I won!" Merkel said.', '"I was sad.', 'I cried."', "He left."],
        ["Well... maybe.", "Really…", "What?!", "Yes (a lot.)", "Fine."],
        ["I love it 😀", "Then we left! 🎉", "Good."],
        ["日本語。", "テスト！", "はい"],
        ["iPhones sold.", "iPods too."],
    ],
)
def test_what_ends_a_sentence(parts: list[str]) -> None:
    assert split(" ".join(parts)) == parts


def test_lines_and_lists() -> None:
    text = (
        "Title Without Stop\n\nThis is hard\nwrapped text. Yes\r\n"
        "1. One. Two\n2. Three\n• Four\n***"
    )
    assert split(text) == [
        "Title Without Stop",
        "This is hard\nwrapped text.",
        "Yes",
        "1. One.",
        "Two",
        "2. Three",
        "• Four\n***",
    ]


def test_texts_without_words() -> None:
    assert sentences("") == sentences(" \n\t") == []
    assert split(" !!! \n ... ") == ["!!! \n ..."]


@given(st.one_of(st.text(), PIECES.map("".join), PIECES.map(" ".join)))
def test_spans_cover_all_but_white_space_in_order(text: str) -> None:
    spans = sentences(text)
    behind = 0
    for start, end in spans:
        assert behind <= start < end
        assert not text[behind:start].strip()
        assert text[start:end] == text[start:end].strip()
        behind = end
    assert not text[behind:].strip()
    if any(letter.isalnum() for letter in text):
        assert all(any(c.isalnum() or c == "_" for c in text[a:b]) for a, b in spans)


@pytest.mark.parametrize("piece", [".", ". ", "\n", " ", "a. ", '"', ".)", "😀 ", "…x", "A.", " ."])
def test_time_is_linear(piece: str) -> None:
    def seconds(n: int) -> float:
        text = piece * n
        start = time.process_time()
        sentences(text)
        return time.process_time() - start

    assert min(seconds(40_000) for _ in range(2)) < 1.0
