"""No order of a set reaches a number, a file or a page: it differs with the hash seed.

`sorted(...)` gives an order; `dict.fromkeys(...)` in a set's stead keeps that of first occurrence.
"""

import ast

import pytest

from guards.set_order import Known, order_taken
from guards.tree import ROOT, kept_files, modules, parse


def test_nothing_takes_the_order_of_a_set() -> None:
    paths = [path for path in kept_files() if path.suffix == ".py"]
    known = Known(map(parse, modules()))
    assert len(paths) > 500
    hits = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in paths
        for line, what in order_taken(parse(path), known)
    ]
    assert not hits, "\n".join(hits)


KNOWN = """
WORDS = frozenset("a b".split())
class Row:
    groups: frozenset[str]
    name: str
def names() -> set[str]: ...
"""
TAKEN = {
    "x = [rng.random() for word in {1, 2}]": "random draws in the order of a set",
    "x = {word for word in set(y) if rng.random() < 0.5}": "random draws in the order of a set",
    "x = sorted(np.random.rand() for word in set(y))": "random draws in the order of a set",
    "for word in set(y): pass": "a loop over a set",
    "for i, word in enumerate(a.keys() - b): pass": "a loop over a set",
    "x = [word for word in WORDS]": "a comprehension over a set",
    "x = {word: 1 for word in row.groups}": "a comprehension over a set",
    "x = ', '.join(names())": "join() of a set",
    "x = ', '.join(str(word) for word in names())": "a comprehension over a set",
    "x = f'{names()}'": "a set in a text",
    "x = [*names()]": "a set unpacked",
    "a, b = names()": "a set unpacked",
    "x = names().pop()": "any one of a set",
    "x = next(iter(names()))": "iter() of a set",
    "x = max(names(), key=size.get)": "max() of a set: ties in its order",
    "x = sorted(names(), key=lambda word: -size[word])": "sorted() of a set: ties in its order",
    "x = np.array(list(names()))": "array() of a set",
    "def f(words: set[str]): return list(words)": "list() of a set",
    "def f(of: dict[str, set[str]]): return list(of['a'])": "list() of a set",
    "def f():\n  y = z = {1}\n  def g(): return [i for i in z]": "a comprehension over a set",
    "of = defaultdict(set)\nfor k, v in of.items(): print(*v)": "a set unpacked",
}
NOT_TAKEN = (
    "x = sorted(set(y))",
    "x = [rng.random() for word in sorted(set(y))]",
    "x = {word for word in set(y)}",
    "x = any(word in y for word in names())",
    "x = sorted(names(), key=lambda word: (-size[word], word))",
    "x = len([word for word in names()])",
    "x = sum(map(len, names()))",
    "x = {*names(), *WORDS}",
    "(only,) = names()",
    "for word in row.name: pass",
    "for word in dict.fromkeys(y): pass",
    "y = {1: 2}\nx = [key for key in y]",
    "words = {1}\nx = [word for words in y for word in words]",
)


@pytest.mark.parametrize("code", TAKEN)
def test_the_guard_sees(code: str) -> None:
    hits = [what for _, what in order_taken(ast.parse(code), Known([ast.parse(KNOWN)]))]
    assert TAKEN[code] in hits


@pytest.mark.parametrize("code", NOT_TAKEN)
def test_the_guard_lets_pass(code: str) -> None:
    assert not order_taken(ast.parse(code), Known([ast.parse(KNOWN)]))
