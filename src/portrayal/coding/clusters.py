"""Clusters: texts of a group that show the same codes together, and an exemplar of each group.

Codes are not exclusive, so a *cluster* is a combination of codes; a group's *exemplar* is drawn
from the largest of its clusters that shows a code at all (Shieh et al. 2025, Supplement B.7).
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from portrayal.coding.codes import Codes
from portrayal.coding.consensus import consensus
from portrayal.coding.project import Item, Project
from portrayal.errors import OptionError
from portrayal.records import Interval
from portrayal.stats import wilson
from portrayal.validate import check_level

EVERYONE = "all texts"
"""The group where a project names none."""
SAMPLED = "sampled_as"
"""Stratum of a sample: "GROUP: name or term, role" or "GROUP, role", several parted by "; "."""
STRATA = ("group", "cue", SAMPLED, "race")
"""What names an item's group, in the order in which it is looked for."""
_GROUP = re.compile(r"(.+?)(?:: .+|, (?:dominant|subordinate|neutral))")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Texts of one group with the same codes.

    Attributes
    ----------
    codes
        Keys in the order of the codebook; empty where the texts show none.
    items
        Their item_ids, in the order of the project.
    interval
        Of the cluster's share of the group's coded texts (Wilson; each text counts once, whatever
        its weight).
    """

    codes: tuple[str, ...]
    items: tuple[str, ...]
    interval: Interval


@dataclass(frozen=True, slots=True)
class GroupClusters:
    """The clusters of one group.

    Attributes
    ----------
    group
        The group's label, or `EVERYONE`.
    clusters
        The largest first; of equals, the one with more codes, then by the codebook's order.
    n_items
        Texts of the group that are settled on every code.
    n_open
        Texts left out, as people are divided on a code of theirs.
    exemplar
        item_id of the exemplar; None where no text shows a code.
    tied
        How many clusters are as large as the one that the exemplar comes from.
    """

    group: str
    clusters: tuple[Cluster, ...]
    n_items: int
    n_open: int
    exemplar: str | None
    tied: int = 1

    @property
    def largest(self) -> Cluster | None:
        """The largest cluster with a code, which the exemplar comes from."""
        return next((one for one in self.clusters if one.codes), None)


def cluster_codes(
    project: Project,
    codes: Codes,
    *,
    by: str | None = None,
    merge: Mapping[str, str] | None = None,
    seed: int | None = None,
    level: float = 0.95,
) -> list[GroupClusters]:
    """Cluster the texts of each group by the codes that people settle on.

    Parameters
    ----------
    project, codes
        The project, and what `read_codes` gives for it.
    by
        What groups texts: a stratum of the items, or a label of their people, of whom each adds its
        text to its group. The first of `STRATA` that the project has, unless given.
    merge
        Label of a group → label of the group that it is counted with, as where stories treat two
        terms alike.
    seed
        Decides which text of a cluster is the exemplar; the project's unless given.
    level
        Confidence level, a fraction.

    Raises
    ------
    OptionError
        When no item has such a stratum or label.
    """
    check_level(level)
    seed = int(project.settings.get("seed", 0)) if seed is None else seed
    groups = groups_of(project, by)
    merged = dict(merge or {})
    settled = consensus(project, codes)
    by_group: dict[str, list[str]] = {}
    for name, labels in groups.items():
        for label in dict.fromkeys(merged.get(label, label) for label in labels):
            if name in settled:
                by_group.setdefault(label, []).append(name)
    place = {code.key: i for i, code in enumerate(project.codebook.codes)}
    found = []
    for group in sorted(by_group):
        sets: dict[tuple[str, ...], list[str]] = {}
        whole = [name for name in by_group[group] if not settled[name].open]
        for name in whole:
            sets.setdefault(settled[name].given, []).append(name)
        ordered = sorted(
            sets.items(),
            key=lambda pair: (-len(pair[1]), -len(pair[0]), [place[key] for key in pair[0]]),
        )
        clusters = tuple(
            Cluster(keys, tuple(names), _share(len(names), len(whole), level))
            for keys, names in ordered
        )
        n_open = len(by_group[group]) - len(whole)
        found.append(_with_exemplar(group, clusters, len(whole), n_open, seed))
    return found


def groups_of(project: Project, by: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the group labels of each item, by `item_id`; see `cluster_codes` for `by`."""
    names = (by,) if by is not None else STRATA
    for name in names:
        found = {item.item_id: tuple(_labels(item, name)) for item in project.items}
        if any(found.values()):
            return found
    if by is not None:
        known = sorted({key for item in project.items for key in (*item.strata, *_keys(item))})
        raise OptionError(
            f"no text of {project.folder} has a {by!r} to group by. Known: "
            f"{', '.join(known) or 'none'}."
        )
    return {item.item_id: (EVERYONE,) for item in project.items}


def _labels(item: Item, name: str) -> Iterator[str]:
    if name == SAMPLED:
        drawn = (_GROUP.fullmatch(part) for part in item.strata.get(name, "").split("; "))
        yield from dict.fromkeys(found.group(1) for found in drawn if found)
        return
    if item.strata.get(name):
        yield item.strata[name]
        return
    yield from dict.fromkeys(one.labels[name] for one in item.people if one.labels.get(name))


def _keys(item: Item) -> Iterator[str]:
    for person in item.people:
        yield from person.labels


def _share(n: int, total: int, level: float) -> Interval:
    low, high = wilson(n, total, level)
    return Interval(float(low), float(high), level, "Wilson", total)


def _with_exemplar(
    group: str, clusters: tuple[Cluster, ...], n_items: int, n_open: int, seed: int
) -> GroupClusters:
    coded = [one for one in clusters if one.codes]
    if not coded:
        return GroupClusters(group, clusters, n_items, n_open, None)
    largest = coded[0]
    exemplar = min(largest.items, key=lambda name: (_hash(f"{seed} {name}"), name))
    tied = sum(len(one.items) == len(largest.items) for one in coded)
    return GroupClusters(group, clusters, n_items, n_open, exemplar, tied)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
