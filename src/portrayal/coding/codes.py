"""Codes: what raters have said, as rows for clusters and files, and how far raters agree.

People are compared with people. A language model is compared with what people settle on, apart
from that, and its codes enter no figure of people.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from portrayal.coding.project import Project
from portrayal.coding.store import StandingAnswer, Store
from portrayal.raters.agreement import (
    MISSING,
    Coefficient,
    Ratings,
    Resampling,
    coefficient,
    paradoxes,
)
from portrayal.raters.sheets import majority


@dataclass(frozen=True, slots=True)
class Decision:
    """One code of one rater for one text.

    Attributes
    ----------
    item_id, rater, code
        Which text, who (the key of the name), which code.
    value
        Whether the text shows it. A text that a rater is done with has a decision for every code:
        one that was not set is false.
    note
        The rater's note on the text; "" without one.
    at
        When, in UTC (ISO 8601).
    kind
        "human", "llm" or "adjudicated".
    """

    item_id: str
    rater: str
    code: str
    value: bool
    note: str
    at: str
    kind: str


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """The answer of one rater to one field of one text; attributes as those of `Decision`."""

    item_id: str
    rater: str
    field: str
    value: str
    note: str
    at: str
    kind: str


@dataclass(frozen=True, slots=True)
class Done:
    """A rater is done with a text."""

    item_id: str
    rater: str
    at: str
    kind: str


@dataclass(frozen=True)
class Codes:
    """Everything raters have said of the texts they are done with.

    Attributes
    ----------
    decisions, replies
        The codes and the answers to fields, ordered by text (as in the project) and rater.
    done
        Which texts each rater is done with.
    started
        How many texts were begun by a rater who is not done with them; they count for nothing else.
    """

    decisions: tuple[Decision, ...]
    replies: tuple[FieldAnswer, ...]
    done: tuple[Done, ...]
    started: int = 0

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Raters who are done with a text or more, sorted."""
        return tuple(sorted({one.rater for one in self.done}))

    def of(self, *kinds: str) -> "Codes":
        """Return the codes of raters of these kinds alone."""
        return Codes(
            tuple(one for one in self.decisions if one.kind in kinds),
            tuple(one for one in self.replies if one.kind in kinds),
            tuple(one for one in self.done if one.kind in kinds),
            self.started,
        )


def read_codes(project: Project) -> Codes:
    """Return the codes of a project; none where no one has begun.

    An item that a rater has begun and not finished is left out, and counted in `started`.
    """
    if not project.codes_path.is_file():
        return Codes((), (), ())
    store = Store(project.codes_path)
    try:
        return _codes(project, list(store.every()))
    finally:
        store.close()


def write_codes(
    project: Project,
    rater: str,
    decisions: Iterable[tuple[str, str, bool]],
    *,
    notes: Iterable[tuple[str, str]] = (),
    replies: Iterable[tuple[str, str, str]] = (),
    kind: str = "llm",
) -> str:
    """Write the codes of a rater who does not use the page, and return the rater's key.

    Parameters
    ----------
    project
        The project.
    rater, kind
        Name and kind of the rater: "llm" for a model, "human" for imported codes.
    decisions
        (item_id, code, value); their texts count as done.
    notes, replies
        (item_id, note), and (item_id, field, value).
    """
    store = Store(project.codes_path)
    try:
        key = store.enrol(rater, kind)
        rows = {(item, "code", code): "1" if value else "0" for item, code, value in decisions}
        rows |= {(item, "field", field): value for item, field, value in replies}
        rows |= {(item, "done", ""): "1" for item, _, _ in list(rows)}
        rows |= {(item, "note", ""): note for item, note in notes if note}
        store.write_all(rows, key)
        return key
    finally:
        store.close()


def _codes(project: Project, answers: list[StandingAnswer]) -> Codes:
    place = {item.item_id: i for i, item in enumerate(project.items)}
    by: dict[tuple[str, str], dict[tuple[str, str], StandingAnswer]] = {}
    for one in answers:
        if one.item_id in place:
            by.setdefault((one.item_id, one.rater), {})[one.about, one.key] = one
    decisions: list[Decision] = []
    replies: list[FieldAnswer] = []
    done: list[Done] = []
    started = 0
    for (item, rater), said in sorted(by.items(), key=lambda pair: (place[pair[0][0]], pair[0][1])):
        end = said.get(("done", ""))
        if end is None or end.value != "1":
            started += 1
            continue
        noted = said.get(("note", ""))
        note = noted.value if noted else ""
        done.append(Done(item, rater, end.at, end.kind))
        for code in project.codebook.codes:
            one = said.get(("code", code.key), end)
            value = one is not end and one.value == "1"
            decisions.append(Decision(item, rater, code.key, value, note, one.at, end.kind))
        for asked in project.codebook.fields:
            reply = said.get(("field", asked.key))
            if reply is not None:
                replies.append(
                    FieldAnswer(item, rater, asked.key, reply.value, note, reply.at, end.kind)
                )
    return Codes(tuple(decisions), tuple(replies), tuple(done), started)


