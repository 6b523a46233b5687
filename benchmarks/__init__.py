"""Benchmarks: figures for docs/benchmarks.md, measured in one run on one machine."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line; see `portrayal.cli`
