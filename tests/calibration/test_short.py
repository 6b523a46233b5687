"""A short version of `benchmarks.calibration`: hard cells that a method without its level fails.

Bounds leave three standard errors of the replications; the naive methods of the same cells are
asserted to miss them, so that a bound which anything would pass cannot stay unnoticed.
"""

import csv
import json
import sys
from argparse import Namespace
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # `benchmarks` is beside `tests`

from benchmarks import (
    calibration,
    calibration_audits,
    calibration_models,
    calibration_news,
    calibration_stories,
    calibration_units,
    calibration_worlds,
    comparison,
    gate,
    hand_sentences,
    pairs,
)
from benchmarks.calibration_worlds import Cell

from fair_answers import fair_answers
from portrayal import stats
from portrayal.measure.scope import Scope
from portrayal.stats.naming import fair_naming
from portrayal.studies.laissez_faire import sample
from support import matrix

NAIVE = ("Wilson, texts as if independent", "percentile bootstrap of prompts", "log t")


def rng(seed):
    return np.random.default_rng([20261122, seed])


@pytest.fixture(scope="module")
def people():
    return calibration_worlds.bearers()


@pytest.mark.parametrize(
    ("cell", "fails"),
    [
        (Cell(15, 100, 0.2, 0.04), NAIVE),
        (Cell(25, 100, 0.5, 0.02), NAIVE),
        (Cell(5, 20, 0.5, 0.1), NAIVE),
        (Cell(15, 20, 0.2, 0.1, True), NAIVE[:2]),
        (Cell(25, 20, 0.05, 0.5), NAIVE[:1]),
        (Cell(3, 20, 0.0, 0.5), NAIVE[1:2]),
    ],
    ids=str,
)
def test_intervals_of_shares_cover(cell, fails):
    found = calibration.share_coverage(rng(1), cell, 400)
    assert found.pop("ours") >= 0.95 - 0.033
    for method in fails:
        assert found[method] < 0.95 - 0.033, method


def test_a_naive_interval_in_our_place_is_seen(monkeypatch):
    def naive(count, total, level):
        low, high = stats.wilson(np.sum(count, 0), np.sum(total, 0), level)
        return type("Found", (), {"low": low, "high": high})

    monkeypatch.setattr(calibration.stats, "infer_shares", naive)
    with pytest.raises(AssertionError):
        test_intervals_of_shares_cover(Cell(10, 100, 0.2, 0.04), ())


@pytest.mark.parametrize(
    "cell",
    [
        Cell(10, 100, 0.5, 0.14),
        Cell(25, 100, 0.2, 0.01),
        Cell(15, 100, 0.2, 0.14, True),
        Cell(5, 20, 0.2, 0.14, True),
    ],
    ids=str,
)
def test_ratios_of_equal_roles_are_refused_at_the_level(cell):
    found = calibration.ratio_errors(rng(2), cell, 400)
    assert found.pop("t of the log ratio") > 0.05 + 0.033
    assert max(found.values()) <= 0.05 + 0.033


def test_medians_of_five_models_keep_their_level(people):
    cell, models = Cell(15, 20, 0.2, 0.1), calibration_models
    for spread in (models.ALIKE, models.APART):
        coverage, error = models.share_coverage(rng(11), cell, spread, True, 200)
        assert coverage >= 0.95 - 0.047
        assert error <= 0.05 + 0.047
    tested, covers, error = models.role_errors(rng(12), cell, models.APART, False, 60)
    assert tested == 1.0
    assert covers >= 0.95 - 0.085
    assert error <= 0.05 + 0.085
    _, covers, power = models.role_errors(rng(15), Cell(15, 20, 0.2, 0.14), (2.0,) * 5, False, 400)
    assert covers >= 0.95 - 0.033
    assert power >= 0.87 - 0.05
    assert models.fair_errors(rng(13), people, 10, 0.2, 25)[[0, 1, 2, 3, 5]].max() <= 0.05 + 0.13


def test_fractional_counts_of_a_rare_group_cover():
    count, total, squares, truth = calibration_worlds.fractional_world(
        rng(14), Cell(10, 20, 0.2, 0.05), 400
    )
    found = stats.infer_shares(count, total, 0.95, squares=squares)
    assert np.mean((found.low <= truth) & (truth <= found.high)) >= 0.95 - 0.033


def test_ratios_of_roles_cover_and_agree():
    for shared in (True, False):
        coverage, some, power, _, _, wrong = calibration.role_coverage(
            rng(3), Cell(15, 20, 0.05, 0.14), 2.0, 200, shared=shared
        )
        assert coverage >= 0.95 - 0.047
        assert (some, wrong) == (1.0, 0)
        assert power > 0.5
    few = calibration.role_coverage(rng(4), Cell(4, 20, 0.05, 0.14), 2.0, 50, shared=True)
    assert few[:2] == ("–", 0.0)


