"""Restarts: killed anywhere, cut short anywhere, nothing is lost, doubled or asked twice."""

import json
import signal
import subprocess
import sys
import time
from types import MappingProxyType

import pyarrow.parquet as pq
import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask import journal as fold
from portrayal.collect.ask.collection import Collection
from portrayal.collect.ask.provider import Answer, provider_of
from portrayal.errors import OptionError, RunError
from portrayal.records import Prompt
from portrayal.run import Run

SCRIPT = """
import sys
from pathlib import Path
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.loop import collect
from portrayal.records import Prompt
from portrayal.run import Run

path, url = sys.argv[1:]
prompts = [Prompt(f"p{i}", f"Prompt {i}", {"domain": "work"}) for i in range(10)]
run = Run(Path(path))
with run.lock():
    collect(run, prompts, Asking("openai:test", 30, base_url=url, concurrency=8), shard_rows=70)
"""


class Quiet:
    """A provider that answers at once."""

    name = "quiet:one"
    parameters = MappingProxyType({})

    async def ask(self, prompt):
        return Answer("A story.")

    async def close(self):
        pass


@pytest.mark.fault("kill -9 of a collection", "the same command goes on; no answer is asked twice")
def test_a_killed_collection_continues_where_it_was(serve, prompts, tmp_path, rows, journalled):
    server = serve(delay=0.01)
    path = tmp_path / "run"
    child = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path), server.base_url])
    while server.requests < 180 and child.poll() is None:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    run = Run(path)
    kept = {row["key"]: row["response_id"] for row in journalled(run)}
    kept |= {row["text_id"]: row["source_id"] for row in rows(run)}
    assert 0 < len(kept) < 300
    asked = server.requests
    with run.lock():
        model = provider_of("openai:test", base_url=server.base_url)
        report = collect_texts(run, prompts, model, 30, concurrency=8, shard_rows=70)
    assert report.complete
    assert report.asked == 300 - len(kept)
    assert server.requests - asked <= report.asked + 8  # what the killed one had in flight
    now = {row["text_id"]: row["source_id"] for row in rows(run)}
    assert len(now) == len(rows(run)) == 300
    assert kept.items() <= now.items()
    assert sum(server.answered.values()) <= 300 + 8


def test_a_second_process_is_refused(run):
    with pytest.raises(RunError, match="another process"), Run(run.path).lock():
        pass


def _record(collection, count):
    for request, _ in zip(collection.plan, range(count), strict=False):
        collection.record(request, Answer("A story.", response_id=f"id-{request.key}"))


def _cut(monkeypatch, module, name, *, after=False):
    """Make a step of a fold fail, before or after it has happened."""
    real = getattr(module, name)

    def failing(*args, **kwargs):
        if after:
            real(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, failing)


@pytest.mark.fault("a process ends while the journal becomes texts", "no row is lost or doubled")
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["part", "journal"])
def test_a_fold_cut_short_anywhere_is_finished_by_the_next(
    run, prompts, rows, monkeypatch, step, after
):
    """The crash points of the argument in `fold`: around the part, around the new journal."""
    collection = Collection(run, prompts, Quiet(), 3)
    _record(collection, 17)
    module = sys.modules["portrayal.collect.ask.journal"]
    with monkeypatch.context() as patched:
        _cut(patched, module, "_write" if step == "part" else "_write_whole", after=after)
        with pytest.raises(KeyboardInterrupt):
            collection.close()
    again = Collection(run, prompts, Quiet(), 3)
    assert again.plan.n_done == 17
    assert again.report.outcomes == {"ok": 17}
    _record(again, 100)
    again.close()
    assert len(rows(run)) == 30
    assert len({row["text_id"] for row in rows(run)}) == 30
    assert run.texts.note()["n_texts"] == 30
    assert run.texts.note()["complete"]


def test_more_samples_add_parts_and_leave_the_old_ones_alone(run, prompts, rows):
    collect_texts(run, prompts, Quiet(), 2)
    before = {part.name: part.read_bytes() for part in run.texts.parts()}
    mark = run.texts.note()["fingerprint"]
    report = collect_texts(run, prompts, Quiet(), 5)
    assert (report.asked, report.total) == (30, 50)
    after = {part.name: part.read_bytes() for part in run.texts.parts()}
    assert before.items() < after.items()
    assert run.texts.note()["fingerprint"] == mark
    assert len(rows(run)) == 50


def test_a_finished_collection_asks_nothing(run, prompts, serve):
    server = serve()
    model = provider_of("openai:test", base_url=server.base_url)
    collect_texts(run, prompts, model, 2)
    report = collect_texts(run, prompts, model, 2)
    assert (report.asked, report.tries, server.requests) == (0, 0, 20)
    assert report.complete


def test_two_models_share_a_run(run, prompts, rows):
    other = Quiet()
    other.name = "quiet:two"
    collect_texts(run, prompts, Quiet(), 2)
    collect_texts(run, prompts, other, 1)
    assert {row["model"] for row in rows(run)} == {"quiet:one", "quiet:two"}
    note = run.texts.note()
    assert note["models"] == ["quiet:one", "quiet:two"]
    assert (note["n_texts"], note["complete"]) == (30, True)


def test_other_prompts_parameters_or_texts_are_refused(run, prompts, tmp_path):
    collect_texts(run, prompts, Quiet(), 1)
    with pytest.raises(RunError, match="another --out"):
        collect_texts(run, prompts[:5], Quiet(), 1)
    warm = Quiet()
    warm.parameters = {"temperature": 1.0}
    with pytest.raises(RunError, match="parameters"):
        collect_texts(run, prompts, warm, 1)
    imported = Run(tmp_path / "imported")
    imported.texts.begin("other")
    imported.texts.finish("other", {"source_digest": "x", "n_texts": 1})
    with pytest.raises(RunError, match="other texts"):
        collect_texts(imported, prompts, Quiet(), 1)


def test_prompts_need_names_of_their_own(run):
    twice = [Prompt("a", "One", {}), Prompt("a", "Two", {})]
    with pytest.raises(OptionError, match="prompt_id"):
        collect_texts(run, twice, Quiet(), 1)
    same = [Prompt("a", "One", {}), Prompt("b", "One", {})]
    assert collect_texts(run, same, Quiet(), 1).asked == 2


def test_the_journal_says_when_and_how_often_but_no_row_is_lost_with_it(run, prompts, rows):
    collect_texts(run, prompts[:1], Quiet(), 1)
    (row,) = rows(run)
    assert row["attempts"] == 1
    assert row["asked_at"].endswith("+00:00")
    assert not (run.path / "journal.jsonl").read_text()
    assert fold.SCHEMA.names == pq.read_schema(run.texts.parts()[0]).names


def test_an_import_does_not_take_the_place_of_answers_unasked(run, prompts, rows, tmp_path):
    from portrayal.collect import TextFields, import_texts

    collect_texts(run, prompts, Quiet(), 1)
    source = tmp_path / "texts.jsonl"
    source.write_text(json.dumps({"text": "A story.", "prompt": "Prompt 0"}) + "\n")
    with pytest.raises(RunError, match="already holds other texts"):
        import_texts(run, source, TextFields(strata=("domain",), required=()), prompts)
    assert len(rows(run)) == 10
