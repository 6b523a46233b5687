"""Figures: a *figure* is a chart or a table with its title, its reading and how to read the marks.

A measure names the figure that draws it (`Component.figure`): a generic one, or one that the run's
study gives (`StudyReport.figures`). A *builder* takes the view and a measure's estimates and
returns or yields its figures, none where there is nothing to show.
"""
