"""Portrayal measures how language models portray people in open-ended text."""

__version__ = "0.1.0"
