"""How an audit grows: CPU seconds and peak memory by rows, models and groups of a factor.

python -m benchmarks.scale rows 400000     # one-line stories of 3 models, labelled
python -m benchmarks.scale models 100      # 4,000 such stories
python -m benchmarks.scale groups 2000     # 2,000 texts that show groups by words of their own
"""

import argparse
import json
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import portrayal

ROLES = (("doctor", "patient"), ("teacher", "student"), ("cook", "guest"))
PEOPLE = (("Emily", "F"), ("John", "M"), ("María", "F"), ("José", "M"))
LABELS = ("subject_name", "subject_gender", "object_name", "object_gender")


def stories(n: int, models: int) -> Iterator[str]:
    """Yield the lines of a CSV file of n one-word stories with labels."""
    draw = random.Random(1)
    yield ",".join(("text,prompt_id,model,domain,condition,subject_role,object_role", *LABELS))
    for i in range(n):
        people = (*draw.choice(PEOPLE), *draw.choice(PEOPLE))
        place = ("Hi.", f"p{i % 30}", f"m{i % models}", "Labor", "power-laden", *ROLES[i % 3])
        yield ",".join((*place, *people))


def factor(n: int) -> str:
    """Return the TOML of a factor of n groups, each with a word of its own."""
    groups = "".join(f'[groups.g{i}]\nlabel = "Group {i}"\n' for i in range(n))
    words = "".join(f'g{i} = ["glip{i}ish"]\n' for i in range(n))
    head = 'name = "many"\nlabel = "Many"\nnote = "Words are mentions."\nsource = "made up"\n'
    return f'{head}{groups}[[sources]]\nkind = "words"\n[sources.words]\n{words}'


def audit(kind: str, n: int, folder: Path) -> Any:
    """Audit what was made up; return the run."""
    options: dict[str, Any] = {"draws": 100, "report": False, "out": folder / "run"}
    if kind == "groups":
        (folder / "many.toml").write_text(factor(n), encoding="utf-8")
        rows = [
            {
                "text": f"The glip{i % n}ish nurse met a glip{(i * 7 + 3) % n}ish cook.",
                "prompt": f"p{i % 20}",
                "model": "m",
                "gender": "FM"[i % 2],
            }
            for i in range(2_000)
        ]
        return portrayal.audit(
            study="agency", texts=rows, factor=[str(folder / "many.toml")], **options
        )
    made = stories(n, 3) if kind == "rows" else stories(4_000, n)
    with (folder / "rows.csv").open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in made)
    labels = [f"{name}={name}" for name in LABELS]
    return portrayal.audit(
        study="laissez-faire", texts=folder / "rows.csv", columns=labels, permutations=20, **options
    )


def main() -> None:
    """Print one JSON object with the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("rows", "models", "groups"))
    parser.add_argument("number", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        n_estimates = len(audit(given.kind, given.number, Path(folder)).estimates)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    facts = {"cpu_s": round(seconds, 1), "peak_mb": round(memory), "estimates": n_estimates}
    print(json.dumps({given.kind: given.number} | facts))


if __name__ == "__main__":
    main()
