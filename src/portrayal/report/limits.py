"""Limits: what the numbers of a run do not say, with counts."""

from collections import Counter

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.findings import headline_measures
from portrayal.report.view import FEW_PROMPTS, View
from portrayal.report.words import group_words


def absent_groups(view: View) -> str:
    """Return a sentence on groups that did not occur once; empty where all did."""
    gone: dict[str, list[Estimate]] = {}
    for measure in headline_measures(view):
        for e in view.of_main(measure):
            if e.value == 0 and "baseline" in e.details and e.interval is not None:
                gone.setdefault(_short(e), []).append(e)
    if not gone:
        return ""
    places = dict.fromkeys(e.strata.get("domain", "all") for g in gone.values() for e in g)
    upper = [e.interval.high for g in gone.values() for e in g if e.interval is not None]
    names = list(gone)[:6] + ([f"{len(gone) - 6} other groups"] if len(gone) > 6 else [])
    return (
        f"Not once counted, in {fmt.listed(list(places))}: {fmt.listed(names)}. By chance alone "
        f"that can happen among few characters: the intervals reach up to {fmt.ratio(min(upper))} "
        + (f"to {fmt.ratio(max(upper))} " if max(upper) > min(upper) else "")
        + "times the baseline."
    )


def cannot_say(view: View) -> str:
    """Return what cannot be said: undefined, on few prompts, or too rare."""
    every = [e for measure in headline_measures(view) for e in view.of_main(measure)]
    if not every:
        return "No ratio was measured in this run."
    undefined = [e for e in every if e.value is None]
    few = [e for e in every if e.value is not None and e.n_clusters < FEW_PROMPTS]
    open_ended = [e for e in every if _spans_one(e)]
    parts = []
    if undefined:
        groups = Counter(group_words({k: v}) for e in undefined for k, v in e.group.items())
        common, n = groups.most_common(1)[0]
        parts.append(
            f"{len(undefined)} of {len(every)} ratios are undefined ({n} of them for {common}), "
            "because a group hardly occurs"
        )
    if few:
        parts.append(f"{len(few)} rest on fewer than {FEW_PROMPTS} prompts")
    parts.append(
        f"{len(open_ended)} have an interval that includes 1, which is no evidence that the "
        "groups are treated alike"
    )
    return "What cannot be said: " + "; ".join(parts) + "."


def _short(e: Estimate) -> str:
    return f"couples {e.group['pair']}" if "pair" in e.group else group_words(e.group)


def _spans_one(e: Estimate) -> bool:
    if e.value is None or e.interval is None:
        return False
    return e.interval.low <= 1 <= e.interval.high
