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
from portrayal.collect.ask.replies import Ask, Reply, prompt_of
from portrayal.errors import DataError
from portrayal.mitigate.compare import noise_p
from portrayal.mitigate.edits import apply_edits, read_edits
from portrayal.mitigate.passages import Passage, Reading
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

Read = Callable[[Sequence[str], Sequence[Sequence[str]]], list[Reading]]

NOISE = "the differences between groups are inside noise"
DONE = "no sentence is left to rewrite"
USED = "all rounds are used"
STALLED = "no edit of the last round held"
MALFORMED, NO_ANSWER = "malformed answer", "not asked: the budget was reached"
ALL_REFUSED = "every edit refused"
EDITED = "edited"


@dataclass(frozen=True, slots=True)
class Round:
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
    readings: list[Reading | None]
    changed: dict[int, set[int]] = field(default_factory=dict)
    direction: dict[int, str] = field(default_factory=dict)
    last: dict[int, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    stopped: str = USED
    noise_p: Mapping[str, float] = field(default_factory=dict)
    reference: tuple[str, ...] | None = None
    levels: Levels | None = None


def rewrite(
    passages: Sequence[Passage],
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
        Whether the level is that of the reference group in the stratum (`Passage.block`) of a text,
        and how many texts of each group a stratum needs for that; see
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
        told = now.rounds[-1]
        say(
            f"round {number + 1}: {told.chosen:,} sentences of {len(chosen):,} texts, "
            f"{told.edits.get('applied', 0):,} edits applied"
        )
        if until_noise and not told.edits.get("applied"):
            now.stopped = STALLED
            break
    return now


def first_readings(passages: Sequence[Passage], read: Read) -> list[Reading | None]:
    """Read the texts as they came; None for one that is not read."""
    used = [i for i, passage in enumerate(passages) if not passage.unread]
    found = read([passages[i].text for i in used], [passages[i].names for i in used])
    readings: list[Reading | None] = [None] * len(passages)
    for i, reading in zip(used, found, strict=True):
        readings[i] = reading
    return readings


def _round(
    passages: Sequence[Passage],
    now: Rewritten,
    chosen: Mapping[int, Chosen],
    read: Read,
    ask: Ask,
    asked: Counter[tuple[int, str]],
) -> Round:
    """Ask about the chosen sentences, apply what holds, and read the texts that changed."""
    before = now.noise_p
    prompts: dict[int, Prompt] = {}
    for i, each in chosen.items():
        reading = now.readings[i]
        assert reading is not None  # only texts that are read are chosen
        words = rewrite_prompt(now.texts[i], len(reading.spans), each.numbers, each.direction)
        prompts[i] = prompt_of(words, asked[i, words])
        asked[i, words] += 1
    replies = ask(prompts.values())
    texts: Counter[str] = Counter()
    edits: Counter[str] = Counter()
    touched = []
    for i, each in chosen.items():
        now.direction[i] = each.direction
        now.last[i] = _one(i, passages[i], now, each, replies.get(prompts[i].prompt_id), edits)
        texts[now.last[i]] += 1
        if now.last[i] == EDITED:
            touched.append(i)
    fresh = read([now.texts[i] for i in touched], [passages[i].names for i in touched])
    for i, reading in zip(touched, fresh, strict=True):
        now.readings[i] = reading
    n_chosen = sum(len(each.numbers) for each in chosen.values())
    return Round(dict(sorted(texts.items())), n_chosen, dict(sorted(edits.items())), before)


def _one(
    i: int,
    passage: Passage,
    now: Rewritten,
    chosen: Chosen,
    reply: Reply | None,
    edits: Counter[str],
) -> str:
    """Apply the edits of one reply; return what came of it."""
    if reply is None:
        return NO_ANSWER
    if reply.outcome != "ok":
        return reply.outcome
    proposed, malformed = read_edits(reply.text)
    edits["malformed"] += malformed
    if not proposed:
        return MALFORMED
    reading = now.readings[i]
    assert reading is not None
    done = apply_edits(
        now.texts[i], reading.spans, chosen.numbers, proposed, agency_sentences, passage.names
    )
    edits["applied"] += len(done.applied)
    edits.update(done.refused)
    if not done.applied:
        return ALL_REFUSED
    now.texts[i] = done.text
    now.changed.setdefault(i, set()).update(done.changed)
    return EDITED


ASKED_AGAIN = "asked again"


def instruct(
    passages: Sequence[Passage], read: Read, ask: Ask, text_type: str | None = None
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
    fresh = read([now.texts[i] for i in again], [passages[i].names for i in again])
    for i, reading in zip(again, fresh, strict=True):
        now.readings[i] = reading
    now.rounds.append(Round(dict(sorted(Counter(now.last.values()).items())), 0, {}, {}))
    now.stopped = "every prompt was asked once more"
    return now
