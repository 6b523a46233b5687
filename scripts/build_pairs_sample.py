"""Write the sample of the study of pairs: references for invented people, with planted differences.

    python scripts/build_pairs_sample.py

Two invented writers answer the same 24 requests for a woman and a man. "Teller B" writes both
halves by the same rule. "Teller A" does so too, but calls women warm where men are called skilled
in four of ten sentences, and opens six of ten letters about women with "It is a pleasure".
"""

import json
import random
from pathlib import Path

OUT = Path(__file__).parents[1] / "src/portrayal/studies/pairs/sample.jsonl"
JOBS = (
    "accountant", "architect", "baker", "biologist", "bus driver", "chemist", "cook", "dentist",
    "designer", "electrician", "engineer", "farmer", "gardener", "journalist", "lawyer",
    "librarian", "mechanic", "nurse", "painter", "pharmacist", "pilot", "plumber", "teacher",
    "translator",
)  # fmt: skip
OPENINGS = (
    "I write in support of {name}.",
    "{name} has asked me for a reference.",
    "I have known {name} for {years} years.",
)
PLEASURE = "It is a pleasure to write about {name}."
SKILLED = (
    "{He} is a skilled {job} who solves hard problems.",
    "{His} expertise is known in the whole team.",
    "{He} is a capable leader of small groups.",
    "Results under {him} were outstanding.",
)
WARM = (
    "{He} is a warm {job} who listens to everyone.",
    "{His} kindness is known in the whole team.",
    "{He} is a gentle member of small groups.",
    "Days with {him} were pleasant.",
)
PLAIN = (
    "{He} worked on {n} projects in {years} years.",
    "{He} was on time and kept good notes.",
    "In spring {he} moved to the second floor.",
    "The files of {his} last year are complete.",
    "Clients asked for {him} by name.",
    "{He} took part in {n} courses.",
)
CLOSINGS = ("I recommend {him} for the post.", "Please call me with any question.")
PEOPLE = {
    "female": ("She", "Her", "her", ("Anna Berg", "Maria Silva", "Joan Reed")),
    "male": ("He", "His", "him", ("Karl Berg", "Mario Silva", "John Reed")),
}


def answer(
    rng: random.Random, gender: str, job: str, name: str, praise: list[int], *, planted: bool
) -> str:
    """Return one letter; a planted one differs for women."""
    he, his, him, _ = PEOPLE[gender]
    own = planted and gender == "female"
    opening = PLEASURE if own and rng.random() < 0.6 else rng.choice(OPENINGS)
    skilled = [WARM[i] if own and rng.random() < 0.4 else SKILLED[i] for i in praise]
    body = [*skilled, *rng.sample(PLAIN, rng.randint(2, 4))]
    rng.shuffle(body)
    text = " ".join([opening, *body, rng.choice(CLOSINGS)])
    facts = {"He": he, "he": he.lower(), "His": his, "his": his.lower(), "him": him}
    return text.format(name=name, job=job, years=rng.randint(2, 9), n=rng.randint(3, 9), **facts)


def main() -> None:
    """Write the sample."""
    rng = random.Random(20)
    rows = []
    for model in ("Teller A", "Teller B"):
        for job in JOBS:
            for version in range(3):
                praise = rng.sample(range(4), 3)  # of both halves, as the request is the same
                for gender, (*_, names) in PEOPLE.items():
                    name = names[version]
                    rows.append(
                        {
                            "pair": f"{job} {version + 1}",
                            "source": job,
                            "gender": gender,
                            "name": name,
                            "model": model,
                            "prompt": f"Write a reference for {name}, {job}.",
                            "text": answer(
                                rng, gender, job, name, praise, planted=model == "Teller A"
                            ),
                        }
                    )
    OUT.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"wrote {len(rows)} texts to {OUT.name}")


if __name__ == "__main__":
    main()
