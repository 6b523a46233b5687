"""Samples for reading: by common racialized names, by cue, by group and role, or at random.

Each stratum gives the same number of texts, drawn by the seed. A text's weight is 1 over its chance
of being drawn, from all the strata it belongs to, so that weighted counts speak of the whole run.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow.compute as pc

from portrayal.coding.characters import (
    THRESHOLD,
    NameShares,
    frame,
    people_of,
    sentence_places,
    texts_of,
)
from portrayal.coding.project import CodingItem
from portrayal.collect.corpus import SLOTS, run_corpus
from portrayal.errors import DataError
from portrayal.measure import Scope
from portrayal.measure.cues import ELSEWHERE, CueList, cue_list, find_cues, role_of
from portrayal.reference import GENDERS, RACES
from portrayal.run import Run, read_prompts, read_shards
from portrayal.validate import check_choice, check_count

WAYS = ("names", "cue", "group", "random")
Strata = Mapping[str, Sequence[str]]
"""text_ids by stratum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How texts are drawn.

    Attributes
    ----------
    how
        "names": by the most common names of each race, and role. "cue": by term, and role.
        "group": by gender, race of the name's bearers, and role. "random": from all texts.
    n
        Texts of each stratum; of all strata together for "random".
    names
        Names of each race, for "names".
    threshold
        Share of its bearers that a name needs to stand for a race.
    by
        Further attributes to stratify by: `model`, `domain`.
    seed
        Start of the draw.
    cues
        Cue list, for "cue".
    """

    how: str = "names"
    n: int = 3
    names: int = 5
    threshold: float = THRESHOLD
    by: tuple[str, ...] = ()
    seed: int = 0
    cues: CueList | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        check_choice("how", self.how, WAYS)
        check_count("n", self.n, minimum=1)
        check_count("names", self.names, minimum=1)
        for name in self.by:
            check_choice("by", name, ("model", "domain"))


def sample_items(run: Run, sampling: Sampling) -> list[CodingItem]:
    """Draw texts of a run as items of a coding project, in an order that the seed fixes.

    Items carry the subject's and object's labels, the strata they were drawn for (`sampled_as`),
    and their weights. The same run and settings give the same items, whatever the shards.

    Raises
    ------
    DataError
        When no text fits, or people are needed and were not annotated.
    """
    # Each way of drawing only says which texts its strata hold; the draw itself is one for all
    make = {"random": _readable, "cue": _by_cue, "names": _by_name, "group": _by_group}
    strata = make[sampling.how](run, sampling)
    if not any(strata.values()):
        raise DataError(f"{run.path}: no text fits a sample by {sampling.how}.")
    prompts = read_prompts(run.prompts_path, words="text")
    if sampling.by:  # each stratum split by model, by domain, or by both
        values_of_text: dict[str, str] = {}
        for (table,) in read_shards(run.texts, ("text_id", "prompt_id", "model")):
            for row in table.to_pylist():
                domain = prompts[row["prompt_id"]].get("domain", "")
                values = {"model": row["model"], "domain": domain}
                values_of_text[row["text_id"]] = ", ".join(values[name] for name in sampling.by)
        split: dict[str, list[str]] = defaultdict(list)
        for name, ids in strata.items():
            for i in ids:
                split[f"{name}; {values_of_text[i]}"].append(i)
        strata = split
    scope = Scope("coding", seed=sampling.seed)
    reasons: dict[str, list[str]] = defaultdict(list)
    # Sorted strata and texts, each with a stream of its own: shards must not change what is drawn
    for name in sorted(name for name, ids in strata.items() if ids):
        ids = sorted(strata[name])
        for place in scope.rng("sample", sampling.how, name).permutation(len(ids))[: sampling.n]:
            reasons[ids[place]].append(name)  # a text drawn for several strata is coded once
    # A text is missed where every stratum that it belongs to misses it.
    missed = dict.fromkeys(reasons, 1.0)
    for ids in strata.values():
        for i in ids:
            if i in missed:
                missed[i] *= 1.0 - min(1.0, sampling.n / len(ids))
    # The people and the prompts of the texts drawn, read together
    ids = sorted(missed)
    texts = texts_of(run, ids)
    strata_of = {i: prompts.get(row["prompt_id"], {}) for i, row in texts.items()}
    people = people_of(run, ids, strata_of)
    items = []
    # Shuffled, as raters who know which stratum comes next read with an expectation
    for i in (ids[place] for place in scope.rng("order").permutation(len(ids))):
        row, prompt_strata = texts[i], strata_of[i]
        labels = {
            "model": row["model"],
            "domain": prompt_strata.get("domain"),
            "condition": prompt_strata.get("condition"),
            "prompt_id": row["prompt_id"],
            # Not shown to raters: the strata would give away what is compared
            "sampled_as": "; ".join(reasons[i]),
        }
        non_empty = {key: value for key, value in labels.items() if value}
        # 1 over the chance of being drawn at all, so that weighted counts stand for the run
        weight = 1.0 / (1.0 - missed[i])
        items.append(
            CodingItem(
                i, row["text"], prompt_strata.get("text", ""), people.get(i, ()), non_empty, weight
            )
        )
    return items


def in_sentences(items: Sequence[CodingItem]) -> list[CodingItem]:
    """Return one item for each sentence of the items, named by its number: `000000012:3`.

    People keep the references that lie in the sentence; the weight is the text's. Sentences without
    a letter are left out.
    """
    units = []
    for item in items:
        for number, (start, end) in enumerate(sentence_places(item.text), 1):
            people = tuple(
                replace(
                    one,
                    spans=tuple(
                        (low - start, high - start)
                        for low, high in one.spans
                        # a reference cut by the border points nowhere
                        if start <= low < high <= end
                    ),
                )
                for one in item.people
            )
            # Numbered, not counted among those kept: the number says which sentence of the text it
            # is
            name, text = f"{item.item_id}:{number}", item.text[start:end]
            units.append(replace(item, item_id=name, text=text, people=people))
    return units


def _readable(run: Run, _: Sampling) -> Strata:
    text_ids: list[str] = []
    for table in run_corpus(run).tables():
        text_ids += table.filter(pc.equal(table["outcome"], "ok"))["text_id"].to_pylist()
    return {"random": text_ids}


def _by_cue(run: Run, sampling: Sampling) -> Strata:
    """Texts by cue and by the role of whom it describes; a text counts once in each."""
    by_cue: dict[str, set[str]] = defaultdict(set)
    for mention in find_cues(run_corpus(run), sampling.cues or cue_list()).mentions:
        # A cue about nobody in particular has no role to be compared by
        role = "" if mention.role == ELSEWHERE else f", {mention.role}"
        by_cue[f"{mention.cue.group}: {mention.cue.term}{role}"].add(mention.text_id)
    return {name: sorted(ids) for name, ids in by_cue.items()}


def _characters(run: Run) -> Iterator[tuple[str, str, str | None, str | None]]:
    """text_id, role, name and gender of every character."""
    prompts = read_prompts(run.prompts_path)
    for row in frame(run).to_pylist():
        condition = prompts.get(row["prompt_id"], {}).get("condition", "")
        for slot in SLOTS:
            name, gender = row[f"{slot}_name"], row[f"{slot}_gender"]
            if name or gender:  # a slot with neither holds no character
                yield row["text_id"], role_of(slot, condition), name, gender


def _by_name(run: Run, sampling: Sampling) -> Strata:
    """Texts by each race's most common names above the threshold, and role (Table S10)."""
    rows = list(_characters(run))
    counts = Counter(name.casefold() for _, _, name, _ in rows if name)
    shares = NameShares(counts)
    group_of_name: dict[str, str] = {}
    for race in RACES:
        # The race of most bearers, where a large share has it: most names are borne by several
        fitting = [n for n in counts if (shares.most(n, sampling.threshold) or ("",))[0] == race]
        # Ties by the alphabet, so that the same run always gives the same names
        for name in sorted(fitting, key=lambda n: (-counts[n], n))[: sampling.names]:
            group_of_name[name] = race
    by_name: dict[str, set[str]] = defaultdict(set)
    for text_id, role, borne, _ in rows:
        group = group_of_name.get((borne or "").casefold())
        if group is not None:
            by_name[f"{group}: {(borne or '').title()}, {role}"].add(text_id)
    return {stratum: sorted(ids) for stratum, ids in by_name.items()}


def _by_group(run: Run, sampling: Sampling) -> Strata:
    """Texts by gender references, race that most of the name's bearers share, and role."""
    rows = list(_characters(run))
    shares = NameShares(name for _, _, name, _ in rows)
    by_group: dict[str, set[str]] = defaultdict(set)
    for text_id, role, name, gender in rows:
        # A text stands in several strata: its weight above allows for every one of them
        most = shares.most(name, sampling.threshold)
        if gender in GENDERS:
            by_group[f"{gender}, {role}"].add(text_id)
            if most is not None:
                by_group[f"{most[0]} {gender}, {role}"].add(text_id)
        if most is not None:
            by_group[f"{most[0]}, {role}"].add(text_id)
    return {name: sorted(ids) for name, ids in by_group.items()}
