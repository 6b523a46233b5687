"""The commands `label …`: who is in texts and what they say, by people or by a model.

Three ways lead to the same agreement and the same scores: a sheet (CSV) that people fill in, a page
in the browser on which raters code, and a language model.
"""

import os
from contextlib import closing
from dataclasses import asdict
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import portrayal.cli.asking as ask
import portrayal.cli.options as opt
import portrayal.cli.printing as show
from portrayal.errors import OptionError, RunError
from portrayal.validate import check_different_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portrayal.coding import Project
    from portrayal.coding.server import Address
    from portrayal.raters import Labels
    from portrayal.report.coding import Block

PASSWORD = "PORTRAYAL_CODE_PASSWORD"  # noqa: S105
"""Environment variable that gives the password without a terminal."""
Sheets = Annotated[
    list[Path],
    Parameter(help="Filled-in sheets or other label files; or a project, or a run with one."),
]
ProjectPath = Annotated[Path, Parameter(help="Folder of a coding project, or a run with one.")]
LABELLING = opt.record(ask.asking_options("model", "samples", whose="labeler", samples=0))
"""Answers to each question where none are named: 3 about people, 1 by a codebook."""


def find_project(path: Path) -> "Project":
    """Return the project in a folder, or the only one of a run.

    Raises
    ------
    RunError
        When there is none, or a run has several.
    """
    from portrayal.coding import open_project

    folders = sorted(one.parent for one in path.glob("coding/*/project.toml"))
    # What is neither a project nor a run is opened all the same, for its error's sake
    if (path / "project.toml").is_file() or not (path / "audit.toml").is_file():
        return open_project(path)
    if not folders:
        raise RunError(
            f"{path} has no texts to code yet. Draw some: portrayal label sheet {path} --project …"
        )
    if len(folders) > 1:
        names = ", ".join(str(one) for one in folders)
        raise RunError(f"{path} has several coding projects; name one of {names}.")
    return open_project(folders[0])


def labels_at(paths: list[Path]) -> "Labels":
    """Return the labels of a project, or the only one of a run, or of label files."""
    from portrayal.coding import project_labels
    from portrayal.raters import read_labels

    if paths[0].is_dir():
        if len(paths) > 1:
            raise OptionError("name one project, or the label files of several raters.")
        return project_labels(find_project(paths[0]))
    check_different_files(paths)
    return read_labels(*paths)


