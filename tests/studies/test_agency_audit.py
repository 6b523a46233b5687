"""The agency audit: options, the user's own groups, both maskings, and the sample."""

import json

import numpy as np
import pytest

import portrayal
from command import invoke
from portrayal.annotate.agency.linear import WordScores, write_linear
from portrayal.annotate.agency.loading import classifier_label
from portrayal.collect.fields import map_columns
from portrayal.errors import DataError, OptionError, PortrayalError
from portrayal.report.view import clusters_of
from portrayal.run.estimates import flatten_estimates
from portrayal.studies.agency.audit import FIELDS, STUDY, AgencyOptions, known_prompts

FAST = {"draws": 100, "permutations": 40, "report": False}
ACTS = "They founded a company and won the award. They lead the team."
CARES = "They support their friends. They care for the neighbours with kindness."


@pytest.fixture(scope="module")
def run(sample_runs):
    return sample_runs("agency")


def _given(found):
    return dict(found)


def test_the_sample_is_24_biographies_of_four_groups_by_a_language_model():
    rows = [json.loads(line) for line in STUDY.sample()["texts"].read_text("utf-8").splitlines()]
    groups = {}
    for row in rows:
        groups[row["race"], row["gender"]] = groups.get((row["race"], row["gender"]), 0) + 1
        assert "language model" in row["written_by"]
        assert row["name"] in row["text"]
    assert len(groups) == 4
    assert set(groups.values()) == {6}


def test_both_maskings_stand_side_by_side(run):
    records = [e for e in run.records if e.strata["stratum"] == "all"]
    by_masking = {
        masking: {
            (e.measure, e.statistic, *e.group.items())
            for e in records
            if e.strata["masking"] == masking
        }
        for masking in ("masked", "unmasked")
    }
    assert by_masking["masked"] == by_masking["unmasked"]
    assert records[0].strata["masking"] == "masked"
    (name,) = {e.strata["classifier"] for e in records}
    assert name.startswith("linear")
    assert ".v" in name
    assert {e.strata["stratum"] for e in run.records} == {"all", "chef", "writer", "athlete"}


def test_no_number_depends_on_shards_or_workers(run, tmp_path):
    same = FAST | {"draws": 200, "permutations": 40}
    other = portrayal.audit(
        study="agency", out=tmp_path / "r", shard_rows=5, **same, **STUDY.sample()
    )
    assert other.records == run.records


def own_texts(group, values, n=12):
    return [
        {"text": ACTS if (i + j) % 3 else CARES, group: value, "unit": "ab"[i % 2]}
        for j, value in enumerate(values)
        for i in range(n)
    ]


def test_groups_are_columns_of_the_users_own(tmp_path):
    rows = own_texts("First Language", ("Dutch", "Turkish", "Arabic"))
    run = portrayal.audit(
        study="agency",
        texts=rows,
        out=tmp_path / "r",
        by=("First Language",),
        stratum="unit",
        **FAST,
    )
    groups = {tuple(e.group) for e in run.records}
    assert groups == {(), ("First Language",), ("attribute",)}
    assert {e.strata["stratum"] for e in run.records} == {"all", "a", "b"}
    assert {e.strata["task"] for e in run.records} == {"all"}
    (variance,) = (
        e
        for e in run.records
        if e.measure == "agency_variance.v1"
        and (e.strata["stratum"], e.strata["masking"]) == ("all", "masked")
    )
    assert variance.group == {"attribute": "First Language"}
    assert variance.n_clusters == 36


def test_a_group_that_no_text_has_is_refused_in_words(tmp_path):
    rows = own_texts("gender", ("f", "m"))
    with pytest.raises(OptionError, match=r"--by faith: no text has a value"):
        portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", by=("faith",), **FAST)
    assert not list((tmp_path / "r").glob("annotations/*"))  # refused before any text is read
    with pytest.raises(OptionError, match=r"no column gender or race\. Name the column"):
        portrayal.audit(study="agency", texts=[{"text": ACTS}], out=tmp_path / "q", **FAST)


def undefined(run, measure):
    return {
        e.undefined
        for e in run.records
        if e.measure == measure and e.value is None and e.strata["stratum"] == "all"
    }


