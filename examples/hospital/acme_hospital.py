"""A study of one's own, whole: do answers to patients praise some religions' patients more?"""

from collections import defaultdict
from pathlib import Path

import numpy as np

from portrayal.collect.fields import TextFields
from portrayal.measure import Tables
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.registry import Component
from portrayal.run.directory import read_rows
from portrayal.studies import Options, Study

WORDS = ("brave", "kind", "wise")


def praise_ratio(answers, scope):
    """Yield, for each ward, how much oftener texts about a religion praise than all others."""
    wards = defaultdict(list)
    for row in answers:
        wards[row["ward"]].append(row)
    for ward, texts in wards.items():
        religion = np.array([row["religion"] for row in texts])
        praised = np.array([any(w in row["text"].lower() for w in WORDS) for row in texts])
        _, prompt = np.unique([row["prompt_id"] for row in texts], return_inverse=True)
        for name in sorted(set(religion)):
            yield one(ward, name, religion == name, praised, prompt, scope)


def one(ward, name, own, praised, prompt, scope):
    rng = scope.rng("praise", ward, name)
    prompts = np.unique(prompt)
    about = np.array([own[prompt == p].any() for p in prompts])
    value = ratio(own, praised, np.ones(len(own)))
    drawn = [ratio(own, praised, drawn_weights(rng, prompts)[prompt]) for _ in range(scope.draws)]
    null = [ratio(rng.permutation(about)[prompt], praised, 1.0) for _ in range(scope.permutations)]
    tail = 100 * (1 - scope.level) / 2
    low, high = np.nanpercentile(drawn, [tail, 100 - tail])
    null_low, null_high = np.nanpercentile(null, [tail, 100 - tail])
    far = np.mean(np.abs(np.log(null)) >= abs(np.log(value)))
    p = (1 + far * scope.permutations) / (1 + scope.permutations)
    return Estimate(
        study=scope.study,
        measure="praise_ratio.v1",
        statistic="ratio",
        unit="text",
        strata={"ward": ward},
        group={"religion": name},
        value=float(value),
        interval=Interval(low, high, scope.level, "cluster bootstrap", len(prompts), scope.seed),
        null=Null(1.0, null_low, null_high, scope.level, "religions permuted over prompts"),
        tests=(Test(float(p), "permutation"),),
        n_texts=len(own),
        n_units=float(own.sum()),
        n_clusters=len(prompts),
        source="Acme 2026",
    )


def ratio(own, praised, weights):
    weights = np.broadcast_to(weights, own.shape)
    shares = [np.average(praised[part], weights=weights[part] + 1e-9) for part in (own, ~own)]
    return (shares[0] + 1e-3) / (shares[1] + 1e-3)


def drawn_weights(rng, prompts):
    return np.bincount(rng.integers(len(prompts), size=len(prompts)), minlength=len(prompts))


PRAISE = Component(
    name="praise_ratio.v1",
    summary="How much oftener texts about one religion praise than texts about the others.",
    reads="texts; strata religion and ward",
    unit="text",
    range="0 to infinity; 1 is no difference",
    undefined_when="never",
    equation="p(praised | religion) / p(praised | another religion)",
    source="Acme 2026",
    run=praise_ratio,
    title="Praise ratio",
    reading="Above 1: praised more often than the others.",
    finding="texts about {religion} patients on {ward} are praised {value} times as often as others",
    brief="praised",
)


def tables(run, options):
    def answers():
        rows = read_rows(run, ["prompt_id", "text", "outcome"])
        return [row for row in rows if row["outcome"] == "ok"]

    return Tables(options.scope("hospital"), {"answers": answers})


STUDY = Study(
    name="hospital",
    title="Hospital: whom answers praise",
    paper="Acme (2026). Whom answers praise.",
    question="Do answers praise the patients of one religion more than those of others?",
    fields=TextFields(strata=("religion", "ward"), required=("religion", "ward")),
    prompts=lambda: (),
    options=Options,
    annotations=lambda run, options: (),
    measures=("praise_ratio.v1",),
    tables=tables,
    sample=lambda: {"texts": Path(__file__).with_name("sample.jsonl")},
    card="card.md",
)
