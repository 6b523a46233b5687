"""Studies of TOML files: reading one, keeping it in a run, and writing a start of one."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import field, fields, make_dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, get_type_hints

import portrayal.registry as registry
from portrayal.errors import OptionError, PortrayalError
from portrayal.reference import Baseline
from portrayal.reference.located import Keys, Located, read_located
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.studies.own.prompts import read_own_prompts
from portrayal.studies.stories import LADEN, MEASURES, Stories, StoryOptions, story_fields
from portrayal.studies.study import PromptMaker, Study

_KEYS = ("name", "title", "question", "paper", "card", "sample", "prompts", "prompt", "template",
         "locale", "people", "factors", "strata", "roles", "baselines", "measures", "cues",
         "options", "columns", "variants")  # fmt: skip
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_BASELINE = ("name", "source", "date", "note", "shares")
_READ = {"rules": "embedded", "reader": "reader", "llm": "llm", "labels": "embedded",
         "none": "embedded"}  # fmt: skip
_REPORT = "portrayal.studies.laissez_faire.report:REPORT"


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
    file = read_located(path)
    name = _name_of(file, path)
    presets = {n: _words(file, ("columns", n)) for n in _table(file, ("columns",))}
    variants = _words(file, ("variants",))
    prompts = read_own_prompts(file, path.parent)
    laden = any(prompt.strata.get("condition") == LADEN for prompt in prompts)
    strata = dict.fromkeys(key for prompt in prompts for key in prompt.strata)
    baselines = _baselines(file)
    stories = _stories(file, path.parent, name, baselines)
    options = _options(file, path.parent, tuple(baselines))
    card = path.parent / _text(file, ("card",), "card.md")
    if "card" in file.table and not card.is_file():
        raise file.wrong(("card",), f"there is no file {card}.")
    sample = _text(file, ("sample",), "")
    return Study(
        name=name,
        title=_text(file, ("title",), name),
        paper=_text(file, ("paper",), ""),
        question=_text(file, ("question",), "Who appears in these texts, and in which role?"),
        fields=story_fields(
            laden=laden,
            read=stories.read == "texts",
            strata=tuple(strata),
            presets=presets,
            variants=variants,
        ),
        prompts=lambda: prompts,
        options=options,
        annotations=stories.annotations,
        measures=stories.measures,
        estimate=stories.estimate,
        sample=partial(_sample, path.parent / sample if sample else None, name),
        reproduce=partial(_no_tables, name),
        card=str(card) if card.is_file() else "",
        report=_REPORT if stories.measures else "",
        group_by=_group_by(file, strata),
        shares=lambda: {} if stories.read == "none" else stories.shares(options()),
        file=str(path),
    )


def read_stories(path: Path) -> Stories:
    """Return what a study in a TOML file says of its stories, beside prompts and options."""
    file = read_located(path)
    return _stories(file, path.parent, _name_of(file, path), _baselines(file))


def _stories(file: Located, folder: Path, name: str, baselines: Mapping[str, Baseline]) -> Stories:
    _check_tables(file)
    said = _choice(file, ("people", "read"), tuple(_READ), "rules")
    read: Any = said if said in ("labels", "none") else "texts"
    if read == "none" and "factors" not in file.table:
        raise file.wrong(
            ("people", "read"), "without people only factors are measured: name some as 'factors'."
        )
    return Stories(
        name=name,
        measures=() if read == "none" else _measures(file),
        read=read,
        cues=_file(file, ("cues",), folder, "laissez-faire"),
        baselines=baselines,
        relationships=_list(file, ("roles", "relationships")),
        generic=_list(file, ("roles", "generic")),
    )


def _name_of(file: Located, path: Path) -> str:
    """The name of a study: stated, or that of its file or folder."""
    file.check_keys((), _KEYS)
    stem = path.absolute().parent.name if path.stem == "study" else path.stem
    made = re.sub(r"[^a-z0-9_-]+", "-", stem.casefold()).strip("-_") or "study"
    name = _text(file, ("name",), made)
    if not _NAME.fullmatch(name):
        raise file.wrong(("name",), f"expected small letters, digits, - and _; got {name!r}.")
    if name in registry.names("studies") and not _shipped(path, name):
        raise file.wrong(("name",), f"{name!r} is a study that ships; call yours something else.")
    return name


def prompts_of_file(path: Path) -> PromptMaker:
    """Return the prompts of a study in a TOML file, as `portrayal collect` asks them."""
    study = read_study(path)
    return PromptMaker(study.fields, study.prompts)


def _shipped(path: Path, name: str) -> bool:
    """Whether a file is the one of the study that ships under its name."""
    own = Path(__file__).parent.parent / name.replace("-", "_")
    return path.resolve().parent == own.resolve()


def _sample(file: Path | None, name: str) -> dict[str, Path]:
    if file is None or not file.is_file():
        raise OptionError(f"{name} has no sample: give texts, or name a file under 'sample'.")
    return {"texts": file}


def _no_tables(name: str) -> list[Any]:
    raise OptionError(f"{name} is a study of your own: there is no published table to reproduce.")


def _measures(file: Located) -> tuple[str, ...]:
    """The measures that are named, or all of stories."""
    named = _list(file, ("measures",))
    found = []
    for i, name in enumerate(named):
        try:
            full = registry.resolve("measures", name)
        except PortrayalError as error:
            raise file.wrong(("measures", i), str(error)) from None
        if full not in MEASURES:
            known = ", ".join(each.partition(".v")[0] for each in MEASURES)
            raise file.wrong(("measures", i), f"{name} is no measure of stories; expected {known}.")
        found.append(full)
    return tuple(dict.fromkeys(found)) or MEASURES


def _group_by(file: Located, strata: Mapping[str, None]) -> tuple[str, ...] | None:
    """The strata by which groups of factors are split."""
    named = _list(file, ("strata",))
    for i, name in enumerate(named):
        if name not in strata:
            raise file.wrong(
                ("strata", i), f"no prompt has the stratum {name!r}; there are {', '.join(strata)}."
            )
    return named or None


def _check_tables(file: Located) -> None:
    for key, known in (
        ("roles", ("relationships", "generic")),
        ("people", ("read", "names", "name_columns")),
    ):
        if _table(file, (key,)):
            file.check_keys((key,), known)


def _baselines(file: Located) -> dict[str, Baseline]:
    """The study's own baselines: shares of genders, pairs, and of the groups that names tell."""
    found: dict[str, Baseline] = {}
    stated = file.table.get("baselines", [])
    if not isinstance(stated, list):
        raise file.wrong(("baselines",), "expected tables, each headed [[baselines]].")
    for i in range(len(stated)):
        here: Keys = ("baselines", i)
        file.check_keys(here, _BASELINE, ("name", "source", "shares"))
        name = _text(file, (*here, "name"), "")
        if name in found:
            raise file.wrong((*here, "name"), f"there are two baselines {name!r}.")
        shares = {}
        for attribute in _table(file, (*here, "shares")):
            shares[attribute] = _shares(file, (*here, "shares", attribute))
        own = [each for each in shares if each not in ("gender", "pair")]
        if len(own) > 1:
            raise file.wrong(
                (*here, "shares", own[1]), "names tell one attribute beside gender and pair."
            )
        found[name] = Baseline(
            name=name,
            source=_text(file, (*here, "source"), ""),
            race=shares[own[0]] if own else {},
            gender=shares.get("gender", {}),
            pair=shares.get("pair", {}),
            note=_text(file, (*here, "note"), ""),
        )
    return found


