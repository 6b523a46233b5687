"""The report of the study: its figures, its facts, and stories behind each finding."""

import portrayal.report.formats as fmt
import portrayal.studies.stories.report.casting as casting
import portrayal.studies.stories.report.names as names
import portrayal.studies.stories.report.ratios as ratios
from portrayal.annotate.people.confusion import confusion_of
from portrayal.annotate.people.labeler import labelling_removed, labelling_sentence
from portrayal.records import Estimate
from portrayal.report.about import accuracy, comparison, naive_sentence
from portrayal.report.about import instruments as named_instruments
from portrayal.report.figures.figure import Table
from portrayal.report.study import Fact, Section, StudyReport, Wording, words_of
from portrayal.report.view import View
from portrayal.report.words import borne, stem
from portrayal.studies.stories.report.passages import found_readings
from portrayal.studies.stories.report.reader import reader_note


def facts(view: View) -> list[Fact]:
    """Return baseline, name tables and labels of the audit."""
    instrument_names = named_instruments(view)
    return [
        ("Baseline", str(view.options.get("baseline", fmt.NOTHING))),
        ("Name table", instrument_names.get("name_table", fmt.NOTHING)),
        ("Names of MENA and NH/PI people", instrument_names.get("mena_nhpi_table", "")),
        ("Word list for genders", instrument_names.get("word_list", "")),
        ("Labels", instrument_names.get("labeler", "") if view.settings.get("labeler") else ""),
    ]


def instruments(view: View) -> list[str]:
    """Return what is known of the error of who found the people, and of the name table."""
    # The first annotator is that of people; those of factors follow.
    annotator = next(iter(view.settings.get("annotators", ())), "")
    words = words_of(__package__)["instruments"]
    lines = []
    # Given labels have errors that nobody measured here.
    if "labelled" in annotator:
        lines.append(words["labelled"])
    elif labelling := view.settings.get("labeler"):
        lines += [labelling_sentence(labelling), labelling_removed(labelling)]
        lines.append(words["model"].format(model=labelling["model"]))
    elif annotator:
        lines.append(words["reader"].format(annotator=annotator, accuracy=accuracy(view)))
        note = view.run.annotations(annotator).note()
        if confusion := confusion_of(annotator, note.get("settings")):
            lines.append(words["errors"].format(source=confusion.source))
    return [*lines, words["names"]]


def intervals(view: View) -> tuple[str, Table]:
    """Return how clustered intervals compare with the paper's."""
    sentence = naive_sentence(view)
    wider = words_of(__package__)["instruments"]["wider"] if "wider one" in sentence else ""
    return sentence + wider, comparison(view)


_REASONS = ("no first name", "name not in the table", "gender not known")


def matched(view: View) -> list[tuple[str, ...]]:
    """Return (domain and role, no first name, name not matched, gender unknown) as text.

    Counts, and shares of all characters, from the exclusions of the main model's representation and
    subordination estimates.
    """

    def part(e: Estimate | None, reason: str) -> str:
        # A share of all characters, also of those that could not be counted.
        everyone = 0.0 if e is None else e.n_units + sum(e.exclusions.get(r, 0) for r in _REASONS)
        if e is None or not everyone:
            return fmt.NOTHING
        out = e.exclusions.get(reason, 0)
        return f"{out:,} ({fmt.share(out / everyone)})"

    rows = []
    for kind, label in (("representation", "power-neutral"), ("subordination", "power-laden")):
        by_domain: dict[str, list[Estimate]] = {}
        for name in view.by_measure:
            if stem(name) == kind:
                for e in view.of_main(name):
                    by_domain.setdefault(e.strata.get("domain", "all"), []).append(e)
        for domain, domain_findings in by_domain.items():
            # Race and gender have denominators of their own, so each reason is read from its own
            # estimate.
            race = next(
                (e for e in domain_findings if list(e.group) != ["gender"] and borne(e.group)), None
            )
            gender = next((e for e in domain_findings if list(e.group) == ["gender"]), None)
            of_reason = zip((race, race, gender), _REASONS, strict=True)
            rows.append((f"{domain}, {label}", *(part(e, reason) for e, reason in of_reason)))
    return rows


REPORT = StudyReport(
    package="portrayal.studies.stories.report",
    wording=Wording(**words_of(__package__)["wording"]),
    figures={
        "representation": ratios.representation,
        "couples": ratios.couples,
        "subordination": ratios.subordination,
        "median-racialized": ratios.median_racialized,
        "names": names.name_subordination,
        "thresholds": names.threshold_subordination,
        "common-names": names.common_names,
        "likelihoods": names.likelihood_histogram,
        "scenarios": casting.scenario_likelihood,
        "pair-roles": casting.pair_roles,
        "corrected-representation": ratios.corrected("corrected-representation", "Who appears"),
        "corrected-subordination": ratios.corrected(
            "corrected-subordination", "Who depends on whom"
        ),
    },
    asked=Section("asked.html.j2", matched),
    texts=Section("texts.html.j2", found_readings),
    facts=facts,
    instruments=instruments,
    reader=reader_note,
    intervals=intervals,
    style="style.css",
)
