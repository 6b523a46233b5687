"""Shares: how many texts of a group show something, how sure that is, and what chance would give.

Texts of one prompt resemble each other, so prompts are drawn anew; where no prompt is known each
text counts as one observation.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.coding.project import Project
from portrayal.measure import Scope
from portrayal.measure.clustered import share_inference
from portrayal.records import Interval, Null
from portrayal.stats import chance_p, chance_range, count_by_chance, wilson

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


def prompts_of_items(project: Project) -> dict[str, str]:
    """Return the prompt of each item whose prompt is known, by `item_id`."""
    found = {item.item_id: item.strata.get("prompt_id", "") for item in project.items}
    return {item: prompt for item, prompt in found.items() if prompt}


def shares(
    shown: Sequence[Collection[str]],
    items: Sequence[str],
    prompts: Mapping[str, str],
    scope: Scope,
    *labels: str,
) -> list[Share]:
    """Return the share of items that are in each of `shown`.

    Parameters
    ----------
    shown
        For each share, the item_ids that show it.
    items
        The item_ids of the texts.
    prompts
        Prompt by item_id; an item without one is a cluster of its own where others have one.
    scope, labels
        Level, draws and seed, and the name of the random stream.
    """
    sets = [set(one) for one in shown]
    counts = [sum(item in one for item in items) for one in sets]
    if not any(item in prompts for item in items):
        return [_wilson(n, len(items), scope.level) for n in counts]
    names = [prompts.get(item, f"\0{item}") for item in items]
    place = {name: i for i, name in enumerate(sorted(set(names)))}
    numerator, total = np.zeros((len(place), len(sets))), np.zeros((len(place), len(sets)))
    for item, name in zip(items, names, strict=True):
        total[place[name]] += 1
        numerator[place[name]] += [item in one for one in sets]
    found = share_inference(numerator, total, np.ones(len(sets)), scope, scope.rng(*labels))
    why = "" if len(place) > 1 else "texts of one prompt give no interval"
    return [Share(n, len(items), found.interval(i, scope), why) for i, n in enumerate(counts)]


def against_others(
    code: str,
    share: Share,
    shown: Collection[str],
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
    shown, group
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
    known = any(item in prompts for item in items)
    blocks: dict[str, list[int]] = {}
    for item in items:
        block = blocks.setdefault(prompts.get(item, f"\0{item}" if known else ""), [0, 0, 0])
        block[0] += 1
        block[1] += item in shown
        block[2] += item in group
    mixed = [one for one in blocks.values() if 0 < one[2] < one[0]]
    if not mixed:
        return CodeShare(code, share, no_null="no prompt has texts of this group and of others")
    fixed = sum(one[1] for one in blocks.values() if one[2] == one[0])
    lowest, probability = count_by_chance(*np.transpose(mixed))
    central = chance_range(lowest, probability, level)
    mean = sum(n_shown * n_group / n for n, n_shown, n_group in mixed)
    value, low, high = ((fixed + x) / share.of for x in (mean, *central))
    null = Null(value, low, high, level, PERMUTED if known else PERMUTED_FREELY)
    if len(probability) == 1:
        return CodeShare(code, share, null)
    return CodeShare(code, share, null, p=chance_p(share.n - fixed, lowest, probability))


def _wilson(n: int, of: int, level: float) -> Share:
    if not of:
        return Share(n, of, None, "there are no texts")
    low, high = (float(bound) for bound in wilson(n, of, level))
    return Share(n, of, Interval(low, high, level, "Wilson", of))
