"""What a study adds to the report: its own words, figures and sections; nothing of it is needed.

A study names a function that returns a `StudyReport` (`Study.report`). The page asks for it by the
run's study and fills what is missing with parts that suit any study.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from portrayal.records import Estimate

if TYPE_CHECKING:
    from portrayal.report.figures.figure import Builder, Table
    from portrayal.report.strength import FirstScreen
    from portrayal.report.view import View

Fact = tuple[str, str]
"""What was asked, and the answer."""


@cache
def words_of(package: str) -> dict[str, Any]:
    """Return the fixed words of a study's report, from the `words.toml` of its package."""
    return tomllib.loads(files(package).joinpath("words.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a study calls the things that every report speaks of.

    Attributes
    ----------
    texts, clusters
        What was read, and what the bootstrap resamples ("stories", "prompts").
    unit
        What a published method takes as independent ("character").
    place
        Head of the column that says where an estimate was measured.
    readers
        Fact that names the annotators; "" leaves it out.
    groups
        Sentence on what a group is and is not; printed under the findings.
    writers
        Who wrote the texts, as the content warning says it; "" where that may be anyone.
    intervals
        What the clustered and the published interval each take as independent.
    resampling
        First sentence of the methods: what intervals resample.
    """

    texts: str = "texts"
    clusters: str = "prompts"
    unit: str = "text"
    place: str = "Where"
    readers: str = "Read by"
    groups: str = ""
    writers: str = ""
    intervals: str = "Clustered: prompts resampled. Naive: every text independent."
    resampling: str = (
        "Every interval resamples prompts, not texts, as answers to one prompt are not "
        "independent; a published method’s interval stands beside it where there is one."
    )


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that a study fills.

    Attributes
    ----------
    template
        File in the folder `templates` of the study's report.
    content
        Function of the view to what the template calls `own`.
    script
        File of the same folder, run in the page where the content is not None; "" for none.
    """

    template: str
    content: Callable[["View"], Any]
    script: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """The report of a study; every field has a value that suits any study.

    Attributes
    ----------
    package
        Package whose folder `templates` holds the study's templates; needed where there are any.
    wording
        Its words.
    figures
        Builders by the name that a measure's `Component.figure` gives.
    first
        Function of the view to the first screen: the findings in sentences.
    asked, found, texts
        Sections: below the facts of what was asked; what else was found; texts to read, in place of
        some drawn at random.
    facts
        Facts of the study's own.
    instruments
        Sentences on the error of what the numbers rest on.
    reader
        Function of the view and an estimate to a sentence on how well the reader of the texts finds
        the people it is about, with a space before it; "" where that is not known.
    doubt
        Function of the view to what the reader of the texts decides, in a line for the terminal.
    intervals
        How the clustered intervals compare with the published ones: a sentence and a table.
    place, group
        How an estimate's place and group stand in the table of estimates.
    label
        What an estimate is of, in a few words: its measure, group and place where there is none.
    style
        CSS file in the folder `templates`; "" for none.
    """

    package: str = ""
    wording: Wording = Wording()
    figures: Mapping[str, "Builder"] = field(default_factory=dict)
    first: Callable[["View"], "FirstScreen"] | None = None
    asked: Section | None = None
    found: Section | None = None
    texts: Section | None = None
    facts: Callable[["View"], Sequence[Fact]] | None = None
    instruments: Callable[["View"], Sequence[str]] | None = None
    reader: Callable[["View", Estimate], str] | None = None
    doubt: Callable[["View"], str] | None = None
    intervals: Callable[["View"], tuple[str, "Table"]] | None = None
    place: Callable[[Estimate], str] | None = None
    group: Callable[[Mapping[str, str]], str] | None = None
    label: Callable[[Estimate], str] | None = None
    style: str = ""


def report_of(view: "View") -> StudyReport:
    """Return what the run's study adds to the report."""
    return study_report(view.study)


def study_report(study: object) -> StudyReport:
    """Return what a study adds to the report; nothing where there is nothing, or no study."""
    # Imported only now: an audit without a page never loads its figures.
    make: Callable[[], StudyReport] | None = getattr(study, "report", None)
    return StudyReport() if make is None else make()