def test_means_and_differences_cover():
    for cell in (Cell(3, 5, 0.0, 0.0), Cell(10, 100, 0.5, 0.0)):
        found = calibration.mean_errors(rng(5), cell, 400)
        assert min(found.values()) >= 0.95 - 0.033


def test_fair_naming_is_refused_at_the_level(people):
    ours, against_baseline, wrong = calibration.naming_errors(rng(6), people, 15, 40, 0.05, 120)
    measured = fair_naming(people.weight, people.likelihood).measurable
    assert measured.tolist() == [True, True, True, True, False, True, False]
    assert ours[measured].max() <= 0.05 + 0.06
    assert against_baseline[2] > 0.5  # Black people, against p* and not against R0
    assert wrong == 0


def test_corrected_ratios_of_a_rare_group_cover_where_they_did_not():
    annotator = calibration_stories.Annotator(0.5, 0.75, 400)
    found = calibration_stories.corrected_audits(
        rng(12), Cell(15, 200, 0.2, 0.02), 2.0, annotator, 80
    )
    coverage = {name: np.nanmean(rows[:, 1]) for name, rows in found.items()}
    for measure in ("representation", "subordination"):
        agrees, some = found[f"{measure}, corrected"].T[3:]
        assert coverage[f"{measure}, corrected"] >= 0.95 - 0.073
        assert np.nanmin(agrees) == 1.0
        assert some.mean() > 0.8
    values = found["representation, corrected"][:, 0]
    assert np.nanmean(values) == pytest.approx(1.0, abs=0.3)
    assert np.nanmean(found["representation, naive"][:, 0]) < 0.8
    assert coverage["representation, naive"] < 0.95 - 0.073


def test_the_median_over_thresholds_keeps_its_level(people):
    tested, error = calibration.median_errors(rng(9), people, 8, 0.2, 60)
    # Where thresholds in the middle are reached in fewer than 5 prompts, there is none.
    assert tested >= 54
    assert error <= 0.05 + 0.085


@pytest.fixture(scope="module")
def labelled_stories(tmp_path_factory):
    """The sample stories have no hand labels; a made-up file of forty prompts has."""
    made, lines = rng(10), []
    for i in range(800):
        names = made.choice(["Sarah", "John", "Maria", "Wei", "Aaliyah", "Emily"], 2)
        genders = made.choice(["Female", "Male", "Non-binary"], 2, p=[0.5, 0.45, 0.05])
        domain = "Labor" if i % 40 < 20 else "Love"
        row = {"condition": "power-laden", "prompt": f"p{i % 40}", "model": f"m{i // 40 % 2}"}
        row |= {"domain": domain, "text": f"Story {i}.", "subject_role": "cook"}
        row |= {"object_role": "guest"}
        for slot, name, gender in zip(("subject", "object"), names, genders, strict=True):
            row |= {f"gold_{slot}_name": name, f"gold_{slot}_gender": gender}
        lines.append(json.dumps(row) + "\n")
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_audits_of_swapped_stories_state_nothing(labelled_stories):
    made, stories = rng(31), calibration_worlds.gold_stories(labelled_stories)
    found = []
    for _ in range(3):
        coins = made.random(40) < 0.5
        p, low, high, _, stated = calibration.gold_audit(stories, coins[stories.prompt], made)
        assert not np.any((p < 0.05) & (low <= 1) & (high >= 1))
        found.append(stated)
    assert sum(count > 0 for count in found) <= 1


def test_strata_are_each_domain_for_all_models_and_for_each(labelled_stories):
    stories = calibration_worlds.gold_stories(labelled_stories)
    assert (stories.domains, stories.models) == (("Labor", "Love"), ("m0", "m1"))
    first_of_love = stories.strata[len(stories.models) + 1]
    assert first_of_love.sum() == 400  # both models' stories


def test_models_whose_stories_were_dealt_anew_do_not_differ(labelled_stories):
    with calibration_audits.gold_run(labelled_stories) as run:
        tally = calibration_audits.gold_tally(run)
        for seed in (32, 33):
            assert calibration_audits.shuffled_changes(run, tally, ("m0", "m1"), rng(seed)) == 0


def test_changed_halves_of_pairs_state_nothing_and_what_is_planted_is_found(tmp_path):
    table = tmp_path / "pairs.csv"
    rows = [row | {"source": row["pair"]} for row in fair_answers(3, 120)]
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    texts, scope = pairs.read(str(table), "source", None), Scope("pairs")
    for world in pairs.worlds(texts, 2, 1, None):
        assert not pairs.stated(world, scope)
        planted = replace(world, planted=frozenset(range(0, 120, 3)))
        assert pairs.PLANTED in {e.strata.get("word") for e in pairs.stated(planted, scope)}
        refused = pairs.refuse(world, 0.3, rng(34))
        assert "refused" in {e.strata.get("score") for e in pairs.stated(refused, scope)}
    [drawn] = pairs.worlds(texts, 1, 1, 60)
    assert not pairs.stated(drawn, scope)