def _shares(file: Located, here: Keys) -> dict[str, float]:
    shares: dict[str, float] = {}
    for group, value in _table(file, here).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise file.wrong((*here, group), f"expected a share above 0, at most 1; got {value!r}.")
        shares[group] = float(value)
    if sum(shares.values()) > 1.02:
        raise file.wrong(here, f"shares sum to {sum(shares.values()):.3g}; expected 1 at most.")
    return shares


def _options(file: Located, folder: Path, baselines: tuple[str, ...]) -> type[StoryOptions]:
    """The options of the study: those of stories, with the file's own values as defaults."""
    known = {each.name: each for each in fields(StoryOptions)}
    hints = get_type_hints(StoryOptions)
    values: dict[str, Any] = {}
    if "options" in file.table:
        file.check_keys(("options",), tuple(known))
        for name, value in file.at(("options",)).items():
            values[name] = _option(file, ("options", name), value, hints[name])
    if locale := _text(file, ("locale",), ""):
        beside = folder / locale
        values["locale"] = str(beside) if beside.is_dir() else locale
    names = _file(file, ("people", "names"), folder, "")
    if names:
        values["name_table"] = names
    factors = tuple(
        _path(file, ("factors", i), folder, each)
        for i, each in enumerate(_list(file, ("factors",)))
    )
    if factors:
        values["factor"] = factors
    if columns := _list(file, ("people", "name_columns")):
        values["name_column"] = columns
    values["labeler"] = values.get(
        "labeler", _READ[file.table.get("people", {}).get("read", "rules")]
    )
    if baselines and "baseline" not in values:
        values["baseline"] = baselines[0]
    made = [
        (name, hints[name], field(default=value, metadata=known[name].metadata))
        for name, value in values.items()
    ]
    space = {"known_baselines": baselines}
    return make_dataclass(
        "OwnOptions", made, bases=(StoryOptions,), namespace=space, frozen=True, kw_only=True
    )


