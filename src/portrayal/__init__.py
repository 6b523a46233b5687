"""Portrayal measures how language models portray people in open-ended text.

`portrayal.audit(study, texts=…)` returns a run with `.estimates` and `.plot(measure)`, and
`portrayal.write_report(run, path)` writes its report; `portrayal.open_run(path)` opens one that is
there already. `portrayal.compare(a, b)` says what differs between two runs, and
`portrayal.gate(run, against, policy)` whether a policy lets one pass. `portrayal.plan(kind,
effects)` says beforehand how many prompts or texts show an effect.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from portrayal._version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from portrayal.collect.ask.asking import Asking
    from portrayal.comparison.compare import Side, compare, compare_several
    from portrayal.gating.gate import gate
    from portrayal.pipeline.audit import audit
    from portrayal.pipeline.model_card import verify_run, write_model_card
    from portrayal.planning import plan
    from portrayal.report import Report, write_report
    from portrayal.run import Run

__all__ = [
    "Asking",
    "Report",
    "Run",
    "Side",
    "__version__",
    "audit",
    "compare",
    "compare_several",
    "gate",
    "open_run",
    "plan",
    "verify_run",
    "write_model_card",
    "write_report",
]

_MODULES = {
    "Asking": "portrayal.collect.ask.asking",
    "Report": "portrayal.report",
    "Run": "portrayal.run",
    "Side": "portrayal.comparison.compare",
    "audit": "portrayal.pipeline.audit",
    "compare": "portrayal.comparison.compare",
    "compare_several": "portrayal.comparison.compare",
    "gate": "portrayal.gating.gate",
    "plan": "portrayal.planning",
    "verify_run": "portrayal.pipeline.model_card",
    "write_model_card": "portrayal.pipeline.model_card",
    "write_report": "portrayal.report",
}
"""Where each public name is; a module is imported when its name is first used."""


def open_run(path: "str | Path") -> "Run":
    """Open the run directory `path`.

    Raises
    ------
    RunError
        When `path` is not a run directory.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit(study="laissez-faire", texts=stories, out="first", report=False)
    >>> portrayal.open_run("first").estimates.table.equals(run.estimates.table)
    True
    """
    from portrayal.run import Run

    return Run.open(path)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
    # Imported on first use (PEP 562): `import portrayal` alone loads no arrays and no tables
    return getattr(import_module(_MODULES[name]), name)
