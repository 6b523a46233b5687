"""The commands `label …`: who is in texts and what they say, by people or by a model.

Three ways lead to the same agreement and the same scores: a sheet (CSV) that people fill in, a page
in the browser on which raters code, and a language model.
"""
