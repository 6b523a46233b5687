"""Packs of evidence: writing one, and checking that it is what the run gives.

A pack has no manifest of its own: that of the run vouches for what the pack says, and the pack is
made again to be checked.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.errors import OptionError, PortrayalError, RunError
from portrayal.evidence.pack import NOT_MEASURED, NOTES, FormAnswer, Pack, Statement, pack_of
from portrayal.records import Estimate, Interval, Null, finite
from portrayal.registry import form_of
from portrayal.report.strength import strength_of
from portrayal.report.view import View, place_words, q_of
from portrayal.report.words import group_label
from portrayal.run import Run, write_atomically
from portrayal.run.files import check_folder
from portrayal.run.manifest import LINK, MANIFEST, MEASURED, REPORTED, Problem, digest
from portrayal.shown import json_text, markdown, markdown_table

FOLDER = "evidence"
"""Folder of a run for its packs, one folder for each form."""
HEADS = (
    *("id", "measure", "model", "where", "who", "value", "interval", "by chance", "q", "units"),
    *("prompts", "how sure"),
)


def write_evidence(
    run: Run, name: str, out: str | Path | None = None, *, formats: tuple[str, ...] = ()
) -> Path:
    """Write the pack of a run for a form, and return its folder.

    The same run gives the same files.

    Parameters
    ----------
    run
        A run with estimates.
    name
        One of `portrayal.evidence.forms()`, or the path of a form of your own (TOML).
    out
        Folder; `evidence/NAME` in the run by default.
    formats
        Of "md" and "json"; both by default.

    Raises
    ------
    OptionError, RunError, UnknownNameError, DataError
        For a format that there is not, and as `pack_of`.

    Examples
    --------
    >>> text = "Maria was a star student. She helped her classmate Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": text}] * 3
    >>> run = portrayal.audit("laissez-faire", texts=stories, out="first")
    >>> folder = portrayal.write_evidence(run, "model-card")
    >>> sorted(path.name for path in folder.iterdir())
    ['evidence.json', 'evidence.md']
    >>> portrayal.verify_evidence(run).ok
    True
    """
    return write_pack(pack_of(run, name), out, formats=formats)


def write_pack(pack: Pack, out: str | Path | None = None, *, formats: tuple[str, ...] = ()) -> Path:
    """Write a pack; see `write_evidence`."""
    run, chosen = pack.view.run, formats or tuple(FORMATS)
    for each in chosen:
        if each not in FORMATS:
            raise OptionError(f"format takes {' or '.join(FORMATS)}; got {each!r}.")
    folder = Path(out) if out is not None else run.path / FOLDER / pack.form.name
    check_folder(folder, *(f"evidence.{each}" for each in FORMATS))
    folder.mkdir(parents=True, exist_ok=True)
    for each in FORMATS:
        path = folder / f"evidence.{each}"
        if each in chosen:
            write_atomically(path, FORMATS[each](pack))
        else:
            path.unlink(missing_ok=True)
    return folder


def to_json(pack: Pack) -> str:
    """Return a pack as one JSON object; infinite numbers as "inf" and "-inf"."""
    about, manifest = pack.form, pack.view.run.manifest
    content = {
        "form": {
            **{"name": about.name, "title": about.title, "follows": about.follows},
            **{"changes": about.changes, "dates": [asdict(date) for date in about.dates]},
            "url": about.url,
        },
        "notes": [*NOTES, *about.notes],
        "asked": pack.asked,
        "run": manifest.made(*(step for step in manifest.steps() if step != REPORTED)),
        "portrayal": pack.view.settings.get("portrayal", __version__),
        "study": pack.view.settings.get("study"),
        "models": list(pack.view.models),
        "fields": [_field(pack.view, answer) for answer in pack.answers],
    }
    return json_text(finite(content))


def _field(view: View, answer: FormAnswer) -> dict[str, Any]:
    field = answer.field
    return {
        **{"key": field.key, "answers": field.answers, "asks": field.asks},
        "status": answer.status,
        "says": [
            {
                "text": said.text,
                "source": said.source,
                "estimates": [_estimate(view, e) for e in said.estimates],
            }
            for said in answer.statements
        ],
        "left": {"text": field.left, "status": NOT_MEASURED} if field.left else None,
    }


def _estimate(view: View, e: Estimate) -> dict[str, Any]:
    return {
        **{"id": e.id, "measure": e.measure, "statistic": e.statistic, "unit": e.unit},
        **{"strata": dict(e.strata), "group": dict(e.group), "value": e.value},
        **{"interval": _range(e.interval), "null": _range(e.null), "q": q_of(e)},
        **{"n_texts": e.n_texts, "n_units": e.n_units, "n_clusters": e.n_clusters},
        **{"strength": strength_of(view, e), "undefined": e.undefined, "warning": e.warning},
    }


def _range(bounds: Interval | Null | None) -> dict[str, Any] | None:
    names = ("low", "high", "level", "method")
    return None if bounds is None else {name: getattr(bounds, name) for name in names}


def to_markdown(pack: Pack) -> str:
    """Return a pack as Markdown, in which no name or text of a run takes effect."""
    with pack.view.run.speaking():
        return "\n".join(_lines(pack)) + "\n"


def _lines(pack: Pack) -> Iterator[str]:
    about, view = pack.form, pack.view
    models = fmt.listed([markdown(model) for model in view.models]) or "no model"
    version = view.settings.get("portrayal", __version__)
    yield f"# Evidence: {markdown(about.title)}"
    yield ""
    yield f"Follows: {markdown(about.follows)}"
    if about.changes:
        yield f"\nLater changes: {markdown(about.changes)}"
    if about.dates:
        yield "\nDates, each with what was read for it and when; look up whether they still hold:\n"
    for date in about.dates:
        yield f"- {markdown(date.says)} (<{date.source}>, last checked {date.checked})"
    if about.url:
        yield f"\nThe text: <{about.url}>" if about.url.startswith("https://") else ""
    yield ""
    yield f"From a run of Portrayal {markdown(version)}: {markdown(view.settings['study'])}, "
    yield f"{models}. {pack.n_measured} of {len(pack.answers)} fields have an answer in the run."
    yield ""
    yield from (f"- {markdown(note)}" for note in (*NOTES, *about.notes))
    answers = {answer.field.key: answer for answer in pack.answers}
    for section in about.sections:
        yield f"\n## {markdown(section.title)}"
        for field in section.fields:
            yield from _answer(view, answers[field.key])


def _answer(view: View, answer: FormAnswer) -> Iterator[str]:
    field = answer.field
    yield f"\n### {markdown(field.answers)}"
    yield f"\n*{markdown(field.asks)}*"
    if not answer.statements:
        yield f"\n**{NOT_MEASURED}**" + (f": {markdown(field.left)}" if field.left else "")
        return
    yield ""
    for said in answer.statements:
        yield f"- {markdown(said.text)} [{markdown(said.source)}]"
        yield from _table(view, said)
    if field.left:
        yield f"\n**{NOT_MEASURED}**: {markdown(field.left)}"


def _table(view: View, said: Statement) -> Iterator[str]:
    if not said.estimates:
        return
    rows = [
        (
            *(e.id, e.measure, view.called(e.strata.get("model", ""))),
            *(place_words(e), group_label(e.group)),
            fmt.number(e.value, form_of(e)) if e.value is not None else e.undefined or "",
            *(fmt.interval(e.interval, form_of(e)), fmt.interval(e.null, form_of(e))),
            *(fmt.probability(q_of(e)), f"{e.n_units:,.0f}", e.n_clusters),
            strength_of(view, e),
        )
        for e in said.estimates
    ]
    yield ""
    yield markdown_table(HEADS, rows, indent="  ")
    yield ""


FORMATS: Mapping[str, Callable[[Pack], str]] = {"md": to_markdown, "json": to_json}


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a run and its packs gave.

    Attributes
    ----------
    problems
        What is not as the manifest says, or not what this run gives; none where all is.
    notes
        What could not be compared, and why.
    n_files
        Digests that were compared.
    manifest
        SHA-256 of the run's manifest, to compare with the one that you kept.
    recomputed
        Whether the packs were made again; not where another version of the package measured.
    """

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    n_files: int
    manifest: str
    recomputed: bool = True

    @property
    def ok(self) -> bool:
        """Whether nothing differs, and all was recomputed."""
        return self.recomputed and not self.problems


