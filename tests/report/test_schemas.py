"""What JSON says of a run keeps to its schema."""

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

from command import invoke
from portrayal.report import SCHEMAS, schema
from portrayal.run import Run


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
