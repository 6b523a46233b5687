"""Labelled stories as the people extractor is trained on them."""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyarrow import parquet

import portrayal.reference
from portrayal.annotate.people import clean_name, gender_of_references, normalise_gender
from portrayal.annotate.people.shared.model import UNSPECIFIED, Roles
from portrayal.annotate.people.stories.codes import FEATURES, N_CODES, code_weights, features_of
from portrayal.annotate.people.stories.decide import SALIENCE, SCALE, choices, learned_saliences
from portrayal.annotate.people.stories.extract import read_story

FOLDS, SEED = 5, 0
SALIENCE_UNIT = 3.0
"""The features are penalised alike; salience, set by hand, is moved more easily."""

FEATURE_PLACE = {name: place for place, name in enumerate(FEATURES)}
CODE_FEATURES = np.zeros((N_CODES, len(FEATURES)))
for _code in range(N_CODES):
    for _name in features_of(_code):
        CODE_FEATURES[_code, FEATURE_PLACE[_name]] += 1.0


@dataclass
class Story:
    """A labelled story, its choices of genders as features, and what is known to be right."""

    row: dict
    scene: object
    cast: object
    options: list
    genders: list[tuple[str, ...]]
    features: np.ndarray
    gold: list[tuple[str, str]]
    right: np.ndarray


def fold(name: str | None) -> str:
    """A name as it is compared."""
    return (name or "").casefold()


def read(path: Path) -> list[dict]:
    """Labelled rows, with genders from references where only those are labelled."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        for slot in ("subject", "object"):
            if f"gold_{slot}_references" in row and f"gold_{slot}_gender" not in row:
                raw = row[f"gold_{slot}_references"]
                if raw is not None:
                    words = ast.literal_eval(raw) if raw.startswith("[") else [raw]
                    raw = gender_of_references(words)
                row[f"gold_{slot}_gender"] = raw
    return rows


def story_of(row: dict) -> Story:
    """A row with its choices, by saliences that are set by hand."""
    scene, cast = read_story(row["text"] or "", Roles(row["subject_role"], row["object_role"]))
    return told_by(row, scene, cast, SALIENCE)


def retold(story: Story, walk: Mapping[str, int]) -> Story:
    """The story with choices by learned saliences; `walk` as in the weights file."""
    saliences = learned_saliences([weight / SCALE for weight in code_weights(walk)])
    return told_by(story.row, story.scene, story.cast, saliences)


def walk_of(weights: np.ndarray) -> dict[str, int]:
    """Weights of the features of links, as integers by name."""
    named = zip(
        FEATURES, np.rint(SCALE * weights[: len(FEATURES)]).astype(int).tolist(), strict=True
    )
    return {name: value for name, value in named if name.startswith("link ") and value}


def told_by(row: dict, scene: object, cast: object, saliences: Sequence[float]) -> Story:
    """A row with its choices."""
    options = choices(scene, cast, saliences)
    features = np.zeros((len(options), len(FEATURES) + 1))
    for place, option in enumerate(options):
        features[place, :-1] = np.bincount(option.codes, minlength=N_CODES) @ CODE_FEATURES
        features[place, -1] = SALIENCE_UNIT * option.salience
    gold = [
        (fold(clean_name(row[f"gold_{slot}_name"])), normalise_gender(row[f"gold_{slot}_gender"]))
        for slot in ("subject", "object")
        if slot == "subject" or row["gold_object_gender"] is not None
    ]
    genders = [tuple(gender or UNSPECIFIED for gender in o.genders) for o in options]
    wanted = wanted_genders(names_of(scene, cast), gold)
    right = np.array(
        [all(w in (None, g) for w, g in zip(wanted, one, strict=True)) for one in genders]
    )
    return Story(row, scene, cast, options, genders, features, gold, right)


def names_of(scene, cast) -> list[str]:
    """Casefolded names of the characters found, "" where they have none."""
    return ["" if i is None else fold(scene.people[i].first) for i in cast.slots]


def wanted_genders(names: list[str], gold: list[tuple[str, str]]) -> list[str | None]:
    """Labelled gender of each character found, also where the two were swapped; else None."""
    wanted: list[str | None] = []
    for slot, name in enumerate(names):
        gender = gold[slot][1] if slot < len(gold) and gold[slot][0] == name else None
        if gender is None and len(gold) == 2 and gold[1 - slot][0] == name:
            swapped = len(names) == 2 and names[1 - slot] == gold[slot][0]
            gender = gold[1 - slot][1] if name or swapped else None
        wanted.append(gender)
    return wanted


def folds_of(stories: list[Story]) -> np.ndarray:
    """Fold of each story; all stories of a prompt are in one."""
    prompts = sorted({story.row["prompt"] for story in stories})
    np.random.default_rng(SEED).shuffle(prompts)
    fold_of = {prompt: place % FOLDS for place, prompt in enumerate(prompts)}
    return np.array([fold_of[story.row["prompt"]] for story in stories])


def prior_of(story: Story) -> np.ndarray:
    """Log-odds that a US bearer of the name is counted female, per choice. Shape (n, 1)."""
    shares = _female_shares()
    odds = []
    for name in names_of(story.scene, story.cast):
        share = min(0.98, max(0.02, shares.get(name.upper(), 0.5)))
        odds.append(np.log(share / (1.0 - share)))
    sign = {"F": 1.0, "M": -1.0}
    return np.array(
        [
            [sum(sign.get(g, 0.0) * o for g, o in zip(one, odds, strict=True))]
            for one in story.genders
        ]
    )


def _female_shares() -> dict[str, float]:
    """First name → share of its US bearers counted female (2020 Census)."""
    if not _SHARES:
        path = Path(portrayal.reference.__file__).with_name("data")
        path /= "census_2020_first_names.parquet"
        table = parquet.read_table(path, columns=["name", "share_female", "share_male"]).to_pydict()
        for name, female, male in zip(*table.values(), strict=True):
            if female + male > 0:
                _SHARES[name] = female / (female + male)
    return _SHARES


_SHARES: dict[str, float] = {}
