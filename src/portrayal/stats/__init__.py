"""Statistics on plain arrays.

A statistic here takes numbers and gives numbers: no names, no tables, numpy and scipy only. Every
function broadcasts, takes fractional counts where counts appear, returns NaN where its value is
undefined (never 0, never a warning), and raises ValueError for numbers that cannot be.
"""

from portrayal.stats._arguments import divide
from portrayal.stats.agreement import (
    beyond_chance,
    bias_index,
    cohen_parts,
    cohens_kappa,
    fleiss_kappa,
    fleiss_parts,
    kappa_without_bias,
    krippendorff_alpha,
    krippendorff_parts,
    percent_agreement,
    prevalence_index,
    specific_agreement,
)
from portrayal.stats.anytime import (
    e_bh,
    latest_change,
)
from portrayal.stats.association import (
    fisher_p,
    infer_lifts,
    within_lifts,
)
from portrayal.stats.blocks import (
    crossed_differences,
    find_blocks,
    matched_differences,
)
from portrayal.stats.clustered import (
    infer_crossed,
    infer_differences,
    infer_fixed_means,
    infer_fixed_shares,
    infer_influences,
    infer_means,
    infer_shares,
    sums_by,
    within_variance,
)
from portrayal.stats.contrasts import (
    infer_contrasts,
    joint_p,
    too_few_prompts,
    without_interaction,
)
from portrayal.stats.log_odds import (
    clustered_log_odds,
    informative_prior,
    log_odds,
)
from portrayal.stats.medians import (
    column_ratios,
    median_of_defined,
    median_shares,
    median_sides,
)
from portrayal.stats.naming import (
    fair_naming,
    infer_fair_shares,
    repetition,
)
from portrayal.stats.p_values import (
    altman_bland_p,
    benjamini_hochberg,
    benjamini_yekutieli,
    holm,
    inverted_toward_null,
    rank_ranges,
    z_from_interval,
)
from portrayal.stats.paired import (
    clustered_changes,
    exchange_test,
    fixed_changes,
    paired_changes,
    paired_shares,
)
from portrayal.stats.proportions import (
    chance_p,
    chance_range,
    clopper_pearson,
    cohens_d,
    count_by_chance,
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
    not_refused,
    permutation_range,
    shuffle_within,
)
from portrayal.stats.two_phase import (
    infer_two_phase,
    infer_two_phase_contrast,
    two_phase,
)
from portrayal.stats.variance import (
    infer_variance,
)

__all__ = [
    "altman_bland_p",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "beyond_chance",
    "bias_index",
    "chance_p",
    "chance_range",
    "clopper_pearson",
    "cluster_weights",
    "clustered_changes",
    "clustered_log_odds",
    "cohen_parts",
    "cohens_d",
    "cohens_kappa",
    "column_ratios",
    "count_by_chance",
    "crossed_differences",
    "divide",
    "e_bh",
    "exact_test",
    "exchange_test",
    "expanded_percentile",
    "fair_naming",
    "find_blocks",
    "fisher_p",
    "fixed_changes",
    "fleiss_kappa",
    "fleiss_parts",
    "holm",
    "infer_contrasts",
    "infer_crossed",
    "infer_differences",
    "infer_fair_shares",
    "infer_fixed_means",
    "infer_fixed_shares",
    "infer_influences",
    "infer_lifts",
    "infer_means",
    "infer_shares",
    "infer_two_phase",
    "infer_two_phase_contrast",
    "infer_variance",
    "informative_prior",
    "inverted_toward_null",
    "joint_p",
    "kappa_without_bias",
    "katz_log",
    "krippendorff_alpha",
    "krippendorff_parts",
    "latest_change",
    "log_odds",
    "matched_differences",
    "median_of_defined",
    "median_shares",
    "median_sides",
    "not_refused",
    "paired_changes",
    "paired_shares",
    "percent_agreement",
    "permutation_range",
    "prevalence_index",
    "rank_ranges",
    "ratio",
    "repetition",
    "score_ratio_test",
    "score_test",
    "shuffle_within",
    "specific_agreement",
    "sums_by",
    "too_few_prompts",
    "two_phase",
    "upper_of_none",
    "wilson",
    "within_lifts",
    "within_variance",
    "without_interaction",
    "z_from_interval",
]