def _option(file: Located, keys: Keys, value: Any, hint: Any) -> Any:
    """A default of the file's own, of the kind that the option takes."""
    if isinstance(value, list):
        value = tuple(value)
    wanted = (
        "a list of texts" if "tuple" in str(hint) else "text" if "str" in str(hint) else "a number"
    )
    fits = {
        "a list of texts": isinstance(value, tuple) and all(isinstance(v, str) for v in value),
        "text": isinstance(value, str),
        "a number": isinstance(value, int | float) and not isinstance(value, bool),
    }[wanted]
    if not fits or (hint is int and not isinstance(value, int)):
        raise file.wrong(
            keys, f"expected {'a whole number' if hint is int else wanted}; got {value!r}."
        )
    return value


def _file(file: Located, keys: Keys, folder: Path, default: str) -> str:
    """A registered name, or the path of a file beside the study."""
    said = _text(file, keys, default)
    return said if said == default else _path(file, keys, folder, said)


def _path(file: Located, keys: Keys, folder: Path, said: str) -> str:
    """The path of a file that stands beside the study; a name without ending stays as it is."""
    beside = folder / said
    if not beside.exists() and not Path(said).suffix:
        return said
    if not beside.exists():
        raise file.wrong(keys, f"there is no file {beside}.")
    return str(beside)


def _at(file: Located, keys: Keys) -> Any:
    """The value at `keys`; None where it, or what would hold it, is missing."""
    value: Any = file.table
    for i, key in enumerate(keys):
        if isinstance(value, list) and isinstance(key, int):
            value = value[key]
        elif isinstance(value, Mapping):
            value = value.get(key)
        elif value is not None:
            raise file.wrong(keys[:i], "expected a table.")
    return value


def _text(file: Located, keys: Keys, default: str) -> str:
    value = _at(file, keys)
    if value is None:
        return default
    if not isinstance(value, str) or not value.strip():
        raise file.wrong(keys, f"expected text; got {value!r}.")
    return value


def _choice(file: Located, keys: Keys, known: tuple[str, ...], default: str) -> str:
    value = _text(file, keys, default)
    if value not in known:
        raise file.wrong(keys, f"expected one of {', '.join(known)}; got {value!r}.")
    return value


def _list(file: Located, keys: Keys) -> tuple[str, ...]:
    value = _at(file, keys)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise file.wrong(keys, f"expected a list of texts; got {value!r}.")
    return tuple(value)


def _table(file: Located, keys: Keys) -> dict[str, Any]:
    value = _at(file, keys)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise file.wrong(keys, f"expected a table; got {value!r}.")
    return value


def _words(file: Located, keys: Keys) -> dict[str, str]:
    return {key: _text(file, (*keys, key), "") for key in _table(file, keys)}


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
    lines = [f"{key} = {_toml(value)}" for key, value in facts.items()]
    if study.measures:
        lines.append(f"measures = [{', '.join(map(_toml, study.measures))}]")
    else:
        lines += ["factors = []", "[people]", 'read = "none"']
    for prompt in study.prompts():
        entry = {"id": prompt.prompt_id, "text": prompt.text, **prompt.strata}
        lines += ["", "[[prompt]]", *(f"{_toml(key)} = {_toml(v)}" for key, v in entry.items())]
    run.study_path.parent.mkdir(exist_ok=True)
    write_atomically(run.study_path, "\n".join(lines) + "\n")
    if study.card:
        shutil.copyfile(study.card, run.study_path.parent / "card.md")


def _toml(text: str) -> str:
    """Text as TOML writes it; JSON's strings are TOML's, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
