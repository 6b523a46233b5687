"""Topics: what texts are about, by latent Dirichlet allocation.

A *topic model* is a set of topics, each a distribution of words, fitted once to all texts of a run
and its reference. A text has *shares* of topics; a sentence has one topic, its most likely. A model
is saved as JSON and plain arrays, and can be used for other texts.
"""
