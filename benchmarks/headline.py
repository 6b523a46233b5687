"""Do the three headline measures hold when the extractor, not people, labels the stories?

    python -m benchmarks.headline --gold FILE [--labeler llm] [--draws 2000] [--rows]

FILE is a story file with the columns gold_subject_name, gold_subject_gender, gold_object_name and
gold_object_gender. The audit runs twice, on these labels and on the extractor's. Counted is every
estimate that rests on 30 characters or more by the gold labels: does the extracted value lie within
the clustered 95 % interval of the gold one? The target is 95 % of them. Zero exits say that it is
met.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import portrayal
from portrayal.records import Estimate

MEASURES = ("representation.v1", "subordination.v1", "median_racialized_subordination.v1")
COLUMNS = {
    f"{slot}_{part}": f"gold_{slot}_{part}"
    for slot in ("subject", "object")
    for part in ("name", "gender")
}
FEWEST = 30
TARGET = 0.95


def estimates(
    path: Path, columns: dict[str, str], draws: int, labeler: str = "embedded"
) -> dict[Any, Estimate]:
    """Headline estimates of an audit, by measure, stratum and group."""
    with tempfile.TemporaryDirectory() as folder:
        run = portrayal.audit(
            study="laissez-faire",
            texts=path,
            columns=columns,
            out=Path(folder) / "run",
            report=False,
            labeler=labeler,
            draws=draws,
            permutations=20,
        )
        return {
            (e.measure, *sorted(e.strata.items()), *sorted(e.group.items())): e
            for e in run.records
            if e.measure in MEASURES
        }


def compare(gold: dict[Any, Estimate], extracted: dict[Any, Estimate]) -> list[dict[str, Any]]:
    """One row for each estimate that counts; one that the extractor leaves undefined lies outside.

    Estimates of gold labels that have no value or no interval are left out, and counted.
    """
    rows = []
    for key, e in gold.items():
        if e.n_units < FEWEST:
            continue
        other = extracted.get(key)
        value = None if other is None else other.value
        defined = e.value is not None and e.interval is not None
        inside = (
            e.interval.low <= value <= e.interval.high
            if defined and e.interval is not None and value is not None
            else False
        )
        low, high = (e.interval.low, e.interval.high) if e.interval else (None, None)
        rows.append(
            {"measure": e.measure, "model": e.strata["model"], "domain": e.strata["domain"],
             "group": " ".join(e.group.values()), "n": round(e.n_units, 1), "gold": e.value,
             "low": low, "high": high, "extracted": value, "counts": defined, "inside": inside}
        )  # fmt: skip
    return rows


def share(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Estimates, those inside, and their share; None where there is none."""
    counted = [row for row in rows if row["counts"]]
    inside = sum(row["inside"] for row in counted)
    found = round(inside / len(counted), 4) if counted else None
    return {
        "estimates": len(counted),
        "inside": inside,
        "share": found,
        "gold_without_value_or_interval": len(rows) - len(counted),
    }


def main() -> None:
    """Print one JSON object with the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--labeler", default="embedded", help="embedded or llm")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--rows", action="store_true", help="list the estimates that lie outside")
    given = parser.parse_args()
    gold = estimates(given.gold, COLUMNS, given.draws)
    rows = compare(gold, estimates(given.gold, {}, given.draws, given.labeler))
    facts: dict[str, Any] = {"all": share(rows), "target": TARGET}
    facts |= {name: share([row for row in rows if row["measure"] == name]) for name in MEASURES}
    if given.rows:
        facts["outside"] = [row for row in rows if row["counts"] and not row["inside"]]
    print(json.dumps(facts, indent=1, ensure_ascii=False))
    raise SystemExit(0 if (facts["all"]["share"] or 0) >= TARGET else 1)


if __name__ == "__main__":
    main()
