from portrayal.annotate.people.any_text.draft import draft_people


def figures(text, **how):
    return draft_people(text, **how)


def test_names_titles_and_pronouns_come_together():
    (figure,) = figures("Dr. Amara Nwosu waited. She was late.")
    assert (figure.first, figure.name, figure.title) == ("Amara", "Amara Nwosu", "Dr")
    assert figure.gender == "F"
    assert {span.kind for span in figure.spans} == {"name", "reference"}


def test_a_noun_with_the_goes_to_whom_it_was_said_of():
    (figure,) = figures("Ann Lee is a singer. The singer waved.")
    assert [span.kind for span in figure.spans] == ["name", "noun", "noun"]


def test_pronouns_that_nobody_is_named_for_make_a_figure_each_gender():
    found = figures("She left. He stayed. She laughed.")
    assert sorted((f.gender, len(f.spans)) for f in found) == [("F", 2), ("M", 1)]


def test_the_speaker_of_a_quotation_says_i():
    (figure,) = figures('"I agree," said Ann Lee.')
    assert {span.kind for span in figure.spans} == {"speech", "name"}
