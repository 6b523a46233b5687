"""Train the people extractor; print scores on prompts left out.

    python scripts/train_people.py STORIES.jsonl [MORE.jsonl] [--write]

STORIES are labelled as `portrayal score people` reads them; MORE may hold labelled references
instead of genders. Every score is for stories of prompts that no weight was trained on.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from people_figures import show, show_races, show_risk
from people_stories import (
    FOLDS,
    Story,
    folds_of,
    genders_of,
    names_of,
    read,
    story_of,
    wanted_genders,
)
from scipy.optimize import minimize

from portrayal.annotate.people.shared.links import (
    FEATURES_OF,
    SCALE,
    WEIGHTS_FILE,
    weights_of_codes,
)
from portrayal.annotate.people.shared.model import UNSPECIFIED
from portrayal.annotate.people.stories.extract import WeighedStory, weigh
from portrayal.annotate.people.stories.genders import choices, make_cast
from portrayal.annotate.people.stories.roles import SIGNS, actions, ways_of

PENALTY, PENALTY_THEY, WEIGHT_THEY, PENALTY_ROLES = 10.0, 0.6, 2.6, 1.0
SECOND = 2.6
"""How often a story counts that names the object first, as models seldom do."""

PRIOR = {
    **{f"link {case} here": 1.9 for case in ("s", "o", "p", "r", "noun")},
    **{f"link {case} one back": 1.6 for case in ("s", "o", "p", "r", "noun")},
    **{f"link {case} two back": 0.8 for case in ("s", "o", "p", "r", "noun")},
    **{f"link {case} own verb": -2.0 for case in ("s", "o", "p", "r", "noun")},
    **{f"link s {rank}": w for rank, w in (("subject name", 0.8), ("subject pronoun", 1.4))},
    **{f"link {case} subject name": 0.2 for case in ("o", "p", "r", "noun")},
    **{f"link {case} subject pronoun": 0.3 for case in ("o", "p", "r", "noun")},
    **{f"link {case} possessor": w for case, w in (("s", 0.9), ("p", 0.2), ("o", 0.2))},
    **{f"link {case} newest": w for case, w in (("s", 0.13), ("o", -0.27), ("p", 0.22))},
    **{"link s own clause": 0.45, "link p own clause": 0.1, "link r own clause": 0.9},
    **{"unmet later": 0.1, "unmet sentence begun": 0.1, "unmet never": 1.8},
    **{"unmet never, at first": 1.8, "unmet narrated": 1.8},
    **{f"nobody alike {case}": 0.7 for case in ("s", "o", "p", "r", "noun")},
}
"""Weights that the others are drawn to: whom a pronoun means is not labelled."""

PRIOR_OF_ROLES = {
    **{"object alone": -2.0, "object alone, noun": 2.0, "object alone, narrated": 3.0},
    **{"object alone, free noun": 3.0, "in order": 0.4, "equals in order": 2.0},
    **{"nouns": 0.9, "nouns alike": 0.2, "acts": 0.4},
}

FEATURES = list(dict.fromkeys(name for names in FEATURES_OF for name in names))
_PLACE = {name: place for place, name in enumerate(FEATURES)}
_TABLE = np.zeros((len(FEATURES_OF), len(FEATURES)))
for _code, _names in enumerate(FEATURES_OF):
    for _name in _names:
        _TABLE[_code, _PLACE[_name]] += 1.0
_THEY = np.array([name.startswith(("they", "singly")) for name in FEATURES])
_PRIOR = np.array([PRIOR.get(name, 0.0) for name in FEATURES])


def fit(
    tables: list[np.ndarray],
    right: list[np.ndarray],
    weight: list[float],
    penalties: np.ndarray,
    prior: np.ndarray,
) -> np.ndarray:
    """Weights of a conditional logit, with an L2 penalty on their distance from `prior`.

    `tables` holds one array (options, features) per story, `right` which options agree with the
    labels. What is maximised is the logarithm of the probability that one of those is chosen.
    """
    use = [at for at, one in enumerate(right) if one.any() and not one.all()]
    sizes = [len(tables[at]) for at in use]
    start = np.cumsum([0, *sizes])[:-1]
    story = np.repeat(np.arange(len(sizes)), sizes)
    table, good = np.vstack([tables[at] for at in use]), np.concatenate([right[at] for at in use])
    counts = np.array([weight[at] for at in use])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = table @ weights
        odds = np.exp(score - np.maximum.reduceat(score, start)[story])
        total = np.add.reduceat(odds, start)
        kept = np.add.reduceat(odds * good, start) + 1e-300
        value = float((counts * (np.log(total) - np.log(kept))).sum())
        slope = table.T @ (counts[story] * (odds / total[story] - odds * good / kept[story]))
        away = weights - prior
        return value + float(penalties @ away**2) / 2, slope + penalties * away

    options = {"maxiter": 200, "ftol": 1e-8}
    return minimize(loss, prior, jac=True, method="L-BFGS-B", options=options).x


def fit_roles(stories: list[Story], weights: tuple | None) -> list[int]:
    """Weights of the signs; what people do counts where `weights` say whom pronouns mean."""
    tables, right, counts = [], [], []
    for story in stories:
        scene = story.scene
        ways, signs = ways_of(scene)
        table = np.array(signs)
        if weights is not None and scene.cues:
            scores = table @ np.array(weights[1])
            way = ways[int(scores.argmax())]
            if len(way) == 2 and None not in way:
                verdict = weigh(scene, weights=(weights[0], [*weights[1][:-1], 0]))
                acted = actions(scene, verdict.cast, verdict.choice.entity_at)
                table[ways.index(way), -1] = acted
                table[ways.index(way[::-1]), -1] = -acted
        gold = [name for name, _ in story.gold]
        named = [names_of(scene, way) for way in ways]
        right.append(np.array([names[: len(gold)] == gold[: len(names)] for names in named]))
        tables.append(table)
        best = ways[int(right[-1].argmax())] if right[-1].any() else ()
        named_of = [person for person in best if person is not None]
        late = len(named_of) == 2 and named_of[0] > named_of[1] and not scene.roles.paired
        counts.append(SECOND if late else 1.0)
    prior = np.array([PRIOR_OF_ROLES.get(sign, 0.0) for sign in SIGNS])
    found = fit(tables, right, counts, np.full(len(SIGNS), PENALTY_ROLES), prior)
    return np.rint(SCALE * found).astype(int).tolist()


def fit_genders(stories: list[Story], codes: list[int], signs: list[int]) -> dict[str, int]:
    """Weights of the features of codes, where `codes` say whom a pronoun means."""
    tables, right, counts = [], [], []
    for story in stories:
        ways, values = ways_of(story.scene)
        way = ways[int((np.array(values) @ np.array(signs)).argmax())]
        made = choices(story.scene, make_cast(story.scene, way), codes)
        tables.append(np.array([_TABLE[choice.codes].sum(0) for choice in made]))
        wanted = wanted_genders(names_of(story.scene, way), story.gold)
        told = [[gender or UNSPECIFIED for gender in choice.genders] for choice in made]
        right.append(
            np.array(
                [all(w in (None, g) for w, g in zip(wanted, one, strict=True)) for one in told]
            )
        )
        counts.append(WEIGHT_THEY if any(g == "NB" for _, g in story.gold) else 1.0)
    penalties = np.where(_THEY, PENALTY_THEY, PENALTY)
    found = fit(tables, right, counts, penalties, _PRIOR)
    return dict(zip(FEATURES, np.rint(SCALE * found).astype(int).tolist(), strict=True))


def train(stories: list[Story]) -> tuple[dict[str, int], dict[str, int]]:
    """Weights of the features of genders, and of the signs of roles."""
    signs = fit_roles(stories, None)
    genders = {name: round(SCALE * value) for name, value in PRIOR.items()}
    for _ in range(2):
        genders = fit_genders(stories, weights_of_codes(genders), signs)
    signs = fit_roles(stories, (weights_of_codes(genders), signs))
    return genders, dict(zip(SIGNS, signs, strict=True))


def left_out(stories: list[Story]) -> list[WeighedStory]:
    """What weights trained on other prompts read of each story."""
    folds = folds_of(stories)
    verdicts: dict[int, WeighedStory] = {}
    for number in range(FOLDS):
        genders, signs = train([s for s, f in zip(stories, folds, strict=True) if f != number])
        weights = weights_of_codes(genders), list(signs.values())
        for place in np.flatnonzero(folds == number).tolist():
            verdicts[place] = weigh(stories[place].scene, weights=weights)
    return [verdicts[place] for place in range(len(stories))]


def slots_of(stories: list[Story], verdicts: list[WeighedStory]) -> dict[str, np.ndarray]:
    """One entry per labelled slot: what is read, what is labelled, and the confidences."""
    rows = []
    for story, verdict in zip(stories, verdicts, strict=True):
        people = verdict.characters()
        told = zip(
            names_of(story.scene, verdict.cast.slots), genders_of(verdict), people, strict=False
        )
        for (name, gender, person), (gold_name, gold_gender) in zip(told, story.gold, strict=False):
            assert person is not None  # who is labelled stands in a slot
            rows.append(
                {
                    "prompt": story.row["prompt"],
                    "domain": story.row["domain"],
                    "name": name,
                    "gold_name": gold_name,
                    "gender": gender,
                    "gold_gender": gold_gender,
                    "sure": (person.name_confidence, person.gender_confidence, person.confidence),
                }
            )
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def main() -> None:
    """Train, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stories", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    stories = [story_of(row) for row in read(options.stories[0])]
    slots = slots_of(stories, left_out(stories))
    show("prompts left out", slots)
    show_risk(slots, list(slots["sure"].T))
    show_races(slots)
    if options.write:
        everything = stories + [story_of(row) for path in options.stories[1:] for row in read(path)]
        genders, signs = train(everything)
        prompts = len({story.row["prompt"] for story in everything})
        tables = {
            "genders": {name: value for name, value in genders.items() if value},
            "roles": signs,
            "trained_on": {"stories": len(everything), "prompts": prompts},
        }
        WEIGHTS_FILE.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
        print(f"\nwrote {WEIGHTS_FILE}: {WEIGHTS_FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
