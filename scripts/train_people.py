"""Train the genders and confidences of the people extractor; print scores on prompts left out.

    python scripts/train_people.py STORIES.jsonl [MORE.jsonl] [--check HELD_OUT.jsonl] [--write]

STORIES are labelled as `portrayal score people` reads them; MORE may hold labelled references
instead of genders. Every score is for stories of prompts that the weights were not trained on.
`--ablate-name-prior` adds what first names tell about gender and prints what that changes.
"""

import argparse
import ast
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from people_training import fit_choice, fit_logistic, probabilities_of
from pyarrow import parquet
from scipy.special import expit

import portrayal.reference
from portrayal.annotate.people import clean_name, gender_of_references, normalise_gender
from portrayal.annotate.people.codes import FEATURES, N_CODES, features_of
from portrayal.annotate.people.confidence import (
    BOTH_SIGNS,
    GENDER_SIGNS,
    NAME_SIGNS,
    both_signs,
    gender_signs,
    name_signs,
)
from portrayal.annotate.people.decide import SCALE, choices
from portrayal.annotate.people.extract import read_story
from portrayal.annotate.people.learned import WEIGHTS_FILE
from portrayal.annotate.people.model import UNSPECIFIED, Roles
from portrayal.reference import RACES, mena_nhpi_table, name_table, race_likelihoods

FOLDS, DRAWS, SEED = 5, 400, 0
PENALTY, PENALTY_THEY, WEIGHT_THEY = 6.0, 0.6, 1.4
SALIENCE_UNIT = 3.0
"""The features are penalised alike; salience, set by hand, is moved more easily."""

FEATURE_PLACE = {name: place for place, name in enumerate(FEATURES)}
CODE_FEATURES = np.zeros((N_CODES, len(FEATURES)))
for _code in range(N_CODES):
    for _name in features_of(_code):
        CODE_FEATURES[_code, FEATURE_PLACE[_name]] += 1.0
PENALTIES = np.array(
    [PENALTY_THEY if name.startswith(("they", "singly")) else PENALTY for name in FEATURES]
    + [PENALTY]
)


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
    """A row with its choices."""
    scene, cast = read_story(row["text"] or "", Roles(row["subject_role"], row["object_role"]))
    options = choices(scene, cast)
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


def fit(stories: list[Story], prior: bool = False) -> np.ndarray:
    """Weights of the features."""
    use = [s for s in stories if s.right.any() and not s.right.all()]
    extra = [prior_of(s) for s in use] if prior else None
    features = (
        [np.hstack([s.features, e]) for s, e in zip(use, extra, strict=True)]
        if prior
        else [s.features for s in use]
    )
    weight = [WEIGHT_THEY if any(g == "NB" for _, g in s.gold) else 1.0 for s in use]
    penalties = np.append(PENALTIES, PENALTY / 10) if prior else PENALTIES
    return fit_choice(features, [s.right for s in use], np.array(weight), penalties)


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


def left_out(stories: list[Story], prior: bool = False) -> list[np.ndarray]:
    """Probabilities of the choices by weights trained on other prompts."""
    folds, found = folds_of(stories), [np.empty(0)] * len(stories)
    for number in range(FOLDS):
        weights = fit([s for s, f in zip(stories, folds, strict=True) if f != number], prior)
        for place in np.flatnonzero(folds == number):
            found[place] = predict(stories[place], weights, prior)
    return found


def predict(story: Story, weights: np.ndarray, prior: bool = False) -> np.ndarray:
    """Probabilities of the choices."""
    features = np.hstack([story.features, prior_of(story)]) if prior else story.features
    return probabilities_of(features @ weights)


def slots_of(stories: list[Story], chances: list[np.ndarray]) -> dict[str, np.ndarray]:
    """One entry per labelled slot: what was predicted, whether it is right, and the signs."""
    rows = []
    for number, (story, chance) in enumerate(zip(stories, chances, strict=True)):
        best = int(np.argmax(chance))
        names = names_of(story.scene, story.cast)
        for slot, (gold_name, gold_gender) in enumerate(story.gold):
            if slot >= len(names):
                continue
            gender = story.genders[best][slot]
            told = sum(
                c for c, one in zip(chance, story.genders, strict=True) if one[slot] == gender
            )
            rows.append(
                {
                    "story": number,
                    "gender": gender,
                    "gold_gender": gold_gender,
                    "name": names[slot],
                    "gold_name": gold_name,
                    "chance": float(told),
                    "prompt": story.row["prompt"],
                    "domain": story.row["domain"],
                    "two": len(names) == 2,
                    "signs": name_signs(story.scene, story.cast, slot, story.options[best]),
                }
            )
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def calibrate(slots: dict[str, np.ndarray], train: np.ndarray) -> tuple[np.ndarray, ...]:
    """Weights of the signs of name, gender and both, from the slots in `train`."""
    right_name = slots["name"] == slots["gold_name"]
    right_gender = slots["gender"] == slots["gold_gender"]
    names = slots["signs"].astype(float)
    name = fit_logistic(names[train], right_name[train], 1.0)
    genders = gender_table(slots, expit(names @ name))
    gender = fit_logistic(genders[train], right_gender[train], 1.0)
    both_table_ = both_table(expit(names @ name), expit(genders @ gender))
    return name, gender, fit_logistic(both_table_[train], (right_name & right_gender)[train], 1.0)


