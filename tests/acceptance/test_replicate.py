"""The authors' files as they are published, and each published figure beside ours."""

import csv
import json
import math
import tomllib
from collections import Counter
from statistics import NormalDist

import pytest

from authors_files import agency_rows, write, write_news, write_paper_names, write_stories
from command import invoke
from portrayal import audit, registry
from portrayal.errors import DataError
from portrayal.pipeline.replicate import PublishedFigure, beside_published, replicate
from portrayal.reference.names import name_table
from portrayal.reference.shipped import published, published_tables

QUICK = {"report": False, "draws": 100, "permutations": 20}
PRINTED = {
    "shieh_representation_ratios": ["representation_ratio"],
    "shieh_subordination_ratios": ["subordination_ratio"],
    "shieh_median_racialized_subordination_ratios": ["median_ratio"],
    "shieh_common_names": [
        *("racial_likelihood_percent", "n_power_neutral", "n_dominant", "n_subordinate"),
    ],
    "fang_news_bias": ["value"],
    "wan_variance": ["gender", "race", "intersectional", "overall"],
    "wan_mitigation_variance": ["gender", "race", "intersectional", "overall"],
    "wan_agency_by_group": ["agentic_percent"],
    "wan_classifiers": ["accuracy", "f1_macro", "f1_micro", "f1_weighted"],
}
"""The figures of each table of `published`; the others are of their precision, or 100 less them."""


def without_a_line(study, figures, find):
    """How often each printed figure of the study's tables has no line among the figures."""
    prefix = {"laissez-faire": "shieh", "news": "fang", "agency": "wan"}[study]
    printed = Counter()
    for path in sorted(find("published").glob(f"{prefix}_*.csv")):
        for row in csv.DictReader(path.read_text("utf-8").splitlines()):
            printed.update(round(float(row[c]), 4) for c in PRINTED[path.stem] if row[c])
    return printed - Counter(round(figure.printed, 4) for figure in figures)


def test_stories_as_published_give_what_cleaned_labels_give(shared_data, gold_run, tmp_path):
    write_stories(shared_data, tmp_path / "data")
    (tmp_path / "data/README.md").write_text("stories", encoding="utf-8")
    found = replicate("laissez-faire", tmp_path / "data", tmp_path / "run", **QUICK)
    tables = ("representation", "subordination", "median_racialized_subordination")
    reading = {f.who: f for f in found.figures if f.place == "S8b"}
    assert {who: f.printed for who, f in reading.items()} == {
        "name precision": 98.1,
        "name recall": 99.3,
        "gender precision": 98.0,
        "gender recall": 97.0,
    }
    assert all(75 < f.low <= f.ours <= f.high <= 100 for f in reading.values())
    n_ratios = sum(published(f"shieh_{t}_ratios").num_rows for t in tables)
    n_names = 4 * published("shieh_common_names").num_rows
    cues = {f.who: f for f in found.figures if f.place == "B.7"}
    assert len(cues) == 23
    assert (cues["Inuit"].printed, cues["Inuit"].ours) == (13, 0)
    assert all(f.verdict == "inside" for f in cues.values())
    assert len(found.figures) == n_ratios + n_names + len(cues) + len(reading) + 4
    assert not without_a_line("laissez-faire", found.figures, shared_data)
    silent = {f.verdict for f in found.figures if not f.lacking}
    assert silent == {"inside", "outside", "other side"}
    assert all(f.lacking for f in found.figures if f.ours is None)
    # Counts of names are those of as many stories as the paper's
    sarah = {f.who: f for f in found.figures if f.place == "S10" and "Sarah" in f.who}
    assert sarah["White Sarah likelihood"].ours == pytest.approx(80.95)
    own = next(
        e
        for e in found.run.records
        if e.measure == "common_names.v1"
        and (e.strata["model"], e.strata["domain"], e.strata["role"]) == ("all", "all", "neutral")
        and e.group == {"race": "White", "name": "Sarah"}
    )
    assert sarah["White Sarah neutral"].ours == pytest.approx(250_000 * own.value / own.n_texts)
    cleaned = {
        (e.strata["domain"], e.strata["model"], e.group["race"]): e.value
        for e in gold_run.records
        if e.measure == "representation.v1" and set(e.group) == {"race"}
    }
    ours = {
        (f.domain, f.model, f.who): f.ours
        for f in found.figures
        if f.place in ("S13a", "S13b", "S13c") and (f.domain, f.model, f.who) in cleaned
    }
    assert len(ours) == 3 * 5 * 7
    assert ours == pytest.approx({key: cleaned[key] for key in ours}, rel=1e-9)
    verdicts = Counter(f.verdict for f in found.figures if f.low is not None)
    assert verdicts["inside"] > 0.6 * verdicts.total() > 20 * verdicts["other side"]
    assert [text.partition("README")[1] for text in found.left_out] == ["README"]


