"""Texts as pieces: nothing is lost, nothing takes effect."""

from hypothesis import given
from hypothesis import strategies as st

from portrayal.coding import ItemPerson
from portrayal.coding.server.pages import SIGNS, inert, pieces

TEXTS = st.text(st.sampled_from([*SIGNS, "a", "b", " ", "\n", "é", "\x00", "\u2028", "<"]))
SPANS = st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12)), max_size=4)


@given(TEXTS, SPANS)
def test_the_pieces_hold_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    found = pieces(text, [ItemPerson("subject", spans=tuple(spans))])
    names = {name: sign for sign, name in SIGNS.items()}
    back = "".join(names[part] if mark == "sign" else part for part, mark in found)
    assert back == text.replace("\x00", "\ufffd").replace("\u2028", "\ufffd")
    shown = "".join(part for part, _ in found)
    assert not set(SIGNS) & set(shown)
    assert "\x00" not in shown


def test_people_are_marked_by_role_and_names_are_looked_up() -> None:
    text = "Ana met Anatol. Ana left."
    people = [ItemPerson("subject", "Ana"), ItemPerson("object", "Anatol", spans=((8, 14),))]
    assert pieces(text, people) == [
        ("Ana", "subject"),
        (" met ", ""),
        ("Anatol", "object"),
        (". ", ""),
        ("Ana", "subject"),
        (" left.", ""),
    ]


def test_spans_that_overlap_or_lie_outside_are_left_out() -> None:
    people = [ItemPerson("subject", spans=((0, 4), (2, 6), (5, 5), (9, 99)))]
    assert pieces("abcdefgh", people) == [("abcd", "subject"), ("efgh", "")]


def test_a_label_is_one_line() -> None:
    assert inert(" a\n\u202eb\x00 ") == "a RLOb\ufffd"
