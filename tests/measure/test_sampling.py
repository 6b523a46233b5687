"""Samples: who is in them, their weights, and that the seed alone decides."""

from collections import Counter
from pathlib import Path

import pytest

from measure.cues.stories import story_run
from portrayal.errors import DataError, OptionError
from portrayal.measure.cues.people import run_people
from portrayal.measure.drawing import draw_texts, items_of, short_of_people
from portrayal.raters.sheets import evenly
from portrayal.run import Run, read_rows


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return story_run(tmp_path_factory.mktemp("run"), 80)


def test_strata_are_shared_out_evenly_and_the_chances_are_known(run: Run) -> None:
    draw = draw_texts(run, "people", 20, by=["domain"], seed=1)
    assert {name: n for name, (_, n) in draw.strata.items()} == {"Labor": 10, "Learning": 10}
    sizes = {name: size for name, (size, _) in draw.strata.items()}
    assert sum(sizes.values()) == 77
    assert sorted(set(draw.texts.values())) == pytest.approx(
        sorted({10 / size for size in sizes.values()})
    )
    assert sum(1 / chance for chance in draw.texts.values()) == pytest.approx(77)
    assert evenly(5, [1, 9, 2]) == [1, 2, 2]
    assert evenly(100, [1, 9]) == [1, 9]


def test_every_text_of_a_stratum_has_the_same_chance(run: Run) -> None:
    hits = Counter(
        unit
        for seed in range(300)
        for unit in draw_texts(run, "people", 20, by=[], seed=seed).texts
    )
    assert len(hits) == 77
    assert min(hits.values()) > 45
    assert max(hits.values()) < 115


def test_a_larger_draw_holds_a_smaller_one_and_the_order_is_mixed(run: Run) -> None:
    small, large = (draw_texts(run, "people", n, seed=4) for n in (20, 40))
    assert small.texts.keys() <= large.texts.keys()
    assert list(large.texts) != sorted(large.texts)
    assert draw_texts(run, "people", 20, seed=5).texts != small.texts


def test_by_people_draws_what_has_them_in_each_role(run: Run) -> None:
    draw = draw_texts(run, "stereotypes", 12, by=["race"])
    assert {"Latine, subordinate", "Black, neutral"} <= set(draw.strata)
    texts = {row["text_id"]: row for row in read_rows(run, ("text_id", "prompt_id", "text"))}
    people = dict(run_people(run, texts))
    maria = next(
        item
        for item in items_of(run, draw)
        if any(person.name == "Maria" for person in people[item.text_id][1:])
    )
    assert maria.prompt.startswith("Write of doctor")
    assert maria.roles == {"subject": "doctor", "object": "patient"}
    person = people[maria.text_id][1]
    assert (person.race, person.power) == ("Latine", "subordinate")


def test_weighted_counts_are_right_on_average_where_strata_overlap(run: Run) -> None:
    def total(n: int, seed: int = 0) -> float:
        return sum(
            1 / c for c in draw_texts(run, "x", n, by=["race", "gender"], seed=seed).texts.values()
        )

    totals = [total(24, seed) for seed in range(20)]
    assert sum(totals) / len(totals) == pytest.approx(total(10_000), rel=0.1)


def test_whom_the_prompt_asks_for_is_an_item_person_also_where_nobody_was_found(run: Run) -> None:
    items = items_of(run, draw_texts(run, "people", 100))
    slots = {item.prompt.split()[2]: tuple(item.roles) for item in items}
    assert slots == {"doctor": ("subject", "object"), "student": ("subject",)}


def test_the_seed_and_not_the_shards_decide(run: Run, tmp_path: Path) -> None:
    other = story_run(tmp_path / "run", 80, shard_rows=33)
    for by in (None, ["race"], []):
        draws = [draw_texts(one, "people", 12, by=by, seed=5) for one in (run, other, run)]
        assert draws[0] == draws[1] == draws[2]
        assert items_of(run, draws[0]) == items_of(other, draws[1])


def test_a_draw_says_which_places_it_cannot_correct_and_how_many_texts_would(run: Run) -> None:
    labor, learning = short_of_people(run, draw_texts(run, "people", 20, by=["domain"]))
    assert (labor.place, labor.n_drawn, labor.needed) == ("Labor, power-laden", 10, 40)
    assert (learning.place, learning.n_drawn, learning.least) == ("Learning, power-neutral", 10, 20)
    assert short_of_people(run, draw_texts(run, "people", 40, by=["domain"])) == []
    assert labor.sentence == (
        "these labels cannot correct Labor, power-laden: they are of 10 people of a role there, "
        "and a correction needs 20; --n 40 should do"
    )


def test_what_cannot_be_drawn_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no 'colour' to draw by"):
        draw_texts(run, "people", 10, by=["colour"])
    with pytest.raises(OptionError, match="2 strata need at least as many texts; got n = 1"):
        draw_texts(run, "people", 1, by=["domain"])
    with pytest.raises(OptionError, match="n must be"):
        draw_texts(run, "people", 0)
    bare = story_run(tmp_path / "bare", 8)
    bare.write_settings({"study": "laissez-faire"})
    with pytest.raises(DataError, match="not annotated"):
        draw_texts(bare, "stereotypes", 4, by=["race"])
