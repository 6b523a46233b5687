"""A fixture for pytest: `portrayal_gate(run, against, policy)` fails a test that a gate stops.

pytest loads it by itself where Portrayal is installed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from portrayal.gating.verdict import Verdict


@pytest.fixture(scope="session")
def portrayal_gate() -> "Callable[..., Verdict]":
    """Judge a run as `portrayal.gate` does; any outcome but "pass" fails the test with a table."""

    def judge(run: Any, against: Any, policy: Any) -> "Verdict":
        __tracebackhide__ = True
        from portrayal.gating.gate import gate
        from portrayal.gating.verdict import FORMATS

        verdict = gate(run, against, policy)
        if not verdict.passed:
            pytest.fail(FORMATS["table"](verdict), pytrace=False)
        return verdict

    return judge
