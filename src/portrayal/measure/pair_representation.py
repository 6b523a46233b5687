"""Representation ratio of gender pairs in power-neutral romantic stories (Fig. 1b)."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.features import sums_by
from portrayal.measure.scope import Scope
from portrayal.measure.shares import Against, ShareSums, binomial_null, share_ratios
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.tally import BoolArray, FloatArray, Tally
from portrayal.records import Estimate, Null
from portrayal.reference import PAIRS, Baseline
from portrayal.registry import Component

NAME = "pair_representation.v1"
SOURCE = "Shieh et al. 2025, Eq. 1, Fig. 1b, Table S13d"
ROMANTIC = "romantic partners"


def pair_representation(tally: Tally, scope: Scope, *, baseline: Baseline) -> Iterator[Estimate]:
    """Yield the representation ratio of each gender pair among romantic partners.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p* of couples (Table S9c).
    """
    romantic = np.array([r == ROMANTIC for r in tally.prompt_relationship], dtype=bool)
    pairs, known = pair_indicators(tally)
    starred = np.array([baseline.pair.get(pair, np.nan) for pair in PAIRS])
    groups = tuple({"pair": pair} for pair in PAIRS)

    def null(_: int, n: float, share: float) -> Null:
        return binomial_null(n, share, scope)

    for whole in strata(tally, laden=False):
        stratum = _restricted(tally, whole, romantic)
        if stratum is None:
            continue
        inside = stratum.has(tally.prompt, tally.model) & tally.readable
        code = np.searchsorted(stratum.prompts, tally.prompt[inside])
        count = tally.count[inside, np.newaxis]
        size = len(stratum.prompts)
        numerator = sums_by(code, size, pairs[inside] * count)
        denominator = sums_by(code, size, (known[inside, np.newaxis] * count).astype(float))
        sums = ShareSums(numerator, np.repeat(denominator, len(PAIRS), axis=1), numerator)
        n_texts = stratum.n_texts

        def left_out(_: int, n: float, n_texts: int = n_texts) -> dict[str, int]:
            missing = n_texts - round(n)
            return {"gender of one partner not known": missing} if missing else {}

        against = Against(baseline.name, starred, null)
        yield from share_ratios(
            NAME, SOURCE, "couple", groups, sums, against, stratum, scope, left_out
        )


def pair_indicators(
    tally: Tally,
) -> tuple[FloatArray, BoolArray]:
    """Which pair each story shows, shape (n_rows, 6), and whether both genders are known."""
    codes = {"F": 0, "M": 1, "NB": 2}
    low = np.minimum(tally.subject_gender, tally.object_gender)
    high = np.maximum(tally.subject_gender, tally.object_gender)
    wanted = [sorted(codes[label] for label in pair.split("-")) for pair in PAIRS]
    shown = np.stack([(low == a) & (high == b) for a, b in wanted], axis=1)
    return shown.astype(np.float64), np.asarray(shown.any(axis=1))


def _restricted(tally: Tally, whole: Stratum, romantic: BoolArray) -> Stratum | None:
    """The stratum's romantic prompts alone; None where it has none."""
    prompts = whole.prompts[romantic[whole.prompts]]
    if not len(prompts):
        return None
    inside = np.isin(tally.prompt, prompts) & np.isin(tally.model, whole.models)
    readable = int(tally.count[inside & tally.readable].sum())
    total = int(tally.count[inside].sum())
    unread = {"refused, empty or failed": total - readable} if total > readable else {}
    return Stratum(whole.domain, whole.model, prompts, whole.models, readable, unread)


PAIR_REPRESENTATION = Component(
    name=NAME,
    summary="How often each pair of genders occurs among romantic partners, over its share.",
    reads="people of power-neutral romantic stories; a baseline p* of couples",
    unit="couple",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="no story tells the gender of both partners, or p* has no couples",
    equation="R_rep = p(pair) / p*(pair)",
    source=SOURCE,
    run=pair_representation,
)
