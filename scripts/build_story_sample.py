"""Write the sample of the study of stories: two invented tellers, one with planted differences.

    python scripts/build_story_sample.py [SEED]

Both tellers answer the study's 100 prompts from the same stock of sentences, about people whose
names are drawn from the whole country and whose gender is that of its people. "Teller B" does no
more. "Teller A" does the same, but for the three differences that `planted.toml` states: women are
the student who is helped, most names borne by Latine people are missing from stories of love, and
few workers are women. Both refuse, say nothing or add a preface now and then, as models do.
"""

import argparse
import json
import random
import tomllib
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1] / "src/portrayal"
STUDY = ROOT / "studies/laissez_faire"
NAMES = ROOT / "reference/data/census_2020_first_names.parquet"
ORIGIN = "written for Portrayal's sample by scripts/build_story_sample.py; describes no model"
TELLERS = {"Teller A": "sample.jsonl", "Teller B": "sample_plain.jsonl"}
SEED = 6
"""Of the shipped files."""
ANSWERS = 3
"""Answers to each prompt."""
WOMEN, MEN = 0.508, 0.475
"""Shares of the baseline; the others are non-binary."""
COUPLES = 0.944
"""Share of couples of a woman and a man in the baseline."""

PRONOUNS = {
    "F": {"he": "she", "his": "her", "him": "her", "himself": "herself", "title": "Ms."},
    "M": {"he": "he", "his": "his", "him": "him", "himself": "himself", "title": "Mr."},
    "NB": {"he": "they", "his": "their", "him": "them", "himself": "themselves", "title": "Mx."},
}
LEARNING = (
    "{A} kept a red notebook for {scenario}.",
    "In {scenario}, {A} sat by the window and missed nothing.",
    "{A} was the first to open the book in {scenario}.",
    "Nobody at Jefferson High looked forward to {scenario} as {A} did.",
    "On Mondays {A} came early, because {scenario} was first.",
)
LEARNING_MIDDLE = (
    "{He} asked the question that the whole room had been afraid to ask.",
    "{He} worked through lunch, and the pages filled up.",
    "When the tests came back, {he} had the best mark in years.",
    "The teacher read {his} answer aloud and let it stand.",
    "At night {he} tried the hardest exercise again, and again.",
    "{His} project hung in the hall until spring.",
    "{He} explained it with a pencil, two cups and a rubber band.",
)
LEARNING_END = (
    "In June the school gave {him} its prize, and {he} gave a short speech.",
    "At the end of the year a letter came: {he} had won the state award.",
    "{A} framed nothing, and began the next chapter.",
    "The last bell rang, and {A} stayed for one more page.",
)
MENTOR = (
    "{A} was the star student of {scenario}, and {B} was failing it.",
    "{B} had stopped raising a hand in {scenario}. {A}, the star student, noticed.",
    "Everyone in {scenario} knew that {A} was the best, and that {B} was lost.",
)
MENTOR_MIDDLE = (
    "After school {A} sat down beside {B} and began at the beginning.",
    "{A} drew the whole chapter on one sheet, and {B} copied it slowly.",
    "On Tuesdays {A} tutored {B} in the empty library.",
    "{B} made the same mistake twice, and {A} patiently showed the way again.",
    "{A} broke each exercise into steps that {B} could follow.",
)
MENTOR_END = (
    "In May {B} passed, and thanked {A} with a card.",
    '"I could not have done it without you," {B} told {A}.',
    "When {B} got a B, {A} was the first to hear of it.",
)
STUDENTS = "{A} put aside {hisA} own work for it. {B} had hidden {hisB} grades from everyone."
WORK = (
    "{A} had been {a} {job} for six years.",
    "The day began early for {A}, {a} {job} in Ohio.",
    "As {a} {job}, {A} knew everybody on the street.",
    "{A} became {a} {job} because of an uncle who was one.",
)
WORK_MIDDLE = (
    "{He} kept {his} coffee in a green flask and {his} worries to {himself}.",
    "That week nothing went to plan, and {he} solved it one call at a time.",
    "People asked for {him} by name.",
    "{He} wrote down each small thing that went well.",
    "When the lights went out, {he} kept going by the light of {his} phone.",
    "{He} had learned the work from the ground up.",
)
WORK_END = (
    "In the evening {A} locked the door and smiled.",
    "On Friday the team clapped, and {he} took a bow.",
    "{A} walked home the long way, proud and tired.",
    "Tomorrow {he} would do it again.",
)
SERVED = (
    "{A}, {a} {job}, met {B}, {a_other} {other}, on a grey Monday.",
    "The {job} was called {A}. The {other} was called {B}.",
    "{B} was only {a_other} {other}; {A} had been {a} {job} for ten years.",
)
SERVED_MIDDLE = (
    "{A} explained what was to be done, and {B} listened.",
    "{B} did not know what to say, so {A} went first.",
    "{A} took charge of the matter, step by step, while {B} waited.",
    "{A} told {B} that the first time is hard for everyone.",
)
SERVED_BOTH = "{A} checked {hisA} notes. {B} held {hisB} breath."
SERVED_END = (
    "Years later {B} still spoke of {A}.",
    "{B} left with a lighter step, and {A} went back to work.",
    '"Thank you," said {B}. {A} nodded.',
)
TOGETHER = (
    "{A} and {B} had been {kin} for as long as either could remember.",
    "It was {A} who had the idea, and {B} who said yes.",
    "On Saturday {A} and {B} met at the corner by the bakery.",
    "{A} and {B} flipped a coin, and the coin said: today.",
)
TOGETHER_MIDDLE = (
    "{A} brought {hisA} old map. {B} brought {hisB} patience.",
    "{A} lost {hisA} keys, and {B} lost {hisB} hat.",
    "{B} told {hisB} one joke, and {A} laughed as if {heA} had never heard it.",
    "{A} had {hisA} doubts; {B} kept {hisB} to one sentence.",
)
TOGETHER_PLAN = (
    "They {plan}, and it took all afternoon.",
    "They {plan}, as they had said they would for years.",
    "Then it rained, and they {plan} all the same.",
)
TOGETHER_END = (
    "On the way back {A} and {B} shared an umbrella and said little.",
    "They agreed to do it again next month.",
    "Neither {A} nor {B} would have changed a minute of it.",
)
GIVING = (
    "{A} had known for a week what to do about {B}, {whose}.",
    "{B} had had a hard month, and {A}, who was {whoseA}, decided to act.",
    "{A} looked at {B}, {whose}, across the table.",
)
GIVING_MIDDLE = (
    "{A} {deed}, and {B} let it happen.",
    "{B} had not asked for it, but {A} {deed}.",
    "So {A} {deed}, and {B} did not know where to look.",
)
GIVING_BOTH = "{A} had made up {hisA} mind. {B} put {hisB} hands in the pockets of a blue coat."
GIVING_END = (
    '"I owe you one," {B} told {A}.',
    "{B} followed {A} out into the evening, grateful.",
    "{B} relied on {A} from that day on.",
)
PLANS = {
    "date": "went dancing", "dinner": "shared a pizza", "shopping": "bought a lamp",
    "chores": "cleaned the whole house", "finances": "split every bill down the middle",
    "city": "packed the car for Denver", "hobby": "learned to throw pots",
    "skill": "learned to cook one good soup", "activity": "went rowing",
    "decision": "signed the lease for a bookshop",
}  # fmt: skip
DEEDS = {
    "date": "paid the bill for both", "dinner": "paid the bill for dinner",
    "shopping": "paid for everything in the basket", "chores": "said who would do the dishes",
    "finances": "took over most of the bills", "city": "took the new job and chose the new city",
    "hobby": "taught the whole of chess in an evening",
    "skill": "taught how to change a tire", "activity": "paid for the boat",
    "decision": "made the decision for both",
}  # fmt: skip
KIN = {"partners": "partner", "friends": "friend", "siblings": "sibling"}
REFUSALS = (
    "I'm sorry, but I can't write that story.",
    "I can't help with that request.",
    "I apologize, but I am not able to write this story.",
)


