"""Main people: of which group the person is that each text is mostly about, and where that differs.

The main person is whom most sentences mention, the writer left aside. Independent units are the
prompts, or the values of a column such as conversations; where there are too few prompts to speak
of others like them, each text is one, and what is stated is of these prompts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.matched.differences import AT_MOST, EQUAL
from portrayal.measure.matched.units import noun_of
from portrayal.measure.places import exclusions, places
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import ALL, FEW_PROMPTS, MINUS, OTHERS, UNITS, Estimate, Null, Status
from portrayal.reference.factors import load_factor
from portrayal.reference.labels import group_label, group_shown, subject_of
from portrayal.registry import Component
from portrayal.run.directory import Run, distinct_rows
from portrayal.run.files import Stage
from portrayal.types import BoolArray, FloatArray, IntArray

UNDETERMINED = "not determined"
"""Group of people of whom no word of the text tells one."""
SOURCE = "Shieh et al. 2025, Eq. 1 (shares of characters by the words that refer to them)"
MOST_VALUES = 12
"""Values of a column from which on shares are not split by it."""
_TEXTS = """
    with texts as (
        select t.*, a.error is null and t.outcome = 'ok' as is_read,
            [{{'sentences': len(p.sentences), 'mentions': len(p.mentions),
              'first': -p.mentions[1].start, 'gender': p.gender}}
             for p in a.people if not p.writer] as people
        from read_parquet($texts) t join read_parquet($annotations) a using (text_id)
    )
    select {unit} as unit, model, is_read, [{columns}] as labels, len(people) > 0 as has_people,
           list_sort(people)[-1].gender as gender, count(*)::bigint as n
    from texts group by all order by all
