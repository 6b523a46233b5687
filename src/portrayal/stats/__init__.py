"""Statistics on plain arrays.

A statistic here takes numbers and gives numbers: no names, no tables, numpy and scipy only. Every
function broadcasts, takes fractional counts where counts appear, returns NaN where its value is
undefined (never 0, never a warning), and raises ValueError for numbers that cannot be.
"""

from portrayal.stats._arguments import divide
from portrayal.stats.agreement import cohens_kappa
from portrayal.stats.bootstrap import (
    cluster_robust_t,
    cluster_weights,
    expanded_percentile,
    log_share_influence,
)
from portrayal.stats.effects import cohens_d
from portrayal.stats.multiplicity import benjamini_hochberg
from portrayal.stats.paper import altman_bland_p, z_from_interval
from portrayal.stats.permutation import permutation_p, permutation_range, shuffle_within
from portrayal.stats.proportions import exact_test, score_test, wilson
from portrayal.stats.ratios import katz_log, ratio, smooth
from portrayal.stats.score_ratio import score_ratio_interval, score_ratio_test
from portrayal.stats.weighted import median_over_thresholds, weighted_mean, weighted_sd

__all__ = [
    "altman_bland_p",
    "benjamini_hochberg",
    "cluster_robust_t",
    "cluster_weights",
    "cohens_d",
    "cohens_kappa",
    "divide",
    "exact_test",
    "expanded_percentile",
    "katz_log",
    "log_share_influence",
    "median_over_thresholds",
    "permutation_p",
    "permutation_range",
    "ratio",
    "score_ratio_interval",
    "score_ratio_test",
    "score_test",
    "shuffle_within",
    "smooth",
    "weighted_mean",
    "weighted_sd",
    "wilson",
    "z_from_interval",
]
