"""The news audit as a whole: the same numbers on any machine, and what makes it run again."""

from pathlib import Path
from typing import Any

import pytest

import portrayal
from portrayal import registry
from portrayal.errors import MissingExtraError, OptionError
from portrayal.run import Run
from portrayal.studies.news import levels
from portrayal.studies.news.levels import LEVELS, chosen_levels

pytest.importorskip("textblob", reason="sentiment needs textblob (extra 'news')")
pytest.importorskip("gensim", reason="topics need gensim (extra 'news')")

QUICK: dict[str, Any] = {"draws": 100, "permutations": 20, "report": False}


def _audit(out: Path, **more: Any) -> Run:
    sample = registry.get("studies", "news").sample()
    return portrayal.audit("news", out=out, **(QUICK | sample | more))


def test_no_number_depends_on_shards_or_workers(tmp_path: Path) -> None:
    one = _audit(tmp_path / "one")
    other = _audit(tmp_path / "other", shard_rows=5, workers=2)
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
    whole = levels.find_spec
    monkeypatch.setattr(levels, "find_spec", lambda name: name != "gensim" and whole(name))
    chosen, left_out = chosen_levels(())
    assert chosen == ("word", "sentiment")
    assert 'pip install "portrayal[news]"' in left_out["document"]
    with pytest.raises(MissingExtraError, match="the document level needs more"):
        chosen_levels(("document",))


def test_toxicity_is_on_request() -> None:
    chosen, left_out = chosen_levels(())
    assert "toxicity" not in chosen
    assert "--levels toxicity" in left_out["toxicity"]
    with pytest.raises(OptionError, match="levels"):
        chosen_levels(("paragraph",))
    assert chosen_levels(("word",))[1] == dict.fromkeys(LEVELS[1:], "not asked for")


def test_an_unknown_base_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no text has the form 'rude'"):
        _audit(tmp_path / "run", base_form="rude", levels=("word",))
