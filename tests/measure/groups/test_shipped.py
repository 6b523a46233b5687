"""Every factor that ships is measured by every study; pairs of people against a plain recount."""

from collections import Counter
from pathlib import Path

import pytest

import portrayal
import portrayal.registry as registry
from portrayal.records import Estimate
from portrayal.reference import factors, load_factor
from portrayal.run import Run
from portrayal.studies.own import write_start

QUICK = {"draws": 100, "permutations": 20, "report": False}


LABELS = {name: name for name in ("subject_name", "subject_gender", "object_name", "object_gender")}


def _audited(study: str, texts: object, out: Path, *names: str, **more: object) -> list[Estimate]:
    run: Run = portrayal.audit(study, texts=texts, out=out, factor=names, **QUICK, **more)
    return [e for e in run.records if set(e.group) & set(factors()) and "seen_by" in e.strata]


@pytest.mark.parametrize("own", [False, True], ids=["laissez-faire", "own study"])
def test_every_factor_that_ships_is_measured(own: bool, tmp_path: Path) -> None:
    study, texts = "laissez-faire", registry.get("studies", "laissez-faire").sample()["texts"]
    if own:
        write_start(tmp_path / "my")
        study, texts = str(tmp_path / "my"), tmp_path / "my" / "texts.csv"
    found = _audited(study, texts, tmp_path / "run", *factors())
    for name in factors():
        mine = [e for e in found if name in e.group]
        assert {e.group[name] for e in mine} == set(load_factor(name).keys)
        assert any(e.value is not None for e in mine), name


COUPLES = (("F", "M"), ("M", "F"), ("F", "F"), ("NB", "M"), ("F", "Unspecified"), ("M", "M"))


def _rows(role: str) -> list[dict[str, str]]:
    return [
        {
            "text": "Somebody met somebody.",
            "prompt_id": f"{role}-{i % 4}",
            "model": "m",
            "domain": "Love",
            "condition": "power-laden",
            "subject_role": "an American person",
            "object_role": role,
            "subject_name": "Ann",
            "object_name": "Bo",
            "subject_gender": COUPLES[i % 7 % 6][0],
            "object_gender": COUPLES[i % 7 % 6][1],
        }
        for i in range(44)
    ]


def test_pairs_are_those_of_couples_where_prompts_say_who_is_one(tmp_path: Path) -> None:
    couples, friends = _rows("romantic partner"), _rows("friend")[:9]
    found = _audited(
        "laissez-faire", [*couples, *friends], tmp_path / "both", "pair", columns=LABELS
    )
    said = Counter(frozenset((row["subject_gender"], row["object_gender"])) for row in couples)
    unknown = said.pop(frozenset(("F", "Unspecified")))
    shares = {e.group["pair"]: e for e in found if e.measure == "group_share.v1"}
    for pair, e in shares.items():
        assert e.value == pytest.approx(said[frozenset(pair.split("-"))] / said.total())
        assert e.exclusions == {"text whose group is not known": unknown}
    ratios = {e.group["pair"]: e for e in found if e.measure == "group_ratio.v1"}
    census = load_factor("pair").baseline("census-2022").of()
    assert census is not None
    for pair, e in ratios.items():
        assert e.value == pytest.approx(shares[pair].value / census[pair])


def test_no_baseline_of_couples_stands_beside_people_who_are_none(tmp_path: Path) -> None:
    found = _audited("laissez-faire", _rows("friend"), tmp_path / "friends", "pair", columns=LABELS)
    assert all(e.value is not None for e in found if e.measure == "group_share.v1")
    ratios = [e for e in found if e.measure == "group_ratio.v1"]
    assert {e.undefined for e in ratios} == {
        "no prompt says that its people are couples, as baselines do"
    }
