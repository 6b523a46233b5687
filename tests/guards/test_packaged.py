"""What the package needs at run time is in the wheel and in the source archive, and no more."""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
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


def test_the_wheel_tells_no_path_of_a_machine(wheel: zipfile.ZipFile) -> None:
    machine = re.compile(rb"(?<![\w.~-])/(?:work|root|home|Users)/\w")
    texts = [name for name in wheel.namelist() if not name.endswith((".onnx", ".npz", ".parquet"))]
    assert [name for name in texts if machine.search(wheel.read(name))] == []


TRIAL = """
import portrayal, sys
from importlib.resources import files
assert portrayal.__file__.startswith(sys.prefix), portrayal.__file__
assert files("portrayal").joinpath("annotate/people/reader/weights/encoder.onnx").is_file()
for study in ("laissez-faire", "agency", "news"):
    texts = portrayal.registry.get("studies", study).sample()
    paired = {"pair_by": "headline"} if "reference" in texts else {}
    run = portrayal.audit(study=study, out=study, draws=100, permutations=20, **texts, **paired)
    assert run.estimates and (run.path / "report.html").stat().st_size > 50_000
"""


@pytest.mark.skipif("PORTRAYAL_DIST" not in os.environ, reason="`make dist` tries what it built")
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_what_make_dist_built_works_with_nothing_else(kind: str, tmp_path: Path) -> None:
    (built,) = (ROOT / os.environ["PORTRAYAL_DIST"]).glob(kind)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    python = tmp_path / "empty" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", built], check=True)
    trial = "import portrayal.registry\n" + TRIAL
    subprocess.run([python, "-I", "-W", "error", "-c", trial], cwd=tmp_path, check=True)
    told = [tmp_path / "empty" / "bin" / "portrayal", "audit", "laissez-faire", "--sample"]
    subprocess.run([*told, "--out", "again", "--set", "draws=100"], cwd=tmp_path, check=True)


@pytest.mark.skipif("PORTRAYAL_DIST" not in os.environ, reason="`make dist` tries what it built")
def test_the_source_archive_holds_the_package_and_no_more() -> None:
    (built,) = (ROOT / os.environ["PORTRAYAL_DIST"]).glob("*.tar.gz")
    with tarfile.open(built) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    source = {
        path.relative_to(ROOT).as_posix() for path in kept_files() if path.is_relative_to(PACKAGE)
    }
    rest = {"CHANGELOG.md", "LICENSE", "NOTICE", "README.md", "pyproject.toml"}
    assert held == source | rest | {"PKG-INFO", ".gitignore"}
