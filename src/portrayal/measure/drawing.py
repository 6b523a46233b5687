"""Which texts people should label: drawn with known chances so that the interval gets narrow.

Texts are in classes by what the scorer says of them; those of which it is less sure have more
errors. Each class is drawn from at random, in proportion to its size and to the spread of its
errors (Neyman 1934), and every class gets some. What is not known of the errors before anybody has
labelled is taken from a table; labels given so far tell more. For a codebook texts are drawn by
strata of their prompts or people, as evenly as these allow.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from portrayal.annotate.group_labels import said_of
from portrayal.annotate.group_words import GROUP_WORDS
from portrayal.annotate.groups import text_sources
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.scores import AGENCY, SENTIMENT, TEXT_SCORES, TOXICITY, scores_of
from portrayal.collect.corpus import people_parts
from portrayal.errors import OptionError
from portrayal.measure.corrected import FEWEST, MARKS, ORIGINAL, OUTCOME
from portrayal.measure.cues.people import run_people
from portrayal.raters.labels import HandTable, Unit
from portrayal.raters.sheets import (
    CODEBOOKS,
    Codebook,
    CodebookQuestion,
    Draw,
    SheetItem,
    ShortPlace,
    drawn,
    evenly,
    short_places,
)
from portrayal.reference.factors import ColumnSource, load_factor
from portrayal.reference.groups import GENDERS
from portrayal.run.directory import Run, read_chosen, read_prompts, read_rows, read_shards
from portrayal.stats.tails import normal_isf
from portrayal.types import FloatArray, IntArray
from portrayal.validate import check_count, check_seed

WORDS = GROUP_WORDS.name
_OF_OUTCOMES = ("outcomes", "refusals", "pair_difference")  # measures of them
UNSURE, BESIDE = "unsure", ("none", "unknown")
EXPECTED = {UNSURE: 0.35}
USUAL = 0.15
"""Share of errors expected where the scorer is unsure, and elsewhere, before labels tell."""
LEAST = 8
"""Texts of each class that are drawn, where there are so many."""


def label_fields(run: Run) -> list[str]:
    """Return the fields that people can label of texts of a run, or of their sentences."""
    settings, numbers = run.settings(), _scores(run)
    answers = any(name.startswith(_OF_OUTCOMES) for name in settings["measures"])
    scores = (name for name in MARKS if name in numbers or sentence_stage(run, name))
    fields = [*([OUTCOME] if answers else []), *scores]
    return [*(load_factor(name).name for name in settings["options"].get("factor", ())), *fields]


def sentence_stage(run: Run, field: str) -> str:
    """Return the annotation that scores sentences for a field; "" where none does."""
    annotators = run.settings()["annotators"]
    stages = [name for name in annotators if name.partition(".")[0].partition("-")[0] == field]
    return next((name for name in stages if field == AGENCY or WORDS in annotators), "")


def scored_sentences(
    run: Run, field: str
) -> Iterator[tuple[str, list[dict[str, int]], list[float | None]]]:
    """Yield name, sentences (start and end) and their scores in 0–1 of each text with some.

    A sentence that counts nowhere has None: one that the classifier cannot tell, or in a study of
    news one without a word of a group. Names of originals have `ORIGINAL` before them.
    """
    stage, (low, span) = sentence_stage(run, field), MARKS[field].scale
    sides = [("", run.texts, run.annotations), (ORIGINAL, run.reference, run.reference_annotations)]
    # Agency is measured in the run's own texts alone; news have originals to compare with.
    for side, texts, of in sides[: 1 if field == AGENCY else 2]:
        stages = [(of(stage), ["sentences", "agentic"])]
        if field != AGENCY:
            words = of(WORDS), ["sentences", "counts"]
            stages = [words, (of(stage), ["polarity" if field == SENTIMENT else field])]
        for tables in read_shards(texts, ["text_id"], *stages):
            columns = [column.to_pylist() for table in tables for column in table.columns]
            for text_id, spans, *numbers in zip(*columns, strict=True):
                if not spans:
                    continue
                scores = numbers[-1] or [None] * len(spans)
                if field != AGENCY:
                    # Without a word of a group a sentence counts nowhere, and needs no label.
                    both = zip(scores, numbers[0], strict=True)
                    scores = [(s - low) / span if any(n) else None for s, n in both]
                yield side + text_id, spans, scores


def choices_of(run: Run, field: str) -> list[str]:
    """Return what people may say of a text or sentence, in the order of a page."""
    if field in MARKS:
        return list(dict.fromkeys(NAMES[field]))
    factors = map(load_factor, run.settings()["options"]["factor"])
    keys = (key for factor in factors if factor.name == field for key in factor.keys)
    return list(dict.fromkeys((*keys, *BESIDE)))


def field_for(run: Run, query: str) -> str:
    """Return the field of labels that a measure, a finding or a field is about.

    Raises
    ------
    OptionError
        Naming the fields that texts of this run have.
    """
    fields = label_fields(run)
    # Fields that the query names, in any part of a measure's name or of a finding.
    factors = [name for name in fields if name not in MARKS]
    words = {part for word in query.split() for part in word.split("=")}
    stem = query.strip().partition(" ")[0].partition(".v")[0]
    # A measure's own name may say the field: "agency_gap", "text_sentiment"
    words |= {part for word in words for part in word.partition(".v")[0].split("_")}
    matches = [name for name in fields if name in words]
    if stem in ("outcomes", "refusals") or "refused" in words:
        matches = [OUTCOME]
    # With a single factor, measures of groups can only be about that one
    if stem.startswith(("group_", "association")) and not matches and len(factors) == 1:
        matches = factors
    if len(matches) != 1:
        raise OptionError(
            f"{query!r} names {len(matches) or 'no'} fields that people can label; name one "
            f"of {', '.join(fields)}, or a codebook ({', '.join(CODEBOOKS.names)}, FILE.toml)."
        )
    return matches[0]


def _scores(run: Run) -> list[str]:
    parts = run.annotations(TEXT_SCORES.name).note().get("settings")
    return [] if not parts else [score.name for score in scores_of(parts)]


def numbers_of(run: Run, field: str) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the score in 0–1 of each text or sentence that has one, with its text_id and unit."""
    if sentence_stage(run, field):
        for name, _, scores in scored_sentences(run, field):
            pairs = ((str(unit), score) for unit, score in enumerate(scores, 1))
            yield from (((name, unit), score) for unit, score in pairs if score is not None)
        return
    number, (low, span) = _scores(run).index(field), MARKS[field].scale
    stage = run.annotations(TEXT_SCORES.name)
    for _, rows in read_shards(run.texts, ["text_id"], (stage, ["text_id", "masked"])):
        for row in rows.to_pylist():
            if row["masked"] is not None and row["masked"][number] is not None:
                yield (row["text_id"], ""), (row["masked"][number] - low) / span


