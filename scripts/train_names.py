"""Fit the weights that tell names of people from other names in any text.

    python scripts/train_names.py ../shared/data --out WEIGHTS.json

Names are labelled by `scripts/name_labels.csv.gz` (source, text, name, whether a person's, weight),
LitBank's entities (a third of the books is left out and scored), `scripts/name_examples.txt`, and
the development sentences of `tests/annotate/people/sentences`.
The labels of the file are by an earlier system of rules, those that it and a fitted model
contradicted by a language model; GAP's two names are GAP's. So that names that are rare in the
United States need no more than others, each name that is known is also shown as unknown.
"""

import argparse
import csv
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import optimize, sparse

from portrayal.annotate.people.any_text.draft import TextDraft
from portrayal.annotate.people.names.candidates import (
    LISTS,
    NOT_PARTS,
    PLACES,
    PLACES_AND_BODIES,
    find_candidates,
)
from portrayal.annotate.people.names.clusters import name_clusters
from portrayal.annotate.people.names.evidence import (
    KINDS,
    kinds_of_word,
    mention_features,
    name_features,
)
from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.model import Span
from portrayal.annotate.people.shared.scan import LocalWords, local_words
from portrayal.annotate.sentences import sentences as split
from portrayal.reference.locales import load_locale
from portrayal.types import FloatArray

HERE = Path(__file__).parent
PENALTY, RIDGE, UNKNOWN, SHOWN, OTHERS, EXAMPLES, RARE = 2.0, 1.0, 0.3, 0.3, 2.0, 12.0, 6
"""L1 and L2 penalty; weights of names shown as unknown, of names shown in the place of another
word, of names of things, and of examples; mentions that a feature needs."""

RARE_NAMES = (
    *("adwoa", "benedek", "ikrame", "wanjiku"),
    *("zeynab", "svetlana", "torvald", "ngozika"),
)
EACH, STAND_INS = 3.0, 14
"""Weight of a word that stands for a placeholder in the examples, and how many stand for each."""

PLACEHOLDER = re.compile(r"\{(\w+)\}")
SENTENCES = HERE.parent / "tests/annotate/people/sentences/dev.jsonl"
PLAIN_WORD, LIKES = re.compile(r"[A-Z][a-z]+(?= [a-z])"), 5
"""How a sentence opens with one word, and how many other words are put there."""


def words_of(kind: str) -> tuple[list[str], list[str]]:
    """First names that are words of a kind, and all words of it, in order."""
    words = sorted(getattr(KINDS, kind) - NOT_PARTS)
    return [word for word in words if en.is_given(word)], words


def stand_ins(kind: str, draw: random.Random) -> list[str]:
    """Words for a placeholder: names that are words of any kind or rare, or words of one kind."""
    if kind != "word":
        names, words = words_of(kind)
        half = STAND_INS // 2
        return sorted(
            {*draw.sample(names, min(half, len(names))), *draw.sample(words, min(half, len(words)))}
        )
    kinds = draw.sample([*KINDS.sets] * 2, STAND_INS)
    return [*(draw.choice(words_of(kind)[0]) for kind in kinds), *draw.sample(RARE_NAMES, 2)]


INDIA = local_words(load_locale("en-IN"))
Row = tuple[bool, float, list[str], Counter[str], bool]


def unzipped(path: Path) -> str:
    """The text of a compressed file."""
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def texts(data: Path) -> Iterator[tuple[str, str, str]]:
    """Yield source, number and text of every labelled text but LitBank's."""
    for line in unzipped(data / "india/stories_dev.jsonl.gz").splitlines():
        row = json.loads(line)
        yield "india", row["id"], row["text"]
    lines = unzipped(data / "coref/gap/gap-development.tsv.gz").splitlines()
    for number, line in enumerate(lines[1:]):
        yield "gapd", str(number), line.split("\t")[1]
    for name in ("chatgpt_bios.csv", "chatgpt_professor.csv"):
        with (data / "labe" / name).open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(list(csv.DictReader(file))[1::3]):
                yield "labe", f"{name}{number}", row["text"]
    lines = (data / "laissez_faire/gold_stories_dev.jsonl").read_text("utf-8").splitlines()
    for number, line in enumerate(lines[1::6]):
        yield "gold", str(number), json.loads(line)["text"] or ""
    for name in ("human_dev", "gpt35_dev"):
        lines = (data / f"news/{name}.jsonl").read_text("utf-8").splitlines()
        for number, line in enumerate(lines[1::2]):
            yield "news", f"{name}{number}", json.loads(line)["text"]


def clusters(
    text: str, local: LocalWords
) -> Iterator[tuple[str, list[str], Counter[str], list[Span]]]:
    """Yield each name of a text, its features, and the spans of its mentions."""
    draft = TextDraft(text, local)
    runs = find_candidates(draft.tokens)
    for each in name_clusters(draft.tokens, runs):
        own = list(name_features(draft.tokens, each.words, each.mentions))
        around = Counter[str]()
        for run in each.mentions:
            for of_run in mention_features(draft.tokens, run):
                around.update(of_run)
        share = len(each.mentions) ** -0.5
        spans = [draft.span((r.titles or [r.start])[0], r.end - 1, "") for r in each.mentions]
        features = Counter({name: n * share for name, n in around.items()})
        yield " ".join(each.words), own, features, spans


