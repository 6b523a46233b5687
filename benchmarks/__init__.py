"""Benchmarks: figures for docs/benchmarks.md, measured in one run on one machine."""
