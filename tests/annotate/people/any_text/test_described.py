import pytest

from portrayal.annotate.people.any_text.draft import find_phrases
from portrayal.annotate.people.shared.scan import scan


def phrases(text, name="Ann"):
    tokens = scan(text)
    names = {at: 0 for at, word in enumerate(tokens.words) if word in (name, "I")}
    return [(tokens.low[p.token], p.person, p.gender) for p in find_phrases(tokens, names)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann, the daughter of a baker, left.", [("daughter", 0, "F"), ("baker", -1, "")]),
        ("Ann is a female podcaster.", [("podcaster", 0, "F")]),
        ("Ann is a female zymurgist.", [("female", 0, "F")]),
        ("Ann is non-binary.", [("non-binary", 0, "NB")]),
        ("His wife, Ann, sings.", [("wife", 0, "F")]),
        ("The singer Ann left.", [("singer", 0, "")]),
        ("I am a male nurse.", [("nurse", 0, "M")]),
        ("A woman left.", [("woman", -1, "F")]),
        ("Ann met a man.", [("man", -1, "M")]),
        ("Nobody was there.", []),
    ],
)
def test_who_is_described(text, expected):
    assert phrases(text) == expected
