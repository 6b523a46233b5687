"""Measures of pairs: generated texts beside the originals that people wrote.

A *paired table* has one row for each generated text that has its original; a *level* is what is
compared within each row (words, sentences or topics); a *quantity* is a number of each row whose
mean over pairs is estimated.
"""
