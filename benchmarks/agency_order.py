"""Order of groups in ChatGPT's texts, beside the published one.

    python -m benchmarks.agency_order TEXTS [CLASSIFIER] [CLUSTER]

TEXTS is LABE's file of biographies or professor reviews by ChatGPT, CLASSIFIER what
`portrayal audit agency --classifier` takes, CLUSTER what `--cluster` takes, such as name. Prints
ratio gaps by race and by race and gender, Spearman's correlation of their order with Tables 21 and
23, differences and variances with what chance gives, and the CPU time.
"""

import argparse
import time

from scipy import stats

import portrayal
from portrayal.reference.shipped import published as published_table
from portrayal.report.view import View
from portrayal.report.words import group_label, stem


def show(texts: str, classifier: str, cluster: str | None) -> None:
    """Audit the texts and print their order."""
    start = time.process_time()
    run = portrayal.audit(
        study="agency", texts=texts, classifier=classifier, cluster=cluster, report=False
    )
    seconds = time.process_time() - start
    view = View.of(run)
    pooled = [e for e in view.estimates if e.strata.get("stratum") == "all"]
    published = {}
    for row in published_table("wan_agency_by_group").to_pylist():
        group = {} if row["gender"] == "All" else {"gender": row["gender"].casefold()}
        group |= {} if row["race"] == "All" else {"race": row["race"]}
        if row["mitigation"] == "none" and row["model"] == "ChatGPT":
            published[row["text_type"], tuple(sorted(group.items()))] = row["ratio_gap"] / 100.0
    for masking in ("unmasked", "masked"):
        print(f"\n{masking}")
        rows = [e for e in pooled if e.strata["masking"] == masking]
        for size, table in ((1, "Table 21"), (2, "Table 23")):
            gaps = [e for e in rows if e.statistic == "ratio_gap" and "race" in e.group]
            gaps = [e for e in gaps if len(e.group) == size]
            values = [(e.value, e) for e in gaps if e.value is not None]
            values.sort(key=lambda pair: -pair[0])
            printed = [
                published[e.strata["task"], tuple(sorted(e.group.items()))] for _, e in values
            ]
            for (gap, e), value in zip(values, printed, strict=True):
                assert e.interval is not None
                low, high = 100 * e.interval.low, 100 * e.interval.high
                print(
                    f"  {group_label(e.group):16} {100 * gap:+6.1f} [{low:+.1f}, {high:+.1f}]"
                    f"   published {100 * value:+.1f}"
                )
            rho = stats.spearmanr([gap for gap, _ in values], printed).statistic
            print(f"  Spearman with {table}: {rho:.2f}")
        for e in rows:
            if stem(e.measure) in ("agency_gap", "agency_variance") and len(e.group) == 1:
                assert e.null is not None
                name = e.group.get("attribute") or group_label(e.group)
                print(
                    f"  {stem(e.measure)} {name:18} {e.value:.3f}, shuffled groups "
                    f"{e.null.low:.3f} to {e.null.high:.3f}, p {e.tests[0].p:.3f}"
                )
    print(f"\nCPU {seconds:.1f} s without report")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", metavar="TEXTS")
    parser.add_argument("classifier", metavar="CLASSIFIER", nargs="?", default="linear")
    parser.add_argument("cluster", metavar="CLUSTER", nargs="?")
    given = parser.parse_args()
    show(given.texts, given.classifier, given.cluster)


if __name__ == "__main__":
    main()
