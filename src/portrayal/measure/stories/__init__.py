"""Measures of people in stories: who occurs, in which role, under which names.

A *tally* counts the distinct stories of a run; a *stratum* is one domain of one model under one
condition; a *character* is a person of a story with a role, a first name and a gender.
"""
