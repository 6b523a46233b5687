"""Language agency (Wan & Chang 2024): are people described as acting, or as caring for others?

An *agency prompt* asks for a biography, a professor review or a reference letter of a person whose
name, race and gender it states.
"""

from portrayal.studies.agency.audit import FIELDS, STUDY, AgencyOptions, prompts

__all__ = ["FIELDS", "STUDY", "AgencyOptions", "prompts"]
