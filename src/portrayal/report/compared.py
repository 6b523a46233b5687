"""What a comparison of runs says in sentences: what changed, or what comes nearest to a change."""

from collections.abc import Iterator, Sequence

from portrayal.comparison.compare import Side
from portrayal.comparison.result import (
    CHANGED,
    Change,
    Comparison,
    by_evidence,
    change_number,
    form_of_change,
    verdict,
)
from portrayal.records import FEW_PEOPLE
from portrayal.report.findings import q_words
from portrayal.report.formats import plural, short
from portrayal.report.sentences import change_sentence
from portrayal.run.pages import spread

MOST = 4
"""Changes in sentences at most."""


def change_lines(comparison: Comparison, sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield what a comparison may state, a sentence a line, the largest changes first.

    Parameters
    ----------
    comparison
        What `portrayal.compare` returned.
    sides
        The sides that it compared, for the counts behind its values.
    """
    labels = _labels(comparison, sides)
    rows = [row for row in comparison.rows if row.stated]
    changed = [row for row in rows if verdict(row, comparison.level) == CHANGED]
    # Ratios and differences are on other scales, so each is ordered by itself.
    changed.sort(key=lambda row: (row.scale != "ratio", -row.size, row.measure))
    behind = {
        id(row): [side.run.records[i] for side, i in zip(sides, row.rows, strict=False)]
        for row in rows
    }
    # Said is what enough people stand behind on both sides, of groups that the reader can tell.
    sure = [
        row
        for row in changed
        if all(e.enough and e.status.reader_error is None for e in behind[id(row)])
    ]
    for row in _in_sentences(sure):
        evidence = f"{change_number(row, row.change)} ({spread(row, form_of_change(row))})"
        sentence = change_sentence(row, behind[id(row)], labels)
        yield f"{sentence}: {evidence}, {q_words(row.judged_q)}."
    if few := len(changed) - len(sure):
        yield (
            f"{plural(few, 'more change')} not stated: fewer than {FEW_PEOPLE} people stand behind "
            "it, or the reader cannot recognise the group."
        )
    tested = sorted((row for row in rows if row.p is not None), key=by_evidence)
    if tested and not changed:
        nearest = change_sentence(tested[0], (), labels)
        yield f"No clear change; the nearest to one, which luck may explain: {nearest}."


def _labels(comparison: Comparison, sides: tuple[Side, Side]) -> tuple[str, str]:
    """What the sides are called: their model where these differ, else their folder."""
    models = [side.models for side in sides]
    # Two models are called by their names, two rounds of one by their folders.
    if all(len(names) == 1 for names in models) and models[0] != models[1]:
        return short(models[0][0], 60), short(models[1][0], 60)
    one, two = (side.run.path.name for side in sides)
    return (short(comparison.a), short(comparison.b)) if one == two else (short(one), short(two))


def _in_sentences(sure: Sequence[Change]) -> list[Change]:
    """The changes that are said in sentences, one of each attribute in one place before others.

    Where women are more men are fewer.
    """
    questions: set[tuple[object, ...]] = set()
    first: list[Change] = []
    later: list[Change] = []
    for row in sure:
        question = (row.measure, frozenset(row.strata.items()), frozenset(row.group))
        (later if question in questions else first).append(row)
        questions.add(question)
    # Groups before their intersections, which often say the same again.
    first.sort(key=lambda row: len(row.group) > 1)
    return (first + later)[:MOST]
