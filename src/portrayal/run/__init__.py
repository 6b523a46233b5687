"""A *run* is a directory: texts, annotations and estimates of one audit, restartable anywhere."""

from portrayal.run.directory import Run
from portrayal.run.estimates import (
    Estimates,
    choose,
    estimates_to_table,
    flatten_estimates,
    read_estimates,
)
from portrayal.run.files import read_parquet, write_atomically, write_parquet
from portrayal.run.influences import Influences, influences_to_table, read_influences
from portrayal.run.reading import read_chosen, read_prompts, read_rows, read_shards
from portrayal.run.shards import ShardError, run_shards
from portrayal.run.stages import Stage, fingerprint

__all__ = [
    "Estimates",
    "Influences",
    "Run",
    "ShardError",
    "Stage",
    "choose",
    "estimates_to_table",
    "fingerprint",
    "flatten_estimates",
    "influences_to_table",
    "read_chosen",
    "read_estimates",
    "read_influences",
    "read_parquet",
    "read_prompts",
    "read_rows",
    "read_shards",
    "run_shards",
    "write_atomically",
    "write_parquet",
]
