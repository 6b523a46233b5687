"""Groups that nothing pairs, several columns of groups, and columns that are scores."""

import re

import numpy as np
import pytest
from scipy import stats

from matched_pairs import pairs
from portrayal.errors import OptionError
from portrayal.records import LIKE_THESE, TEXT_SD, THESE, UNITS
from portrayal.report.first import first_screen
from portrayal.report.view import View

TOPICS = ("the garden", "a long trip", "the new job", "a broken sink", "the old car")
FILLERS = (
    "Write down the costs and check them twice.",
    "Leave time for what may go wrong.",
    "It helps to sleep on it.",
    "Keep the receipts in one place.",
    "A good plan is simple.",
)


def answers(n=240, seed=0, phrase=0.0):
    """Answers of a column of groups; a phrase stands in this share of those to women."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        group = ("woman", "man")[i % 2]
        fillers = rng.permutation(FILLERS)[: rng.integers(2, 5)].tolist()
        if group == "woman" and rng.random() < phrase:
            fillers.insert(1, "You could ask a partner about that.")
        text = f"Case {i} is about {rng.choice(TOPICS)}. {' '.join(fillers)}"
        help_score = 3.0 + rng.standard_normal() + 0.8 * (group == "man")
        rows.append({
            "user": group, "text": text, "helpful": str(round(help_score, 3)),
            "solved": ("yes", "no")[int(rng.random() < 0.5)],
        })  # fmt: skip
    return rows


def of_score(run, score, **group):
    (e,) = [e for e in run.records
            if e.strata.get("score") == score and group.items() <= e.group.items()]  # fmt: skip
    return e


def apart(audited, rows, **options):
    return audited(rows, **({"group": "user", "apart": True, "source": None} | options))


def test_the_difference_is_that_of_two_means_and_its_test_welchs(audited):
    rows = answers()
    run = apart(audited, rows, score=("helpful",))
    found = of_score(run, "helpful")
    sides = {g: [float(r["helpful"]) for r in rows if r["user"] == g] for g in ("man", "woman")}
    welch = stats.ttest_ind(sides["man"], sides["woman"], equal_var=False)
    assert found.value == pytest.approx(np.mean(sides["man"]) - np.mean(sides["woman"]))
    assert found.tests[0].p == pytest.approx(welch.pvalue, rel=0.05)
    assert (found.unit, found.n_clusters, found.n_texts) == ("text", 120, 240)
    assert found.n_units == 240  # of both groups
    cells = [c.cells[-1] for c in first_screen(View.of(run)).lead.candidates]
    assert cells
    assert all(re.fullmatch(r"too many|[\d,]+ texts", cell) for cell in cells)
    assert found.details["at_most"] > found.value
    # The signs of what texts say give the same range as Welch's error, as texts are many.
    assert found.null.high == pytest.approx(1.96 * found.value / welch.statistic, rel=0.1)


def test_copies_of_a_text_are_one_cluster_and_sources_go_before(audited):
    rows = answers(60)
    found = of_score(apart(audited, rows + [dict(r) for r in rows]), "length")
    assert (found.n_clusters, found.n_texts) == (30, 120)
    rows = [{**row, "chat": str(i // 6)} for i, row in enumerate(rows)]
    found = of_score(apart(audited, rows, source="chat"), "length")
    assert found.n_clusters == found.details[UNITS + "chat"] == 10


def test_yes_and_no_are_shares_and_what_is_neither_is_counted(audited):
    rows = answers(100)
    for row in rows[:7]:
        row["solved"] = "perhaps"
    found = of_score(apart(audited, rows, score=("solved",)), "solved")
    share = {g: np.mean([r["solved"] == "yes" for r in rows[7:] if r["user"] == g])
             for g in ("man", "woman")}  # fmt: skip
    assert found.value == pytest.approx(share["man"] - share["woman"])
    assert found.exclusions["no number in solved"] == 7
    assert found.n_texts == 93
    with pytest.raises(OptionError, match="--score solved: no text has a number there"):
        apart(audited, [{**row, "solved": "perhaps"} for row in rows], score=("solved",))
    with pytest.raises(OptionError, match="--score absent: no text has a value for it"):
        apart(audited, rows, score=("absent",))


def test_a_phrase_is_found_apart_and_counted_on_both_sides(audited):
    def stated(rows):
        run = apart(audited, rows)
        return [e for e in run.records if "word" in e.strata and e.tests[0].audit_q < 0.05]

    found = stated(answers(phrase=0.4))
    assert found
    said = {"you", "could", "ask", "a", "partner", "about", "that"}
    assert all(said.intersection(e.strata["word"].split()) for e in found)
    assert 0 in [e.details["with_first"] for e in found]  # "man" comes before "woman"
    for e in found:
        first, second = (
            e.details[f"with_{side}"] / e.details[f"n_{side}"] for side in ("first", "second")
        )
        assert e.value == pytest.approx(first - second)
    assert not stated(answers(phrase=0.0))


def test_of_two_columns_each_is_compared_with_the_other_alike(audited):
    """Women's texts are longer, by race alike; texts of one race alone compare no race."""
    rows = [
        {**row, "race": race, "text": f"{row['text']} {'More is fine.' * (race == 'black')}"}
        for row in pairs(per_source=2)
        for race in ("black", "white")
    ]
    run = audited(rows, group=("gender", "race"))
    by_gender = of_score(run, "length", gender="female − male")
    by_race = of_score(run, "length", race="black − white")
    alone = of_score(audited(pairs(per_source=2)), "length")
    assert by_race.value == pytest.approx(3.0)
    assert by_gender.value == pytest.approx(alone.value)
    assert by_gender.n_units == 2 * alone.n_units
    assert by_gender.n_clusters == alone.n_clusters


@pytest.mark.parametrize("n_prompts", [3, 12])
def test_words_of_prompts_are_tested_on_other_answers_to_the_same(audited, n_prompts):
    """Of 12 prompts a half is 4 here, too few to test what the others propose."""

    def in_these(phrase, seed):
        rows = answers(240, seed=seed, phrase=phrase)
        rows = [{**row, "pair": str(i // 2 % n_prompts)} for i, row in enumerate(rows)]
        found = [e for e in audited(rows, group="user", source=None).records if "word" in e.strata]
        assert {e.population for e in found} <= {THESE}
        assert {e.details["n_first"] for e in found} <= {60}
        return [e for e in found if e.tests[0].audit_q < 0.05]

    assert {"partner"} & {e.strata["word"].split()[-1] for e in in_these(0.4, 0)}
    assert not in_these(0.0, 1)


def test_a_phrase_is_proposed_where_many_answers_to_many_prompts_have_it(audited):
    rows = answers(400, phrase=0.4)
    rows = [{**row, "pair": str(i // 2 % 20)} for i, row in enumerate(rows)]
    found = [e for e in audited(rows, group="user", source=None).records if "word" in e.strata]
    said = [e for e in found if e.tests[0].audit_q < 0.05]
    assert {"partner"} & {e.strata["word"].split()[-1] for e in said}
    assert {e.population for e in said} == {LIKE_THESE}


def test_the_spread_of_texts_is_theirs_and_not_that_of_means_of_answers(audited):
    rows = answers(240)
    rows = [{**row, "pair": str(i // 2 % 6)} for i, row in enumerate(rows)]
    run = audited(rows, group="user", source=None, score=("helpful",))
    spread = of_score(run, "helpful").details[TEXT_SD]
    assert spread == pytest.approx(np.std([float(row["helpful"]) for row in rows], ddof=1))