def sheet(
    run: opt.RunPath,
    /,
    *,
    about: Annotated[str, Parameter(name="--for", metavar="WHAT")] = "people",
    n: int = 300,
    by: Annotated[list[str] | None, Parameter(metavar="STRATUM")] = None,
    rater: Annotated[list[str] | None, Parameter(metavar="NAME")] = None,
    project: Annotated[str | None, Parameter(metavar="NAME")] = None,
    target_width: float | None = None,
    hand_labels: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    out: Path | None = None,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Draw texts at random for people to label, on sheets (CSV) or on a page in the browser.

    Example: portrayal label sheet runs/laissez-faire --for religion --n 300

    Parameters
    ----------
    about
        A measure, finding or field that labels correct, whose interval the texts narrow; or a
        codebook: people (of stories), stereotypes, or a TOML file of your own.
    n
        Texts to draw.
    by
        With a codebook, draw as many of each, such as domain or race; repeatable. Default: domain,
        condition, model.
    rater
        Who labels, a sheet for each; repeatable. Default: first, second.
    project
        A page in the browser in place of sheets: a project of this name in the run.
    target_width
        With a field, as many texts as a 95 % interval of this width needs.
    hand_labels
        With a field, labels given so far: they tell how often the scorer errs, and how wide it is.
    out
        CSV file after which the sheets are named; default in the run.
    """
    from portrayal.coding import field_book, items_of, make_project, project_folder, write_sheets
    from portrayal.coding.sampling import draw_texts, short_of_people
    from portrayal.measure.drawing import draw_for, field_for, short_strata
    from portrayal.raters import codebook, read_hand_labels
    from portrayal.raters.codebook import CODEBOOKS
    from portrayal.run import Run

    opened, raters = Run.open(run), rater or ["first", "second"]
    if about in CODEBOOKS.names or about.endswith(".toml"):
        if target_width is not None or hand_labels is not None:
            raise OptionError("--target-width and --hand-labels go with --for a field or measure.")
        book = codebook(about)
        sample = draw_texts(opened, book.name, n, by=by, seed=seed)
        short = short_of_people(opened, sample) if book.name == "people" else []
    else:
        if by:
            raise OptionError("--by goes with --for a codebook; a field is drawn by its scorer.")
        field = field_for(opened, about)
        labels = hand_labels and read_hand_labels(hand_labels)
        sample = draw_for(
            opened, field, n, seed=seed, labels=labels or None, target_width=target_width
        )
        book, short = field_book(opened, field, len(raters)), short_strata(opened, sample)
    items = items_of(opened, sample, with_people=sample.width is None)
    if project is not None:
        draw = {"for": sample.about, "n": n, "by": by or [], "raters": raters}
        folder = project_folder(opened.path, project)
        make_project(folder, items, book, seed=seed, draw=draw)
        files, after = [folder], f"portrayal label serve {folder}"
    else:
        out = out or opened.path / f"{sample.about}.csv"
        files = write_sheets(items, book, out, raters)
        after = f"portrayal label merge {' '.join(map(str, files[: len(raters)]))} --out {out}"
    width = sample.width
    facts = {"for": sample.about, "n_drawn": len(items), "expected_width": width}
    facts |= {"files": [*map(str, files)], "strata": dict(sample.strata), "too_few": short}
    words = "" if width is None else f"; expected width of a share of these texts: {width:.3f}"
    parts = [f"{name}: {n:,} of {of:,} texts" for name, (of, n) in sample.strata.items()]
    parts += [f"{len(items):,} texts{words}", *(f"warning: {place.sentence}" for place in short)]
    show.give(format, facts, [*parts, *(f"wrote {path}" for path in files), f"then: {after}"])


def merge(sheets: Sheets, /, *, out: Path, format: opt.Format = "table") -> None:
    """Join the labels of several raters, or of a project, in one label file.

    Example: portrayal label merge anna.csv ben.csv --out labels.csv

    Parameters
    ----------
    out
        CSV file to write.
    """
    from portrayal.raters import settled, write_labels

    if out.exists():
        raise OptionError(f"{out} is there already and may hold labels; give another --out.")
    labels = labels_at(sheets)
    write_labels(out, labels)
    # A row for each label, also where raters differ: who reads the file settles it, and says so
    n_open = sum(answer is None for answer in settled(labels).values())
    n_labels, raters = len(labels.rows), labels.raters
    facts = {"table": str(out), "n_labels": n_labels, "raters": raters, "n_undecided": n_open}
    parts = [f"{out}: {n_labels:,} labels by {', '.join(raters) or 'nobody'}"]
    if n_open:
        parts.append(f"left open, as no more than half of the raters agree: {n_open:,}")
    show.give(format, facts, [*parts, f"then: portrayal audit … --hand-labels {out}"])


def serve(
    project: ProjectPath,
    /,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    password: opt.Flag = False,
    adjudicator: list[str] | None = None,
    ssl_certfile: Path | None = None,
    ssl_keyfile: Path | None = None,
    new_address: opt.Flag = False,
) -> None:
    """Serve the page on which raters code, until Ctrl-C.

    Example: portrayal label serve runs/laissez-faire/coding/first

    Parameters
    ----------
    host
        Address to listen on; other machines only with --password.
    port
        Port; default the last one, else a free one.
    password
        Ask for a password that raters enter, or read PORTRAYAL_CODE_PASSWORD.
    adjudicator
        Who may adjudicate, by name; repeatable.
    ssl_certfile
        Certificate (PEM): the page is served encrypted, as https.
    ssl_keyfile
        Key of the certificate (PEM).
    new_address
        Make a new token: the old address ends.
    """
    opened = find_project(project)
    from portrayal.coding.server import check_certificate, check_password, serve, take_address

    # No option takes the password itself: other users of the machine see command lines
    word = os.environ.get(PASSWORD) if password else None
    if password and word is None:
        try:
            word = getpass("Password: ")
            if word != getpass("Repeat for confirmation: "):
                raise OptionError("the two passwords are not the same.")
        except EOFError:
            raise OptionError(
                f"--password asks on a terminal; without one set the variable {PASSWORD}."
            ) from None
    # Before an address is taken, which writes to the project
    check_password(host, word)
    pair = check_certificate(ssl_certfile, ssl_keyfile)
    address = take_address(opened.folder, host, port, renew=new_address, tls=pair is not None)

    # Told when the page listens: a browser that is faster would find nothing
    def ready(address: "Address") -> None:
        show.line(f"{len(opened.items):,} texts of {opened.folder}. Open in a browser:")
        show.line(address.url)
        if not address.is_loopback:
            open_to_all = (
                ", and what passes is not encrypted: use it in a network you trust, behind a "
                "tunnel, or with --ssl-certfile and --ssl-keyfile"
            )
            show.line(f"Other machines can reach this page{'' if address.tls else open_to_all}.")
        show.line("Every answer is saved as it is given. Ctrl-C stops the page.")
        show.line(f"then: portrayal label merge {opened.folder} --out labels.csv")

    names = adjudicator or ()
    serve(opened, address, password=word, adjudicators=names, certificate=pair, ready=ready)


def raters(
    project: ProjectPath,
    /,
    *,
    reset: Annotated[str | None, Parameter(metavar="NAME")] = None,
    format: opt.Format = "table",
) -> None:
    """List who has coded, or let a rater who lost the personal code have a new one.

    Example: portrayal label raters runs/laissez-faire/coding/first

    Parameters
    ----------
    reset
        Forget the personal code of this rater, who lost it.
    """
    from portrayal.coding.store import Store, rater_key

    opened = find_project(project)
    if not opened.codes_path.is_file():
        raise OptionError(f"no one has coded in {opened.folder} yet.")
    with closing(Store(opened.codes_path)) as store:
        if reset is not None:
            # The labels stay; only the code that guards the name is forgotten
            if not store.forget_code(rater_key(reset)):
                raise OptionError(f"no rater called {reset!r} has a personal code here.")
            show.line(f"{reset}: whoever enters this name next is given a new code.")
            return
        rows = [
            {"rater": name, "kind": kind, "n_done": len(store.done(key))}
            for kind in ("human", "adjudicated", "llm")
            for key, name in store.raters(kind).items()
        ]
    parts = [
        f"{row['rater']}{' (language model)' if row['kind'] == 'llm' else ''}: "
        f"done with {row['n_done']:,} texts"
        for row in rows
    ]
    show.give(format, {"project": str(opened.folder), "raters": rows}, parts)


def agreement(
    sheets: Sheets,
    /,
    *,
    level: opt.Level = 0.95,
    draws: opt.Draws = 2000,
    seed: opt.Seed = 0,
    format: opt.Format = "table",
) -> None:
    """Say how far people agree beyond chance, and in a project each language model with them.

    Example: portrayal label agreement anna.csv ben.csv

    """
    from portrayal.raters import agreement as agreement_of
    from portrayal.report.coding import agreement_blocks

    labels = labels_at(sheets)
    agreed = agreement_of(labels, level=level, draws=draws, seed=seed)
    facts = {"labels": labels.source, "begun_not_done": labels.started, "people": agreed.people}
    facts |= {"pairs_of_people": agreed.pairs, "language_models_against_people": agreed.models}
    n_begun = labels.started
    begun = [f"{n_begun:,} texts are begun and not done, and do not count."] if n_begun else []
    show.give(format, facts, [*begun, *_parts(agreement_blocks(labels.names, agreed))])


def _parts(blocks: "Iterable[Block]") -> "Iterator[show.Part]":
    """Tables under their titles, with the sentences before and after them."""
    for block in blocks:
        yield f"\n{block.title}"
        yield from block.before
        if block.table is not None:
            yield block.table.columns, block.table.rows
        yield from block.after


def model(
    given: Path,
    /,
    *,
    labeler: opt.Labeler = "llm",
    route_share: opt.RouteShare = 0.2,
    model_options: Annotated[Any, opt.ONE_BY_ONE] = LABELLING,
    format: opt.Format = "table",
) -> None:
    """Let a language model label; the same command asks again what failed.

    Example: portrayal label model runs/laissez-faire --labeler-model openai:gpt-5-mini

    Parameters
    ----------
    given
        A run, whose people are labelled; or a coding project, whose codebook is used.
    """
    from portrayal.annotate import Annotation, annotate_run
    from portrayal.annotate.people.labeler import labelling_of, labelling_of_run
    from portrayal.coding.llm import code_by_model
    from portrayal.reference.locales import load_locale
    from portrayal.run import Run

    tell = show.nothing if format == "json" else show.line
    if not model_options.labeler_model:
        raise OptionError("say who labels: --labeler-model SERVICE:MODEL.")
    if labeler not in ("llm", "routed"):
        raise OptionError("`portrayal label model` asks a model: --labeler is llm or routed.")
    if (given / "project.toml").is_file():
        # A model codes the texts of a project as a rater apart from people.
        project = find_project(given)
        with ask.asking(model_options, format, project.folder) as settings:
            result = code_by_model(project, ask.asking_of(settings), tell)
        coder_facts = {"project": str(project.folder), "kind": "llm", **asdict(result)}
        parts = [f"{result.rater}: coded {result.n_coded:,} of {result.n_items:,} texts."]
        removed = {"answers not used": result.unusable, "codes removed": result.removed}
        for title, reasons in removed.items():
            if reasons:
                parts.append(f"{title}: {', '.join(f'{n:,} {x}' for x, n in reasons.items())}")
        if n_failed := len(result.failed):
            parts.append(
                f"{n_failed:,} texts have no codes of it. The same command asks again about those "
                "that no answer came for."
            )
        show.give(format, coder_facts, parts)
        return
    run = Run(given)
    if not run.texts.parts():
        raise RunError(f"{given} holds no texts. Name a directory that `portrayal audit` made.")
    # Whole before it is paid for
    run.check()
    with run.lock(), ask.asking(model_options, format, given) as settings:
        model_name, samples = settings.pop("model"), settings.pop("samples", 3)
        labelling = labelling_of(labeler, model_name, samples, route_share, settings)
        assert labelling is not None
        # The locale of the run is that of its questions
        options = run.settings()["options"] if run.settings_path.is_file() else {}
        local = load_locale(options["locale"]).mark() if options.get("locale") else {}
        asked = labelling.answered(run, Annotation(labelling.annotators[0], local), tell)
        annotate_run(run, asked.name, settings=asked.settings)
    if format == "json":
        facts = {"annotator": asked.name, **labelling_of_run(run, asked.name)}
        show.as_json({"run": str(given), **facts})
        return
    more = f"--labeler {labeler} --labeler-model {model_name} --set labeler_samples={samples}"
    routed = f" --set route_share={route_share}" if labeler == "routed" else ""
    show.line(f"next: portrayal audit STUDY --out {given} {more}{routed}")


def codes(
    project: ProjectPath,
    /,
    *,
    by: Annotated[str | None, Parameter(metavar="STRATUM")] = None,
    merge: Annotated[list[str] | None, Parameter(metavar="GROUP=GROUP")] = None,
    level: opt.Level = 0.95,
    format: opt.Format = "table",
) -> None:
    """List how often each code occurs in each group.

    Where a model coded as well, its shares are corrected by the texts that people coded.

    Example: portrayal label codes runs/laissez-faire/coding/first --by race

    Parameters
    ----------
    by
        Stratum or label of people that groups texts; default group, cue or race.
    merge
        Count the first with the second; repeatable.
    """
    from portrayal.coding import code_prevalence, code_shares, project_labels
    from portrayal.report.coding import code_blocks

    opened = find_project(project)
    labels, merged = project_labels(opened), opt.pairs("--merge", merge, "Inuit=AN")
    groups = code_shares(opened, labels, by=by, merge=merged, level=level)
    corrected = code_prevalence(opened, labels, by=by, merge=merged, level=level)
    facts = {"project": str(opened.folder), "groups": groups, "corrected": corrected}
    show.give(format, facts, _parts(code_blocks(labels.names, groups, corrected)))
