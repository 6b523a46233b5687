"""Reader: its precision and recall by group, the form of Table S8, beside what they touch."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import portrayal.report.formats as fmt
from portrayal.annotate.people.confusion import GENDERS, Confusion, Prompts, confusion_of
from portrayal.records import Estimate
from portrayal.report.figures.declared import Declarations
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.view import View
from portrayal.report.words import GENDER_WORDS

TOLD = GENDERS[:3]
"""Genders that a word tells."""
PAPER = (
    ("ChatGPT 3.5, pre-trained (paper)", "92.3", "80.4", "97.1", "97.2"),
    ("ChatGPT 3.5, fine-tuned (paper)", "98.0", "97.0", "98.1", "99.3"),
)
"""Table S8 of Shieh et al. (2025), percent: genders' precision and recall, then names'."""


@dataclass(frozen=True)
class Rates:
    """Precision and recall of a reader, 0-1, on `n` marked people; None where there is none."""

    precision: float | None
    recall: float | None
    n: int


@lru_cache(maxsize=8)
def genders(stories: Prompts) -> dict[str, Rates]:
    """Return precision and recall of each gender, and of all that a word tells under ""."""
    pairs = Counter((s.gender, s.read_gender) for prompt in stories for two in prompt for s in two)
    rates = {}
    # Recall over the marked, precision over the read: the margins of one table.
    for gender in TOLD:
        true = sum(pairs[gender, read] for read in GENDERS)
        read = sum(pairs[true_gender, gender] for true_gender in GENDERS)
        rates[gender] = _rates(pairs[gender, gender], read, true)
    # No word, or several genders, is no prediction: as in the paper's Table S8.
    right = sum(pairs[g, g] for g in TOLD)
    read = sum(n for (_, read_gender), n in pairs.items() if read_gender in TOLD)
    true = sum(n for (true_gender, _), n in pairs.items() if true_gender in TOLD)
    return rates | {"": _rates(right, read, true)}


@lru_cache(maxsize=8)
def names(stories: Prompts) -> Rates:
    """Return precision and recall of first names."""
    slots = [slot for prompt in stories for two in prompt for slot in two]
    # A missing name that was rightly not read counts in neither rate.
    right = sum(bool(s.name) and s.name == s.read_name for s in slots)
    return _rates(right, sum(bool(s.read_name) for s in slots), sum(bool(s.name) for s in slots))


def _rates(right: int, read: int, true: int) -> Rates:
    return Rates(right / read if read else None, right / true if true else None, true)


def confusion(view: View) -> Confusion | None:
    """Return how the reader of a run errs; None where that was not measured, or people labelled."""
    annotator = next(iter(view.settings.get("annotators", ())), "")
    # A model that labels has errors of its own, which these figures do not tell.
    if not annotator or view.settings.get("labeler"):
        return None
    return confusion_of(annotator, view.run.annotations(annotator).note().get("settings"))


def reader_note(view: View, e: Estimate) -> str:
    """Return how well the reader finds the people that an estimate is about; "" where unknown."""
    errors = confusion(view)
    if errors is None:
        return ""
    by_gender = genders(errors.stories)
    # A couple's reading hangs on both of its genders.
    genders_of = dict.fromkeys((e.group.get("gender") or e.group.get("pair", "")).split("-"))
    recalls = [
        f"{fmt.share(by_gender[g].recall)} of {GENDER_WORDS[g]} people, and "
        f"{fmt.share(by_gender[g].precision)} of those it reads as {GENDER_WORDS[g]} are"
        for g in genders_of
        if g in TOLD
    ]
    note = (
        f" On {errors.source.partition(',')[0]}, the reader finds {'; '.join(recalls)}."
        if recalls
        else ""
    )
    # A race is told by the name alone, so names' errors are its errors.
    if "race" in e.group and errors.names_right is not None:
        note += f" It reads {fmt.share(errors.names_right[0])} of names right in stories by models."
    return note


def reader_table(view: View, figures: Declarations) -> Iterator[Figure]:
    """Yield the form of Table S8: precision and recall of genders and names."""
    errors = confusion(view)
    if errors is None:
        return

    def pair(rates: Rates) -> tuple[str, str]:
        return fmt.share(rates.precision), fmt.share(rates.recall)

    rows: list[tuple[str, ...]] = []
    for label, stories in (("plain stories", errors.stories), ("harder stories", errors.hard)):
        if not stories:
            continue
        by_gender, name_rates = genders(stories), names(stories)
        rows.append((f"All, {label}", *pair(by_gender[""]), *pair(name_rates), f"{name_rates.n:,}"))
        for gender in TOLD:
            rates, people = by_gender[gender], GENDER_WORDS[gender].capitalize()
            cells = (*pair(rates), fmt.NOTHING, fmt.NOTHING, f"{rates.n:,}")
            rows.append((f"{people}, {label}", *cells))
    rows += [(row[0], *(f"{cell}{fmt.PERCENT}" for cell in row[1:]), "") for row in PAPER]
    heads = ("People", "Gender precision", "Gender recall", "Name precision", "Name recall")
    # The note names the gender that is missed most.
    least = min((genders(errors.stories)[g].recall or 0.0, g) for g in TOLD)
    yield figures.figure(
        "reader",
        view,
        (),
        table=Table((*heads, "People marked"), tuple(rows), 1),
        source=errors.source,
        accuracy=getattr(view.annotator, "accuracy", ""),
        worst=GENDER_WORDS[least[1]],
        found=fmt.share(least[0]),
    )