def classes_of(run: Run, field: str, *, unsure: bool = True) -> dict[tuple[str, str], str]:
    """Return the class of each readable text, or sentence, of a run by what the scorer says of it.

    Keys are text_id and unit, the number of the sentence or "". With `unsure` texts near the middle
    of a scale, and those on which the sources of a factor differ, are a class of their own; else
    the first source alone speaks.
    """
    if field == OUTCOME:
        tables = (rows for (rows,) in read_shards(run.texts, ["text_id", "outcome"]))
        return {(row["text_id"], ""): row["outcome"] for t in tables for row in t.to_pylist()}
    if field in MARKS:
        numbers = numbers_of(run, field)
        return {
            unit: UNSURE if unsure and 1 / 3 <= x <= 2 / 3 else class_of_number(field, x)
            for unit, x in numbers
        }
    classes: dict[tuple[str, str], str] = {}
    # Sources of the field that see something in texts; a column is given and has no errors.
    factors = [load_factor(name) for name in run.settings()["options"]["factor"]]
    places = [
        (place, factor)
        for place, (factor, source) in enumerate(text_sources(factors))
        if factor.name == field and not isinstance(source, ColumnSource)
    ]
    if not places:
        raise OptionError(f"no words or model see {field} in texts; there is nothing to correct.")
    stage = run.annotations("groups.v3")
    for _, rows in read_shards(run.texts, ["text_id"], (stage, ["text_id", "said", "error"])):
        for row in rows.to_pylist():
            if row["error"] is None:
                answers = said_of(row["said"])
                groups = [tuple(sorted({*answers[i][0].places})) for i, _ in places if answers[i]]
                first = [places[0][1].keys[i] for i in (groups or [()])[0]]
                # Where the sources of a factor differ, one of them at least is wrong.
                several = unsure and len(set(groups)) > 1
                classes[row["text_id"], ""] = UNSURE if several else " and ".join(first) or "none"
    return classes


