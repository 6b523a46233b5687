"""Figures of paired audits: valid panels, published models beside, full tables."""

import dataclasses
import json
from pathlib import Path

import pytest

from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report import write_report
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import BrokenFigureWarning, build, figures
from portrayal.report.view import View
from portrayal.report.words import colour_of_group, colour_rules
from portrayal.studies.news.report.series import (
    EFFECTS,
    base_form,
    forms,
    label,
    lexicons,
    places,
    printed,
    printed_at,
    series,
    shown,
)
from support import assert_vega_lite

from .paired_run import PLAIN, estimate, estimates, write_paired_run


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    return View.of(write_paired_run(tmp_path_factory.mktemp("paired") / "run"))


@pytest.fixture(scope="module")
def drawn(view: View) -> dict[str, Figure]:
    return {figure.key: figure for figure in figures(view)}


def text_of(figure: Figure) -> str:
    return json.dumps(figure.spec, ensure_ascii=False)


def test_each_level_and_attribute_has_a_figure(drawn: dict[str, Figure]) -> None:
    levels = [key for key in drawn if key.startswith("level-")]
    assert len(levels) == 8
    assert {"equal-length", "by-word-list", "group-change", "topic-use"} <= set(drawn)
    assert {"refusals", "text-lengths"} <= set(drawn)
    assert {key for key in drawn if key.startswith("forms-")} == {
        "forms-word-gender",
        "forms-sentence-sentiment-gender",
        "forms-document-gender",
    }


def test_every_figure_is_valid_and_says_something(drawn: dict[str, Figure]) -> None:
    for figure in drawn.values():
        assert figure.title
        assert figure.reading.endswith(".")
        assert figure.note.strip().endswith(".")
        assert figure.table.rows
        assert all(len(row) == len(figure.table.columns) for row in figure.table.rows)
        if figure.spec is not None:
            assert_vega_lite(figure.spec)


def test_the_seven_published_models_stand_beside(drawn: dict[str, Figure]) -> None:
    for key in ("level-word-gender", "level-document-race", "level-sentence-toxicity-race"):
        shown = text_of(drawn[key])
        models = {row["model"] for row in published("fang_news_bias").to_pylist()}
        assert len(models) == 7
        assert all(f"{model} (paper)" in shown for model in models)
        assert "published models, not rerun" in str(drawn[key].legend)


def test_published_biased_forms_stand_beside_a_run_that_has_them(drawn: dict[str, Figure]) -> None:
    assert "ChatGPT · biased (paper)" in text_of(drawn["level-word-gender"])
    assert "ChatGPT · biased (paper)" not in text_of(drawn["level-word-race"])
    assert not [r for r in printed_at("prejudice_rate", ("word", "gender"), ()) if r.form != PLAIN]


def test_all_published_figures_are_known() -> None:
    kinds = [row.kind for row in printed() if row.table != EFFECTS]
    assert len(kinds) == 210 + 21
    assert kinds.count("group_change") == 21
    effects = printed_at("prejudice_rate", ("word", "gender"), table=EFFECTS)
    assert len(effects) == 7
    assert printed_at("paired_distance", ("word", "gender"), table=EFFECTS) == []


def test_the_value_of_the_estimate_is_drawn(drawn: dict[str, Figure]) -> None:
    panels = drawn["level-word-gender"].spec["hconcat"]
    assert [panel["title"]["text"][0] for panel in panels] == ["a", "b", "c"]
    first = next(d for d in panels[0]["data"]["values"] if d["row"] == "m1 · biased")
    assert first["v"] == pytest.approx(0.14)
    assert (first["nl"], first["nh"]) == (0.05, 0.08)
    assert first["s"] is True


def test_an_undefined_distance_is_written_and_not_drawn(drawn: dict[str, Figure]) -> None:
    figure = drawn["level-document-race"]
    assert "no pair has group words on both sides" in figure.reading
    data = figure.spec["hconcat"][0]["data"]["values"]
    own = [d for d in data if "d" not in d]
    assert own
    assert all(d["u"] == "undefined" and "v" not in d for d in own)


def test_pooled_forms_and_domains_stay_out_of_charts(view: View, drawn: dict[str, Figure]) -> None:
    assert "all forms" not in text_of(drawn["level-word-gender"])
    first = view.by_measure["paired_distance.v1"][0]
    sports = dataclasses.replace(first, strata={**first.strata, "domain": "sports"})
    assert shown(view, [first, sports]) == [first]


def test_forms_start_with_the_base(view: View) -> None:
    assert forms(view) == [PLAIN, "biased"]
    assert base_form(view, ["other", "style"]) == "other"
    assert lexicons(view) == {"gender": "liang-2022", "race": "race-occupations"}
    assert places(view)[0] == ("word", "gender")


def test_one_model_with_one_form_is_named_by_itself(tmp_path: Path) -> None:
    rows = [e for e in estimates(("only",)) if e.strata.get("form", PLAIN) in (PLAIN, ALL)]
    view = View.of(write_paired_run(tmp_path / "run", models=("only",), forms=(PLAIN,), rows=rows))
    first = next(e for e in view.by_measure["paired_distance.v1"])
    assert series(view, first) == "only"
    keys = [figure.key for figure in figures(view)]
    assert len(keys) == len(set(keys))


