"""All people of any English text: an article, a biography, a letter.

`candidates` are runs of capitalised words that may be names; `clusters` join those of one person,
and `things` are names of places, gods, rites and dishes;
`pronouns` says whom "he", "she", "they" and "I" mean; `draft` puts them together and `everyone`
returns the people.
"""
