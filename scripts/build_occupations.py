"""Make `portrayal/reference/data/onet_occupations.csv` from the titles of O*NET.

Usage: python scripts/build_occupations.py occupations.tsv [--out FILE]

O*NET titles are plural, joined and qualified ("Police and Sheriff's Patrol Officers", "Engineers,
All Other"). Each becomes the forms a text may use, in singular and lower case: the occupations of a
joined title, each with its first words or without ("police patrol officer", "patrol officer",
"officer"), and "police officer" for the titles of the police. The plural of each form is matched as
well and is not listed. Forms that name no person by themselves are left out.
"""

import argparse
import csv
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src" / "portrayal" / "reference" / "data"
TARGET = HERE / "onet_occupations.csv"

_QUALIFIER = re.compile(r",? \(?(except|all other|including|and related)\b.*$")
_WITHIN = re.compile(r"\b(of|in)\b.*$")
_AND = re.compile(r",? and |, |/")
_IRREGULAR = {"clergy": "clergy", "infantry": "infantry", "midwives": "midwife", "police": "police"}


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_ENDINGS = re.compile(r"(ers|ors|ists|ians|ants|ries|men)$")
_OTHERS = _words(
    """
    actuaries advisors agents aides analysts architects artists associates athletes bailiffs
    baristas bellhops blockmasons brickmasons captains chauffeurs chefs clerks coaches
    concierges cooks detectives dietitians executives experts guards guides hostesses hosts
    internists judges locksmiths maids masons mates mechanics millwrights models nannies nurses
    officials orderlies paralegals paramedics pilots poets postmasters representatives
    roustabouts salespersons scouts sheriffs stonemasons surgeons therapists valets wardens
    yardmasters
    """
)
"""Last words of titles that name people, beside those with the `_ENDINGS`."""

_THINGS = _words("sales computers matters numbers others papers waters libraries")
_NOT_ALONE = _words(
    """
    adjuster applicator authorizer bender binder blaster blower bolter builder burner buyer carrier
    caster changer checker competitor controller cutter demonstrator displayer distributor drier
    driller erector expert faller feeder fiber filer filler finisher firer fitter forwarder
    gauger grader grinder handler hanger helper laminator layer leader loader maker marker mate
    measurer member mender mixer molder mover offbearer official oiler other packager packer
    paver polisher pourer preparer presser processor pumper reader rigger runner sampler sander
    scaler screener searcher server servicer setter sewer shaper sharpener sorter splitter
    sprayer taker taper tender tester trimmer tuner weigher winder
    """
)
"""Last words that by themselves are as often a thing, or somebody who does not do it for a living
("black demonstrators"); they count in longer forms only."""


def forms(title: str) -> list[str]:
    """Return the singular forms, in lower case, under which a text may name the occupation."""
    plain = _QUALIFIER.sub("", title.lower().strip('" ')).replace("--", " ").replace("- ", ", ")
    listed = ", and " in plain
    core = _WITHIN.sub("", plain if listed else plain.split(",")[0]).strip(" ,")
    found: list[str] = []
    for part in _AND.split(core):
        words = part.removeprefix("other ").split()
        if not words or not _is_person(words[-1]):
            continue
        words = [*words[:-1], singular(words[-1])]
        found += [" ".join(words[start:]) for start in range(len(words))]
        if len(words) > 2 and words[0] == "police":
            found.append(f"police {words[-1]}")
    return [form for form in dict.fromkeys(found) if form not in _NOT_ALONE]


def _is_person(word: str) -> bool:
    known = word in _IRREGULAR or word in _OTHERS
    return known or (bool(_ENDINGS.search(word)) and word not in _THINGS)


def singular(word: str) -> str:
    """Return the singular of a plural noun for people."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("men"):
        return word[:-3] + "man"
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def read_titles(path: Path) -> list[tuple[str, str]]:
    """Return (code, title) of every occupation in the table as O*NET releases it."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))
    return [(code, title) for code, title in rows[1:]]


def main() -> None:
    """Write the table of occupations and their forms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("titles", type=Path, help="O*NET-SOC code and title, separated by tabs")
    parser.add_argument("--out", type=Path, default=TARGET)
    arguments = parser.parse_args()
    with arguments.out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("code", "title", "forms"))
        for code, title in read_titles(arguments.titles):
            writer.writerow((code, title, "|".join(forms(title))))


if __name__ == "__main__":
    main()
