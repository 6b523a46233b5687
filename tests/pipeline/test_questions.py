"""Questions asked beforehand: refused before the audit, dated, and answered in a line each."""

import pytest

import portrayal
from portrayal.errors import OptionError
from portrayal.report.first import answer_lines
from portrayal.report.page import render
from portrayal.report.view import View
from portrayal.studies.laissez_faire import prompts

TEXT = (
    "Maria struggled with the lesson on day {i}. She asked John for help, and he taught her what "
    "he knew of it, as the star student of the class."
)


def stories(n_prompts=6, n=4):
    laden = [p for p in prompts() if p.prompt_id.startswith("learning-laden")][:n_prompts]
    return [
        {"prompt": p.text, "model": "m", "text": TEXT.format(i=f"{i} of {k}")}
        for k, p in enumerate(laden)
        for i in range(n)
    ]


def audited(out, *questions):
    options = {"draws": 100, "permutations": 20, "report": False, "question": questions}
    texts = None if (out / "texts").is_dir() else stories()
    return portrayal.audit(study="laissez-faire", texts=texts, out=out, **options)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("subordination race=Klingon", "no race is 'Klingon'; there are: AI/AN, Asian, Black, "),
        ("subordination race=latine domain=learning", "no race is 'latine'; there are: "),
        ("subordination gender=F domain=learning", "no domain is 'learning'; there are: Learning"),
        ("subordination gender=F model=n", "no model is 'n'; there are: m."),
        ("pair_difference gender=F", "this audit does not measure pair_difference.v2; it measures"),
    ],
)
def test_what_nothing_could_answer_is_refused_before_a_text_is_read(tmp_path, question, said):
    with pytest.raises(OptionError, match="--question") as refused:
        audited(tmp_path, question)
    assert said in str(refused.value)
    assert not (tmp_path / "annotations").exists()


def test_groups_are_those_of_columns_as_a_study_spells_them(tmp_path):
    rows = [
        {"text": f"{who} led the team to its goal on day {i}.", "gender": sex, "task": "bio"}
        for i in range(12)
        for who, sex in (("She", "f"), ("He", "m"))
    ]
    fields = {"texts": rows, "report": False, "permutations": 20}
    with pytest.raises(OptionError, match="no gender is 'woman'; there are: female, male"):
        portrayal.audit(
            study="agency", out=tmp_path / "a", question=("agency_gap gender=woman",), **fields
        )
    asked = ("agency_gap gender=female-male domain=Biography",)
    with pytest.raises(OptionError, match="no gender is 'female-male'"):
        portrayal.audit(study="agency", out=tmp_path / "b", question=asked, **fields)
    asked = "agency_gap gender=female masking=masked", "agency_gap gender=male domain=Biography"
    run = portrayal.audit(study="agency", out=tmp_path / "c", question=asked, **fields)
    first, second = lines_of(run)
    assert "without a test" in first or "p = " in first
    assert "agency_gap.v1 has no domain here; it has model, task, " in second


def test_word_lists_say_which_groups_news_has(tmp_path):
    pair = {"headline": "Rain", "text": "A woman met a man in the rain."}
    with pytest.raises(OptionError, match="no race is 'Klingon'; there are: "):
        portrayal.audit(
            study="news",
            texts=[pair],
            reference=[pair],
            out=tmp_path,
            levels=("word",),
            question=("prompt_effect race=Klingon",),
        )


def lines_of(run):
    return [line for line in answer_lines(run) if line.startswith("asked beforehand: ")]


def test_every_question_has_a_line_that_says_when_and_what_came_out(tmp_path):
    run = audited(
        tmp_path,
        "subordination gender=F domain=Learning",
        "subordination.v1 domain=Learning gender=F",
        "subordination gender=NB domain=Learning",
        "subordination gender=F race=White domain=Learning",
    )
    first, second, third = lines_of(run)
    assert "“subordination gender=F domain=Learning” (asked on 20" in first
    assert "before this run was audited" in first
    assert "p = " in first or "without a test" in first
    assert "has no value, as no NB character" in second
    assert ": not stated, as " in third
    page = render(View.of(run))
    assert page.count("before this run was audited") >= 3
    assert "asked before the texts were read" not in page


def test_a_question_after_a_first_audit_is_called_so(tmp_path):
    run = audited(tmp_path, "subordination gender=F domain=Learning")
    before = run.settings()["questions"][0]
    assert not before["after_an_audit"]
    run = audited(
        tmp_path,
        "subordination.v1 gender=F domain=Learning",
        "representation gender=F domain=Learning",
    )
    first, second = run.settings()["questions"]
    assert (first["on"], first["after_an_audit"]) == (before["on"], False)
    assert second["after_an_audit"]
    assert second["first_audit"] == run.manifest.first_measured == before["on"]
    assert ["after a first audit of this run" in line for line in lines_of(run)] == [False, True]
    config = run.settings_path
    again = portrayal.audit(study="laissez-faire", out=tmp_path, config=config)
    assert again.settings()["questions"] == run.settings()["questions"]


def test_a_first_audit_whose_numbers_are_gone_is_still_known(tmp_path):
    run = audited(tmp_path)
    for path in (run.estimates_path, run.influences_path, run.settings_path):
        path.unlink()
    (record,) = audited(tmp_path, "subordination gender=F domain=Learning").settings()["questions"]
    assert record["after_an_audit"]
    assert record["first_audit"] == run.manifest.first_measured
