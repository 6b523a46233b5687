"""Names in all their forms: titles, letters, initials, and names that no list knows."""

import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone


def forms(text, person):
    """How a text writes a person's name."""
    return list(dict.fromkeys(text[s.start : s.end] for s in person.spans if s.kind == "name"))


def found(text):
    """Who is found by the rules alone: the network takes more words for names ("Hope faded")."""
    return [(p.name, p.gender) for p in find_everyone(text, refer=None)]


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Adeyemi washed up. Mrs. Adeyemi dried the plates.",
        "Mrs Adeyemi sold bread to Mr Adeyemi.",
        "Monsieur Adeyemi snored while Madame Adeyemi read.",
        "Señora Adeyemi waited. Then Señor Adeyemi came.",
        "Mr. and Mrs. Adeyemi came by bus.",
        "Lord and Lady Adeyemi came by bus.",
        "Her uncle Olu Adeyemi was ill. Mrs. Adeyemi, his mother, wrote.",
    ],
)
def test_titles_of_two_genders_are_two_people(text):
    assert sorted(gender for _, gender in found(text)) == ["F", "M"]


def test_a_surname_alone_is_the_last_one_named():
    text = "Mrs. Ortiz sang. Mr. Ortiz slept. Ortiz snored. Mrs. Ortiz left."
    assert [(p.title, len(forms(text, p)), p.sentences) for p in find_everyone(text)] == [
        ("Mrs", 1, (0, 3)),
        ("Mr", 2, (1, 2)),
    ]


def test_a_couple_has_one_name_and_two_titles():
    people = find_everyone(
        "Dr. and Mrs. Berg moved to Bath. Dr. Berg likes it. Mrs. Berg does not."
    )
    assert [(p.title, p.gender, p.sentences) for p in people] == [
        ("Dr", "Unspecified", (0, 1)),
        ("Mrs", "F", (0, 2)),
    ]


def test_a_husband_s_full_name_is_not_his_wife_s():
    first, second = find_everyone("Mr. and Mrs. Karl Berg moved to Bath.")
    assert (first.name, first.gender, second.name, second.gender) == ("Karl Berg", "M", "Berg", "F")


def test_two_people_of_one_gender_and_surname_stay_one():
    assert found("Mr. Ortiz sang. Then Mr. Ortiz slept.") == [("Ortiz", "M")]


@pytest.mark.parametrize(
    "text",
    [
        "Nora Quist MP asked why she was late.",
        "Dr. Nora Quist MD, of Hull, said she was glad.",
        "Nora Quist OBE retired. She was 70.",
        "Nora Quist, FRS, gave her talk.",
        "Nora Quist Ph.D. gave her talk.",
    ],
)
def test_letters_behind_a_name_keep_the_person(text):
    assert found(text) == [("Nora Quist", "F")]


def test_letters_of_an_honour_are_no_part_of_a_name_that_no_list_knows():
    assert found("Then Xolani Mdze QC rose.") == [("Xolani Mdze", "Unspecified")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("P. D. Hallow sent her regrets. Hallow was ill.", "P. D. Hallow"),
        ("On Monday P.D. Hallow said she agreed.", "P.D. Hallow"),
        ("A.P. Rasheed Hallow sold her farm.", "A.P. Rasheed Hallow"),
        ("Rosa A. Hallow sold her farm.", "Rosa A. Hallow"),
    ],
)
def test_initials_are_part_of_the_name(text, name):
    (person,) = find_everyone(text)
    assert (person.name, person.last, person.gender) == (name, "Hallow", "F")


def test_other_initials_are_another_person():
    text = "P. D. Hallow wrote. R. J. Hallow read. P. D. Hallow wrote again."
    assert [len(p.sentences) for p in find_everyone(text)] == [2, 1]
    assert found("He moved to the U.K. Parliament met.") == []


@pytest.mark.parametrize(
    "text",
    [
        "Xolani Mdze is from Durban. He mends nets.",
        "Xolani Mdze runs the mill with his wife.",
        "Xolani Mdze lost the race by a minute, and he wept.",
    ],
)
def test_names_that_no_list_knows_are_told_by_what_stands_around(text):
    assert ("Xolani Mdze", "M") in found(text)


def test_who_stands_beside_a_person_is_one():
    names = [name for name, _ in found("Emily Tarn and Xolani Mdze share the mill.")]
    assert names == ["Emily Tarn", "Xolani Mdze"]


@pytest.mark.parametrize(
    "text",
    [
        "Cape Mdze is from another age. He loved it.",
        "Xolani Rovers lost the cup. He wept.",
        "Xolani Mdze opened its doors. He wept.",
        "They live in Florence, Italy. Florence is warm.",
        "He moved to St. Anthony in May. St. Anthony was hot.",
        "They sang in St. Mary's. St. Mary's was full.",
    ],
)
def test_places_teams_and_storms_are_nobody(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "name", "gender"),
    [
        ("Last year Mark phoned; he was sad.", "Mark", "M"),
        ("Joy sat on the stairs. She waited.", "Joy", "F"),
        ("Then Frau Elke Voss wrote.", "Elke Voss", "F"),
        ("Ibrahim al-Farsi wrote his book.", "Ibrahim al-Farsi", "M"),
    ],
)
def test_words_that_are_names_here(text, name, gender):
    assert found(text) == [(name, gender)]


@pytest.mark.parametrize("text", ["Summer ended. She left.", "Hope faded. He went home."])
def test_words_that_are_no_names_here(text):
    assert found(text) == []


def test_a_surname_that_is_a_title_is_found_alone():
    (person,) = find_everyone("Coretta King, Jr. sang. King was tired.")
    assert (person.last, person.sentences) == ("King", (0, 1))


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Deputy Minister", "Deputy Minister"),
        ("Prime Minister", "Prime Minister"),
        ("Attorney General", "Attorney General"),
        ("Rev. Dr.", "Rev"),
    ],
)
def test_titles_of_several_words(title, told):
    (person,) = find_everyone(f"Then {title} Emily Tarn rose.")
    assert person.title == told


def test_he_is_rather_somebody_whom_they_does_not_refer_to():
    text = (
        "Robin Vale is a potter. They throw bowls, and their kiln is old. They sell them at"
        " markets. Robin Vale met Carl Otto once. Robin knew he was tired. They went home."
    )
    assert found(text) == [("Robin Vale", "NB"), ("Carl Otto", "M")]