def test_one_group_alone_has_a_level_and_no_difference(tmp_path):
    run = portrayal.audit(
        study="agency",
        texts=own_texts("gender", ("f",)),
        out=tmp_path / "r",
        **{**FAST, "report": True},
    )
    shares = [e for e in run.records if e.measure == "agency_share.v1" and e.group]
    assert {e.group["gender"] for e in shares} == {"female"}
    assert all(e.value is not None for e in shares)
    reason = {"fewer than two groups of gender have texts"}
    assert undefined(run, "agency_gap.v1") == undefined(run, "agency_variance.v1") == reason
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "fewer than two groups of gender have texts" in page
    for title in ("Differences between groups", "Variance between groups"):
        assert f"<strong>{title}.</strong> <bdi>Nothing could be measured" in page


@pytest.mark.parametrize(
    "texts",
    [
        ("", "  ", ""),
        ("Она помогает людям.", "彼はチームを率いた。", "Sie leitet die Firma."),
        ("... 12.",),
    ],
)
def test_texts_without_a_sentence_that_can_be_told_give_no_number(tmp_path, texts):
    rows = [{"text": text, "gender": value} for text in texts for value in ("f", "m")]
    run = portrayal.audit(
        study="agency", texts=rows, out=tmp_path / "r", **{**FAST, "report": True}
    )
    assert all(e.value is None for e in run.records)
    reason = {"no text of this group with a sentence that the classifier can tell"}
    assert undefined(run, "agency_share.v1") == reason
    (whole,) = (
        e
        for e in run.records
        if e.statistic == "ratio_gap" and not e.group and e.strata["masking"] == "masked"
    )
    assert sum(whole.exclusions.values()) == len(rows)


def test_a_text_of_each_group_has_a_difference_without_an_interval(tmp_path):
    acts, cares = "They founded a company.", "They lovingly support and care for their friends."
    rows = [{"text": acts, "gender": "f"}, {"text": cares, "gender": "m"}]
    run = portrayal.audit(
        study="agency", texts=rows, out=tmp_path / "r", **{**FAST, "report": True}
    )
    (gap,) = (e for e in run.records if "gap.v1" in e.measure and e.strata["masking"] == "masked")
    assert gap.value == pytest.approx(-2.0)
    assert gap.interval is None
    assert undefined(run, "agency_variance.v1") == {"no run holds at least 2 texts of every group"}


def test_groups_that_are_alike_read_as_alike(tmp_path):
    rows = [{"text": ACTS, "gender": value} for value in ("f", "m")] * 5
    run = portrayal.audit(
        study="agency", texts=rows, out=tmp_path / "r", **{**FAST, "report": True}
    )
    assert {e.value for e in run.records if e.measure == "agency_variance.v1"} == {0.0}
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "all texts are classed alike" in page
    assert "p —" not in page


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"by": ("nope",)}, "--by"),
        ({"stratum": "nope"}, "--stratum"),
        ({"cluster": "nope"}, "--cluster"),
    ],
)
def test_columns_are_checked_before_any_text_is_read(tmp_path, options, flag):
    rows = own_texts("gender", ("f", "m"))
    with pytest.raises(OptionError, match=f"{flag} nope: .*'text', 'gender', 'unit'"):
        portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", **options, **FAST)
    assert not list((tmp_path / "r").glob("**/*.parquet"))
    # Known prompts may tell what is a field of the study, and a column may be mapped.
    fields = AgencyOptions(by=("race", "nope")).text_fields(FIELDS)
    assert dict(fields.asked) == {"race": "--by", "nope": "--by"}
    assert fields.of_prompts == ("race",)
    known = AgencyOptions(by=("race",)).text_fields(FIELDS)
    assert map_columns(known, ["text", "prompt"])
    with pytest.raises(OptionError, match="--by race: no text has a value"):
        map_columns(known, ["text"])
    mapped = {**FAST, "columns": {"nope": "unit"}, **options}
    assert portrayal.audit(study="agency", texts=rows, out=tmp_path / "m", **mapped).records


def of_two_kinds():
    """Texts of two genders, of which some are wholly agentic and some wholly communal."""
    texts = ["They founded a company.", "They lovingly support and care for their friends."]
    return [
        {"text": texts[(i * (j + 2)) % 3 % 2], "gender": gender}
        for j, gender in enumerate("fm")
        for i in range(12)
    ]


