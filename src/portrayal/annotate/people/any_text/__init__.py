"""All people of any English text: an article, a biography, a letter.

`pronouns` says whom "he", "she", "they" and "I" mean; `draft` puts names, nouns and pronouns
together and `everyone` returns the people.
"""
