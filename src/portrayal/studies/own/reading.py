"""Studies of TOML files: prompts, reading one, keeping it in a run, and writing a start of one."""

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_type_hints

import portrayal.registry as registry
from portrayal.collect.promptfile import (
    PromptEntry,
    distinct,
    fill,
    prompt_of,
    read_prompts,
    slots_of,
)
from portrayal.errors import OptionError, PortrayalError
from portrayal.records import Prompt
from portrayal.reference.datafile import DataFile, Keys, Line, Name, Word, read_datafile
from portrayal.reference.groups import Baseline
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.studies.stories import LADEN, MEASURES, NEUTRAL, Stories, StoryOptions, story_fields
from portrayal.studies.study import Options, PromptMaker, Study, study_report


@dataclass(frozen=True)
class _People:
    read: Literal["embedded", "llm", "labels", "none"] = "embedded"
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
    baselines: tuple[Baseline, ...] = ()
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
    record = file.record(_StudyFile)
    # A study of pairs has no stories, and so none of the keys that follow.
    if record.pair:
        return _of_pairs(file, record)
    stories = _stories(file, record)
    prompts = read_own_prompts(file, path.parent)
    # Strata are whatever any prompt states, in the order of the file.
    strata = dict.fromkeys(key for prompt in prompts for key in prompt.strata)
    for i, name in enumerate(record.strata):
        if name not in strata:
            raise file.wrong(
                ("strata", i), f"no prompt has the stratum {name!r}; there are {', '.join(strata)}."
            )
    options = _options(file, record, StoryOptions, tuple(stories.baselines))
    return Study(
        **_said(file, record),
        fields=story_fields(
            laden=any(prompt.strata.get("condition") == LADEN for prompt in prompts),
            read=stories.read == "texts",
            strata=tuple(strata),
            presets=record.columns,
            variants=record.variants,
        ),
        prompts=lambda: prompts,
        options=options,
        annotations=stories.annotations,
        measures=stories.measures,
        tables=stories.tables,
        report=partial(study_report, "portrayal.studies.stories") if stories.measures else None,
        group_by=record.strata or None,
    )


def _of_pairs(file: DataFile, record: _StudyFile) -> Study:
    """A study of texts that differ in the person: that of pairs, with the file's own column."""
    # All but the column and the prompts is as in the study that ships.
    base: Study = registry.get("studies", "pairs")
    aliases = {**base.fields.aliases, str(base.pair_field): (record.pair,)}
    # Prompts are optional here: texts at hand name their pairs themselves.
    own_prompts: tuple[Prompt, ...] = ()
    if isinstance(record.prompts, str) and record.prompts and file.path is not None:
        path = file.path.parent / file.beside(("prompts",), record.prompts)
        own_prompts = registry.get("prompts", base.name)(prompts=path)
    return replace(
        base,
        **_said(file, record),
        fields=replace(base.fields, aliases=aliases, presets=record.columns),
        prompts=lambda: own_prompts,
        options=_options(file, record, base.options),
    )


def _said(file: DataFile, record: _StudyFile) -> dict[str, Any]:
    """What a study says of itself: name, words, card and sample."""
    assert file.path is not None
    # A file called study.toml says nothing, so its folder gives the name.
    path = file.path.absolute()
    name = record.name or _slug(path.parent.name if path.stem == "study" else path.stem)
    # The studies that ship are read here too, and may have their own names.
    shipped = Path(__file__).parent.parent / name.replace("-", "_")
    if name in registry.names("studies") and path.resolve().parent != shipped.resolve():
        raise file.wrong(("name",), f"{name!r} is a study that ships; call yours something else.")
    # A card that is named must be there; the usual one may be.
    with_card = "card" in file.table or (file.path.parent / record.card).exists()
    card = file.beside(("card",), record.card) if with_card else ""
    sample = Path(file.beside(("sample",), record.sample)) if record.sample else None
    return {
        "name": name,
        "title": record.title or name,
        "paper": record.paper,
        "question": record.question,
        "sample": partial(_sample, sample, name),
        "card": card,
        "file": str(file.path),
        "words": vars(record.words),
    }


