from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.people.any_text.pronouns import RIVALS, Event, resolve


def name(at, sentence, person, subject=1.0):
    return Event(at, sentence, person, subject, "", "", -1)


def pronoun(at, sentence, gender, case="s", quote=-1):
    return Event(at, sentence, -1, 1.0 if case == "s" else 0.0, gender, case, quote)


def test_a_pronoun_goes_to_the_last_subject():
    found, genders = resolve(
        [name(0, 0, 0), name(3, 0, 1, 0.0), pronoun(6, 1, "F")], ["", ""], {}, {}
    )
    assert found == [0]
    assert genders == ["F", ""]


def test_a_known_gender_rules_out():
    assert resolve([name(0, 0, 0), name(3, 0, 1, 0.0), pronoun(6, 1, "F")], ["M", ""], {}, {})[
        0
    ] == [1]


def test_nobody_of_that_gender():
    assert resolve([name(0, 0, 0), pronoun(6, 1, "F")], ["M"], {}, {})[0] == [-1]
    assert resolve([], [], {}, {}) == ([], [])


def test_a_barred_person_is_passed_over():
    events = [name(0, 0, 0), name(3, 0, 1), pronoun(6, 0, "F", "p")]
    assert resolve(events, ["F", "F"], {6: 1}, {})[0] == [0]


def test_a_speaker_does_not_say_she_of_herself():
    events = [name(0, 0, 0, 0.0), name(2, 0, 1), pronoun(5, 0, "F", quote=0)]
    assert resolve(events, ["F", "F"], {}, {0: 1})[0] == [0]


def test_many_people_are_no_more_than_the_rivals():
    events = [name(at, at, at) for at in range(3 * RIVALS)]
    last = 3 * RIVALS
    assert resolve([*events, pronoun(last, last, "M")], [""] * last, {}, {})[0] == [last - 1]


def test_somebody_else_is_preferred_to_whom_they_refers_to():
    events = [name(0, 0, 0), name(3, 0, 1, 0.0), pronoun(6, 1, "F")]
    assert resolve(events, ["", ""], {}, {}, {0})[0] == [1]
    assert resolve(events[:1] + events[2:], [""], {}, {}, {0})[0] == [0]


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
    found, _ = resolve(events, known, {}, {})
    pending = [event for event in events if event.person < 0]
    for event, person in zip(pending, found, strict=True):
        assert person == -1 or known[person] in ("", event.gender)
