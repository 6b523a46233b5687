"""The page of the Python interface: every public name in its own words, read from the source."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
ROOT_MODULES = ("errors", "records", "registry", "validate")
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Public:
    """A public name: its module, the statement that defines it, and what is said of it."""

    module: str
    name: str
    node: ast.stmt
    doc: str


def python_reference() -> list[str]:
    """Return the parts of the page, one section for each door, in the order of the folders."""
    package = SOURCE / "portrayal"
    paths = [package / "__init__.py", *(package / f"{name}.py" for name in ROOT_MODULES)]
    paths += sorted(path for path in package.rglob("__init__.py") if path.parent != package)
    parts, described = [], dict[tuple[str, str], str]()
    for path in paths:
        tree = _parse(path)
        found = [one for name in _listed(tree, path) if (one := _find(path, name))]
        if found:
            parts += [f"## `{_module(path)}`", _prose(ast.get_docstring(tree) or "")]
        for one in found:
            door = described.setdefault((one.module, one.name), _module(path))
            again = [f"### `{one.name}`", f"The one of `{door}`."]
            parts += _described(one) if door == _module(path) else again
    return parts


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path(module: str) -> Path:
    path = SOURCE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _listed(tree: ast.Module, path: Path) -> list[str]:
    """Return `__all__`, or what a module without one defines for others."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [name for name in ast.literal_eval(node.value) if name != "__version__"]
    if path.name == "__init__.py":
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n.name for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


def _find(path: Path, name: str) -> Public | None:
    """Follow the imports of a door to the statement that defines a name."""
    tree = _parse(path)
    for at, node in enumerate(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                return Public(_module(path), name, node, ast.get_docstring(node) or "")
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if getattr(target, "id", "") == name:
                return Public(_module(path), name, node, _said_below(tree.body[at + 1 : at + 2]))
    for each in ast.walk(tree):
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("portrayal"):
            for alias in each.names:
                if (alias.asname or alias.name) == name:
                    return _find(_path(str(each.module)), alias.name)
    return None


def _said_below(following: list[ast.stmt]) -> str:
    """Return the string below a constant, which says what it is."""
    for node in following:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return str(node.value.value)
    return ""


def _described(one: Public) -> list[str]:
    parts = [f"### `{one.name}`"]
    if isinstance(one.node, ast.ClassDef):
        parts += [_code(_class(one.node)), _prose(one.doc)]
        methods = [node for node in one.node.body if isinstance(node, Function)]
        public = [m for m in methods if not m.name.startswith("_") and ast.get_docstring(m)]
        parts += [f"**`{_call(m)}`** {_prose(ast.get_docstring(m) or '')}" for m in public]
    elif isinstance(one.node, Function):
        parts += [_code(_signature(one.node)), _prose(one.doc)]
    else:
        value = ast.unparse(one.node)
        parts += [_code(value)] if len(value) <= 200 else []
        parts += [_prose(one.doc)]
    return [part for part in parts if part]


def _class(node: ast.ClassDef) -> str:
    """Return the head of a class, with its fields where it is a record."""
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    fields = [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign)]
    public = [field for field in fields if not field.startswith("_")]
    return "\n    ".join([f"class {node.name}" + (f"({bases})" if bases else ""), *public])


def _signature(node: Function) -> str:
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    text = f"{node.name}({ast.unparse(node.args)}){gives}"
    if len(text) <= 100:
        return text
    return "\n".join([f"{node.name}(", *(f"    {each}," for each in _arguments(node)), f"){gives}"])


def _arguments(node: Function) -> Iterator[str]:
    given = node.args
    places = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(places) - len(given.defaults)) + list(given.defaults)
    yield from (_argument(arg, value) for arg, value in zip(places, defaults, strict=True))
    if given.vararg:
        yield f"*{ast.unparse(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    yield from (_argument(arg, value) for arg, value in pairs)
    if given.kwarg:
        yield f"**{ast.unparse(given.kwarg)}"


def _argument(arg: ast.arg, value: ast.expr | None) -> str:
    return ast.unparse(arg) + (f" = {ast.unparse(value)}" if value is not None else "")


def _call(node: Function) -> str:
    """Return a method by name with the names it takes; a property by its name alone."""
    if any(getattr(d, "id", "") in ("property", "cached_property") for d in node.decorator_list):
        return node.name
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return f"{node.name}({', '.join(name for name in names if name not in ('self', 'cls'))})"


def _code(text: str) -> str:
    return f"```text\n{text}\n```"


def _prose(doc: str) -> str:
    """Return a numpy docstring as Markdown: sections bold, parameters listed, examples as code."""
    head, *rest = SECTION.split(doc)
    parts = [_escaped(head.strip())]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if title == "Examples":
            parts.append(f"```pycon\n{body.strip()}\n```")
        else:
            parts += [f"{title}:", "\n".join(_items(body))]
    return "\n\n".join(part for part in parts if part)


def _items(body: str) -> Iterator[str]:
    """Yield one line for each name of a section, with what is said of it."""
    for block in re.split(r"\n(?=\S)", body.strip()):
        name, _, said = block.partition("\n")
        words = " ".join(said.split())
        yield f"- `{name.strip()}`: {_escaped(words)}" if words else f"- {_escaped(name.strip())}"


def _escaped(text: str) -> str:
    """Return text whose stars, lower bars and brackets are shown as they are outside of code."""
    parts = re.split(r"(``.+?``|`[^`]*`|\*[^*\s][^*]*\*)", text)
    quiet = [p if i % 2 else re.sub(r"([*_\[\]<])", r"\\\1", p) for i, p in enumerate(parts)]
    return "".join(quiet)
