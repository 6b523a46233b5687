"""Names of people in any text: which words are one, and whose.

`candidates` are runs of capitalised words that may be names, `evidence` says how likely a name is a
person's, and `clusters` joins those of one person.
"""
