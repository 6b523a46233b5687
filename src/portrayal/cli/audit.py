"""The command `audit`, one subcommand for each registered study, with the study's own options."""

import dataclasses
import os
from collections.abc import Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

from portrayal import registry
from portrayal.cli import agency as cli_agency
from portrayal.cli import ask as cli_ask
from portrayal.cli import ask as show_ask
from portrayal.cli import label as cli_label
from portrayal.cli import printing as show
from portrayal.cli.options import Columns, Json, More
from portrayal.errors import OptionError

_LABELER = {field.name for field in dataclasses.fields(cli_label.LabelerHow)}
_CLASSIFIER = {field.name for field in dataclasses.fields(cli_agency.ClassifierHow)}


class Studies(TyperGroup):
    """Subcommands made from the registered studies, each when it is asked for."""

    def list_commands(self, _: Any) -> list[str]:
        """Return the names of the studies."""
        return list(registry.names("studies"))

    def get_command(self, _: Any, cmd_name: str) -> Any:
        """Return the command of a study, whose name may use `_` for `-`."""
        return study_command(registry.resolve("studies", cmd_name))


def study_command(name: str) -> Any:
    """Return the command that audits by the study registered as `name`."""
    study = registry.get("studies", name)
    single = typer.Typer(add_completion=False)
    single.command(name, help=f"{study.title}. {study.question}")(_function(name, study))
    return typer.main.get_command(single)


def _function(name: str, study: Any) -> Callable[..., None]:
    """Return a function with the shared parameters and those of the study."""
    own = _own(study)
    hidden = set() if study.pair_field else {"reference", "pair_by", "reference_column"}
    asked = registry.get("prompts", name).make if name in registry.names("prompts") else None
    prompts = signature(asked).parameters if asked is not None else {}
    hidden |= {"form"} if "forms" not in prompts else set()
    hidden |= {"fairness"} if "fairness" not in prompts else set()
    hidden |= _LABELER if "labeler_model" not in own else set()
    hidden |= _CLASSIFIER if "classifier" not in own else set()
    shared = [p for p in signature(_audit).parameters.values() if p.name not in (*hidden, "own")]
    taken = {p.name for p in shared}

    def command(**given: Any) -> None:
        chosen = {key: given.pop(key) for key in own}
        _audit(study=name, own=chosen, **given)

    parameters = [p for p in shared if p.name != "study"]
    parameters += [p for key, p in own.items() if key not in taken]
    parameters.sort(key=lambda p: p.kind)
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _own(study: Any) -> dict[str, Parameter]:
    """Return the parameters that the study's options make."""
    hints = get_type_hints(study.options)
    made = {}
    for field in dataclasses.fields(study.options):
        kind, default = hints[field.name], field.default
        if get_origin(kind) is tuple:
            kind, default = list[get_args(kind)[0]] | None, None  # type: ignore[misc]
        elif isinstance(kind, UnionType) and any(get_origin(a) is tuple for a in get_args(kind)):
            kind, default = list[str] | None, None
        words = typer.Option(help=field.metadata.get("help", ""))
        if kind is bool:
            words = typer.Option(
                f"--{field.name.replace('_', '-')}", help=field.metadata.get("help", "")
            )
        made[field.name] = Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, words],
        )
    return made


@cli_ask.grouped
def _audit(
    study: str,
    *,
    own: dict[str, Any],
    more: More = None,
    texts: Annotated[
        Path | None,
        typer.Option(help="CSV, JSON lines, Parquet or Excel file, or a folder of them."),
    ] = None,
    reference: Annotated[
        Path | None, typer.Option(help="File of the texts that people wrote, to compare with.")
    ] = None,
    pair_by: Annotated[
        str | None, typer.Option(help="Column that pairs texts with reference texts.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Audit the study's sample.")] = False,
    model: cli_ask.Model = None,
    samples: cli_ask.Samples = 1,
    prompts: cli_ask.PromptFile = None,
    form: cli_ask.Form = None,
    fairness: cli_ask.Fairness = False,
    how: cli_ask.How,
    judge: cli_ask.Judge = None,
    batch: cli_ask.Batch = False,
    labels: cli_label.LabelerHow,
    reads: cli_agency.ClassifierHow,
    out: Annotated[Path | None, typer.Option(help="Run directory; default runs/STUDY.")] = None,
    column: Columns = None,
    reference_column: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=NAME", help="Column NAME of the reference file holds FIELD."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Columns of a published file.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Empty a run that holds other texts.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Local processes; default one per core.")
    ] = None,
    json: Json = False,
) -> None:
    """Audit texts, or a model's answers."""
    from portrayal.pipeline.audit import audit as run_audit

    given = _given(study, texts, reference, sample)
    what = {"prompts": prompts, "form": form, "fairness": fairness, "judge": judge, "batch": batch}
    _check_asked(model, samples=samples > 1, **what)
    labeler_model = own.get("labeler_model")
    classifier = own.get("classifier")
    asked = model is not None or labeler_model is not None or cli_agency.asks(classifier)
    with (
        show.progress(quiet=json or asked) as advance,
        show_ask.asking_progress(quiet=json or not asked) as answered,
    ):
        asking = None
        if model is not None:
            asking = how.asking(
                model,
                answered,
                samples=samples,
                prompts=prompts,
                prompt_options=cli_ask.prompt_options(None, form, fairness),
                judge=judge,
                batch=batch,
            )
        run = run_audit(
            study,
            **given,
            pair_by=pair_by,
            model=asking,
            out=out or Path("runs") / study,
            columns=[*(column or ()), *(more or ())],
            reference_columns=reference_column,
            preset=preset,
            replace=replace,
            labeler_settings=labels.settings(labeler_model, how, answered),
            classifier_settings=reads.settings([classifier], how, answered),
            workers=(os.cpu_count() or 1) if workers is None else workers,
            progress=advance,
            say=None if json else show.line,
            **_chosen(own),
        )
    if json:
        show.as_json(show.run_facts(run))


def _check_asked(model: str | None, **given: Any) -> None:
    """Refuse options that say what a model is asked where none is."""
    for name, value in given.items():
        if value and model is None:
            raise OptionError(
                f"--{name} says what to ask a model: give --model, or leave it out. Texts that are "
                "there say their prompts, and who is in them, by their columns."
            )


def _given(study: str, texts: Path | None, reference: Path | None, sample: bool) -> dict[str, Any]:
    """Return the texts that an audit was told to read."""
    if not sample:
        return {"texts": texts, "reference": reference}
    if texts is not None or reference is not None:
        raise OptionError("give either --texts and --reference or --sample, not both.")
    return dict(registry.get("studies", study).sample())


def _chosen(own: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given: lists as tuples, those left out by their default."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in own.items()
        if value is not None
    }
