"""The pipeline: runs the stages of a study in order, and describes the texts that they read.

A stage is done again only where its inputs changed. `audit` goes from texts to a report;
`datasheet` says what the texts are and how they came about.
"""
