"""The commands `collect` and `audit`: a subcommand for each study, with the study's own options."""

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.asking as ask
import portrayal.cli.printing as show
import portrayal.registry as registry
from portrayal.cli.options import (
    ONE_BY_ONE,
    PANEL,
    Format,
    given,
    prompt_options,
    record,
    split_prompt_options,
    with_prompts,
)
from portrayal.config import AuditOptions, Option, StudyOptions, options_of
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from portrayal.run import Run

_TEXTS, _OUTPUT = (Parameter(group=PANEL[name]) for name in ("Texts", "Output"))
_OF_FILES = ("columns", "replace", "workers", "report", "population", "level", "hand_labels")
"""Options of an audit without a study, whose help does not wait for one to load."""
_FLAG = Parameter(group=PANEL["Texts"], show_default=False)
_COLUMN = Parameter(group=PANEL["Texts"], metavar="COLUMN")


def collect_of(study: str, file: str = "") -> tuple[Callable[..., None], str]:
    """Return the command `collect` of a study, or of a file of prompts, and an example."""
    of_prompts = () if file else ("prompts",)
    model_options = ask.asking_options("model", "samples", *of_prompts, "arm")
    options = record(
        [*model_options, *prompt_options(study, [option.flag for option in model_options])]
    )

    def collect(
        *,
        out: Annotated[Path | None, _OUTPUT] = None,
        write_batch: Annotated[Path | None, _OUTPUT] = None,
        model_options: Annotated[Any, ONE_BY_ONE] = options,
        format: Format = "table",
    ) -> None:
        """Ask.

        Parameters
        ----------
        out
            Run directory; default runs/STUDY.
        write_batch
            Ask nothing: write the requests to this file, for the batch tool of OpenAI.
        """
        from portrayal.collect.ask import batchfile
        from portrayal.collect.ask.asking import prompts_of
        from portrayal.collect.ask.loop import ask_model
        from portrayal.run import Run

        json, file_prompts = format == "json", {"prompts": Path(file)} if file else {}
        if write_batch is not None:
            asking = ask.asking_of(
                split_prompt_options(ask.settings_of(model_options), study) | file_prompts
            )
            prompts = prompts_of(study, asking.prompts, asking.prompt_options)
            n = batchfile.write_batch(write_batch, prompts, asking)
            after = f"then: portrayal audit {registry.called(study)} --texts ANSWERS.jsonl"
            facts = {"requests": n, "file": str(write_batch)}
            show.give(format, facts, [f"wrote {n:,} requests to {write_batch}; {after}"])
            return
        run = Run(out or Path("runs") / (Path(file).stem or registry.called(study)))
        with run.lock(), ask.asking(model_options, format) as settings:
            asking = ask.asking_of(split_prompt_options(settings, study) | file_prompts)
            report = ask_model(run, study, asking, show.nothing if json else show.line)
        if json:
            names = "model done total outcomes asked tries"
            facts = {"run": str(run.path), "cost_usd": report.cost}
            facts |= {name: getattr(report, name) for name in names.split()}
            facts |= asdict(report.usage) | {"stopped": report.stopped or None}
            show.give(format, facts, ())
        elif file and not report.stopped:
            show.line(f"next: portrayal audit {run.path}")
        # Raised at the end, when what was answered is on disk and told
        if report.stopped == "interrupted":
            raise KeyboardInterrupt

    example = f"portrayal collect {with_prompts(study)} --model openai:gpt-5-mini --samples 5"
    return collect, example


def _audit_options() -> dict[str, Option]:
    """The options of any audit; of workers, the default is one per core."""
    options = options_of(AuditOptions)
    return options | {"workers": replace(options["workers"], default=None)}


def study_options(name: str) -> Any:
    """Return a record of the options of a study's audit; what says nothing for it is left out."""
    study = registry.get("studies", name)
    own_options = options_of(study.options)
    own_options["seed"] = replace(own_options["seed"], rare=True)
    audit_options = _audit_options()
    # What says nothing for a study is no option of it: its help stays short
    without = [] if study.pair_field else ["pair_by"]
    if study.reference:
        words = "File of the texts that people wrote, to compare with."
        audit_options["reference"] = Option("reference", None, words, "Texts")
    else:
        without.append("reference_columns")
    rare = ("arm", *(option.name for option in ask.SHAPING))
    model_options = [
        replace(option, rare=option.rare or option.name in rare)
        for option in ask.asking_options("model", "samples", "prompts", "arm")
    ]
    all_options = [option for key, option in audit_options.items() if key not in without]
    all_options += [*model_options, *own_options.values()]
    return record([*all_options, *prompt_options(name, [o.flag for o in all_options])])


