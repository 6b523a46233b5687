"""Print how many names of each origin `find_everyone` finds in sentences that name them once.

`python scripts/score_origins.py tests/annotate/people/origins.json` puts every name into every
sentence of the file and prints names, sentences, and the share in which the whole name is found.
"""

import argparse
import json
from pathlib import Path

from portrayal.annotate.people.any_text.everyone import find_everyone


def found(name: str, templates: list[str]) -> int:
    """In how many of the sentences the whole name is a person's."""
    texts = [template.format(name) for template in templates]
    return sum(any(p.name == name for p in find_everyone(text)) for text in texts)


def shares(path: Path) -> dict[str, tuple[int, int, float]]:
    """Per origin the numbers of names and of sentences, and the share found."""
    given = json.loads(path.read_text(encoding="utf-8"))
    templates = given["templates"]
    result = {}
    for origin, names in given["names"].items():
        total = len(names) * len(templates)
        result[origin] = len(names), total, sum(found(n, templates) for n in names) / total
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("origins", type=Path)
    for title, (names, texts, share) in shares(parser.parse_args().origins).items():
        print(f"{title}: names {names}, sentences {texts}, found {share:.1%}")
