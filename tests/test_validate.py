"""Checks of arguments: what passes is returned, what does not is explained."""

import pytest

from portrayal.errors import OptionError
from portrayal.measure.scope import Scope
from portrayal.validate import (
    check_choice,
    check_count,
    check_different_files,
    check_level,
    check_seed,
    check_smoothing,
)


@pytest.mark.parametrize("level", [0.5, 0.95, 1e-9, 1 - 1e-9])
def test_levels_are_fractions(level):
    assert check_level(level) == level


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan"), float("inf")])
def test_other_levels_are_refused(level):
    with pytest.raises(OptionError, match=r"fraction between 0 and 1, such as 0\.95"):
        check_level(level)


@pytest.mark.parametrize("seed", [0, 7, 2**70])
def test_seeds_are_whole_numbers(seed):
    assert check_seed(seed) == seed


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, None])
def test_other_seeds_are_refused(seed):
    with pytest.raises(OptionError, match="seed must be a whole number of 0 or more"):
        check_seed(seed)


def test_counts_have_a_least_value():
    assert check_count("workers", 1, minimum=1) == 1
    assert check_count("draws", 0) == 0


@pytest.mark.parametrize("value", [0, -3, 2.0, "4", False, None])
def test_other_counts_are_refused_by_name(value):
    with pytest.raises(OptionError, match="workers must be a whole number of at least 1; got"):
        check_count("workers", value, minimum=1)


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
def test_smoothing_is_not_negative(value):
    assert check_smoothing(0) == 0
    assert check_smoothing(0.5) == 0.5
    with pytest.raises(OptionError, match="smoothing"):
        check_smoothing(value)


def test_choices_are_listed():
    assert check_choice("format", "csv", iter(["csv", "json"])) == "csv"
    with pytest.raises(OptionError, match="format must be one of csv, json; got 'xml'"):
        check_choice("format", "xml", iter(["csv", "json"]))


def test_an_option_error_is_also_a_value_error():
    with pytest.raises(ValueError, match="level"):
        check_level(2)


@pytest.mark.parametrize(
    "settings",
    [
        {"level": 95},
        {"seed": -1},
        {"draws": 99},
        {"permutations": 19},
        {"min_name_count": 0},
        {"smoothing": -1.0},
    ],
)
def test_a_scope_checks_its_settings(settings):
    with pytest.raises(OptionError, match=next(iter(settings))):
        Scope("study", **settings)


def test_random_streams_depend_on_seed_study_and_labels_alone():
    def first(scope, *labels):
        return int(scope.rng(*labels).integers(2**60))

    scope = Scope("study", seed=3)
    assert first(scope, "a", "b") == first(Scope("study", seed=3, level=0.9), "a", "b")
    others = [
        first(scope, "b", "a"),
        first(scope, "ab"),
        first(scope, "a b"),
        first(Scope("study", seed=4), "a", "b"),
        first(Scope("other", seed=3), "a", "b"),
    ]
    assert len({first(scope, "a", "b"), *others}) == 6


def test_a_rater_is_not_given_twice(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    check_different_files([one, other])
    (tmp_path / "link.csv").symlink_to(one)
    for again in (one, tmp_path / "." / "one.csv", tmp_path / "link.csv"):
        with pytest.raises(OptionError, match="given twice"):
            check_different_files([one, other, again])
