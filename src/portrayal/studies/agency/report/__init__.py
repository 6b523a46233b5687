"""The report of the study: how far groups stand apart, masked and unmasked, with texts to read."""

from portrayal.report.figures.figure import Table
from portrayal.report.study import Section, StudyReport, Wording, words_of
from portrayal.studies.agency.report.figures import gaps, shares, variance_tables
from portrayal.studies.agency.report.head import (
    agency_first,
    agency_head,
    doubt,
    facts,
    instruments,
)
from portrayal.studies.agency.report.series import table_place
from portrayal.studies.agency.report.texts import agency_reading

__all__ = ["REPORT"]

REPORT = StudyReport(
    package="portrayal.studies.agency.report",
    wording=Wording(**words_of(__package__)["wording"]),
    figures={"agency-shares": shares, "agency-gaps": gaps, "agency-variance": variance_tables},
    first=agency_first,
    found=Section("found.html.j2", agency_head),
    texts=Section("texts.html.j2", agency_reading, "texts.js"),
    facts=facts,
    doubt=doubt,
    instruments=instruments,
    intervals=lambda _view: ("", Table((), ())),
    place=table_place,
    style="style.css",
)
