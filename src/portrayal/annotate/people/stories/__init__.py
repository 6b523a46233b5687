"""The characters of a story that was asked for with one or two roles.

A *story* is read in steps: `names` finds named people, `scene` every word that may stand for one,
`pair` who is the subject and who the object; `decide` follows each choice of their genders through
the text and weighs the choices, and `extract` says how likely the best one is right.
"""
