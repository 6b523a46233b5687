"""The page of marked words: what is in it, and that other people's text stays text."""

import re

from portrayal.coding import count_words, marked_words, read_documents
from portrayal.measure import Scope
from portrayal.report.passages import words_page

HOSTILE = '<script>alert(1)</script> <img src=x onerror=alert(2)> \u202eevil & "quoted"'


def page(rows, **options):
    documents = read_documents(rows, ["g"])
    counts = count_words(documents, min_count=2, min_texts=2)
    scope = Scope("words", permutations=20)
    return words_page(marked_words(documents, counts, scope), documents, counts, scope, **options)


def rows(label="A"):
    return [
        {"text": f"{HOSTILE} kettle {i} kettle" if i % 2 else f"spoon and fork {i}", "g": g}
        for i, g in ((i, label if i % 2 else "B") for i in range(20))
    ]


def test_words_have_passages_and_figures() -> None:
    html = page(rows())
    assert "<h2>A, against the rest</h2>" in html
    assert html.count("<mark>kettle</mark>") == 3
    assert "20 texts" in html
    assert "(seed 0)" in html


def test_nothing_in_the_page_runs_or_loads() -> None:
    html = page(rows("<b onclick=x>"))
    assert "<script" not in html
    assert "<img" not in html
    assert "<b onclick" not in html
    assert "&lt;script&gt;" in html
    assert "default-src 'none'" in html
    assert not re.search(r"\b(?:src|href)=", re.sub(r"<blockquote.*?</blockquote>", "", html))


def test_passages_can_be_left_out() -> None:
    html = page(rows(), passages=False)
    assert "<blockquote" not in html
    assert "kettle" in html
