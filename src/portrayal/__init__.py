"""Portrayal measures how language models portray people in open-ended text.

`portrayal.audit(study, texts=…)` returns a run with `.estimates` and `.report(path)`;
`portrayal.open_run(path)` opens one that is there already.
"""

from typing import TYPE_CHECKING, Any

from portrayal._version import __version__

if TYPE_CHECKING:
    from portrayal.pipeline.audit import audit
    from portrayal.run import Run

__all__ = ["Run", "__version__", "audit", "open_run"]


def open_run(path: str) -> "Run":
    """Open the run directory `path`."""
    from portrayal.run import Run

    return Run.open(path)


def __getattr__(name: str) -> Any:
    if name == "audit":
        from portrayal.pipeline.audit import audit

        return audit
    if name == "Run":
        from portrayal.run import Run

        return Run
    raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
