"""Rules of the code: sizes, no printing below the command line, nothing executed from data."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from guards.tree import PACKAGE, imports, module_name, modules, parse
from portrayal import registry

MAX_FILE, MAX_BODY = 700, 60
MAX_ROOT, MAX_FOLDER, MAX_DEPTH, MAX_PREFIX = 8, 20, 3, 3
NAME_NO_STUDY = ("annotate", "collect", "measure", "models", "raters", "report", "run", "stats")
EXECUTES = ("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve")
_NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
MODULES = modules()
CEILING = 39_110
"""Lines of code that the package may have; who raises it says here for what, and it goes down.
Above 50,750 for headlines, questions asked beforehand, these prompts, and rounds that vary; above
51,400 for names and topics that are both units, and findings and gates of these very prompts; above
51,900 for a study of pairs: its scores, measures, prompts, plan and page; above 54,460 for budgets
of what no service meters, one resolver of paths in data, packs of whole runs, and sums that are
recomputed when they are read; above 56,710 for a page of many runs, words that explain themselves,
and findings under a second name table; for servers that fail for good, charts drawn in
a process of their own, and cookies of one session; for parameters and reasoning of models, and
results that are logged elsewhere; for labels by hand of every measure, sheets drawn for one, and
judges measured, asked again and gated. Above 58,130 for
labels by hand of sentences and topics, and a page on which people give them; for
judges whose tests are clustered, p beyond what draws can count, and shares by a confusion matrix.
Above 58,210 for sentences with counts, contexts of words, names that are masked, and outputs that
destroy nothing; four measures and a server went. Above 59,300 for pairs whose units and groups are
recognised by names, values and texts that stand twice, columns that later rows name otherwise, and
all errors of a data file at once. Above 59,530 for files that change while they are read, and
weights and packages that do harm; and for what holds in these very pairs, sources and notes.
Above 59,780 for what grammar says of whom pronouns mean, speakers in capitals, and labels of forms.
Above 60,100 for joint tests by signs beside those by normal numbers.
Above 60,120 for the manifest of a run, by which every reader sees a byte that changed.
Above 60,390 for what labels by hand corrected and why not, draws that are too small, texts done
only with the answers that an audit needs, and watched changes in counts.
"""


SAY_NOTHING = frozenset(
    "each every own known found said told made seen given kept asked chosen taken moved held "  # noqa: SIM905
    "wanted stated shown listed left done named drawn dealt coins untold doubted alone apart "
    "beside together here there whole rest others at what how where who why".split()
)
"""Names that do not say what they hold (CONTRIBUTING has words in their place)."""
MOST_RIDDLES = 165
"""How many variables and parameters may have such a name; it goes down."""


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    last = body[-1].end_lineno
    assert last is not None
    return last - body[0].lineno + 1


def too_long(path: Path) -> list[str]:
    """Return what of a module is longer than a file or a function may be."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    bad = [f"{path.name}: {lines} lines"] if lines > MAX_FILE else []
    bodies = [(function.name, body_lines(function)) for function in _functions(parse(path))]
    return bad + [f"{path.name}: {name} has {n} body lines" for name, n in bodies if n > MAX_BODY]


