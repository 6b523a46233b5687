"""The published tables of Wan & Chang (2024), recomputed from their printed figures."""

import numpy as np

STUDY = "agency"


def test_the_variance_of_averaged_gaps_is_computed_by_hand(checks):
    gaps = [-16.38, -27.22, -21.88, -11.34]  # Table 21, ChatGPT's biographies
    expected = sum((g - np.mean(gaps)) ** 2 for g in gaps) / 3
    figures = checks["Table 1", "variance per run is at or above that of averaged gaps"].figures
    found = {row.group: row.ours for row in figures[:3]}
    assert (figures[0].model, figures[0].domain) == ("ChatGPT", "Biography")
    assert found["race"] == f"{expected:.2f}"
    assert found["gender"] == f"{(23.45 - 14.96) ** 2 / 2:.2f}"


def test_table_1_lies_just_above_the_variance_of_averaged_gaps(checks):
    figures = checks["Table 1", "variance per run is at or above that of averaged gaps"].figures
    above = [float(row.printed) - float(row.ours) for row in figures]
    assert len(above) == 27
    assert min(above) > 0
    assert max(above) < 4


def test_two_variances_of_table_2_cannot_be(checks):
    rows = checks["Table 2", "variance per run is at or above that of averaged gaps"].rows
    assert [(row.model, row.domain, row.printed, row.ours) for row in rows] == [
        ("Mistral prompt mitigation", "Professor Review", "103.77", "116.59"),
        ("Llama3 prompt mitigation", "Professor Review", "2.85", "4.59"),
    ]
