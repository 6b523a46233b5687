"""Whole audits with a known truth for `benchmarks.calibration`: what would a page state?

An audit here is a tally of stories that goes the way of every audit: the measures that may be
stated, q over all of them, and the sentences of the first screen, for prompts like these and for
these prompts.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import stats as distributions

import portrayal
from benchmarks import calibration_worlds as worlds
from benchmarks.calibration_stories import NOBODY, story_tally
from benchmarks.calibration_worlds import Bearers, Rng
from portrayal import registry
from portrayal.comparison.compare import Side
from portrayal.comparison.result import CHANGED, verdict
from portrayal.measure.scope import Scope, with_q_values
from portrayal.measure.stories.tally import NO_SLOT, Tally
from portrayal.measure.tables import Tables, parameters
from portrayal.records import ALL, Estimate
from portrayal.reference.groups import RACES, baseline
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods
from portrayal.report.findings import findings, in_these_prompts
from portrayal.report.view import View
from portrayal.run import Run, write_parquet
from portrayal.run.estimates import Influences, influences_to_table, read_influences
from portrayal.studies.stories.audit import MEASURES
from portrayal.types import BoolArray, IntArray

STUDY = "laissez-faire"
OFFERED = {"tally", "baseline", "name_tables"}
WOMAN, MAN, OTHER = 0, 1, 2
GOLD = {
    f"{slot}_{part}": f"gold_{slot}_{part}"
    for slot in ("subject", "object")
    for part in ("name", "gender")
}


def said_measures(*, changes: bool = False) -> list[str]:
    """Measures of tallies that a page may state: values, or changes as well."""
    known = [registry.component("measures", name) for name in MEASURES]
    return [
        each.name
        for each in known
        if (each.findings or (changes and each.changes)) and parameters(each.run)[0] <= OFFERED
    ]


class Said(NamedTuple):
    """What a page states: of prompts like these, and of these prompts alone."""

    stated: list[Estimate]
    here: list[Estimate]

    def crossed(self) -> tuple[bool, bool, bool]:
        """Whether an intersection leads, is stated, or is told of these prompts."""
        lead = (self.stated or self.here)[:1]
        every = [any(len(e.group) > 1 for e in some) for some in (lead, *self)]
        return every[0], every[1], every[2]


def estimates(tally: Tally, measures: list[str], seed: int) -> list[Estimate]:
    """Estimates of a tally with q, as an audit makes them."""
    of = dict.fromkeys(RACES[:5], name_table()) | dict.fromkeys(RACES[5:], mena_nhpi_table())
    offered: dict[str, Any] = {
        "tally": lambda: tally,
        "baseline": baseline,
        "name_tables": lambda: of,
    }
    scope = Scope(STUDY, seed=seed, draws=400, permutations=50)
    made = list(Tables(scope, offered).estimates(measures))
    return with_q_values(made, registry.get("studies", STUDY).stated, seed)


def said(tally: Tally, seed: int, measures: list[str] | None = None) -> Said:
    """What the page of an audit of one model would state."""
    names = said_measures() if measures is None else measures
    made = [e for e in estimates(tally, names, seed) if e.strata.get("model") != ALL]
    settings = {"study": STUDY, "models": list(tally.models), "measures": names}
    study = registry.get("studies", STUDY)
    view = View(None, settings, {}, study, tally.models, tuple(made))  # type: ignore[arg-type]
    stated = findings(view)
    here = in_these_prompts(view, stated)
    return Said([e for s in stated for e in s.estimates], [e for s in here for e in s.estimates])


# ---------------------------------------------------------------------------- made-up stories


def with_names(tally: Tally) -> Tally:
    """Name the codes of a tally, rows of the default table, and give their shares by race."""
    keys = name_table().listed[0]
    codes = np.concatenate([tally.subject_name, tally.object_name])
    used, code = np.unique(codes, return_inverse=True)
    code = code - int(used[0] == NOBODY)
    names = tuple(keys[i] for i in used if i != NOBODY)
    shares = np.full((len(names) + 1, len(RACES)), np.nan)
    shares[:-1] = race_likelihoods(names, name_table(), mena_nhpi_table())
    n = len(tally.subject_name)
    return replace(
        tally, names=names, subject_name=code[:n], object_name=code[n:], likelihood=shares, cache={}
    )


@dataclass(frozen=True)
class Roles:
    """Power-laden stories in which a gender is `greater` of the dominant and `lesser` of the
    subordinate people, whatever their names.

    Names of this gender are `latine` times as often Latine, in both roles. Where the difference is
    in `one` domain only, both roles elsewhere have what it has on average; and there are as many
    power-neutral stories, in which nothing differs from the baseline.
    """

    domains: int = 3
    prompts: int = 8
    texts: int = 60
    greater: float = 0.25
    lesser: float = 0.75
    icc: float = 0.05
    latine: float = 1.0
    gender: int = WOMAN
    one: bool = False

    def tally(self, rng: Rng, people: Bearers) -> Tally:
        """Draw the stories of one audit."""
        n, shares, names = self.domains * self.prompts * (1 + self.one), people.with_others(), []
        weights = people.weight[:, np.newaxis] * shares
        for times in (self.latine, 1.0):  # names of this gender, then others, for both roles
            race = (people.weight @ shares) * np.where(np.arange(5) == 1, times, 1.0)
            sizes = n, 2 * self.texts, self.icc
            names.append(worlds.names_of_races(rng, race / race.sum(), weights, *sizes))
        neutral = np.arange(n) >= self.domains * self.prompts
        domain = np.arange(n) % (self.domains * self.prompts) // self.prompts
        mean = (self.greater + self.lesser) / 2.0
        known = np.array([baseline().shares["gender"][each] for each in ("F", "M", "NB")])
        slots: list[tuple[IntArray, IntArray]] = []
        for share, at in ((self.greater, 0), (self.lesser, self.texts)):
            there, usual = (
                worlds.prompt_shares(rng, (n, 1), each, self.icc) for each in (share, mean)
            )
            own = np.where(self.one & (domain > 0)[:, np.newaxis], usual, there)
            inside = rng.random((n, self.texts)) < own
            woman = (rng.random(inside.shape) < 0.5) & (self.gender != WOMAN)
            other = np.where(woman, WOMAN, MAN)
            drawn = worlds.drawn(rng, known, inside.shape)
            gender = np.where(inside, self.gender, other)
            name = np.where(inside, *(each[:, at : at + self.texts] for each in names))
            slots.append((name, np.where(neutral[:, np.newaxis], drawn, gender)))
        alone = np.where(neutral[:, np.newaxis], NO_SLOT, 0)
        first, second = slots[0], tuple(np.where(alone, alone, codes) for codes in slots[1])
        return replace(
            with_names(story_tally(n, first, (second[0], second[1]))),
            domains=("Labor", "Learning", "Love")[: self.domains],
            prompt_domain=domain,
            prompt_laden=~neutral,
            cache={},
        )


# ---------------------------------------------------------------------------- stories at hand


@contextmanager
def gold_run(path: Path) -> Iterator[Run]:
    """Audit stories with hand labels into a folder that goes when the block ends."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        yield portrayal.audit(
            study=STUDY, texts=path, columns=GOLD, out=out, report=False, draws=100, permutations=20
        )