def verify_evidence(
    run: Run, folder: str | Path | None = None, published: str | None = None
) -> Verification:
    """Check every file of a run against its manifest, and its packs against the run.

    Every file is digested again, and no link is followed; so are the files outside the run that its
    options name. Where the package is of the same version its parts are compared as well, and each
    pack is made again and compared with the one there.

    Parameters
    ----------
    run
        The run.
    folder
        Folder of one pack; every pack in the run's folder `evidence` by default.
    published
        SHA-256 of the manifest as you kept or published it; one that was written again has another.

    Raises
    ------
    RunError
        When the run has no manifest.
    """
    if not run.manifest.path.is_file():
        raise RunError(
            f"{run.path} has no {MANIFEST}, as a run of an older version. Audit it again with the "
            "same `portrayal audit` command."
        )
    problems = run.manifest.problems(verify=True, every=True)
    if not problems:
        problems += run.manifest.outside(run.settings().get("options", {}).values())
    steps = run.manifest.steps()
    version = steps.get(MEASURED, {}).get("portrayal", __version__)
    notes = []
    if version != __version__:
        notes.append(
            f"recomputed: no. The run was measured by Portrayal {version}, and this is "
            f"{__version__}: no pack was made again. Install that version to do so"
        )
    packs = [Path(folder)] if folder is not None else sorted((run.path / FOLDER).glob("*"))
    for pack in packs if version == __version__ and not problems else ():
        if pack.is_symlink() or pack.parent.is_symlink():
            problems.append(Problem(pack.name, LINK))
            continue
        problems += _pack_problems(run, pack)
    whole = digest(run.manifest.path)
    if published is not None and published.strip().lower() != whole:
        problems.append(Problem(MANIFEST, "has another digest than the one given"))
    n_files = sum(len(entry["made"]) + len(entry["outside"]) for entry in steps.values())
    return Verification(
        tuple(problems), tuple(notes), n_files, whole, recomputed=version == __version__
    )


def _pack_problems(run: Run, folder: Path) -> Iterator[Problem]:
    """Files of a pack that are not what this run gives."""
    there = {path.name: path for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    name = folder.name
    with suppress(OSError, ValueError, LookupError, TypeError):
        name = json.loads((folder / "evidence.json").read_text(encoding="utf-8"))["asked"]
    try:
        pack = pack_of(run, str(name))
        made = {f"evidence.{kind}": write(pack).encode() for kind, write in FORMATS.items()}
    except PortrayalError as error:
        yield Problem(folder.name, f"cannot be made again ({error})")
        return
    if not there.keys() & made.keys():
        yield Problem(folder.name, "holds no pack")
    for name, path in there.items():
        if path.is_symlink() or not path.is_file():
            yield Problem(f"{folder.name}/{name}", LINK)
        elif path.read_bytes() != made.get(name):
            yield Problem(f"{folder.name}/{name}", "is not what this run gives")