def code_lines(path: Path) -> int:
    """Lines that hold a token which is no comment and no docstring."""
    text = path.read_text(encoding="utf-8")
    docs, code = set[int](), set[int]()
    for node in ast.walk(parse(path)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            words = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(words, ast.Constant) and isinstance(words.value, str):
                docs.update(range(statement.lineno, (statement.end_lineno or 0) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - docs)


def test_the_package_is_no_larger_than_its_ceiling() -> None:
    total = sum(map(code_lines, MODULES))
    assert total <= CEILING, f"{total:,} lines of code: remove some, or say what they are for"


def test_a_class_name_has_one_meaning() -> None:
    where: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, []).append(module_name(path))
    assert not {name: places for name, places in where.items() if len(places) > 1}


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_module_is_short_and_does_nothing_that_it_must_not(path: Path) -> None:
    assert not too_long(path)
    assert not executed(path)
    assert not given_streams(parse(path))
    assert path.is_relative_to(PACKAGE / "cli") or not printed(parse(path))


def out_of_shape(package: Path) -> list[str]:
    """Return the folders that are too full, too deep, or spelled as the prefix of their files."""
    doors = ("__init__", "__main__")
    folders = [package, *(p for p in package.rglob("*") if p.is_dir())]
    bad = []
    for folder in folders:
        place = folder.relative_to(package.parent).as_posix()
        names = [path.stem for path in folder.glob("*.py") if path.stem not in doors]
        depth, most = place.count("/"), MAX_ROOT if folder == package else MAX_FOLDER
        if names and depth > MAX_DEPTH:
            bad.append(f"{place}: {depth} deep")
        if len(names) > most:
            bad.append(f"{place}: {len(names)} modules")
        heads = Counter(name.partition("_")[0] for name in names if "_" in name.strip("_"))
        bad += [f"{place}: {n} named {head}_*" for head, n in heads.items() if n > MAX_PREFIX]
    return bad


def test_folders_are_neither_full_nor_deep_nor_spelled_as_prefixes() -> None:
    assert not out_of_shape(PACKAGE)


def studies_named(path: Path, studies: set[str]) -> list[str]:
    """Return where a file asks for a study by its name, or a template speaks of one."""
    if path.suffix != ".py":
        said = re.findall(r"[\w-]+", path.read_text(encoding="utf-8"))
        return sorted(f"{path.name}: {word}" for word in studies & set(said))
    found = []
    for node in ast.walk(parse(path)):
        asked: list[ast.AST | None] = []
        if isinstance(node, ast.Compare):
            asked = [leaf for side in (node.left, *node.comparators) for leaf in _leaves(side)]
        elif isinstance(node, ast.Dict):
            asked = [*node.keys]
        elif isinstance(node, ast.MatchValue):
            asked = [node.value]
        words = {leaf.value for leaf in asked if isinstance(leaf, ast.Constant)} & studies
        found += [f"{path.name}: {word}" for word in sorted(words)]
    return sorted(found)


def _leaves(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


@pytest.mark.parametrize("stage", NAME_NO_STUDY)
def test_a_stage_names_no_study(stage: str) -> None:
    studies = set(registry.names("studies")) - {"pairs", "people"}  # words of their own, too
    templates = [p for p in (PACKAGE / stage).rglob("templates/*") if p.is_file()]
    for path in [*modules(stage), *templates]:
        bad = studies_named(path, studies)
        assert not bad, f"{module_name(path)} asks for {bad}: a study says this itself"


def executed(path: Path) -> list[str]:
    """Return what a module executes or unpickles."""
    bad = [name for name in imports(path) if name.split(".")[0] in EXECUTES]
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None)
            if name in ("eval", "exec", "compile", "__import__"):
                bad.append(f"{name}() in line {node.lineno}")
            if any(
                k.arg == "allow_pickle" and getattr(k.value, "value", True) for k in node.keywords
            ):
                bad.append(f"allow_pickle in line {node.lineno}")
    return bad


def given_streams(tree: ast.Module) -> list[int]:
    """Return the lines that hand a stream of Python to a reader of Arrow.

    A thread of Arrow's pool that lets go of such a stream while the interpreter ends aborts the
    process, after the command has done all its work (apache/arrow#34314).
    """
    opened = {
        item.optional_vars.id
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and ".open(" in f".{ast.unparse(item)}"
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("ParquetFile", "open_csv", "read_csv", "read_json", "read_table")
        and any(isinstance(given, ast.Name) and given.id in opened for given in node.args)
    ]


def test_the_guard_of_streams_sees_one() -> None:
    tree = ast.parse('with path.open("rb") as stream:\n    table = pq.read_table(stream)\n')
    assert given_streams(tree) == [2]


def printed(tree: ast.Module) -> list[int]:
    """Return the lines that print, which only the command line may."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("print", "breakpoint")
    ]


def test_the_body_counter_counts() -> None:
    tree = ast.parse('def f():\n    """Say.\n\n    More.\n    """\n    x = 1\n\n    return x\n')
    (function,) = _functions(tree)
    assert body_lines(function) == 3


def test_the_guard_of_sizes_sees_a_long_file_and_a_long_body(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("def f():\n" + "    x = 1\n" * MAX_BODY, encoding="utf-8")
    assert not too_long(path)
    path.write_text("def f():\n" + "    x = 1\n" * MAX_FILE, encoding="utf-8")
    assert too_long(path) == ["long.py: 701 lines", "long.py: f has 700 body lines"]


def test_the_guard_of_folders_sees_each_fault(tmp_path: Path) -> None:
    package = tmp_path / "portrayal"
    names = [f"m{i}" for i in range(MAX_ROOT + 1)]
    names += [f"cli/code_{i}" for i in range(MAX_PREFIX + 1)] + ["a/b/c/d/deep"]
    names += [f"full/n{i}" for i in range(MAX_FOLDER + 1)]
    for name in names:
        path = package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert sorted(out_of_shape(package)) == [
        "portrayal/a/b/c/d: 4 deep",
        "portrayal/cli: 4 named code_*",
        "portrayal/full: 21 modules",
        "portrayal: 9 modules",
    ]


def test_the_guard_of_study_names_sees_a_question_and_a_template(tmp_path: Path) -> None:
    page, code = tmp_path / "page.html.j2", tmp_path / "head.py"
    page.write_text("{% if agency %}<p>agency-like, renewed</p>{% endif %}", encoding="utf-8")
    code.write_text(
        'def f(study):\n    """Of news."""\n    rng = seed("agency")\n'
        '    if study in ("news", "x"):\n        return {"agency": rng}\n',
        encoding="utf-8",
    )
    studies = {"agency", "news"}
    assert studies_named(page, studies) == ["page.html.j2: agency"]
    assert studies_named(code, studies) == ["head.py: agency", "head.py: news"]


def riddles(tree: ast.AST) -> int:
    """Count variables and parameters whose name says nothing of what they hold."""
    bound = [
        node.id if isinstance(node, ast.Name) else node.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return sum(name.strip("_") in SAY_NOTHING for name in bound)


def test_names_say_what_they_hold() -> None:
    assert (
        riddles(ast.parse("def f(found, *, n=1):\n    for each in found:\n        x = each")) == 2
    )
    assert sum(riddles(parse(path)) for path in MODULES) <= MOST_RIDDLES