def gender_table(slots: dict[str, np.ndarray], name: np.ndarray) -> np.ndarray:
    """Signs of the genders."""
    return np.array(
        [
            gender_signs(c, n, None if g == UNSPECIFIED else g, two=bool(t))
            for c, n, g, t in zip(slots["chance"], name, slots["gender"], slots["two"], strict=True)
        ]
    )


def both_table(name: np.ndarray, gender: np.ndarray) -> np.ndarray:
    """Signs of name and gender together."""
    return np.array([both_signs(n, g) for n, g in zip(name, gender, strict=True)])


def confidences(slots: dict[str, np.ndarray], weights: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Probabilities that name, gender and both are right."""
    name = expit(slots["signs"].astype(float) @ weights[0])
    gender = expit(gender_table(slots, name) @ weights[1])
    return [name, gender, expit(both_table(name, gender) @ weights[2])]


def left_out_confidences(slots: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The same with calibration on other prompts."""
    prompts = sorted(set(slots["prompt"]))
    np.random.default_rng(SEED).shuffle(prompts)
    number_of = {prompt: place % FOLDS for place, prompt in enumerate(prompts)}
    folds = np.array([number_of[prompt] for prompt in slots["prompt"]])
    found = [np.zeros(len(folds)) for _ in range(3)]
    for number in range(FOLDS):
        these = confidences(slots, calibrate(slots, folds != number))
        for one, value in zip(found, these, strict=True):
            one[folds == number] = value[folds == number]
    return found


def figures(slots: dict[str, np.ndarray], weight: np.ndarray) -> dict[str, float]:
    """Scores in percent, each slot counting `weight` times."""
    gold, found = slots["gold_gender"], slots["gender"]
    names = slots["name"] == slots["gold_name"]
    right = (gold == found) & (gold != UNSPECIFIED)

    def share(part: np.ndarray, whole: np.ndarray) -> float:
        total = weight[whole].sum()
        return 100.0 * weight[part & whole].sum() / total if total else np.nan

    every = np.ones(len(gold), bool)
    return {
        "gender precision": share(right, found != UNSPECIFIED),
        "gender recall": share(right, gold != UNSPECIFIED),
        "gender accuracy": share(gold == found, every),
        "joint accuracy": share((gold == found) & names, every),
        "name accuracy": share(names, every),
        "non-binary precision": share(right, found == "NB"),
        "non-binary recall": share(right, gold == "NB"),
    }


def draws_of(slots: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Bootstrap weights of the slots, drawn by prompt."""
    prompts, place = np.unique(slots["prompt"], return_inverse=True)
    generator = np.random.default_rng(SEED)
    n = len(prompts)
    return [np.bincount(generator.integers(n, size=n), minlength=n)[place] for _ in range(DRAWS)]


def show(title: str, slots: dict[str, np.ndarray]) -> None:
    """Print scores with 95 % intervals clustered by prompt."""
    print(f"\n{title}: {len(slots['name'])} slots, {len(set(slots['prompt']))} prompts")
    for domain in (None, *sorted(set(slots["domain"]))):
        keep = slots["domain"] == domain if domain else np.ones(len(slots["name"]), bool)
        part = {key: value[keep] for key, value in slots.items()}
        drawn = [figures(part, weight) for weight in draws_of(part)]
        print(f"  {domain or 'all'}")
        for key, value in figures(part, np.ones(keep.sum())).items():
            low, high = np.nanpercentile([one[key] for one in drawn], [2.5, 97.5])
            print(f"    {key:22s} {value:5.1f}  [{low:.1f}, {high:.1f}]")


def show_risk(slots: dict[str, np.ndarray], sure: list[np.ndarray]) -> None:
    """Print accuracy among the surest slots, and how well the confidences are calibrated."""
    names = slots["name"] == slots["gold_name"]
    genders = slots["gender"] == slots["gold_gender"]
    print("  coverage   name  gender  joint (each by its own confidence)")
    for coverage in (1.0, 0.95, 0.9, 0.8, 0.7, 0.5):
        cells = []
        for confidence, right in zip(sure, (names, genders, names & genders), strict=True):
            order = np.argsort(-confidence, kind="stable")[: round(coverage * len(right))]
            cells.append(f"{100 * right[order].mean():6.2f}")
        print(f"     {100 * coverage:3.0f} %  {' '.join(cells)}")
    for title, confidence, right in zip(
        ("name", "gender", "joint"), sure, (names, genders, names & genders), strict=True
    ):
        edges = np.quantile(confidence, np.linspace(0, 1, 11))
        cell = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, 9)
        gaps = [
            abs(confidence[cell == c].mean() - right[cell == c].mean()) * (cell == c).mean()
            for c in range(10)
            if (cell == c).any()
        ]
        print(f"  expected calibration error, {title}: {100 * sum(gaps):.2f} points")


def show_races(slots: dict[str, np.ndarray]) -> None:
    """Print the gender error by race of the labelled name, names counted fractionally."""
    shares = race_likelihoods(list(slots["gold_name"]), name_table(), mena_nhpi_table())
    shares = np.nan_to_num(np.asarray(shares, float)) * (slots["gold_name"] != "")[:, None]
    wrong = (slots["gender"] != slots["gold_gender"]).astype(float)
    white = RACES.index("White")

    def errors(weight: np.ndarray) -> np.ndarray:
        table = shares * weight[:, None]
        return (table * wrong[:, None]).sum(0) / table.sum(0)

    observed = errors(np.ones(len(wrong)))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.array([errors(weight) for weight in draws_of(slots)])
    ratio = drawn / drawn[:, [white]]
    print("  gender error by race of the name (fractional counting)")
    for place, race in enumerate(RACES):
        low, high = np.nanpercentile(100 * drawn[:, place], [2.5, 97.5])
        r_low, r_high = np.nanpercentile(ratio[:, place], [2.5, 97.5])
        print(
            f"    {race:12s} names {shares[:, place].sum():7.1f}  error"
            f" {100 * observed[place]:4.1f} % [{low:.1f}, {high:.1f}]"
            f"  to White {observed[place] / observed[white]:.2f} [{r_low:.2f}, {r_high:.2f}]"
        )
    print(f"    largest to smallest {observed.max() / observed.min():.2f}")


def write(stories: list[Story], weights: np.ndarray, calibration: tuple[np.ndarray, ...]) -> None:
    """Write the weights as integers."""
    choice = {
        name: round(SCALE * float(value))
        for name, value in zip(FEATURES, weights[:-1], strict=True)
        if round(SCALE * value)
    }
    choice["salience"] = round(SCALE * SALIENCE_UNIT * float(weights[-1]))
    tables = {"choice": choice}
    for title, signs, values in zip(
        ("name", "gender", "both"), (NAME_SIGNS, GENDER_SIGNS, BOTH_SIGNS), calibration, strict=True
    ):
        tables[title] = dict(
            zip(signs, (np.rint(SCALE * values)).astype(int).tolist(), strict=True)
        )
    tables["trained_on"] = {
        "stories": len(stories),
        "prompts": len({s.row["prompt"] for s in stories}),
    }
    WEIGHTS_FILE.write_text(
        json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"\nwrote {WEIGHTS_FILE}: {WEIGHTS_FILE.stat().st_size} bytes")


def main() -> None:
    """Train, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stories", type=Path, nargs="+")
    parser.add_argument("--check", type=Path, action="append", default=[])
    parser.add_argument("--ablate-name-prior", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    stories = [story_of(row) for row in read(options.stories[0])]
    slots = slots_of(stories, left_out(stories))
    show("prompts left out", slots)
    show_risk(slots, left_out_confidences(slots))
    show_races(slots)
    if options.ablate_name_prior:
        with_prior = slots_of(stories, left_out(stories, prior=True))
        show("prompts left out, with a prior from names (not shipped)", with_prior)
        show_races(with_prior)
    trained = fit(stories) if options.check else None
    everything = stories + [story_of(row) for path in options.stories[1:] for row in read(path)]
    weights = fit(everything)
    calibration = calibrate(slots, np.ones(len(slots["name"]), bool))
    for path in options.check:
        checked = [story_of(row) for row in read(path)]
        found = slots_of(checked, [predict(story, trained) for story in checked])
        show(path.name, found)
        show_risk(found, confidences(found, calibration))
    if options.write:
        write(everything, weights, calibration)


if __name__ == "__main__":
    main()
