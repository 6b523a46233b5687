"""Word lists written as text."""


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which stand between blanks."""
    return frozenset(text.split())
