"""Toxicity: how rude, disrespectful or profane a sentence is, as a classifier scores it.

The classifier is a transformers model from the hub or a folder: safetensors weights only, and no
code that comes with it.
"""

from portrayal.annotate.toxicity.rows import toxicity_settings

__all__ = ["toxicity_settings"]
