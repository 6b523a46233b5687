import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.reference.matching import build_index, first_part, name_key, plain_form

LATIN = st.text(st.characters(max_codepoint=0x24F), max_size=20)


@given(LATIN)
def test_the_key_ignores_case_and_is_idempotent(name: str) -> None:
    key = name_key(name)
    assert name_key(name.upper()) == key
    assert name_key(name.lower()) == key
    assert name_key(key) == key


@given(LATIN)
def test_the_plain_form_is_idempotent(name: str) -> None:
    plain = plain_form(name_key(name))
    assert plain_form(plain) == plain


@pytest.mark.parametrize(
    ("name", "key", "plain", "first"),
    [
        ("María", "maría", "maria", "maria"),
        ("MARI\u0301A", "maría", "maria", "maria"),
        ("O’Neil", "o'neil", "oneil", "oneil"),
        ("Mary‐Kate", "mary-kate", "marykate", "mary"),
        ("  Mary   Kate ", "mary kate", "marykate", "mary"),
        ("Sarah's", "sarah", "sarah", "sarah"),
        ("**Emily**,", "emily", "emily", "emily"),
        ("Đorđe", "đorđe", "dorde", "dorde"),
        ("Þóra", "þóra", "thora", "thora"),
        ("Søren", "søren", "soren", "soren"),
        ("...", "", "", ""),
    ],
)
def test_forms_of_a_name(name: str, key: str, plain: str, first: str) -> None:
    assert name_key(name) == key
    assert plain_form(key) == plain
    assert first_part(key) == first


def test_lookup_tries_the_exact_key_first_then_pools_by_plain_form() -> None:
    index = build_index(
        ["José", "Jose", "Mary", "Zoë"],
        np.array([10.0, 30.0, 5.0, 5.0]),
        np.array([[1.0], [0.5], [0.2], [0.4]]),
    )
    found = index.lookup(["José", "jose", "JOSÈ", "Mary-Kate", "zoe", "Nobody", "", None])
    expected = [1.0, 0.5, (10 * 1.0 + 30 * 0.5) / 40, 0.2, 0.4, np.nan, np.nan, np.nan]
    np.testing.assert_allclose(found[:, 0], expected)


def test_spellings_of_one_key_merge_by_count() -> None:
    index = build_index(
        ["ANA", "Ana", "Bo"], np.array([30.0, 10.0, 1.0]), np.array([[1.0], [0.0], [0.5]])
    )
    assert index.keys == ("ana", "bo")
    np.testing.assert_allclose(index.counts, [40.0, 1.0])
    np.testing.assert_allclose(index.lookup(["ana"]), [[0.75]])


def test_without_counts_spellings_weigh_alike() -> None:
    index = build_index(["ANA", "Ana"], np.full(2, np.nan), np.array([[1.0], [0.5]]))
    np.testing.assert_allclose(index.lookup(["Ana"]), [[0.75]])
