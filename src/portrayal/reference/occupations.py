"""Titles of occupations (O*NET), and the plural of an English noun."""

import csv
from functools import lru_cache

from portrayal.reference.shipped import data_file


@lru_cache(maxsize=1)
def occupations() -> frozenset[str]:
    """Return the occupations of O*NET in singular and plural, in lower case.

    Titles are split where they join several, and count with or without their first words
    ("Postsecondary Teachers" gives "postsecondary teacher" and "teacher").
    """
    lines = data_file("onet_occupations.csv").read_text(encoding="utf-8").splitlines()
    forms = {form for row in csv.DictReader(lines) for form in row["forms"].split("|") if form}
    return frozenset(forms | {plural(form) for form in forms})


def plural(form: str) -> str:
    """Return the plural of an English noun in lower case, by its ending.

    >>> plural("lady"), plural("church"), plural("policewoman")
    ('ladies', 'churches', 'policewomen')
    """
    if form.endswith(("clergy", "infantry", "police")):
        return form
    if form.endswith("midwife"):
        return form[:-2] + "ves"
    if form.endswith("man"):
        return form[:-2] + "en"
    if form.endswith("y") and form[-2] not in "aeiou":
        return form[:-1] + "ies"
    return form + ("es" if form.endswith(("s", "ch", "sh")) else "s")
