"""How often a gate fails a model that has not changed, and one that has, for docs/gating.md.

    python -m benchmarks.gate --gold FILE [--model NAME] [--splits 1000] [--seed 0] [SECTION ...]

Sections: same, planted, enough; all without arguments. FILE holds stories with gold labels.

same     one model's texts are split by sample, prompt by prompt, into base and candidate
planted  shares of prompts are beta distributed in base and candidate, whose ratio is 1.5 times the
         base's, in 15 prompts with 24 texts each
enough   the number of texts that an inconclusive gate names, asked of a model that has not changed
"""

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats as distributions

import portrayal
from benchmarks.calibration import show
from benchmarks.calibration_audits import holding
from portrayal.gating.gate import gate
from portrayal.gating.policy import Policy, Rule
from portrayal.run import Run
from portrayal.run.estimates import Influences
from portrayal.stats.proportions import clopper_pearson
from portrayal.studies.laissez_faire import prompts as study_prompts
from portrayal.types import FloatArray, IntArray

GOLD = {
    f"{slot}_{part}": f"gold_{slot}_{part}"
    for slot in ("subject", "object")
    for part in ("name", "gender")
}
Groups = dict[str, tuple[str, ...]]


def policies(allowed: float) -> dict[str, Policy]:
    """Policies of one, three, twelve and many tests, none skipped but what has no test."""

    def rules(*of: tuple[str, Groups, str]) -> Policy:
        return Policy(
            tuple(
                Rule(
                    str(i),
                    measure,
                    group,
                    {"domain": (where,)},
                    allowed_change=allowed,
                    untestable="skip",
                )
                for i, (measure, group, where) in enumerate(of)
            ),
            passes="no_excess_shown",
        )

    women: Groups = {"gender": ("F",)}
    both: Groups = {"gender": ("F", "M")}
    races: Groups = {"race": ("*",)}
    named = ("representation", "subordination")
    return {
        "women, one domain": rules(("representation", women, "Love")),
        "women, each domain": rules(("representation", women, "*")),
        "genders, both measures": rules(*((name, both, "*") for name in named)),
        "genders and races, both measures": rules(
            *((name, group, "*") for name in named for group in (both, races))
        ),
    }


def kept_texts(path: Path, model: str, folder: Path) -> tuple[Run, list[str]]:
    """Audit one model's texts, each as a prompt of its own, so that a run keeps sums by text.

    Returns the run, and the prompt of each name in its influences.
    """
    rows = [row for row in map(json.loads, path.open(encoding="utf-8")) if row["model"] == model]
    names = {row["prompt"]: f"p{i:03d}" for i, row in enumerate(rows)}
    texts = [{**row, "prompt_id": f"{names[row['prompt']]}#{i}"} for i, row in enumerate(rows)]
    run = portrayal.audit(
        study="laissez-faire",
        texts=texts,
        columns=GOLD,
        out=folder / "texts",
        report=False,
        draws=100,
        permutations=20,
    )
    return run, [label.partition("#")[0] for label in run.influences.labels]


def halves(run: Run, prompts: Sequence[str], splits: int, seed: int) -> Iterable[tuple[Run, Run]]:
    """Yield pairs of runs: the samples of each prompt, split at random into two."""
    rng = np.random.default_rng([seed, 1])
    code = np.unique(prompts, return_inverse=True)[1]
    for _ in range(splits):
        order = np.lexsort((rng.random(len(code)), code))
        first = np.r_[True, np.diff(code[order]) != 0]
        rank = np.arange(len(code)) - np.flatnonzero(first)[np.cumsum(first) - 1]
        turn = rng.integers(0, 2, code.max() + 1)  # the odd one goes to either
        side = np.empty(len(code), dtype=np.int64)
        side[order] = (rank + turn[code[order]]) % 2
        yield summed(run, code, side == 0), summed(run, code, side == 1)


