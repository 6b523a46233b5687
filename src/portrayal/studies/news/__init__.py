"""News articles (Fang et al. 2024): how do generated articles differ from those people wrote?

A *news prompt* asks for an article under the headline of one that people wrote, in the form
"unbiased" or "biased", of which the latter first tells the model what to believe.
"""

from portrayal.studies.news.audit import FIELDS, STUDY, prompts

__all__ = ["FIELDS", "STUDY", "prompts"]