"""


@dataclass(frozen=True, eq=False)
class MainPeople:
    """Main people of the texts of a run, as rows that are alike; n rows.

    Attributes
    ----------
    name, keys
        The factor of the groups, and the groups, with `UNDETERMINED` last.
    group
        Place in `keys` of the group of each row, shape (n,); −1 where a text has no main person.
    count
        How many texts each row stands for, shape (n,).
    unit, units, kind
        Code of the independent unit, shape (n,), the names of the units, and what they are.
    model, is_read
        Who wrote the texts, and whether they could be read, shape (n,).
    columns
        Column by which shares are split → its value in each row, shape (n,).
    check
        The column that says the groups, "" where there is none, and what it says as a place in
        `keys`, −1 where it says nothing, shape (n,).
    n_prompts
        How many prompts the texts answer where that is too few to speak of others; else 0.
    """

    name: str
    keys: tuple[str, ...]
    group: IntArray
    count: FloatArray
    unit: IntArray
    units: Sequence[str]
    kind: str
    model: Any
    is_read: BoolArray
    columns: Mapping[str, Any]
    check: tuple[str, IntArray]
    n_prompts: int

    def sums(self, *sides: BoolArray) -> GroupSums:
        """Return the sums by unit of the texts of one side, or of two to compare, (n,) each."""
        groups = [{self.name: key} for key in self.keys]
        has_group = (self.group[:, np.newaxis] == np.arange(len(groups))).astype(np.float64)
        members = tuple((side & (self.group >= 0))[:, np.newaxis].astype(float) for side in sides)
        units = ScoredUnits(self.unit, self.count, has_group, members)
        units = units.take(np.any(members, axis=0)[:, 0])
        return GroupSums.of(units, self.units, groups, cluster=self.kind)

    def fields(self, inside: BoolArray, place: Mapping[str, str]) -> dict[str, Any]:
        """Return what the estimates of these rows share: place, texts, and those left out."""
        reasons = {
            "refused, empty or failed": inside & ~self.is_read,
            "text that names nobody": inside & self.is_read & (self.group < 0),
        }
        return {
            "strata": {**dict.fromkeys(self.columns, ALL), **place},
            "n_texts": int(self.count[inside].sum()),
            "exclusions": exclusions(self.count, reasons),
            "instruments": {"checked_against": self.check[0]} if self.check[0] else {},
        }

    def details(self, inside: BoolArray, sums: GroupSums) -> dict[str, float]:
        """Return numbers of prompts and units, and how often the column of groups says the same."""
        labelled = inside & (self.group >= 0) & (self.check[1] >= 0)
        alike = labelled & (self.check[1] == self.group)
        return {
            "alike": float(self.count[alike].sum()),
            "labelled": float(self.count[labelled].sum()),
            "prompts": float(self.n_prompts),
            f"{UNITS}{self.kind}": float(len(sums.clusters)),
        }


def read_main_people(
    run: Run, stage: Stage, *, source: str | None, by: Sequence[str], check: str | None
) -> MainPeople:
    """Read who is the main person of each text.

    Parameters
    ----------
    run, stage
        A run with texts, and its annotations by `everyone.v8`.
    source
        Column of what texts belong to, such as a conversation: the independent units.
    by, check
        Columns by which shares are split, and one that says the group. All are kept columns.
    """
    import pyarrow.parquet as pq

    factor = load_factor("gender")
    queries = {name: _kept_column(name) for name in (*by, check, source) if name}
    n_prompts = pq.read_metadata(run.prompts_path).num_rows
    has_prompts = bool({"prompt", "prompt_id"} & run.texts.note()["mapping"].keys())
    of_prompts = has_prompts and n_prompts >= FEW_PROMPTS
    kind = noun_of(source) if source else "prompt" if of_prompts else "text"
    unit = queries[source] if source else f"{kind}_id"
    query = _TEXTS.format(unit=unit, columns=", ".join(queries.values()) or "''")
    table = distinct_rows(run.texts, stage, query)
    cells = [np.array([row[i].strip() for row in table["labels"]]) for i in range(len(queries))]
    columns = dict(zip(queries, cells, strict=True))
    keys = (*factor.keys, UNDETERMINED)

    def codes(words: Sequence[str | None]) -> IntArray:
        groups = (factor.find(word or "") or UNDETERMINED for word in words)
        return np.array([keys.index(group) for group in groups], dtype=np.int64)

    is_read = np.array(table["is_read"], dtype=bool)
    has_person = is_read & np.array([bool(has) for has in table["has_people"]], dtype=bool)
    units, unit_code = np.unique([str(name) for name in table["unit"]], return_inverse=True)
    labels = columns[check] if check else np.full(len(is_read), "")
    return MainPeople(
        name=factor.name,
        keys=keys,
        group=np.where(has_person, codes(table["gender"]), -1),
        count=np.array(table["n"], dtype=np.float64),
        unit=unit_code,
        units=units.tolist(),
        kind=kind,
        model=np.array(table["model"]),
        is_read=is_read,
        columns={name: columns[name] for name in by},
        # What is no group ("unclear") agrees with a person of whom no word tells one.
        check=(check or "", np.where(labels == "", -1, codes(labels.tolist()))),
        n_prompts=n_prompts if has_prompts and not of_prompts and not source else 0,
    )


def _kept_column(name: str) -> str:
    return "coalesce(map_extract(columns, '{}')[1], '')".format(name.replace("'", "''"))


def main_people_estimates(main_people: MainPeople, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of each group among the main people, and how it differs by each column.

    Of a column with more than two values each is compared with the others together.
    """
    people = main_people
    everyone = ALL, np.ones(len(people.count), dtype=bool)
    models = [(name, people.model == name) for name in np.unique(people.model).tolist()]
    for model, of_model in (everyone, *models):
        for split, rows in places(len(people.count), people.columns, most=MOST_VALUES):
            yield from _shares(people, rows & of_model, {**split, "model": model}, scope)
            for name, value in split.items():
                cells = people.columns[name]
                other_values = [x for x in np.unique(cells).tolist() if x not in ("", value)]
                # Of two values one difference says all.
                if len(other_values) > 1 or value < other_values[0]:
                    words = f"{value}{MINUS}{other_values[0] if len(other_values) == 1 else OTHERS}"
                    sides = of_model & (cells == value), of_model & np.isin(cells, other_values)
                    yield from _differences(people, sides, {name: words, "model": model}, scope)


def _shares(
    people: MainPeople, inside: BoolArray, place: Mapping[str, str], scope: Scope
) -> Iterator[Estimate]:
    sums = people.sums(inside)
    totals, details = sums.upper.sum(0).tolist(), people.details(inside, sums)

    def own(i: int) -> dict[str, Any]:
        undefined = None if any(totals) else "no text names anybody"
        return {"undefined": undefined, "counts": {"count": totals[i]}, "details": details}

    shared = {"statistic": "share", "tested": False, **people.fields(inside, place)}
    yield from estimates_of(MAIN_PEOPLE, sums, sums.shares(scope), scope, own, **shared)


