"""All people of any English text: an article, a biography, a letter.

`candidates` are runs of capitalised words that may be names, `clusters` joins those of one person,
and `evidence` says how likely a name is a person's;
`pronouns` says whom "he", "she", "they" and "I" mean; `draft` puts them together and `everyone`
returns the people.
"""
