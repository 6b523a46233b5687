"""News articles (Fang et al. 2024): how do generated articles differ from those people wrote?

A *news prompt* asks for an article under the headline of one that people wrote, in the unbiased
form or in a biased one, which first tells the model what to believe.
"""

from portrayal.studies.news.prompts import FIELDS, prompts

__all__ = ["FIELDS", "prompts"]
