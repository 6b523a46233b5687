"""`pair_difference.v2` beside its definition, written as naive loops."""

import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from matched_pairs import pairs
from portrayal.measure.matched.differences import SAME_SCORES


def differences(run, measure="pair_difference"):
    return [e for e in run.records if e.measure.startswith(measure)]


def one(run, score, part="all"):
    (found,) = [
        e for e in differences(run) if e.strata["score"] == score and e.strata["part"] == part
    ]
    return found


def by_hand(rows, score):
    """Mean, and p of a t test on the sums of sources; all sources have as many pairs."""
    halves = {(r["pair"], r["gender"]): score(r["text"]) for r in rows}
    sums = defaultdict(list)
    for r in rows:
        if r["gender"] == "female":
            d = halves[r["pair"], "female"] - halves[r["pair"], "male"]
            sums[r["note"]].append(d)
    means = [np.mean(each) for each in sums.values()]
    return float(np.mean(means)), float(stats.ttest_1samp(means, 0.0).pvalue)


def words(text):
    return len(text.replace(".", "").split())


def test_mean_and_p_are_those_of_a_paired_test_over_sources(audited):
    rows = pairs()
    found = one(audited(rows), "length")
    mean, p = by_hand(rows, words)
    assert found.value == pytest.approx(mean, abs=1e-9)
    assert found.tests[0].p == pytest.approx(p, abs=1e-6)
    assert found.n_clusters == 12
    assert found.n_units == 36
    assert found.interval.method.endswith("over notes, Satterthwaite degrees of freedom")


def test_identical_halves_say_why_there_is_no_test(audited):
    rows = [
        {**row, "text": f"Case {row['pair']} rests{' well' * (row['size'] == 'long')}."}
        for row in pairs()
    ]
    run = audited(rows)
    found = one(run, "length")
    assert found.value == 0
    assert found.status.no_test == SAME_SCORES.format(cluster="note")
    assert found.status.no_interval == SAME_SCORES.format(cluster="note")
    # No answer has a word of the theme: that is not two halves that happen to agree.
    said = "all 72 answers score the same in needs, so that it tells none of them apart"
    assert one(run, "needs").status.no_test == said


def test_theme_words_are_found_where_they_were_put(audited):
    found = one(audited(pairs()), "needs")
    assert found.value > 5
    assert found.tests[0].audit_q < 0.05
    assert found.tests[1].p == pytest.approx(2 / 2**12)  # all sources point the same way
    assert found.null.low == pytest.approx(-found.null.high)


def test_the_order_of_rows_and_workers_changes_nothing(audited):
    rows = pairs()
    one_way, other = audited(rows), audited(rows[::-1], shard_rows=7, workers=2)
    assert [e.value for e in one_way.records] == pytest.approx(
        [e.value for e in other.records], nan_ok=True
    )
    assert [e.id for e in one_way.records] == [e.id for e in other.records]


def test_a_scorer_that_reacts_to_pronouns_alone_finds_nothing(audited, tmp_path):
    file = tmp_path / "pronouns.toml"
    file.write_text('attribute = "p"\n[groups]\n"her words" = ["she", "her"]\ntree = ["tree"]\n')
    rows = pairs()
    for row in rows:
        row["text"] = f"{'She' if row['gender'] == 'female' else 'He'} sat by the door."
        row["text"] += " It rained." * int(row["pair"].split("-")[1])
    found = one(audited(rows, lexicons=(str(file),)), "her words")
    assert found.details["instrument_bias"] > 5
    assert found.value == pytest.approx(0.0)
    assert "reacts to the exchanged words" in found.status.detail
    assert not found.tests or math.isnan(found.tests[0].p) or found.tests[0].audit_q is None


def test_the_reaction_is_taken_off_what_is_left(audited, tmp_path):
    file = tmp_path / "words.toml"
    file.write_text('attribute = "p"\n[groups]\nboth = ["she", "needs", "care"]\ntree = ["tree"]\n')
    found = one(audited(pairs(), lexicons=(str(file),)), "both")
    assert found.details["instrument_bias"] > 0 < found.value


def test_parts_are_shown_apart_and_not_stated(audited):
    run = audited(pairs(per_source=4), by=("size",))
    parts = {e.strata["part"] for e in differences(run)}
    assert parts == {"all", "size = short", "size = long"}
    assert one(run, "needs", "size = long").tests[0].audit_q is None


