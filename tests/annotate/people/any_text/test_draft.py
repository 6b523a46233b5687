from portrayal.annotate.people.any_text.draft import draft_people


def test_names_titles_and_pronouns_come_together():
    (figure,) = draft_people("Dr. Amara Nwosu waited. She was late.")
    assert (figure.first, figure.name, figure.title) == ("Amara", "Amara Nwosu", "Dr")
    assert {span.kind for span in figure.spans} == {"name", "reference"}


def test_a_noun_with_the_goes_to_whom_it_was_said_of():
    (figure,) = draft_people("Ann Lee is a singer. The singer waved.")
    assert [span.kind for span in figure.spans] == ["name", "noun", "noun"]


def test_pronouns_that_nobody_is_named_for_make_a_figure_each_gender():
    drafts = draft_people("She left. He stayed. She laughed.")
    assert sorted(len(draft.spans) for draft in drafts) == [1, 2]


def test_the_speaker_of_a_quotation_says_i():
    (figure,) = draft_people('"I agree," said Ann Lee.')
    assert {span.kind for span in figure.spans} == {"speech", "name"}
