"""Shares of codes: how often a group's texts show each code, by people and corrected by them.

Texts of one prompt resemble each other, so intervals of shares resample prompts; where no prompt is
known each text counts as one observation.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from portrayal.coding.project import Project
from portrayal.errors import OptionError
from portrayal.measure import Scope
from portrayal.measure.clustered import corrected_inference, share_inference
from portrayal.measure.corrected import IMPOSSIBLE, HandSums
from portrayal.measure.scored import ScoredUnits
from portrayal.raters.labels import YES, Labels, settled
from portrayal.records import Interval, Null
from portrayal.stats import benjamini_hochberg, wilson
from portrayal.stats.proportions import chance_p, chance_range, count_by_chance

EVERYONE = "all texts"
"""The group where a project names none."""
STRATA = ("group", "race")
"""What names an item's group, in the order in which it is looked for."""
PERMUTED = "group labels permuted within each prompt (exact)"
PERMUTED_FREELY = "group labels permuted (exact); no prompts are known"


@dataclass(frozen=True, slots=True)
class Share:
    """A share of texts.

    Attributes
    ----------
    n, of
        Texts that show it, and of how many; each counts once, whatever its weight in the sample.
    interval
        By resampling prompts; Wilson's where no text has a known prompt.
    no_interval
        Why there is none; "" where there is one.
    """

    n: int
    of: int
    interval: Interval | None
    no_interval: str = ""

    @property
    def value(self) -> float | None:
        """The share, in 0–1; None without texts."""
        return self.n / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class CodeShare:
    """The share of a group's texts that show a code, against the other groups' texts.

    Attributes
    ----------
    code
        Its key.
    share
        The share.
    null
        What the share would be if texts of all groups were alike, by chance.
    no_null
        Why there is none; "" where there is one.
    p, q
        Two-sided p of the same permutation, and its Benjamini–Hochberg q among all groups and
        codes; None without a null, and where every arrangement gives the same count.
    """

    code: str
    share: Share
    null: Null | None = None
    no_null: str = ""
    p: float | None = None
    q: float | None = None


@dataclass(frozen=True, slots=True)
class CodePrevalence:
    """How often a group's texts show a code: as a model codes all of them, and corrected by people.

    Attributes
    ----------
    group, code
        Label of the group, and key of the code.
    rater, said, n
        The model, the share of texts to which it gives the code, in 0–1, and its texts.
    value, interval, n_hand
        The corrected share with its interval over prompts, and the texts that people coded too;
        taken as drawn at random.
    undefined
        Why there is no corrected share; "" where there is one.
    """

    group: str
    code: str
    rater: str
    said: float
    n: int
    value: float | None
    interval: Interval | None
    n_hand: int
    undefined: str = ""


@dataclass(frozen=True, slots=True)
class GroupCodes:
    """How often the texts of one group show each code.

    Attributes
    ----------
    group
        The group's label, or `EVERYONE`.
    n_items
        Texts of the group that are settled on every code.
    n_open
        Texts left out, as people are divided on a code of theirs.
    n_prompts
        Prompts that these texts answer; None where no prompt is known.
    shares
        The share of these texts that show each code, in the order of the codebook.
    """

    group: str
    n_items: int
    n_open: int
    n_prompts: int | None
    shares: tuple[CodeShare, ...]


