"""Check files of stories with marked people: `python check_marks.py stories/*.txt`.

Every pronoun must be marked, and the marks must tell the genders that the head says; see
`examples.MARK` for the marks.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from examples import MARK, blocks

from portrayal.annotate.people.shared.words import word_set

_TELLS = {
    "F": word_set(
        "she her hers herself woman girl mother mom daughter sister wife girlfriend aunt niece "
        "grandmother lady mrs ms miss queen"
    ),
    "M": word_set(
        "he him his himself man boy father dad son brother husband boyfriend uncle nephew "
        "grandfather gentleman mr sir king"
    ),
    "NB": word_set(
        "they them their theirs themself themselves xe xem xyr xyrs xemself ze zir hir zirs hirs "
        "zirself hirself ey em eir eirs emself fae faer mx enby"
    ),
}
_LOOSE = re.compile(
    r"\b(she|her|hers|herself|he|him|his|himself|they|them|their|theirs|themselves|themself)\b",
    re.IGNORECASE,
)
_TITLED = re.compile(r"(Mr|Ms|Mrs|Miss|Mx)\b")


def problems(head: dict[str, str], body: str) -> Iterator[str]:
    """Yield what is wrong with a story."""
    if set(head) != {"prompt", "roles", "genders"}:
        yield f"the head has {sorted(head)}"
        return
    roles, genders = ([x.strip() for x in head[key].split("|")] for key in ("roles", "genders"))
    if len(roles) != 2 or len(genders) != 2 or not {*genders} <= {*_TELLS, "-"}:
        yield f"roles {roles}, genders {genders}"
        return
    bare = MARK.sub("", body)
    if "{" in bare or "}" in bare:
        yield "a mark is not closed"
    if loose := _LOOSE.findall(bare):
        yield f"pronouns without a mark: {loose}"
    marks = MARK.findall(body)
    for key, gender in zip("ab", genders, strict=True):
        words = {word for mark, text in marks if mark == key for word in text.lower().split()}
        told = {g for g, listed in _TELLS.items() if not listed.isdisjoint(words)}
        titled = any(mark == key.upper() and _TITLED.match(text) for mark, text in marks)
        if told != {gender} - {"-"} and not titled:
            yield f"the head says {key} is {gender}, its marks {sorted(told)}"


def main() -> None:
    """Print what is wrong, and how many stories there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    counts: Counter[str] = Counter()
    for path in parser.parse_args().files:
        for number, (head, body) in enumerate(blocks(path), 1):
            counts["stories"] += 1
            counts[head.get("genders", "none")] += 1
            for problem in problems(head, body):
                counts["problems"] += 1
                print(f"{path}, story {number}: {problem}")
    print(dict(counts))


if __name__ == "__main__":
    main()
