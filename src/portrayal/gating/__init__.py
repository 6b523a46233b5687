"""Gates: may a run be shipped? A policy, and a verdict with four outcomes."""
