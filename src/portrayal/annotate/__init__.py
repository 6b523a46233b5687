"""Annotating: texts become annotations, shard by shard.

An *annotator* is a function of one text and what its prompt asked for; it returns one row and never
sinks the shard: a row that fails carries its error.
"""

from portrayal.annotate.annotator import Annotation, Annotator, annotate_run, annotate_shard

__all__ = ["Annotation", "Annotator", "annotate_run", "annotate_shard"]
