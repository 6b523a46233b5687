"""The report of the study: distances from the originals, prompt forms, and pairs to read."""

import portrayal.studies.news.report.figures as figures
from portrayal.report.study import Section, StudyReport, Wording, words_of
from portrayal.studies.news.report.head import compared, instruments, intervals, news_first
from portrayal.studies.news.report.series import FIGURES, group_name, label, table_place
from portrayal.studies.news.report.texts import examples

__all__ = ["REPORT"]

REPORT = StudyReport(
    package="portrayal.studies.news.report",
    wording=Wording(**words_of(__package__)["wording"]),
    figures={
        "distances": figures.distances,
        "group-changes": figures.group_changes,
        "prompt-effects": figures.prompt_effects,
        "refusals": figures.refusals,
        "text-lengths": figures.text_lengths,
        "topic-use": FIGURES.tabled("topic-use", lambda _, estimates: estimates),
    },
    first=news_first,
    found=Section("found.html.j2", compared),
    texts=Section("texts.html.j2", examples, "texts.js"),
    facts=lambda _view: (),
    instruments=instruments,
    intervals=intervals,
    place=table_place,
    group=group_name,
    label=label,
    style="style.css",
)
