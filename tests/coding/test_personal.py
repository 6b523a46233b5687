"""Personal codes: told apart, forgiving to the typist, kept as hashes alone."""

from portrayal.coding.project import hashed, is_code, make_code, matches


def test_a_code_matches_however_it_is_typed_and_no_other_does() -> None:
    code, other = make_code(), make_code()
    kept = hashed(code)
    assert code != other
    for typed in (code, code.upper(), code.replace("-", ""), f" {code} "):
        assert is_code(typed)
        assert matches(typed, kept)
    assert not matches(other, kept)
    assert not matches("", kept)
    assert hashed(code) != kept  # a salt of its own


def test_what_is_no_code() -> None:
    for text in ("", "abc", "0000-0000", "k7fm-2xq", "k7fm-2xq99", "é" * 8, "\ud800" * 8):
        assert not is_code(text)
        assert not matches(text, hashed(make_code()))
