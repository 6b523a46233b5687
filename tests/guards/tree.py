"""The source tree as the guards read it: modules, their syntax trees, and every kept file."""

import ast
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "portrayal"


def modules(*folders: str) -> list[Path]:
    """Return the modules of these folders of the package; of the whole package without any."""
    starts = [PACKAGE / folder for folder in folders] or [PACKAGE]
    found = [path for start in starts for path in sorted(start.rglob("*.py"))]
    assert found, f"no module below {starts}"
    return found


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a module; of the last one it is not read again."""
    return _parsed(path.read_text(encoding="utf-8"), str(path))


_parsed = lru_cache(maxsize=1)(ast.parse)


def module_name(path: Path, package: Path = PACKAGE) -> str:
    """Return the dotted name of a module of a package."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, package: Path = PACKAGE) -> Iterator[str]:
    """Yield the dotted names that a module imports, wherever in it; relative ones resolved."""
    for source, name in _imported(path, package):
        yield source
        if name:
            yield f"{source}.{name}"


def _imported(path: Path, package: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name taken from it); "" for the module itself."""
    here = module_name(path, package).split(".")
    folder = here if path.name == "__init__.py" else here[:-1]
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((source, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            words = [a.value for a in node.args if isinstance(a, ast.Constant)]
            yield from ((word, "") for word in words if isinstance(word, str))


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", None) or getattr(node.func, "id", ""))


def import_graph(package: Path = PACKAGE) -> dict[str, set[str]]:
    """Return the modules that each module of a package imports: lazily, for its types, or at once.

    `from folder import name` imports the folder's door, and `folder.name` where that is a module. A
    module of another folder is imported through the doors above it, which run first.
    """
    paths = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    graph = {}
    for module, path in paths.items():
        names = {name for name in imports(path, package) if name in paths}
        doors = {door for name in names for door in _doors(name) if not _inside(module, door)}
        graph[module] = (names | doors) - {module}
    return graph


def _doors(module: str) -> Iterator[str]:
    """Yield the packages above a module, without the root, which imports nothing at once."""
    parts = module.split(".")
    yield from (".".join(parts[:end]) for end in range(2, len(parts)))


def _inside(module: str, folder: str) -> bool:
    return module == folder or module.startswith(f"{folder}.")


def kept_files() -> list[Path]:
    """Return every file that git keeps or would keep."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the guards read a git checkout: {done.stderr}"
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def text_of(path: Path) -> str | None:
    """Return a file's text; None for one that is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
