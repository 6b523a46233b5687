"""Scores of two files, against plain recomputations and by simulation."""

import json
import re

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

import portrayal
from command import invoke
from portrayal.errors import DataError, OptionError


def answers(accuracy, seed, difficulty, correlation=0.6):
    """Whether each sample is answered rightly, with a liability of its own on both sides."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=len(difficulty))
    liability = np.sqrt(correlation) * difficulty + np.sqrt(1 - correlation) * noise
    return (liability < stats.norm.ppf(accuracy)).astype(int)


def table(values, **columns):
    return [
        {"id": i, "accuracy": value, **{name: x[i] for name, x in columns.items()}}
        for i, value in enumerate(np.asarray(values).tolist())
    ]


@pytest.fixture(scope="module")
def logs():
    """Accuracies of about .70 and .74 in 1,000 samples, correlated by about .6."""
    difficulty = np.random.default_rng(0).normal(size=1000)
    return answers(0.70, 1, difficulty, 0.8), answers(0.74, 2, difficulty, 0.8)


def compared(a, b, **options):
    (row,) = portrayal.compare(a, b, score="accuracy", **options).rows
    return row


def test_pairs_are_compared_as_by_a_paired_t_test(logs):
    first, second = logs
    assert 0.5 < np.corrcoef(first, second)[0, 1] < 0.7
    shuffled = [table(second)[i] for i in np.random.default_rng(3).permutation(1000)]
    row = compared(table(first), shuffled, margin=0.06)
    plain = stats.ttest_rel(second, first)
    assert row.change == pytest.approx(second.mean() - first.mean())
    assert row.p == pytest.approx(plain.pvalue)
    assert (row.low, row.high) == pytest.approx(tuple(plain.confidence_interval()))
    assert row.p_equivalent == pytest.approx(ttost_paired(second, first, -0.06, 0.06)[0])
    assert (row.yes_a, row.yes_b, row.n_a) == (first.sum(), second.sum(), 1000)
    spread = (second - first).std(ddof=1)
    assert row.detectable == pytest.approx(
        TTestPower().solve_power(nobs=1000, alpha=0.05, power=0.8) * spread, rel=0.01
    )


def test_clusters_of_one_size_are_compared_by_their_means(logs):
    first, second = logs
    topic = np.arange(1000) % 20
    row = compared(table(first, topic=topic), table(second, topic=topic), cluster="topic")
    means = [(second - first)[topic == t].mean() for t in range(20)]
    plain = stats.ttest_1samp(means, 0.0)
    assert row.p == pytest.approx(plain.pvalue)
    assert (row.low, row.high) == pytest.approx(tuple(plain.confidence_interval()))
    assert row.n_prompts == 20


def test_lopsided_clusters_have_the_error_of_a_clustered_regression(logs):
    first, second = logs
    topic = (np.sqrt(np.arange(1000)) * 2).astype(int)
    row = compared(table(first, topic=topic), table(second, topic=topic), cluster="topic")
    fit = OLS(second - first, np.ones(1000)).fit(cov_type="cluster", cov_kwds={"groups": topic})
    assert row.change == pytest.approx(fit.params[0])
    assert (row.high - row.low) / (2 * fit.bse[0]) == pytest.approx(2.0, abs=0.1)


def test_other_samples_are_compared_as_two_samples(logs):
    first, second = logs
    other = [row | {"id": f"other {row['id']}"} for row in table(second[:700])]
    found = portrayal.compare(table(first), other, score="accuracy")
    (row,) = found.rows
    # The variance is Welch's, or the pooled one where that is larger
    either = [stats.ttest_ind(second[:700], first, equal_var=pooled) for pooled in (False, True)]
    plain = max(either, key=lambda test: test.pvalue)
    assert not row.paired
    assert row.p == pytest.approx(plain.pvalue, rel=0.02)
    assert (row.low, row.high) == pytest.approx(tuple(plain.confidence_interval()), rel=0.02)
    assert any("not paired, compared as two samples" in note for note in found.notes)


def test_epochs_are_averaged_within_their_sample(logs):
    first, second = logs
    epochs = [row for row in table(first) for _ in range(3)]
    assert compared(epochs, table(second)).p == pytest.approx(
        compared(table(first), table(second)).p
    )
    found = portrayal.compare(epochs, table(second), score="accuracy")
    assert found.rows[0].n_a == 3000
    assert "`accuracy`: 3,000 and 1,000 answers, averaged by sample" in found.notes


def test_what_is_missing_or_no_number_is_counted(logs):
    first, second = (table(x) for x in logs)
    for i, cell in enumerate((None, "", float("nan"), "unknown", "yes", "C", "incorrect")):
        first[i]["accuracy"] = cell
    found = portrayal.compare(first, second[:990], score="accuracy")
    (row,) = found.rows
    assert (row.missing_a, row.unread_a, row.missing_b) == (3, 1, 0)
    assert (row.n_samples, row.n_only_a, row.n_only_b) == (986, 10, 4)
    notes = " ".join(found.notes)
    assert "values missing: 3 in A and 0 in B" in notes
    assert "neither a number nor yes or no, left out: 1 in A" in notes


def test_samples_are_paired_by_what_names_most_of_them():
    rng = np.random.default_rng(1)
    rows = [
        {"sample": k, "prompt": f"question {i}", "accuracy": float(rng.normal())}
        for i in range(30)
        for k in range(4)
    ]
    found = portrayal.compare(rows, rows[::-1], score="accuracy")
    assert "paired by `prompt`" in found.notes
    assert found.rows[0].n_samples == 30
    by_sample = portrayal.compare(rows, rows, score="accuracy", pair_by="sample")
    assert by_sample.rows[0].n_samples == 4


def test_nothing_that_differs_has_no_test(logs):
    found = portrayal.compare(table(logs[0]), table(logs[0]), score="accuracy")
    assert found.rows[0].low is None
    assert "no test, as both sides have the same sums in every sample" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": "other"}, "there is no column 'other'; found 'id', 'accuracy'"),
        ({"score": "word"}, "no value of 'word' is a number or yes or no, such as 'hm'"),
        ({"score": "accuracy", "pair_by": "word2"}, "no column 'word2'"),
        ({"score": "accuracy", "cluster": "topic"}, "no column 'topic'"),
        ({"score": "accuracy", "margin": -1.0}, "the margin of a score is 0 or more"),
        ({"cluster": "id"}, "go with score"),
        ({}, "name a column: --score"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_line(logs, options, words):
    first, second = (table(x, word=["hm"] * 1000) for x in logs)
    with pytest.raises((DataError, OptionError), match=words):
        portrayal.compare(first, second, **options)


def worlds(effect, n_worlds, clusters=0):
    """Share of worlds of 60 samples in which a difference is found; by 12 lopsided clusters."""
    rng = np.random.default_rng(7)
    topic = np.repeat(np.arange(12), [1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 12]).tolist()
    hits = 0
    for _ in range(n_worlds):
        shared = rng.normal(size=60)
        first, second = shared + rng.normal(size=(2, 60)) * 0.8
        if clusters:
            second = second + 0.5 * rng.normal(size=12)[topic]
        rows = [table(x, topic=topic) for x in (first, second + effect)]
        hits += compared(*rows, cluster="topic" if clusters else None).p < 0.05
    return hits / n_worlds


def test_no_difference_is_found_in_one_world_in_twenty():
    assert worlds(0.0, 1000) <= 0.065
    assert worlds(0.0, 1000, clusters=12) <= 0.065


def test_a_difference_of_the_size_that_is_named_is_found_in_four_worlds_of_five():
    detectable = stats.norm.ppf([0.975, 0.8]).sum() * 0.8 * np.sqrt(2 / 60)
    assert 0.75 <= worlds(detectable, 400) <= 0.85


def test_the_command_begins_with_the_sentence(logs, tmp_path):
    for name, values in zip(("old", "new", "third"), (*logs, logs[0]), strict=True):
        rows = [json.dumps(row | {"tokens": row["id"] % 7}) for row in table(values)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    old, new, third = (str(tmp_path / f"{name}.jsonl") for name in ("old", "new", "third"))
    first, second = logs
    text = invoke("compare", old, new, "--score", "accuracy").stdout
    points = 100 * (second.mean() - first.mean())
    assert text.startswith(
        f"old.jsonl is right in {first.sum()} of 1,000, new.jsonl in {second.sum()}: "
        f"{points:.3g} points more ("
    )
    facts = json.loads(
        invoke("compare", old, new, "--score", "accuracy", "--format", "json").stdout
    )
    assert facts["comparisons"][0]["changes"][0]["p"] == pytest.approx(
        stats.ttest_rel(second, first).pvalue
    )
    several = invoke("compare", old, new, third, "--score", "accuracy", "--score", "tokens")
    assert "third.jsonl" in several.stdout


def test_columns_within_columns_and_partly_right_answers_are_scores(tmp_path):
    for name, marks in (("old", "CPICCC"), ("new", "CCPCCP")):
        rows = [{"id": i, "metadata": {"mark": mark}} for i, mark in enumerate(marks)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = portrayal.compare(tmp_path / "old.jsonl", tmp_path / "new.jsonl", score="metadata.mark")
    assert (found.rows[0].value_a, found.rows[0].value_b) == pytest.approx((4.5 / 6, 5 / 6))


def test_logs_of_known_tools_are_paired_by_their_samples(tmp_path):
    for name, right in (("old", 20), ("new", 31)):
        rows = [
            {
                "doc_id": i,
                "doc": {"question": f"q{i}"},
                "target": "a",
                "arguments": [[f"q{i}", " a"]],
                "resps": [["a"]],
                "filtered_resps": ["a"],
                "doc_hash": str(i),
                "acc": float((7 * i) % 40 < right),
            }
            for i in range(40)
        ]
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / f"samples_{name}.jsonl").write_text(text, encoding="utf-8")
    found = portrayal.compare(
        tmp_path / "samples_old.jsonl", tmp_path / "samples_new.jsonl", score="acc"
    )
    (row,) = found.rows
    assert (row.yes_a, row.yes_b, row.n_samples, row.paired) == (20, 31, 40, True)
    assert row.change == pytest.approx(11 / 40)


def test_of_a_folder_the_files_with_the_score_are_read(tmp_path, caplog):
    caplog.set_level("INFO", "portrayal")
    for task, metric in (("arc", "acc"), ("mmlu", "acc"), ("triviaqa", "exact_match")):
        rows = [
            {
                "doc_id": i,
                "doc": {"question": f"{task} {i}", task: i},
                "arguments": [[f"{task} {i}", " a"]],
                "resps": [["a"]],
                metric: i % 2,
            }
            for i in range(30)
        ]
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / f"samples_{task}.jsonl").write_text(text, encoding="utf-8")
    (row,) = portrayal.compare(tmp_path, tmp_path, score="acc").rows
    # Samples of two tasks, though both number theirs from 0
    assert (row.n_samples, row.yes_a) == (60, 30)
    assert "samples_triviaqa.jsonl: left out, as it has no column acc" in caplog.text
    words = (
        r"no file has f1 \(.*samples_arc.jsonl: no column f1; .*samples_mmlu.jsonl: no column f1;"
    )
    with pytest.raises(DataError, match=words):
        portrayal.compare(tmp_path, tmp_path, score="f1")
    with pytest.raises(DataError, match="Name one, or a --score"):
        portrayal.audit(tmp_path)


def test_a_few_answers_that_are_all_wrong_by_chance_do_not_differ_from_many():
    many, few = [{"right": int(i < 18)} for i in range(600)], [{"right": 0}] * 60
    (row,) = portrayal.compare(many, few, score="right").rows
    assert stats.fisher_exact([[18, 582], [0, 60]]).pvalue > 0.3
    assert row.p is not None
    assert row.p > 0.05


def test_positive_ends_of_differences_have_a_plus_as_in_audits(tmp_path):
    for name, seed in (("old", 1), ("new", 2)):
        grades = np.random.default_rng(seed).normal(6, 1, 80).round(2)
        rows = [{"id": i, "grade": grade, "right": grade > 6} for i, grade in enumerate(grades)]
        (tmp_path / f"{name}.jsonl").write_text(
            "\n".join(json.dumps(r, default=bool) for r in rows)
        )
    old, new = (str(tmp_path / f"{name}.jsonl") for name in ("old", "new"))
    text = invoke("compare", old, new, "--score", "grade", "--score", "right").stdout
    intervals = re.findall(r"(−[\d.]+) to (\S+)", text)
    assert len(intervals) == 4  # of both scores, in the sentence and in the table
    assert all(high.startswith("+") for _, high in intervals)
