"""The commands `list …`: studies, measures, annotators, factors, locales, prompts, estimates."""

from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, Literal

import portrayal.cli.options as opt
import portrayal.cli.printing as show
import portrayal.registry as registry


def studies(*, format: opt.Format = "table") -> None:
    """List the studies.

    Example: portrayal list studies
    """
    _list("studies", ("name", "title", "question", "paper"), format)


def measures(*, format: opt.Format = "table") -> None:
    """List the measures with paper and equation.

    Example: portrayal list measures --format json
    """
    _list("measures", _COMPONENT, format)


def annotators(*, format: opt.Format = "table") -> None:
    """List the annotators, with how often each is right.

    Example: portrayal list annotators
    """
    _list("annotators", (*_COMPONENT, "accuracy"), format)


_COMPONENT = ("name", "summary", "equation", "unit", "range", "undefined_when", "source")


def _list(kind: registry.Kind, names: tuple[str, ...], format: str) -> None:
    """Print what is registered of a kind, by fields of its records."""
    records = [registry.get(kind, name) for name in registry.names(kind)]
    _give(kind, [{name: getattr(record, name) for name in names} for record in records], format)


def _give(kind: str, rows: Iterable[dict[str, str]], format: str) -> None:
    """Print records of a kind; for people each with its name above what else is said of it."""
    rows, parts = list(rows), list[str]()
    for row in rows:
        name, *further = row.items()
        parts.append(name[1])
        parts += [
            fill(f"{key}: {text}", 80, initial_indent="  ", subsequent_indent="    ")
            for key, text in further
        ]
    show.give(format, {kind: rows}, parts)


def factors(*, format: opt.Format = "table") -> None:
    """List the factors that ship: their groups, how each is seen, and its baselines.

    Example: portrayal list factors
    """
    from portrayal.reference.factors import factors, load_factor

    rows = (
        {
            "name": factor.name,
            "groups": ", ".join(group.label for group in factor.groups),
            "seen by": ", ".join(source.name for source in factor.sources),
            "baselines": ", ".join(one.name for one in factor.baselines) or "none",
            "note": factor.note,
        }
        for factor in map(load_factor, factors())
    )
    _give("factors", rows, format)


def locales(*, format: opt.Format = "table") -> None:
    """List the locales that ship: the country whose names, titles and pronouns they bring.

    Example: portrayal list locales
    """
    from portrayal.reference.locales import load_locale, locales

    rows = (
        {
            "name": locale.name,
            "language": locale.language,
            "country": locale.country,
            "name tables": ", ".join(locale.names.tables) or "none",
            "baselines": ", ".join(locale.names.baselines) or "none",
            "source": locale.source,
        }
        for locale in map(load_locale, locales())
    )
    _give("locales", rows, format)


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
    from portrayal.run.estimates import shown_cells

    rows = show.select(Run.open(run).records, measure, where or [])
    facts = {"schema": SCHEMAS["estimates"], "estimates": list(map(show.estimate_facts, rows))}
    some, more = show.shown(rows, None if show_all else show.ROWS)
    heads, cells, note = shown_cells(some)
    parts: list[show.Part] = [(heads, cells), *filter(None, (note, more))]
    show.give(format, facts, parts, flatten_estimates(rows).to_pylist())


def findings(run: opt.RunPath, /, *, format: opt.Format = "table") -> None:
    """List what a run found, or what it could have found, and what comes nearest.

    Example: portrayal list findings runs/first --format json
    """
    from portrayal.report import finding_facts, finding_lines
    from portrayal.run import Run

    opened = Run.open(run)
    show.give(format, finding_facts(opened) if format == "json" else (), finding_lines(opened))


def prompts_of(study: str) -> tuple[Callable[..., None], str]:
    """Return the command `list prompts` of a study, and an example."""
    options = opt.record(opt.prompt_options(study, ["prompts"]))

    def prompts(
        *,
        prompts: Path | None = None,
        model_options: Annotated[Any, opt.ONE_BY_ONE] = options,
        format: Literal["csv", "json"] = "csv",
    ) -> None:
        """List prompts.

        Parameters
        ----------
        prompts
            Prompt file of your own (TOML, CSV, JSON lines).
        format
            csv or json.
        """
        from portrayal.collect.ask.asking import prompts_of

        study_prompts = prompts_of(study, prompts, opt.given(model_options))
        rows = [{"prompt_id": p.prompt_id, **p.strata, "text": p.text} for p in study_prompts]
        show.give(format, {"study": study, "prompts": rows}, (), rows)

    return prompts, f"portrayal list prompts {study} --prompts mine.toml"
