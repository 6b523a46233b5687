"""Portrayal measures how language models portray people in open-ended text.

`portrayal.audit(study, texts=…)` returns a run with `.estimates`, and
`portrayal.write_report(run, path)` writes its report; `portrayal.open_run(path)` opens one that is
there already. `portrayal.compare(a, b)` says what differs between two runs, and
`portrayal.gate(run, against, policy)` whether a policy lets one pass.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from portrayal._version import __version__

if TYPE_CHECKING:
    from portrayal.comparison.compare import compare
    from portrayal.gating.gate import gate
    from portrayal.pipeline.audit import audit
    from portrayal.report import write_report
    from portrayal.run import Run

__all__ = ["Run", "__version__", "audit", "compare", "gate", "open_run", "write_report"]

_MODULES = {
    "Run": "portrayal.run",
    "audit": "portrayal.pipeline.audit",
    "compare": "portrayal.comparison.compare",
    "gate": "portrayal.gating.gate",
    "write_report": "portrayal.report",
}
"""Where each public name is; a module is imported when its name is first used."""


def open_run(path: str) -> "Run":
    """Open the run directory `path`.

    Raises
    ------
    RunError
        When `path` is not a run directory.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit("laissez-faire", texts=stories, out="first", report=False)
    >>> portrayal.open_run("first").estimates.equals(run.estimates)
    True
    """
    from portrayal.run import Run

    return Run.open(path)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
