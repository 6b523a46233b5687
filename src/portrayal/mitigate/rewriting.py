"""Rewriting texts: by edits of their communal sentences, or asked again with an instruction.

In each round a classifier reads the texts, a model is asked for edits to the communal sentences,
and those that hold are applied. With the instruction the answers are other texts, not edits of the
ones before. A text whose answer is malformed, empty, refused or missing stays as it is, and is
counted.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from portrayal.annotate.agency.rows import agency_sentences
from portrayal.collect.ask.replies import Ask, prompt_of
from portrayal.errors import DataError
from portrayal.mitigate.edits import apply_edits, read_edits
from portrayal.mitigate.passages import AgencyReading, AgencyText
from portrayal.records import Prompt
from portrayal.types import Say

Read = Callable[[Sequence[str], Sequence[Sequence[str]]], list[AgencyReading]]

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
    """

    texts: Mapping[str, int]
    chosen: int
    edits: Mapping[str, int]


@dataclass
class Rewritten:
    """The texts after all rounds.

    Attributes
    ----------
    texts, readings
        As they are now; a reading is None for a text that is not read.
    changed
        Numbers of the sentences that were rewritten, by text.
    last
        What became of the last answer about each text.
    rounds, stopped
        What the rounds did, and why no further one followed.
    """

    texts: list[str]
    readings: list[AgencyReading | None]
    changed: dict[int, set[int]] = field(default_factory=dict)
    last: dict[int, str] = field(default_factory=dict)
    rounds: list[RewriteRound] = field(default_factory=list)
    stopped: str = USED


@cache
def _words() -> dict[str, str]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def rewrite_prompt(text: str, n_sentences: int, communal: Collection[int]) -> str:
    """Return the request to rewrite the communal sentences of a text.

    Parameters
    ----------
    text
        The whole text.
    n_sentences
        How many sentences it has.
    communal
        Numbers of the sentences to rewrite, from 0; the list marks every other one as agentic.

    References
    ----------
    Wan & Chang (2024), Table 15.
    """
    marks = ["communal" if number in communal else "agentic" for number in range(n_sentences)]
    return _words()["up"].format(text=text, agency_list=marks)


def with_instruction(prompt: str, text_type: str = "text") -> str:
    """Return a prompt with the fairness instruction of Table 15 at its end.

    `text_type` is what it asks for: "biography", "professor review", "reference letter", ….
    """
    return f"{prompt} {_words()['instruction'].format(text_type=text_type)}"


def rewrite(
    passages: Sequence[AgencyText],
    read: Read,
    ask: Ask,
    *,
    rounds: int = 1,
    say: Say = lambda _: None,
) -> Rewritten:
    """Rewrite every communal sentence of every text, as published.

    Parameters
    ----------
    passages
        The texts.
    read, ask
        The classifier, and the model that proposes edits.
    rounds
        At most; a further one asks about the sentences that are communal still. None follows a
        round that applied no edit.
    say
        Called with a line after each round.

    References
    ----------
    Wan & Chang (2024), Section 5.2 (Mitigation via Selective Rewrite).
    """
    now = Rewritten([passage.text for passage in passages], first_readings(passages, read))
    # A text that no edit changed is asked again in the same words: it takes another sample
    times_asked: Counter[tuple[int, str]] = Counter()
    for number in range(rounds):
        communal_of = {
            i: tuple(communal)
            for i, reading in enumerate(now.readings)
            if reading is not None and (communal := reading.communal())
        }
        if not communal_of:
            now.stopped = DONE
            break
        now.rounds.append(_round(passages, now, communal_of, read, ask, times_asked))
        applied = now.rounds[-1].edits.get("applied", 0)
        say(
            f"round {number + 1}: {now.rounds[-1].chosen:,} sentences of "
            f"{len(communal_of):,} texts, {applied:,} edits applied"
        )
        # The same texts would be asked again, and paid for
        if not applied:
            now.stopped = STALLED
            break
    return now


def first_readings(passages: Sequence[AgencyText], read: Read) -> list[AgencyReading | None]:
    """Read the texts as they came; None for one that is not read."""
    readings: list[AgencyReading | None] = [None] * len(passages)
    used = [i for i, passage in enumerate(passages) if not passage.unread]
    _read_again(passages, [passage.text for passage in passages], used, read, readings)
    return readings


def _read_again(
    passages: Sequence[AgencyText],
    texts: Sequence[str],
    which: Sequence[int],
    read: Read,
    readings: list[AgencyReading | None],
) -> None:
    """Read some of the texts, and put what was read where it belongs."""
    # In one call, as a classifier reads a batch far quicker than single texts
    fresh = read([texts[i] for i in which], [passages[i].names for i in which])
    for i, reading in zip(which, fresh, strict=True):
        readings[i] = reading


def _round(
    passages: Sequence[AgencyText],
    now: Rewritten,
    communal_of: Mapping[int, tuple[int, ...]],
    read: Read,
    ask: Ask,
    times_asked: Counter[tuple[int, str]],
) -> RewriteRound:
    """Ask about the chosen sentences, apply what holds, and read the texts that changed."""
    prompts: dict[int, Prompt] = {}
    spans = {i: reading.spans for i, reading in enumerate(now.readings) if reading is not None}
    for i, communal in communal_of.items():
        words = rewrite_prompt(now.texts[i], len(spans[i]), communal)
        prompts[i] = prompt_of(words, times_asked[i, words])
        times_asked[i, words] += 1
    replies = ask(prompts.values())
    edits: Counter[str] = Counter()
    for i, communal in communal_of.items():
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
            applied = apply_edits(
                now.texts[i], spans[i], communal, proposed, agency_sentences, names
            )
            edits["applied"] += len(applied.applied)
            edits.update(applied.refused)
            now.last[i] = EDITED if applied.applied else ALL_REFUSED
            if applied.applied:
                now.texts[i] = applied.text
                now.changed.setdefault(i, set()).update(applied.changed)
    outcomes = Counter(now.last[i] for i in communal_of)
    # Only what changed is read again: classifying is what takes time
    edited = [i for i in communal_of if now.last[i] == EDITED]
    _read_again(passages, now.texts, edited, read, now.readings)
    n_chosen = sum(map(len, communal_of.values()))
    return RewriteRound(dict(sorted(outcomes.items())), n_chosen, dict(sorted(edits.items())))


ASKED_AGAIN = "asked again"


def instruct(
    passages: Sequence[AgencyText], read: Read, ask: Ask, text_type: str | None = None
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
        instructed = with_instruction(words, kind)
        # The n-th text of a prompt gets its n-th answer, so that each has one of its own
        prompts[i] = prompt_of(instructed, times[instructed])
        times[instructed] += 1
    replies = ask(prompts.values())
    for i in used:
        reply = replies.get(prompts[i].prompt_id)
        now.last[i] = NO_ANSWER if reply is None else reply.outcome
        # A refusal leaves the text as it was: losing it would change whom the audit counts
        if reply is not None and reply.outcome == "ok" and reply.text.strip():
            now.last[i], now.texts[i] = ASKED_AGAIN, reply.text
    again = [i for i in used if now.last[i] == ASKED_AGAIN]
    _read_again(passages, now.texts, again, read, now.readings)
    now.rounds.append(RewriteRound(dict(sorted(Counter(now.last.values()).items())), 0, {}))
    now.stopped = "every prompt was asked once more"
    return now
