"""Formats: how numbers and other people's words stand in a page, none of them taking effect."""

import json
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

from portrayal.records import Interval, Null
from portrayal.shown import visible

_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


def script_json(value: Any) -> str:
    """Return compact JSON that is safe inside a `<script>` element; NaN and ±inf become null."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES).encode("utf-8", "replace").decode("utf-8")


def short(text: str, most: int = 60) -> str:
    """Return text for a label: on one line, with an ellipsis beyond `most` characters."""
    # Cut before cleaning: a text of megabytes should not be read for a label.
    line = " ".join(visible(text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


DASH = "–"
NOTHING = "—"
PERCENT = "\u00a0%"


def ratio(value: float | None) -> str:
    """Return a ratio with two or three significant digits ("0.41", "1.27", "14", "1,310")."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    # "0.000" would say that there is nothing.
    if 0 < size < 0.001:
        return "<0.001"
    if size >= 999.5:
        return f"{round(value, 2 - math.floor(math.log10(size))):,.0f}"
    # Two significant digits, three just beside 1.
    digits = 2 if 1 <= size < 1.995 else 1 if 1.995 <= size < 9.95 else 0
    if 0 < size < 1:
        digits = min(1 - math.floor(math.log10(size)), 3)
        # What is below 1 must not read as 1.
        digits = digits if round(size, digits) != 1 else 3
    return f"{value:,.{digits}f}"


def share(value: float | None) -> str:
    """Return a share in 0–1 as a percentage ("9.0 %", "0.04 %"); the space does not break."""
    if value is None or math.isnan(value):
        return NOTHING
    percent = 100 * value
    size = abs(percent)
    if 0 < size < 0.005:
        text = "<0.01"
    # Only what is exactly none or all is written without decimals.
    elif size in (0, 100):
        text = f"{percent:.0f}"
    else:
        text = f"{percent:.2f}" if size < 0.095 else f"{percent:.1f}"
    return text + PERCENT


def count(value: float | None) -> str:
    """Return a count, fractional counts with one decimal ("1,713", "0.6")."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞"
    if value == round(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 0.05 else "<0.1"


def probability(value: float | None) -> str:
    """Return a p or q value ("0.032", "<0.001")."""
    if value is None or math.isnan(value):
        return NOTHING
    return "<0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def distance(value: float | None) -> str:
    """Return a distance or mean score ("0.108")."""
    return difference(value, "")


def difference(value: float | None, sign: str = "+") -> str:
    """Return a difference ("−5.14", "+0.038", "−0.0004"), without a plus where `sign` is ""."""
    if value is None or math.isnan(value):
        return NOTHING
    if value == 0 or math.isinf(value):
        return ratio(abs(value) and value)
    # As many decimals as the first digit needs, however small the value.
    least = -math.floor(math.log10(abs(value)))
    return f"{value:{sign},.{max(0, min(2 + least, 3), least)}f}".replace("-", "−")


def signed(value: float, digits: int = 2) -> str:
    """Return a score with its sign and two decimals ("+0.25"); what rounds to 0 has no sign."""
    # "z" drops the minus of what rounds to 0.
    sign = "+" if round(value, digits) else "z"
    return f"{value:{sign}.{digits}f}".replace("-", "−")


def points(value: float | None, sign: str = "+") -> str:
    """Return a fraction in percentage points ("+37.8"), without a plus where `sign` is ""."""
    if value is None or math.isnan(value):
        return NOTHING
    text = signed(100 * value, 1)
    return text if sign else text.removeprefix("+")


_BY_STATISTIC: dict[str, Callable[[float | None], str]] = {
    "share": share,
    "agentic": share,
    "communal": share,
    "count": count,
    "distance": distance,
    "difference": difference,
    "points": lambda x: f"{points(x)} points" if points(x) != NOTHING else NOTHING,
    "mean": lambda x: NOTHING if x is None or math.isnan(x) else f"{x:,.0f}",
    "variance": lambda x: NOTHING if x is None or math.isnan(x) else f"{x:,.1f}".replace("-", "−"),
}


def number(value: float | None, statistic: str) -> str:
    """Return a value in the format of its statistic: share, count, distance, …, or ratio."""
    return _BY_STATISTIC.get(statistic, ratio)(value)


def span(low: float, high: float, statistic: str = "ratio") -> str:
    """Return two bounds ("1.9–3.1"), or a dash where either is unknown."""
    if math.isnan(low) or math.isnan(high):
        return NOTHING
    if statistic in ("share", "agentic", "communal"):
        first = share(low).removesuffix(PERCENT)
        return share(low) if low == high else f"{first}{DASH}{share(high)}"
    if statistic == "points":
        return f"{points(low)} to {points(high)}"
    first = number(low, statistic)
    if statistic == "difference":
        return f"{first} to {number(high, statistic)}"
    # Ends of one interval have as many digits as each other.
    if statistic == "ratio" and 1.05 <= low < 2 and high >= 2:
        first = f"{low:.1f}"
    return f"{first}{DASH}{number(high, statistic)}"


def interval(bounds: Interval | Null | None, statistic: str = "ratio") -> str:
    """Return an interval or null range; a dash where there is none."""
    return NOTHING if bounds is None else span(bounds.low, bounds.high, statistic)


def level(fraction: float) -> str:
    """Return a confidence level ("95 %")."""
    return f"{100 * fraction:g}{PERCENT}"


def plural(n: float, noun: str, many: str = "") -> str:
    """Return a count with its noun ("1 prompt", "1,200 prompts")."""
    return f"{count(n)} {noun if n == 1 else many or noun + 's'}"


def listed(items: Iterable[str], most: int = sys.maxsize) -> str:
    """Return words as a list in prose ("a, b and c"), beyond `most` how many other groups."""
    words = list(items)
    if len(words) > most:
        words = [*words[:most], plural(len(words) - most, "other group")]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