def gold_tally(run: Run) -> Tally:
    """Every story of a run as a row of its own."""
    study = registry.get("studies", STUDY)
    tally = study.tables(run, study.options()).offered["tally"]()
    rows = {
        name: np.repeat(getattr(tally, name), tally.count)
        for name in (
            *("prompt", "model", "outcome", "subject_name", "subject_gender"),
            *("object_name", "object_gender"),
        )
    }
    return replace(tally, **rows, count=np.ones(int(tally.count.sum()), dtype=np.int64), cache={})


def one_model(tally: Tally, rows: IntArray) -> Tally:
    """Some stories, as if one model had written them."""
    kept = {
        name: getattr(tally, name)[rows]
        for name in (
            *("prompt", "outcome", "subject_name", "subject_gender"),
            *("object_name", "object_gender", "count"),
        )
    }
    none = np.zeros(len(rows), dtype=np.int64)
    return replace(tally, **kept, model=none, models=("m",), cache={})


def flipped(tally: Tally, coins: BoolArray, *, by_prompt: bool) -> Tally:
    """The power-laden stories, in some of which subject and object change their roles."""
    tally = one_model(tally, np.flatnonzero(tally.laden & (tally.object_gender != NO_SLOT)))
    swap = coins[tally.prompt] if by_prompt else coins[: len(tally.prompt)]
    pairs: dict[str, Any] = {}
    for part in ("name", "gender"):
        one, two = getattr(tally, f"subject_{part}"), getattr(tally, f"object_{part}")
        pairs |= {f"subject_{part}": np.where(swap, two, one)}
        pairs |= {f"object_{part}": np.where(swap, one, two)}
    return replace(tally, **pairs, cache={})


