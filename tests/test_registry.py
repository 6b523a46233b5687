"""The registry: components come in by entry points and are found by name, version optional."""

import sys
from importlib.metadata import EntryPoint

import pytest

from portrayal import registry
from portrayal.errors import PluginError, PortrayalError, UnknownNameError
from portrayal.registry import Component
from portrayal.studies import Study


@pytest.fixture
def points(monkeypatch):
    """Replace the installed entry points."""

    def install(*pairs):
        found = [EntryPoint(name, value, "portrayal.measures") for name, value in pairs]
        monkeypatch.setattr(registry, "entry_points", lambda group: found)
        registry._points.cache_clear()

    yield install
    registry._points.cache_clear()


def test_built_in_components_are_registered():
    assert "laissez-faire" in registry.names("studies")
    assert {"people-labelled.v1", "people.v8"} <= set(registry.names("annotators"))
    assert "subordination.v1" in registry.names("measures")
    for kind in ("studies", "annotators", "measures"):
        assert list(registry.names(kind)) == sorted(registry.names(kind))


@pytest.mark.parametrize("kind", ["measures", "annotators"])
def test_every_component_describes_itself(kind):
    for name in registry.names(kind):
        component = registry.component(kind, name)
        assert isinstance(component, Component)
        assert component.name == name
        own = ("summary", "reads", "unit", "range", "undefined_when", "equation", "source", "title")
        # Figures of some measures are declared by the studies that draw them
        for field in (*own, *(("reading",) if kind == "measures" else ())):
            assert getattr(component, field).strip(), f"{name} has no {field}"
        assert component.summary.endswith(".")
        assert callable(component.run)


def test_every_study_names_registered_components():
    for name in registry.names("studies"):
        study = registry.get("studies", name)
        assert isinstance(study, Study)
        assert study.name == name
        assert set(study.measures) <= set(registry.names("measures"))


@pytest.mark.parametrize("name", ["laissez-faire", "laissez_faire", "Laissez_Faire"])
def test_studies_are_found_by_any_spelling(name):
    assert registry.resolve("studies", name) == "laissez-faire"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("subordination.v1", "subordination.v1"),
        ("subordination", "subordination.v1"),
        ("Common-Names", "common_names.v1"),
        ("common-names.V1", "common_names.v1"),
    ],
)
def test_measures_are_found_without_their_version(name, found):
    assert registry.resolve("measures", name) == found


def test_the_highest_version_wins(points):
    points(*[(f"m.v{n}", f"package:V{n}") for n in (9, 10, 2)])
    assert registry.resolve("measures", "m") == "m.v10"
    assert registry.resolve("measures", "m.v9") == "m.v9"


@pytest.mark.parametrize("name", ["", "subordinatio", "subordination.v99", ".v1", "v1"])
@pytest.mark.parametrize("kind", ["measures", "studies", "annotators"])
def test_unknown_names_are_answered_with_the_known_ones(kind, name):
    with pytest.raises(UnknownNameError) as raised:
        registry.resolve(kind, name)
    assert all(known in str(raised.value) for known in registry.names(kind))
    assert isinstance(raised.value, PortrayalError)
    assert {"measures": "no measure", "studies": "no study", "annotators": "no annotator"}[
        kind
    ] in str(raised.value)


def test_two_packages_may_not_share_a_name(points):
    points(("m.v1", "one:M"), ("m.v1", "two:M"))
    with pytest.raises(UnknownNameError, match=r"two installed packages register 'm\.v1'.*one:M"):
        registry.names("measures")


def test_a_package_listed_twice_is_no_conflict(points):
    points(("m.v1", "one:M"), ("m.v1", "one:M"))
    assert registry.names("measures") == ("m.v1",)


def test_a_component_loads_only_when_it_is_asked_for(points):
    points(("m.v1", "no_such_package:M"))
    assert registry.names("measures") == ("m.v1",)
    with pytest.raises(PluginError):
        registry.get("measures", "m")


RAISES = pytest.mark.fault(
    "a package that adds a component raises while it is imported, or ends the process",
    "one line names the package and what to do; what does not need it goes on",
)


@RAISES
@pytest.mark.parametrize(
    "code",
    [
        "raise RuntimeError('no licence\\nfor this machine')",
        "import sys; sys.exit(3)",
        "import a_package_that_is_not_there",
        "def broken(:",
        "X = 1 / 0",
        "other = 1",
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(points, tmp_path, monkeypatch, code):
    (tmp_path / "broken_words.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_words", raising=False)
    points(("broken.v1", "broken_words:X"), ("whole.v1", "portrayal.measure.pairs:REFUSALS"))
    with pytest.raises(PluginError, match=r"'broken\.v1'.*broken_words.*pip uninstall") as raised:
        registry.get("measures", "broken")
    assert "\n" not in str(raised.value)
    assert registry.names("measures") == ("broken.v1", "whole.v1")
