"""Shares of codes: how often a group's texts show each code, by people and corrected by them.

A *code* is a pattern that a text shows or does not. Texts of one prompt resemble each other, so
intervals of shares are clustered by prompt.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from portrayal.collect.corpus import people_parts
from portrayal.errors import OptionError
from portrayal.measure.clustered import corrected_inference, share_inference
from portrayal.measure.corrected import IMPOSSIBLE, HandSums, texts_named
from portrayal.measure.cues import run_people
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.raters.labels import YES, Labels, settled
from portrayal.records import Interval, Null
from portrayal.run import Run, read_prompts
from portrayal.stats import benjamini_hochberg
from portrayal.stats.proportions import chance_p, chance_range, count_by_chance

EVERYONE = "all texts"
"""The group where texts have none."""
GROUPS = ("group", "race")
"""What groups texts, in the order in which it is looked for."""
OF_PEOPLE = ("gender", "power", "race")
"""What people of a text are grouped by, each of whom adds the text to a group."""
PERMUTED = "group labels permuted within each prompt (exact)"


@dataclass(frozen=True, slots=True)
class CodeShare:
    """The share of a group's texts that show a code, against the other groups' texts.

    Attributes
    ----------
    code
        Its key.
    n, of
        Texts that show it, and of how many; each counts once, whatever its weight in the sample.
    interval
        Clustered by prompt; None with texts of one prompt alone.
    null
        What the share would be if texts of all groups were alike, by chance.
    no_null
        Why there is none; "" where there is one.
    p, q
        Two-sided p of the same permutation, and its Benjamini–Hochberg q among all groups and
        codes; None without a null, and where every arrangement gives the same count.
    """

    code: str
    n: int
    of: int
    interval: Interval | None
    null: Null | None = None
    no_null: str = ""
    p: float | None = None
    q: float | None = None

    @property
    def value(self) -> float | None:
        """The share, in 0–1; None without texts."""
        return self.n / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class GroupCodes:
    """How often the texts of one group show each code.

    Attributes
    ----------
    group
        The group's label, or `EVERYONE`.
    n_texts
        Texts of the group that are settled on every code.
    n_open
        Texts left out, as people are divided on a code of theirs.
    n_prompts
        Prompts that these texts answer.
    shares
        The share of these texts that show each code.
    """

    group: str
    n_texts: int
    n_open: int
    n_prompts: int
    shares: tuple[CodeShare, ...]


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


@dataclass(frozen=True)
class CodedTexts:
    """Labels of codes of the texts of a run, with the prompt and the groups of each text.

    Attributes
    ----------
    labels
        What people and models say.
    prompts
        Prompt of each text, by the name that the labels give it.
    groups
        Group → its texts.
    """

    labels: Labels
    prompts: Mapping[str, str]
    groups: Mapping[str, Sequence[str]]


def coded_texts(
    run: Run, labels: Labels, *, by: str | None = None, merge: Mapping[str, str] | None = None
) -> CodedTexts:
    """Set labels beside the groups that the run knows of their texts.

    Parameters
    ----------
    run, labels
        The run, and labels of its texts.
    by
        What groups texts: a stratum of prompts, `model`, or `gender`, `race` or `power` of people,
        of whom each adds its text to its group. The first of `GROUPS` that the run knows, unless
        given.
    merge
        Label of a group → label of the group that it is counted with, as where stories treat two
        terms alike.

    Raises
    ------
    OptionError
        When no labelled text has such a stratum or label, or nothing is labelled by yes and no.
    DataError
        When the run has no such text.
    """
    if not labels.codes:
        fields = ", ".join(labels.fields) or "nothing"
        raise OptionError(f"{labels.source} labels no codes (1 or 0), but {fields}.")
    names = {row.text_id for row in labels.rows}
    rows = texts_named(run, names, ("prompt_id", "model"), labels.source)
    strata = read_prompts(run.prompts_path)
    rows = {name: strata[row["prompt_id"]] | row for name, row in rows.items()}
    prompts = {name: row["prompt_id"] for name, row in rows.items()}
    by_id = {row["text_id"]: row for row in rows.values()}
    people = dict(run_people(run, by_id)) if people_parts(run) else {}
    members: dict[str, list[str]] = {}
    for key in GROUPS if by is None else (by,):
        for name, row in sorted(rows.items()):
            values = [str(row[key])] if row.get(key) else []
            if not values and key in OF_PEOPLE:
                values = [getattr(person, key) for person in people.get(row["text_id"], ())]
            for group in dict.fromkeys((merge or {}).get(value, value) for value in values):
                if group:
                    members.setdefault(group, []).append(name)
        if members:
            return CodedTexts(labels, prompts, dict(sorted(members.items())))
    if by is not None:
        columns = {name for row in rows.values() for name, value in row.items() if value}
        columns -= {"text_id", "source_id", "prompt_id"}
        attributes = ", ".join(sorted(columns | set(OF_PEOPLE if people else ())))
        raise OptionError(f"no labelled text has a {by!r} to group by; texts have: {attributes}.")
    return CodedTexts(labels, prompts, {EVERYONE: sorted(rows)})


def code_shares(coded: CodedTexts, level: float = 0.95) -> list[GroupCodes]:
    """Return how often the texts of each group show each code that people settle on."""
    scope, keys = Scope("coding", level=level), coded.labels.codes
    codes_of = codes_of_texts(coded.labels, keys)
    # Texts on which people are divided are counted as open, not as a "no"
    settled_texts = {
        group: [name for name in names if codes_of.get(name) is not None]
        for group, names in coded.groups.items()
    }
    texts = sorted(set[str]().union(*settled_texts.values()))
    with_code = {key: {name for name in texts if key in (codes_of[name] or ())} for key in keys}
    rows: list[CodeShare] = []
    for members in settled_texts.values():
        prompts, place = np.unique([coded.prompts[name] for name in members], return_inverse=True)
        marks = [[name in with_code[key] for key in keys] for name in members]
        numerator, total = np.zeros((2, len(prompts), len(keys)))
        np.add.at(numerator, place, np.array(marks, dtype=np.float64).reshape(-1, len(keys)))
        np.add.at(total, place, 1)
        inference = share_inference(numerator, total, scope) if members else None
        for i, key in enumerate(keys):
            interval = inference.interval(i, scope) if inference else None
            share = CodeShare(key, int(numerator[:, i].sum()), len(members), interval)
            rows.append(against_others(share, with_code[key], set(members), texts, coded, level))
    q = benjamini_hochberg([float("nan") if row.p is None else row.p for row in rows])
    rows = [replace(r, q=None if r.p is None else float(x)) for r, x in zip(rows, q, strict=True)]
    groups = []
    for i, (group, members) in enumerate(settled_texts.items()):
        n_open = sum(name in codes_of for name in coded.groups[group]) - len(members)
        n_prompts = len({coded.prompts[name] for name in members})
        shares = tuple(rows[i * len(keys) :][: len(keys)])
        groups.append(GroupCodes(group, len(members), n_open, n_prompts, shares))
    return groups


def against_others(
    share: CodeShare,
    marked: Collection[str],
    group: Collection[str],
    texts: Sequence[str],
    coded: CodedTexts,
    level: float,
) -> CodeShare:
    """Return a share of a group's texts with what chance gives.

    Labels are permuted within each prompt, as a prompt may ask for what a code marks; all
    arrangements are counted, so that nothing is drawn.

    Parameters
    ----------
    share
        The share.
    marked, group
        Texts that show the code, and those of the group.
    texts
        Texts of all groups.
    coded
        Prompt of each text.
    level
        Of the range that chance gives, a fraction.
    """
    if all(name in group for name in texts):
        return replace(share, no_null="there are no texts of other groups")
    blocks: dict[str, list[int]] = {}
    for name in texts:
        block = blocks.setdefault(coded.prompts[name], [0, 0, 0])
        block[0] += 1
        block[1] += name in marked
        block[2] += name in group
    # Only prompts with texts of both sides can tell them apart; the others are fixed
    mixed = [block for block in blocks.values() if 0 < block[2] < block[0]]
    if not mixed:
        return replace(share, no_null="no prompt has texts of this group and of others")
    fixed = sum(block[1] for block in blocks.values() if block[2] == block[0])
    lowest, probability = count_by_chance(*np.transpose(mixed))
    central = chance_range(lowest, probability, level)
    mean = sum(n_shown * n_group / n for n, n_shown, n_group in mixed)
    value, low, high = ((fixed + x) / share.of for x in (mean, *central))
    # Where every arrangement gives this count, a p of 1 would say nothing
    p = None if len(probability) == 1 else chance_p(share.n - fixed, lowest, probability)
    return replace(share, null=Null(value, low, high, level, PERMUTED), p=p)


def code_prevalence(coded: CodedTexts, level: float = 0.95) -> list[CodePrevalence]:
    """Correct how often a model gives each code, by the texts that people coded as well.

    Of several models the one that coded most texts counts.

    Returns
    -------
    list
        By group and code; empty where no model coded.
    """
    models, scope = coded.labels.of("llm"), Scope("coding", level=level)
    if not models.raters:
        return []
    rater = max(models.raters, key=lambda name: len(models.texts(name)))
    coded_by_model, keys = models.texts(rater), coded.labels.codes
    marks = {(x.text_id, x.field) for x in models.rows if x.rater == rater and x.value == YES}
    settled_codes = codes_of_texts(coded.labels, keys)
    codes_of = {name: codes for name, codes in settled_codes.items() if codes is not None}
    prevalences = []
    for group, members in coded.groups.items():
        names = [name for name in members if name in coded_by_model]
        prompts = [coded.prompts[name] for name in names]
        code = np.unique(prompts, return_inverse=True)[1]
        read_marks = np.array([[float((name, key) in marks) for key in keys] for name in names])
        by_hand = [i for i, name in enumerate(names) if name in codes_of]
        truth = np.array([[float(key in codes_of[names[i]]) for key in keys] for i in by_hand])
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
