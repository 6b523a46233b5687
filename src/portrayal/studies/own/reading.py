"""Studies of TOML files: reading one, keeping it in a run, and writing a start of one."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import portrayal.registry as registry
from portrayal.errors import OptionError, PortrayalError
from portrayal.records import Prompt
from portrayal.reference import Baseline
from portrayal.reference.datafile import DataFile, Holds, Keys, Line, Name, Word, read_datafile
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.studies.own.prompts import read_own_prompts
from portrayal.studies.stories import LADEN, MEASURES, Stories, StoryOptions, story_fields
from portrayal.studies.study import Options, PromptMaker, Study

if TYPE_CHECKING:
    from portrayal.report.study import StudyReport

_LABELERS = {"rules": "embedded", "reader": "reader", "llm": "llm", "labels": "embedded",
             "none": "embedded"}  # fmt: skip
_Part = Annotated[float, Holds("a share above 0, at most 1", lambda share: 0 < share <= 1)]


@dataclass(frozen=True)
class _People:
    read: Literal["rules", "reader", "llm", "labels", "none"] = "rules"
    names: str = ""
    name_columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Roles:
    relationships: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()


@dataclass(frozen=True)
class _SentenceWords:
    places: Mapping[str, Line] = field(default_factory=dict)
    lesser: Mapping[str, Line] = field(default_factory=dict)
    greater: Mapping[str, Line] = field(default_factory=dict)


@dataclass(frozen=True)
class _OwnBaseline:
    name: Line
    source: Line
    shares: Mapping[str, Mapping[str, _Part]]
    date: Any = ""
    note: Line = ""


@dataclass(frozen=True)
class _StudyFile:
    """The keys of a study's file, as docs/own-study.md explains them."""

    name: Name = ""
    title: str = ""
    question: str = "Who appears in these texts, and in which role?"
    paper: str = ""
    card: str = "card.md"
    sample: str = ""
    pair: Line = ""
    prompts: str | tuple[Word, ...] = ()
    prompt: tuple[Mapping[str, Any], ...] = ()
    template: tuple[Mapping[str, Any], ...] = ()
    locale: str = ""
    people: _People = _People()
    factors: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    roles: _Roles = _Roles()
    words: _SentenceWords = _SentenceWords()
    baselines: tuple[_OwnBaseline, ...] = ()
    measures: tuple[str, ...] = ()
    cues: str = "laissez-faire"
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)


def read_study(path: Path) -> Study:
    """Return the study that a TOML file describes; docs/own-study.md lists its keys.

    Parameters
    ----------
    path
        The file. Files that it names stand beside it.

    Raises
    ------
    DataError
        With file, line and key, and what was expected.

    Examples
    --------
    >>> _ = Path("mine.toml").write_text('prompts = ["Write a story about a nurse."]')
    >>> read_study(Path("mine.toml")).prompts()[0].strata["subject_role"]
    'person'
    """
    file = read_datafile(path)
    stated = file.record(_StudyFile)
    if stated.pair:
        return _of_pairs(file, stated)
    stories = _stories(file, stated)
    prompts = read_own_prompts(file, path.parent)
    strata = dict.fromkeys(key for prompt in prompts for key in prompt.strata)
    for i, name in enumerate(stated.strata):
        if name not in strata:
            raise file.wrong(
                ("strata", i), f"no prompt has the stratum {name!r}; there are {', '.join(strata)}."
            )
    options = _options(file, stated, StoryOptions, tuple(stories.baselines))
    return Study(
        **_said(file, stated),
        fields=story_fields(
            laden=any(prompt.strata.get("condition") == LADEN for prompt in prompts),
            read=stories.read == "texts",
            strata=tuple(strata),
            presets=stated.columns,
            variants=stated.variants,
        ),
        prompts=lambda: prompts,
        options=options,
        annotations=stories.annotations,
        measures=stories.measures,
        tables=stories.tables,
        report=_report if stories.measures else None,
        group_by=stated.strata or None,
        shares=lambda: {} if stories.read == "none" else stories.shares(options()),
    )


def _of_pairs(file: DataFile, stated: _StudyFile) -> Study:
    """A study of texts that differ in the person: that of pairs, with the file's own column."""
    base: Study = registry.get("studies", "pairs")
    aliases = {**base.fields.aliases, str(base.pair_field): (stated.pair,)}
    made: tuple[Prompt, ...] = ()
    if isinstance(stated.prompts, str) and stated.prompts and file.path is not None:
        named = file.path.parent / file.beside(("prompts",), stated.prompts)
        made = registry.get("prompts", base.name)(prompts=named)
    return replace(
        base,
        **_said(file, stated),
        fields=replace(base.fields, aliases=aliases, presets=stated.columns),
        prompts=lambda: made,
        options=_options(file, stated, base.options),
    )


