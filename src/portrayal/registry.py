"""One table of components, filled through entry points.

A *component* is a study, a measure or an annotator that describes itself once: what it reads, its
unit and range, when it is undefined, and the paper and equation it comes from. The command-line
listings, the docs pages and the report's glossary are generated from that description.

Built-in components come in by the same door as third-party ones: an entry point in the group
`portrayal.measures`, `portrayal.annotators` or `portrayal.studies`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, cast

from portrayal.errors import PluginError, PortrayalError, UnknownNameError
from portrayal.records import Estimate

Kind = Literal["studies", "measures", "annotators", "prompts", "providers", "views"]


@dataclass(frozen=True, slots=True)
class Component:
    """A registered measure or annotator in its own words.

    Attributes
    ----------
    name
        Registered name with its version, such as "subordination.v1"; a changed number means a new
        version.
    summary
        One sentence on what it computes.
    reads, unit, range
        Its input, what it counts, and the values it can take.
    undefined_when
        The cases in which it gives a reason in place of a value.
    equation
        The definition, in plain text.
    source
        Paper and equation or table.
    run
        The function itself.
    title
        What the report calls it; made from `name` where it is empty.
    reading
        How to read its values, in one sentence.
    finding
        The sentence of a ratio that differs from its null, without a full stop: a template, or a
        function of the estimate. `portrayal.report.sentences.template_fields` lists the template's
        fields. Where it is empty, the report makes one from the title.
    described
        Function of its estimates of the main model to lines that a report leads with whatever is
        tested, such as who is in the texts; None where it has none.
    findings
        Above 0 where sentences may state it; 0 for a measure that only figures and tables show.
    brief
        Its name in the chart at the head of the report ("lesser role"); the title by default.
    repeats
        Measure, by its name without version, of which this one is a summary over models, such as a
        median: a finding of both is one finding, and its counts and models are those of that one.
    figure
        Name of the figure that draws it: a generic one ("dots", "heatmap", "table") or one that
        the study's report gives. Where it is empty, ratios and differences are drawn as dots and
        everything else is a table.
    changes
        Whether comparisons state its changes though a report states no value of it: a share has no
        value of no difference, its change has.
    each_model
        Whether sentences speak of each model by itself, as no estimate pools models.
    form
        How its numbers are written, where not by their statistic: "points" for differences of
        shares; or a function of the estimate, "" where its statistic says it.
    counts
        Function of an estimate to what its value counts, such as "grades"; "" where `form` says it.
    """

    name: str
    summary: str
    reads: str
    unit: str
    range: str
    undefined_when: str
    equation: str
    source: str
    run: Callable[..., Any]
    title: str = field(default="", kw_only=True)
    reading: str = field(default="", kw_only=True)
    finding: str | Callable[[Estimate], str] = field(default="", kw_only=True)
    described: Callable[[list[Estimate]], list[str]] | None = field(default=None, kw_only=True)
    findings: int = field(default=3, kw_only=True)
    brief: str = field(default="", kw_only=True)
    repeats: str = field(default="", kw_only=True)
    figure: str = field(default="", kw_only=True)
    changes: bool = field(default=False, kw_only=True)
    each_model: bool = field(default=False, kw_only=True)
    form: str | Callable[[Any], str] = field(default="", kw_only=True)
    counts: Callable[[Any], str] | None = field(default=None, kw_only=True)


@cache
def _points(kind: Kind) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for point in entry_points(group=f"portrayal.{kind}"):
        # The same package may stand twice on the path; two packages of one name may not
        if point.name in by_name and by_name[point.name].value != point.value:
            raise UnknownNameError(
                f"two installed packages register {point.name!r} as one of portrayal's {kind}: "
                f"{by_name[point.name].value} and {point.value}. Uninstall one or rename it."
            )
        by_name[point.name] = point
    return by_name


def names(kind: Kind) -> tuple[str, ...]:
    """Return the registered names of `kind`, sorted.

    >>> {"agency", "laissez-faire", "news"} <= set(names("studies"))
    True
    """
    return tuple(sorted(_points(kind)))


def file_of(kind: Kind, name: str) -> Path | None:
    """Return the TOML file of a study that is named by its path or folder, or None.

    A registered name is never a path; write `./news` for a folder of that name.
    """
    # A folder called "news" here must not take the place of the study
    if kind not in ("studies", "prompts") or name in _points(kind):
        return None
    path = Path(name)
    if path.suffix.casefold() == ".toml":
        return path
    return path / "study.toml" if (path / "study.toml").is_file() else None


def is_study(name: str) -> bool:
    """Whether a study is registered by this name, or described by the file or folder.

    >>> is_study("laissez_faire"), is_study("answers.csv")
    (True, False)
    """
    spelling = name.replace("_", "-").casefold()
    return spelling in _points("studies") or file_of("studies", name) is not None


def called(study: str) -> str:
    """Return the name of a study that is named, or whose path is, as directories and runs say it.

    >>> called("laissez-faire")
    'laissez-faire'
    """
    return study if file_of("studies", study) is None else str(get("studies", study).name)


def resolve(kind: Kind, name: str) -> str:
    """Return the registered name for `name`, which may lack its version or use `_` for `-`.

    The path of a study of one's own (a TOML file, or a folder with study.toml) is its name.

    Raises
    ------
    UnknownNameError
        Naming every registered name of that kind.

    Examples
    --------
    >>> resolve("measures", "Common_Names")
    'common_names.v1'
    """
    registered = names(kind)
    if name in registered:
        return name
    if file := file_of(kind, name):
        return str(file)
    spelling = name.replace("_", "-").casefold()
    matching = [k for k in registered if k.replace("_", "-").casefold() == spelling]
    versioned = [(k, k.rpartition(".v")[0]) for k in registered if ".v" in k]
    matching += [k for k, bare in versioned if bare.replace("_", "-").casefold() == spelling]
    if not matching:
        singular = {"studies": "study"}.get(kind, kind[:-1])
        paths = (
            " Or give the path of a study of your own." if kind in ("studies", "prompts") else ""
        )
        raise UnknownNameError(
            f"no {singular} is called {name!r}. Registered: {', '.join(registered)}.{paths}"
        )
    # By number, since ".v10" would sort before ".v9" as text
    return max(matching, key=lambda k: int(k.rpartition(".v")[2] or 0) if ".v" in k else 0)


def get(kind: Kind, name: str) -> Any:
    """Load the component of `kind` registered as `name` (version optional).

    Raises
    ------
    UnknownNameError
        Naming every registered name of that kind.
    PluginError
        When the package that registers it cannot be imported; names the package.

    >>> get("studies", "laissez_faire").name
    'laissez-faire'
    """
    if file := file_of(kind, name):
        return _reader(kind)(file)
    point = _points(kind)[resolve(kind, name)]
    try:
        return point.load()  # imports the package, so only when it is asked for
    except PortrayalError:
        raise
    except (Exception, SystemExit) as error:  # a package of others may raise anything
        package = point.dist.name if point.dist else point.module
        # A mistake of ours keeps its traceback
        if package == "portrayal":
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(
            f"{point.name!r} of portrayal's {kind} comes from the package {package}, which cannot "
            f"be loaded ({reason}). Mend or uninstall it: pip uninstall {package}"
        ) from error


def folder(kind: Kind, name: str) -> Path | None:
    """Return the folder of the package that registers a component, without importing the package.

    None where it is registered under no such name, or is in no folder.

    >>> folder("studies", "news").name
    'news'
    """
    point = _points(kind).get(name)
    top, *parts = point.module.split(".") if point else [""]
    # Of the top package alone: find_spec would import the parents of a module inside
    spec = find_spec(top) if top else None
    for base in (spec and spec.submodule_search_locations) or ():
        if (path := Path(base, *parts)).is_dir():
            return path
    return None


@cache
def _reader(kind: Kind) -> Callable[[Path], Any]:
    """What reads a study from a file; it comes in by an entry point, as studies do."""
    # By an entry point, so that this module imports nothing of the studies
    (point,) = entry_points(group="portrayal.files", name=kind)
    return cast("Callable[[Path], Any]", point.load())


def component(kind: Literal["measures", "annotators"], name: str) -> Component:
    """Load a measure or annotator with its description.

    >>> component("measures", "representation").unit
    'character'
    """
    return cast("Component", get(kind, name))


@cache
def described(name: str, kind: Literal["measures", "annotators"] = "measures") -> Component | None:
    """Return a component with its own words; None where it is not registered here."""
    try:
        record = component(kind, name)
    except PortrayalError:
        return None
    return record if isinstance(record, Component) else None


def form_of(row: Any) -> str:
    """Return how an estimate's or a change's numbers are written, as `run.pages.number` takes it.

    >>> from portrayal.records import Estimate
    >>> form_of(Estimate("agency", "agency_gap.v1", "difference", "text", {}, {}, 0.1))
    'points'
    """
    component = described(row.measure)
    form = component.form if component is not None else ""
    return (form if isinstance(form, str) else form(row)) or str(row.statistic)
