"""A mitigation from texts to texts: read, rewrite or ask again, write."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.rows import classifying_of
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import asker
from portrayal.errors import DataError
from portrayal.mitigate.passages import (
    AgencyReading,
    AgencyText,
    Classify,
    read_agency,
    read_passages,
)
from portrayal.mitigate.rewriting import ASKED_AGAIN, EDITED, Rewritten, instruct, rewrite
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.types import Say, Tabular
from portrayal.validate import check_choice, check_count

Method = Literal["rewrite", "instruction"]
METHODS: tuple[Method, ...] = ("rewrite", "instruction")
UNCHANGED = "unchanged"
TEXTS, FACTS = "texts.jsonl", "mitigation.json"


@dataclass(frozen=True)
class Mitigation:
    """What a mitigation did.

    Attributes
    ----------
    out
        Directory of the texts (`texts.jsonl`, for `portrayal audit agency --texts`) and the facts
        (`mitigation.json`).
    facts
        What happened to texts and edits, as plain values.
    """

    out: Path
    facts: Mapping[str, Any]


def mitigate_agency(
    source: Tabular,
    asking: Asking,
    out: str | Path,
    *,
    columns: Iterable[str] = (),
    method: str = "rewrite",
    rounds: int = 1,
    text_type: str | None = None,
    classifier: str = "linear",
    masked: bool = True,
    classifier_settings: Mapping[str, Any] | None = None,
    classify: Classify | None = None,
    say: Say = lambda _: None,
) -> Mitigation:
    """Mitigate language agency, and write the texts with what happened to each.

    The same call continues after anything: no prompt is asked twice.

    Parameters
    ----------
    source
        A file of texts, or a run of `portrayal audit agency`.
    asking
        The model that rewrites, and the limits.
    out
        Directory of the result.
    columns
        "FIELD=NAME" strings; see `portrayal.mitigate.passages.read_passages`.
    method
        "rewrite" for selective rewriting, "instruction" to ask the prompts again with the fairness
        instruction.
    rounds
        Of rewriting, at most; see `portrayal.mitigate.rewriting.rewrite`.
    text_type
        What the instruction calls a text.
    classifier, masked
        Which sentences are communal; see `portrayal.annotate.agency.load_classifier`.
    classifier_settings
        How classifiers that are models ("llm:…") are asked; see `annotate.agency.asked`.
        Their answers are kept in `out`.
    classify
        In place of what `classifier` names.
    say
        Called with a line after each round.

    Raises
    ------
    UnderWayError
        Where batches are under way when `asking.wait` is over.
    DataError, OptionError, StopError, RunError
        Saying what to do; what was answered before is kept.
    """
    check_choice("method", method, METHODS)
    check_count("rounds", rounds, minimum=1)
    texts = read_passages(source, columns)
    if all(text.unread for text in texts):
        raise DataError(f"none of the {len(texts):,} texts can be read.")
    folder = Run(Path(out))
    if classify is None:
        classifying = classifying_of(classifier, classifier_settings)
        loaded = (
            load_classifier(classifier, masked)
            if classifying is None
            else classifying.check().classifier(folder.path, masked)
        )
        classify, masked = loaded, loaded.masked
    reader, hidden = classify, masked

    def read(words: Sequence[str], names: Sequence[Sequence[str]]) -> list[AgencyReading]:
        return read_agency(words, names, reader, masked=hidden)

    with folder.lock():
        ask = asker(asking, folder.path / "asked")
        if method == "instruction":
            rewritten = instruct(texts, read, ask, text_type)
        else:
            rewritten = rewrite(texts, read, ask, rounds=rounds, say=say)
        # Edits of all rounds together; each round is told as well
        edits = sum(
            (Counter(round_facts.edits) for round_facts in rewritten.rounds), Counter[str]()
        )
        outcomes = [_what_happened(i, text, rewritten) for i, text in enumerate(texts)]
        facts = {
            # Its name alone: paths say whose machine it was
            "source": Path(source).name if isinstance(source, (str, Path)) else "the table",
            **{"model": asking.model, "method": method},
            **{"classifier": classifier, "masked": masked, "n_texts": len(texts)},
            "texts": dict(sorted(Counter(outcomes).items())),
            "edits": {
                "applied": edits.pop("applied", 0),
                "refused": sum(edits.values()),
                "refused_by_reason": {name: n for name, n in sorted(edits.items()) if n},
            },
            "rounds": [asdict(round_facts) for round_facts in rewritten.rounds],
            "stopped": rewritten.stopped,
        }
        lines = []
        for i, text in enumerate(texts):
            row = {**text.row, text.column: rewritten.texts[i], "mitigation": outcomes[i]}
            # The text as it was stays beside it, for whoever checks the rewriting
            if rewritten.texts[i] != text.text:
                row["text_before"] = text.text
            lines.append(json.dumps(row, ensure_ascii=False, default=str) + "\n")
        # The facts last: who finds them finds the texts
        write_atomically(folder.path / TEXTS, "".join(lines))
        facts_json = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
        write_atomically(folder.path / FACTS, facts_json)
    return Mitigation(folder.path, facts)


def _what_happened(i: int, text: AgencyText, rewritten: Rewritten) -> str:
    """What happened to a text, in words."""
    if text.unread:
        return f"{UNCHANGED}: {text.unread}"
    if i not in rewritten.last:
        return f"{UNCHANGED}: not chosen"
    if text.text != rewritten.texts[i]:
        return "rewritten" if i in rewritten.changed else ASKED_AGAIN
    return f"{UNCHANGED}: {rewritten.last[i] if rewritten.last[i] != EDITED else 'no change'}"
