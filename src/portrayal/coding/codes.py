"""Codes: what raters have said, as rows for agreement, clusters and files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from portrayal.coding.project import Project
from portrayal.coding.store import StandingAnswer, Store
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
    n_raters
        Human raters who are done with the text; 0 where an adjudicator alone is.
    adjudicated
        Whether an adjudicator decided.
    """

    item_id: str
    codes: Mapping[str, bool] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    n_raters: int = 0
    adjudicated: bool = False

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
    n_raters: dict[str, int] = {}
    for done in codes.of("human").done:
        n_raters[done.item_id] = n_raters.get(done.item_id, 0) + 1
    keys = [code.key for code in project.codebook.codes]
    result = {}
    for item in project.items:
        name = item.item_id
        if name not in n_raters and name not in last:
            continue
        settled: dict[str, bool] = {}
        for key in keys:
            value = decided.get((name, key), majority(votes.get((name, key), ())))
            if value is not None:
                settled[key] = value
        unsettled = tuple(key for key in keys if key not in settled)
        result[name] = Consensus(name, settled, unsettled, n_raters.get(name, 0), name in last)
    return result
