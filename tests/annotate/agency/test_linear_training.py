import numpy as np
import pytest

from portrayal.annotate.agency.linear import PARTS, count, fit_counted, fit_linear

TEXTS = ["they led it", "they led us", "they helped it", "they helped us, kindly"] * 5
LABELS = [1, 1, 0, 0] * 5


def test_some_rows_of_what_was_counted_train_as_those_sentences_alone():
    rows = np.array([0, 2, 3, 5, 7, 8, 10, 11])
    counted = fit_counted(count(TEXTS), rows, [LABELS[row] for row in rows])
    alone = fit_linear([TEXTS[row] for row in rows], [LABELS[row] for row in rows])
    for part in PARTS:
        assert getattr(counted, part) == pytest.approx(getattr(alone, part), abs=1e-4)
    assert counted.bias == pytest.approx(alone.bias, abs=1e-4)


def test_a_larger_strength_holds_scores_back_less():
    counted = count(TEXTS)
    rows = np.arange(len(TEXTS))
    weak, strong = (fit_counted(counted, rows, LABELS, strength=c) for c in (0.1, 10.0))
    assert strong.words["led"] > weak.words["led"] > 0