def renamed(rng: Rng, people: Bearers, tally: Tally, icc: float) -> Tally:
    """The same stories with names drawn from all bearers and genders from the baseline.

    Two characters of one prompt share their name, and their gender, with the chance `icc`.
    """
    tally = one_model(tally, np.arange(len(tally.prompt)))
    gender = np.array([baseline().shares["gender"][each] for each in ("F", "M", "NB")])
    drawn: dict[str, Any] = {}
    own = {
        "name": worlds.drawn(rng, people.weight, (len(tally.prompt_ids),)),
        "gender": worlds.drawn(rng, gender, (len(tally.prompt_ids),)),
    }
    for slot in ("subject", "object"):
        there = getattr(tally, f"{slot}_gender") != NO_SLOT
        for part, weight in (("name", people.weight), ("gender", gender)):
            fresh = worlds.drawn(rng, weight, there.shape)
            same = rng.random(there.shape) < np.sqrt(icc)
            new = np.where(same, own[part][tally.prompt], fresh)
            drawn[f"{slot}_{part}"] = np.where(there, new, NO_SLOT)
    return with_names(replace(tally, **drawn))


def holding(path: Path, records: list[Estimate], kept: Influences) -> Run:
    """Return a run of these estimates and sums, whose settings are those of `path`."""
    made = Run(path)
    made.__dict__.update(records=records, influences=kept)
    return made


def shuffled_changes(run: Run, tally: Tally, pair: tuple[str, str], rng: Rng) -> int:
    """Changes that a page states between two models whose stories were dealt anew in each prompt.

    They are compared as the run's own, of which nothing else changes.
    """
    codes = [tally.models.index(name) for name in pair]
    rows = np.flatnonzero(np.isin(tally.model, codes))
    model, prompt = tally.model[rows], tally.prompt[rows]
    order = np.lexsort((model, prompt))
    dealt = np.lexsort((rng.random(len(rows)), prompt))
    mixed = tally.model.copy()
    mixed[rows[dealt]] = model[order]
    names = (
        *("prompt", "outcome", "subject_name", "subject_gender"),
        *("object_name", "object_gender", "count"),
    )
    kept = {name: getattr(tally, name)[rows] for name in names}
    two = replace(tally, **kept, model=np.searchsorted(codes, mixed[rows]), models=pair, cache={})
    made = estimates(two, said_measures(changes=True), int(rng.integers(1 << 30)))
    with TemporaryDirectory() as folder:
        sums = Path(folder) / "influences.parquet"
        write_parquet(influences_to_table(made), sums)
        shuffled = holding(run.path, made, read_influences(sums, made))
    found = portrayal.compare(Side(shuffled, pair[0]), Side(shuffled, pair[1]))
    return sum(row.stated and verdict(row, found.level) == CHANGED for row in found.rows)


# ---------------------------------------------------------------------------- tables

ALONE = (
    *(Roles(latine=x) for x in (1.0, 3.0)),
    *(Roles(1, 24, latine=x) for x in (1.0, 3.0)),
    Roles(1, 24, greater=0.1, lesser=0.9, latine=3.0),
    Roles(1, 16, greater=0.32, lesser=0.0),
)
"""Worlds with a gender effect alone."""
SEPARATE = (
    Roles(greater=0.3, lesser=0.0, texts=20, one=True),
    Roles(greater=0.3, lesser=0.0, one=True),
    Roles(greater=0.3, lesser=0.0, icc=0.2, one=True),
    Roles(greater=0.0, lesser=0.06, gender=OTHER, one=True),
)
"""Worlds with one true effect, of a group that one of two roles never has."""
SHUFFLED = ("ChatGPT4", "Llama2(7B)"), ("ChatGPT3.5", "Claude2.0")


