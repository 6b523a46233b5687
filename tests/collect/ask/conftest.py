"""A local model server, prompts, and an empty run that the test holds."""

import json

import pyarrow.parquet as pq
import pytest

from portrayal.records import Prompt
from portrayal.run import Run
from servers.openai_server import OpenAIServer

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def key(monkeypatch):
    """A planted key, in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


@pytest.fixture
def serve(key):
    """Start servers that end with the test: `serve(faults=…)`."""
    open_servers = []

    def start(**options):
        server = OpenAIServer(**options)
        server.__enter__()
        open_servers.append(server)
        return server

    yield start
    for server in open_servers:
        server.__exit__()


@pytest.fixture
def prompts():
    """Ten prompts."""
    return [Prompt(f"p{i}", f"Prompt {i}", {"domain": "work"}) for i in range(10)]


@pytest.fixture
def run(tmp_path):
    """An empty run, held."""
    held = Run(tmp_path / "run")
    with held.lock():
        yield held


@pytest.fixture
def rows():
    """Read every row of a run's texts."""
    return lambda run: [
        row for part in run.texts.parts() for row in pq.read_table(part).to_pylist()
    ]


@pytest.fixture
def journalled():
    """Read every whole line of a run's journal."""
    return lambda run: [
        json.loads(line) for line in (run.path / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    ]
