"""Sentiment: how positive or negative a sentence sounds.

An *engine* is a function without arguments that returns a function of a string to its polarity, a
number in -1 to 1; one with a method `by_sentence(text, spans)` returns the polarities of all
sentences and of the whole text at once. Engines are registered
as entry points of the group `portrayal.sentiment`.
"""

from portrayal.annotate.sentiment.rows import DEFAULT, sentiment_settings

__all__ = ["DEFAULT", "sentiment_settings"]