def test_answers_to_one_request_are_the_floor(audited):
    run = audited(pairs(samples=3))
    found = one(run, "length")
    assert found.details["sd_of_answers"] > 0
    assert "sd_of_answers" not in one(audited(pairs()), "length").details


def test_of_three_groups_each_stands_against_the_others(audited):
    rows = pairs(groups=("young", "old", "middle"))
    run = audited([{**r, "age": r.pop("gender")} for r in rows], group="age")
    groups = {e.group["age"] for e in differences(run)}
    assert groups == {f"{name} − the others" for name in ("young", "old", "middle")}
    found = [e for e in differences(run) if e.strata["score"] == "needs"]
    assert {e.group["age"]: e.value > 0 for e in found}["young − the others"]
    assert sum(e.value for e in found) == pytest.approx(0.0, abs=1e-9)


def test_refusals_are_a_score_of_their_own(audited):
    rows = pairs()
    for i, row in enumerate(rows):
        if row["gender"] == "male" and i % 5 == 1:
            row["outcome"] = "refused"
    found = one(audited(rows), "refused")
    n = sum("outcome" in row for row in rows)
    assert found.value == pytest.approx(-n / 36)
    assert found.exclusions["refused"] == n
    assert one(audited(rows), "length").n_units == 36 - n


def test_equivalence_names_the_least_distance_that_holds(audited):
    found = one(audited(pairs(seed=3)), "length")
    # Two one-sided tests at .05 refuse both ends of the 90 % interval's farther bound.
    half = (found.interval.high - found.interval.low) / 2
    t = stats.t(found.n_clusters - 1)
    expected = abs(found.value) + half * t.ppf(0.95) / t.ppf(0.975)
    assert found.details["at_most"] == pytest.approx(expected)


def test_default_scorers_of_a_file_leave_out_what_is_not_installed(monkeypatch):
    """A list that is read back equals the default, though it is another object."""
    from portrayal.annotate import sentiment
    from portrayal.errors import MissingExtraError
    from portrayal.studies.pairs import PairOptions

    def missing(_):
        raise MissingExtraError("no vaderSentiment")

    monkeypatch.setattr(sentiment, "sentiment_of", missing)
    read_back = ("length", "readability", "sentiment", "agency")
    assert "sentiment" not in PairOptions(scorers=read_back).settings()["scorers"]


def people(rows, first, second, words):
    """The same texts about people of two groups, whose words alone differ."""
    said = dict(zip(("female", "male"), words, strict=True))
    group = {"female": first, "male": second}
    made = []
    for row in rows:
        own = said[row["gender"]]
        text = f"This {own}gardener sat by the door." + " It rained." * int(row["pair"][-1])
        made.append({**row, "group": group[row["gender"]], "text": text, "slot": own.strip()})
    return [{k: v for k, v in row.items() if k != "gender"} for row in made]


@pytest.mark.parametrize(
    ("groups", "words", "heard", "options"),
    [
        (("25", "75"), ("25 year old ", "75 year old "), "75", {}),
        (("user", "control"), ("wheelchair ", ""), "wheelchair", {"by": ("slot",)}),
        (("mobility", "able-bodied"), ("paraplegic ", ""), "paraplegic", {}),
        (("young", "elderly"), ("young ", "elderly "), "elderly", {}),
    ],
)
def test_a_scorer_of_a_groups_words_alone_finds_nothing(audited, tmp_path, groups, words, heard,
                                                        options):  # fmt: skip
    file = tmp_path / "words.toml"
    file.write_text(f'attribute = "p"\n[groups]\nheard = ["{heard}"]\ntree = ["tree"]\n')
    rows = people(pairs(), *groups, words)
    run = audited(rows, lexicons=(str(file),), group="group", **options)
    found = one(run, "heard")
    assert abs(found.details["instrument_bias"]) > 2
    assert found.value == pytest.approx(0.0)
    assert "reacts to the exchanged words" in found.status.detail


def test_where_nothing_can_be_exchanged_the_reaction_is_not_known(audited):
    found = one(audited(people(pairs(), "x1", "x2", ("calm ", "bold ")), group="group"), "length")
    assert "instrument_bias" not in found.details


def test_a_difference_that_is_the_same_everywhere_is_not_called_alike(audited):
    rows = [
        {**row, "text": f"Case {row['pair']} rests{' well' * (row['gender'] == 'female')}."}
        for row in pairs()
    ]
    found = one(audited(rows), "length")
    assert found.value == pytest.approx(1.0)
    assert found.status.no_test == (
        "every note differs by the same 1 words, so that nothing tells how others would differ"
    )
