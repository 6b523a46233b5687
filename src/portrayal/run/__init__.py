"""A *run* is a directory: texts, annotations and estimates of one audit, restartable anywhere."""

from portrayal.run.directory import Run, read_chosen, read_prompts, read_rows, read_shards
from portrayal.run.estimates import Estimates, choose, estimates_to_table, flatten_estimates
from portrayal.run.files import Stage, fingerprint, read_parquet, write_atomically, write_parquet

__all__ = [
    "Estimates",
    "Run",
    "Stage",
    "choose",
    "estimates_to_table",
    "fingerprint",
    "flatten_estimates",
    "read_chosen",
    "read_parquet",
    "read_prompts",
    "read_rows",
    "read_shards",
    "write_atomically",
    "write_parquet",
]
