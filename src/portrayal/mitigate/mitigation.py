"""A mitigation from texts to report: read, rewrite or ask again, compare, write."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.replies import asker
from portrayal.errors import DataError, OptionError
from portrayal.mitigate.compare import GroupComparison, compare
from portrayal.mitigate.kept import Similarity, preserved, render, worse
from portrayal.mitigate.passages import (
    AgencyReading,
    Classify,
    GroupedText,
    read_agency,
    read_passages,
)
from portrayal.mitigate.rewriting import (
    ASKED_AGAIN,
    EDITED,
    Rewritten,
    first_readings,
    instruct,
    rewrite,
)
from portrayal.mitigate.targets import TARGETS, Target
from portrayal.records import finite
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.types import Say, Tabular
from portrayal.validate import check_choice, check_count, check_level, check_seed

Method = Literal["rewrite", "instruction"]
METHODS: tuple[Method, ...] = ("rewrite", "instruction")
UNCHANGED = "unchanged"
TEXTS, FACTS, REPORT = "texts.jsonl", "mitigation.json", "report.html"


@dataclass(frozen=True)
class Mitigation:
    """What a mitigation did.

    Attributes
    ----------
    out
        Directory of the rewritten texts (`texts.jsonl`, for `portrayal audit agency --texts`), the
        facts (`mitigation.json`) and the page (`report.html`).
    comparison
        Groups before and after.
    facts
        Everything that the report says, as plain values.
    """

    out: Path
    comparison: GroupComparison
    facts: Mapping[str, Any]


def mitigate_agency(
    source: Tabular,
    asking: Asking,
    out: str | Path,
    *,
    group: Sequence[str] = ("gender", "race"),
    stratum: str | None = None,
    columns: Iterable[str] = (),
    method: str = "rewrite",
    target: str = "always-up",
    reference: Mapping[str, str] | None = None,
    per_stratum: bool = False,
    min_group: int = 10,
    rounds: int = 3,
    until_noise: bool = True,
    text_type: str | None = None,
    classifier: str = "linear",
    masked: bool = True,
    check_classifier: str | None = None,
    classifier_settings: Mapping[str, Any] | None = None,
    least_similarity: float = 0.6,
    level: float = 0.95,
    draws: int = 2000,
    permutations: int = 999,
    seed: int = 0,
    first: Sequence[str] = (),
    classify: Classify | None = None,
    say: Say = lambda _: None,
) -> Mitigation:
    """Mitigate differences in language agency, and report what came of it.

    The same call continues after anything: no prompt is asked twice.

    Parameters
    ----------
    source
        A file of texts, or a run of `portrayal audit agency`.
    asking
        The model that rewrites, and the limits.
    out
        Directory of the result.
    group, stratum, columns
        See `portrayal.mitigate.passages.read_passages`.
    method
        "rewrite" for selective rewriting, "instruction" to ask the prompts again with the fairness
        instruction.
    target, reference, per_stratum, min_group, rounds, until_noise
        See `portrayal.mitigate.rewriting.rewrite`.
    text_type
        What the instruction calls a text.
    classifier, masked
        Which sentences are communal; see `portrayal.annotate.agency.load_classifier`.
    check_classifier
        A second classifier that had no say in the rewriting, to compare with as well.
    classifier_settings
        How classifiers that are models ("llm:…") are asked; see `annotate.agency.asked`.
        Their answers are kept in `out`.
    least_similarity
        Texts that are less alike to what they were are listed.
    level, draws, permutations, seed
        Of intervals and null.
    first
        Values of groups that come first in a difference.
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
    _check(method, target, reference, rounds, per_stratum, min_group, stratum)
    how = {
        "level": check_level(level),
        "draws": check_count("draws", draws, minimum=20),
        "permutations": check_count("permutations", permutations, minimum=19),
        "seed": check_seed(seed),
        "first": tuple(first),
    }
    passages = read_passages(source, group, stratum=stratum, columns=columns)
    if all(passage.unread for passage in passages):
        raise DataError(f"none of the {len(passages):,} texts can be read.")
    folder = Run(Path(out))
    how_asked = folder.path, classifier_settings
    read = _reader(classify, classifier, masked, *how_asked)
    second = _reader(None, check_classifier, masked, *how_asked) if check_classifier else None
    with folder.lock():
        before = first_readings(passages, read)
        ask = asker(asking, folder.path / "asked")
        if method == "instruction":
            done = instruct(passages, read, ask, text_type)
        else:
            done = rewrite(
                passages,
                group,
                read,
                ask,
                target=cast(Target, target),
                reference=reference,
                per_stratum=per_stratum,
                min_group=min_group,
                rounds=rounds,
                until_noise=until_noise,
                level=level,
                permutations=permutations,
                seed=seed,
                say=say,
            )
        comparison = _compared(passages, before, done.readings, group, how)
        found, unchanged = preserved(passages, done)
        facts = {
            "source": Path(source).name if isinstance(source, (str, Path)) else "the table",
            **{"model": asking.model, "method": method, "until_noise": until_noise},
            "target": target if method == "rewrite" else None,
            **{"classifier": classifier, "masked": masked},
            **{"group": list(group), "stratum": stratum},
            **_counts(passages, done, group),
            "preserved": unchanged,
            "worse": worse(passages, before, done, comparison, found, least_similarity),
            "comparison": comparison.as_json(),
            "strata": _strata(passages, before, done, group, how) if per_stratum else [],
        }
        if second is not None:
            both = first_readings(passages, second), first_readings(passages, second, done.texts)
            facts["check_classifier"] = check_classifier
            facts["check"] = _compared(passages, *both, group, how).as_json()
        _write(folder.path, passages, before, done, found, facts := finite(facts))
    return Mitigation(folder.path, comparison, facts)


