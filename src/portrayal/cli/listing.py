"""The commands `list …`: studies, factors, prompts, estimates; and `doctor`: what is installed."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import portrayal.cli.options as opt
import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal._version import __version__
from portrayal.cli.studies import prompt_options


def studies(*, format: opt.Format = "table") -> None:
    """List the studies.

    Example: portrayal list studies
    """
    names = ("name", "title", "question", "paper")
    all_studies = [registry.get("studies", study_name) for study_name in registry.names("studies")]
    rows = [{name: getattr(study, name) for name in names} for study in all_studies]
    show.listing("studies", rows, as_object=format == "json")


def measures(*, format: opt.Format = "table") -> None:
    """List the measures with paper and equation.

    Example: portrayal list measures --format json
    """
    _components("measures", (), format)


def annotators(*, format: opt.Format = "table") -> None:
    """List the annotators, with how often each is right.

    Example: portrayal list annotators
    """
    _components("annotators", ("accuracy",), format)


def _components(
    kind: Literal["measures", "annotators"], more: tuple[str, ...], format: opt.Format
) -> None:
    names = ("name", "summary", "equation", "unit", "range", "undefined_when", "source", *more)
    components = [registry.component(kind, name) for name in registry.names(kind)]
    rows = [{name: getattr(component, name) for name in names} for component in components]
    show.listing(kind, rows, as_object=format == "json")


def factors(*, format: opt.Format = "table") -> None:
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


def locales(*, format: opt.Format = "table") -> None:
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
    run: opt.RunPath,
    /,
    *,
    measure: opt.Measure = None,
    where: opt.Where = None,
    show_all: opt.Every = False,
    format: Literal["table", "csv", "json"] = "table",
) -> None:
    """List the estimates of a run.

    Example: portrayal list estimates runs/first --measure subordination --where domain=Love

    Parameters
    ----------
    format
        table, csv or json.
    """
    from portrayal.report import SCHEMAS
    from portrayal.run import Run, flatten_estimates

    rows = show.select(Run.open(run).records, measure, where or [])
    if format == "table":
        show.estimates_table(rows, None if show_all else show.ROWS)
        return
    facts = {"schema": SCHEMAS["estimates"], "estimates": list(map(show.estimate_facts, rows))}
    show.give(format, facts, (), flatten_estimates(rows).to_pylist())


def findings(run: opt.RunPath, /, *, format: opt.Format = "table") -> None:
    """List what a run found, or what it could have found, and what comes nearest.

    Example: portrayal list findings runs/first --format json
    """
    from portrayal.report import finding_facts, finding_lines
    from portrayal.run import Run

    opened = Run.open(run)
    if format == "json":
        show.as_json(finding_facts(opened))
    else:
        show.give(format, (), finding_lines(opened))


def prompts_of(study: str) -> tuple[Callable[..., None], str]:
    """Return the command `list prompts` of a study, and an example."""
    options = opt.record(prompt_options(study, ["prompts"]))

    def prompts(
        *,
        prompts: opt.PromptFile = None,
        model_options: Annotated[Any, opt.ONE_BY_ONE] = options,
        format: Annotated[Literal["csv", "json"], Parameter(help="csv or json.")] = "csv",
    ) -> None:
        from portrayal.collect.ask.asking import prompts_of

        study_prompts = prompts_of(study, prompts, opt.given(model_options))
        rows = [{"prompt_id": p.prompt_id, **p.strata, "text": p.text} for p in study_prompts]
        show.give(format, {"study": study, "prompts": rows}, (), rows)

    return prompts, f"portrayal list prompts {study} --prompts mine.toml"


_NAME = re.compile(r"([\w.-]+)(?:\[([\w,.-]+)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def doctor(*, format: opt.Format = "table") -> None:
    """Say which extras and keys are there; never what a key is.

    Example: portrayal doctor
    """
    import portrayal.annotate.people.reader as reader
    from portrayal.collect.ask.clients import KEYS

    # From the installed package, so that no list of extras here can grow old
    declared = {
        name for requirement in requires("portrayal") or () for name in _EXTRA.findall(requirement)
    }
    extras = {name: sorted(_missing("portrayal", name)) for name in sorted(declared)}
    # The extra alone is not enough: a source tree may lack the weights
    if not Path(reader.__file__).with_name("weights").is_dir():
        extras["reader"] = [*extras["reader"], "the weights of the network"]
    # An empty variable counts as none, as the services refuse it
    keys = {
        name: any(os.environ.get(variable, "").strip() for variable in variables)
        for name, variables in sorted(KEYS.items())
    }
    facts: dict[str, Any] = {
        "portrayal": __version__,
        "python": sys.version.split()[0],
        "studies": list(registry.names("studies")),
        "extras": {name: {"here": not gone, "missing": gone} for name, gone in extras.items()},
        "browser": any(map(shutil.which, _BROWSERS)),
        "keys": keys,
        "variables": {name: list(variables) for name, variables in KEYS.items()},
    }
    rows = [
        *((f"extra {n}", not gone, f'pip install ".[{n}]"') for n, gone in extras.items()),
        ("a browser (for PDF)", facts["browser"], "install Chromium"),
        *((f"key {name}", is_set, f"set {KEYS[name][0]}") for name, is_set in keys.items()),
    ]
    cells = [
        (name, "yes" if is_there else "–", "" if is_there else remedy)
        for name, is_there, remedy in rows
    ]
    lines = f"Portrayal {__version__}, Python {facts['python']}; studies: "
    lines += ", ".join(facts["studies"])
    show.give(format, facts, [lines, (("what", "here", "how to get it"), cells)])


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
