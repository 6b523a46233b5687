"""Labels by a model, as a user types it, against a real server on this machine."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from e2e.conftest import PAGED, QUICK, Portrayal, Serve, command_line, environment, write_lines
from portrayal.run import Run
from servers.labeler import says
from servers.openai_server import Gate, OpenAIServer
from support import matrix

KEY = "sk-planted-0f1e2d3c4b5a6978"
N_TEXTS = 40
WOMAN_AND_MAN = says(["Emily", "Sam"], [["she", "her"], ["he", "him"]])


@pytest.fixture
def serve(serve: Serve) -> Serve:
    """Start servers that label each story as of a woman and a man."""
    return lambda **options: serve(**{"write": WOMAN_AND_MAN, **options})


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Forty stories of a doctor and a patient, a few easy and most hard to tell apart."""
    forms = (
        "Emily met Sam on day {}. The doctor was late, she said; he, the patient, only laughed.",
        "On day {} Sam waited. Emily came, and they talked until he took her bag.",
    )
    rows = [
        {
            "story": forms[i % 2].format(i),
            "prompt_id": f"p{i % 5}",
            "model": "m",
            "domain": "Labor",
            "condition": "power-laden",
            "subject_role": "doctor",
            "object_role": "patient",
        }
        for i in range(N_TEXTS)
    ]
    return write_lines(tmp_path / "stories.jsonl", rows)


def _audit(stories: Path, server: OpenAIServer, *more: object) -> tuple[object, ...]:
    asked = ("--labeler", "llm", "--labeler-model", "server:m", "--set")
    given = ("audit", "laissez-faire", "--texts", stories, "--out", "r", *QUICK)
    return (*given, *asked, f"llm_settings.base_url={server.base_url}", *more)


def _rows(folder: Path) -> list[dict[str, Any]]:
    parts = sorted(folder.glob("part-*.parquet"))
    return [row for part in parts for row in pq.read_table(part).to_pylist()]


def _settings(folder: Path) -> dict[str, Any]:
    return Run(folder / "r").settings()["labeler"]


