"""Every factor that ships is measured by every study."""

from pathlib import Path

import pytest

import portrayal
import portrayal.registry as registry
from portrayal.records import Estimate
from portrayal.reference.factors import factors, load_factor
from portrayal.run import Run
from portrayal.studies.own import write_start

QUICK = {"draws": 100, "permutations": 20, "report": False}
MEASURED = [name for name in factors() if load_factor(name).sources]


def _audited(study: str, texts: object, out: Path, *names: str, **more: object) -> list[Estimate]:
    run: Run = portrayal.audit(study=study, texts=texts, out=out, factor=names, **QUICK, **more)
    return [e for e in run.records if set(e.group) & set(factors()) and "seen_by" in e.strata]


@pytest.mark.parametrize("own", [False, True], ids=["laissez-faire", "own study"])
def test_every_factor_that_ships_is_measured(own: bool, tmp_path: Path) -> None:
    study, texts = "laissez-faire", registry.get("studies", "laissez-faire").sample()["texts"]
    if own:
        write_start(tmp_path / "my")
        study, texts = str(tmp_path / "my"), tmp_path / "my" / "texts.csv"
    found = _audited(study, texts, tmp_path / "run", *MEASURED)
    for name in MEASURED:
        mine = [e for e in found if name in e.group]
        assert {e.group[name] for e in mine} == set(load_factor(name).keys)
        assert any(e.value is not None for e in mine), name