class Country:
    """First names of a whole country, drawn by their bearers."""

    def __init__(self) -> None:
        rows = [row for row in pq.read_table(NAMES).to_pylist() if len(row["name"]) > 2]
        self.names = [row["name"].title() for row in rows]
        self.latine = [row["latine"] or 0.0 for row in rows]
        count = [row["count"] for row in rows]
        parts = {"F": "share_female", "M": "share_male"}
        self.weights = {
            gender: [n * (row[part] or 0.0) for n, row in zip(count, rows, strict=True)]
            for gender, part in parts.items()
        } | {"NB": count}

    def name(self, rng: random.Random, gender: str, taken: str, most: float) -> str:
        """Return a name that is not taken, at most `most` of whose bearers are Latine."""
        while True:
            (i,) = rng.choices(range(len(self.names)), self.weights[gender])
            if self.names[i] != taken and self.latine[i] <= most:
                return self.names[i]


def some(rng: random.Random, women: float = WOMEN) -> str:
    """Draw a gender; of those who are no women, men and non-binary people as in the country."""
    if rng.random() < women:
        return "F"
    return "M" if rng.random() < MEN / (1 - WOMEN) else "NB"


def article(noun: str) -> str:
    """Return "a" or "an" as the noun takes it."""
    return "an" if noun[0] in "aeiou" else "a"


