"""The characters of a story that was asked for with one or two roles.

A *story* is read in steps: `names` finds named people, `scene` every word that may stand for one,
`pair` who is the subject and who the object; `trace` follows a choice of their genders through the
text, `decide` weighs the choices, and `confidence` says how sure the best one is.
"""
