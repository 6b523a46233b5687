"""What the package needs at run time is in the wheel."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

from guards.tree import PACKAGE, ROOT, kept_files

DATA = [
    path.relative_to(PACKAGE).as_posix()
    for path in kept_files()
    if path.is_relative_to(PACKAGE) and path.suffix != ".py"
]


def test_data_is_reachable_as_a_resource() -> None:
    assert any(name.startswith("reference/data/published/") for name in DATA)
    assert "studies/laissez_faire/sample.jsonl" in DATA
    for name in DATA:
        assert files("portrayal").joinpath(name).is_file(), name


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    if importlib.util.find_spec("hatchling") is None:
        reason = "needs hatchling, the build backend of pyproject.toml"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; CI must have it")
        pytest.skip(reason)
    out = tmp_path_factory.mktemp("wheel")
    code = f"from hatchling.build import build_wheel; build_wheel({str(out)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    (path,) = Path(out).glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    held = set(wheel.namelist())
    modules = [
        p.relative_to(PACKAGE).as_posix()
        for p in kept_files()
        if p.suffix == ".py" and p.is_relative_to(PACKAGE)
    ]
    missing = [name for name in (*DATA, *modules) if f"portrayal/{name}" not in held]
    assert not missing
    assert "portrayal/py.typed" in held


def test_the_wheel_holds_licence_and_entry_points(wheel: zipfile.ZipFile) -> None:
    names = {name.partition(".dist-info/")[2] for name in wheel.namelist()}
    assert {"licenses/LICENSE", "licenses/NOTICE", "entry_points.txt"} <= names


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0].partition("-")[0] for name in wheel.namelist()}
    assert tops == {"portrayal"}
