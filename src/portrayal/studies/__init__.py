"""Studies: each names the components of one published audit and holds its facts.

A *study* says which prompts it asks, which fields its texts carry, which annotators and measures it
uses, in which order, and what its paper printed. Stages never import studies; studies never import
each other.
"""

from portrayal.studies.study import Options, PromptMaker, Study

__all__ = ["Options", "PromptMaker", "Study"]
