"""Print how well `find_everyone` does on texts with labels, and how fast it is.

`python scripts/score_everyone.py FOLDER` reads the development data below FOLDER: biographies and
professor reviews whose prompts gave a name and a gender, stories with hand-labelled people, news
articles. Names are compared without accents. `--wrong N` lists N errors of each kind.
"""

import argparse
import csv
import json
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from portrayal.annotate.people.any_text.everyone import Person, find_everyone, main_person

GENDERS = {"female": "F", "male": "M", "Female": "F", "Male": "M", "Non-binary": "NB"}
NOBODY = (None, "Unspecified")
Line = tuple[str, str, str, str]


def biographies(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield text, first name and gender of each biography."""
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            yield row["text"], row["name"], GENDERS[row["gender"]]


def stories(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield text, first name and gender of each hand-labelled character with one first name."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for slot in ("subject", "object"):
            name, gender = row[f"gold_{slot}_name"], row[f"gold_{slot}_gender"]
            if row["text"] and name and name.isalpha() and name not in NOBODY:
                yield row["text"], name, GENDERS.get(gender or "", "Unspecified")


def plain(name: str) -> str:
    """A name in lower case, without accents."""
    letters = unicodedata.normalize("NFD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def named(people: list[Person], first: str) -> Person | None:
    """The person of this first name, or None."""
    return next((p for p in people if plain(p.first or "") == plain(first)), None)


def by_race(path: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Texts, first names and genders of biographies, by the race that the prompt gave."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        races = [row["race"] for row in csv.DictReader(stream)]
    for race, row in zip(races, biographies(path), strict=True):
        found.setdefault(race, []).append(row)
    return found


def score_main(rows: list[tuple[str, str, str]]) -> tuple[dict[str, float], list[Line]]:
    """Shares of texts whose main person has the right first name, and the right gender."""
    wrong: list[Line] = []
    names = genders = 0
    for text, first, gender in rows:
        found = main_person(find_everyone(text))
        name, told = ("", "nobody")
        if found:
            name, told = (found.first or found.name or ""), found.gender
        same = plain(name) == plain(first)
        names += same
        genders += told == gender
        if not same:
            wrong.append(("name", first, name, text[:150]))
        elif told != gender:
            wrong.append(("gender", f"{first} {gender}", told, text[:150]))
    return {"texts": len(rows), "name": names / len(rows), "gender": genders / len(rows)}, wrong


def score_named(rows: list[tuple[str, str, str]]) -> tuple[dict[str, float], list[Line]]:
    """Shares of labelled people who are found by first name, and of these the right gender."""
    wrong: list[Line] = []
    found = right = 0
    for text, first, gender in rows:
        person = named(find_everyone(text), first)
        found += person is not None
        if person is None:
            wrong.append(("missed", first, "", text[:200]))
        elif person.gender == gender:
            right += 1
        else:
            wrong.append(("gender", f"{first} {gender}", person.gender, text[:300]))
    return {"people": len(rows), "found": found / len(rows), "gender": right / found}, wrong


def speed(texts: list[str]) -> dict[str, float]:
    """Texts and megabytes read in a second of one core."""
    start = time.process_time()
    for text in texts:
        find_everyone(text)
    seconds = time.process_time() - start
    size = sum(len(text.encode()) for text in texts) / 1e6
    return {"texts/s": len(texts) / seconds, "MB/s": size / seconds}


def show(title: str, figures: dict[str, float], wrong: list[Line], most: int) -> None:
    """Print one line of figures and up to `most` of each kind of error."""
    told = ", ".join(f"{name} {value:,.4g}" for name, value in figures.items())
    print(f"{title}: {told}")
    for kind in dict.fromkeys(line[0] for line in wrong):
        for line in [line for line in wrong if line[0] == kind][:most]:
            print("   ", *line, sep=" | ")


def main() -> None:
    """Score each file of the folder that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", type=int, default=0, metavar="N")
    given = parser.parse_args()
    labe, fair = given.folder / "labe", given.folder / "laissez_faire"
    cases: list[tuple[str, Path, Callable[..., Iterator[tuple[str, str, str]]], bool]] = [
        ("biographies", labe / "chatgpt_bios.csv", biographies, True),
        ("biographies, fair", labe / "chatgpt_bios_prompt_mitigated.csv", biographies, True),
        ("professors", labe / "chatgpt_professor.csv", biographies, True),
        ("stories", fair / "gold_stories_dev.jsonl", stories, False),
    ]
    for title, path, read, main_only in cases:
        rows = list(read(path))
        figures, wrong = (score_main if main_only else score_named)(rows)
        show(title, figures, wrong, given.wrong)
        for race, part in (by_race(path) if main_only else {}).items():
            show(f"{title}, {race}", score_main(part)[0], [], 0)
        show(f"{title}, speed", speed([text for text, _, _ in rows[:600]]), [], 0)
    for name in ("human_dev.jsonl", "gpt35_dev.jsonl"):
        lines = (given.folder / "news" / name).read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        counts = [len(find_everyone(text)) for text in texts]
        show(
            f"news, {name}",
            {"texts": len(texts), "people per text": sum(counts) / len(texts)},
            [],
            0,
        )
        show(f"news, {name}, speed", speed(texts), [], 0)


if __name__ == "__main__":
    main()