def test_stories_that_were_dealt_to_two_runs_by_coins_do_not_differ(capsys):
    comparison.real(sample(), 1_000, 2)
    assert "splits with any audit_q < .05: 0 of 2" in capsys.readouterr().out


def test_gates_are_asked_again_about_as_many_texts_of_a_prompt(monkeypatch, capsys):
    draw, texts = gate.drawn, []

    def drawn(rng, prompts, n, *rest, **more):
        texts.append(n)
        return draw(rng, prompts, n, *rest, **more)

    monkeypatch.setattr(gate, "drawn", drawn)
    gate.enough(Namespace(seed=0, splits=3))
    assert texts == [10] * 6
    assert "10 texts a prompt" in capsys.readouterr().out


def test_changes_of_invented_news_are_corrected_by_labels_of_sentences(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["hand_sentences", "--reps", "6", "--pairs", "60"])
    hand_sentences.main()
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("| 300 | F |"))
    true, scored, corrected = (float(cell) for cell in row.split("|")[3:6])
    assert abs(corrected - true) < 0.1 < abs(scored - true)


def test_a_section_is_stored_in_the_place_of_its_old_tables(tmp_path, monkeypatch, capsys):
    path = tmp_path / "tables.json"
    path.write_text('[{"section": "naming", "rows": [[1, 2]]}, {"section": "joint", "rows": []}]')
    arguments = ["calibration", "joint", "--reps", "1", "--json", str(path)]
    monkeypatch.setattr("sys.argv", arguments)
    monkeypatch.setattr(calibration, "TABLES", [])
    calibration.main()
    old, new = json.loads(path.read_text("utf-8"))
    assert old == {"section": "naming", "rows": [[1, 2]]}
    assert (new["section"], len(new["rows"])) == ("joint", 15)
    lines = path.read_text("utf-8").splitlines()
    assert all(json.loads(line.rstrip(",")) for line in lines if line[:2] == '["')
    assert "joint normals" in capsys.readouterr().out


@pytest.mark.parametrize("texts", matrix([7, 1]))
def test_topics_beside_originals_keep_their_level_and_have_power(texts):
    null = calibration_news.rejections(rng(9), calibration_news.News(texts=texts), 40, 39)
    assert "paired_distance.v1" in null
    for name, found in null.items():
        assert found[0] <= 0.06 + 3 * (0.06 * 0.94 / found[3]) ** 0.5, name
        if name != "group_change.v1":
            assert found[2] == pytest.approx(found[1], rel=0.05), name
    some = calibration_news.rejections(rng(10), calibration_news.News(texts=texts, bias=1.2), 8, 59)
    assert some["group_change.v1"][0] > 0.5
    assert texts > 1 or some["paired_distance.v1"][0] > 0.5


def test_originals_and_texts_that_change_places_keep_their_topics():
    """Twenty audits by one fit hold the same sentences, of which each text keeps its own."""
    world = calibration_news.News(pairs=8, texts=3, topics=4)
    sides = calibration_news.world(rng(11), world)
    _, *read = calibration_news._topics(rng(12), sides, world)
    dealt, dealt_read = calibration_news._dealt(rng(13), sides, read)

    def texts(sides, read):
        return [
            (
                side.pair[i],
                *(tuple(x[a:b].tolist()) for x in (side.topic, side.group, of_side.topic)),
                of_side.words[a:b].sum(),
            )
            for side, of_side in zip(sides, read, strict=True)
            for i, (a, b) in enumerate(pairwise(side.start.tolist()))
        ]

    before, after = texts(sides, read), texts(dealt, dealt_read)
    assert before != after
    assert sorted(before) == sorted(after)
    assert dealt[1].pair.tolist() == list(range(8))


def test_names_over_topics_are_both_units():
    """With an effect of names and of groups in topics, only both ways keep the level."""
    world = calibration_units.Crossed(5, 15, name=1.0, group=0.5)
    draws = rng(9)
    p = np.array([calibration_units.p_values(draws, world, 0.0) for _ in range(250)])
    prompts, topics, _, both, variance = (p < 0.05).mean(0)
    assert max(both, variance) <= 0.05 + 0.033
    assert min(prompts, topics) > 0.2


def test_a_gender_effect_alone_is_no_intersection_also_where_names_of_women_are_of_one_race(people):
    world = calibration_audits.Roles(1, 24, latine=3.0)
    for i in range(8):
        page = calibration_audits.said(world.tally(rng(15 + i), people), i, ["subordination.v1"])
        assert {"gender": "F"} in [e.group for e in page.stated]
        assert page.crossed() == (False, False, False)


def test_total_separation_on_eight_prompts_is_stated_in_a_whole_audit(people):
    world = calibration_audits.Roles(greater=0.3, lesser=0.0, texts=20, one=True)
    page = calibration_audits.said(world.tally(rng(30), people), 0)
    assert page.stated[0].strata["domain"] == "Labor"
    assert page.stated[0].measure == "subordination.v1"
