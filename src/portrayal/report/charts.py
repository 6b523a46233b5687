"""Charts: the figures of a page drawn once, packed together, and what a page needs to show them."""

import base64
import gzip
import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from portrayal.report.figures.drawing import Drawing, drawing
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import BrokenFigureWarning
from portrayal.report.inert import script_json, short
from portrayal.run.pages import trusted

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class Charts:
    """The figures of a page, and the images of those that are charts, by key."""

    figures: tuple[Figure, ...]
    images: Mapping[str, Drawing]

    @classmethod
    def of(cls, figures: Sequence[Figure], glance: Mapping[str, Any] | None = None) -> "Charts":
        """Draw figures; one that cannot be drawn says so, over its numbers."""
        shown, images = [], {}
        if glance is not None:
            images[glance["key"]] = drawing(glance["key"], glance["spec"])
        for figure in figures:
            try:
                if figure.spec is not None:
                    images[figure.key] = drawing(figure.key, figure.spec)
                shown.append(figure)
            except Exception as error:
                text = f"the figure {figure.key} could not be drawn: {error!r}"
                warnings.warn(text, BrokenFigureWarning, stacklevel=2)
                said = f"{type(error).__name__}: {short(str(error), 300)}"
                shown.append(replace(figure, spec=None, broken=said))
        return cls(tuple(shown), images)

    @property
    def full(self) -> list[Figure]:
        """The figures that show something."""
        return [figure for figure in self.figures if not figure.empty]

    @property
    def empty(self) -> list[Figure]:
        """The figures that show nothing, of which one line is said."""
        return [figure for figure in self.figures if figure.empty]

    def inline(self, key: str) -> "Markup":
        """Return both images of a chart for the page itself; the page shows the one that fits."""
        image = self.images[key]
        parts = f'<div class="wide">{image.wide}</div><div class="narrow">{image.narrow}</div>'
        return trusted(parts)

    def packed(self, table: Mapping[str, Any]) -> str:
        """Return the images and the page's table of estimates, compressed."""
        images = {key: [image.wide, image.narrow] for key, image in self.images.items()}
        return packed(script_json({"charts": images, "table": table}))


def packed(text: str) -> str:
    """Return a text compressed with gzip, as base64."""
    raw = gzip.compress(text.encode("utf-8", "replace"), compresslevel=9, mtime=0)
    return base64.b64encode(raw).decode("ascii")


@dataclass(frozen=True)
class Script:
    """A script of our own, and the hash by which the page's policy lets it run."""

    text: str

    @property
    def digest(self) -> str:
        """The hash of the script as the policy names it."""
        raw = hashlib.sha256(self.text.encode()).digest()
        return f"'sha256-{base64.b64encode(raw).decode()}'"


def read_template(package: str, name: str) -> str:
    """Return a file of a package's folder of templates."""
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
