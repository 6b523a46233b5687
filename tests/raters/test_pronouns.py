"""GAP's measure: F1 of two names in each passage, by the gender of the pronoun."""

import numpy as np
import pytest

from portrayal.errors import DataError
from portrayal.raters.pronouns import read_passages, score_pronouns

HEAD = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
ROWS = [
    ("Ann met Bo. She smiled.", "She", "Ann", "Bo", "TRUE", "FALSE"),
    ("Ann met Bo. He smiled.", "He", "Ann", "Bo", "FALSE", "TRUE"),
    ("Ann met Bo. Her dog barked.", "Her", "Ann", "Bo", "FALSE", "FALSE"),
]


@pytest.fixture
def gap(tmp_path):
    def write(rows):
        lines = [
            "\t".join(map(str, (k, t, p, t.index(p), a, t.index(a), ya, b, t.index(b), yb, "url")))
            for k, (t, p, a, b, ya, yb) in enumerate(rows)
        ]
        path = tmp_path / "gap.tsv"
        path.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def always(person):
    """Says that every pronoun means the given person of those named."""

    def refer(text, marks, n_people, n_pronouns):
        return np.tile(np.eye(n_people + 1)[person], (n_pronouns, 1))

    return refer


def test_hits_false_alarms_and_misses_by_hand(gap):
    score = score_pronouns(read_passages(gap(ROWS)), always(0))
    # A is said in all three: one hit, two false alarms, and B is missed once
    assert score.rates["precision"].value == pytest.approx(1 / 3)
    assert score.rates["recall"].value == pytest.approx(1 / 2)
    assert score.rates["f1"].value == pytest.approx(2 / 5)
    assert score.by["F"]["f1"].value == pytest.approx(2 / 3)
    assert score.by["M"]["f1"].value == 0
    assert score.by["F"]["f1"].n == 2


def test_nobody_said_has_no_precision(gap):
    score = score_pronouns(read_passages(gap(ROWS)), always(-1))
    assert score.rates["precision"].value is None
    assert score.rates["precision"].undefined
    assert score.rates["recall"].value == 0


def test_bias_is_feminine_over_masculine(gap):
    rows = [ROWS[0], ("Bo met Ann. He smiled.", "He", "Bo", "Ann", "TRUE", "FALSE"), ROWS[2]]
    score = score_pronouns(read_passages(gap(rows)), always(0))
    assert score.bias.value == pytest.approx(2 / 3)
    shown = score.as_json()
    assert shown["f1"]["value"] == score.rates["f1"].value
    assert shown["by"]["gender"]["F"]["f1"]["value"] == pytest.approx(2 / 3)
    assert score_pronouns(read_passages(gap(ROWS[:1]))).bias.undefined


def test_names_that_are_not_given_must_be_found(gap):
    rows = [("Pluto met Saturn. She smiled.", "She", "Pluto", "Saturn", "TRUE", "FALSE")]
    path = gap(rows)
    given = score_pronouns(read_passages(path))
    found = score_pronouns(read_passages(path), names_given=False)
    assert given.rates["f1"].value == 1
    assert found.rates["recall"].value == 0
    # What may be a name is a person's, also where it stands in no table.
    unknown = gap([("Vrenn met Xoll. She smiled.", "She", "Vrenn", "Xoll", "TRUE", "FALSE")])
    assert score_pronouns(read_passages(unknown), names_given=False).rates["f1"].value == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\t12\t", "\t13\t", "expected 'She' at Pronoun-offset '13' of the text; got 'he '"),
        ("\t12\t", "\tx\t", "expected 'She' at Pronoun-offset 'x'"),
        ("TRUE", "yes", "expected TRUE or FALSE in A-coref and B-coref; got 'yes' and 'FALSE'"),
        ("Pronoun-offset", "Place", "Pronoun-offset|pronoun_offset"),
    ],
)
def test_rows_that_are_not_as_expected_are_named(gap, old, new, says):
    path = gap(ROWS[:1])
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(DataError, match=says):
        list(read_passages(path))


def test_a_pronoun_of_another_kind_is_named(gap):
    path = gap([("Ann met Bo. They smiled.", "They", "Ann", "Bo", "TRUE", "FALSE")])
    with pytest.raises(DataError, match="row 1: expected a form of she or he as the pronoun; got"):
        list(read_passages(path))
