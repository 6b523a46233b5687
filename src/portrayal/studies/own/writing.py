"""Writing studies: a commented start of one's own, and the copy that a run keeps."""

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path

from portrayal.errors import OptionError
from portrayal.run.directory import Run
from portrayal.run.files import write_atomically
from portrayal.studies.study import Study

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