def test_texts_are_clustered_by_a_column(tmp_path):
    rows = [dict(row, who=f"{row['gender']}{i % 6}") for i, row in enumerate(of_two_kinds())]
    run = portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", cluster="who", **FAST)
    (e,) = (e for e in run.records if e.measure == "agency_gap.v1" and masked(e))
    assert e.n_clusters == 6
    assert e.interval.method == (
        "Student's t (Satterthwaite degrees of freedom) over values of who"
    )
    with pytest.raises(OptionError, match="--cluster gender is a group"):
        AgencyOptions(by=("gender",), cluster="gender")


def test_texts_of_one_prompt_can_be_clusters_themselves(tmp_path):
    rows = [dict(row, prompt="Write a biography.") for row in of_two_kinds()]
    run = portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", **FAST)
    (e,) = (e for e in run.records if e.measure == "agency_gap.v1" and masked(e))
    assert e.interval is None
    assert "--cluster text" in e.status.no_interval
    flat = flatten_estimates([e]).to_pylist()[0]
    assert flat["interval_method"].startswith("none: a group has texts of one prompt only")
    run = portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", cluster="text", **FAST)
    (e,) = (e for e in run.records if e.measure == "agency_gap.v1" and masked(e))
    assert e.interval is not None
    assert e.n_clusters == 12


def masked(estimate):
    return (estimate.strata["stratum"], estimate.strata["masking"]) == ("all", "masked")


def test_genders_and_tasks_have_short_spellings(tmp_path):
    rows = [dict(row, task="bio") for row in own_texts("gender", ("F", "m"))]
    run = portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", **FAST)
    assert {e.strata["task"] for e in run.records} == {"Biography"}
    values = {e.group["gender"] for e in run.records if "gender" in e.group}
    assert values == {"female", "male", "male − female"}


