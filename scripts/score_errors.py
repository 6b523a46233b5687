"""Measure the rules' errors by domain and role on labelled stories; score corrections by them.

    python scripts/score_errors.py STORIES.jsonl [--write] [--splits 8] [--parts 4]

STORIES are labelled as `portrayal score people` reads them. Every story is read with weights that
were trained on other prompts. `--write` puts how often the rules read which genders, by prompt,
into `confusion.json`: figures, without texts or names.

Scores: a quarter (with `--parts 2` half) of the prompts of each domain and condition shows how the
rules err, and the rest is audited, once as labelled and once as read. Printed are the median
distances to the labelled ratio (|log|) of the ratio as read and as corrected, how often the range
of the reader's errors holds the labelled ratio, and of groups of ten people or more how many ratios
that chance does not explain may be stated, and how many of these the labels contradict: their ratio
is on the other side of 1, or within 10 % of it and no surer.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from people_stories import Story as LabelledStory
from people_stories import fold, genders_of, names_of, read, story_of
from train_people import left_out

import portrayal
from portrayal.annotate.people.confusion import (
    Confusion,
    Setting,
    Slot,
    Story,
    confusion_from,
)
from portrayal.annotate.people.stories.extract import WeighedStory
from portrayal.measure.stories.reader_error import ReaderErrors
from portrayal.records import ERROR_HIGH, ERROR_LOW, ERROR_VALUE, Estimate
from portrayal.report.view import reader_could
from portrayal.studies.laissez_faire import STUDY
from portrayal.studies.stories.audit import naming

sys.path.append(str(Path(__file__).with_name("reader")))
from measure_confusion import written

RULES = Path("src/portrayal/annotate/people/stories/confusion.json")
SOURCE = (
    "; by domain and role on {n} stories by models with labels by hand (Shieh et al. 2025), read "
    "with weights fitted to other prompts"
)
PEOPLE_LEAST, ALIKE = 10, 1.1
GENDERS = ("F", "M", "NB")


def slots_of(story: LabelledStory, verdict: WeighedStory) -> Story:
    """A story's people: names as 1 and 2, 0 for those of nobody asked for."""
    names, genders = names_of(story.scene, verdict.cast.slots), genders_of(verdict)
    place = {name: str(at + 1) for at, (name, _) in reversed(list(enumerate(story.gold))) if name}

    def known(gender: str) -> str:
        return gender if gender in GENDERS else "U"

    return tuple(
        Slot(
            known(true), known(said), place.get(name, ""), place.get(fold(other), "0") * bool(other)
        )
        for (name, true), said, other in zip(story.gold, genders, names, strict=True)
    )


def setting_of(row: dict) -> Setting:
    """Domain and condition of a story."""
    return Setting(row["domain"], row["condition"] == "power-laden")


def labelled(rows: Sequence[dict], people: Sequence[Story]) -> list[dict]:
    """Return what the confusion's file has of these stories: counts by setting and prompt."""
    found: dict = defaultdict(lambda: defaultdict(Counter))
    for row, story in zip(rows, people, strict=True):
        found[setting_of(row)][row["prompt"]][written(story)] += 1
    return [
        {**setting._asdict(), "prompts": list(map(dict, prompts.values()))}
        for setting, prompts in sorted(found.items())
    ]


def audited(rows: Sequence[dict], people: Sequence[Sequence[tuple]], out: Path) -> portrayal.Run:
    """Audit stories with these people: name and gender of the subject, and of the object."""
    made = []
    for row, story in zip(rows, people, strict=True):
        own = {key: value for key, value in row.items() if not key.startswith("gold_")}
        for slot, (name, gender) in zip(("subject", "object"), story, strict=False):
            said = gender if gender in GENDERS else "Unspecified"
            own |= {f"{slot}_name": name or None, f"{slot}_gender": said}
        made.append(own)
    columns = {
        f"{s}_{part}": f"{s}_{part}" for s in ("subject", "object") for part in ("name", "gender")
    }
    return portrayal.audit(
        study=STUDY.name,
        texts=made,
        columns=columns,
        out=out,
        report=False,
        draws=400,
        permutations=20,
    )


def compared(read_run, hand_run, confusion: Confusion) -> list[tuple[Estimate, float, Estimate]]:
    """Estimates with their range, the ratio by the confusion matrix, and the labelled one."""
    options = STUDY.options()
    tables = STUDY.tables(read_run, options)
    likelihoods = naming(options).likelihoods
    errors = ReaderErrors(tables.offered["tally"](), tables.scope, confusion, likelihoods)
    by_hand = {e.id: e for e in hand_run.records}
    found = []
    for e in map(errors.added, read_run.records):
        hand = by_hand.get(e.id)
        if hand is None or hand.value is None:
            continue
        if ERROR_VALUE in e.details:
            found.append((e, float(errors.corrected(e, 0)[0]), hand))
        elif e.status.reader_error is not None:
            found.append((e, np.nan, hand))
    return found


def apart(one: float, other: float) -> float:
    """|log| of the ratio of two; 0 where they are equal, as both may be 0 or infinite."""
    if one == other:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(abs(np.log(one) - np.log(other)))


def beyond_chance(e: Estimate) -> bool:
    """Whether chance does not explain a ratio, over prompts or in these alone."""
    known = [bounds for bounds in (e.interval, e.fixed) if bounds is not None]
    return any(not bounds.low <= 1.0 <= bounds.high for bounds in known)


