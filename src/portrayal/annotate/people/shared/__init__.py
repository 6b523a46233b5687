"""What both engines read a text by: word lists, tokens, mentions, capitals, and labels."""
