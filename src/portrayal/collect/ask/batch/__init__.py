"""Batches: requests handed in together and answered within a day, at half the price."""

BATCHED = ("anthropic", "openai")
"""Services that have them."""