def test_good_answers_become_the_labels_of_an_audit(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve()
    done = ask(*_audit(stories, server, *PAGED)).ok()
    assert "labelled by server:m, 100 % (40), asked 3 times about each text" in done.out
    assert set(server.answered.values()) == {3}
    assert len(server.answered) == N_TEXTS
    rows = _rows(tmp_path / "r" / "annotations" / "people-llm.v1")
    assert len(rows) == N_TEXTS
    for row in rows:
        assert (row["subject_name"], row["subject_gender"]) == ("Emily", "F")
        assert (row["object_name"], row["object_gender"]) == ("Sam", "M")
        assert (row["error"], row["subject_confidence"]) == (None, 1)
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "labelled by server:m, 100 % (40)" in page
    assert _settings(tmp_path)["n_llm"] == N_TEXTS

    ask(*_audit(stories, server)).ok()
    assert server.requests == 3 * N_TEXTS  # nothing is asked again


_FORMS = (
    "```json\n{}\n```",
    "Sure! Here you are: {} I hope this helps {you}.",
    "<think>{'doctor name': 'Zoe'}</think>\n{}",
)


def test_careless_json_is_mended(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    writes = [says(["Emily", "Sam"], [["she"], ["he"]], form) for form in _FORMS]
    server = serve(write=lambda prompt, n: writes[n](prompt, n).replace('"]', '",]'))
    ask(*_audit(stories, server)).ok()
    rows = _rows(tmp_path / "r" / "annotations" / "people-llm.v1")
    assert {(row["subject_name"], row["object_name"]) for row in rows} == {("Emily", "Sam")}
    assert {row["subject_confidence"] for row in rows} == {1}
    assert _settings(tmp_path)["unusable"] == {}


def test_answers_that_are_no_labels_are_counted_and_never_taken_for_unspecified(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve(
        write=lambda prompt, _: "Emily." if "day 0." in prompt else WOMAN_AND_MAN(prompt, 0)
    )
    done = ask(*_audit(stories, server)).ok()
    assert "1 of 40 texts got no usable answer and are unlabelled" in done.out
    rows = _rows(tmp_path / "r" / "annotations" / "people-llm.v1")
    (failed,) = [row for row in rows if row["error"]]
    assert failed["error"] == "DataError: unlabelled: of 3 answers 3 malformed"
    assert failed["subject_gender"] is None
    assert _settings(tmp_path)["unusable"] == {"malformed": 3}


def test_what_is_not_in_the_text_is_removed_and_counted(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve(write=says(["Zoe", "the patient"], [["she", "girl"], ["he", "mr"]]))
    ask(*_audit(stories, server, "--set", "labeler_samples=1", *PAGED)).ok()
    for row in _rows(tmp_path / "r" / "annotations" / "people-llm.v1"):
        assert (row["subject_name"], row["object_name"]) == (None, None)
        assert set(row["subject_references"]) <= {"she"}
    removed = _settings(tmp_path)["removed"]
    assert removed["names not in the text"] == N_TEXTS
    assert removed["names that are role words"] == N_TEXTS
    assert removed["references not in the text"] >= 2 * N_TEXTS
    said = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "Removed from its answers: 40 names not in the text" in said


def test_a_server_that_fails_now_and_then_costs_no_label(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve(faults={"server_error": 0.03, "truncated": 0.03, "rate_limit": 0.03})
    ask(*_audit(stories, server)).ok()
    assert server.served["server_error"] > 0
    assert set(server.answered.values()) == {3}
    rows = _rows(tmp_path / "r" / "annotations" / "people-llm.v1")
    assert not any(row["error"] for row in rows)


def test_a_failed_call_is_mended_by_a_later_try(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve(script=["rejected"] * 2)
    one = ("--concurrency", 1, "--set", "labeler_samples=1")
    done = ask(*_audit(stories, server, *one)).ok()
    assert "2 of 40 texts got no usable answer" in done.out
    facts = _settings(tmp_path)
    assert (facts["n_llm"], facts["n_unlabelled"]) == (38, 2)

    before = server.answered.copy()
    ask(*_audit(stories, server, *one)).ok()
    assert (server.answered - before).total() == 2
    assert _settings(tmp_path)["n_llm"] == N_TEXTS
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("stop", matrix([signal.SIGKILL, signal.SIGINT]))
def test_stopped_in_the_middle_it_goes_on_without_asking_again(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path, stop: int
) -> None:
    gate = Gate(10)
    server = serve(script=gate, slow=1)
    arguments = _audit(stories, server, "--concurrency", 2)
    process = subprocess.Popen(
        command_line(*arguments),
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while server.answered.total() < 10 or server.in_flight < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.3)  # what was answered is in the journal
    os.killpg(process.pid, stop)
    _, error = process.communicate(timeout=60)
    assert process.returncode == (130 if stop == signal.SIGINT else -stop), error
    assert "Traceback" not in error
    assert not (tmp_path / "r" / "report.html").exists()
    (folder,) = (tmp_path / "r" / "answers" / "people").iterdir()
    journalled = (folder / "journal.jsonl").read_text(encoding="utf-8")
    folded = _rows(folder / "texts")
    assert journalled.count('"sample"') + len(folded) >= 10

    gate.open.set()
    until = time.monotonic() + 10
    while server.in_flight and time.monotonic() < until:  # those of the dead process
        time.sleep(0.01)
    paid_in_vain = 2 if stop == signal.SIGKILL else 0  # they were in flight when it died
    ask(*arguments).ok()
    assert 3 * N_TEXTS <= server.requests <= 3 * N_TEXTS + paid_in_vain
    assert _settings(tmp_path)["n_llm"] == N_TEXTS


def test_a_planted_key_is_nowhere_in_the_run(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve(faults={"rejected": 0.1})
    keys = {"OPENAI_API_KEY": KEY, "PORTRAYAL_SERVER_KEY": KEY}
    said = [ask(*_audit(stories, server), **keys).ok()]
    address = f"llm_settings.base_url={server.base_url}"
    openai = (
        "--labeler",
        "llm",
        "--labeler-model",
        "openai:gpt-4o-mini",
        "--set",
        address,
        "--yes",
    )
    again = ("audit", "laissez-faire", "--texts", stories, "--out", "r", *openai, *QUICK)
    said.append(ask(*again, **keys).ok())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len([path for path in files if "people" in path.parts]) >= 6
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    assert not any(KEY in done.out + done.err for done in said)


def test_a_key_that_a_message_echoes_is_not_shown(
    ask: Portrayal, serve: Serve, stories: Path
) -> None:
    server = serve(script=["unauthorized"] * 100)
    done = ask(*_audit(stories, server), PORTRAYAL_SERVER_KEY=KEY)
    done.refused("PORTRAYAL_SERVER_KEY")
    assert KEY not in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--labeler", "llm"), "--labeler-model"),
        (("--labeler", "gpt"), "labeler"),
        (("--labeler", "llm", "--labeler-model", "gpt-5"), "SERVICE:MODEL"),
        (("--labeler-model", "server:m"), "asks no model"),
        (("--set", "llm_settings.budget=1 USD"), "says nothing without --labeler-model"),
        (("--labeler", "embedded", "--labeler-model", "server:m"), "asks no model"),
        (("--labeler", "llm", "--labeler-model", "openai:gpt-4o-mini"), "OPENAI_API_KEY"),
    ],
)
def test_options_that_cannot_be_used_are_told_before_any_text_is_read(
    ask: Portrayal, stories: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    given = ("audit", "laissez-faire", "--texts", stories, "--out", "r", *QUICK)
    ask(*given, *arguments).refused(words)
    assert not (tmp_path / "r" / "texts").exists()


def test_a_paid_labelling_waits_for_a_yes(
    ask: Portrayal, serve: Serve, stories: Path, tmp_path: Path
) -> None:
    server = serve()
    address = f"llm_settings.base_url={server.base_url}"
    openai = ("--labeler-model", "openai:gpt-4o-mini", "--set", address)
    given = ("audit", "laissez-faire", "--texts", stories, "--out", "r", "--labeler", "llm")
    ask(*given, *openai, *QUICK, OPENAI_API_KEY=KEY).refused("USD", "--yes")
    assert server.requests == 0


def test_a_model_labels_sheets_with_a_codebook(ask: Portrayal, tmp_path: Path) -> None:
    ask("label", "model", "nowhere", "--labeler-model", "server:m").refused("codebook")
    assert not (tmp_path / "nowhere").exists()