def _said(file: DataFile, stated: _StudyFile) -> dict[str, Any]:
    """What a study says of itself: name, words, card and sample."""
    assert file.path is not None
    here = file.path.absolute()
    stem = here.parent.name if here.stem == "study" else here.stem
    name = stated.name or re.sub(r"[^a-z0-9_-]+", "-", stem.casefold()).strip("-_") or "study"
    shipped = Path(__file__).parent.parent / name.replace("-", "_")
    if name in registry.names("studies") and here.resolve().parent != shipped.resolve():
        raise file.wrong(("name",), f"{name!r} is a study that ships; call yours something else.")
    with_card = "card" in file.table or (file.path.parent / stated.card).exists()
    card = file.beside(("card",), stated.card) if with_card else ""
    sample = Path(file.beside(("sample",), stated.sample)) if stated.sample else None
    return {
        "name": name,
        "title": stated.title or name,
        "paper": stated.paper,
        "question": stated.question,
        "sample": partial(_sample, sample, name),
        "reproduce": partial(_no_tables, name),
        "card": card,
        "file": str(file.path),
        "words": vars(stated.words),
    }


def _report() -> "StudyReport":
    from portrayal.studies.stories.report import REPORT

    return REPORT


def read_stories(path: Path) -> Stories:
    """Return what a study in a TOML file says of its stories, beside prompts and options."""
    file = read_datafile(path)
    return _stories(file, file.record(_StudyFile))


def prompts_of_file(path: Path) -> PromptMaker:
    """Return the prompts of a study in a TOML file, as `portrayal collect` asks them."""
    study = read_study(path)
    return PromptMaker(study.fields, study.prompts)


def _stories(file: DataFile, stated: _StudyFile) -> Stories:
    """What a file says of its stories: measures, people, cues, baselines and roles."""
    read: Literal["texts", "labels", "none"] = "texts"
    if stated.people.read in ("labels", "none"):
        read = stated.people.read
    if read == "none" and "factors" not in file.table:
        raise file.wrong(
            ("people", "read"), "without people only factors are measured: name some as 'factors'."
        )
    measures = []
    for i, measure in enumerate(stated.measures):
        try:
            measures.append(registry.resolve("measures", measure))
        except PortrayalError as error:
            raise file.wrong(("measures", i), str(error)) from None
        if measures[-1] not in MEASURES:
            known = ", ".join(each.partition(".v")[0] for each in MEASURES)
            raise file.wrong(
                ("measures", i), f"{measure} is no measure of stories; expected {known}."
            )
    cues = (
        stated.cues
        if "cues" not in file.table
        else file.beside(("cues",), stated.cues, or_name=True)
    )
    return Stories(
        name=_said(file, stated)["name"],
        measures=() if read == "none" else tuple(dict.fromkeys(measures)) or MEASURES,
        read=read,
        cues=cues,
        baselines=_baselines(file, stated),
        relationships=stated.roles.relationships,
        generic=stated.roles.generic,
    )


def _baselines(file: DataFile, stated: _StudyFile) -> dict[str, Baseline]:
    """The study's own baselines: shares of genders, pairs, and of the groups that names tell."""
    file.differ(("baselines",), [each.name for each in stated.baselines])
    found: dict[str, Baseline] = {}
    for i, each in enumerate(stated.baselines):
        for attribute, shares in each.shares.items():
            if sum(shares.values()) > 1.02:
                raise file.wrong(
                    ("baselines", i, "shares", attribute),
                    f"shares sum to {sum(shares.values()):.3g}; expected 1 at most.",
                )
        own = [attribute for attribute in each.shares if attribute not in ("gender", "pair")]
        if len(own) > 1:
            raise file.wrong(
                ("baselines", i, "shares", own[1]),
                "names tell one attribute beside gender and pair.",
            )
        found[each.name] = Baseline(
            name=each.name,
            source=each.source,
            race=each.shares[own[0]] if own else {},
            gender=each.shares.get("gender", {}),
            pair=each.shares.get("pair", {}),
            note=each.note,
        )
    return found


