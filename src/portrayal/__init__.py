"""Portrayal measures how language models portray people in open-ended text.

`portrayal.audit(study, texts=…)` returns a run with `.estimates`, and
`portrayal.write_report(run, path)` writes its report; `portrayal.open_run(path)` opens one that is
there already. `portrayal.compare(a, b)` says what differs between two runs.
"""

from typing import TYPE_CHECKING, Any

from portrayal._version import __version__

if TYPE_CHECKING:
    from portrayal.comparison.compare import compare
    from portrayal.pipeline.audit import audit
    from portrayal.report import write_report
    from portrayal.run import Run

__all__ = ["Run", "__version__", "audit", "compare", "open_run", "write_report"]


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
    if name == "audit":
        from portrayal.pipeline.audit import audit

        return audit
    if name == "compare":
        from portrayal.comparison.compare import compare

        return compare
    if name == "write_report":
        from portrayal.report import write_report

        return write_report
    if name == "Run":
        from portrayal.run import Run

        return Run
    raise AttributeError(f"module 'portrayal' has no attribute {name!r}")
