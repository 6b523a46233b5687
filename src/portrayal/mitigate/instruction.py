"""The fairness instruction: the same prompts asked again with the words of Table 15 at their end.

The answers are other texts, not edits of the ones before. A text without a new answer keeps the one
it has, and is counted.
"""

from collections import Counter
from collections.abc import Sequence

from portrayal.collect.ask.replies import Ask, prompt_of
from portrayal.errors import DataError
from portrayal.mitigate.passages import Passage
from portrayal.mitigate.prompts import with_instruction
from portrayal.mitigate.rewriting import NO_ANSWER, Read, Rewritten, Round, first_readings

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
