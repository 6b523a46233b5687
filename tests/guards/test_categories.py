"""No category of gender or race stands in code: factors and studies say them, code asks factors.

Rules of reading that know English pronouns name the genders by `reference.FEMININE` and so on.
"""

import ast
from pathlib import Path

from guards.tree import PACKAGE, module_name, modules, parse
from portrayal.reference.factors import load_factor

FACTORS = ("gender", "race", "pair")
CATEGORIES = {key for name in FACTORS for key in load_factor(name).keys}
OUTSIDE = (PACKAGE / "studies",)
"""Studies of published papers say whom the papers are about."""


def categories_named(path: Path) -> list[tuple[int, str]]:
    """Return line and category of each literal of a module that is a category of gender or race."""
    tree = parse(path)
    unicode = {id(each) for node in ast.walk(tree) for each in _of_unicode(node)}
    return sorted(
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in CATEGORIES
        and id(node) not in unicode
    )


def _of_unicode(node: ast.AST) -> list[ast.expr]:
    """What a category of Unicode characters is compared with ("M", a mark)."""
    if isinstance(node, ast.Compare) and "unicodedata.category" in ast.unparse(node.left):
        return node.comparators
    return []


def counted() -> dict[str, list[tuple[int, str]]]:
    """Return what each module of the package names, where it names any."""
    inside = [p for p in modules() if not any(p.is_relative_to(folder) for folder in OUTSIDE)]
    found = {module_name(path): categories_named(path) for path in inside}
    return {name: named for name, named in found.items() if named}


def test_no_category_stands_in_code() -> None:
    assert counted() == {}


def test_the_guard_sees_a_category(tmp_path: Path) -> None:
    path = tmp_path / "rules.py"
    path.write_text(
        '"""White."""\nif race == "AI/AN" or unicodedata.category(c)[0] == "M":\n    x = ["F"]\n'
    )
    assert categories_named(path) == [(2, "AI/AN"), (3, "F")]


if __name__ == "__main__":
    for module, named in sorted(counted().items(), key=lambda item: -len(item[1])):
        print(len(named), module, named)
    print(sum(map(len, counted().values())))