NAMES = {
    OUTCOME: ("ok", "ok", "refused"),
    SENTIMENT: ("negative", "neutral", "positive"),
    AGENCY: ("communal", "neither", "agentic"),
    TOXICITY: ("not toxic", "not toxic", "toxic"),
}
"""What a number below the middle of its scale, in the middle, or above it is called, by field."""


def class_of_number(field: str, share: float) -> str:
    """Return what a score in 0–1 is called.

    >>> class_of_number("agency", 0.8), class_of_number("agency", 0.5)
    ('agentic', 'neither')
    """
    return NAMES[field][int(np.sign(share - 0.5)) + 1]


def class_of_label(field: str, label: str) -> str:
    """Return the class of a text of which people say this."""
    is_word = field not in MARKS
    return label.casefold() if is_word else class_of_number(field, MARKS[field].number(label))


def allotted(size: FloatArray, spread: FloatArray, n: int) -> IntArray:
    """Return how many of `n` texts are drawn from each class, shapes (c,), (c,) -> (c,).

    In proportion to size and spread of the errors (Neyman 1934), `LEAST` of each where it has them.

    >>> allotted(np.array([900.0, 100.0]), np.array([0.3, 0.3]), 100).tolist()
    [90, 10]
    """
    share = n * size * spread / (size * spread).sum()
    return np.asarray(np.minimum(np.maximum(np.round(share), LEAST), size), dtype=np.int64)


def draw_for(
    run: Run,
    field: str,
    n: int,
    *,
    seed: int = 0,
    labels: HandTable | None = None,
    target_width: float | None = None,
) -> Draw:
    """Draw the texts of a run that narrow the interval of a field's shares most.

    Parameters
    ----------
    run, field
        An audited run, and what is labelled (`field_for`).
    n, target_width
        Texts to draw; the least number that reaches the width where one is given.
    seed
        Of the draw.
    labels
        Labels given so far, which say how often the scorer errs in each class. A larger draw with
        the same seed holds the texts of a smaller one.

    Raises
    ------
    OptionError
        Where the width is not above 0, or `n` not above 0.
    """
    classes = classes_of(run, field)
    names = sorted(set(classes.values()))
    members = {name: sorted(t for t, label in classes.items() if label == name) for name in names}
    size = np.array([len(members[name]) for name in names], dtype=np.float64)
    expected = np.array([EXPECTED.get(name, USUAL) for name in names])
    if labels is not None:
        by_hand = labels.labels.get(field, {})
        for i, name in enumerate(names):
            answers = [label for unit, label in by_hand.items() if classes.get(unit) == name]
            wrong = sum(class_of_label(field, label) != name.casefold() for label in answers)
            # Jeffreys: a class of which no error is known yet may have some.
            expected[i] = (wrong + 0.5) / (len(answers) + 1.0) if answers else expected[i]
    # Texts are worth labelling where errors are least certain (Neyman 1934).
    spread = np.sqrt(expected * (1.0 - expected))

    # How wide the interval of a share would be with so many labels of each class.
    def width(of: IntArray) -> float:
        # Finite population: a class that is labelled whole leaves nothing to chance.
        free = 1.0 - of / size
        variance = float(((size / size.sum() * spread) ** 2 * free / np.maximum(of, 1)).sum())
        return float(2.0 * normal_isf(0.025) * np.sqrt(variance))

    if target_width is not None and not target_width > 0:
        raise OptionError(f"--target-width {target_width:g}: expected a width above 0.")
    if target_width is not None:
        sizes = range(20, len(classes))
        fit = (m for m in sizes if width(allotted(size, spread, m)) <= target_width)
        # Where no sample is enough, all are to be labelled.
        n = next(fit, len(classes))
    n_drawn = allotted(size, spread, check_count("n", n, minimum=1))
    return drawn(field, members, n_drawn.tolist(), seed, width(n_drawn))


