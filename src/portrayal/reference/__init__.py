"""Reference data: what the portrayals in a model's texts are compared with.

A *name table* says which share of the bearers of a first name is of each race; a *baseline* says
which share of a population each group is; a *published table* holds the figures of a paper.
Every one carries its source and licence, listed in `data/README.md`. Race shares describe
populations of name bearers, never a person.
"""

from portrayal.reference.factors import load_factor
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods

__all__ = ["load_factor", "mena_nhpi_table", "name_table", "race_likelihoods"]
