"""Statistics on plain arrays.

A statistic here takes numbers and gives numbers: no names, no tables, numpy and scipy only. Every
function broadcasts, takes fractional counts where counts appear, returns NaN where its value is
undefined (never 0, never a warning), and raises ValueError for numbers that cannot be.
"""

from portrayal.stats._arguments import divide
from portrayal.stats.blocks import crossed_differences, matched_differences
from portrayal.stats.clustered import (
    infer_differences,
    infer_fixed_means,
    infer_fixed_shares,
    infer_means,
    infer_shares,
    sums_by,
)
from portrayal.stats.contrasts import infer_contrasts, joint_p
from portrayal.stats.medians import column_ratios, median_shares, median_sides
from portrayal.stats.p_values import (
    altman_bland_p,
    benjamini_hochberg,
    holm,
    inverted_toward_null,
    z_from_interval,
)
from portrayal.stats.proportions import (
    cohens_d,
    count_differences,
    exact_test,
    katz_log,
    ratio,
    score_ratio_test,
    score_test,
    upper_of_none,
    wilson,
)
from portrayal.stats.resampling import (
    cluster_weights,
    expanded_percentile,
    permutation_range,
    shuffle_within,
)
from portrayal.stats.variance import infer_variance

__all__ = [
    "altman_bland_p",
    "benjamini_hochberg",
    "cluster_weights",
    "cohens_d",
    "column_ratios",
    "count_differences",
    "crossed_differences",
    "divide",
    "exact_test",
    "expanded_percentile",
    "holm",
    "infer_contrasts",
    "infer_differences",
    "infer_fixed_means",
    "infer_fixed_shares",
    "infer_means",
    "infer_shares",
    "infer_variance",
    "inverted_toward_null",
    "joint_p",
    "katz_log",
    "matched_differences",
    "median_shares",
    "median_sides",
    "permutation_range",
    "ratio",
    "score_ratio_test",
    "score_test",
    "shuffle_within",
    "sums_by",
    "upper_of_none",
    "wilson",
    "z_from_interval",
]
