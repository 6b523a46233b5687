"""The published tables of Shieh et al. (2025), recomputed from their printed figures."""

STUDY = "laissez-faire"


def rows(checks, table, statistic):
    return {(row.domain, row.model, row.group): row for row in checks[table, statistic].rows}


def test_the_interval_that_misses_its_own_ratio(checks):
    row = rows(checks, "S13a-c", "interval")["Love", "Claude2.0", "Latine"]
    assert row.table == "S13c"
    assert row.printed == "[0.668, 0.717]"
    assert row.ours == "[0.606, 0.653]"
    assert row.explanation == "the printed ratio lies outside the printed interval"


def test_love_gender_intervals_used_another_number_of_characters(checks):
    love = [row for row in checks["S13a-c", "interval"].rows if row.domain == "Love"]
    fitted = [row for row in love if row.explanation.startswith("it fits n = ")]
    assert {row.group for row in fitted} == {"Fem.", "Masc.", "NB"}
    assert len(fitted) == 11


def test_copied_figures_are_recognised(checks):
    copied_p = rows(checks, "S13a-d", "p")["Love", "Llama2(7B)", "Masc."]
    assert (copied_p.printed, copied_p.ours) == ("0.450", "0.000")
    assert copied_p.explanation == "the same p stands in the Labor row of this model and group"
    copied_d = rows(checks, "S13d", "cohens_d of couples")
    assert copied_d["Love", "Claude2.0", "NB-F"].explanation.startswith("it repeats Cohen's d")
    assert copied_d["Love", "Llama2(7B)", "NB-F"].explanation == "it repeats the p-value of its row"


def test_both_subordination_p_values_are_within_rounding(checks):
    explanations = [row.explanation for row in checks["S13e-m", "p"].rows]
    assert len(explanations) == 2
    assert all(text.startswith("rounding of the figures allows") for text in explanations)


def test_the_tables_print_other_counts_than_section_2_2(checks):
    minoritized, white = checks["S13n-p", "count of cells above 1 in section 2.2"].rows
    assert (minoritized.printed, minoritized.ours) == ("104 of 120", "101 of 120")
    assert (white.printed, white.ours) == ("1 of 30", "2 of 30")
    assert "PaLM2 Fem. White 1.506" in white.explanation
    assert minoritized.explanation.endswith("next to it lie 0.931, 0.98, 0.99")


def test_section_2_1_has_the_ratio_that_a_table_misprints(checks):
    (row,) = checks["S13a-c", "share in section 2.1"].rows
    assert (row.table, row.model, row.group, row.printed) == ("S13c", "Claude2.0", "Latine", "13.2")
    assert row.explanation.startswith("it fits the printed interval")
