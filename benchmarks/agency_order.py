"""Order of groups in ChatGPT's texts, beside the published one.

    python -m benchmarks.agency_order TEXTS [CLASSIFIER] [CLUSTER]

TEXTS is LABE's file of biographies or professor reviews by ChatGPT, CLASSIFIER what
`portrayal audit agency --classifier` takes, CLUSTER what `--cluster` takes, such as name. Prints
ratio gaps by race and by race and gender, the order and whether it is resolved, Spearman's
correlation with Tables 21 and 23, and the CPU time.
"""

import sys
import time

from scipy import stats

import portrayal
from portrayal.report.view import View
from portrayal.studies.agency.report.ranking import rankings
from portrayal.studies.agency.report.series import (
    at,
    called,
    crossed,
    group_name,
    of,
    points,
    published_of,
    span,
    wheres,
)


def main(texts: str, classifier: str = "linear", cluster: str | None = None) -> None:
    """Audit the texts and print their order."""
    start = time.process_time()
    run = portrayal.audit(
        "agency", texts=texts, classifier=classifier, cluster=cluster, report=False
    )
    seconds = time.process_time() - start
    view = View.of(run)
    own = [e for e in of(view, "agency_share", stratum="all") if e.statistic == "ratio_gap"]
    for where in wheres(own):
        for masking in ("unmasked", "masked"):
            here = [e for e in crossed(at(own, where)) if e.strata["masking"] == masking]
            print(f"\n{called(where)}, {masking}")
            for size, table in ((1, "Table 21"), (2, "Table 23")):
                groups = [e for e in here if len(e.group) == size and "race" in e.group]
                groups.sort(key=lambda e: -(e.value or 0.0))
                printed = [_printed(where[0], e) for e in groups]
                for e, value in zip(groups, printed, strict=True):
                    low, high = 100 * e.interval.low, 100 * e.interval.high
                    print(
                        f"  {group_name(e.group):16} {100 * e.value:+6.1f} "
                        f"[{low:+.1f}, {high:+.1f}]   published {value:+.1f}"
                    )
                rho = stats.spearmanr([e.value for e in groups], printed).statistic
                print(f"  Spearman with {table}: {rho:.2f}")
            for each in rankings(view, masking):
                if each.where == where:
                    print(f"  {each.words}")
            for e in at(of(view, "agency_gap", stratum="all", masking=masking), where):
                if len(e.group) == 1:
                    print(f"  {group_name(e.group):18} {points(e.value)} [{span(e.interval)}]")
            for e in of(view, "agency_variance", stratum="all", masking=masking):
                null = e.null
                print(
                    f"  variance {e.group['attribute']:14} {e.value:6.1f}, shuffled groups "
                    f"{null.low:.1f} to {null.high:.1f}, p {e.tests[0].p:.3f}"
                )
    print(f"\nCPU {seconds:.1f} s without report")


def _printed(task: str, estimate: object) -> float:
    """ChatGPT's published ratio gap of the same group."""
    rows = published_of(task, estimate.group)
    return next(row["ratio_gap"] for row in rows if row["model"] == "ChatGPT")


if __name__ == "__main__":
    main(*sys.argv[1:])
