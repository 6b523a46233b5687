"""Reference data: what the portrayals in a model's texts are compared with.

A *name table* says which share of the bearers of a first name is of each race; a *baseline* says
which share of a population each group is; a *published table* holds the figures of a paper.
Every one carries its source and licence, listed in `data/README.md`. Race shares describe
populations of name bearers, never a person.
"""

from portrayal.reference.factors import Factor, factors, load_factor
from portrayal.reference.groups import (
    FEMININE,
    GENDERS,
    MASCULINE,
    NON_BINARY,
    PAIRS,
    RACES,
    Baseline,
    baseline,
    baselines,
    countries,
    gender_words,
)
from portrayal.reference.names import (
    NameTable,
    mena_nhpi_table,
    name_bearers,
    name_table,
    name_tables,
    names_of,
    race_likelihoods,
)
from portrayal.reference.shipped import published, published_tables

__all__ = [
    "FEMININE",
    "GENDERS",
    "MASCULINE",
    "NON_BINARY",
    "PAIRS",
    "RACES",
    "Baseline",
    "Factor",
    "NameTable",
    "baseline",
    "baselines",
    "countries",
    "factors",
    "gender_words",
    "load_factor",
    "mena_nhpi_table",
    "name_bearers",
    "name_table",
    "name_tables",
    "names_of",
    "published",
    "published_tables",
    "race_likelihoods",
]
