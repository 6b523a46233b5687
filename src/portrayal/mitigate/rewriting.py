"""Rewriting texts: by edits of what a target names, or asked again with an instruction.

In each round the classifier reads the texts, a target says which sentences to rewrite, a model is
asked for edits, and those that hold are applied. A text whose answer is malformed, empty, refused
or missing stays as it is, and is counted.

The answers are other texts, not edits of the ones before. A text without a new answer keeps the one
it has, and is counted.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from portrayal.annotate.agency.rows import agency_sentences
from portrayal.collect.ask.replies import Ask, prompt_of
from portrayal.errors import DataError
from portrayal.mitigate.compare import noise_p
from portrayal.mitigate.edits import apply_edits, read_edits
from portrayal.mitigate.passages import AgencyReading, GroupedText
from portrayal.mitigate.targets import (
    Chosen,
    Levels,
    Target,
    always_up,
    group_shares,
    levels_of,
    reference_of,
    rewrite_prompt,
    toward,
    with_instruction,
)
from portrayal.records import Prompt
from portrayal.types import Say

Read = Callable[[Sequence[str], Sequence[Sequence[str]]], list[AgencyReading]]

NOISE = "the differences between groups are inside noise"
DONE = "no sentence is left to rewrite"
USED = "all rounds are used"
STALLED = "no edit of the last round held"
MALFORMED, NO_ANSWER = "malformed answer", "not asked: the budget was reached"
ALL_REFUSED = "every edit refused"
EDITED = "edited"


@dataclass(frozen=True, slots=True)
class RewriteRound:
    """What one round did.

    Attributes
    ----------
    texts
        Texts that were asked about, by what came of it ("edited", "malformed answer", …).
    chosen
        Sentences that were to be rewritten.
    edits
        Edits by what became of them: "applied", "malformed", or why they were refused.
    noise_p
        Before the round, by attribute: how often shuffled groups differ as much.
    """

    texts: Mapping[str, int]
    chosen: int
    edits: Mapping[str, int]
    noise_p: Mapping[str, float]


@dataclass
class Rewritten:
    """The texts after all rounds.

    Attributes
    ----------
    texts, readings
        As they are now; a reading is None for a text that is not read.
    changed
        Numbers of the sentences that were rewritten, by text.
    direction
        "up" or "down" of each text that was asked about.
    last
        What became of the last answer about each text.
    rounds, stopped
        What the rounds did, and why no further one followed.
    noise_p
        After the last round.
    reference, levels
        Group and levels that the texts were rewritten toward; None for always-up.
    """

    texts: list[str]
    readings: list[AgencyReading | None]
    changed: dict[int, set[int]] = field(default_factory=dict)
    direction: dict[int, str] = field(default_factory=dict)
    last: dict[int, str] = field(default_factory=dict)
    rounds: list[RewriteRound] = field(default_factory=list)
    stopped: str = USED
    noise_p: Mapping[str, float] = field(default_factory=dict)
    reference: tuple[str, ...] | None = None
    levels: Levels | None = None


def rewrite(
    passages: Sequence[GroupedText],
    columns: Sequence[str],
    read: Read,
    ask: Ask,
    *,
    target: Target = "always-up",
    reference: Mapping[str, str] | None = None,
    per_stratum: bool = False,
    min_group: int = 10,
    rounds: int = 3,
    until_noise: bool = True,
    level: float = 0.95,
    permutations: int = 999,
    seed: int = 0,
    say: Say = lambda _: None,
) -> Rewritten:
    """Rewrite texts selectively.

    Parameters
    ----------
    passages, columns
        The texts, and the names of their group columns.
    read, ask
        The classifier, and the model that proposes edits.
    target, reference
        See `portrayal.mitigate.targets`; the reference group by column, the most agentic one where
        empty.
    per_stratum, min_group
        Whether the level is that of the reference group in the stratum (`GroupedText.block`) of a
        text, and how many texts of each group a stratum needs for that; see
        `portrayal.mitigate.targets.levels_of`. Noise is then that of differences within strata.
    rounds
        At most.
    until_noise
        Whether to stop once no attribute's variance is beyond what `level` of shuffled groups show,
        or once a round applied no edit.
    level, permutations, seed
        Of that null, and of the order of texts.
    say
        Called with a line after each round.
    """
    now = Rewritten([passage.text for passage in passages], first_readings(passages, read))
    places: list[str] = []
    if target == "reference":
        shares = group_shares(passages, now.readings)
        now.reference = reference_of(shares, columns, reference or {})
        now.levels = levels_of(
            passages, now.readings, now.reference, per_stratum=per_stratum, min_group=min_group
        )
        places = [now.levels.place(passage.block) for passage in passages]
    tries: Counter[tuple[int, int]] = Counter()
    asked: Counter[tuple[int, str]] = Counter()
    for number in range(rounds + 1):
        now.noise_p = noise_p(
            passages,
            [float("nan") if r is None else r.share for r in now.readings],
            columns,
            places=places,
            permutations=permutations,
            seed=seed,
        )
        if until_noise and all(p > 1.0 - level for p in now.noise_p.values()):
            now.stopped = NOISE
            break
        if number == rounds:
            break
        if now.levels is None or now.reference is None:
            chosen = always_up(now.readings)
        else:
            chosen = toward(now.levels, now.reference, passages, now.readings, tries, seed=seed)
        if not chosen:
            now.stopped = DONE
            break
        now.rounds.append(_round(passages, now, chosen, read, ask, asked))
        tries.update((i, j) for i, each in chosen.items() for j in each.numbers)
        applied = now.rounds[-1].edits.get("applied", 0)
        say(
            f"round {number + 1}: {now.rounds[-1].chosen:,} sentences of {len(chosen):,} texts, "
            f"{applied:,} edits applied"
        )
        if until_noise and not applied:
            now.stopped = STALLED
            break
    return now


def first_readings(
    passages: Sequence[GroupedText], read: Read, texts: Sequence[str] | None = None
) -> list[AgencyReading | None]:
    """Read the texts as they came, or others in their place; None for one that is not read."""
    given = [passage.text for passage in passages] if texts is None else texts
    readings: list[AgencyReading | None] = [None] * len(passages)
    used = [i for i, passage in enumerate(passages) if not passage.unread]
    _read_again(passages, given, used, read, readings)
    return readings


def _read_again(
    passages: Sequence[GroupedText],
    texts: Sequence[str],
    which: Sequence[int],
    read: Read,
    readings: list[AgencyReading | None],
) -> None:
    """Read some of the texts, and put what was read where it belongs."""
    fresh = read([texts[i] for i in which], [passages[i].names for i in which])
    for i, reading in zip(which, fresh, strict=True):
        readings[i] = reading


def _round(
    passages: Sequence[GroupedText],
    now: Rewritten,
    chosen: Mapping[int, Chosen],
    read: Read,
    ask: Ask,
    asked: Counter[tuple[int, str]],
) -> RewriteRound:
    """Ask about the chosen sentences, apply what holds, and read the texts that changed."""
    before = now.noise_p
    prompts: dict[int, Prompt] = {}
    spans = {i: reading.spans for i, reading in enumerate(now.readings) if reading is not None}
    for i, each in chosen.items():
        words = rewrite_prompt(now.texts[i], len(spans[i]), each.numbers, each.direction)
        prompts[i] = prompt_of(words, asked[i, words])
        asked[i, words] += 1
    replies = ask(prompts.values())
    edits: Counter[str] = Counter()
    for i, each in chosen.items():
        now.direction[i] = each.direction
        reply = replies.get(prompts[i].prompt_id)
        proposed, malformed = read_edits(reply.text) if reply is not None else ([], 0)
        if reply is None:
            now.last[i] = NO_ANSWER
        elif reply.outcome != "ok":
            now.last[i] = reply.outcome
        elif not proposed:
            edits["malformed"] += malformed
            now.last[i] = MALFORMED
        else:
            edits["malformed"] += malformed
            names = passages[i].names
            done = apply_edits(
                now.texts[i], spans[i], each.numbers, proposed, agency_sentences, names
            )
            edits["applied"] += len(done.applied)
            edits.update(done.refused)
            now.last[i] = EDITED if done.applied else ALL_REFUSED
            if done.applied:
                now.texts[i] = done.text
                now.changed.setdefault(i, set()).update(done.changed)
    outcomes = Counter(now.last[i] for i in chosen)
    edited = [i for i in chosen if now.last[i] == EDITED]
    _read_again(passages, now.texts, edited, read, now.readings)
    n_chosen = sum(len(each.numbers) for each in chosen.values())
    return RewriteRound(
        dict(sorted(outcomes.items())), n_chosen, dict(sorted(edits.items())), before
    )


ASKED_AGAIN = "asked again"


def instruct(
    passages: Sequence[GroupedText], read: Read, ask: Ask, text_type: str | None = None
) -> Rewritten:
    """Ask each text's prompt again with the fairness instruction.

    Parameters
    ----------
    passages
        Texts whose rows have a column `prompt`. Texts of one prompt get an answer each.
    read, ask
        The classifier, and the model, which should be the one that wrote the texts.
    text_type
        What the instruction calls a text; the row's `domain` where None, or else "text".

    Raises
    ------
    DataError
        Where a text names no prompt.

    References
    ----------
    Wan & Chang (2024), Section 5.1 and Table 15.
    """
    now = Rewritten([passage.text for passage in passages], first_readings(passages, read))
    used = [i for i, passage in enumerate(passages) if not passage.unread]
    prompts, times = {}, Counter[str]()
    for i in used:
        words = str(passages[i].row.get("prompt") or "").strip()
        if not words:
            raise DataError(
                f"text {i + 1} names no prompt, so it cannot be asked again; give the texts a "
                "column `prompt`, or use --method rewrite."
            )
        kind = text_type or str(passages[i].row.get("domain") or "text").casefold()
        asked = with_instruction(words, kind)
        prompts[i] = prompt_of(asked, times[asked])
        times[asked] += 1
    replies = ask(prompts.values())
    for i in used:
        reply = replies.get(prompts[i].prompt_id)
        now.last[i] = NO_ANSWER if reply is None else reply.outcome
        if reply is not None and reply.outcome == "ok" and reply.text.strip():
            now.last[i], now.texts[i] = ASKED_AGAIN, reply.text
    again = [i for i in used if now.last[i] == ASKED_AGAIN]
    _read_again(passages, now.texts, again, read, now.readings)
    now.rounds.append(RewriteRound(dict(sorted(Counter(now.last.values()).items())), 0, {}, {}))
    now.stopped = "every prompt was asked once more"
    return now
