"""People: who is in any texts, with no prompts of their own.

The *main person* of a text is whom most of its sentences mention.
"""

from portrayal.studies.people.audit import PROMPTS, STUDY, PeopleOptions

__all__ = ["PROMPTS", "STUDY", "PeopleOptions"]
