"""A study, factor or locale of somebody else names no file outside its own folder."""

from pathlib import Path

import pytest

import portrayal
from portrayal.errors import DataError
from portrayal.reference import locales
from portrayal.reference.factors import load_factor
from portrayal.studies.own import read_study

SECRET = "the-secret-of-another-folder"
PROMPTS = 'prompts = ["Write a story about a nurse."]\n'
OUTSIDE = pytest.mark.fault(
    "a study, factor or locale names a file outside its folder (from the root, by .., by a link)",
    "it is refused in one line that says how to allow it; none of its bytes come into a run",
)
STUDIES = {
    "card, from the root": 'card = "{secret}"\n' + PROMPTS,
    "card, by ..": 'card = "../secret.csv"\n' + PROMPTS,
    "card, by a link": 'card = "link.csv"\n' + PROMPTS,
    "card, by a linked folder": 'card = "up/secret.csv"\n' + PROMPTS,
    "sample": 'sample = "../secret.csv"\n' + PROMPTS,
    "prompts": 'prompts = "../secret.csv"\n',
    "pairs": 'pair = "case"\nprompts = "../secret.csv"\n',
    "cues": 'cues = "../secret.csv"\n' + PROMPTS,
    "locale": 'locale = "../secret.csv"\n' + PROMPTS,
    "names": PROMPTS + '[people]\nnames = "../secret.csv"\n',
    "factors": 'factors = ["link.csv"]\n' + PROMPTS,
    "an option": PROMPTS + '[options]\nhand_labels = "{secret}"\n',
    "an option, by ..": PROMPTS + '[options]\nhand_labels = "../secret.csv"\n',
}

FACTOR = """
name = "own"
label = "Own"
source = "A test."
note = "None."
[groups.a]
label = "A"
[groups.b]
label = "B"
[[sources]]
kind = "names"
table = "../secret.csv"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study's folder, beside a file that is not its own."""
    (tmp_path / "secret.csv").write_text(f"name,group\n{SECRET},a\n", encoding="utf-8")
    here = tmp_path / "study"
    here.mkdir()
    (here / "link.csv").symlink_to("../secret.csv")
    (here / "up").symlink_to("..")
    return here


@OUTSIDE
@pytest.mark.parametrize("kind", STUDIES)
def test_a_study_names_no_file_outside(folder: Path, kind: str) -> None:
    file = folder / "mine.toml"
    secret = folder.parent / "secret.csv"
    file.write_text(STUDIES[kind].replace("{secret}", str(secret)), encoding="utf-8")
    with pytest.raises(
        DataError, match=r"mine\.toml, line \d: .*leads out of .*PORTRAYAL_ALLOW_OUTSIDE"
    ):
        read_study(file)


@OUTSIDE
def test_a_card_that_is_a_link_is_refused_where_no_key_names_it(folder: Path) -> None:
    (folder / "card.md").symlink_to("../secret.csv")
    (folder / "mine.toml").write_text(PROMPTS, encoding="utf-8")
    with pytest.raises(DataError, match="leads out"):
        read_study(folder / "mine.toml")


@OUTSIDE
def test_no_byte_comes_into_a_run_unless_it_is_allowed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.toml").write_text(STUDIES["card, by .."], encoding="utf-8")
    texts = [{"prompt_id": "prompt-1", "text": "She helped the doctor."}]
    run = folder.parent / "run"
    with pytest.raises(DataError, match="leads out"):
        portrayal.audit(study=str(folder / "mine.toml"), texts=texts, out=run)
    held = [path for path in run.rglob("*") if path.is_file()] if run.exists() else []
    assert not [path for path in held if SECRET.encode() in path.read_bytes()]
    monkeypatch.setenv("PORTRAYAL_ALLOW_OUTSIDE", str(folder.parent))
    assert SECRET in Path(read_study(folder / "mine.toml").card).read_text(encoding="utf-8")


@OUTSIDE
def test_factors_and_locales_name_none_either(folder: Path) -> None:
    own = folder / "own.toml"
    own.write_text(FACTOR, encoding="utf-8")
    with pytest.raises(DataError, match="leads out"):
        load_factor(str(own))
    text = 'language = "English"\n[names]\ntables = ["../secret.csv"]\n'
    (folder / "locale.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="leads out"):
        locales.load_locale(folder)
