import ast
import importlib
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

from portrayal import stats

FOLDER = Path(stats.__file__).parent
FILES = sorted(FOLDER.glob("*.py"))


def imported_packages(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".")
            yield parts[0] if parts[0] != "portrayal" else ".".join(parts[:2])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_stats_imports_numpy_and_scipy_only(path):
    others = {name for name in imported_packages(path) if name not in sys.stdlib_module_names}
    assert others <= {"numpy", "scipy", "portrayal.stats", "portrayal.types"}


def public_functions():
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{path.stem}.{node.name}"


def test_the_door_lists_public_functions_in_order():
    names = {name.split(".")[1] for name in public_functions()}
    assert set(stats.__all__) <= names
    assert list(stats.__all__) == sorted(stats.__all__)


@pytest.mark.parametrize("name", list(public_functions()))
def test_every_public_function_explains_itself(name):
    module, function_name = name.split(".")
    function = getattr(importlib.import_module(f"portrayal.stats.{module}"), function_name)
    assert inspect.getdoc(function)
    assert "return" in inspect.get_annotations(function)


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.wilson(-1, 10, 0.95),
        lambda: stats.wilson(11, 10, 0.95),
        lambda: stats.wilson(np.inf, np.inf, 0.95),
        lambda: stats.wilson(1, 10, 95),
        lambda: stats.wilson(1, 10, np.nan),
        lambda: stats.score_test(1, 10, 0.0),
        lambda: stats.exact_test(1, 10, 1.5),
        lambda: stats.ratio(1, 10, [1, 12], [10, 10]),
        lambda: stats.katz_log(1, 10, 1, 10, 0.0),
        lambda: stats.katz_log(1, 10, 1, 10, 0.95, smoothing=-1.0),
        lambda: stats.score_ratio_test(1, -10, 1, 10),
        lambda: stats.z_from_interval(1.0, 2.0, 1.0, log=False),
        lambda: stats.cohens_d(1.0, 2.0, -1.0),
        lambda: stats.cluster_weights(0, 10, np.random.default_rng(0)),
        lambda: stats.cluster_weights(10, 0, np.random.default_rng(0)),
        lambda: stats.expanded_percentile(np.empty((0, 3)), 0.95, 10),
        lambda: stats.expanded_percentile([1.0, 2.0], 0.95, 0),
        lambda: stats.expanded_percentile([1.0, 2.0], 1.95, 10),
        lambda: stats.shuffle_within([1, 2], [1], np.random.default_rng(0)),
        lambda: stats.permutation_range([1.0], -0.5),
        lambda: stats.benjamini_hochberg([0.5, 1.5]),
        lambda: stats.medians.median_of_defined(1.0),
    ],
)
def test_numbers_that_cannot_be_are_refused(call):
    with pytest.raises(ValueError, match=r"\w+ .*(must|cannot|needs)"):
        call()


def test_rounding_of_fractional_sums_is_forgiven():
    low, high = stats.wilson(10 + 1e-12, 10, 0.95)
    assert high == 1.0
    assert 0 < low < 1
