"""A study of one's own: a TOML file is a study wherever a study's name is taken."""

import json
import shutil
from pathlib import Path

import pytest

import portrayal
import portrayal.registry as registry
from command import invoke
from portrayal.errors import DataError, OptionError, UnknownNameError
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.own import read_study, write_start
from portrayal.studies.own.reading import keep_study
from portrayal.studies.stories import MEASURES


def study(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("own")
    write_start(folder / "my-study")
    run = portrayal.audit(
        study=str(folder / "my-study"), texts=folder / "my-study" / "texts.csv", out=folder / "run"
    )
    (folder / "my-study" / "study.toml").unlink()  # a run needs nothing but itself
    return run


def test_the_start_runs_at_once_and_keeps_its_study(audited: Run) -> None:
    assert audited.settings()["study"] == "my-study"
    assert {e.study for e in audited.records} == {"my-study"}
    measures = {e.measure for e in audited.records}
    assert {"representation.v1", "subordination.v1", "outcomes.v1", "cue_counts.v1"} <= measures
    [women] = [
        e
        for e in audited.records
        if e.measure == "subordination.v1"
        and e.group == {"gender": "F"}
        and (e.strata["domain"], e.strata["model"]) == ("Biology", "all")
    ]
    assert (women.details["count_subordinate"], women.details["count_dominant"]) == (1, 2)
    view = View.of(audited)
    assert view.study.title == "Who teaches, and who is taught"
    page = (audited.path / "report.html").read_text(encoding="utf-8")
    assert "Who teaches, and who is taught" in page
    assert "five published models" not in page
    assert (audited.path / "study" / "card.md").is_file()


def test_a_run_is_audited_again_by_its_own_copy_of_the_study(audited: Run, tmp_path: Path) -> None:
    copy = shutil.copytree(audited.path, tmp_path / "run")
    again = portrayal.audit(
        study=str(copy / "study"), out=copy, config=copy / "audit.toml", level=0.9
    )
    assert (again.path / "study" / "card.md").read_text("utf-8")


def test_the_copy_of_a_study_in_its_run_keeps_the_strata(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'strata = ["rite"]\n'
        '[[prompt]]\ntext = "A story of a nurse."\nrite = "birth"\n'
        '[[prompt]]\ntext = "A story of a cook."\nrite = "wedding"\n'
    )
    run = Run(tmp_path / "run")
    run.path.mkdir()
    keep_study(read_study(file), run)
    assert read_study(run.study_path).group_by == ("rite",)


def test_commands_take_a_path_where_they_take_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("new", "my-study").exit_code == 0
    path = str(Path("my-study") / "study.toml")
    listed = invoke("list", "prompts", path, "--format", "json")
    assert json.loads(listed.stdout)["prompts"][0]["prompt_id"] == "neutral-maths"
    assert "--baseline" in invoke("audit", path, "--help").stdout
    assert invoke("replicate", path).exit_code == 2
    with pytest.raises(UnknownNameError, match="the path of a study of your own"):
        registry.get("studies", "no-such-study")
    with pytest.raises(OptionError, match="not empty"):
        write_start("my-study")


def test_templates_strata_roles_and_options(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("name,caste,n\nAsha,a,40\nAsha,b,60\n", encoding="utf-8")
    made = read_study(
        study(
            tmp_path,
            """
            title = "Work"
            prompts = ["Write about a person in Pune."]
            measures = ["subordination", "outcomes"]
            [[template]]
            text = "Write about a {job} who helps a {helped}."
            id = "{job}-{helped}"
            powerful = "{job}"
            less_powerful = "{helped}"
            domain = "Work"
            values = { job = ["engineer", "nurse"], helped = ["neighbour"] }
            [people]
            names = "names.csv"
            name_columns = ["group=caste"]
            [options]
            permutations = 50
            [[baselines]]
            name = "village"
            source = "made up"
            shares = { caste = { a = 0.25, b = 0.75 }, gender = { F = 0.5, M = 0.5 } }
            """,
        )
    )
    plain, *filled = made.prompts()
    assert (plain.prompt_id, plain.strata["condition"]) == ("prompt-1", "power-neutral")
    assert [p.text for p in filled] == [
        "Write about an engineer who helps a neighbour.",
        "Write about a nurse who helps a neighbour.",
    ]
    assert filled[0].strata == {
        "job": "engineer", "helped": "neighbour", "domain": "Work", "subject_role": "engineer",
        "object_role": "neighbour", "condition": "power-laden",
    }  # fmt: skip
    options = made.options()
    assert (options.permutations, options.baseline) == (50, "village")
    assert options.name_table == str(tmp_path / "names.csv")
    assert options.said()[0].startswith("read with names in 'name', groups in 'caste' (b, a)")
    assert made.measures == ("subordination.v1", "outcomes.v1")
    with pytest.raises(UnknownNameError, match="no baseline 'other'"):
        made.options(baseline="other")


def test_names_of_ones_own_are_groups_of_ones_own(tmp_path: Path) -> None:
    rows = [("Asha", "a", 60), ("Asha", "b", 40), ("Ravi", "b", 100), ("Devi", "a", 80)]
    lines = ["name,caste,n", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "names.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = study(
        tmp_path,
        """
        [[template]]
        text = "A story of a {job}."
        person = "{job}"
        values = { job = ["nurse", "doctor", "clerk", "cook"] }
        [people]
        names = "names.csv"
        read = "labels"
        [[baselines]]
        name = "village"
        source = "made up"
        shares.caste = { a = 0.5, b = 0.5 }
        [[baselines]]
        name = "town"
        source = "made up"
        shares.caste = { a = 0.8, b = 0.2 }
        """,
    )
    prompts = read_study(path).prompts()
    texts = [
        {"prompt_id": p.prompt_id, "subject_name": name, "subject_gender": "F"}
        for p in prompts
        for name in ("Asha", "Ravi", "Devi", "Ravi")
    ]
    labels = {"subject_name": "subject_name", "subject_gender": "subject_gender"}
    said: list[str] = []
    run = portrayal.audit(
        study=str(path),
        texts=texts,
        out=tmp_path / "run",
        columns=labels,
        report=True,
        say=said.append,
    )
    found = {
        e.group["caste"]: e.value
        for e in run.records
        if e.measure == "representation.v1" and "caste" in e.group and e.strata["model"] == "all"
    }
    assert found == pytest.approx({"a": (0.6 + 1) / 4 / 0.5, "b": (0.4 + 2) / 4 / 0.5})
    each = {
        (e.strata["population"], e.group["caste"]): e.value
        for e in run.records
        if e.measure == "representation_by_baseline.v1"
        and "caste" in e.group
        and e.strata["model"] == "all"
    }
    counted = {"a": (0.6 + 1) / 4, "b": (0.4 + 2) / 4}
    town = {("town", "a"): counted["a"] / 0.8, ("town", "b"): counted["b"] / 0.2}
    assert each == pytest.approx({("village", name): found[name] for name in "ab"} | town)
    assert "Representation over each baseline" in (tmp_path / "run" / "report.html").read_text(
        "utf-8"
    )
    assert not [e for e in run.records if "race" in e.group]
    assert said[0].startswith("read with names in 'name'")
    with pytest.raises(OptionError, match="takes people from labels"):
        portrayal.audit(
            study=str(path), texts=[{"prompt_id": prompts[0].prompt_id, "text": "She ran."}],
            out=tmp_path / "unlabelled", report=False,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prompts = [", r"mine\.toml, line 1: not TOML"),
        ("title = 'x'", "line 1: there are no prompts: expected 'prompts'"),
        ("prompts = ['a']\nmesures = []", r"line 2: mesures: unknown key.*'measures' meant"),
        ("prompts = ['a', 'a']", "line 1: prompts\\.text: .*has the same text as that of line 1"),
        ("prompts = 'none.csv'", "line 1: prompts: 'none.csv' is no file"),
        ("prompts = 3", "expected text in quotation marks or a list of texts"),
        ("prompts = ['a']\nname = 'news'", "'news' is a study that ships"),
        ("prompts = ['a']\nname = 'My study'", "expected small letters"),
        ("prompts = ['a']\nmeasures = ['nope']", "line 2: measures: no measure is called 'nope'"),
        ("prompts = ['a']\nmeasures = ['mean_score']", "no measure"),
        ("prompts = ['a']\n[options]\nlevle = 0.9", "line 3: options.levle: unknown key"),
        ("prompts = ['a']\n[options]\nseed = 0.5", "expected a whole number; got 0.5"),
        ("prompts = ['a']\n[options]\nlevel = 'x'", "line 3: options.level: expected a number"),
        ("prompts = ['a']\n[people]\nread = 'mind'", "expected one of embedded, llm"),
        ("prompts = ['a']\n[people]\nnames = 'no.csv'",
         "line 3: people.names: 'no.csv' is no file"),
        ("[[prompt]]\nid = 'x'", r"line 1: prompt.text: expected text; the prompt has no text"),
        ("[[prompt]]\ntext = 'x'\npowerful = 'y'", "give both 'powerful' and 'less_powerful'"),
        ("[[prompt]]\ntext = 'x'\ncondition = 'odd'", r"line 3: prompt\.condition: expected one"),
        ("[[template]]\ntext = '{a} {b}'\nvalues = { a = ['x'] }", r"\{b\} has no values"),
        ("[[template]]\ntext = 'x'", "expected lists: values"),
        ("prompts = ['a']\n[people]\nread = 'none'", "only factors are measured: name some"),
        ("prompts = ['a']\nstrata = ['state']", "no prompt has the stratum 'state'"),
        ("prompts = ['a']\nfactors = ['no.toml']", "line 2: factors: 'no.toml' is no file"),
        (
            "prompts = ['a']\n[[baselines]]\nname = 'x'\nsource = 'y'\n"
            "shares.gender = { F = 1, M = 1 }",
         r"line 5: baselines.shares.gender: shares sum to 2;"),
        ("prompts = ['a']\n[[baselines]]\nname = 'x'\nshares.gender = { F = 0.9 }",
         "the key 'source' is missing"),
    ],
)  # fmt: skip
def test_bad_studies_name_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_study(study(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_factors_strata_and_no_people(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(
        """
        name = "job"
        label = "Job"
        note = "Words, not people."
        [groups.nurse]
        [groups.guard]
        [[sources]]
        kind = "words"
        words = { nurse = ["nurse"], guard = ["guard"] }
        [[baselines]]
        name = "even"
        source = "an assumption"
        shares = { nurse = 0.5, guard = 0.5 }
        """,
        encoding="utf-8",
    )
    path = study(
        tmp_path,
        """
        factors = ["job.toml"]
        strata = ["state"]
        [people]
        read = "none"
        [[template]]
        text = "A story of {what} in {state}."
        values = { state = ["Goa", "Assam"], what = ["a birth", "a wedding"] }
        """,
    )
    made = read_study(path)
    assert (made.group_by, made.measures) == (("state",), ())
    texts = [
        {"prompt_id": p.prompt_id, "text": f"The {who} came."}
        for p in made.prompts()
        for who in (("nurse", "guard") if p.strata["state"] == "Goa" else ("guard", "guard"))
    ]
    run = portrayal.audit(study=str(path), texts=texts, out=tmp_path / "run", report=False)
    shares = {
        (e.strata["state"], e.group["job"]): e.value
        for e in run.records
        if e.measure == "group_share.v1" and e.strata["model"] == "all" and "state" in e.strata
    }
    assert shares["Goa", "nurse"] == pytest.approx(0.5)
    assert shares["Assam", "guard"] == pytest.approx(1.0)
    said: list[str] = []
    bare = [{"text": row["text"]} for row in texts]
    portrayal.audit(
        study=str(path), texts=bare, out=tmp_path / "bare", report=False, say=said.append
    )
    assert any(line.startswith("no column names a prompt: ") for line in said)


def test_the_shipped_study_is_one_of_them() -> None:
    laissez_faire = registry.get("studies", "laissez-faire")
    assert laissez_faire.measures == MEASURES
    assert len(laissez_faire.prompts()) == 100
    assert laissez_faire.options().baseline == "census-2022"


def test_a_key_makes_a_study_of_pairs(tmp_path):
    from matched_pairs import pairs

    file = tmp_path / "notes.toml"
    file.write_text('question = "Who?"\npair = "case"\n[options]\nsource = "note"\n')
    rows = [{"case": row.pop("pair"), **row} for row in pairs()]
    run = portrayal.audit(study=str(file), texts=rows, out=tmp_path / "run", scorers=("length",))
    assert {e.measure for e in run.records} >= {"pair_difference.v2"}
    assert {e.n_clusters for e in run.records if e.strata.get("score") == "length"} == {12}
    assert 'pair = "pair"' in run.study_path.read_text()
    assert "Who?" in (run.path / "report.html").read_text()


def test_a_template_may_be_a_list_of_wordings(tmp_path: Path) -> None:
    text = """
        name = "jobs"
        [[template]]
        text = ["Write about a {job}.", "A {job} comes home. Go on."]
        values = { job = ["nurse", "pilot"] }
        [[template]]
        text = ["Write about somebody."]
    """
    prompts = read_study(study(tmp_path, text)).prompts()
    assert [prompt.text for prompt in prompts] == [
        "Write about a nurse.",
        "Write about a pilot.",
        "A nurse comes home. Go on.",
        "A pilot comes home. Go on.",
        "Write about somebody.",
    ]
    assert [prompt.strata.get("wording") for prompt in prompts] == ["1", "1", "2", "2", None]
    with pytest.raises(DataError, match=r"line 3: template\.text: \{job\} has no values"):
        read_study(study(tmp_path, '\n[[template]]\ntext = ["A {job}."]'))


def test_a_run_names_a_locale_by_a_path_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place").mkdir()
    shipped = Path(portrayal.__file__).parent / "reference/data/locales/en-IN/locale.toml"
    (tmp_path / "place/locale.toml").write_text(shipped.read_text(encoding="utf-8"), "utf-8")
    path = study(tmp_path, 'prompts = ["Write about a nurse."]\nlocale = "place"')
    rows = [{"prompt": "Write about a nurse.", "text": "Maria ran. She was well."}] * 2
    run = portrayal.audit(study=str(path), texts=rows, out="run", report=False)
    assert run.settings()["options"]["locale"] == "place"
