"""The command `compare`, from files of texts to a table."""

import json

import pytest

from comparison.test_compare import stories

FOLDER = "runs"


@pytest.fixture
def audited(portrayal, tmp_path):
    """Runs of one model each, and one of both."""
    for name, share, seed in (("a", 0.8, 1), ("b", 0.3, 2)):
        rows = stories(share, seed, name, 10)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    both = (tmp_path / "a.jsonl").read_text() + "\n" + (tmp_path / "b.jsonl").read_text()
    (tmp_path / "both.jsonl").write_text(both)
    for name in ("a", "b", "both"):
        audit = portrayal("audit", "laissez-faire", "--texts", f"{name}.jsonl", "--out", name)
        assert audit.returncode == 0, audit.stderr
    return tmp_path
