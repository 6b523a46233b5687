"""Recall and precision of the finder of people on labelled sentences, by kind.

python tests/annotate/people/sentences/score.py dev|held|sealed [--labeler rules|reader] [--errors]
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

UNDETERMINED = {"Unspecified", "Unsure"}
COUNTS = ("cases", "listed", "found", "right", "named", "extra")


def cases(which):
    """Return the cases of "dev", "held" or "sealed"."""
    path = Path(__file__).with_name(f"{which}.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def first_name(name):
    return name.split()[0].casefold()


def gender_accepted(label, gender):
    """Whether a gender is the labelled one; where the label has none, whether none is stated."""
    if label["gender"] is None or (not label["strict_gender"] and gender in UNDETERMINED):
        return gender in UNDETERMINED
    return gender == label["gender"]


def judge(case, people):
    """Return what is wrong in one case: people missing, of a wrong gender, and nobody's names."""
    named = [person for person in people if person.name is not None]
    writers = [person for person in people if person.name is None and person.writer]
    errors = {"missing": [], "gender": [], "extra": []}
    for label in case["people"]:
        if label["name"] is None:
            candidates = writers
        else:
            wanted = first_name(label["name"])
            candidates = [p for p in named if first_name(p.first or p.name) == wanted]
        if not candidates:
            errors["missing"].append(label["name"] or "the writer")
            continue
        person = candidates[0]
        (writers if label["name"] is None else named).remove(person)
        if not gender_accepted(label, person.gender):
            errors["gender"].append(f"{label['name'] or 'the writer'}: {person.gender}")
    errors["extra"] = [person.name for person in named]
    return errors


def score(cases, find):
    """Return counts by kind and of "all": people listed, found, and of the right gender; the named.

    `find` takes a text and returns its people, as `find_everyone` does.
    """
    totals = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for case in cases:
        people = find(case["text"])
        errors = judge(case, people)
        listed, missing = len(case["people"]), len(errors["missing"])
        for kind in (case["kind"], "all"):
            counts = totals[kind]
            counts["cases"] += 1
            counts["listed"] += listed
            counts["found"] += listed - missing
            counts["right"] += listed - missing - len(errors["gender"])
            counts["named"] += sum(person.name is not None for person in people)
            counts["extra"] += len(errors["extra"])
    for counts in totals.values():
        counts["recall"] = counts["right"] / counts["listed"] if counts["listed"] else None
        named = counts["named"]
        counts["precision"] = 1 - counts["extra"] / named if named else None
    totals["all"] = totals.pop("all")  # last
    return dict(totals)


def finder(labeler):
    """Return the function behind `portrayal find people`, with rules or the reader."""
    from functools import partial

    from portrayal.annotate.people.any_text.everyone import find_everyone
    from portrayal.annotate.people.reader.referents import by_network

    refer = by_network if labeler == "reader" else None
    return partial(find_everyone, writer=True, refer=refer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=("dev", "held", "sealed"))
    parser.add_argument("--labeler", choices=("rules", "reader"), default="rules")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    if options.errors and options.which != "dev":
        parser.error(f"{options.which} is for measuring: it shows no errors; take dev")
    labelled, find = cases(options.which), finder(options.labeler)
    if options.errors:
        for case in labelled:
            errors = {k: v for k, v in judge(case, find(case["text"])).items() if v}
            if errors:
                print(case["id"], json.dumps(case["text"], ensure_ascii=False), errors)
    print(f"{'kind':30}" + "".join(f"{name:>7}" for name in COUNTS) + " recall precision")
    for kind, counts in score(labelled, find).items():
        numbers = "".join(f"{counts[name]:7}" for name in COUNTS)
        shares = (counts["recall"], counts["precision"])
        texts = ("-" if share is None else f"{share:.3f}" for share in shares)
        print(f"{kind:30}{numbers}" + "".join(f"{text:>7}" for text in texts))


if __name__ == "__main__":
    main()