@dataclass(frozen=True, slots=True)
class Consensus:
    """What people say of one text together.

    Attributes
    ----------
    item_id
        The text.
    codes
        Whether the text shows each code that is settled.
    open
        Codes that as many raters give as do not.
    """

    item_id: str
    codes: Mapping[str, bool] = field(default_factory=dict)
    open: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The codes that the text shows, in the order of the codebook."""
        return tuple(key for key, value in self.codes.items() if value)


def consensus(project: Project, codes: Codes) -> dict[str, Consensus]:
    """Return what people settle on, by `item_id`, in the order of the project.

    An adjudicator's word counts where there is one, the last of several; otherwise a code is given,
    or not given, where more than half of the human raters say so. Language models have no vote.
    """
    votes: dict[tuple[str, str], list[bool]] = {}
    for one in codes.of("human").decisions:
        votes.setdefault((one.item_id, one.code), []).append(one.value)
    last: dict[str, tuple[str, str]] = {}
    for done in codes.of("adjudicated").done:
        last[done.item_id] = max(last.get(done.item_id, ("", "")), (done.at, done.rater))
    decided = {
        (one.item_id, one.code): one.value
        for one in codes.of("adjudicated").decisions
        if last[one.item_id][1] == one.rater
    }
    rated = {done.item_id for done in codes.of("human").done}
    keys = [code.key for code in project.codebook.codes]
    result = {}
    for item in project.items:
        name = item.item_id
        if name not in rated and name not in last:
            continue
        settled: dict[str, bool] = {}
        for key in keys:
            value = decided.get((name, key), majority(votes.get((name, key), ())))
            if value is not None:
                settled[key] = value
        unsettled = tuple(key for key in keys if key not in settled)
        result[name] = Consensus(name, settled, unsettled)
    return result


ALL_CODES = "all codes"
WHOLE_SET = "whole set"
PEOPLE = "people"
"""What people settle on, as the rater that a language model is compared with."""


@dataclass(frozen=True)
class Agreement:
    """A group of raters and how far they agree.

    Attributes
    ----------
    raters
        Who is compared; a language model with `PEOPLE`.
    n_done
        Texts that each of them is done with.
    coefficients
        First each question, then `ALL_CODES` (observed and chance agreement averaged over codes)
        and `WHOLE_SET` (all codes of a text as one answer).
    warnings
        Where a kappa misleads, in sentences.
    left_open
        Decisions, of a text and a code, that people left open; they are not compared.
    """

    raters: tuple[str, ...]
    n_done: dict[str, int]
    coefficients: tuple[Coefficient, ...]
    warnings: tuple[str, ...] = ()
    left_open: int = 0

    def get(self, question: str, statistic: str) -> Coefficient | None:
        """Return the coefficient of all raters together; None where there is none."""
        for one in self.coefficients:
            if (one.question, one.statistic) == (question, statistic):
                return one
        return None


@dataclass(frozen=True)
class ProjectAgreement:
    """The agreement of a project: of people with each other, and of each model with people."""

    people: Agreement
    pairs: tuple[Agreement, ...]
    models: tuple[Agreement, ...]


def agreement(
    project: Project, codes: Codes, *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> ProjectAgreement:
    """Compare the raters of a project.

    Parameters
    ----------
    project, codes
        The project, and what `read_codes` gives for it.
    level, draws, seed
        Confidence level (a fraction), resamples, seed.

    Raises
    ------
    OptionError
        For a level, number of draws or seed that cannot be used.
    """
    how = Resampling(level, draws, seed, project.prompts)
    people, settled = codes.of("human"), consensus(project, codes)
    raters = people.raters
    questions = [*ratings_of(project, people), *_sets(project, people)]
    pairs = combinations(raters, 2) if len(raters) > 2 else ()
    together = ("percent_agreement", "positive_agreement", *_kappas(raters), "krippendorff_alpha")
    return ProjectAgreement(
        _compare(project, people, questions, raters, together, how),
        tuple(_compare(project, people, questions, pair, _OF_TWO, how) for pair in pairs),
        tuple(_against(project, codes.of("llm"), settled, m, how) for m in codes.of("llm").raters),
    )


_OF_TWO = ("percent_agreement", "positive_agreement", "cohens_kappa")


def _kappas(raters: Sequence[str]) -> tuple[str, ...]:
    return ("fleiss_kappa",) if len(raters) > 2 else ("cohens_kappa", "fleiss_kappa")


def _sets(project: Project, codes: Codes) -> list[Ratings]:
    return [whole_sets(project, codes)] if project.codebook.codes else []


def _compare(
    project: Project,
    codes: Codes,
    questions: Sequence[Ratings],
    raters: tuple[str, ...],
    statistics: Sequence[str],
    how: Resampling,
) -> Agreement:
    n_done = {r: sum(one.rater == r for one in codes.done) for r in raters}
    if len(raters) < 2:
        return Agreement(raters, n_done, ())
    chosen = [one.between(*raters) for one in questions]
    made = tuple(_coefficients(project, chosen, statistics, how))
    keys = {code.key: code.name for code in project.codebook.codes}
    binary = [one for one in chosen if one.question in keys]
    return Agreement(raters, n_done, made, tuple(paradoxes(binary, keys)))


def _against(
    project: Project, models: Codes, settled: dict[str, Consensus], model: str, how: Resampling
) -> Agreement:
    """One model with what people settle on."""
    of_model = {one.item_id for one in models.done if one.rater == model}
    both = [one for name, one in settled.items() if name in of_model]
    said = {(d.item_id, d.code): d.value for d in models.decisions if d.rater == model}
    items = tuple(one.item_id for one in both)
    keys = {code.key: code.name for code in project.codebook.codes}
    questions = []
    for key in keys:
        rows = [(int(one.codes.get(key, -1)), int(said[one.item_id, key])) for one in both]
        values = np.array(rows, dtype=np.int64).reshape(-1, 2)
        questions.append(Ratings(key, (PEOPLE, model), items, 2, values))
    made = tuple(_coefficients(project, questions, _OF_TWO, how))
    left_open = sum(len(one.open) for one in both)
    n_done = {PEOPLE: len(settled), model: len(of_model)}
    warnings = tuple(paradoxes(questions, keys))
    return Agreement((PEOPLE, model), n_done, made, warnings, left_open)


def _coefficients(
    project: Project, questions: Sequence[Ratings], statistics: Sequence[str], how: Resampling
) -> Iterator[Coefficient]:
    """Each question, then all codes together, then whole sets, by each statistic."""
    keys = {code.key for code in project.codebook.codes}
    codes = [one for one in questions if one.question in keys]
    groups = [(one.question, [one]) for one in questions if one.question != WHOLE_SET]
    if len(codes) > 1:
        groups.append((ALL_CODES, codes))
    groups += [(one.question, [one]) for one in questions if one.question == WHOLE_SET]
    for question, of_question in groups:
        for statistic in statistics:
            if statistic != "positive_agreement" or question in keys:
                yield coefficient(question, statistic, of_question, how)


def ratings_of(project: Project, codes: Codes) -> list[Ratings]:
    """Return the ratings of every code and field, in the order of the codebook.

    Texts that no rater is done with are left out. Written answers are compared without regard to
    case and spaces.
    """
    raters, items = codes.raters, _items(project, codes)
    said: dict[str, dict[tuple[str, str], str]] = {}
    for decision in codes.decisions:
        place = (decision.item_id, decision.rater)
        said.setdefault(decision.code, {})[place] = "1" if decision.value else "0"
    for reply in codes.replies:
        value = " ".join(reply.value.split()).casefold()
        said.setdefault(reply.field, {})[reply.item_id, reply.rater] = value
    made = []
    for code in project.codebook.codes:
        made.append(_ratings(code.key, raters, items, said.get(code.key, {}), ("0", "1")))
    for asked in project.codebook.fields:
        of_field = said.get(asked.key, {})
        made.append(_ratings(asked.key, raters, items, of_field, sorted(set(of_field.values()))))
    return made


def whole_sets(project: Project, codes: Codes) -> Ratings:
    """Return each rater's set of codes for a text as one answer; sets are numbered as they come."""
    given: dict[tuple[str, str], set[str]] = {(d.item_id, d.rater): set() for d in codes.done}
    for decision in codes.decisions:
        if decision.value:
            given[decision.item_id, decision.rater].add(decision.code)
    said = {place: "+".join(sorted(keys)) for place, keys in given.items()}
    names = sorted(set(said.values()))
    return _ratings(WHOLE_SET, codes.raters, _items(project, codes), said, names)


def _items(project: Project, codes: Codes) -> tuple[str, ...]:
    done = {one.item_id for one in codes.done}
    return tuple(item.item_id for item in project.items if item.item_id in done)


def _ratings(
    question: str,
    raters: tuple[str, ...],
    items: tuple[str, ...],
    said: Mapping[tuple[str, str], str],
    answers: Iterable[str],
) -> Ratings:
    number = {answer: i for i, answer in enumerate(answers)}
    row, column = ({name: i for i, name in enumerate(names)} for names in (items, raters))
    values = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for (item, rater), answer in said.items():
        values[row[item], column[rater]] = number[answer]
    return Ratings(question, raters, items, max(len(number), 1), values)
