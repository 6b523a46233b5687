"""Statistics on plain arrays.

A statistic here takes numbers and gives numbers: no names, no tables, numpy and scipy only. Every
function broadcasts, takes fractional counts where counts appear, returns NaN where its value is
undefined (never 0, never a warning), and raises ValueError for numbers that cannot be.
"""

from portrayal.stats._arguments import divide
from portrayal.stats.agreeing import agreeing_interval
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
from portrayal.stats.blocks import find_blocks, matched_differences, plain_differences
from portrayal.stats.bootstrap import cluster_weights, expanded_percentile, log_share_influence
from portrayal.stats.clustered import infer_differences, infer_means, infer_ratios, infer_shares
from portrayal.stats.design_effect import (
    design_effect,
    effect_density,
    effective_number,
    evidence_interval,
    evidence_p,
    ratio_evidence,
    satterthwaite,
    share_evidence,
)
from portrayal.stats.log_odds import clustered_log_odds, informative_prior, log_odds
from portrayal.stats.medians import infer_median_shares, median_over
from portrayal.stats.mixture import (
    fit_mixture,
    fit_shares,
    hold_untold,
    mixture_interval,
    mixture_ratio_interval,
    moments,
    name_model,
    role_scores,
    spread_as_bearers,
)
from portrayal.stats.naming import (
    drawn_shares,
    fair_inference,
    fair_naming,
    reads_representation,
    reads_subordination,
    repetition,
    repetition_effect,
    repetition_of,
)
from portrayal.stats.p_values import altman_bland_p, benjamini_hochberg, z_from_interval
from portrayal.stats.permutation import (
    permutation_p,
    permutation_range,
    shuffle_within,
    two_sided_p,
)
from portrayal.stats.proportions import (
    chance_p,
    chance_range,
    clopper_pearson,
    count_by_chance,
    exact_test,
    score_test,
    upper_of_none,
    wilson,
)
from portrayal.stats.ratios import katz_log, ratio, score_ratio_test, smooth
from portrayal.stats.roles import (
    coin_test,
    contributions,
    fewest_prompts,
    median_inference,
    no_test_reason,
    prompt_subsets,
    role_inference,
    sharper_p,
    subset_ratios,
)
from portrayal.stats.summaries import cohens_d, median_of_defined
from portrayal.stats.two_phase import infer_two_phase, infer_two_phase_ratio, two_phase
from portrayal.stats.variance import infer_variance, variance_bounds

__all__ = [
    "agreeing_interval",
    "altman_bland_p",
    "benjamini_hochberg",
    "beyond_chance",
    "bias_index",
    "chance_p",
    "chance_range",
    "clopper_pearson",
    "cluster_weights",
    "clustered_log_odds",
    "cohen_parts",
    "cohens_d",
    "cohens_kappa",
    "coin_test",
    "contributions",
    "count_by_chance",
    "design_effect",
    "divide",
    "drawn_shares",
    "effect_density",
    "effective_number",
    "evidence_interval",
    "evidence_p",
    "exact_test",
    "expanded_percentile",
    "fair_inference",
    "fair_naming",
    "fewest_prompts",
    "find_blocks",
    "fit_mixture",
    "fit_shares",
    "fleiss_kappa",
    "fleiss_parts",
    "hold_untold",
    "infer_differences",
    "infer_means",
    "infer_median_shares",
    "infer_ratios",
    "infer_shares",
    "infer_two_phase",
    "infer_two_phase_ratio",
    "infer_variance",
    "informative_prior",
    "kappa_without_bias",
    "katz_log",
    "krippendorff_alpha",
    "krippendorff_parts",
    "log_odds",
    "log_share_influence",
    "matched_differences",
    "median_inference",
    "median_of_defined",
    "median_over",
    "mixture_interval",
    "mixture_ratio_interval",
    "moments",
    "name_model",
    "no_test_reason",
    "percent_agreement",
    "permutation_p",
    "permutation_range",
    "plain_differences",
    "prevalence_index",
    "prompt_subsets",
    "ratio",
    "ratio_evidence",
    "reads_representation",
    "reads_subordination",
    "repetition",
    "repetition_effect",
    "repetition_of",
    "role_inference",
    "role_scores",
    "satterthwaite",
    "score_ratio_test",
    "score_test",
    "share_evidence",
    "sharper_p",
    "shuffle_within",
    "smooth",
    "specific_agreement",
    "spread_as_bearers",
    "subset_ratios",
    "two_phase",
    "two_sided_p",
    "upper_of_none",
    "variance_bounds",
    "wilson",
    "z_from_interval",
]
