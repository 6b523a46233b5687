"""What is logged to MLflow and W&B equals the run; what JSON says of a run keeps to its schema."""

import csv
import json
import math
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from command import invoke
from portrayal.errors import MissingExtraError, OptionError, RunError
from portrayal.report import SCHEMAS, log_run, schema
from portrayal.report.tracking import metrics_of
from portrayal.run import Run
from support import needs


@pytest.fixture
def page(sample_run: Run) -> Run:
    """The sample with a page, which is not drawn here."""
    if not sample_run.report_path.is_file():
        sample_run.report_path.write_text("<p>a page</p>", encoding="utf-8")
    return sample_run


@pytest.fixture
def mlflow_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A real MLflow server on this machine."""
    # Its own process: imported here, it would warn of what its libraries deprecate.
    needs("mlflow", "sqlalchemy")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    store = ["--backend-store-uri", f"sqlite:///{tmp_path}/store.db", "--artifacts-destination"]
    command = [sys.executable, "-m", "mlflow", "server", *store, str(tmp_path / "files")]
    with subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as server:  # fmt: skip
        try:
            for _ in range(240):
                try:
                    urllib.request.urlopen(f"{address}/health", timeout=1)
                    break
                except OSError:
                    time.sleep(0.5)
            monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
            yield address
        finally:
            os.killpg(server.pid, 15)


def test_what_mlflow_holds_equals_the_run(page: Run, mlflow_server: str, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    done = invoke("log", page.path, "--to", "mlflow", "--experiment", "stories")
    assert done.exit_code == 0, done.output
    client = MlflowClient(mlflow_server)
    (made,) = client.search_runs([client.get_experiment_by_name("stories").experiment_id])
    assert made.info.status == "FINISHED"
    assert made.data.metrics == metrics_of(page)
    assert made.data.params["study"] == "laissez-faire"
    assert made.data.params["options.draws"] == "200"
    client.download_artifacts(made.info.run_id, "", str(tmp_path))
    assert (tmp_path / "report.html").read_bytes() == page.report_path.read_bytes()
    assert (tmp_path / "audit.toml").read_bytes() == page.settings_path.read_bytes()
    with (tmp_path / "estimates.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    values = {row["id"]: float(row["value"]) for row in rows if row["value"]}
    assert values == {e.id: e.value for e in page.records if e.value is not None}
    found = json.loads((tmp_path / "findings.json").read_text("utf-8"))
    Draft202012Validator(schema("findings")).validate(found)


def test_the_extra_alone_logs_to_a_store_of_its_own(page: Run, tmp_path: Path) -> None:
    needs("mlflow", "sqlalchemy", "alembic")  # the extra brings all three
    command = [sys.executable, "-m", "portrayal", "log", str(page.path), "--to", "mlflow"]
    settings = {k: v for k, v in os.environ.items() if k != "MLFLOW_TRACKING_URI"}
    done = subprocess.run(
        command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mlflow.db").is_file()
    extras = metadata("portrayal").get_all("Requires-Dist") or []
    named = {re.split(r"[<>=!~; ]", each)[0] for each in extras if 'extra == "mlflow"' in each}
    assert {"sqlalchemy", "alembic"} <= {each.lower() for each in named}


def test_wandb_holds_the_run_offline(
    page: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("wandb")
    import wandb

    for name, value in {
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(tmp_path),
        "WANDB_SILENT": "true",
    }.items():
        monkeypatch.setenv(name, value)
    kept: dict[str, Any] = {}
    finish = wandb.Run.finish

    def look(self: Any, *args: Any, **more: Any) -> Any:
        # As wandb's own process holds it; `dict` would ask that process for each of the names.
        kept.update(summary=self.summary._as_dict(), config=dict(self.config))
        return finish(self, *args, **more)

    monkeypatch.setattr(wandb.Run, "finish", look)
    assert "project stories" in log_run(page, "wandb", "stories")
    assert {k: v for k, v in kept["summary"].items() if not k.startswith("_")} == metrics_of(page)
    assert kept["config"]["study"] == "laissez-faire"
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert file.stat().st_size > 10_000


def test_a_metric_has_one_name_whatever_the_model_is_called(sample_run: Run) -> None:
    metrics = metrics_of(sample_run)
    name = "representation.v1/ratio/character/domain_Learning/gender_F"
    (own,) = [
        e for e in sample_run.records
        if e.measure == "representation.v1" and e.group == {"gender": "F"}
        and e.strata == {"domain": "Learning", "model": "all"}
    ]  # fmt: skip
    assert own.interval is not None
    assert (metrics[name], metrics[f"{name}/low"], metrics[f"{name}/high"]) == (
        own.value, own.interval.low, own.interval.high,
    )  # fmt: skip
    assert all(map(math.isfinite, metrics.values()))
    assert all(set(each) <= _ALLOWED and len(each) <= 250 for each in metrics)
    # Every defined value is there, once: those of one model alone are those of all.
    known = [e.value for e in sample_run.records if e.value is not None]
    values = filter(math.isfinite, known)
    assert set(metrics.values()) >= set(values)


_ALLOWED = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")


def test_names_that_would_be_one_have_their_ids(sample_run: Run, tmp_path: Path) -> None:
    first = replace(sample_run.records[0], value=1.0, group={"name": "a b"}, interval=None)
    run = Run(tmp_path)
    run.write_settings({"study": "laissez-faire", "models": ["m"]})
    run.__dict__["records"] = [first, replace(first, group={"name": "a-b"}, value=2.0)]
    assert sorted(metrics_of(run).values()) == [1.0, 2.0]


def test_what_cannot_be_logged(page: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="mlflow"):
        log_run(page, "paper")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"portrayal\[mlflow\]"):
        log_run(page, "mlflow")
    monkeypatch.setattr("portrayal.report.tracking._to_wandb", lambda *_: 1 / 0)
    with pytest.raises(RunError, match="wandb did not take the run"):
        log_run(page, "wandb")


@pytest.mark.parametrize("name", SCHEMAS)
def test_json_keeps_to_its_schema(name: str, sample_run: Run) -> None:
    rule = schema(name)
    Draft202012Validator.check_schema(rule)
    done = invoke(
        "list", name, sample_run.path, "--format", "json", *["--all"] * (name != "findings")
    )
    said = json.loads(done.stdout)
    assert said["schema"] == SCHEMAS[name] == rule["$id"]
    Draft202012Validator(rule).validate(said)
    assert said[name]
    with pytest.raises(ValidationError):
        Draft202012Validator(rule).validate({**said, "more": 1})
    with pytest.raises(ValidationError):
        Draft202012Validator(rule).validate({**said, name: [{**said[name][0], "value": "high"}]})