def show_stated(title: str, rows: list[tuple[Estimate, float, Estimate]]) -> None:
    """Print how many ratios may be stated, before and after the range, and are contradicted."""
    cells = []
    for ranged in (False, True):
        stated = [
            (e.value, hand)
            for e, _, hand in rows
            if beyond_chance(e)
            and sum(count.n for count in e.counts) >= PEOPLE_LEAST
            and not (ranged and reader_could(e))
        ]
        against = 0
        for value, hand in stated:
            over = hand.value if value > 1.0 else 1.0 / hand.value if hand.value else np.inf
            against += over <= 1.0 or (over < ALIKE and not beyond_chance(hand))
        cells += [len(stated), against]
    print(f"| {title} | {' | '.join(map(str, cells))} |")


def show(title: str, rows: list[tuple[Estimate, float, Estimate]]) -> None:
    """Print one line of the table of scores."""
    refused = sum(e.status.reader_error is not None for e, _, _ in rows)
    known = [row for row in rows if ERROR_VALUE in row[0].details]
    if not known:
        print(f"| {title} | 0 | {refused} | - | - | - | - |")
        return
    away = [
        [apart(each, hand.value) for each in (e.value, matrix, e.details[ERROR_VALUE])]
        for e, matrix, hand in known
    ]
    held = [e.details[ERROR_LOW] <= hand.value <= e.details[ERROR_HIGH] for e, _, hand in known]
    cells = " | ".join(f"{np.median(each):.3f}" for each in zip(*away, strict=True))
    print(f"| {title} | {len(known)} | {refused} | {cells} | {100 * np.mean(held):.1f} % |")


def main() -> None:
    """Read the stories, write how the rules err where asked, and print the scores."""
    parser = argparse.ArgumentParser()
    parser.add_argument("stories", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--parts", type=int, default=4)
    asked = parser.parse_args()
    told = [story_of(row) for row in read(asked.stories)]
    verdicts = left_out(told)
    rows = [story.row for story in told]
    people = [slots_of(story, verdict) for story, verdict in zip(told, verdicts, strict=True)]
    if asked.write:
        write(labelled(rows, people))
    said = [
        list(zip(names_of(v.scene, v.cast.slots), genders_of(v), strict=True)) for v in verdicts
    ]
    found = []
    given = json.loads(RULES.read_text(encoding="utf-8"))
    for split in range(asked.splits):
        rng, part = np.random.default_rng(split // asked.parts), {}
        for setting in sorted({setting_of(row) for row in rows}):
            prompts = sorted({row["prompt"] for row in rows if setting_of(row) == setting})
            rng.shuffle(prompts)
            part |= {prompt: at % asked.parts for at, prompt in enumerate(prompts)}
        shown = [part[row["prompt"]] == split % asked.parts for row in rows]
        there = [i for i, each in enumerate(shown) if each]
        rest = [i for i, each in enumerate(shown) if not each]
        cells = labelled([rows[i] for i in there], [people[i] for i in there])
        wrong = sum(
            n.name != n.read_name for i in there for n in people[i] if n.name or n.read_name
        )
        named = sum(bool(n.name or n.read_name) for i in there for n in people[i])
        right = 1.0 - wrong / named
        own = confusion_from(given | {"labelled": cells, "names_right": [right, right]}, "split")
        with tempfile.TemporaryDirectory() as folder:
            gold = [told[i].gold for i in rest]
            by_hand = audited([rows[i] for i in rest], gold, Path(folder) / "hand")
            as_read = audited(
                [rows[i] for i in rest], [said[i] for i in rest], Path(folder) / "read"
            )
            found += compared(as_read, by_hand, own)
    print("| measure | ratios | refused | as read | by the matrix | as given | range holds |")
    print("|---|---|---|---|---|---|---|")
    for measure in sorted({e.measure for e, _, _ in found}):
        show(measure, [row for row in found if row[0].measure == measure])
    show("all", found)
    print("\n| group | beyond chance | contradicted | with the range | contradicted |")
    print("|---|---|---|---|---|")
    for kind in sorted({tuple(e.group) for e, _, _ in found}):
        show_stated(" × ".join(kind), [row for row in found if tuple(row[0].group) == kind])
    show_stated("all", found)


def write(cells: list[dict]) -> None:
    """Put the labelled stories into the confusion of the rules, one prompt a line."""
    given = json.loads(RULES.read_text(encoding="utf-8"))
    n = sum(sum(prompt.values()) for cell in cells for prompt in cell["prompts"])
    source = given["source"].partition("; by ")[0] + SOURCE.format(n=n)
    text = RULES.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
    if "labelled" in given:
        text = text[: text.index(',\n"labelled"')]
    text = text.replace(json.dumps(given["source"]), json.dumps(source))
    lines = []
    for cell in cells:
        prompts = ",\n".join(json.dumps(prompt) for prompt in cell["prompts"])
        lines.append(
            f'{{"domain": {json.dumps(cell["domain"])}, "laden": {json.dumps(cell["laden"])}, '
            f'"prompts": [\n{prompts}\n]}}'
        )
    RULES.write_text(text + ',\n"labelled": [\n' + ",\n".join(lines) + "\n]\n}\n", encoding="utf-8")
    confusion_from(json.loads(RULES.read_text(encoding="utf-8")), RULES.name)


if __name__ == "__main__":
    main()