def read_stories(path: Path) -> Stories:
    """Return what a study in a TOML file says of its stories, beside prompts and options."""
    file = read_datafile(path)
    return _stories(file, file.record(_StudyFile))


def prompts_of_file(path: Path) -> PromptMaker:
    """Return the prompts of a study in a TOML file, as `portrayal collect` asks them."""
    study = read_study(path)
    return PromptMaker(study.fields, study.prompts)


def _stories(file: DataFile, record: _StudyFile) -> Stories:
    """What a file says of its stories: measures, people, cues, baselines and roles."""
    # Rules, reader and llm all read texts; which of them does is an option.
    people = record.people.read
    read: Literal["texts", "labels", "none"] = people if people in ("labels", "none") else "texts"
    if read == "none" and "factors" not in file.table:
        raise file.wrong(
            ("people", "read"), "without people only factors are measured: name some as 'factors'."
        )
    measures = []
    for i, measure in enumerate(record.measures):
        try:
            # A version may be left out, as for every registered name.
            measures.append(registry.resolve("measures", measure))
        except PortrayalError as error:
            raise file.wrong(("measures", i), str(error)) from None
        if measures[-1] not in MEASURES:
            expected = ", ".join(name.partition(".v")[0] for name in MEASURES)
            raise file.wrong(
                ("measures", i), f"{measure} is no measure of stories; expected {expected}."
            )
    cues = record.cues
    # The default is a registered name, no file beside the study.
    if "cues" in file.table:
        cues = file.beside(("cues",), cues, or_name=True)
    return Stories(
        name=_said(file, record)["name"],
        # No measures named: all of them.
        measures=() if read == "none" else tuple(dict.fromkeys(measures)) or MEASURES,
        read=read,
        cues=cues,
        baselines=_baselines(file, record),
        relationships=record.roles.relationships,
        generic=record.roles.generic,
    )


def _baselines(file: DataFile, record: _StudyFile) -> dict[str, Baseline]:
    """The study's own baselines: shares of genders, pairs, and of the groups that names tell."""
    file.differ(("baselines",), [baseline.name for baseline in record.baselines])
    for i, entry in enumerate(record.baselines):
        for attribute, shares in entry.shares.items():
            # Published shares are rounded, and so may add up to a little more than 1.
            if sum(shares.values()) > 1.02:
                raise file.wrong(
                    ("baselines", i, "shares", attribute),
                    f"shares sum to {sum(shares.values()):.3g}; expected 1 at most.",
                )
        # Genders are told by words of reference and pairs by two people; all else by names.
        by_names = [attribute for attribute in entry.shares if attribute not in ("gender", "pair")]
        if len(by_names) > 1:
            raise file.wrong(
                ("baselines", i, "shares", by_names[1]),
                "names tell one attribute beside gender and pair.",
            )
    return {entry.name: entry for entry in record.baselines}


def _options(
    file: DataFile, record: _StudyFile, kind: type[Options], baselines: tuple[str, ...] = ()
) -> type[Any]:
    """The options of the study: those of its kind, with the file's own values as defaults."""
    values = file.values(kind, ("options",)) if record.options else {}
    # A path is meant from the study's folder, not from where the audit runs.
    for name, value in values.items():
        values[name] = _paths_in(file, ("options", name), value)
    if kind is StoryOptions:
        # An option that the file sets itself stands.
        values.setdefault("labeler", "llm" if record.people.read == "llm" else "embedded")
    for name, keys, path in (
        ("locale", ("locale",), record.locale),
        ("name_table", ("people", "names"), record.people.names),
    ):
        if path:
            values[name] = file.beside(keys, path, or_name=True)
    if record.factors:
        values["factor"] = tuple(
            file.beside(("factors", i), factor, or_name=True)
            for i, factor in enumerate(record.factors)
        )
    if record.people.name_columns:
        values["name_column"] = record.people.name_columns
    if baselines:
        values.setdefault("baseline", baselines[0])
    # A subclass with other defaults: checks, help and command line stay those of its kind.
    hints = get_type_hints(kind)
    option_fields = [
        (slot.name, hints[slot.name], field(default=values[slot.name], metadata=slot.metadata))
        for slot in fields(kind)
        if slot.name in values
    ]
    space = {"known_baselines": baselines} if kind is StoryOptions else {}
    return make_dataclass(
        "OwnOptions", option_fields, bases=(kind,), namespace=space, frozen=True, kw_only=True
    )


