"""Who may import whom, and what `import portrayal` may load."""

import subprocess
import sys
from pathlib import Path

import pytest

from guards.tree import PACKAGE, imports, module_name, modules

STAGES = ("annotate", "collect", "measure", "plan", "reference", "report", "run", "stats")
GROUND = ("errors.py", "records.py", "registry.py", "validate.py")
HEAVY = (
    "altair",
    "duckdb",
    "jinja2",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "torch",
    "transformers",
    "typer",
    "vl_convert",
)


def _inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("stage", [s for s in STAGES if (PACKAGE / s).is_dir()])
def test_a_stage_imports_no_study(stage: str) -> None:
    for path in modules(stage):
        bad = [name for name in imports(path) if _inside(name, "portrayal.studies")]
        assert not bad, f"{module_name(path)} imports {bad}: stages never import studies"


def test_every_folder_of_the_package_is_a_stage_or_studies() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()}
    known = {*STAGES, "inspect", "studies", "mitigate", "coding"}
    assert folders <= known, f"{folders - known}: add new folders to STAGES"


@pytest.mark.parametrize("name", GROUND)
def test_the_ground_imports_no_stage(name: str) -> None:
    ground = {f"portrayal.{Path(other).stem}" for other in GROUND}
    ours = [n for n in imports(PACKAGE / name) if _inside(n, "portrayal")]
    assert all(any(_inside(n, g) for g in ground) for n in ours), ours


def test_records_import_nothing_of_ours() -> None:
    assert not [n for n in imports(PACKAGE / "records.py") if _inside(n, "portrayal")]


def test_studies_never_import_each_other() -> None:
    folders = [p.name for p in (PACKAGE / "studies").iterdir() if (p / "__init__.py").exists()]
    assert folders
    for study in folders:
        others = [f"portrayal.studies.{other}" for other in folders if other != study]
        for path in modules(f"studies/{study}"):
            bad = [n for n in imports(path) if any(_inside(n, other) for other in others)]
            assert not bad, f"{module_name(path)} imports {bad}"


def test_stats_imports_numpy_and_scipy_only() -> None:
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in modules("stats"):
        bad = [
            name
            for name in imports(path)
            if name.split(".")[0] not in allowed and not _inside(name, "portrayal.stats")
        ]
        assert not bad, f"{module_name(path)} imports {bad}"


def _loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_the_package_is_light() -> None:
    loaded = _loaded_by("import portrayal")
    assert "portrayal" in loaded
    assert not loaded & set(HEAVY)


def test_the_command_line_starts_light() -> None:
    needed = {"typer", "rich"}
    assert not _loaded_by("import portrayal.cli") & (set(HEAVY) - needed)
