"""Fitting of the people extractor: a log-linear model over choices, and logistic curves."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def fit_choice(
    features: list[np.ndarray], right: list[np.ndarray], weight: np.ndarray, penalties: np.ndarray
) -> np.ndarray:
    """Weights under which the right choices of each story are most probable, with an L2 penalty.

    `features` holds one array (choices, features) per story, `right` which choices agree with the
    labels. What is maximised is the logarithm of the probability that one of those is chosen.
    """
    sizes = [len(one) for one in features]
    start = np.cumsum([0, *sizes])[:-1]
    story = np.repeat(np.arange(len(sizes)), sizes)
    table, good = np.vstack(features), np.concatenate(right)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = table @ weights
        odds = np.exp(score - np.maximum.reduceat(score, start)[story])
        total = np.add.reduceat(odds, start)
        kept = np.add.reduceat(odds * good, start) + 1e-300
        value = float((weight * (np.log(total) - np.log(kept))).sum())
        slope = table.T @ (weight[story] * (odds / total[story] - odds * good / kept[story]))
        return value + float(penalties @ weights**2) / 2, slope + penalties * weights

    begin = np.zeros(table.shape[1])
    return minimize(
        loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 150, "ftol": 1e-7}
    ).x


def fit_logistic(signs: np.ndarray, right: np.ndarray, penalty: float) -> np.ndarray:
    """Weights of a logistic curve with an L2 penalty on all but the first."""
    penalties = np.full(signs.shape[1], penalty)
    penalties[0] = 0.0

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = signs @ weights
        value = np.logaddexp(0.0, score).sum() - score[right].sum()
        slope = signs.T @ (expit(score) - right)
        return float(value + penalties @ weights**2 / 2), slope + penalties * weights

    begin = np.zeros(signs.shape[1])
    return minimize(loss, begin, jac=True, method="L-BFGS-B").x


def probabilities_of(score: np.ndarray) -> np.ndarray:
    """Probabilities proportional to exp of `score`. Shape (n,) -> (n,)."""
    odds = np.exp(score - score.max())
    return odds / odds.sum()