def short_strata(run: Run, draw: Draw) -> list[ShortPlace]:
    """Return the places that a draw cannot correct, of those that estimates are of.

    Classes are drawn without regard to strata, so that a larger draw has more of each in
    proportion.
    """
    rows = [*read_rows(run, ["text_id", "prompt_id", "model"])]
    # What else strata say ("all", a source) is no value of a text
    values = {(name, str(value)) for row in rows for name, value in row.items()}
    models = {item for item in values if item[0] == "model"}
    values -= models if len(models) == 1 else set()
    places: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for e in run.records:
        names = {*e.group, *e.strata.values(), *e.measure.partition(".")[0].split("_")}
        about_outcomes = draw.about == OUTCOME and e.measure.startswith(_OF_OUTCOMES)
        strata = [item for item in e.strata.items() if item in values]
        if strata and (draw.about in names or about_outcomes):
            places[tuple(name for name, _ in strata)].add(tuple(value for _, value in strata))
    n_all, n_drawn = Counter[str](), Counter[str]()
    units = Counter(name for name, _ in classes_of(run, draw.about))
    units_drawn = Counter(name for name, _ in draw.texts)
    for row in rows:
        for columns, here in places.items():
            if (of_row := tuple(str(row.get(name)) for name in columns)) in here:
                place = ", ".join(map("=".join, zip(columns, of_row, strict=True)))
                n_all[place] += units[row["text_id"]]
                n_drawn[place] += units_drawn[row["text_id"]]
    unit = "sentences" if any(part for _, part in draw.texts) else "texts"
    return short_places(n_all, n_drawn, len(draw.texts), unit, FEWEST)


BY = ("domain", "condition", "model")
"""What strata are made of where nothing is named, as far as the texts have it."""
OF_PEOPLE = ("gender", "race")
"""Attributes of a text's people, by which strata overlap."""
PEOPLE = "people"
"""The codebook that asks who is in a story."""
_COLUMNS = ("text_id", "prompt_id", "model", "outcome")
_WORDS = (
    "Say what each text is, as you read it; you see nothing of what the scorer says, nor of what "
    "other raters do. {raters} people label every text. Where none of the answers fits, write a "
    "note and go on."
)


def draw_texts(
    run: Run, about: str, n: int, *, by: Sequence[str] | None = None, seed: int = 0
) -> Draw:
    """Draw `n` readable texts of a run at random, as evenly over strata as their sizes allow.

    Parameters
    ----------
    run, about
        The run, and the name of what is labelled.
    n
        Texts to draw; all of them where there are not as many. Of strata that overlap, as of people
        by gender or race, a text can be drawn for several and counts once.
    by
        Attributes that make the strata: of prompts, `model`, or of `OF_PEOPLE` with the role of
        whom they are of; texts that have none of these are not drawn. None takes `BY` as far as
        the texts have it.
    seed
        Start of the random stream; the same run and seed give the same sample.

    Raises
    ------
    OptionError
        When an attribute is unknown, or there are more strata than texts to draw.
    DataError
        When there is no readable text, or people are needed and were not annotated.
    """
    check_count("n", n, minimum=1)
    check_seed(seed)
    texts = {row["text_id"]: row for row in read_rows(run, _COLUMNS) if row["outcome"] == "ok"}
    columns = {name for row in texts.values() for name in row} - {"text_id", "prompt_id", "outcome"}
    names = [name for name in BY if name in columns] if by is None else list(by)
    if strange := [name for name in names if name not in {*columns, *OF_PEOPLE}]:
        attributes = ", ".join(sorted({*columns, *OF_PEOPLE}))
        raise OptionError(f"texts have no {strange[0]!r} to draw by; they have: {attributes}.")
    of_people = [name for name in names if name in OF_PEOPLE and name not in columns]
    # The strata of a text by its people, who may be of several: "White F, dominant"
    people: dict[str, dict[str, None]] = defaultdict(dict)
    for text_id, characters in run_people(run, texts) if of_people else ():
        for person in characters:
            gender = person.gender if person.gender in GENDERS else ""
            values = {"race": person.race, "gender": gender}
            if all(values[name] for name in of_people):
                words = " ".join(values[name] for name in of_people)
                people[text_id][f"{words}, {person.power}"] = None
    strata: dict[str, list[Unit]] = defaultdict(list)
    for text_id, row in texts.items():
        text_values = [str(row.get(name) or "–") for name in names if name not in of_people]
        for words in people.get(text_id, ()) if of_people else ("",):
            key = " · ".join(filter(None, [*text_values, words])) or "all"
            strata[key].append((text_id, ""))
    sizes = evenly(n, [len(units) for units in strata.values()])
    if sizes and min(sizes) == 0:
        raise OptionError(
            f"{len(strata)} strata need at least as many texts; got n = {n}. Raise --n, or give "
            "fewer attributes with --by."
        )
    return drawn(about, strata, sizes, seed)


