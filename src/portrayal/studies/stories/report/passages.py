"""Passages behind each finding: stories sampled by seed, with their people marked."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from portrayal.records import ALL
from portrayal.report.findings import findings, nearest
from portrayal.report.passages import Reading, passage, rows_of
from portrayal.report.strength import Stated
from portrayal.report.view import View
from portrayal.report.words import GENDER_WORDS, borne, people_of, stem

EACH = 2
"""Passages for each finding."""
LIKELY = 0.5
"""Likelihood from which a name counts as most borne by a group here."""


def found_readings(view: View) -> list[Reading]:
    """Return passages behind what the report found, or nearly found."""
    return readings(view, findings(view) or nearest(view))


def readings(view: View, findings: list[Stated]) -> list[Reading]:
    """Return passages behind the first findings; empty where texts or annotations are missing."""
    folder = view.run.annotations(next(iter(view.settings.get("annotators", ())), ""))
    texts, people = view.run.texts.parts(), folder.parts()
    # A run may be shared without its texts.
    if not texts or not people:
        return []
    of_findings = [_reading(view, finding, texts, people) for finding in findings[:4]]
    # Two stories of each kind drawn from all, whatever was found.
    rows = []
    for laden in (False, True):
        parameters = _given(view, texts, people) | {"laden": laden, "seed": f"{view.seed} any"}
        rows += rows_of(_QUERY, parameters)
    random_line = "Whatever the numbers say, read some stories that no finding chose."
    random_passages = tuple(passage(row) for row in rows)
    return [*of_findings, Reading("Stories drawn at random", random_line, random_passages)]


def _reading(view: View, finding: Stated, texts: list[Path], people: list[Path]) -> Reading:
    e = finding.first
    laden = "subordination" in stem(finding.first.measure)
    over = (e.value or 0) > 1
    race, gender = borne(e.group) or None, e.group.get("gender")
    names = _names(view, race)
    rare = not laden and not over
    if rare or (race and not names):
        # Stories without the group cannot show it, so any of the kind are drawn.
        names, gender = [], None
    # Over 1: the group is the subordinate, so those who are it are shown.
    slots = ("object" if over else "subject",) if laden else ("subject", "object")
    parameters = _given(view, texts, people) | {
        "domain": e.strata.get("domain", ALL),
        "laden": laden,
        "subject": "subject" in slots,
        "object": "object" in slots,
        # A query's parameter needs a value of its type, though nothing is matched with it.
        "names": names or [""],
        "named": bool(names),
        "gender": gender or "",
        "gendered": gender is not None,
        "seed": f"{view.seed} {stem(finding.first.measure)} {' '.join(e.group.values())}",
    }
    role = {"object": "subordinate", "subject": "dominant"}[slots[0]] if laden else ""
    selection = _how(race, gender, names, role, rare)
    rows = rows_of(_QUERY, parameters)
    if not rows:
        # Rather any story of the kind than none; the line above them says so.
        rows = rows_of(_QUERY, {**parameters, "named": False, "gendered": False})
        selection = "No story fits closely; these are drawn at random from the same kind."
    return Reading(finding.headline, selection, tuple(passage(row) for row in rows))


def _given(view: View, texts: list[Path], people: list[Path]) -> dict[str, Any]:
    """What `_QUERY` needs, without any condition on names or genders."""
    return {
        "texts": [str(path) for path in texts],
        "people": [str(path) for path in people],
        "prompts": str(view.run.prompts_path),
        "domain": ALL,
        "laden": False,
        "subject": True,
        "object": True,
        "names": [""],
        "named": False,
        "gender": "",
        "gendered": False,
        "seed": str(view.seed),
        "most": EACH,
    }


_QUERY = files(__package__).joinpath("passages.sql").read_text(encoding="utf-8")


def _names(view: View, race: str | None) -> list[str]:
    """Names that most of their bearers share with a group, from what the measures list."""
    if race is None:
        return []
    shares: dict[str, float] = {}
    for e in view.estimates:
        if "name" not in e.group:
            continue
        share = e.details.get(f"share_{race}")
        if share is None and borne(e.group) == race:
            # Measures of names list either all shares or that of one race.
            share = e.details.get("likelihood_of_name")
        if share is not None and share >= LIKELY:
            shares[e.group["name"].casefold()] = share
    return list(shares)


def _how(race: str | None, gender: str | None, names: list[str], role: str, rare: bool) -> str:
    if rare:
        return "Stories of this kind drawn at random, as the group is rare in them."
    if race and not names:
        return "Stories of this kind drawn at random; no name is likely enough to choose by."
    parts = [f"with a {role} character" if role else "with a character"]
    if race:
        parts.append(f"whose name is borne mostly by {people_of(race)}")
    if gender:
        words = GENDER_WORDS.get(gender, gender)
        parts.append(f"and who has {words} references" if race else f"with {words} references")
    return f"Drawn at random among stories {' '.join(parts)}."
