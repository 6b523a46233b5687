"""The commands `list …`: studies, factors, prompts, estimates; and `doctor`: what is installed."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal._version import __version__
from portrayal.cli.options import (
    ONE_BY_ONE,
    Every,
    Format,
    Measure,
    PromptFile,
    RunPath,
    Where,
    given,
    record,
)
from portrayal.cli.studies import prompt_options


def studies(*, format: Format = "table") -> None:
    """List the studies.

    Example: portrayal list studies
    """
    names = ("name", "title", "question", "paper")
    all_studies = [registry.get("studies", study_name) for study_name in registry.names("studies")]
    rows = [{name: getattr(study, name) for name in names} for study in all_studies]
    show.listing("studies", rows, as_object=format == "json")


def measures(*, format: Format = "table") -> None:
    """List the measures with paper and equation.

    Example: portrayal list measures --format json
    """
    _components("measures", (), format)


def annotators(*, format: Format = "table") -> None:
    """List the annotators, with how often each is right.

    Example: portrayal list annotators
    """
    _components("annotators", ("accuracy",), format)


def _components(
    kind: Literal["measures", "annotators"], more: tuple[str, ...], format: Format
) -> None:
    names = ("name", "summary", "equation", "unit", "range", "undefined_when", "source", *more)
    components = [registry.component(kind, name) for name in registry.names(kind)]
    rows = [{name: getattr(component, name) for name in names} for component in components]
    show.listing(kind, rows, as_object=format == "json")


def factors(*, format: Format = "table") -> None:
    """List the factors that ship: their groups, how each is seen, and its baselines.

    Example: portrayal list factors
    """
    from portrayal.reference.factors import factors, load_factor

    rows = [
        {
            "name": factor.name,
            "groups": ", ".join(group.label for group in factor.groups),
            "seen by": ", ".join(source.name for source in factor.sources),
            "baselines": ", ".join(one.name for one in factor.baselines) or "none",
            "note": factor.note,
        }
        for factor in map(load_factor, factors())
    ]
    show.listing("factors", rows, as_object=format == "json")


def locales(*, format: Format = "table") -> None:
    """List the locales that ship: the country whose names, titles and pronouns they bring.

    Example: portrayal list locales
    """
    from portrayal.reference.locales import load_locale, locales

    rows = [
        {
            "name": locale.name,
            "language": locale.language,
            "country": locale.country,
            "name tables": ", ".join(locale.tables) or "none",
            "baselines": ", ".join(locale.baselines) or "none",
            "source": locale.source,
        }
        for locale in map(load_locale, locales())
    ]
    show.listing("locales", rows, as_object=format == "json")


def estimates(
    run: RunPath,
    /,
    *,
    measure: Measure = None,
    where: Where = None,
    every: Every = False,
    format: Literal["table", "csv", "json"] = "table",
) -> None:
    """List the estimates of a run.

    Example: portrayal list estimates runs/first --measure subordination --where domain=Love

    Parameters
    ----------
    format
        table, csv or json.
    """
    from portrayal.collect.tables import csv_text
    from portrayal.report import SCHEMAS
    from portrayal.run import Run, flatten_estimates

    rows = show.select(Run.open(run).records, measure, where or [])
    if format == "json":
        facts = [show.estimate_facts(row) for row in rows]
        show.as_json({"schema": SCHEMAS["estimates"], "estimates": facts})
    elif format == "csv":
        table = flatten_estimates(rows)
        show.data(csv_text(table.column_names, table.to_pylist()))
    else:
        show.estimates_table(rows, None if every else show.ROWS)


def findings(run: RunPath, /, *, format: Format = "table") -> None:
    """List what a run found, or what it could have found, and what comes nearest.

    Example: portrayal list findings runs/first --format json
    """
    from portrayal.report import finding_facts, finding_lines
    from portrayal.run import Run

    if format == "json":
        show.as_json(finding_facts(Run.open(run)))
        return
    for line in finding_lines(Run.open(run)):
        show.line(line)


def prompts_of(study: str) -> tuple[Callable[..., None], str]:
    """Return the command `list prompts` of a study, and an example."""
    options = record(prompt_options(study, ["prompts"]))

    def prompts(
        *,
        prompts: PromptFile = None,
        chosen: Annotated[Any, ONE_BY_ONE] = options,
        format: Annotated[Literal["csv", "json"], Parameter(help="csv or json.")] = "csv",
    ) -> None:
        from portrayal.collect.ask.asking import prompts_of
        from portrayal.collect.tables import csv_text

        study_prompts = prompts_of(study, prompts, given(chosen))
        rows = [{"prompt_id": p.prompt_id, **p.strata, "text": p.text} for p in study_prompts]
        if format == "json":
            show.as_json({"study": study, "prompts": rows})
            return
        # The text last, as it is the longest column
        names = dict.fromkeys(name for row in rows for name in row if name != "text")
        show.data(csv_text([*names, "text"], rows))

    return prompts, f"portrayal list prompts {study} --prompts mine.toml"


_NAME = re.compile(r"([\w.-]+)(?:\[([\w,.-]+)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")
_READERS: dict[str, str | None] = {"embedded": None, "reader": "reader", "llm": "openai"}
_ENGINES: dict[str, str | None] = {
    "sentiment: vader": "vader",
    "sentiment: textblob": "news",
    "topics": "news",
    "toxicity": "toxicity",
    "agency: a trained transformer": "agency",
    "local models": "local",
    "raters' page": "coding",
    "Inspect logs": "inspect",
}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def doctor(*, format: Format = "table") -> None:
    """Say which extras, readers, engines and keys are there; never what a key is.

    Example: portrayal doctor
    """
    import portrayal.annotate.people.reader as reader
    from portrayal.collect.ask.clients import KEYS

    # From the installed package, so that no list of extras here can grow old
    declared = {
        name for requirement in requires("portrayal") or () for name in _EXTRA.findall(requirement)
    }
    extras = {name: sorted(_missing("portrayal", name)) for name in sorted(declared)}

    def here(needed: dict[str, str | None]) -> dict[str, bool]:
        return {name: extra is None or extras.get(extra) == [] for name, extra in needed.items()}

    def is_set(variables: Iterable[str]) -> bool:
        # An empty variable counts as none, as the services refuse it
        return any(os.environ.get(variable, "").strip() for variable in variables)

    facts: dict[str, Any] = {
        "portrayal": __version__,
        "python": sys.version.split()[0],
        "studies": list(registry.names("studies")),
        "extras": {name: {"here": not gone, "missing": gone} for name, gone in extras.items()},
        "readers": here(_READERS),
        "engines": here(_ENGINES),
        "browser": any(map(shutil.which, _BROWSERS)),
        "keys": {name: is_set(key_names) for name, key_names in KEYS.items()},
        "variables": {name: list(key_names) for name, key_names in KEYS.items()},
    }
    # The extra alone is not enough: a source tree may lack the weights
    facts["readers"]["reader"] &= Path(reader.__file__).with_name("weights").is_dir()
    if format == "json":
        show.as_json(facts)
        return
    show.line(f"Portrayal {facts['portrayal']}, Python {facts['python']}")
    show.line(f"studies: {', '.join(facts['studies'])}")
    rows = [
        (f"extra {name}", not gone, f'pip install ".[{name}]"' * bool(gone))
        for name, gone in extras.items()
    ]
    rows += [
        (f"reader {name}", is_there, "") for name, is_there in sorted(facts["readers"].items())
    ]
    rows += [(name, is_there, "") for name, is_there in sorted(facts["engines"].items())]
    rows += [("a browser (for PDF)", facts["browser"], "")]
    for name, is_there in sorted(facts["keys"].items()):
        rows.append((f"key {name}", is_there, "" if is_there else f"set {KEYS[name][0]}"))
    cells = ((name, "yes" if is_there else "–", remedy) for name, is_there, remedy in rows)
    show.table(("what", "here", "how to get it"), cells)


def _missing(package: str, extra: str) -> Iterator[str]:
    """Names of the packages that an extra needs and that are not installed."""
    for requirement in requires(package) or ():
        specifier, _, condition = requirement.partition(";")
        if extra not in _EXTRA.findall(condition):
            continue
        # A requirement may ask for extras in turn: "name[extra]>=1"
        match = _NAME.match(specifier)
        name, more = match.groups() if match else (specifier, None)
        try:
            version(name)
        except PackageNotFoundError:
            yield name
            continue
        for other in (more or "").split(","):
            if other:
                yield from _missing(name, other)  # an extra may ask for extras of others