def test_texts_as_published_stand_beside_every_table_of_agency(shared_data, tmp_path, monkeypatch):
    files = {"professor": agency_rows(shared_data("labe/chatgpt_professor.csv"))}
    for task, name in (("professor", "professor"), ("bios", "bios"), ("letters", "bios")):
        path = shared_data(f"labe/chatgpt_{name}_prompt_mitigated.csv")
        files[f"{task}_mitigate"] = agency_rows(path)
    # Texts of one model stand for those of all, and biographies for letters: nine of mitigation
    for row in files["letters_mitigate"]:
        prompt = row["prompts"].replace("personal biography", "detailed reference letter")
        row["prompts"] = prompt.replace("the biography", "the reference letter")
    for model in ("chatgpt", "mistral", "llama3"):
        for name, rows in files.items():
            renamed = [{f"{model}_gen": row.pop("chatgpt_gen"), **row} for row in map(dict, rows)]
            write(tmp_path / f"data/{model}_clg_{name}.csv", renamed)
    write(tmp_path / "data/ratemyprofessor.csv", reviews_by_people())
    (tmp_path / "data/lac_dataset").mkdir()
    sentences = shared_data("lac/validation.csv").read_bytes()
    (tmp_path / "data/lac_dataset/test.csv").write_bytes(sentences)
    monkeypatch.chdir(tmp_path)
    found = replicate("agency", "data", "run", **QUICK)
    assert len(found.figures) == 613
    assert not without_a_line("agency", found.figures, shared_data)
    assert all(f.lacking for f in found.figures if f.ours is None)
    beside = [f for f in found.figures if f.ours is not None]
    places = Counter((f.place, f.model) for f in beside)
    expected = {
        ("Table 12", "String matching, none"): 4,
        ("Table 12", "BERT, fine-tuned"): 4,
        ("Table 16", "Human"): 1,
        ("Table 17", "Human"): 3 * 3,
        ("Table 19", "Human"): 2,
        ("Table 3", "Mistral"): 8,
    }
    for model, table in (("ChatGPT", 23), ("Mistral", 25), ("Llama3", 27)):
        told = f"{model}, fairness instruction"
        expected |= {
            ("Table 1", model): 4,
            # Those reviews whose prompts come with the instruction too
            ("Table 2", f"{model}, before mitigation"): 4,
            ("Table 2", told): 3 * 4,
            ("Table 16", model): 1,
            ("Table 19", model): 2,
            ("Table 20", told): 3 * 2,
            ("Table 21", model): 4,
            ("Table 22", told): 3 * 4,
            (f"Table {table}", model): 8,
            (f"Table {table + 1}", told): 3 * 8,
        }
    assert places == expected
    (overall,) = (
        f for f in beside if (f.model, f.who) == ("ChatGPT, before mitigation", "overall")
    )
    assert (overall.domain, overall.printed, overall.verdict) == (
        "Professor Review",
        43.28,
        "inside",
    )
    reasons = Counter(f.lacking for f in found.figures if f.ours is None)
    assert reasons["selective rewriting asks a model (portrayal mitigate)"] == 9 * 4 + 8
    assert all(f.low <= f.ours <= f.high for f in beside if f.low is not None)
    levels = {f.place for f in found.figures if f.reader}
    assert levels == {f"Table {n}" for n in (3, 12, *range(17, 29))}


