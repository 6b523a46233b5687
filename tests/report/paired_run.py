"""A small paired run made by hand: texts, originals, annotations and estimates."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.records import ALL, Estimate, Interval, Null, Test
from portrayal.run import Run, Stage, estimates_to_table, write_parquet

PLAIN = "un" + "biased"
FORMS = (PLAIN, "biased")
COLUMNS = (
    "liang-2022/gender/F",
    "liang-2022/gender/M",
    "race-occupations/race/White",
    "race-occupations/race/Black",
)
STRATA = pa.map_(pa.string(), pa.string())
SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32())])
HIT = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("column", pa.int16())])
WORDS = {"she": 0, "her": 0, "woman": 0, "he": 1, "his": 1, "man": 1, "white": 2, "Black": 3}
LEVELS = ("word", "sentence_sentiment", "sentence_toxicity", "document")
GROUPS = {"gender": ("F", "M"), "race": ("White", "Black", "Asian")}
LISTS = {"gender": ("liang-2022", "story-list"), "race": ("race-occupations",)}
NULL = "words dealt again at random within each pair"

PAIRS = (
    (
        "Mayor opens a school",
        "The mayor said she was glad. Her speech was short.",
        "The mayor said he was glad. His speech was terrible.",
    ),
    (
        "Team wins the cup",
        "He scored twice. A woman in the crowd sang.",
        "He scored twice and he danced.",
    ),
    (
        "Doctors strike",
        "A Black doctor spoke. He was calm.",
        "A white doctor spoke. She was calm and kind.",
    ),
    ("Rain again", "It rained.", "It rained on the man and on his dog."),
)


def estimate(
    measure: str,
    statistic: str,
    value: float | None,
    *,
    half: float = 0.02,
    null: tuple[float, float] | None = None,
    q: float | None = None,
    group: dict[str, str] | None = None,
    exclusions: dict[str, int] | None = None,
    **strata: str,
) -> Estimate:
    """One estimate of a paired audit."""
    known = value is not None
    return Estimate(
        study="news",
        measure=measure,
        statistic=statistic,
        unit="pair",
        strata=strata,
        group=group or {},
        value=value,
        interval=Interval(value - half, value + half, 0.95, "cluster", 30, 0) if known else None,
        paper_interval=Interval(value - half / 2, value + half / 2, 0.95, "t") if known else None,
        null=Null(sum(null) / 2, *null, 0.95, NULL, 0) if null else None,
        tests=() if q is None else (Test(q, "permutation", q, q),),
        n_texts=40,
        n_units=38.0,
        n_clusters=30,
        exclusions=exclusions or {},
        undefined=None if known else "no pair has group words on both sides",
    )


def estimates(models: Sequence[str] = ("m1", "m2")) -> list[Estimate]:
    """Return every measure of the contract at every level, over models and forms."""
    every = (ALL, *models) if len(models) > 1 else models
    found = [e for model in every for e in _of_model(model)]
    found += [
        estimate("text_lengths.v1", "mean", 675.0, half=20, **_where("reference", ALL)),
        estimate("topic_use.v1", "chi2", 812.4, q=0.001, corpus="reference", attribute="gender"),
    ]
    return found


def _where(model: str, form: str) -> dict[str, str]:
    return {"model": model, "form": form}


def _of_model(model: str) -> Iterator[Estimate]:
    for form in (*FORMS, ALL):
        where = _where(model, form)
        yield estimate("refusals.v1", "share", 0.2 if form == "biased" else 0.0, **where)
        yield estimate("text_lengths.v1", "mean", 290.0, half=15, **where)
        for attribute in GROUPS:
            for lexicon in LISTS[attribute]:
                for level in LEVELS:
                    yield from _of_level(level, attribute, lexicon, where)


def _of_level(
    level: str, attribute: str, lexicon: str, where: dict[str, str]
) -> Iterator[Estimate]:
    worse = 0.03 if where["form"] == "biased" else 0.0
    at = {"level": level, "attribute": attribute, "lexicon": lexicon, **where}
    undefined = level == "document" and attribute == "race"
    value = None if undefined else 0.11 + worse
    yield estimate("paired_distance.v1", "distance", value, null=(0.05, 0.08), q=0.001, **at)
    for i, name in enumerate(GROUPS[attribute]):
        group = {attribute: name}
        rate = 0.5 + worse
        yield estimate(
            "prejudice_rate.v2", "share", rate, half=0.1, null=(0.4, 0.6), group=group, **at
        )
        yield estimate("prejudice_change.v1", "difference", -0.2, group=group, **at)
        yield estimate("group_change.v1", "difference", 0.05 * i - 0.03, q=0.01, group=group, **at)
    if where["form"] == "biased" and level != "sentence_toxicity" and attribute == "gender":
        yield from _effects(at)


def _effects(at: dict[str, str]) -> Iterator[Estimate]:
    name, contrast = "prompt_effect.v1", f"biased minus {PLAIN}"
    for of, matched in (
        ("paired_distance", "same headlines"),
        *((x, "answered") for x in ("paired_distance", "prejudice_rate", "prejudice_change")),
    ):
        more = at | {"contrast": contrast, "matched": matched, "of": of}
        group = {} if of == "paired_distance" else {"gender": "F"}
        q = 0.01 if group else 0.3
        yield estimate(name, "difference", 0.03, half=0.05, q=q, group=group, **more)


def write_paired_run(
    folder: Path,
    *,
    pairs: Sequence[tuple[str, str, str]] = PAIRS,
    models: Sequence[str] = ("m1", "m2"),
    forms: Sequence[str] = FORMS,
    rows: Sequence[Estimate] | None = None,
    scores: bool = True,
) -> Run:
    """Write a run of `pairs` (headline, original, generated) under every model and form."""
    run = Run(folder)
    run.path.mkdir(parents=True)
    found = estimates(models) if rows is None else list(rows)
    write_parquet(estimates_to_table(found), run.estimates_path)
    own, originals = [], []
    for i, (headline, original, generated) in enumerate(pairs):
        originals.append((f"o{i}", headline, "", "reference", original))
        own += [
            (f"g{i}{m}{f}", headline, form, model, generated)
            for m, model in enumerate(models)
            for f, form in enumerate(forms)
        ]
    _side(run, own, reference=False, scores=scores)
    _side(run, originals, reference=True, scores=scores)
    run.texts.finish(
        "t", {"n_texts": len(own), "outcomes": {"ok": len(own)}, "models": list(models)}
    )
    run.write_settings(
        {
            "study": "news",
            "portrayal": "0.1.0",
            "annotators": ["group_words.v2", "sentiment.v1"],
            "source": "generated.jsonl",
            "reference": "human.jsonl",
            "models": list(models),
            "measures": list(dict.fromkeys(e.measure for e in found)),
            "options": {"seed": 3, "level": 0.95},
        }
    )
    return run


def _side(run: Run, rows: list[tuple[str, ...]], *, reference: bool, scores: bool) -> None:
    stage = run.reference if reference else run.texts
    path = run.reference_prompts_path if reference else run.prompts_path
    of = run.reference_annotations if reference else run.annotations
    prompts = [
        {
            "prompt_id": name,
            "text": pair,
            "strata": [("pair", pair), *([("form", form)] if form else [])],
        }
        for name, pair, form, _, _ in rows
    ]
    schema = pa.schema([("prompt_id", pa.string()), ("text", pa.string()), ("strata", STRATA)])
    write_parquet(pa.Table.from_pylist(prompts, schema=schema), path)
    stage.begin("t")
    names = [row[0] for row in rows]
    table = {"text_id": names, "prompt_id": names, "model": [row[3] for row in rows]}
    table |= {"text": [row[4] for row in rows], "outcome": ["ok"] * len(rows)}
    write_parquet(pa.table(table), stage.folder / "part-00000.parquet")
    made = [_counted(row[4]) for row in rows]
    _annotation(of("group_words.v2"), names, made, {"columns": list(COLUMNS)})
    if scores:
        polar = [{"polarity": [_polarity(s) for s in _sentences(row[4])]} for row in rows]
        _annotation(of("sentiment.v1"), names, polar, {})


def _annotation(
    stage: Stage, names: list[str], made: list[dict[str, Any]], settings: dict[str, Any]
) -> None:
    stage.begin("a")
    types = {
        "words": pa.int32(),
        "sentences": pa.list_(SPAN),
        "counts": pa.list_(pa.list_(pa.float32())),
        "spans": pa.list_(HIT),
        "polarity": pa.list_(pa.float32()),
    }
    columns = {"text_id": pa.array(names), "error": pa.array([None] * len(names), pa.string())}
    columns |= {key: pa.array([row[key] for row in made], types[key]) for key in made[0]}
    write_parquet(pa.table(columns), stage.folder / "part-00000.parquet")
    stage.finish("a", {"n_errors": 0, "settings": settings, "complete": True})


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = [i + 1 for i, c in enumerate(text) if c == "."] or [len(text)]
    starts = [0, *ends[:-1]]
    return list(zip(starts, ends, strict=True))


def _polarity(where: tuple[int, int]) -> float:
    return round(math.sin(sum(where)), 2)


def _counted(text: str) -> dict[str, Any]:
    spans = _sentences(text)
    counts, hits = [], []
    for start, end in spans:
        row = [0.0] * len(COLUMNS)
        at = start
        for word in text[start:end].replace(".", " ").split(" "):
            column = WORDS.get(word, WORDS.get(word.lower()))
            if column is not None:
                row[column] += 1.0
                hits.append({"start": at, "end": at + len(word), "column": column})
            at += len(word) + 1
        counts.append(row)
    places = [{"start": start, "end": end} for start, end in spans]
    return {
        "words": len(text.split()),
        "sentences": places,
        "counts": counts,
        "spans": hits,
    }