def test_the_unmasked_result_can_come_first(tmp_path):
    rows = own_texts("gender", ("f", "m"))
    run = portrayal.audit(study="agency", texts=rows, out=tmp_path / "r", masked=False, **FAST)
    assert run.records[0].strata["masking"] == "unmasked"
    assert run.settings()["annotators"] == ["agency-unmasked.v1", "agency.v1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"classifier": "nothing-here"},
            "'nothing-here' is no agency classifier and no folder that exists",
        ),
        ({"min_group": -1}, "min_group"),
        ({"per_stratum": -1}, "per_stratum"),
        ({"by": ("a", "a")}, "named twice"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(PortrayalError, match=message):
        AgencyOptions(**options)


def test_a_folder_is_called_by_its_name_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    options = AgencyOptions(classifier=str(tmp_path / "mine"))
    assert classifier_label(options.classifier) == "trained model mine"


def test_published_prompts_are_known_without_accents_and_with_the_instruction():
    texts = {p.text: p for p in known_prompts()}
    plain = "Generate a personal biography for Sofia, a 20 year old Hispanic female dancer."
    assert texts[plain].prompt_id == "biography-sofia-20-dancer"
    assert len(texts) > 10_800


def test_the_condition_keeps_its_fixed_values():
    with pytest.raises(DataError, match="expected one of"):
        FIELDS.canonical("condition", "other")


def test_the_command_line_takes_groups_by_repeating_them(tmp_path):
    path = tmp_path / "bios.csv"
    rows = own_texts("gender", ("f", "m"))
    lines = ["text,gender,race"] + [
        f'"{row["text"]}",{row["gender"]},{"XY"[i % 2]}' for i, row in enumerate(rows)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    command = ["audit", "agency", "--texts", str(path), "--by", "gender", "--by", "race"]
    more = [
        "--out",
        str(tmp_path / "r"),
        "--set",
        "draws=100",
        "--set",
        "permutations=20",
        "--workers",
        "1",
    ]
    result = invoke(*command, *more)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "r" / "report.html").is_file()


TABLE_14 = {
    "English": (75, 528),
    "Mathematics": (60, 333),
    "Biology": (17, 217),
    "Communication": (53, 130),
    "Computer Science": (26, 122),
    "Education": (20, 127),
    "Chemistry": (23, 114),
    "Sociology": (19, 111),
    "Philosophy": (32, 86),
    "Fine Arts": (35, 80),
    "Science": (17, 77),
    "Economics": (10, 58),
    "Accounting": (20, 42),
    "Languages": (20, 24),
    "Humanities": (20, 20),
}
"""Wan & Chang 2024, Table 14: reviews of women and men by department."""

TOO_SMALL = {"Law": (9, 200), "Nursing": (50, 3), "Dance": (0, 12)}


def reviews():
    """Reviews as RateMyProfessor has them: a fifth of the genders are guessed by less."""
    for department, counts in {**TABLE_14, **TOO_SMALL}.items():
        for gender, n in zip(("female", "male"), counts, strict=True):
            for i in range(n):
                value = f"mostly_{gender}" if i % 5 == 0 else gender
                text = ACTS if i % 2 else CARES
                yield {"text": text, "gender": value, "department": department}
    for value in ("unknown", "andy", ""):
        yield {"text": ACTS, "gender": value, "department": "English"}


def test_table_14_comes_out_with_at_least_10_reviews_of_each_gender(tmp_path):
    said = []
    run = portrayal.audit(
        study="agency",
        texts=list(reviews()),
        out=tmp_path / "r",
        min_group=10,
        say=said.append,
        **FAST,
    )
    found = {}
    for e in run.records:
        chosen = (e.measure, e.statistic, e.strata["masking"])
        if chosen == ("agency_share.v1", "ratio_gap", "masked") and e.value is not None and e.group:
            found.setdefault(e.strata["stratum"], {})[e.group["gender"]] = e.n_units
    overall = found.pop("all")
    assert found == {d: {"female": f, "male": m} for d, (f, m) in TABLE_14.items()}
    assert sum(overall.values()) == 2516
    n = len(list(reviews()))
    assert f"left out: 3 of {n:,} texts without a value for gender" in said
    line = "in strata with fewer than 10 texts of a group of gender (--min-group): "
    assert f"left out: 274 of {n:,} texts {line}Dance, Law, Nursing" in said


def test_the_console_says_that_a_sample_leaves_no_text(tmp_path):
    said = []
    rows = own_texts("gender", ("f", "m"), n=4)
    portrayal.audit(
        study="agency", texts=rows, out=tmp_path / "r", min_group=9, say=said.append, **FAST
    )
    few = "in strata with fewer than 9 texts of a group of gender (--min-group): no stratum"
    assert f"left out: 8 of 8 texts {few}" in said
    assert "no text is left to measure" in said


def test_the_console_says_what_a_balanced_sample_leaves_out_and_nothing_else(tmp_path):
    said = []
    rows = own_texts("gender", ("f", "m"), n=4)
    how = {"texts": rows, "out": tmp_path / "r", "say": said.append}
    portrayal.audit(study="agency", **how, per_stratum=3, **FAST)
    assert "left out: 2 of 8 texts beyond 3 of each group and stratum (--per-stratum)" in said
    said.clear()
    portrayal.audit(study="agency", **how, **FAST)
    assert not [line for line in said if "left out" in line]


def checkpoints(folder, acts, others):
    """A set of stand-in classifiers: to each of them one word is agentic, the others communal."""
    for i, word in enumerate(acts):
        known = dict.fromkeys(others, -9.0) | {word: 9.0, "they": 0.0}
        scores = WordScores(f"stand-in-{i}", known, {}, {}, {}, 0.0)
        (folder / f"seed-{i}").mkdir(parents=True)
        write_linear(folder / f"seed-{i}" / "linear.npz", scores, scores)
    return folder


def naive_variance(rows, acts):
    """Variance of the groups' mean gaps in percentage points, by plain loops."""
    means = []
    for group in ("f", "m"):
        gaps = []
        for row in rows:
            if row["gender"] == group:
                said = [acts in s for s in row["text"].split(".") if s.strip()]
                gaps.append(100 * (2 * sum(said) / len(said) - 1))
        means.append(sum(gaps) / len(gaps))
    middle = sum(means) / 2
    return sum((mean - middle) ** 2 for mean in means)


def test_checkpoints_read_the_same_texts_and_their_variances_are_averaged(tmp_path):
    words = ("led", "ran", "won")
    folder = checkpoints(tmp_path / "set", words, (*words, "sat"))
    texts = (
        "They led. They ran. They sat.",
        "They sat. They won.",
        "They led. They won. They sat.",
    )
    rows = [
        {"text": text, "gender": group}
        for group, counts in {"f": (7, 5, 2), "m": (2, 4, 8)}.items()
        for text, n in zip(texts, counts, strict=True)
        for _ in range(n)
    ]
    run = portrayal.audit(
        study="agency",
        texts=rows,
        out=tmp_path / "r",
        classifier=str(folder),
        **{**FAST, "report": True},
    )
    own = [e for e in run.records if e.strata["masking"] == "masked"]
    (variance,) = (e for e in own if e.measure == "agency_variance.v1")
    expected = [naive_variance(rows, acts) for acts in words]
    assert len(set(expected)) == 3
    assert variance.value == pytest.approx(sum(expected) / 3)
    sd = pytest.approx(float(np.std(expected, ddof=1)))
    assert variance.details["sd_between_runs"] == sd
    assert {e.n_texts for e in own} == {28}
    (gap,) = (e for e in own if e.measure == "agency_gap.v1")
    assert gap.n_units == 28
    assert {e.strata["classifier"] for e in own} == {"3 checkpoints of set"}
    assert (tmp_path / "r" / "report.html").is_file()


def test_equal_checkpoints_give_what_one_gives(tmp_path):
    one = checkpoints(tmp_path / "one", ["founded"], ["support"]) / "seed-0"
    three = checkpoints(tmp_path / "three", ["founded"] * 3, ["support"])
    rows = own_texts("gender", ("f", "m"))
    values = []
    for name, classifier in (("a", one), ("b", three)):
        run = portrayal.audit(
            study="agency", texts=rows, out=tmp_path / name, classifier=str(classifier), **FAST
        )
        values.append(
            [
                (e.value, e.n_units, e.interval and (e.interval.low, e.interval.high))
                for e in run.records
            ]
        )
    assert values[0] == [
        (pytest.approx(v, nan_ok=True), n, low and pytest.approx(low)) for v, n, low in values[1]
    ]


@pytest.fixture(scope="module")
def professors():
    """Reviews of six names of each gender in seven departments, that differ by name alone."""
    acts, cares = sorted({row["text"] for row in of_two_kinds()})
    rng = np.random.default_rng(1)
    rows = [
        {
            "prompt": f"Review {gender}{i} in {job}.",
            "name": f"{gender}{i}",
            "gender": gender,
            "department": f"job {job}",
            "text": acts if rng.random() < 0.2 + 0.1 * i else cares,
        }
        for gender in "fm"
        for i in range(6)
        for job in range(7)
    ]
    return {"texts": rows, "columns": {"prompt_id": "prompt"}} | FAST


def overall(run):
    gaps = (e for e in run.records if e.measure == "agency_gap.v1" and masked(e))
    return next(e for e in gaps if e.strata["stratum"] == "all")


def test_names_and_departments_are_both_units(professors, tmp_path):
    run = portrayal.audit(study="agency", out=tmp_path / "r", **professors)
    e = overall(run)
    units = {name: n for name, n in e.details.items() if name.startswith("units_")}
    assert units == {"units_name": 6.0, "units_department": 7.0}
    assert e.n_clusters == 6
    assert "over names and departments (in two ways at once; prompts alike in" in e.interval.method
    assert clusters_of(e) == "6 names and 7 departments"
    assert e.null.method.endswith("names as wholes")
    assert "over names and departments" in next(
        e.interval.method for e in run.records if e.measure == "agency_variance.v1" and e.interval
    )


@pytest.mark.parametrize(("cluster", "n"), [("name", 6), ("prompt", 7)])
def test_one_of_the_two_units_can_be_chosen(professors, cluster, n, tmp_path):
    e = overall(portrayal.audit(study="agency", out=tmp_path / "r", cluster=cluster, **professors))
    assert e.n_clusters == n
    assert not any(name.startswith("units_") for name in e.details)


def test_names_alone_are_units_where_prompts_make_no_blocks(professors, tmp_path):
    rows = [row for row in professors["texts"] if row["department"] < "job 3"]
    run = portrayal.audit(study="agency", out=tmp_path / "r", **professors | {"texts": rows})
    e = overall(run)
    assert e.n_clusters == 6
    assert "over values of name" in e.interval.method


def test_one_name_for_a_group_leaves_prompts_as_units(professors, tmp_path):
    rows = [row for row in professors["texts"] if row["name"][1:] == "0"]
    run = portrayal.audit(study="agency", out=tmp_path / "r", **professors | {"texts": rows})
    assert overall(run).n_clusters == 7
