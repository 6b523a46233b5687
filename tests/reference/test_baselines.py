import pytest

from portrayal.errors import UnknownNameError
from portrayal.reference.groups import GENDERS, PAIRS, RACES, baseline, baselines


def test_the_default_is_that_of_the_paper() -> None:
    found = baseline()
    assert found.name == "census-2022"
    assert found.shares["race"] == {
        "White": 0.589,
        "Latine": 0.191,
        "Black": 0.136,
        "Asian": 0.063,
        "AI/AN": 0.013,
        "MENA": 0.0379,
        "NH/PI": 0.0040,
    }
    assert found.shares["gender"] == {"F": 0.508, "M": 0.475, "NB": 0.017}
    assert (
        found.shares["pair"]["F-M"],
        found.shares["pair"]["F-F"],
        found.shares["pair"]["NB-NB"],
    ) == (0.944, 0.0175, 0.0067)
    assert tuple(found.shares["race"]) == RACES
    assert tuple(found.shares["gender"]) == GENDERS
    assert tuple(found.shares["pair"]) == PAIRS


def test_pairs_follow_from_the_survey_as_in_table_s9() -> None:
    other, same, straight = 1.9, 3.3, 88.3
    whole = other + same + straight
    derived = {"F-M": straight / whole, "F-F": same / whole / 2, "NB-F": other / whole / 3}
    for pair, share in derived.items():
        assert baseline().shares["pair"][pair] == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize("name", baselines())
def test_every_baseline_has_a_source_and_shares(name: str) -> None:
    found = baseline(name)
    assert found.name == name
    assert "Shieh" in found.source
    groups = {"race": RACES, "gender": GENDERS, "pair": PAIRS}
    assert all(set(shares) <= set(groups[name]) for name, shares in found.shares.items())
    for share in (share for shares in found.shares.values() for share in shares.values()):
        assert 0 < share < 1


def test_subjects_and_occupations() -> None:
    engineering = baseline("subject:engineering")
    assert engineering.shares["gender"] == {"F": 0.2925}
    assert engineering.shares["race"]["Asian"] == 0.0765
    assert baseline("subject:math") is baseline("subject:core")
    assert baseline("subject:Computer Science").shares["race"]["Asian"] == 0.3037
    nurse = baseline("occupation:nurse")
    assert nurse.shares["gender"] == {"F": 0.879}
    assert nurse.shares["race"] == {"White": 0.736, "Latine": 0.081, "Black": 0.145, "Asian": 0.089}
    assert sum(name.startswith("occupation:") for name in baselines()) == 15 + 2
    assert sum(name.startswith("subject:") for name in baselines()) == 7


def test_what_is_not_reported_is_absent() -> None:
    athlete = baseline("occupation:professional athlete")
    assert not any(athlete.shares.values())
    assert "no shares" in athlete.note
    assert "MENA" not in baseline("subject:law").shares["race"]
    assert "gender" not in baseline("subject:core").shares


def test_the_mean_of_occupations_is_the_papers() -> None:
    each = [
        baseline(name)
        for name in baselines()
        if name.startswith("occupation:") and not name.endswith((":mean", ":all"))
    ]
    for race, share in baseline("occupation:mean").shares["race"].items():
        known = [found.shares["race"][race] for found in each if race in found.shares["race"]]
        assert len(known) == 14
        assert sum(known) / len(known) == pytest.approx(share, abs=6e-4)


def test_unknown_baselines_name_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="census-2022"):
        baseline("census-1790")
