"""The news audit as a whole: the same numbers on any machine, and what makes it run again."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import portrayal
import portrayal.studies.news.audit as news_audit
from portrayal import registry
from portrayal.errors import DataError, MissingExtraError, OptionError
from portrayal.measure.pairs.table import PLAIN_FORM
from portrayal.records import Estimate
from portrayal.run import Run
from portrayal.studies.news.audit import LEVELS, NewsOptions
from support import needs

needs("textblob", "lemminflect", "sklearn")

QUICK: dict[str, Any] = {"draws": 100, "permutations": 20, "report": False}


def _audit(out: Path, **more: Any) -> Run:
    sample = registry.get("studies", "news").sample()
    return portrayal.audit(study="news", out=out, **(QUICK | sample | more))


def test_no_number_depends_on_shards_or_workers(
    sample_runs: Callable[[str], Run], tmp_path: Path
) -> None:
    one = sample_runs("news")
    other = _audit(tmp_path, shard_rows=5, workers=2, draws=200, permutations=40)
    assert len(other.texts.parts()) > len(one.texts.parts()) == 1
    assert other.estimates_path.read_bytes() == one.estimates_path.read_bytes()


def test_estimates_are_made_again_where_the_topics_were(tmp_path: Path) -> None:
    run = _audit(tmp_path / "run", topics=(2,), levels=("document",))
    before = run.estimates_path.stat().st_mtime_ns
    again = _audit(tmp_path / "run", topics=(2,), levels=("document",))
    assert again.estimates_path.stat().st_mtime_ns == before
    mark = registry.get("studies", "news").fit
    said: list[str] = []
    options = registry.get("studies", "news").options
    two = mark(run, options(topics=(2,), levels=("document",)), said.append)
    three = mark(run, options(topics=(3,), levels=("document",)), said.append)
    assert two != three
    assert mark(run, options(levels=("word",)), said.append) is None


def test_levels_that_were_asked_for_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = news_audit.find_spec
    monkeypatch.setattr(news_audit, "find_spec", lambda name: name != "lemminflect" and whole(name))
    chosen, left_out = NewsOptions().chosen()
    assert chosen == ("word", "sentiment")
    assert 'pip install "portrayal[news]"' in left_out["document"]
    with pytest.raises(MissingExtraError, match="the document level needs more"):
        NewsOptions(levels=("document",)).chosen()


def test_toxicity_is_on_request() -> None:
    chosen, left_out = NewsOptions().chosen()
    assert "toxicity" not in chosen
    assert "--levels toxicity" in left_out["toxicity"]
    with pytest.raises(OptionError, match="levels"):
        NewsOptions(levels=("paragraph",)).chosen()
    assert NewsOptions(levels=("word",)).chosen()[1] == dict.fromkeys(LEVELS[1:], "not asked for")


def _distance(run: Run, attribute: str) -> Estimate:
    found = [
        row
        for row in run.records
        if row.measure == "paired_distance.v1" and row.strata["attribute"] == attribute
    ]
    return found[0]


NAMED = (
    {"headline": "h1", "text": "Lakisha Jones met Hao Nguyen. The vote was close."},
    {"headline": "h2", "text": "Greg Becker spoke to Tyrone Washington."},
    {"headline": "h3", "text": "Emily Walsh won the race."},
)
REWRITTEN = tuple(
    {"headline": row["headline"], "model": "m", "text": text}
    for row, text in zip(
        NAMED,
        ("Emily Walsh met Hao Nguyen.", "Greg Becker spoke.", "Lakisha Jones won the race."),
        strict=True,
    )
)


def test_race_is_undefined_with_a_reason_or_counted_by_names(tmp_path: Path) -> None:
    """No "white doctor" stands in these texts; people are named by first and last name."""
    given = {"texts": REWRITTEN, "reference": NAMED, "levels": ("word",)}
    plain = _audit(tmp_path / "plain", **given, report=True, named_people="lists")
    race = _distance(plain, "race")
    assert race.value is None
    assert race.undefined == "no pair in which both texts mention a group"
    assert race.exclusions == {"no group words in either text": 3}
    page = portrayal.write_report(plain).read_text(encoding="utf-8")
    assert re.search(r"race, unbiased(<[^>]*>|\s)*no group words in either text", page)
    assert "named people" not in race.instruments
    said: list[str] = []
    named = _audit(tmp_path / "named", **given, say=said.append)
    race = _distance(named, "race")
    assert race.n_units == 3
    assert race.value is not None
    assert 0.1 < race.value < 1
    assert race.null is not None
    assert race.null.method.startswith("sentences with group words dealt again")
    assert race.null.low <= race.value
    assert race.strata["lexicon"] == "race-occupations+names"
    counted = race.instruments["named people"]
    assert counted == "by race shares of the bearers of their first names"
    assert f"race: people named by first and last name count {counted}" in said


def test_a_table_of_people_counts_alone_unless_first_names_are_asked_for(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("person,race\nEmily Walsh,White\nHao Nguyen,Asian\nLakisha Jones,Black\n")
    assert not NewsOptions(people=str(table)).by_first_names
    assert NewsOptions(people=str(table), named_people="first-names").by_first_names
    assert not NewsOptions(lexicons=("liang-2022",)).by_first_names
    with pytest.raises(OptionError, match="named_people"):
        NewsOptions(named_people="surnames")
    given = {"texts": REWRITTEN, "reference": NAMED, "levels": ("word",)}
    race = _distance(_audit(tmp_path / "run", **given, people=str(table)), "race")
    assert race.strata["lexicon"] == "race-occupations+people"
    assert race.n_units == 2


def test_keys_that_match_nowhere_are_an_error(tmp_path: Path) -> None:
    texts = [{"headline": "another", "model": "m", "text": "She left."}]
    with pytest.raises(DataError, match=r"no text names an original: .*'another'.*'h1'"):
        _audit(tmp_path / "run", texts=texts, reference=NAMED, levels=("word",))


@pytest.mark.parametrize("text", ["", "I'm sorry, but I can't help with that."])
def test_texts_that_cannot_be_read_leave_counts_and_a_report(tmp_path: Path, text: str) -> None:
    texts = [row | {"text": text} for row in REWRITTEN]
    run = _audit(tmp_path / "run", texts=texts, reference=NAMED, topics=(2,), report=True)
    lost = [e.exclusions for e in run.records if e.measure == "text_lengths.v1" and not e.n_texts]
    assert lost == [{"refused" if text else "empty": 3}]
    assert portrayal.write_report(run).is_file()


def test_an_unknown_base_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no text has the form 'rude'"):
        _audit(tmp_path / "run", base_form="rude", levels=("word",))


def test_what_the_study_asks_is_asked_once_and_the_rest_are_details(tmp_path: Path) -> None:
    """Fang et al. ask each attribute at each level and what a form changes."""
    run = _audit(tmp_path / "run", levels=("word", "sentiment"))
    asked = [e for e in run.records if e.tests and e.tests[0].audit_q is not None]
    effects = [e for e in asked if e.measure == "prompt_effect.v1"]
    assert {(e.strata["of"], e.strata["matched"]) for e in effects} == {
        ("paired_distance", "same headlines")
    }
    rest = [e for e in asked if e not in effects]
    assert {e.measure for e in rest} == {"paired_distance.v1", "group_change.v1"}
    assert {e.strata["form"] for e in rest} == {PLAIN_FORM}
    assert len(asked) <= 20
    shares = [e for e in asked if e.measure == "group_change.v1" and e.strata["level"] == "word"]
    assert {e.group["gender"] for e in shares if "gender" in e.group} == {"F"}, "men are the mirror"
