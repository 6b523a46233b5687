"""Groups of any factor: which share of texts and people they have, over baselines.

Every measure here reads `GroupTexts` and holds for any factor; a factor is a TOML file
(`portrayal.reference.factors`), so a question about religion, caste or age takes no code.
"""

from portrayal.measure.groups.texts import GroupTexts, GroupUnits, read_group_texts

__all__ = ["GroupTexts", "GroupUnits", "read_group_texts"]
"""Names that other stages use."""
