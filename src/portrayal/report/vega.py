"""Vega, Vega-Lite and Vega-Embed as one script, for the charts of a page.

Putting them together takes about a second, so the script is kept in the user's cache folder, one
file for each version of vl-convert. Without a folder to write to it is made anew each time.
"""

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

_START, _END = "(function(){", "})();"


@cache
def vega() -> str:
    """Return the script, which sets `window.vegaEmbed`."""
    try:
        path = _cache_folder() / f"vega-{version('vl-convert-python')}.js"
    except RuntimeError:
        return _made()
    kept = _kept(path)
    if kept is None:
        kept = _made()
        _keep(path, kept)
    return kept


def _cache_folder() -> Path:
    """$XDG_CACHE_HOME/portrayal, or ~/.cache/portrayal; a RuntimeError without a home."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path("~/.cache").expanduser()) / "portrayal"


def _made() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"{_START}{bundle}{_END}"


def _kept(path: Path) -> str | None:
    """Return the script of a file; None where there is none, or not a whole one."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return text if text.startswith(_START) and text.endswith(_END) else None


def _keep(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
