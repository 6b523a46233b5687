"""Language agency of sentences: agentic or communal.

An *agency classifier* is a function of sentences that returns, per sentence, the probabilities that
it is communal and that it is agentic. Sentences are masked first, unless asked otherwise: gendered
words, names and group words give way to neutral ones.
"""

from portrayal.annotate.agency.linear import AgencyClassifier
from portrayal.annotate.agency.loading import load_classifier
from portrayal.annotate.agency.masking import mask

__all__ = ["AgencyClassifier", "load_classifier", "mask"]
