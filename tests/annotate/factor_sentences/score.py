"""Recall and precision of the words of factors on labelled sentences, by kind.

python tests/annotate/factor_sentences/score.py dev|sealed [--errors]
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

COUNTS = ("cases", "labelled", "observed", "right", "false_alarms")


def cases(which):
    """Return the cases of "dev" or "sealed"."""
    path = Path(__file__).with_name(f"{which}.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def observations(cases, find):
    """Yield (case, factor, labelled groups, observed groups) of each factor that a case is about.

    `find` takes a factor's name and texts, and returns a set of groups for each text.
    """
    for factor in sorted({name for case in cases for name in case["groups"]}):
        of_factor = [case for case in cases if factor in case["groups"]]
        observed = find(factor, [case["text"] for case in of_factor])
        for case, groups in zip(of_factor, observed, strict=True):
            yield case, factor, set(case["groups"][factor]), groups


def score(cases, find):
    """Return counts by kind and of "all"; a pair of a text and a group is the unit."""
    totals = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for case, factor, labelled, observed in observations(cases, find):
        for kind in (case["kind"], f"all of {factor}", "all"):
            counts = totals[kind]
            counts["cases"] += 1
            counts["labelled"] += len(labelled)
            counts["observed"] += len(observed)
            counts["right"] += len(labelled & observed)
            counts["false_alarms"] += bool(observed) and not labelled
    for counts in totals.values():
        right, labelled, observed = (counts[name] for name in ("right", "labelled", "observed"))
        counts["recall"] = right / labelled if labelled else None
        counts["precision"] = right / observed if observed else None
    return {kind: totals[kind] for kind in sorted(totals, key=lambda kind: (kind == "all", kind))}


def words_of(factor, texts):
    """Return the groups that the words of a factor show, as an audit reads them."""
    from portrayal.annotate.groups import group_reader
    from portrayal.reference.factors import load_factor

    rows = [{"text": text, "outcome": "ok", "columns": {}} for text in texts]
    seen = (row["seen"] for row in group_reader([load_factor(factor)])(rows, [{}] * len(rows)))
    words = ([one for one in entries if one["source"] == "words"] for entries in seen)
    return [{group for one in entries for group in one["groups"]} for entries in words]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=("dev", "sealed"))
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    if options.errors and options.which == "sealed":
        parser.error("the sealed third is for measuring: it shows no errors; take dev")
    labelled_cases = cases(options.which)
    if options.errors:
        for case, factor, labelled, observed in observations(labelled_cases, words_of):
            if observed != labelled:
                print(
                    f"{case['id']} {case['text']!r} {factor}: {labelled or '{}'}, observed "
                    f"{observed or '{}'}"
                )
    print(f"{'kind':24}" + "".join(f"{name:>13}" for name in COUNTS) + " recall precision")
    for kind, counts in score(labelled_cases, words_of).items():
        numbers = "".join(f"{counts[name]:13}" for name in COUNTS)
        shares = (counts["recall"], counts["precision"])
        texts = ("-" if share is None else f"{share:.3f}" for share in shares)
        print(f"{kind:24}{numbers}" + "".join(f"{text:>7}" for text in texts))


if __name__ == "__main__":
    main()