def audit_by(
    name: str,
    values: Any,
    format: str,
    texts: Path | None,
    out: Path,
    *,
    sample: bool = False,
    config: Path | None = None,
) -> "Run":
    """Audit texts, or a model, by a study.

    Parameters
    ----------
    name
        The study's.
    values
        A record of `study_options`, as the command line filled it.
    format
        Stages are told where it is table.
    texts, out, sample, config
        See the command `audit`.
    """
    from portrayal.pipeline.audit import audit as run_audit
    from portrayal.pipeline.config import AuditConfig, read_options

    study, quiet = registry.get("studies", name), format != "table"
    files = {"texts": texts, "reference": getattr(values, "reference", None)}
    if sample and any(files.values()):
        raise OptionError("give either --texts and --reference or --sample, not both.")
    chosen_values = {} if config is None else read_options(config, study.options, study.name)
    chosen_values |= given(values)
    models = map(chosen_values.get, ("model", "labeler_model", "factor_model"))
    asks_models = any(models) or str(chosen_values.get("classifier")).startswith("llm:")
    with (
        show.progress(quiet=quiet or asks_models) as advance,
        ask.asking(values, format, quiet=quiet or not asks_models) as chosen_now,
    ):
        settings = {"workers": os.cpu_count() or 1} | chosen_now
        # `columns` are those of the texts; where there are none, of a file of headlines.
        table_keys = ("columns",) if sample or any(files.values()) else ()
        columns = {key: settings.pop(key) for key in table_keys if key in settings}
        settings = split_prompt_options(settings, name) | columns
        settings.pop("reference", None)  # given as a file already
        run: Run = run_audit(
            study=name,
            **(study.sample() if sample else files),
            out=out,
            config=AuditConfig.of(settings, study.options, study.name, config),
            progress=advance,
            say=None if quiet else show.line,
        )
    return run


def audit_of(name: str) -> tuple[Callable[..., None], str]:
    """Return the command `audit` of a study, and an example."""
    study = registry.get("studies", name)
    options = study_options(name)

    def audit(
        *,
        texts: Annotated[Path | None, _TEXTS] = None,
        sample: Annotated[bool, _FLAG] = False,
        model_options: Annotated[Any, ONE_BY_ONE] = options,
        out: Annotated[Path | None, _OUTPUT] = None,
        config: Annotated[Path | None, _OUTPUT, Parameter(metavar="FILE")] = None,
        format: Annotated[Format, _OUTPUT] = "table",
    ) -> None:
        """Audit by a study.

        Parameters
        ----------
        texts
            CSV, JSON lines, Parquet or Excel file, or a folder of them; Inspect logs.
        sample
            Audit the study's sample.
        out
            Run directory; default runs/STUDY.
        config
            Options of a file, such as a run's audit.toml; those given here count over it.
        """
        place = out or Path("runs") / registry.called(name)
        run = audit_by(name, model_options, format, texts, place, sample=sample, config=config)
        if format == "json":
            show.give(format, show.run_facts(run), ())

    files_of_pairs = " --reference articles.csv" * study.reference
    files_of_pairs += f" --pair-by {study.pair_field}" if study.pair_field else ""
    return audit, f"portrayal audit {name} --texts answers.csv --out runs/mine{files_of_pairs}"


def audit_file(all_options: bool) -> tuple[Callable[..., None], str]:
    """Return the command `audit FILE`, which needs no study, and an example.

    Parameters
    ----------
    all_options
        Whether it takes all options of comparisons by --set; loading these takes a second, which
        its help alone does not wait for.
    """
    option_of = {**_audit_options(), **options_of(StudyOptions)}
    options = [option_of[name] for name in _OF_FILES]
    if all_options:
        # What the columns say is no option here
        by_columns = {"by", "score", "group", "apart", "source"}
        of_pairs = options_of(registry.get("studies", "pairs").options)
        names = {option.name for option in options} | by_columns
        options += [replace(o, rare=True) for name, o in of_pairs.items() if name not in names]
    file_options = record(options)

    def audit(
        file: Path,
        /,
        *,
        by: Annotated[list[str] | None, _COLUMN] = None,
        score: Annotated[list[str] | None, _COLUMN] = None,
        asked: Annotated[bool, _FLAG] = False,
        options: Annotated[Any, ONE_BY_ONE] = file_options,
        out: Annotated[Path | None, _OUTPUT] = None,
        format: Annotated[Format, _OUTPUT] = "table",
    ) -> None:
        """Audit a file.

        Parameters
        ----------
        file
            A file or folder of texts with columns.
        by
            Column of groups that are compared, or COLUMN*COLUMN; repeatable.
        score
            Column of numbers, or of yes and no, that is compared as well; repeatable.
        asked
            The groups of --by were asked for, though no prompt shows it.
        out
            Run directory; default runs/FILE.
        """
        from portrayal.pipeline.audit import audit as run_audit

        if not file.exists():
            names = ", ".join(registry.names("studies"))
            raise OptionError(f"{file} is neither a file of texts nor a study ({names}).")
        json = format == "json"
        with show.progress(quiet=json) as advance:
            run = run_audit(
                file,
                by=by or (),
                score=score or (),
                asked=asked,
                out=out
                or Path("runs") / f"{file.stem.partition('.')[0]}{'-audit' * file.is_dir()}",
                progress=advance,
                say=None if json else show.line,
                **{"workers": os.cpu_count() or 1, **given(options)},
            )
        if json:
            show.give(format, show.run_facts(run), ())

    return audit, "portrayal audit answers.csv --by user_gender"


def new(
    folder: Annotated[Path, Parameter(help="Folder to make; its name is the study's.")], /
) -> None:
    """Write a study of your own: a commented TOML file, prompts, a card and texts to try it on.

    Example: portrayal new my-study
    """
    from portrayal.studies.own import write_start

    show.line(f"wrote {write_start(folder)}; next: portrayal audit {folder} --sample")
