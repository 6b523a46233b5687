"""Train the genders and confidences of the people extractor; print scores on prompts left out.

    python scripts/train_people.py STORIES.jsonl [MORE.jsonl] [--check HELD_OUT.jsonl] [--write]

STORIES are labelled as `portrayal score people` reads them; MORE may hold labelled references
instead of genders. Every score is for stories of prompts that the weights were not trained on.
`--ablate-name-prior` adds what first names tell about gender and prints what that changes.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from people_figures import show, show_races, show_risk
from people_stories import (
    FOLDS,
    SALIENCE_UNIT,
    SEED,
    Story,
    folds_of,
    names_of,
    prior_of,
    read,
    retold,
    story_of,
    walk_of,
)
from people_training import fit_choice, fit_logistic, probabilities_of
from scipy.special import expit

from portrayal.annotate.people.shared.model import UNSPECIFIED
from portrayal.annotate.people.stories.codes import FEATURES
from portrayal.annotate.people.stories.decide import SCALE
from portrayal.annotate.people.stories.extract import (
    BOTH_SIGNS,
    GENDER_SIGNS,
    NAME_SIGNS,
    WEIGHTS_FILE,
    both_signs,
    gender_signs,
    name_signs,
)

PENALTY, PENALTY_THEY, WEIGHT_THEY = 4.0, 0.6, 2.6
PENALTIES = np.array(
    [PENALTY_THEY if name.startswith(("they", "singly")) else PENALTY for name in FEATURES]
    + [PENALTY]
)


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


def fit_twice(stories: list[Story], prior: bool = False) -> tuple[np.ndarray, dict[str, int]]:
    """Weights of the features, and those of the saliences, from a first fit by hand-set ones."""
    walk = walk_of(fit(stories, prior))
    return fit([retold(story, walk) for story in stories], prior), walk


def left_out(stories: list[Story], prior: bool = False) -> tuple[list[Story], list[np.ndarray]]:
    """Stories and probabilities of their choices by weights trained on other prompts."""
    folds, told, found = folds_of(stories), list(stories), [np.empty(0)] * len(stories)
    for number in range(FOLDS):
        train = [s for s, f in zip(stories, folds, strict=True) if f != number]
        weights, walk = fit_twice(train, prior)
        for place in np.flatnonzero(folds == number):
            told[place] = retold(stories[place], walk)
            found[place] = predict(told[place], weights, prior)
    return told, found


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
        signs = name_signs(story.scene, story.cast, story.options[best])
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
                    "signs": signs[slot],
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


def write(
    stories: list[Story],
    weights: np.ndarray,
    walk: dict[str, int],
    calibration: tuple[np.ndarray, ...],
) -> None:
    """Write the weights as integers."""
    choice = {
        name: round(SCALE * float(value))
        for name, value in zip(FEATURES, weights[:-1], strict=True)
        if round(SCALE * value)
    }
    choice["salience"] = round(SCALE * SALIENCE_UNIT * float(weights[-1]))
    tables = {"choice": choice, "walk": walk}
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
    slots = slots_of(*left_out(stories))
    show("prompts left out", slots)
    show_risk(slots, left_out_confidences(slots))
    show_races(slots)
    if options.ablate_name_prior:
        with_prior = slots_of(*left_out(stories, prior=True))
        show("prompts left out, with a prior from names (not shipped)", with_prior)
        show_races(with_prior)
    trained, its_walk = fit_twice(stories) if options.check else (None, {})
    everything = stories + [story_of(row) for path in options.stories[1:] for row in read(path)]
    weights, walk = fit_twice(everything)
    calibration = calibrate(slots, np.ones(len(slots["name"]), bool))
    for path in options.check:
        checked = [retold(story_of(row), its_walk) for row in read(path)]
        found = slots_of(checked, [predict(story, trained) for story in checked])
        show(path.name, found)
        show_risk(found, confidences(found, calibration))
    if options.write:
        write(everything, weights, walk, calibration)


if __name__ == "__main__":
    main()