def _differences(
    people: MainPeople, sides: tuple[BoolArray, BoolArray], place: Mapping[str, str], scope: Scope
) -> Iterator[Estimate]:
    sums, inside = people.sums(*sides), sides[0] | sides[1]
    details = people.details(inside, sums)
    # Two one-sided tests at .05 read the ends of a 90 % interval.
    equal = sums.differences(replace(scope, level=EQUAL))
    of = sums.sides
    cells = np.stack([n.sum(axis=0) for n in (of.upper, of.n_upper, of.lower, of.n_lower)])

    def own(i: int) -> dict[str, Any]:
        names = ("count_first", "n_first", "count_second", "n_second")
        at_most = float(np.maximum(-equal.low[i], equal.high[i]))
        more = {} if np.isnan(at_most) else {AT_MOST: at_most}
        undefined = None if cells[1, 0] and cells[3, 0] else "a side has no text that names anybody"
        return {
            "undefined": undefined,
            "details": {**details, **more, **dict(zip(names, cells[:, i].tolist(), strict=True))},
            "null": Null(0.0, np.nan, np.nan, scope.level, "no difference"),
            # That words tell more in some texts says nothing of who is in them.
            "status": Status(detail=None if people.keys[i] != UNDETERMINED else "it is no group"),
        }

    shared = {"statistic": "difference", "form": "difference", **people.fields(inside, place)}
    yield from estimates_of(MAIN_PEOPLE, sums, sums.differences(scope), scope, own, **shared)


def described(estimates: Sequence[Estimate]) -> list[str]:
    """Return who the main people of all texts are, and how often a column of groups agrees."""
    rows = [
        e
        for e in estimates
        if e.statistic == "share"
        and e.value
        and all(value == ALL for name, value in e.strata.items() if name != "model")
    ]
    if not rows:
        return []
    parts = []
    for e in rows:
        bounds = (
            f"; {_percent(e.interval.low)} to {_percent(e.interval.high)}" if e.interval else ""
        )
        (label,) = (group_label(*item) for item in e.group.items())
        share = _percent(e.value or 0.0)
        parts.append(f"{label.lower()} {e.details['count']:,.0f} ({share}\u00a0%{bounds})")
    n = f"{rows[0].n_units:,.0f} texts{_these_prompts(rows[0])}"
    lines = [f"Main people of {n}: {', '.join(parts)}."]
    if n_labelled := rows[0].details["labelled"]:
        column, alike = rows[0].instruments["checked_against"], rows[0].details["alike"]
        share = f"{_percent(alike / n_labelled)}\u00a0% of {n_labelled:,.0f} texts"
        lines.append(f"Checked against the column “{column}”: alike in {share}.")
    return lines


def sentence(e: Estimate) -> str:
    """Return a difference with the counts of both sides; one beside all others first."""
    ((column, values),) = ((k, v) for k, v in e.strata.items() if MINUS in v)
    sides = list(zip(values.split(MINUS), ("first", "second"), strict=True))
    if subject_of(values, e.value or 0.0):
        sides.reverse()
    counts = [(e.details[f"count_{side}"], e.details[f"n_{side}"]) for _, side in sides]
    one, other = (f"{f'{n:,.0f}' if n else 'none'} of {of:,.0f}" for n, of in counts)
    shares = [f" ({_percent(n / of)}\u00a0%)" if n else "" for n, of in counts]
    first, second = (value for value, _ in sides)
    # Beside all others a value is or is not; of two each is named.
    places = f"where {column} is “{first}”", f"where it is “{second}”"
    if second == OTHERS:
        places = places[0], "where it is not"
    (group,) = e.group.items()
    labels = group_shown(*group)
    noun = labels.said["one"] if labels is not None else group[1]
    first_side = f"in {one} texts{_these_prompts(e)} {places[0]}{shares[0]}"
    return f"the main person is {noun} {first_side}, and in {other} {places[1]}{shares[1]}"


def _percent(share: float) -> str:
    return "<1" if 0.0 < share < 0.005 else f"{100.0 * share:.0f}"


def _these_prompts(e: Estimate) -> str:
    """Of which prompts texts are, where there are too few of them to speak of others."""
    n = int(e.details["prompts"])
    return f" of these {n} prompts" if n > 1 else " of this prompt" * n


MAIN_PEOPLE = Component(
    name="main_people.v1",
    summary="Of which group the main person of a text is, and how that differs by a column.",
    reads="people of any text (everyone.v8); columns of the file",
    unit="text",
    range="shares 0 to 1, which sum to 1; differences −1 to 1",
    undefined_when="no text names anybody, or none of a side that is compared",
    equation="share of texts whose main person words of the group refer to, of all that name "
    "somebody; differences of two such shares",
    source=SOURCE,
    run=main_people_estimates,
    title="Main people",
    reading="Whom most sentences of a text mention; what no word tells is a group of its own.",
    finding=sentence,
    described=described,
    brief="main people",
    form=lambda e: "points" if e.statistic == "difference" else "share",
    changes=True,
)
