from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.people.any_text.pronouns import RIVALS, resolve
from portrayal.annotate.people.shared.links import NO_SUBJECT, OTHER, SUBJECT, PersonMention


def name(at, sentence, person, rank=SUBJECT):
    return PersonMention(at, sentence, person, rank, opens=rank == SUBJECT)


def pronoun(at, sentence, gender, case="s", *, quoted=False):
    return PersonMention(at, sentence, OTHER, 1, gender, case, quoted, case == "s")


def meant(events, genders, barred=()):
    return resolve(events, [(gender, True, 0) for gender in genders], dict(barred))


def test_a_pronoun_goes_to_the_last_subject():
    assert meant([name(0, 0, 0), name(3, 0, 1, NO_SUBJECT), pronoun(6, 1, "F")], ["", ""]) == [0]


def test_a_known_gender_rules_out():
    assert meant([name(0, 0, 0), name(3, 0, 1, NO_SUBJECT), pronoun(6, 1, "F")], ["M", ""]) == [1]


def test_nobody_of_that_gender():
    assert meant([name(0, 0, 0), pronoun(6, 1, "F")], ["M"]) == [OTHER]
    assert meant([], []) == []


def test_a_barred_person_is_passed_over():
    events = [name(0, 0, 0), name(3, 0, 1), pronoun(6, 0, "F", "p")]
    assert meant(events, ["F", "F"], {6: 1}.items()) == [0]


def test_two_pronouns_of_two_genders_are_two_people():
    events = [name(0, 0, 0), name(3, 0, 1, NO_SUBJECT), pronoun(6, 1, "F"), pronoun(9, 1, "M", "o")]
    assert meant(events, ["", ""]) == [0, 1]


def test_many_people_are_no_more_than_the_rivals():
    events = [name(at, at, at) for at in range(3 * RIVALS)]
    last = 3 * RIVALS
    assert meant([*events, pronoun(last, last, "M")], [""] * last) == [last - 1]


@given(
    st.lists(
        st.tuples(st.integers(-1, 3), st.sampled_from("FM"), st.sampled_from("sopr")), max_size=40
    )
)
def test_no_pronoun_goes_to_the_other_gender(draws):
    events = [
        name(at, at // 3, person) if person >= 0 else pronoun(at, at // 3, gender, case)
        for at, (person, gender, case) in enumerate(draws)
    ]
    known = ["F", "M", "", ""]
    pending = [event for event in events if event.case]
    for event, person in zip(pending, meant(events, known), strict=True):
        assert person == OTHER or known[person] in ("", event.gender)