def code_shares(
    project: Project,
    labels: Labels,
    *,
    by: str | None = None,
    merge: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> list[GroupCodes]:
    """Return how often the texts of each group show each code that people settle on.

    Parameters
    ----------
    project, labels
        The project, and what `project_labels` gives for it.
    by
        What groups texts: a stratum of the items, or a label of their people, of whom each adds its
        text to its group. The first of `STRATA` that the project has, unless given.
    merge
        Label of a group → label of the group that it is counted with, as where stories treat two
        terms alike.
    level
        Confidence level, a fraction.

    Raises
    ------
    OptionError
        When no item has such a stratum or label.
    """
    scope, prompts = Scope("coding", level=level), labels.prompts
    keys = [code.key for code in project.codebook.codes]
    codes_of = codes_of_texts(labels, keys)
    groups = _members(project, by, merge, codes_of)
    # Texts on which people are divided are counted as open, not as a "no"
    of_group = {group: {n for n in names if codes_of[n] is not None} for group, names in groups}
    in_groups = set[str]().union(*of_group.values())
    items = [item.item_id for item in project.items if item.item_id in in_groups]
    with_code = {key: {name for name in items if key in (codes_of[name] or ())} for key in keys}
    rows: list[CodeShare] = []
    for members in of_group.values():
        mine = [name for name in items if name in members]
        parts = shares([with_code[key] for key in keys], mine, prompts, scope)
        rows += [
            against_others(key, part, with_code[key], members, items, prompts, level)
            for key, part in zip(keys, parts, strict=True)
        ]
    q = benjamini_hochberg([float("nan") if row.p is None else row.p for row in rows])
    rows = [replace(r, q=None if r.p is None else float(x)) for r, x in zip(rows, q, strict=True)]
    rows_of_groups = []
    for i, (group, names) in enumerate(groups):
        group_items = of_group[group]
        n_prompts = len({prompts.get(name, name) for name in group_items}) if prompts else None
        group_rows = tuple(rows[i * len(keys) :][: len(keys)])
        n, n_open = len(group_items), len(names) - len(group_items)
        rows_of_groups.append(GroupCodes(group, n, n_open, n_prompts, group_rows))
    return rows_of_groups


def code_prevalence(
    project: Project,
    labels: Labels,
    *,
    by: str | None = None,
    merge: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> list[CodePrevalence]:
    """Correct how often a model gives each code, by the texts that people coded as well.

    Of several models the one that coded most texts counts. Parameters as of `code_shares`.

    Returns
    -------
    list
        By group and code; empty where no model coded.
    """
    models, scope = labels.of("llm"), Scope("coding", level=level)
    if not models.raters:
        return []
    rater = max(models.raters, key=lambda name: len(models.texts(name)))
    coded_by_model = models.texts(rater)
    marks = {(x.text_id, x.field) for x in models.rows if x.rater == rater and x.value == YES}
    keys = [code.key for code in project.codebook.codes]
    settled_codes = codes_of_texts(labels, keys)
    codes_of = {name: codes for name, codes in settled_codes.items() if codes is not None}
    prevalences = []
    for group, names in _members(project, by, merge, coded_by_model):
        # A text without a prompt is a cluster of its own; \0 keeps its name from being a prompt's
        prompts = [labels.prompts.get(name, f"\0{name}") for name in names]
        code = np.unique(prompts, return_inverse=True)[1]
        read_marks = np.array([[float((name, key) in marks) for key in keys] for name in names])
        by_hand = [i for i, name in enumerate(names) if name in codes_of]
        keys_by_hand = [codes_of[names[i]] for i in by_hand]
        truth = np.array([[float(key in one) for key in keys] for one in keys_by_hand])
        # Taken as drawn at random among the group's texts, so all weigh the same
        weight = np.full(len(by_hand), len(names) / max(len(by_hand), 1))
        ones = np.ones((len(names), 1))
        everyone = ScoredUnits(code, ones[:, 0], read_marks, (ones,))
        hand = ScoredUnits(code[by_hand], weight, read_marks[by_hand], (ones[by_hand],))
        by_people = hand.scored(truth.reshape(len(by_hand), len(keys)))
        sums = HandSums.of(everyone, hand, by_people, rater)
        share = corrected_inference(sums.sums, scope)
        for i, key in enumerate(keys):
            reason = sums.too_few(i, {"code": key}) or IMPOSSIBLE * bool(np.isnan(share.value[i]))
            value = None if reason else float(share.value[i])
            bounds = None if reason else share.interval(i, scope)
            fields = group, key, rater, float(read_marks[:, i].mean()), len(names)
            prevalences.append(CodePrevalence(*fields, value, bounds, len(by_hand), reason))
    return prevalences


def codes_of_texts(labels: Labels, keys: Sequence[str]) -> dict[str, frozenset[str] | None]:
    """Return the codes that people settle on, by text_id; None where they leave one open."""
    codes: dict[str, set[str] | None] = {}
    for (text_id, _, key), answer in settled(labels).items():
        if key not in keys:
            continue
        text_codes = codes.setdefault(text_id, set())
        if answer is None:
            codes[text_id] = None
        elif answer == YES and text_codes is not None:
            text_codes.add(key)
    return {name: None if one is None else frozenset(one) for name, one in codes.items()}


def _members(
    project: Project, by: str | None, merge: Mapping[str, str] | None, among: Collection[str]
) -> list[tuple[str, list[str]]]:
    """Each group with those of its texts that are `among` these, sorted by its label."""
    members: dict[str, list[str]] = {}
    for name, item_groups in groups_of(project, by).items():
        for label in dict.fromkeys((merge or {}).get(label, label) for label in item_groups):
            if name in among:
                members.setdefault(label, []).append(name)
    return sorted(members.items())


def groups_of(project: Project, by: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the group labels of each item, by `item_id`; see `code_shares` for `by`."""
    # The first stratum that any text has is taken for all texts
    for name in (by,) if by is not None else STRATA:
        groups: dict[str, tuple[str, ...]] = {}
        for item in project.items:
            item_groups = [item.strata[name]] if item.strata.get(name) else []
            if not item_groups:
                item_groups = [one.labels[name] for one in item.people if one.labels.get(name)]
            groups[item.item_id] = tuple(dict.fromkeys(item_groups))
        if any(groups.values()):
            return groups
    if by is not None:
        columns = {key for item in project.items for key in item.strata}
        columns |= {key for item in project.items for one in item.people for key in one.labels}
        raise OptionError(
            f"no text of {project.folder} has a {by!r} to group by. Known: "
            f"{', '.join(sorted(columns)) or 'none'}."
        )
    return {item.item_id: (EVERYONE,) for item in project.items}


def shares(
    item_sets: Sequence[Collection[str]],
    items: Sequence[str],
    prompts: Mapping[str, str],
    scope: Scope,
) -> list[Share]:
    """Return the share of items that are in each of `item_sets`.

    Parameters
    ----------
    item_sets
        For each share, the item_ids that show it.
    items
        The item_ids of the texts.
    prompts
        Prompt by item_id; an item without one is a cluster of its own where others have one.
    scope
        The level.
    """
    marks = np.array([[item in one for one in item_sets] for item in items], dtype=np.float64)
    of = len(items)
    if not of:
        return [Share(0, 0, None, "there are no texts") for _ in item_sets]
    counts = marks.sum(0).astype(int).tolist()
    # Nothing to resample by, so Wilson's interval of independent texts
    if not any(item in prompts for item in items):
        low, high = wilson(np.array(counts), of, scope.level)
        bounds = zip(counts, low.tolist(), high.tolist(), strict=True)
        return [Share(n, of, Interval(x, y, scope.level, "Wilson", of)) for n, x, y in bounds]
    names, place = np.unique(
        [prompts.get(item, f"\0{item}") for item in items], return_inverse=True
    )
    numerator, total = np.zeros((2, len(names), len(item_sets)))
    np.add.at(numerator, place, marks)
    np.add.at(total, place, 1)
    inference = share_inference(numerator, total, scope)
    reason = "" if len(names) > 1 else "texts of one prompt give no interval"
    return [Share(n, of, inference.interval(i, scope), reason) for i, n in enumerate(counts)]


def against_others(
    code: str,
    share: Share,
    marked: Collection[str],
    group: Collection[str],
    items: Sequence[str],
    prompts: Mapping[str, str],
    level: float,
) -> CodeShare:
    """Return a share of a group's texts with what chance gives.

    Labels are permuted within each prompt, as a prompt may ask for what a code marks; all
    arrangements are counted, so that nothing is drawn.

    Parameters
    ----------
    code, share
        Key of the code, and the share.
    marked, group
        item_ids that show the code, and those of the group.
    items
        item_ids of all texts, of whatever group.
    prompts
        Prompt by item_id.
    level
        Of the range that chance gives, a fraction.
    """
    if not any(item not in group for item in items):
        return CodeShare(code, share, no_null="there are no texts of other groups")
    has_prompts = any(item in prompts for item in items)
    blocks: dict[str, list[int]] = {}
    for item in items:
        block = blocks.setdefault(prompts.get(item, f"\0{item}" if has_prompts else ""), [0, 0, 0])
        block[0] += 1
        block[1] += item in marked
        block[2] += item in group
    # Only prompts with texts of both sides can tell them apart; the others are fixed
    mixed = [one for one in blocks.values() if 0 < one[2] < one[0]]
    if not mixed:
        return CodeShare(code, share, no_null="no prompt has texts of this group and of others")
    fixed = sum(one[1] for one in blocks.values() if one[2] == one[0])
    lowest, probability = count_by_chance(*np.transpose(mixed))
    central = chance_range(lowest, probability, level)
    mean = sum(n_shown * n_group / n for n, n_shown, n_group in mixed)
    value, low, high = ((fixed + x) / share.of for x in (mean, *central))
    null = Null(value, low, high, level, PERMUTED if has_prompts else PERMUTED_FREELY)
    # Every arrangement gives this count, so a p of 1 would say nothing
    if len(probability) == 1:
        return CodeShare(code, share, null)
    return CodeShare(code, share, null, p=chance_p(share.n - fixed, lowest, probability))
