"""The order of stages, no circle of imports, and what `import portrayal` may load."""

import subprocess
import sys
from pathlib import Path

from guards.tree import PACKAGE, import_graph, imports, module_name, modules

ORDER = (
    "errors",
    "_version",
    "types",
    "records",
    "shown",
    "validate",
    "config",
    "registry",
    "stats",
    "reference",
    "run",
    "models",
    "collect",
    "annotate",
    "recognise",
    "raters",
    "measure",
    "comparison",
    "mitigate",
    "planning",
    "gating",
    "testing",
    "report",
    "studies",
    "pipeline",
    "cli",
    "__main__",
    "",
)
"""What stands at the root of the package, low to high: nothing imports what comes after it.

The last is the door `portrayal` itself. An import inside a function, or for types only, counts.
"""
HEAVY = (
    "altair",
    "cyclopts",
    "duckdb",
    "jinja2",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "torch",
    "transformers",
)


def _inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _stage(module: str) -> str:
    return f"{module}.".split(".")[1]


def upward(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports from a lower stage to a higher one."""
    place = {stage: at for at, stage in enumerate(ORDER)}
    return [
        f"{module} -> {name}"
        for module, names in sorted(graph.items())
        for name in sorted(names)
        if place[_stage(module)] < place[_stage(name)]
    ]


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that reach each other."""
    reach = {module: _reached(graph, module) for module in graph}
    rings = {tuple(sorted(o for o in reach[m] if m in reach[o])) for m in graph if m in reach[m]}
    return [list(ring) for ring in sorted(rings)]


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        new = graph[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def test_every_folder_and_module_of_the_root_has_its_place() -> None:
    assert {_stage(module_name(path)) for path in modules()} == set(ORDER)


def test_no_stage_imports_a_higher_one() -> None:
    bad = upward(import_graph())
    assert not bad, "\n".join([f"{len(bad)} imports against the order of stages:", *bad])


def test_no_modules_import_each_other_in_a_circle() -> None:
    bad = circles(import_graph())
    assert not bad, "\n".join(" ".join(part) for part in bad)


def _package(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"__init__": "", **files}.items():
        path = root / "portrayal" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root / "portrayal"


def test_the_guard_of_the_order_sees_every_kind_of_import(tmp_path: Path) -> None:
    package = _package(
        tmp_path,
        {
            "errors": "def f():\n    import portrayal.registry\n",
            "registry": "from portrayal.errors import DataError\n",
            "run/__init__": "",
            "run/directory": "if TYPE_CHECKING:\n    from portrayal.report.page import write\n",
            "run/shards": "import importlib\nimportlib.import_module('portrayal.report.page')\n",
            "report/__init__": "",
            "report/page": "import portrayal\nfrom ..run import shards, Run\n",
        },
    )
    assert upward(import_graph(package)) == [
        "portrayal.errors -> portrayal.registry",
        "portrayal.report.page -> portrayal",
        "portrayal.run.directory -> portrayal.report",
        "portrayal.run.directory -> portrayal.report.page",
        "portrayal.run.shards -> portrayal.report",
        "portrayal.run.shards -> portrayal.report.page",
    ]
    assert import_graph(package)["portrayal.report.page"] == {
        "portrayal",
        "portrayal.run",
        "portrayal.run.shards",
    }


def test_the_guard_of_circles_sees_a_lazy_one(tmp_path: Path) -> None:
    package = _package(
        tmp_path,
        {
            "a": "from portrayal.b import x\nimport portrayal.d\n",
            "b": "from portrayal.c import x\n",
            "c": "def f():\n    import portrayal.a\n",
            "d": "",
            "e": "import portrayal.a\n",
        },
    )
    ring = ["portrayal.a", "portrayal.b", "portrayal.c"]
    assert circles(import_graph(package)) == [ring]


def test_the_guard_of_circles_sees_the_door_that_an_import_runs(tmp_path: Path) -> None:
    package = _package(
        tmp_path,
        {
            "page/__init__": "from portrayal.page.export import write\n",
            "page/export": "from portrayal.page.chart import draw\n",
            "page/chart": "from portrayal.page import words\n",
            "page/words": "from portrayal.page.figures.table import Table\n",
            "page/figures/__init__": "from portrayal.page.words import say\n",
            "page/figures/table": "",
        },
    )
    ring = ["portrayal.page.figures", "portrayal.page.words"]
    page = ["portrayal.page", "portrayal.page.chart", "portrayal.page.export"]
    assert circles(import_graph(package)) == [page, ring]
    (package / "page/chart.py").write_text("import portrayal.page.words\n", encoding="utf-8")
    assert circles(import_graph(package)) == [ring]


def test_studies_never_import_each_other() -> None:
    folders = [p.name for p in (PACKAGE / "studies").iterdir() if (p / "__init__.py").exists()]
    assert folders
    for study in folders:
        # `own` and `stories` are no studies: of them the laissez-faire one is made too
        shared = (study, "own", "stories")
        others = [f"portrayal.studies.{each}" for each in folders if each not in shared]
        for path in modules(f"studies/{study}"):
            bad = [n for n in imports(path) if any(_inside(n, other) for other in others)]
            assert not bad, f"{module_name(path)} imports {bad}"


def test_stats_imports_numpy_and_scipy_only() -> None:
    allowed = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in modules("stats"):
        bad = [
            name
            for name in imports(path)
            if name.split(".")[0] not in allowed
            and not _inside(name, "portrayal.stats")
            and not _inside(name, "portrayal.types")
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
    needed = {"cyclopts", "rich"}
    assert not _loaded_by("import portrayal.cli") & (set(HEAVY) - needed)