def summed(run: Run, code: IntArray, chosen: FloatArray) -> Run:
    """Return a run of the chosen texts alone, its sums by prompt."""
    kept = run.influences
    n = code.max() + 1
    starts, prompt = [0], []
    columns: list[list[Any]] = [[], [], [], []]
    reasons: list[str | None] = []
    for row in range(len(kept.forms)):
        at = slice(kept.starts[row], kept.starts[row + 1])
        text = kept.prompt[at]
        text, inside = text[chosen[text]], chosen[text]
        found = [np.bincount(code[text], column[at][inside], n) for column in kept.columns]
        there = np.flatnonzero(np.bincount(code[text], minlength=n))
        prompt.append(there)
        for column, values in zip(columns, found, strict=True):
            column.append(values[there])
        starts.append(starts[-1] + len(there))
        reasons.append(kept.reasons[row] if len(there) else "nobody to count")
    made = Influences(
        tuple(map(str, range(n))),
        kept.forms,
        kept.scales,
        tuple(reasons),
        np.array(starts),
        np.concatenate(prompt),
        tuple(map(np.concatenate, columns)),  # type: ignore[arg-type]
    )
    return holding(run.path, run.records, made)


def read_by(run: Run, policy: Policy) -> Run:
    """Return the run with the estimates alone that a policy reads."""
    wanted = {rule.measure for rule in policy.rules}
    rows = [
        i
        for i, e in enumerate(run.records)
        if e.measure in wanted
        and e.group.keys() in ({"gender"}, {"race"})
        and run.influences.reasons[i] is None
    ]
    kept = run.influences
    parts = [np.arange(kept.starts[i], kept.starts[i + 1]) for i in rows]
    at = np.concatenate(parts)
    return holding(
        run.path,
        [run.records[i] for i in rows],
        replace(
            kept,
            forms=tuple(kept.forms[i] for i in rows),
            scales=kept.scales[rows],
            reasons=tuple(kept.reasons[i] for i in rows),
            starts=np.concatenate([[0], np.cumsum([len(part) for part in parts])]),
            prompt=kept.prompt[at],
            columns=tuple(column[at] for column in kept.columns),
        ),
    )


def rate(found: Counter[str], outcome: str) -> str:
    """Say a share with its exact 95 % interval."""
    n, k = found.total(), found[outcome]
    low, high = clopper_pearson(k, n, 0.95)
    return f"{k / n:.3f} ({float(low):.3f} to {float(high):.3f})"


def same(options: argparse.Namespace) -> None:
    """Gates of one model's texts against its own."""
    named = [("none", name, policy) for name, policy in policies(1.0).items()]
    named.append(("a factor of 1.25", *list(policies(1.25).items())[-1]))
    with tempfile.TemporaryDirectory() as folder:
        run, prompts = kept_texts(options.gold, options.model, Path(folder))
        small = read_by(run, named[-1][2])
        found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        tests: dict[tuple[str, str], list[int]] = defaultdict(list)
        for base, candidate in halves(small, prompts, options.splits, options.seed):
            for allowed, name, policy in named:
                verdict = gate(candidate, base, policy)
                found[allowed, name][verdict.outcome] += 1
                tests[allowed, name].append(sum(c.p_beyond is not None for c in verdict.checks))
    head = ("policy", "change allowed", "tests", "fails (95 % interval)", "inconclusive")
    rows = [
        (
            name,
            allowed,
            round(float(np.mean(tests[allowed, name]))),
            rate(found[allowed, name], "fail"),
            rate(found[allowed, name], "inconclusive"),
        )
        for allowed, name, _ in named
    ]
    show(f"{options.splits} splits of {options.model}, level .95", head, rows)


def drawn(
    rng: np.random.Generator,
    prompts: int,
    texts: int,
    share: float,
    times: float,
    icc: float,
    *,
    shared: bool,
) -> list[tuple[FloatArray, FloatArray]]:
    """Counts and totals of a group by prompt: base, and a candidate of `times` its share."""
    total, first = 1.0 / icc - 1.0, rng.random(prompts)
    second = first if shared else rng.random(prompts)
    shares = [
        distributions.beta.ppf(at, each * total, (1.0 - each) * total)
        for at, each in ((first, share), (second, share * times))
    ]
    n = np.full(prompts, float(texts))
    return [(rng.binomial(texts, each).astype(float), n) for each in shares]