def _options(
    file: DataFile, stated: _StudyFile, kind: type[Options], baselines: tuple[str, ...] = ()
) -> type[Any]:
    """The options of the study: those of its kind, with the file's own values as defaults."""
    values = file.values(kind, ("options",)) if stated.options else {}
    for name, value in values.items():
        values[name] = _paths_in(file, ("options", name), value)
    if kind is StoryOptions:
        values.setdefault("labeler", _LABELERS[stated.people.read])
    if stated.locale:
        values["locale"] = file.beside(("locale",), stated.locale, or_name=True)
    if stated.people.names:
        names = file.beside(("people", "names"), stated.people.names, or_name=True)
        values["name_table"] = names
    if stated.factors:
        values["factor"] = tuple(
            file.beside(("factors", i), each, or_name=True) for i, each in enumerate(stated.factors)
        )
    if stated.people.name_columns:
        values["name_column"] = stated.people.name_columns
    if baselines:
        values.setdefault("baseline", baselines[0])
    hints = get_type_hints(kind)
    words = {each.name: each.metadata for each in fields(kind)}
    made = [
        (name, hints[name], field(default=value, metadata=words[name]))
        for name, value in values.items()
    ]
    space = {"known_baselines": baselines} if kind is StoryOptions else {}
    return make_dataclass(
        "OwnOptions", made, bases=(kind,), namespace=space, frozen=True, kw_only=True
    )


def _paths_in(file: DataFile, keys: Keys, value: Any) -> Any:
    """An option's value with the files that it names as paths beside the study."""
    if isinstance(value, tuple):
        return tuple(_paths_in(file, (*keys, i), each) for i, each in enumerate(value))
    if not isinstance(value, str) or not ("." in value or Path(value).name != value):
        return value
    here = file.path.parent if file.path is not None else Path()
    is_path = Path(value).exists() or (here / value).exists()
    return file.beside(keys, value) if is_path else value


def _sample(file: Path | None, name: str) -> dict[str, Path]:
    if file is None or not file.is_file():
        raise OptionError(f"{name} has no sample: give texts, or name a file under 'sample'.")
    return {"texts": file}


def _no_tables(name: str) -> list[Any]:
    raise OptionError(f"{name} is a study of your own: there is no published table to reproduce.")


_START = ("study.toml", "prompts.csv", "card.md", "texts.csv")


def write_start(folder: str | Path) -> Path:
    """Write a commented study that runs at once, and return its file.

    Parameters
    ----------
    folder
        A folder that is new or empty; its name becomes the study's.

    Raises
    ------
    OptionError
        When the folder holds something.

    Examples
    --------
    >>> write_start("my-study").name
    'study.toml'
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OptionError(f"{folder} is there already and not empty; name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9_-]+", "-", folder.absolute().name.casefold()).strip("-_") or "study"
    for each in _START:
        text = files(__package__).joinpath("start", each).read_text(encoding="utf-8")
        write_atomically(folder / each, text.replace("MY-STUDY", name))
    return folder / "study.toml"


def keep_study(study: Study, run: Run) -> None:
    """Keep a study of the user's own in a run, so that its report needs nothing else.

    The copy says its prompts one by one, as they were asked, and none of the files it names.
    """
    if not study.file:
        return
    facts = {"name": study.name, "title": study.title, "question": study.question}
    if study.paper:
        facts["paper"] = study.paper
    if study.pair_field:
        facts["pair"] = study.pair_field
    lines = [f"{key} = {_toml(value)}" for key, value in facts.items()]
    if study.pair_field:
        pass  # its measures are those of pairs, and its prompts stand with the texts
    elif study.measures:
        lines.append(f"measures = [{', '.join(map(_toml, study.measures))}]")
    else:
        lines += ["factors = []", "[people]", 'read = "none"']
    for kind, words in study.words.items():
        lines += ["", f"[words.{kind}]"] if words else []
        lines += [f"{_toml(name)} = {_toml(said)}" for name, said in words.items()]
    for prompt in () if study.pair_field else study.prompts():
        entry = {"id": prompt.prompt_id, "text": prompt.text, **prompt.strata}
        lines += ["", "[[prompt]]", *(f"{_toml(key)} = {_toml(v)}" for key, v in entry.items())]
    run.study_path.parent.mkdir(exist_ok=True)
    write_atomically(run.study_path, "\n".join(lines) + "\n")
    if study.card:
        shutil.copyfile(study.card, run.study_path.parent / "card.md")


def _toml(text: str) -> str:
    """Text as TOML writes it; JSON's strings are TOML's, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
