"""Methods: how each number is made, in the components' own words."""

from dataclasses import dataclass

from portrayal.registry import Component
from portrayal.report.compared import is_paired
from portrayal.report.view import View
from portrayal.report.words import measure_title


@dataclass(frozen=True)
class Method:
    """One component as the page prints it: its title and (what, words) in order."""

    title: str
    name: str
    summary: str
    rows: tuple[tuple[str, str], ...]


def methods(view: View) -> list[Method]:
    """Return the annotator, then every measure of the run."""
    found = []
    if view.annotator is not None:
        title = "Words of groups" if is_paired(view) else "Who is in a story"
        if view.annotator.name.startswith("agency"):
            title = "Agency of sentences"
        found.append(_method(title, view.annotator))
    for name in view.by_measure:
        component = view.component(name)
        if component is None:
            found.append(Method(measure_title(name), name, "Not installed here.", ()))
        else:
            found.append(_method(measure_title(name), component))
    return found


def _method(title: str, component: Component) -> Method:
    rows = (
        ("Definition", component.equation),
        ("Reads", component.reads),
        ("Counts", component.unit),
        ("Range", component.range),
        ("Undefined when", component.undefined_when),
        ("Source", component.source),
    )
    return Method(title, component.name, component.summary, rows)