def _check(
    method: str,
    target: str,
    reference: Mapping[str, str] | None,
    rounds: int,
    per_stratum: bool,
    min_group: int,
    stratum: str | None,
) -> None:
    """Refuse what cannot be rewritten toward."""
    check_choice("method", method, METHODS)
    check_choice("target", target, TARGETS)
    check_count("rounds", rounds, minimum=1)
    check_count("min_group", min_group, minimum=1)
    toward = target == "reference" and method == "rewrite"
    if reference and not toward:
        raise OptionError("a reference group needs --method rewrite and --target reference.")
    if per_stratum and (stratum is None or not toward):
        raise OptionError(
            "a level for each stratum needs --stratum COLUMN, --method rewrite and "
            "--target reference."
        )


def _reader(
    classify: Classify | None,
    spec: str,
    masked: bool,
    folder: Path,
    settings: Mapping[str, Any] | None,
) -> Any:
    if classify is None:
        from portrayal.annotate.agency import load_classifier
        from portrayal.annotate.agency.rows import classifying_of

        asked = classifying_of(spec, settings)
        if asked is None:
            made = load_classifier(spec, masked)
        else:
            made = asked.check().classifier(folder, masked)
        classify, masked = made, made.masked

    def read(texts: Sequence[str], names: Sequence[Sequence[str]]) -> list[AgencyReading]:
        return read_agency(texts, names, classify, masked=masked)

    return read


def _compared(
    passages: Sequence[GroupedText],
    before: Sequence[AgencyReading | None],
    after: Sequence[AgencyReading | None],
    group: Sequence[str],
    how: Mapping[str, Any],
) -> GroupComparison:
    old, new = (
        [float("nan") if reading is None else reading.share for reading in readings]
        for readings in (before, after)
    )
    return compare(passages, old, new, group, **how)


def _strata(
    passages: Sequence[GroupedText],
    before: Sequence[AgencyReading | None],
    done: Rewritten,
    group: Sequence[str],
    how: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The comparison within each stratum that has a level, and within all others together."""
    levels, found = done.levels, []
    assert levels is not None  # it is set where texts are rewritten toward a reference
    places = [levels.place(passage.block) for passage in passages]
    for place in sorted(set(places), key=lambda name: (not name, name)):
        inside = [i for i, own in enumerate(places) if own == place]
        compared = _compared(
            [passages[i] for i in inside],
            [before[i] for i in inside],
            [done.readings[i] for i in inside],
            group,
            how,
        )
        found.append(
            {
                "stratum": place,
                "level": levels.of(place),
                "pooled": {} if place else dict(levels.pooled),
                "n_texts": len(inside),
                "rose": [v.attribute for v in compared.variances if (v.change or 0.0) > 0.0],
                "comparison": compared.as_json(),
            }
        )
    return found


def _disposition(i: int, passage: GroupedText, done: Rewritten) -> str:
    """What happened to a text, in words."""
    if passage.unread:
        return f"{UNCHANGED}: {passage.unread}"
    if i not in done.last:
        return f"{UNCHANGED}: not chosen"
    if passage.text != done.texts[i]:
        return "rewritten" if i in done.changed else ASKED_AGAIN
    return f"{UNCHANGED}: {done.last[i] if done.last[i] != EDITED else 'no change'}"


def _counts(
    passages: Sequence[GroupedText], done: Rewritten, columns: Sequence[str]
) -> dict[str, Any]:
    edits = sum((Counter(each.edits) for each in done.rounds), Counter())
    reference = None
    if done.reference is not None and done.levels is not None:
        named = dict(zip(columns, done.reference, strict=True))
        reference = {"group": named, "share": done.levels.overall}
    dispositions = Counter(_disposition(i, passage, done) for i, passage in enumerate(passages))
    return {
        "reference": reference,
        "n_texts": len(passages),
        "texts": dict(sorted(dispositions.items())),
        "edits": {
            "applied": edits.pop("applied", 0),
            "refused": sum(edits.values()),
            "refused_by_reason": {name: n for name, n in sorted(edits.items()) if n},
        },
        "rounds": [asdict(each) for each in done.rounds],
        "stopped": done.stopped,
        "noise_p": dict(done.noise_p),
    }


def _write(
    out: Path,
    passages: Sequence[GroupedText],
    before: Sequence[AgencyReading | None],
    done: Rewritten,
    found: Mapping[int, Similarity],
    facts: Mapping[str, Any],
) -> None:
    lines = []
    for i, passage in enumerate(passages):
        row = {**passage.row, passage.column: done.texts[i]}
        row["mitigation"] = _disposition(i, passage, done)
        if i in found:
            row["text_before"] = passage.text
        lines.append(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    write_atomically(out / TEXTS, "".join(lines))
    write_atomically(out / FACTS, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
    write_atomically(out / REPORT, render(facts, passages, before, done, found))
