"""`portrayal evidence`: a pack on the command line, and its check."""

from pathlib import Path

from .conftest import PAGED, Portrayal


def test_a_pack_is_written_and_checked_and_tampering_is_named(
    inside: Portrayal, tmp_path: Path
) -> None:
    inside("audit", "laissez-faire", "--sample", "--out", "r", *PAGED).ok()
    said = inside("evidence", "r", "--for", "model-card").ok().out
    assert "fields filled; the others: not measured by this audit" in said
    folder = tmp_path / "r" / "evidence" / "model-card"
    assert {p.name for p in folder.iterdir()} == {"evidence.json", "evidence.md"}
    checked = inside("evidence", "r", "--verify").ok().out
    assert "all as they were" in checked
    assert "sha256 of r/manifest.json" in checked
    with (tmp_path / "r" / "report.html").open("a", encoding="utf-8") as stream:
        stream.write("<!-- better -->")
    done = inside("evidence", "r", "--verify", "--for", "model-card")
    assert done.status == 1
    assert "report.html is not as it was written" in done.out
    assert "1 not as they were" in done.out


def test_what_cannot_be_done_is_one_line(inside: Portrayal) -> None:
    inside("evidence", "r").refused("--for eu-ai-act, colorado")
    inside("evidence", "r", "--verify").refused("has no manifest.json")
    inside("evidence", "r", "--for", "model-card").refused("r is not a run")