def runs_of(
    settings: Run, sides: Sequence[tuple[FloatArray, FloatArray]], share: float
) -> list[Run]:
    """Return runs of one estimate each, the representation of a group."""
    (template,) = [
        e
        for e in settings.records
        if e.measure == "representation.v1"
        and e.group == {"gender": "F"}
        and e.strata["domain"] == "Learning"
        and e.strata["model"] != "all"
    ]
    made = []
    for count, total in sides:
        value = float(count.sum() / total.sum() / share)
        record = replace(template, value=value, n_texts=int(total.sum()))
        none = np.full(len(count), np.nan)
        kept = Influences(
            tuple(map(str, range(len(count)))),
            ("mean",),
            np.array([1.0 / share]),
            (None,),
            np.array([0, len(count)]),
            np.arange(len(count)),
            (count, total, none, none),
        )
        made.append(holding(settings.path, [record], kept))
    return made


RULE = Rule("women", "representation", {"gender": ("F",)}, allowed_change=1.0)
SHARE, ICC = 0.5, 0.18  # of women in the census, and how alike texts of a prompt are
PROMPTS, SAMPLES = 15, 24


def planted(options: argparse.Namespace) -> None:
    """Gates of a candidate whose ratio is 1.5 times the base's."""
    policy = Policy((RULE,), passes="no_excess_shown")
    with tempfile.TemporaryDirectory() as folder:
        settings = a_run(Path(folder))

        def rows() -> Iterable[tuple[object, ...]]:
            for times in (1.0, 1.5):
                for shared in (True, False):
                    rng = np.random.default_rng([options.seed, 2, int(shared)])
                    found: Counter[str] = Counter()
                    for _ in range(options.splits):
                        sides = drawn(rng, PROMPTS, SAMPLES, SHARE, times, ICC, shared=shared)
                        base, candidate = runs_of(settings, sides, SHARE)
                        found[gate(candidate, base, policy).outcome] += 1
                    yield times, "the same" if shared else "others", rate(found, "fail")

        head = ("times the base", "prompts that favour the group", "fails (95 % interval)")
        show(f"{PROMPTS} prompts × {SAMPLES} texts", head, rows())


def enough(options: argparse.Namespace) -> None:
    """Gates with the number of texts that an inconclusive one names, nothing changed."""
    prompts, samples = 15, 10
    policy = Policy((replace(RULE, allowed_change=1.25),))
    with tempfile.TemporaryDirectory() as folder:
        settings = a_run(Path(folder))
        rng = np.random.default_rng([options.seed, 3])
        first: Counter[str] = Counter()
        then: Counter[str] = Counter()
        asked = []
        for _ in range(options.splits):
            base, candidate = runs_of(
                settings, drawn(rng, prompts, samples, SHARE, 1.0, ICC, shared=True), SHARE
            )
            verdict = gate(candidate, base, policy)
            first[verdict.outcome] += 1
            if verdict.needed is not None:
                asked.append(verdict.needed.prompts)
        n = int(np.median(asked))
        for _ in range(options.splits):
            base, candidate = runs_of(
                settings, drawn(rng, n, samples, SHARE, 1.0, ICC, shared=True), SHARE
            )
            then[gate(candidate, base, policy).outcome] += 1
    head = ("prompts", "passes (95 % interval)", "fails")
    rows = [
        (prompts, rate(first, "pass"), rate(first, "fail")),
        (f"{n}, the median of those named", rate(then, "pass"), rate(then, "fail")),
    ]
    show(f"Women within a factor of 1.25, {samples} texts a prompt", head, rows)


def a_run(folder: Path) -> Run:
    """A small run of the study, whose settings the drawn ones borrow."""
    she = "Maria was a star student. She won."
    names = [p.prompt_id for p in study_prompts() if p.prompt_id.startswith("learning-neutral")]
    texts = [{"prompt_id": name, "text": she} for name in names]
    return portrayal.audit(study="laissez-faire", texts=texts, out=folder / "run", report=False)


SECTIONS = {"same": same, "planted": planted, "enough": enough}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=[])
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--model", default="ChatGPT4")
    parser.add_argument("--splits", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in options.sections or SECTIONS:
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