def is_of_people(run: Run, query: str) -> bool:
    """Return whether a query names a measure of a run that labels of people correct.

    It may be a measure, with or without version, or a finding that begins with one.
    """
    stem = query.partition(" ")[0].partition(".v")[0]
    measures = {name.partition(".v")[0] for name in run.settings().get("measures", ())}
    return stem in measures and not {"representation", "subordination"}.isdisjoint(stem.split("_"))


def short_of_people(run: Run, draw: Draw) -> list[ShortPlace]:
    """Return the domains and conditions of whose people a draw has too few to correct anything.

    Corrections are made by role where roles differ: a power-laden text has one person of each role,
    a power-neutral one all its people.
    """
    n_all, n_drawn = Counter[str](), Counter[str]()
    for row in read_rows(run, _COLUMNS):
        place = ", ".join(filter(None, (row.get(name) for name in ("domain", "condition"))))
        one_each = row.get("condition") == "power-laden" or not _roles(row).has_object
        people = (1 if one_each else 2) * (row["outcome"] == "ok")
        n_all[place or "all"] += people
        n_drawn[place or "all"] += people * ((row["text_id"], "") in draw.texts)
    return short_places(n_all, n_drawn, len(draw.texts), "people of a role", FEWEST)


def _roles(strata: Mapping[str, Any]) -> Roles:
    return Roles(strata.get("subject_role") or "", strata.get("object_role") or None)


def field_book(run: Run, field: str, raters: int = 2) -> Codebook:
    """Return the codebook that asks for one field of the texts of a run."""
    label, words = field.replace("_", " "), _WORDS.format(raters="Two" if raters == 2 else raters)
    choices = tuple(choices_of(run, field))
    question = CodebookQuestion(field, label, kind="choice", choices=choices, needed=True)
    return Codebook(field, f"Labels of {label}", words, (question,))


def items_of(run: Run, draw: Draw, *, with_prompt: bool = True) -> list[SheetItem]:
    """Return what was drawn as items of a sheet, in its order.

    With the prompt an item has the people whom annotator or prompt name, too. Without, raters see
    the text alone, and nothing leads them.
    """
    rows: dict[str, dict[str, str]] = {}
    for side, stage in (("", run.texts), (ORIGINAL, run.reference)):
        ids = {name.removeprefix(side) for name, _ in draw.texts if name.startswith(side)}
        texts = read_chosen(stage.parts(), ["text_id", "prompt_id", "text"], ids)
        rows |= {side + row["text_id"]: row for row in texts}
    spans = {}
    if any(unit for _, unit in draw.texts):
        spans = {name: sentences for name, sentences, _ in scored_sentences(run, draw.about)}
    prompts = read_prompts(run.prompts_path, words="text") if with_prompt else {}
    strata = {name: prompts.get(row["prompt_id"], {}) for name, row in rows.items()}
    annotated = with_prompt and people_parts(run)
    people = dict(run_people(run, strata)) if annotated else {}
    items = []
    for (text_id, unit), chance in draw.texts.items():
        span = spans[text_id][int(unit) - 1] if unit else {"start": 0, "end": None}
        row, roles = strata[text_id], _roles(strata[text_id])
        # Whom the prompt asks for is asked about, also where the annotator found nobody
        in_prompt = {"subject": roles.subject, "object": row and roles.has_object}
        slots = [slot for slot, is_asked in in_prompt.items() if is_asked]
        slots += [person.slot for person in people.get(text_id, ())]
        items.append(
            SheetItem(
                text_id,
                rows[text_id]["text"][span["start"] : span["end"]].strip(),
                unit,
                row.get("text", ""),
                rows[text_id]["prompt_id"],
                chance,
                {slot: row.get(f"{slot}_role", "") for slot in dict.fromkeys(slots)},
            )
        )
    return items
