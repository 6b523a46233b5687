"""What a design of people asks of its columns: which to compare by, and which to check."""

from portrayal.collect.sources import open_source
from portrayal.recognise import recognise


def test_people_are_compared_by_settings_and_checked_against_a_column_of_genders() -> None:
    names = ("Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal")
    rows = [
        {
            "story": f"{name} walked to the sea on day {i} and sang of {i} boats. It rained.",
            "mood": ("sad", "glad")[i % 2],
            "gender": ("woman", "man", "unclear")[i % 3],
        }
        for i in range(12)
        for name in names
    ]
    design = recognise(open_source(rows))
    assert (design.study, design.options) == ("people", {"by": ("mood",), "check": "gender"})
