"""The report of the study: differences within pairs, and pairs to read side by side."""

from portrayal.report.study import Section, StudyReport, Wording, words_of
from portrayal.studies.pairs.report.figures import pair_figures
from portrayal.studies.pairs.report.head import facts, instruments, pairs_first, pairs_head
from portrayal.studies.pairs.report.series import label, place
from portrayal.studies.pairs.report.texts import pairs_reading

__all__ = ["REPORT"]

REPORT = StudyReport(
    package=__package__,
    wording=Wording(**words_of(__package__)["wording"]),
    figures={"pair-differences": pair_figures},
    first=pairs_first,
    found=Section("found.html.j2", pairs_head),
    texts=Section("texts.html.j2", pairs_reading, "texts.js"),
    facts=facts,
    instruments=instruments,
    place=place,
    group=lambda group: next(iter(group.values()), "all"),
    label=label,
    style="style.css",
)
