"""The published figures of Fang et al. (2024), recomputed from their printed figures."""

from command import invoke
from portrayal.reference.shipped import published

STUDY = "news"


def test_all_210_figures_are_listed_once(checks):
    listed = [row for check in checks.values() for row in check.figures if row.table != "Table 1"]
    assert len(listed) == published("fang_news_bias").num_rows == 210
    places = {(row.table, row.domain, row.model, row.group) for row in listed}
    assert len(places) == 210
    assert {row.table for row in listed} == {
        *(f"Fig. {n}{panel}" for n in (2, 4, 5, 6, 7) for panel in "abc"),
        *(f"Fig. {n}{panel}" for n in (8, 9, 10) for panel in "ab"),
        *(f"Fig. {n}{panel}" for n in ("A.1", "A.2") for panel in "abc"),
        "Fig. 3a",
        "Fig. 3c",
        "Fig. 3d",
    }


def test_the_bound_that_is_not_as_far_as_the_other(checks):
    (row,) = checks["Fig. 2-10, A", "value in the middle of its interval"].rows
    assert (row.table, row.model, row.group) == ("Fig. 10b", "GPT-3-curie", "female")
    assert row.printed == "-0.4023 [-0.4217, -0.3846], n 1284"
    assert row.explanation == "the upper bound leads to the lower bound -0.4200"


def test_rates_that_their_counts_do_not_give_are_of_black_sentences(checks):
    rows = checks["Fig. 2-10, A", "rate to its four digits"].rows
    assert {(row.table, row.group) for row in rows} == {
        ("Fig. 5b", "black"),
        ("Fig. A.2b", "black"),
    }
    assert "Grover" not in {row.model for row in rows}


def test_another_model_has_the_lowest_rate_of_words(checks):
    (row,) = checks["Fig. 2-7, A", "lowest in the text"].rows
    assert (row.table, row.model, row.ours) == ("Fig. 2b", "ChatGPT", "GPT-3-curie 0.5604")


def test_the_caption_that_repeats_another_figure(checks):
    (row,) = checks["Fig. 2-7", "caption repeats the figure"].rows
    assert (row.table, row.printed, row.ours) == ("Fig. 6c", "-0.3760", "-0.3811")
    assert row.explanation == "it is the rate of Fig. 6b, with a minus"


def test_the_command_lists_them():
    printed = invoke("replicate", "news", "--all").stdout
    listed = [line for line in printed.splitlines() if "; recomputed " in line]
    assert len([line for line in listed if not line.startswith("Table 1")]) == 210
    assert (
        "Fig. 2b word ChatGPT female: printed 0.5663, n 2045; recomputed 1158.1 for 1158 articles"
        in listed
    )
