"""The pipeline: runs the stages of a study in order.

A stage is done again only where its inputs changed. `audit` goes from texts to a report,
and `model_card` says what a run answers of a form that others ask for.
"""