COMMON = 5
"""Times that a word stands in small letters somewhere, to be no name where it opens a sentence."""

SMALL = re.compile(r"(?<![\w'’-])[a-z]+(?![\w'’-])")
CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?![\w'’-])")
SINGLE = re.compile(r"(?<![\w'’-])(?<![A-Z][a-z] )(?<![A-Z]\. )[A-Z][a-z]+(?![\w-])(?! [A-Z&])")
NAMES_TO_SHOW = 12
"""Stretches of each kind that are taken from a text at most."""


def stands_in(data: Path) -> Iterator[Row]:
    """Yield names that are words, or rare, in the place of frequent names, of words and of places.

    A frequent first name that is no word is a person's wherever it stands alone; a word that opens
    a sentence and mostly has small letters is none, and a place is none.
    """
    stretches = [text for _, _, text in texts(data)]
    for path in sorted((data / "coref/litbank").glob("*.txt.gz"))[1::3]:
        stretches.append(" ".join(unzipped(path).split()))
    small = Counter(word for text in stretches for word in SMALL.findall(text))
    capital = Counter(word.lower() for text in stretches for word in CAPITAL.findall(text))
    words = sorted(
        word
        for word in en.given_names()
        if kinds_of_word(word) and word not in NOT_PARTS | PLACES_AND_BODIES
    )
    of_kind = {kind: [w for w in words if kind in kinds_of_word(w)] for kind in KINDS.sets}
    of_kind = {kind: names for kind, names in of_kind.items() if names}
    alike: dict[tuple[str, ...], list[str]] = {}
    rare = [*RARE_NAMES, *sorted(w for w, n in en.given_names().items() if 100 < n < 900)[::400]]
    places = sorted(word for word in LISTS.places_and_months if en.is_given(word))
    draw = random.Random(7)
    for text in stretches:
        spans = split(text)
        taken = Counter[str]()
        for number, (start, end) in enumerate(spans):
            for match in SINGLE.finditer(text, start, end):
                word = match.group().lower()
                plain = word not in words and word not in PLACES_AND_BODIES
                if en.bearers(word) >= en.FREQUENT and plain and not small[word]:
                    kind, names = (
                        "person",
                        (*of_kind.values(), rare, places)[draw.randrange(len(of_kind) + 2)],
                    )
                elif word in PLACES and not small[word]:
                    kind, names = "place", (places, [word])[draw.randrange(2)]
                elif (
                    match.start() == start
                    and small[word] >= max(COMMON, 20 * capital[word])
                    and word not in NOT_PARTS
                    and not word.endswith(("ing", "ed", "ly"))
                ):
                    # Of the same kind, as "Music filled" says nothing of "Bill filled"
                    kinds = kinds_of_word(word)
                    if kinds not in alike:
                        alike[kinds] = [w for w in words if {*kinds_of_word(w)} >= {*kinds}]
                    like = kinds and alike[kinds]
                    kind, names = "word", (like or [word], [word])[draw.randrange(2)]
                else:
                    continue
                taken[kind] += 1
                if taken[kind] > NAMES_TO_SHOW:
                    continue
                name = draw.choice(names)
                first, last = (
                    spans[max(0, number - 1)][0],
                    spans[min(len(spans) - 1, number + 1)][1],
                )
                before, behind = text[first : match.start()], text[match.end() : last]
                window = f"{before}{name.title()}{behind}"
                for found, own, around, at in clusters(window, local_words(None)):
                    if found == name and any(span.start == len(before) for span in at):
                        yield kind == "person", SHOWN, own, around, False


def rows(data: Path) -> Iterator[Row]:  # noqa: PLR0912
    """Yield every labelled name; the last value says whether it is left out."""
    labels = {}
    lines = unzipped(HERE / "name_labels.csv.gz").splitlines()
    for source, number, name, person, weight in csv.reader(lines):
        labels[source, number, name] = person == "1", float(weight)
    labelled = {key[:2] for key in labels}
    for source, number, text in texts(data):
        if (source, number) in labelled:
            local = INDIA if source == "india" else local_words(None)
            for name, own, around, _ in clusters(text, local):
                if (source, number, name) in labels:
                    yield *labels[source, number, name], own, around, False
    for at, path in enumerate(sorted((data / "coref/litbank").glob("*.ann.gz"))):
        is_person = {}
        for line in unzipped(path).splitlines():
            if line.startswith("T") and (found := line.split("\t")[1].split())[0][:5] == "PROP_":
                is_person[int(found[1]), int(found[2])] = found[0] == "PROP_PER"
        text = unzipped(path.with_name(path.name.replace(".ann", ".txt")))
        for _, own, around, spans in clusters(text, local_words(None)):
            said = [
                is_person[a, b] for a, b in is_person for s in spans if s.start < b and a < s.end
            ]
            yield bool(said) and 2 * sum(said) > len(said), 2.0, own, around, at % 3 == 0
    yield from stands_in(data)
    draw = random.Random(11)
    yield from cases(draw)
    for line in (HERE / "name_examples.txt").read_text("utf-8").splitlines():
        sentence, _, listed = line.partition("|")
        text = sentence.removeprefix("en-IN ").strip().replace("\\n", "\n")
        if not line.startswith("#"):
            local = INDIA if sentence.startswith("en-IN") else local_words(None)
            kinds = PLACEHOLDER.findall(text)
            for word in stand_ins(kinds[0], draw) if kinds else [""]:
                names = PLACEHOLDER.sub(word, listed).casefold().replace(";", " ")
                people = {*names.split()}
                filled = PLACEHOLDER.sub(word.title(), text)
                for name, own, around, _ in clusters(filled, local):
                    named = not people.isdisjoint(name.split())
                    each = EACH if named else EACH / OTHERS
                    each = each if word or kinds_of_word(name) else EXAMPLES
                    yield named, each, own, around, False


def cases(draw: random.Random) -> Iterator[Row]:
    """Yield the names of the development sentences, and of their likes with other words."""
    words = [word for word in en.given_names() if kinds_of_word(word)]
    for line in SENTENCES.read_text("utf-8").splitlines():
        case = json.loads(line)
        people = {w for p in case["people"] for w in (p["name"] or "").casefold().split()}
        texts = [(case["text"], people)]
        opener = PLAIN_WORD.match(case["text"])
        word = opener.group() if opener else ""
        kinds = kinds_of_word(word.casefold())
        if kinds:
            alike = [w for w in words if {*kinds_of_word(w)} >= {*kinds}]
            if word.casefold() in people:
                alike = stand_ins("word", draw)
            for other in draw.sample(alike, min(LIKES, len(alike))):
                named = {other if name == word.casefold() else name for name in people}
                texts.append((other.title() + case["text"][len(word) :], named))
        for text, names in texts:
            for name, own, around, _ in clusters(text, local_words(None)):
                yield not names.isdisjoint(name.split()), EACH, own, around, False


def unknown(own: list[str]) -> list[str]:
    """The features of a name as if nobody knew its words."""
    as_unknown = {"last known": "last unknown"}
    as_unknown |= {
        f"{place}{kind} {band}": f"{place} 0"
        for place in ("first", "alone")
        for kind in ("", " word", " rare word", " also")
        for band in "1234"
    }
    return [as_unknown.get(name, name) for name in own]


def fit(found: list[Row]) -> dict[str, float]:
    """Logistic regression with an L1 penalty."""
    examples = []
    for person, weight, own, around, _ in found:
        much = weight if person else weight * OTHERS
        examples.append((person, much, Counter(own) + around))
        if (bare := unknown(own)) != own:
            examples.append((person, UNKNOWN * much, Counter(bare) + around))
    counts = Counter(name for *_, features in examples for name in features)
    names = sorted(name for name, n in counts.items() if n >= RARE)
    place = {name: at for at, name in enumerate(names)}
    cells = [
        (i, place[n], v) for i, e in enumerate(examples) for n, v in e[2].items() if n in place
    ]
    row, column, value = zip(*cells, strict=True)
    x = sparse.csr_matrix((value, (row, column)), shape=(len(examples), len(names)))
    y = np.array([e[0] for e in examples], dtype=float)
    weights, n = np.array([e[1] for e in examples]), len(names)

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        beta = z[:n] - z[n:-1]
        scores = x @ beta + z[-1]
        wrong = weights * (1 / (1 + np.exp(-scores)) - y)
        slope = x.T @ wrong + RIDGE * beta
        total = (weights * (np.logaddexp(0, scores) - y * scores)).sum() + PENALTY * z[:-1].sum()
        return total + 0.5 * RIDGE * beta @ beta, np.r_[
            slope + PENALTY, PENALTY - slope, wrong.sum()
        ]

    bounds = [(0, None)] * (2 * n) + [(None, None)]
    z = optimize.minimize(
        loss, np.zeros(2 * n + 1), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 400},
    ).x  # fmt: skip
    beta = dict(zip(names, z[:n] - z[n:-1], strict=True))
    return {
        **{name: round(v, 2) for name, v in beta.items() if abs(v) > 0.005},
        "bias": round(z[-1], 2),
    }


def main() -> None:
    """Fit, score the books that are left out, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = list(rows(given.data))
    weights = fit([row for row in found if not row[-1]])
    # An honorific behind a name says what a title before it says, and few examples have one.
    weights["honorific"] = max(weights.get("honorific", 0.0), weights["title"])
    held = [row for row in found if row[-1]]
    scored = [
        sum(weights.get(n, 0) * v for n, v in (Counter(row[2]) + row[3]).items()) + weights["bias"]
        for row in held
    ]
    hits = sum(s > 0 and row[0] for s, row in zip(scored, held, strict=True))
    print(
        f"{len(found):,} names, {len(weights)} weights; of {len(held)} names of books left out "
        f"precision {hits / sum(s > 0 for s in scored):.3f}, "
        f"recall {hits / sum(row[0] for row in held):.3f}"
    )
    given.out.write_text(json.dumps(dict(sorted(weights.items())), indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