def reviews_by_people():
    """Reviews written for this test, in the columns of the authors' file of reviews by people."""
    agentic = "She leads the field and won every award. She commands the room."
    communal = "He is kind and patient. He always helps and cares."
    genders = ("male", "mostly_male", "female", "mostly_female", "andy")
    departments = ("English department", "Chemistry department", "Theater department")
    return [
        {
            "comments": agentic if (i * 7) % 5 < 2 else communal,
            "professor_name": f"Professor {i // 4}",
            "school_name": "A school",
            "department_name": departments[i // 20 % 3],
            "gender": genders[i // 4 % 5],
            "sentences": "[]",
        }
        for i in range(240)
    ]


def test_news_as_published_stand_beside_their_figures(shared_data, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    write_news(shared_data, folder)
    (folder / "corpus.pkl").write_bytes(b"cos\nsystem\n.")
    found = replicate("news", folder, tmp_path / "run", **QUICK)
    assert len(found.figures) == 210 + 21 + 42 + 8 + 1
    assert not without_a_line("news", found.figures, shared_data)
    assert all(f.lacking for f in found.figures if f.ours is None)
    assert "corpus.pkl: a pickle, which is never loaded" in found.left_out[0]
    beside = {(f.place, f.who): f for f in found.figures if f.ours is not None}
    assert {f.model for f in beside.values()} == {"ChatGPT", "New York Times & Reuters"}
    own = {
        (e.strata["level"], e.strata["attribute"]): e.value
        for e in found.run.records
        if e.measure == "paired_distance.v1" and e.strata["form"] == "generated_base"
    }
    # Eq. 5: the largest difference of mean sentiment over the groups of both texts
    assert beside["Fig. 4a", "gender"].ours == own["sentence_sentiment", "gender"]
    assert beside["Fig. 4a", "gender"].verdict == "inside"
    assert beside["Fig. 2a", "gender"].ours == own["word", "gender"]
    # At the level of documents the paper's rates count all pairs
    assert beside["Fig. 6b", "female"].verdict == "inside"
    outside = {f.place for f in beside.values() if f.verdict in ("outside", "other side")}
    assert outside
    assert {place for place in outside if place in " ".join(found.reasons)} == outside
    # Mean words, as Table 3 prints them, beside those of the run.
    lengths = {f.model: f for f in found.figures if f.place == "Table 3"}
    assert len(lengths) == 8
    assert (lengths["ChatGPT"].printed, lengths["New York Times & Reuters"].printed) == (292, 675)
    words = {
        e.strata["model"]: e.value for e in found.run.records if e.measure == "text_lengths.v1"
    }
    assert lengths["New York Times & Reuters"].ours == words["reference"]
    assert lengths["Grover"].lacking == "no texts of Grover in these files"


def test_a_model_of_ones_own_stands_beside_the_published_ones(shared_data, tmp_path, monkeypatch):
    lines = shared_data("laissez_faire/gold_stories_dev.jsonl").read_text("utf-8").splitlines()
    stories = [row for row in map(json.loads, lines) if row["model"] == "ChatGPT4"]
    path = tmp_path / "mine.jsonl"
    rows = ({"prompt": s["prompt"], "text": s["text"], "model": "mine"} for s in stories)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    found = beside_published(audit(path, study="laissez-faire", out="run", **QUICK))
    assert {f.writer for f in found.figures} == {"mine"}
    neutral = {f.model: f for f in found.figures if (f.place, f.who) == ("S13b", "Fem.")}
    assert set(neutral) == {"ChatGPT3.5", "ChatGPT4", "Claude2.0", "Llama2(7B)", "PaLM2"}
    assert len({f.ours for f in neutral.values()}) == 1
    # These are stories of ChatGPT4, so that hardly a figure of it is told apart
    of_itself = [f for f in found.figures if f.model == "ChatGPT4" and f.q is not None]
    assert sum(f.verdict == "told apart" for f in of_itself) < 0.1 * len(of_itself)
    apart = [f for f in found.figures if f.verdict == "told apart"]
    assert apart
    assert all(f.q <= 0.05 for f in apart)
    # The run can be given in place of its texts
    done = invoke("replicate", "laissez-faire", "--texts", "run", "--format", "json")
    assert json.loads(done.stdout)["figures"][0]["writer"] == "mine"
    table = invoke("replicate", "laissez-faire", "--texts", "run").stdout
    assert f"mine: {len(apart):,} of " in table
    # A figure without an interval says why
    silent = [f for f in found.figures if f.ours is not None and f.low is None]
    assert {f.verdict for f in silent} == {"no interval"}
    assert all(f.lacking for f in silent)


def test_stories_without_labels_are_read(tmp_path):
    sample = registry.folder("studies", "laissez-faire") / "sample.jsonl"
    stories = [json.loads(line) for line in sample.read_text("utf-8").splitlines()[:60]]
    columns = {"Model": "ChatGPT4"}
    rows = [columns | {"Query": story["prompt"], "Response": story["text"]} for story in stories]
    write(tmp_path / "data/audit.csv", rows)
    found = replicate("laissez-faire", tmp_path / "data", tmp_path / "run", **QUICK)
    assert found.run.texts.note()["n_texts"] == 60
    assert any(f.ours is not None for f in found.figures if f.place == "S13a")
    (lacking,) = {f.lacking for f in found.figures if f.place == "S8b"}
    assert lacking == "no labels of people in these files"


def test_the_names_of_the_paper_go_in_by_a_table_of_ones_own(shared_data, tmp_path):
    printed = write_paper_names(tmp_path / "names.csv")
    assert len(printed) == 91
    table = name_table(tmp_path / "names.csv")
    for name, (race, percent) in printed.items():
        share = table.likelihoods([name])[0, table.races.index(race)]
        assert 100 * share == pytest.approx(percent, abs=1e-9)
    write_stories(shared_data, tmp_path / "data", model="Claude2.0")
    names = {"name_table": str(tmp_path / "names.csv")}
    found = replicate("laissez-faire", tmp_path / "data", tmp_path / "run", **QUICK, **names)
    likelihoods = [
        figure
        for figure in found.figures
        if figure.who.endswith("likelihood") and not figure.who.startswith("MENA")
    ]
    ours = [(f.ours, f.printed) for f in likelihoods if f.ours is not None]
    assert len(ours) > 20
    assert all(value == pytest.approx(of_paper) for value, of_paper in ours)


@pytest.mark.parametrize("study", ["laissez-faire", "news", "agency"])
def test_every_published_table_has_its_lines(study, shared_data):
    folder = registry.folder("studies", registry.resolve("studies", study))
    spec = tomllib.loads((folder / "replicate.toml").read_text("utf-8"))
    read = {name for table in spec["tables"] for name in table["reads"]}
    read |= {reading["table"] for reading in spec.get("readings", ()) if "table" in reading}
    prefix = {"laissez-faire": "shieh", "news": "fang", "agency": "wan"}[study]
    listed = {path.stem for path in shared_data("published").glob(f"{prefix}_*.csv")}
    assert listed <= read <= {*published_tables()}


def figure(**values):
    shape = {"place": "Table 1", "domain": "all", "model": "m", "who": "women"}
    return PublishedFigure(**(shape | {"printed": 2.0, "neutral": 1.0} | values))


def test_a_verdict_says_where_the_published_figure_lies():
    assert figure(lacking="no texts").verdict == "not computable"
    assert figure(ours=1.5).verdict == "no interval"
    assert figure(ours=1.5, low=1.2, high=2.1).verdict == "inside"
    assert figure(ours=1.5, low=1.2, high=1.9).verdict == "outside"
    assert figure(ours=0.5, low=0.3, high=0.8).verdict == "other side"
    assert figure(ours=0.5, low=0.3, high=0.8, neutral=None).verdict == "outside"


def test_figures_are_told_apart_by_both_intervals():
    # Logarithms of ratios: z = (ln 2 − ln 1) / √(.1² + .1²), with half widths of 1.96 × .1
    wide = math.exp(1.959964 * 0.1)
    ours = {"ours": 1.0, "low": 1 / wide, "high": wide}
    both = figure(printed_low=2 / wide, printed_high=2 * wide, **ours)
    expected = 2 * NormalDist().cdf(-math.log(2) / math.hypot(0.1, 0.1))
    assert both.p_apart == pytest.approx(expected)
    exact = figure(**ours)
    assert exact.p_apart == pytest.approx(2 * NormalDist().cdf(-math.log(2) / 0.1))
    assert math.isnan(figure(ours=0.0, low=0.0, high=1.0).p_apart)
    assert math.isnan(figure(ours=1.0).p_apart)


def test_a_folder_of_other_files_is_refused_with_what_was_found(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"columns chatgpt_gen and prompts; .* columns x, y"):
        replicate("agency", tmp_path, tmp_path / "run")
    with pytest.raises(DataError, match="no such folder"):
        replicate("agency", tmp_path / "none", tmp_path / "run")


def test_a_study_without_published_tables_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("replicate", "pairs", "--data", tmp_path)
    assert done.exit_code == 2
    assert "pairs has no published tables" in done.stderr