def alone_rows(people: Bearers, reps: int, seed: int) -> Iterator[tuple[object, ...]]:
    """How often an intersection leads or is stated where gender alone tells of roles."""
    for number, world in enumerate(ALONE):
        found = []
        for i in range(reps):
            rng = np.random.default_rng([seed, 13, number, i])
            page = said(world.tally(rng, people), i)
            found.append((*page.crossed(), any("gender" in e.group for e in page.stated)))
        design = f"{world.domains} × {world.prompts} × {world.texts}"
        shares = f"{world.greater:g}, {world.lesser:g}"
        yield design, shares, world.latine, *np.mean(found, axis=0).tolist()


def separate_rows(people: Bearers, reps: int, seed: int) -> Iterator[tuple[object, ...]]:
    """How often the one true effect of a whole audit is stated, and what is not of that domain."""
    for number, world in enumerate(SEPARATE):
        found, gender = [], ("F", "M", "NB")[world.gender]
        for i in range(reps):
            rng = np.random.default_rng([seed, 14, number, i])
            stated = said(world.tally(rng, people), i).stated
            own = {tuple(e.group.values()) for e in stated if e.measure == "subordination.v1"
                   and e.strata["domain"] == "Labor"}  # fmt: skip
            # Where women are never subordinate men are more often, which is the same.
            named = (gender,) in own or (world.gender == WOMAN and ("M",) in own)
            neutral = any(e.measure == "representation.v1" for e in stated)
            elsewhere = any(
                e.measure != "representation.v1" and e.strata["domain"] != "Labor" for e in stated
            )
            found.append((named, elsewhere, neutral))
        design = f"{world.domains} × {world.prompts} × {world.texts}"
        shares = f"{gender} {world.greater:g}, {world.lesser:g}"
        yield design, world.icc, shares, *np.mean(found, axis=0).tolist()


def null_audits(
    run: Run, people: Bearers, seed: int
) -> Iterator[tuple[str, Callable[[int], tuple[bool, float]]]]:
    """Audits of hand-labelled stories in which nothing differs: each by its number.

    An audit says whether anything is stated of prompts like these, and of these prompts; NaN where
    it says nothing of these prompts, or where what is made equal holds over prompts alone.
    """
    tally = gold_tally(run)

    def flip(i: int, *, by_prompt: bool) -> tuple[bool, float]:
        rng = np.random.default_rng([seed, 15, by_prompt, i])
        coins = rng.random(len(tally.prompt_ids if by_prompt else tally.prompt)) < 0.5
        page = said(flipped(tally, coins, by_prompt=by_prompt), i)
        return bool(page.stated), np.nan if by_prompt else float(bool(page.here))

    def rename(i: int, *, icc: float) -> tuple[bool, float]:
        rng = np.random.default_rng([seed, 16, int(100 * icc), i])
        page = said(renamed(rng, people, tally, icc), i)
        return bool(page.stated), np.nan if icc else float(bool(page.here))

    def shuffle(i: int, *, number: int) -> tuple[bool, float]:
        rng = np.random.default_rng([seed, 17, number, i])
        return shuffled_changes(run, tally, SHUFFLED[number], rng) > 0, np.nan

    for by in ("stories", "prompts"):
        yield f"roles flipped by {by}", partial(flip, by_prompt=by == "prompts")
    for icc in (0.0, 0.05):
        yield f"names and genders drawn, ICC {icc:g}", partial(rename, icc=icc)
    for number, pair in enumerate(SHUFFLED):
        yield f"{' and '.join(pair)} shuffled", partial(shuffle, number=number)


def null_rows(path: Path, people: Bearers, reps: int, seed: int) -> Iterator[tuple[object, ...]]:
    """How many audits in which nothing differs state something all the same, with intervals."""
    every: list[tuple[bool, float]] = []
    with gold_run(path) as run:
        for name, audit in null_audits(run, people, seed):
            found = [audit(i) for i in range(reps)]
            every += found
            yield null_row(name, found)
    yield null_row("all", every)


def null_row(name: str, found: list[tuple[bool, float]]) -> tuple[object, ...]:
    """Audits, the share that states something and its Clopper-Pearson interval, for each kind."""
    row: list[object] = [name]
    for said_so in np.array(found, dtype=float).T:
        known = said_so[~np.isnan(said_so)]
        if len(known):
            test = distributions.binomtest(int(known.sum()), len(known))
            low, high = test.proportion_ci(0.95, "exact")
            row += [len(known), float(known.mean()), f"{low:.3f} to {high:.3f}"]
        else:
            row += ["–"] * 3
    return tuple(row)
