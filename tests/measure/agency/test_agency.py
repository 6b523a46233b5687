"""Measures of agency: worked by hand, under symmetries, and against plain loops."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.errors import OptionError
from portrayal.measure.agency.estimates import AGENCY_GAP, AGENCY_SHARE, AGENCY_VARIANCE
from portrayal.measure.agency.strata import strata
from portrayal.measure.agency.texts import (
    NO_GROUP,
    NO_SENTENCE,
    agency_texts,
)
from portrayal.measure.scope import Scope
from portrayal.run import Run, write_parquet
from portrayal.studies.agency import audit as agency

SCOPE = Scope("agency", draws=200, permutations=100, instruments={"classifier": "test"})
NAN = float("nan")


def made(tmp_path, rows, *, by_prompt=False, group=("gender", "race"), stratum=None, **options):
    """A run with these texts; each row has `p`, the agentic probabilities, and its strata."""
    run = Run(tmp_path)
    strata = [{k: v for k, v in row.items() if k not in KEPT} for row in rows]
    ids = [row.get("prompt", f"p{i:04d}") for i, row in enumerate(rows)]
    prompts = dict(zip(ids, strata, strict=True))
    table = {
        "prompt_id": list(prompts),
        "text": [""] * len(prompts),
        "strata": pa.array([list(s.items()) for s in prompts.values()], STRATA),
    }
    tmp_path.mkdir(exist_ok=True)
    write_parquet(pa.table(table), run.prompts_path)
    texts = {
        "text_id": [f"{i:09d}" for i in range(len(rows))],
        "prompt_id": ids,
        "sample": [row.get("sample", 0) for row in rows],
        "model": [row.get("model", "m") for row in rows],
        "outcome": [row.get("outcome", "ok") for row in rows],
    }
    run.texts.begin("t")
    write_parquet(pa.table(texts), run.texts.folder / "part-00000.parquet")
    unit = "prompt" if by_prompt else "prompt strata"
    run.texts.finish("t", {"cluster_unit": unit, "mapping": {}})
    stages = {}
    for masking, shift in (("masked", 0.0), ("unmasked", options.get("shift", 0.0))):
        stage = run.annotations(f"{masking}.v1")
        stage.begin("a")
        p = [None if r["p"] is None else [min(x + shift, 1.0) for x in r["p"]] for r in rows]
        annotated = {
            "text_id": texts["text_id"],
            "agentic": pa.array(p, pa.list_(pa.float32())),
            "checkpoints": pa.nulls(len(p), pa.list_(pa.list_(pa.float32()))),
            "beside": pa.nulls(len(p), pa.list_(pa.float32())),
            "chance": [1.0] * len(p),
            "bare": [row.get("bare", 0) for row in rows],
            "error": pa.array([row.get("error") for row in rows], pa.string()),
        }
        write_parquet(pa.table(annotated), stage.folder / "part-00000.parquet")
        stages[masking] = stage
    return agency_texts(
        run,
        stages,
        group=group,
        strata=(stratum,) if stratum else agency.STRATA,
        spellings={"gender": {"m": "male", "f": "female"}},
        first=agency.FIRST,
    )


STRATA = pa.map_(pa.string(), pa.string())
KEPT = ("p", "bare", "prompt", "sample", "model", "outcome", "error")


def probabilities(n_agentic, n):
    return [0.9] * n_agentic + [0.1] * (n - n_agentic)


def group_of(gender, race, *shares, **more):
    return [{"gender": gender, "race": race, "p": probabilities(k, n), **more} for k, n in shares]


# Gaps 1, 0.5, -0.5, -1: men 1 and 0.5 (White), -0.5 (Black); women -1 (White), ...
BY_HAND = [
    *group_of("male", "White", (4, 4), (3, 4)),
    *group_of("male", "Black", (1, 4), (2, 4)),
    *group_of("female", "White", (2, 4), (0, 4)),
    *group_of("female", "Black", (0, 4), (1, 4)),
]


def values(component, texts, statistic=None, **strata):
    found = {}
    for e in component.run(texts, SCOPE):
        if all(e.strata.get(k) == v for k, v in strata.items()) and statistic in (
            None,
            e.statistic,
        ):
            found[tuple(e.group.values())] = e
    return found


def test_shares_and_gaps_of_groups_worked_by_hand(tmp_path):
    texts = made(tmp_path, BY_HAND)
    gap = values(AGENCY_SHARE, texts, "ratio_gap", masking="masked", stratum="all")
    # White men: gaps 1 and 0.5; Black men: -0.5 and 0; White women: 0, -1; Black women: -1, -0.5.
    assert gap["male", "White"].value == pytest.approx(0.75)
    assert gap["male", "Black"].value == pytest.approx(-0.25)
    assert gap["male",].value == pytest.approx(0.25)
    assert gap["female",].value == pytest.approx(-0.625)
    assert gap["White",].value == pytest.approx(0.125)
    assert gap[()].value == pytest.approx(-0.1875)
    agentic = values(AGENCY_SHARE, texts, "agentic", masking="masked")
    communal = values(AGENCY_SHARE, texts, "communal", masking="masked")
    assert agentic["male", "White"].value == pytest.approx(7 / 8)
    assert communal["male", "White"].value == pytest.approx(1 / 8)
    shares = [e.interval for each in (agentic, communal) for e in each.values() if e.interval]
    assert {min(e.low for e in shares), max(e.high for e in shares)} == {0.0, 1.0}


def test_differences_worked_by_hand(tmp_path):
    gap = values(AGENCY_GAP, made(tmp_path, BY_HAND), masking="masked")
    assert gap["male − female",].value == pytest.approx(0.875)
    assert gap["White − Black",].value == pytest.approx(0.125 + 0.5)
    assert gap["male", "White − Black"].value == pytest.approx(1.0)
    assert gap["male − female", "White"].value == pytest.approx(0.75 + 0.5)
    e = gap["male − female",]
    assert e.interval.low < e.value < e.interval.high
    assert e.null.value == 0.0
    assert len(gap) == 1 + 1 + 6


def test_variances_worked_by_hand(tmp_path):
    found = values(AGENCY_VARIANCE, made(tmp_path, BY_HAND), masking="masked")
    # Percentage points: men 25, women -62.5: 87.5² / 2. White 12.5, Black -50: 62.5² / 2.
    assert found["gender",].value == pytest.approx(87.5**2 / 2)
    assert found["race",].value == pytest.approx(62.5**2 / 2)
    crossed = np.var([75, -25, -50, -75], ddof=1)
    assert found["intersectional",].value == pytest.approx(crossed)
    overall = np.mean([87.5**2 / 2, 62.5**2 / 2, crossed])
    assert found["overall",].value == pytest.approx(overall)
    e = found["race",]
    assert e.details["excess"] == pytest.approx(e.value - e.details["null_mean"])
    assert e.null.low < e.details["null_mean"] < e.null.high
    assert e.null.value == 0.0


def test_a_sentence_that_cannot_be_told_is_left_out_of_its_text(tmp_path):
    rows = [*BY_HAND, {"gender": "male", "race": "White", "p": [0.9, NAN, 0.5, 0.49]}]
    texts = made(tmp_path, rows)
    assert texts.readings["masked"].gap[-1] == pytest.approx(2 * 2 / 3 - 1)  # 0.5 counts as agentic
    assert texts.readings["masked"].unclassed[-1] == 1
    whole = values(AGENCY_SHARE, texts, "ratio_gap", masking="masked")[()]
    assert whole.details["untold_sentences"] == 1


def test_texts_without_a_gap_are_counted_by_reason(tmp_path):
    more = {"gender": "male", "race": "White"}
    rows = [
        *BY_HAND,
        {**more, "p": [NAN]},
        {**more, "p": []},
        {**more, "p": None, "outcome": "refused"},
        {**more, "p": None, "error": "ValueError: no"},
        {"gender": "male", "p": [0.9]},
    ]
    (whole,) = (
        e
        for e in AGENCY_SHARE.run(made(tmp_path, rows), SCOPE)
        if not e.group and e.statistic == "ratio_gap" and e.strata["masking"] == "masked"
    )
    assert whole.n_texts == 8
    assert whole.exclusions == {NO_SENTENCE: 2, "refused": 1, "failed": 1, NO_GROUP: 1}


def test_undefined_says_why(tmp_path):
    rows = group_of("male", "White", (1, 2), (2, 2), (0, 2))
    texts = made(tmp_path, rows)
    for component in (AGENCY_GAP, AGENCY_VARIANCE):
        for e in component.run(texts, SCOPE):
            assert e.value is None
            assert "fewer than two groups" in e.undefined or "no run" in e.undefined


def test_a_group_column_that_no_text_has_is_refused(tmp_path):
    with pytest.raises(OptionError, match=r"--by faith: no text .* gender, race"):
        made(tmp_path, BY_HAND, group=("faith",))


def three_runs(tmp_path, rng, effects=(0.0, 20.0, -30.0), n=30):
    rows = []
    for sample, (i, gender) in product(range(3), enumerate(("a", "b", "c"))):
        for number in range(n):
            k = rng.binomial(20, 0.5 + effects[i] / 200 + 0.02 * sample)
            row = {"prompt": f"{gender}{number}", "sample": sample, "gender": gender}
            rows.append({**row, "age": str(number), "p": probabilities(int(k), 20)})
    return made(tmp_path, rows, by_prompt=True, group=("gender",))


def test_the_variance_is_taken_in_each_run_and_averaged(tmp_path):
    texts = three_runs(tmp_path, np.random.default_rng(0))
    (whole,) = (e for e in AGENCY_VARIANCE.run(texts, SCOPE) if e.strata["masking"] == "masked")
    naive = []
    for run in range(3):
        means = [
            np.mean(
                [
                    100 * g
                    for g, c, r in zip(
                        texts.readings["masked"].gap, texts.cell, texts.run, strict=True
                    )
                    if (c, r) == (cell, run)
                ]
            )
            for cell in range(3)
        ]
        naive.append(np.var(means, ddof=1))
    assert whole.value == pytest.approx(np.mean(naive))
    assert whole.details["sd_between_runs"] == pytest.approx(np.std(naive, ddof=1))
    assert whole.n_clusters == 30  # blocks of prompts alike in age
    assert whole.tests[0].p < 0.05


def test_repetitions_with_too_few_texts_are_one_run(tmp_path):
    texts = three_runs(tmp_path, np.random.default_rng(0), n=4)
    assert set(texts.run.tolist()) == {0}


def test_a_variance_of_equal_groups_lies_inside_its_null(tmp_path):
    rng = np.random.default_rng(4)
    p = []
    for trial in range(40):
        texts = three_runs(tmp_path / str(trial), rng, effects=(0.0, 0.0, 0.0), n=10)
        (whole,) = (e for e in AGENCY_VARIANCE.run(texts, SCOPE) if e.strata["masking"] == "masked")
        assert whole.value > 0.0
        p.append([test.p for test in whole.tests])
        assert (whole.tests[0].p < 0.05) == (whole.interval.low > 0.0)
    both = np.mean(np.array(p) < 0.1, axis=0)
    assert both[0] <= 0.15
    assert both[1] <= 0.25
    p = [each[1] for each in p]
    assert 0.3 <= np.mean(p) <= 0.7


def test_shuffling_stays_within_prompts_that_are_alike(tmp_path):
    """Where all difference is between departments, the null keeps it and no group stands out."""
    rows = []
    for number, (gender, department) in enumerate(product("mf", ("A", "B"))):
        share = 18 if department == "A" else 2
        n = 30 if (gender, department) in (("m", "A"), ("f", "B")) else 10
        for i in range(n):
            k = share + (number + i) % 2
            rows.append({"gender": gender, "department": department, "p": probabilities(k, 20)})
    texts = made(tmp_path, rows, group=("gender",))
    e = values(AGENCY_GAP, texts, masking="masked", stratum="all")["male − female",]
    assert e.value > 0.5
    assert e.null.low > 0.5
    assert e.tests[0].p > 0.05


def test_tables_are_split_by_stratum(tmp_path):
    rows = [dict(row, occupation=name) for name in ("chef", "poet") for row in BY_HAND]
    texts = made(tmp_path, rows)
    split = values(AGENCY_GAP, texts, masking="masked", stratum="poet")
    assert split["male − female",].value == pytest.approx(0.875)
    assert not any(len(key) > 1 for key in split)  # crossed groups are too small there


texts_strategy = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 6)),
    min_size=6,
    max_size=40,
)


@settings(deadline=None, max_examples=25)
@given(texts_strategy)
def test_any_texts_agree_with_plain_loops(tmp_path_factory, found):
    rows = [{"one": a, "two": x, "p": probabilities(k, 6)} for a, x, k in found]
    texts = made(tmp_path_factory.mktemp("run"), rows, group=("one", "two"))
    shares = values(AGENCY_SHARE, texts, "ratio_gap", masking="masked", stratum="all")
    for label in sorted({row["two"] for row in rows}):
        own = [2 * k / 6 - 1 for _, x, k in found if x == label]
        assert shares[label,].value == pytest.approx(np.mean(own))
    variances = values(AGENCY_VARIANCE, texts, masking="masked", stratum="all")
    by_two = [[200 * k / 6 - 100 for _, x, k in found if x == label] for label in "xyz"]
    by_two = [own for own in by_two if own]
    if len(by_two) > 1 and min(map(len, by_two)) > 1:
        naive = np.var([np.mean(own) for own in by_two], ddof=1)
        assert variances["two",].value == pytest.approx(naive, abs=1e-6)
    else:
        assert variances["two",].value is None


def test_numbers_do_not_depend_on_the_order_of_models(tmp_path):
    other = [dict(row, model="b", p=[0.9, 0.9, 0.1]) for row in BY_HAND]
    first = values(AGENCY_GAP, made(tmp_path / "1", BY_HAND), masking="masked")
    both = values(AGENCY_GAP, made(tmp_path / "2", [*other, *BY_HAND]), masking="masked", model="m")
    for key, e in first.items():
        assert both[key].value == pytest.approx(e.value)
        assert both[key].interval == e.interval


def test_places_are_whole_before_strata(tmp_path):
    rows = [dict(row, occupation=name) for name in ("chef", "poet") for row in BY_HAND]
    found = [
        (s.labels["stratum"], s.labels["masking"]) for s in strata(made(tmp_path, rows), SCOPE)
    ]
    both = ("masked", "unmasked")
    assert found == list(product(("all", "chef", "poet"), both))
