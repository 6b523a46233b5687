"""A *run* is a directory: texts, annotations and estimates of one audit, restartable anywhere."""

from portrayal.run.directory import Run
from portrayal.run.estimates import ESTIMATES, estimates_to_table, flatten_estimates, read_estimates
from portrayal.run.files import replacing, write_atomically, write_parquet
from portrayal.run.reading import read_chosen, read_prompts, read_rows, read_shards
from portrayal.run.shards import ShardError, run_shards
from portrayal.run.stages import Stage, fingerprint

__all__ = [
    "ESTIMATES",
    "Run",
    "ShardError",
    "Stage",
    "estimates_to_table",
    "fingerprint",
    "flatten_estimates",
    "read_chosen",
    "read_estimates",
    "read_prompts",
    "read_rows",
    "read_shards",
    "replacing",
    "run_shards",
    "write_atomically",
    "write_parquet",
]