def test_unknown_strata_give_a_box_over_a_table(view: View) -> None:
    odd = dataclasses.replace(view.by_measure["prompt_effect.v1"][0], strata={"model": "m1"})
    with pytest.warns(BrokenFigureWarning, match=r"group_change.v1 could not be drawn: KeyError"):
        (figure,) = build(view, "group_change.v1", [odd])
    assert figure.spec is None
    assert figure.broken
    assert figure.table.rows


def test_word_lists_are_compared(drawn: dict[str, Figure]) -> None:
    lists = {row[3] for row in drawn["by-word-list"].table.rows}
    assert lists == {"liang-2022", "story-list"}


def test_a_difference_that_is_not_resolved_says_so(drawn: dict[str, Figure]) -> None:
    assert "30 headlines cannot tell it from 0" in drawn["forms-word-gender"].reading


def test_differences_that_are_all_undefined_are_a_table(view: View) -> None:
    row = view.by_measure["prompt_effect.v1"][0]
    strata = {**row.strata, "attribute": "race", "lexicon": "race-occupations"}
    odd = dataclasses.replace(row, strata=strata, value=None, undefined="no pair", interval=None)
    (figure,) = build(view, "prompt_effect.v1", [odd])
    assert figure.spec is None
    assert figure.reading == "No difference of distances is known: no pair."


def test_own_groups_keep_their_colours() -> None:
    first, second = (colour_of_group({"age": g}, ["old", "young"]) for g in ("old", "young"))
    assert first != second
    assert f"mark.c{first[1:].lower()} " in colour_rules()


def _contrast(length: str, value: float, half: float, q: float) -> Estimate:
    return estimate(
        "prompt_effect.v1",
        "difference",
        value,
        half=half,
        q=q,
        of="paired_distance",
        level="word",
        attribute="gender",
        lexicon="liang-2022",
        model="m1",
        form="long",
        contrast="long minus short",
        matched="same headlines",
        domain="all",
        source="all",
        length=length,
    )


def _turned_page(folder: Path, *contrasts: Estimate) -> str:
    where = {"level": "word", "attribute": "gender", "lexicon": "liang-2022", "model": "m1"}
    where |= {"domain": "all", "source": "all"}
    rows = [
        dataclasses.replace(
            estimate("paired_distance.v1", "distance", 0.1, form=form, length=length, **where),
            details={"sentence_draws": 20.0, "sd_between_draws": 0.0042},
        )
        for form in ("short", "long")
        for length in ("full", "equal")
    ]
    run = write_paired_run(
        folder, models=("m1",), forms=("short", "long"), rows=[*rows, *contrasts]
    )
    return write_report(run).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("full", "equal", "said"),
    [
        ((0.1, 0.02, 0.01), (-0.1, 0.02, 0.01), "at equal length: the order of the two reverses."),
        ((0.1, 0.02, 0.01), (-0.1, 0.2, 0.4), "not resolved with 30 headlines"),
        ((0.1, 0.2, 0.4), (-0.1, 0.02, 0.01), "only the second can be told from 0"),
        ((0.1, 0.02, 0.01), (0.1, 0.02, 0.01), None),
    ],
)
def test_forms_that_change_places_are_named_as_far_as_that_can_be_told(
    tmp_path: Path,
    full: tuple[float, float, float],
    equal: tuple[float, float, float],
    said: str | None,
) -> None:
    page = _turned_page(tmp_path / "run", _contrast("full", *full), _contrast("equal", *equal))
    assert "means over 20 such draws" in page
    assert "standard deviation of at most 0.004" in page
    assert ("at full length, and 0.100 closer to their originals" in page) == (said is not None)
    assert (said or "Values are means") in page


def test_further_comparisons_that_turn_are_counted(tmp_path: Path) -> None:
    sure = [_contrast("full", 0.1, 0.02, 0.01), _contrast("equal", -0.1, 0.02, 0.01)]
    unsure = [
        dataclasses.replace(e, strata=e.strata | {"level": "document"})
        for e in (_contrast("full", 0.1, 0.2, 0.4), _contrast("equal", -0.1, 0.2, 0.4))
    ]
    page = _turned_page(tmp_path / "run", *unsure, *sure)
    assert "the order of the two reverses" in page
    assert "The sign changes in 1 other comparison of forms; none of these can be told" in page


def test_a_hypothesis_is_named_in_words_not_in_codes() -> None:
    change = next(e for e in estimates() if e.measure == "group_change.v1")
    strata = {"model": "m", "level": "word", "attribute": "gender", "form": PLAIN, "length": "full"}
    change = dataclasses.replace(change, strata=strata, group={"gender": "F"})
    assert label(change) == "Change of a group: female, share of gender words"
    strata |= {"length": "equal", "form": "short"}
    equal = dataclasses.replace(change, strata=strata)
    assert (
        label(equal) == "Change of a group: female, share of gender words, short, at equal length"
    )
    assert label(dataclasses.replace(change, strata={"model": "m"})) == "Change of a group: female"
    own = dataclasses.replace(change, strata=strata | {"lexicon": "mine", "length": "full"})
    assert label(own) == "Change of a group: female, share of gender words, mine, short"
    own = dataclasses.replace(own, strata=own.strata | {"lexicon": "liang-2022"})
    assert label(own) == "Change of a group: female, share of gender words, short"
