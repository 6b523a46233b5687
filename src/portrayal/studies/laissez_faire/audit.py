"""The laissez-faire audit: `study.toml`, with the tables of the paper and its report."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from portrayal.studies.laissez_faire.reproduce import reproduce
from portrayal.studies.own.reading import read_stories, read_study

FILE = Path(str(files(__package__).joinpath("study.toml")))

STORIES = read_stories(FILE)
"""What the study says of its stories."""

STUDY = replace(read_study(FILE), reproduce=reproduce, card="card.md", file="")
"""The door by which the study is registered."""
