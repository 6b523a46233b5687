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
                gone.setdefault(group_words(e.group), []).append(e)
    if not gone:
        return ""
    where = []
    for who, estimates in list(gone.items())[:4]:
        places = fmt.listed([e.strata.get("domain", "all") for e in estimates])
        upper = max(e.interval.high for e in estimates if e.interval is not None)
        where.append(
            f"{who} in {places} (the interval still reaches up to {fmt.ratio(upper)} times the "
            "baseline)"
        )
    more = f" and {len(gone) - 4} other groups" if len(gone) > 4 else ""
    return f"Not one was counted of {'; '.join(where)}{more}."


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
        groups = Counter(group_words(e.group) for e in undefined)
        common = fmt.listed([who for who, _ in groups.most_common(2)])
        parts.append(
            f"{len(undefined)} of {len(every)} ratios are undefined, mostly for {common}, who "
            "hardly occur"
        )
    if few:
        parts.append(f"{len(few)} rest on fewer than {FEW_PROMPTS} prompts")
    parts.append(
        f"{len(open_ended)} have an interval that includes 1, which is no evidence that the "
        "groups are treated alike"
    )
    return "What cannot be said: " + "; ".join(parts) + "."


def _spans_one(e: Estimate) -> bool:
    if e.value is None or e.interval is None:
        return False
    return e.interval.low <= 1 <= e.interval.high
