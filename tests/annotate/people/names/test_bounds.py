"""Bounds on names that no text of the other tests comes to."""

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone


@pytest.mark.parametrize(
    ("text", "firsts"),
    [
        ("MARK: The plan is due.\nIt was late.", []),
        ("MARK: The plan is due.\nJULES: It was late.", ["MARK", "JULES"]),
        ("Ruth Hale spoke. J. Hale wept.", ["Ruth", None]),
        ("Ruth Hale spoke. R. Hale wept.", ["Ruth"]),
        ("Emma Rose Lily Grace Anne Mary Smith sang.", []),
    ],
)
def test_bounds(text: str, firsts: list[str | None]) -> None:
    assert [person.first for person in find_everyone(text, refer=None)] == firsts
