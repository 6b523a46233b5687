"""Pages: one Jinja environment, which escapes every word and refuses a missing name."""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from portrayal.reference.labels import group_label, strata_parts
from portrayal.shown import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@cache
def templates(package: str) -> "Environment":
    """Return the templates in the folder `templates` of a package.

    Every value is escaped, and a name that the page was not given is an error.

    Examples
    --------
    >>> page = templates("portrayal.report").from_string("<p>{{ text }}</p>")
    >>> page.render(text="<script>")
    '<p>&lt;script&gt;</p>'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def trusted(text: str) -> "Markup":
    """Return text that goes into a page as it is: our own files, and JSON made inert."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


SHARES = ("share", "agentic", "communal")
"""Forms of a number that is a share."""


def number(value: float | None, form: str = "", *, signed: bool = False) -> str:
    """Return a number with three digits and no powers of ten; a dash where there is none.

    Of a `form` that is a share it is in per cent, of "points" in percentage points; these and
    a "difference" have their sign.

    >>> number(2.4412e-6), number(-0.0123), number(12345.0), number(0.25, signed=True)
    ('<0.0001', '−0.0123', '12,345', '+0.25')
    >>> number(0.452, "share"), number(0.452, "points")
    ('45.2 %', '+45.2 points')
    >>> number(0.124, "difference")
    '+0.124'
    """
    if value is None or math.isnan(value):
        return "–"
    if form == "points":
        return f"{number(100 * value, signed=True)} points"
    if form in SHARES:
        return f"{number(100 * value)} %"
    # The sign is put back last, as a minus and no hyphen.
    size = abs(value)
    text = "∞" if size == math.inf else f"{size:,.0f}" if size >= 1000 else f"{size:.3g}"
    if 0 < size < 0.0001:
        text = "<0.0001"
    plus = "+" * (size > 0 and (signed or form == "difference"))
    return f"−{text}" if value < 0 else f"{plus}{text}"


def spread(bounds: Any, form: str = "") -> str:
    """Return what has `low` and `high` as two numbers; a dash for None."""
    if bounds is None:
        return "–"
    first = number(bounds.low, form).removesuffix(" points").removesuffix(" %")
    return f"{first} to {number(bounds.high, form)}"


_USUAL = ("ratio", "share", "difference", "count", "mean", "variance", "distance", "chi2")
"""Statistics that their measure has no other beside, so that its name says which it is."""


def words_of(
    measure: str, strata: Mapping[str, str], group: Mapping[str, str], statistic: str = "ratio"
) -> str:
    """Return place, group and measure in words, and the statistic of a measure with several.

    >>> words_of("representation.v1", {"domain": "Love"}, {"race": "Black"})
    'Love · Black · representation'
    >>> words_of("agency_share.v1", {}, {}, "ratio_gap")
    'agency share (ratio gap)'
    """
    labels = {key: value for key, value in strata.items() if key != "classifier"}
    place, suffix = strata_parts(labels, group)
    groups = (group_label(*pair) for pair in group.items())
    # A column of somebody's own has no version, and keeps its name.
    name = measure.rpartition(".v")[0].replace("_", " ") or measure
    name += "" if statistic in _USUAL else f" ({statistic.replace('_', ' ')})"
    return " · ".join([*place, *groups, name, *suffix])


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """Return a table for a notebook, every word escaped; its theme gives the colours.

    >>> html_table(["who"], [["<b>"]], "one row")
    '<p>one row</p><table><thead>...<td>&lt;b&gt;</td></tr></tbody></table>'
    """

    def line(cells: Sequence[str], tag: str) -> str:
        inner = "".join(f"<{tag}>{html.escape(visible(cell))}</{tag}>" for cell in cells)
        return f"<tr>{inner}</tr>"

    paragraph = f"<p>{html.escape(visible(note))}</p>" if note else ""
    body = "".join(line(row, "td") for row in rows)
    return f"{paragraph}<table><thead>{line(heads, 'th')}</thead><tbody>{body}</tbody></table>"
