"""Where labels stand in the text: every place of a word that only one character claims."""

from portrayal.annotate.people.labeler.answer import locate

TEXT = "Ann met Joanna. She waved, and her aunt Joanna waved; he did not."


def shown(slots):
    return [[(TEXT[s.start : s.end], s.kind) for s in spans] for spans in locate(TEXT, slots)]


def test_whole_words_only():
    ((name, reference), _) = shown([("Ann", ("she",)), (None, ("he",))])
    assert name == ("Ann", "name")
    assert reference == ("She", "reference")


def test_a_word_of_both_is_nobodys():
    subject, other = shown([("Ann", ("she", "her")), ("Joanna", ("her",))])
    assert subject == [("Ann", "name"), ("She", "reference")]
    assert other == [("Joanna", "name"), ("Joanna", "name")]


def test_what_is_not_there_has_no_span():
    assert shown([("Zoe", ("xe",))]) == [[]]
