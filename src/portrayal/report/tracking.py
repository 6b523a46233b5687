"""Tracking: a run's numbers, findings and page in a store of experiments, MLflow or W&B.

What is logged is the same in both: as parameters the run's audit.toml; as metrics its values and
intervals, by names that stay the same from run to run; as files the page, all estimates as a table,
findings by their schema, and audit.toml. What is undefined is no metric: it stands in the table,
with its reason.
"""

import json
import math
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from portrayal.collect.tables import csv_text
from portrayal.errors import MissingExtraError, RunError
from portrayal.records import ALL, Estimate, finite
from portrayal.report.first import finding_facts
from portrayal.report.page import write_report
from portrayal.run import Run, flatten_estimates
from portrayal.shown import json_text
from portrayal.validate import check_choice

PLACES = ("mlflow", "wandb")
"""Where a run can be logged, and the extra that each needs."""
EXPERIMENT = "portrayal"
_Names = tuple[str, str]
_Numbers = Mapping[str, float]
_Words = Mapping[str, str]
_Files = Sequence[Path]
_LONGEST_NAME, _LONGEST_PARAM = 200, 6_000
_ODD, _NAMES = re.compile(r"[^A-Za-z0-9_.]+"), re.compile(r"[^A-Za-z0-9_.-]+")


def metrics_of(run: Run) -> dict[str, float]:
    """Return the metrics of a run: of each estimate its value, and low and high of its interval.

    A name is measure, statistic, unit, strata and group, so that two runs of a study call one
    number alike: `representation_v1/ratio/character/domain_Love/gender_F`, with `/low` and `/high`.
    The model is named where a run has several.
    """
    several = len(run.settings().get("models", ())) > 1
    chosen: dict[tuple[str, ...], Estimate] = {}
    for each in run.records:
        labels = {**each.strata, **each.group}
        pooled = labels.get("model", ALL) == ALL
        if pooled or not several:
            labels.pop("model", None)
        names = (f"{name}_{value}" for name, value in labels.items())
        key = (each.measure, each.statistic, each.unit, *names)
        if key not in chosen or not pooled:
            chosen[key] = each
    found: dict[str, float] = {}
    for key, each in chosen.items():
        name = "/".join(_ODD.sub("_", part) for part in key)
        if name in found or len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}/{each.id.replace('-', '_')}"
        bounds = each.interval
        ends = {} if bounds is None else {"/low": bounds.low, "/high": bounds.high}
        values = {"": each.value, **ends}.items()
        found |= {name + end: v for end, v in values if v is not None and math.isfinite(v)}
    return found


def log_run(run: Run, to: str, experiment: str = EXPERIMENT) -> str:
    """Log a run, and return where it lies.

    Parameters
    ----------
    run
        A run with estimates. Its page is written if it has none.
    to
        "mlflow", to MLFLOW_TRACKING_URI; or "wandb", to where its own variables say (WANDB_MODE,
        WANDB_DIR, WANDB_API_KEY).
    experiment
        Experiment of MLflow, or project of Weights & Biases.

    Raises
    ------
    OptionError
        For another place.
    MissingExtraError
        When the client of the place is not installed.
    RunError
        When the run has no estimates, or the place does not take it.
    """
    check_choice("to", to, PLACES)
    metrics, settings = metrics_of(run), run.settings()
    params = {name: value for name, value in _flat(settings).items() if value != ""}
    page = run.report_path if run.report_path.is_file() else write_report(run)
    with tempfile.TemporaryDirectory() as folder:
        table, facts = Path(folder) / "estimates.csv", Path(folder) / "findings.json"
        estimates = flatten_estimates(run.records)
        text = csv_text(estimates.column_names, estimates.to_pylist())
        table.write_text(text, encoding="utf-8", newline="")
        facts.write_text(json_text(finite(finding_facts(run))), encoding="utf-8")
        files = [table, facts, page, run.settings_path]
        log = _to_mlflow if to == "mlflow" else _to_wandb
        try:
            return log((experiment, run.path.name), metrics, params, files)
        except ImportError as error:
            raise MissingExtraError(
                f'logging to {to} needs its client: pip install "portrayal[{to}]".'
            ) from error
        except Exception as error:
            words = " ".join(str(error).split())[:300]
            raise RunError(
                f"{to} did not take the run ({type(error).__name__}: {words})."
            ) from error


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """A nested mapping as dotted names with text; lists as JSON."""
    if isinstance(value, Mapping):
        inner = (_flat(part, f"{name}.{key}".lstrip(".")) for key, part in value.items())
        return {key: text for part in inner for key, text in part.items()}
    return {name: value if isinstance(value, str) else json.dumps(value, default=str)}


def _to_mlflow(place: _Names, metrics: _Numbers, params: _Words, files: _Files) -> str:
    experiment, name = place
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    client = MlflowClient()
    known = client.get_experiment_by_name(experiment)
    where = known.experiment_id if known else client.create_experiment(experiment)
    made = client.create_run(where, run_name=name)
    own, now = made.info.run_id, int(time.time() * 1_000)
    points = [Metric(key, value, now, 0) for key, value in metrics.items()]
    told = [Param(_ODD.sub("_", key), text[:_LONGEST_PARAM]) for key, text in params.items()]
    # A request takes a thousand metrics and a hundred parameters.
    for start in range(0, len(points), 1_000):
        client.log_batch(own, metrics=points[start : start + 1_000])
    for start in range(0, len(told), 100):
        client.log_batch(own, params=told[start : start + 100])
    for file in files:
        client.log_artifact(own, str(file))
    client.set_terminated(own)
    return f"run {own} of experiment {experiment}"


def _to_wandb(place: _Names, metrics: _Numbers, params: _Words, files: _Files) -> str:
    experiment, name = place
    import wandb

    made = wandb.init(project=experiment, name=name, config=dict(params))
    made.summary.update(dict(metrics))
    result = wandb.Artifact(_NAMES.sub("-", name) or "run", type="audit")
    for file in files:
        result.add_file(str(file))
    made.log_artifact(result)
    made.finish()
    return f"run {made.id} of project {experiment} ({made.dir})"