def _paths_in(file: DataFile, keys: Keys, value: Any) -> Any:
    """An option's value with the files that it names as paths beside the study."""
    if isinstance(value, tuple):
        return tuple(_paths_in(file, (*keys, i), item) for i, item in enumerate(value))
    # What looks like a path: a suffix, or a folder before it.
    if not isinstance(value, str) or not ("." in value or Path(value).name != value):
        return value
    folder = file.path.parent if file.path is not None else Path()
    # A registered name may hold a dot too, so only what is there is taken for a file.
    is_path = Path(value).exists() or (folder / value).exists()
    return file.beside(keys, value) if is_path else value


def _sample(file: Path | None, name: str) -> dict[str, Path]:
    if file is None or not file.is_file():
        raise OptionError(f"{name} has no sample: give texts, or name a file under 'sample'.")
    return {"texts": file}


def _slug(name: str) -> str:
    """A study's name made of that of a file or folder."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.casefold()).strip("-_") or "study"


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
    for file_name in _START:
        text = files(__package__).joinpath("start", file_name).read_text(encoding="utf-8")
        write_atomically(
            folder / file_name, text.replace("MY-STUDY", _slug(folder.absolute().name))
        )
    return folder / "study.toml"


def keep_study(study: Study, run: Run) -> None:
    """Keep a study of the user's own in a run, so that its report needs nothing else.

    The copy says its prompts one by one, as they were asked, and none of the files it names.
    """
    if not study.file:
        return
    import tomli_w

    # Written anew, not copied: the file may have named others that a reader lacks.
    facts: dict[str, Any] = {"name": study.name, "title": study.title, "question": study.question}
    facts |= {"paper": study.paper, "pair": study.pair_field, "strata": study.group_by}
    # The measures of pairs are those of their study, and their prompts stand with the texts
    if study.pair_field is None:
        facts["measures"] = study.measures
        if not study.measures:
            facts |= {"factors": [], "people": {"read": "none"}}
        prompts = ({"id": p.prompt_id, "text": p.text, **p.strata} for p in study.prompts())
        facts["prompt"] = list(prompts)
    facts["words"] = {kind: words for kind, words in study.words.items() if words}
    table = {key: value for key, value in facts.items() if value or key in ("factors", "question")}
    run.study_path.parent.mkdir(exist_ok=True)
    write_atomically(run.study_path, tomli_w.dumps(table))
    card = run.study_path.parent / "card.md"
    # A run may be audited by its own copy of the study, as its advice says
    if study.card and Path(study.card).resolve() != card.resolve():
        shutil.copyfile(study.card, card)


_ROLES = {"powerful": "subject_role", "less_powerful": "object_role",
          "person": "subject_role", "other": "object_role"}  # fmt: skip
_NO_ROLE = "person"
"""Whom a prompt is about that does not say it."""


def read_own_prompts(file: DataFile, folder: Path) -> tuple[Prompt, ...]:
    """Return the prompts of a study, each with its own id and text.

    `powerful` and `less_powerful` are the two people of a prompt in which one depends on the other,
    `person` and `other` those of one in which no one does.

    Parameters
    ----------
    file, folder
        The study, and where the files that it names stand.

    Raises
    ------
    DataError
        With file, line and key, and what was expected.
    """
    fields = story_fields(laden=True, read=False)
    # Numbered in the order of the file, which ids of prompts without one are made of.
    prompts = distinct(
        (prompt_of(_with_roles(entry, number), fields), entry)
        for number, entry in enumerate(_entries(file, folder), 1)
    )
    if not prompts:
        raise file.wrong(
            (),
            "there are no prompts: expected 'prompts' (a list of texts, or a file), [[prompt]] "
            "or [[template]].",
        )
    return prompts


def _entries(file: DataFile, folder: Path) -> Iterator[PromptEntry]:
    """Every prompt as it is written, with its place in the file."""
    entries = file.table.get("prompts", [])
    # One key for a list in place or the name of a file, as either is the prompts.
    if isinstance(entries, str):
        path = folder / file.beside(("prompts",), entries)
        for prompt in read_prompts(path, story_fields(laden=False, read=False)):
            table = {"id": prompt.prompt_id, "text": prompt.text, **prompt.strata}
            yield PromptEntry(table, file, ("prompts",))
    else:
        for i, text in enumerate(entries):
            yield PromptEntry({"text": text}, file, ("prompts", i))
    # Single prompts come before templates, however the file mixes them.
    for i, table in enumerate(file.table.get("prompt", ())):
        yield PromptEntry(table, file, ("prompt", i))
    for i in range(len(file.table.get("template", ()))):
        yield from _filled(file, ("template", i))


def _filled(file: DataFile, keys: Keys) -> Iterator[PromptEntry]:
    """A template in each wording with each combination of its values.

    The values are strata where they vary, and so is the number of the wording of a list of texts.
    """
    template = file.at(keys)
    values: Mapping[str, tuple[str, ...]] = {}
    if template.get("values"):
        values = file.value(Mapping[str, tuple[Word, ...]], (*keys, "values"))
    wordings: tuple[str, ...] = (str(template.get("text", "")),)
    if isinstance(template.get("text"), list):
        wordings = file.value(tuple[Word, ...], (*keys, "text"))
        if not wordings:
            raise file.wrong((*keys, "text"), "the list is empty: expected a text or more.")
    elif not values:
        raise file.wrong(keys, 'expected lists: values = { job = ["nurse", …] }.')
    # Every wording is looked at, as a slot may stand in one alone.
    for slot in slots_of(" ".join(wordings)):
        if not values.get(slot):
            names = ", ".join(values) or "none"
            raise file.wrong((*keys, "text"), f"{{{slot}}} has no values; there are {names}.")
    # Made one by one, as lists of values may make more prompts than fit into memory.
    for number, text in enumerate(wordings, 1):
        for combination in product(*values.values()):
            strata = dict(zip(values, combination, strict=True))
            # The text and every other key of the template may have slots.
            filled = {
                key: fill(value, strata) if isinstance(value, str) else value
                for key, value in (template | {"text": text}).items()
                if key != "values"
            }
            # Ids say what a prompt was made of, in signs that every file and shell takes.
            slugs = [re.sub(r"[\W_]+", "-", v.casefold()).strip("-") or "x" for v in combination]
            if len(wordings) > 1:
                strata["wording"] = str(number)
                slugs.append(str(number))
            prompt_id = "-".join((str(keys[1]), *slugs))
            yield PromptEntry({**strata, "id": prompt_id, **filled}, file, keys)


def _with_roles(entry: PromptEntry, number: int) -> PromptEntry:
    """An entry with an id, its people as roles, and whether one depends on the other."""
    cells = entry.cells
    laden = "powerful" in cells or "less_powerful" in cells
    # One of the two people alone leaves it open who depends on whom.
    if laden and not {"powerful", "less_powerful"} <= cells.keys():
        raise entry.wrong("powerful", "give both 'powerful' and 'less_powerful'.")
    # A prompt is laden or neutral, never both.
    if laden and ({"person", "other"} & cells.keys()):
        raise entry.wrong("person", "'powerful' and 'person' exclude one another.")
    for key, role in _ROLES.items():
        if key in cells:
            cells[role] = cells.pop(key)
    # Reading people takes a role to look for.
    cells.setdefault("subject_role", _NO_ROLE)
    cells.setdefault("condition", LADEN if laden else NEUTRAL)
    return replace(entry, table={"id": f"prompt-{number}", **cells})
