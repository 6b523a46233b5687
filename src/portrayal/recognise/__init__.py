"""Recognising: what the columns of a table are, and which comparison follows.

A *design* is a comparison and the rows that it takes: the texts of a file, cleaned, with the
columns that a study reads, and what each column was taken for, in sentences.
"""

from portrayal.recognise.columns import InputColumn, crossing
from portrayal.recognise.designs import Design, recognise
from portrayal.recognise.roles import is_group_column, text_column

__all__ = ["Design", "InputColumn", "crossing", "is_group_column", "recognise", "text_column"]
