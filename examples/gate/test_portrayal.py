"""A gate as a test: pytest finds the fixture by itself where Portrayal is installed."""

from pathlib import Path

HERE = Path(__file__).parent


def test_the_candidate_portrays_people_as_the_base_does(portrayal_gate):
    """Fails with the gate's table for any outcome but "pass"."""
    portrayal_gate(HERE / "runs/candidate", HERE / "runs/base", HERE / "gate.toml")
