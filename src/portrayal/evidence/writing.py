"""Packs of evidence: writing one, and checking that all of it is as it was."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import portrayal.report.formats as fmt
from portrayal._version import __version__
from portrayal.errors import OptionError, PortrayalError
from portrayal.evidence.manifest import (
    LINK,
    MANIFEST,
    PACK,
    digest,
    digests,
    manifest_of,
    outside_of,
    package_digests,
    packs_of,
    parts_of,
    read_manifest,
)
from portrayal.evidence.pack import NOT_MEASURED, NOTES, FormAnswer, Pack, Statement, pack_of
from portrayal.records import Estimate, Interval, Null, finite
from portrayal.registry import form_of
from portrayal.report import write_report
from portrayal.report.strength import strength_of
from portrayal.report.view import View, place_words, q_of
from portrayal.report.words import group_label
from portrayal.run import Run, write_atomically
from portrayal.run.files import check_folder
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
    """Write the pack of a run for a form with its manifest, and return their folder.

    The same run gives the same files. A run without a report gets one first.

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
    ['evidence.json', 'evidence.md', 'manifest.json']
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
    if not run.report_path.is_file():
        write_report(run)
    check_folder(folder, MANIFEST)
    folder.mkdir(parents=True, exist_ok=True)
    for each in FORMATS:
        path = folder / f"evidence.{each}"
        if each in chosen:
            write_atomically(path, FORMATS[each](pack))
        else:
            path.unlink(missing_ok=True)
    write_atomically(folder / MANIFEST, manifest_of(run, folder, pack.asked))
    return folder


def to_json(pack: Pack) -> str:
    """Return a pack as one JSON object; infinite numbers as "inf" and "-inf"."""
    about = pack.form
    content = {
        "form": {
            **{"name": about.name, "title": about.title, "follows": about.follows},
            **{"changes": about.changes, "dates": [asdict(date) for date in about.dates]},
            "url": about.url,
        },
        "notes": [*NOTES, *about.notes],
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
class Problem:
    """A file that is not as a manifest says.

    Attributes
    ----------
    part
        "texts", "instruments", "estimates", "report", "rest", "pack", "package" or "manifest".
    file
        Its path in the run; for a part of the package or an outside file, its name.
    what
        "changed", "missing", "is a link", "not in the manifest", "is not what this run gives", or
        "has another digest than the one given".
    """

    part: str
    file: str
    what: str

    def __str__(self) -> str:
        """Say it: "texts: texts/part-00000.parquet changed"."""
        return f"{self.part}: {self.file} {self.what}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a run against its packs gave.

    Attributes
    ----------
    problems
        What is not as the manifests say; none where all is.
    notes
        What could not be compared, and why.
    n_files
        Digests that were compared.
    manifests
        Manifest → its own SHA-256, to compare with the one that you kept.
    recomputed
        Whether each pack was made again; not where another version of the package wrote it.
    """

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    n_files: int
    manifests: Mapping[str, str]
    recomputed: bool = True

    @property
    def ok(self) -> bool:
        """Whether nothing differs, and all was recomputed."""
        return self.recomputed and not self.problems


def verify_evidence(
    run: Run, folder: str | Path | None = None, published: str | None = None
) -> Verification:
    """Check a run against the manifests of its packs.

    Every file is digested again, and no link is followed. Where the package is of the same version
    its parts are compared as well, and each pack is made again and compared with the one there.

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
        When there is no manifest.
    DataError
        When a manifest cannot be read.
    """
    problems: dict[Problem, None] = {}
    notes: dict[str, None] = {}
    n_files, manifests, recomputed, outside = 0, {}, True, outside_of(run)
    for each in [Path(folder)] if folder is not None else packs_of(run):
        said = read_manifest(each / MANIFEST)
        if each.is_symlink() or each.parent.is_symlink():
            problems[Problem("pack", each.name, "is a link")] = None
        pack = {f"{each.name}/{name}": value for name, value in said["pack"].items()}
        held = {f"{each.name}/{name}": value for name, value in digests(each, PACK).items()}
        pairs = [(part, said["run"][part], now) for part, now in parts_of(run).items()]
        pairs += [("pack", pack, held), ("instruments", said["outside"], outside)]
        same = said["portrayal"] == __version__
        recomputed = recomputed and same
        if same:
            pairs.append(("package", said["package"], package_digests()))
        else:
            notes[
                f"recomputed: no. The manifest says Portrayal {said['portrayal']}, and this is "
                f"{__version__}: the pack was not made again. Install that version to do so"
            ] = None
        for part, listed, held in pairs:
            for name in sorted({*listed, *held}):
                if what := _difference(listed.get(name), held.get(name)):
                    problems[Problem(part, name, what)] = None
        if not problems and same:
            # Whether the pack says what the run says, also where the manifest was written again.
            try:
                again = pack_of(run, said["form"])
                made = {each / f"evidence.{kind}": write(again) for kind, write in FORMATS.items()}
            except PortrayalError as error:
                problems[Problem("pack", each.name, f"cannot be made again ({error})")] = None
                made = {}
            for path, text in made.items():
                if path.is_file() and path.read_bytes() != text.encode():
                    what = "is not what this run gives"
                    problems[Problem("pack", f"{each.name}/{path.name}", what)] = None
        n_files += sum(map(len, (*said["run"].values(), said["outside"], said["pack"])))
        manifests[str(each / MANIFEST)] = digest(each / MANIFEST)
    if published is not None and published.strip().lower() not in manifests.values():
        what = "has another digest than the one given"
        problems |= {Problem("manifest", name, what): None for name in manifests}
    return Verification(tuple(problems), tuple(notes), n_files, manifests, recomputed)


def _difference(listed: str | None, held: str | None) -> str:
    """What is wrong with a file of this digest where the manifest lists that; "" where nothing."""
    if held is None:
        return "missing"
    if held == LINK:
        return "is a link"
    return "not in the manifest" if listed is None else "" if listed == held else "changed"
