"""Terms: the words of a first screen that are explained where they first stand."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from portrayal.run.pages import trusted

if TYPE_CHECKING:
    from markupsafe import Markup


@cache
def terms() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Return every term: its name, how it is found in a text, and what it means in plain words."""
    text = files("portrayal.report").joinpath("terms.toml").read_text(encoding="utf-8")
    return tuple(
        (row["name"], re.compile(rf"(?<!\w)(?:{row['match']})(?!\w)", re.IGNORECASE), row["means"])
        for row in tomllib.loads(text)["terms"]
    )


class Terms:
    """Marks a technical word where it first stands on a page, and keeps what was marked.

    Examples
    --------
    >>> marked = Terms()
    >>> str(marked("q < 0.01"))[:58]
    '<span class="term" tabindex="0" role="button" data-means="'
    >>> [name for name, _ in marked.used]
    ['p and q']
    """

    def __init__(self) -> None:
        self.used: list[tuple[str, str]] = []

    def __call__(self, text: str) -> "Markup":
        """Return a text, escaped, with what `page.js` shows for each word that is new."""
        from markupsafe import escape

        used_names = {name for name, _ in self.used}
        hits: list[tuple[int, int, str]] = []
        for name, pattern, means in terms():
            # Each term is explained once, or every line would be dotted.
            match = pattern.search(text) if name not in used_names else None
            if match is not None:
                self.used.append((name, means))
                # A term inside another one has no mark of its own.
                if all(match.end() <= a or b <= match.start() for a, b, _ in hits):
                    hits.append((*match.span(), means))
        end_of_last, parts = 0, []
        for start, end, means in sorted(hits):
            parts += [
                str(escape(text[end_of_last:start])),
                '<span class="term" tabindex="0" role="button"',
            ]
            parts.append(f' data-means="{escape(means)}">{escape(text[start:end])}</span>')
            end_of_last = end
        return trusted("".join(parts) + str(escape(text[end_of_last:])))