def story(rng: random.Random, prompt: dict[str, str], country: Country, *, planted: bool) -> str:
    """Return one story; a planted one has the three differences."""
    domain, laden = prompt["domain"], prompt["condition"] == "power-laden"
    first, second = some(rng), some(rng)
    if planted and domain == "Learning" and laden:
        first, second = some(rng, 0.25), some(rng, 0.75)
    if planted and domain == "Labor" and not laden:
        first = some(rng, 0.2)
    if "partners" in prompt["id"] and "NB" not in (first, second):
        other = {"F": "M", "M": "F"}[first]
        second = other if rng.random() < COUPLES else first
    most = 0.1 if planted and domain == "Love" else 1.0
    a = country.name(rng, first, "", most)
    b = country.name(rng, second, a, most)
    facts = {"A": a, "B": b, "scenario": prompt["scenario"], **PRONOUNS[first]}
    facts |= {name.title(): word.capitalize() for name, word in PRONOUNS[first].items()}
    facts |= {f"{name}A": word for name, word in PRONOUNS[first].items()}
    facts |= {f"{name}B": word for name, word in PRONOUNS[second].items()}
    job, served = prompt["subject_role"], prompt.get("object_role", "")
    facts |= {"job": job, "other": served, "a": article(job), "a_other": article(served or "x")}
    if domain == "Learning":
        parts = [
            rng.choice(MENTOR),
            *rng.sample(MENTOR_MIDDLE, 2),
            STUDENTS,
            rng.choice(MENTOR_END),
        ]
        plain = [rng.choice(LEARNING), *rng.sample(LEARNING_MIDDLE, 3), rng.choice(LEARNING_END)]
    elif domain == "Labor":
        parts = [rng.choice(SERVED), *rng.sample(SERVED_MIDDLE, 2), SERVED_BOTH]
        parts.append(rng.choice(SERVED_END))
        plain = [rng.choice(WORK), *rng.sample(WORK_MIDDLE, 3), rng.choice(WORK_END)]
    else:
        key, kin = prompt["id"].rpartition("-")[2], KIN[prompt["id"].split("-")[2]]
        his = PRONOUNS[first]["his"]
        facts |= {"plan": PLANS[key], "deed": DEEDS[key], "kin": f"{kin}s"}
        facts |= {"whose": f"{his} {kin}", "whoseA": f"{PRONOUNS[second]['his']} {kin}"}
        parts = [rng.choice(GIVING), GIVING_BOTH, rng.choice(GIVING_MIDDLE)]
        parts.append(rng.choice(GIVING_END))
        plain = [rng.choice(TOGETHER), *rng.sample(TOGETHER_MIDDLE, 2)]
        plain += [rng.choice(TOGETHER_PLAN), rng.choice(TOGETHER_END)]
    return " ".join(parts if laden else plain).format(**facts)


def answer(rng: random.Random, number: int, text: str) -> str:
    """Return what the teller answers: the story, with a preface now and then, or none."""
    if number % 100 == 37:
        return ""
    if number % 50 == 23:
        return rng.choice(REFUSALS)
    if number % 60 == 11:
        return f"Here is a story in 100 words or less:\n\n{text}"
    if number % 70 == 5:
        return f"**A Story**\n\n{text}"
    return f'"{text}"' if number % 80 == 31 else text


def main(seed: int = SEED, folder: Path = STUDY) -> None:
    """Write both files."""
    prompts = tomllib.loads((STUDY / "prompts.toml").read_text(encoding="utf-8"))["prompt"]
    country = Country()
    for teller, file in TELLERS.items():
        rng = random.Random(f"{seed} {teller}")
        rows: list[dict[str, str]] = []
        for prompt in prompts:
            for _ in range(ANSWERS):
                text = story(rng, prompt, country, planted=teller == "Teller A")
                rows.append(
                    {
                        "id": f"{teller[-1].lower()}-{len(rows) + 1:03d}",
                        "prompt": prompt["text"],
                        "model": teller,
                        "text": answer(rng, len(rows), text),
                        "origin": ORIGIN,
                    }
                )
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / file).write_text(lines, encoding="utf-8")
        print(f"wrote {len(rows)} stories to {file}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=SEED)
    main(parser.parse_args().seed)
