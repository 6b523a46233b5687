"""`portrayal evidence`: a model card on the command line, and the check of its run."""

from pathlib import Path

from .conftest import PAGED, Portrayal


def test_a_card_is_written_and_tampering_is_named(inside: Portrayal, tmp_path: Path) -> None:
    inside("audit", "laissez-faire", "--sample", "--out", "r", *PAGED).ok()
    said = inside("evidence", "r").ok().out
    assert "sha256 of r/manifest.json" in said
    assert (tmp_path / "r" / "evidence" / "model-card.md").is_file()
    with (tmp_path / "r" / "report.html").open("a", encoding="utf-8") as stream:
        stream.write("<!-- better -->")
    inside("evidence", "r").refused("report.html is not as it was written")


def test_what_is_no_run_is_one_line(inside: Portrayal) -> None:
    inside("evidence", "r").refused("r is not a run")
