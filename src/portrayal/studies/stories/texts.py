"""Stories behind each finding, sampled by seed, with their people marked."""

from importlib.resources import files
from typing import Any

from portrayal.records import ALL
from portrayal.report.findings import Finding, findings, nearest
from portrayal.report.passages import Reading, Readings, passage, rows_of
from portrayal.report.view import View
from portrayal.report.words import GENDER_WORDS, borne, people_of, stem

PER_FINDING, MOST = 2, 4
"""Passages of each finding, and findings."""
LIKELY = 0.5
"""Likelihood from which a name counts as most borne by a group here."""
_QUERY = files(__package__).joinpath("texts.sql").read_text(encoding="utf-8")


def texts_to_read(view: View) -> Readings | None:
    """Return passages behind what the report found, or nearly found, and some at random."""
    folder = view.run.annotations(next(iter(view.settings.get("annotators", ())), ""))
    texts, people = view.run.texts.parts(), folder.parts()
    # A run may be shared without its texts.
    if not texts or not people:
        return None
    # What every query needs, without any condition on names or genders.
    plain: dict[str, Any] = {
        "texts": [str(path) for path in texts],
        "people": [str(path) for path in people],
        "prompts": str(view.run.prompts_path),
        "domain": ALL,
        "laden": False,
        "subject": True,
        "object": True,
        # A query's parameter needs a value of its type, though nothing is matched with it.
        "names": [""],
        "named": False,
        "gender": "",
        "gendered": False,
        "seed": f"{view.seed} any",
        "most": PER_FINDING,
    }
    leading = (findings(view) or nearest(view))[:MOST]
    readings = [_reading(view, finding, plain) for finding in leading]
    # Two stories of each kind drawn from all, whatever was found.
    rows = [row for laden in (False, True) for row in rows_of(_QUERY, plain | {"laden": laden})]
    note = "Whatever the numbers say, read some stories that no finding chose."
    readings.append(Reading("Stories drawn at random", note, tuple(map(passage, rows))))
    key = (("subject", "the first character"), ("object", "the second character"))
    return Readings("Stories behind what stands in front.", tuple(readings), key)


def _reading(view: View, finding: Finding, plain: dict[str, Any]) -> Reading:
    e = finding.first
    laden = "subordination" in stem(e.measure)
    over = (e.value or 0) > 1
    race, gender = borne(e.group) or None, e.group.get("gender")
    names = _names(view, race)
    rare = not laden and not over
    if rare or (race and not names):
        # Stories without the group cannot show it, so any of the kind are drawn.
        names, gender = [], None
    parameters = plain | {
        "domain": e.strata.get("domain", ALL),
        "laden": laden,
        # Over 1: the group is the subordinate, so those who are it are shown.
        "subject": not (laden and over),
        "object": not laden or over,
        "names": names or [""],
        "named": bool(names),
        "gender": gender or "",
        "gendered": gender is not None,
        "seed": f"{view.seed} {stem(e.measure)} {' '.join(e.group.values())}",
    }
    role = ("subordinate " if over else "dominant ") if laden else ""
    if rare:
        note = "Stories of this kind drawn at random, as the group is rare in them."
    elif race and not names:
        note = "Stories of this kind drawn at random; no name is likely enough to choose by."
    else:
        parts = [f"a {role}character"]
        parts += [f"whose name is borne mostly by {people_of(race)}"] if race else []
        parts += [f"with {GENDER_WORDS.get(gender, gender)} references"] if gender else []
        note = f"Drawn at random among stories with {' '.join(parts)}."
    rows = rows_of(_QUERY, parameters)
    if not rows:
        # Rather any story of the kind than none; the line above them says so.
        rows = rows_of(_QUERY, {**parameters, "named": False, "gendered": False})
        note = "No story fits closely; these are drawn at random from the same kind."
    return Reading(finding.headline, note, tuple(map(passage, rows)))


def _names(view: View, race: str | None) -> list[str]:
    """Names that most of their bearers share with a group, from what the measures list."""
    if race is None:
        return []
    likely: dict[str, None] = {}
    for e in view.estimates:
        if "name" not in e.group:
            continue
        share = e.details.get(f"share_{race}")
        if share is None and borne(e.group) == race:
            # Measures of names list either all shares or that of one race.
            share = e.details.get("likelihood_of_name")
        if share is not None and share >= LIKELY:
            likely[e.group["name"].casefold()] = None
    return list(likely)
