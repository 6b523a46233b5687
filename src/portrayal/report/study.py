"""What a study adds to the report: its words, figures and texts to read; nothing of it is needed.

A study names a function that returns a `StudyReport` (`Study.report`), which is read from the
`report.toml` of its package. What is missing suits any study.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from portrayal.report.passages import Readings
    from portrayal.report.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a study calls the things that every report speaks of.

    Attributes
    ----------
    texts, clusters
        What was read, and what intervals take as units ("stories", "prompts").
    unit
        What a published method takes as independent ("character").
    groups
        Sentence on what a group is and is not; printed under the findings.
    writers
        Who wrote the texts, as the content warning says it; "" where that may be anyone.
    intervals
        What the clustered and the published interval each take as independent.
    resampling
        First sentence of the methods: what intervals take as units.
    """

    texts: str = "texts"
    clusters: str = "prompts"
    unit: str = "text"
    groups: str = ""
    writers: str = ""
    intervals: str = "Clustered: prompts are the units. Naive: every text independent."
    resampling: str = (
        "Every interval takes prompts as units, not texts, as answers to one prompt are not "
        "independent; a published method’s interval stands beside it where there is one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """The report of a study; every field has a value that suits any study.

    Attributes
    ----------
    wording
        Its words.
    instruments
        Sentences on the error of what the numbers rest on, beside what the annotators say.
    figures
        Figures of its measures (`portrayal.report.figures.declared.Declared`), as data.
    remedies
        Options that would tell more where estimates rest on an `instrument`: `words`, `option`.
    texts
        Function of the view to texts to read, in place of some drawn at random.
    """

    wording: Wording = Wording()
    instruments: tuple[str, ...] = ()
    figures: tuple[Mapping[str, Any], ...] = ()
    remedies: tuple[Mapping[str, str], ...] = ()
    texts: Callable[["View"], "Readings | None"] | None = None

    @classmethod
    def read(cls, package: str, **hooks: Any) -> "StudyReport":
        """Read the `report.toml` of a package; `hooks` may be `texts`."""
        text = files(package).joinpath("report.toml").read_text(encoding="utf-8")
        declared = tomllib.loads(text)
        return cls(
            wording=Wording(**declared.get("wording", {})),
            instruments=tuple(declared.get("instruments", ())),
            figures=tuple(declared.get("figures", ())),
            remedies=tuple(declared.get("remedies", ())),
            **hooks,
        )


@lru_cache(maxsize=1)
def report_of(view: "View") -> StudyReport:
    """Return what the run's study adds to the report; nothing where there is none."""
    # Imported only now: an audit without a page never loads its figures.
    make: Callable[[], StudyReport] | None = getattr(view.study, "report", None)
    return StudyReport() if make is None else make()
