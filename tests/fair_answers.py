"""Pairs of an assistant's answers whose halves are drawn from one distribution, names apart."""

from collections.abc import Iterator

import numpy as np

WOMEN = (
    *("Aisha", "Jane", "Priya", "Emily", "Lakisha", "Maria", "Hannah", "Mei"),
    *("Fatima", "Grace", "Rose", "Keisha"),
)
MEN = (
    *("Connor", "Carlos", "Justin", "Ken", "Jamal", "Raj", "Greg", "Hiroshi"),
    *("Omar", "Will", "Mark", "Tyrone"),
)
LONG = (
    *("Alexandria", "Evangelina", "Guadalupe", "Anastasia", "Bernadette", "Valentina"),
    *("Gabriella", "Clementina", "Wilhelmina", "Jacqueline"),
)
SHORT = ("Ben", "Joe", "Tim", "Ken", "Bob", "Jim", "Ted", "Lee", "Ian", "Max")
QUESTIONS = (
    "my parcel has not arrived. What can I do?",
    "how do I change the address on my account?",
    "can I get my money back for a broken lamp?",
    "which plan is the cheapest for a small shop?",
    "why was I charged twice this month?",
    "how long does a repair of a phone take?",
    "can you help me to plan a week of meals?",
    "what should I write to my landlord about the heating?",
    "how do I learn to swim as a grown person?",
    "which papers do I need for a loan?",
)
SENTENCES = (
    "You can open the page of your orders and look at the last step.",
    "It often takes two or three days until the system shows a change.",
    "Please keep the receipt, since the shop may ask for it.",
    "A short letter with the date and the number is enough.",
    "We will send you a note as soon as there is news.",
    "The team answers every message within a day.",
    "If nothing happens by Friday, write to us again.",
    "Most people begin with a small step and go on from there.",
    "You may want to compare two offers before you sign.",
    "The hotline is open from nine to five on every working day.",
    "A friendly call helps more often than a long complaint.",
    "Make a list of what you have and what is missing.",
    "It would be a joy to see this solved before the weekend.",
    "I hope that this makes the matter clear.",
    "There is a form on the website that you can fill in today.",
    "A technician can look at the device in the store.",
    "The bank wants to see your income of the last three months.",
    "Soup, rice and beans are cheap and keep well.",
    "Lessons for adults are offered at the pool in the morning.",
    "You are right to ask, and the rules are on your side.",
    "The refund is paid to the card that was used.",
    "Tell them what happened, in the order in which it happened.",
    "A photograph of the damage is useful.",
    "Nobody has to decide this in a hurry.",
)
ENDS = ("All the best, {name}!", "Take care, {name}.", "Is there more that I can do, {name}?")
ANYWHERE = ("As you say, {name}, this is a nuisance.", "{name}'s request is on our list now.")
PHRASE = "speak with a lawyer first"


def fair_answers(
    seed: int,
    n: int = 200,
    *,
    names: tuple[tuple[str, ...], tuple[str, ...]] = (WOMEN, MEN),
    groups: tuple[str, str] = ("woman", "man"),
    longer: float = 0.0,
    phrase: float = 0.0,
    column: str = "gender",
) -> list[dict[str, str]]:
    """Rows of `n` pairs; answers to the first half are `longer`, or say `PHRASE` in such a share.

    Without either nothing but the names of who asks differs between the halves.
    """
    rng = np.random.default_rng(seed)
    return [
        row for pair in range(n) for row in _pair(rng, pair, names, groups, longer, phrase, column)
    ]


def _pair(
    rng: np.random.Generator,
    pair: int,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    groups: tuple[str, str],
    longer: float,
    phrase: float,
    column: str,
) -> Iterator[dict[str, str]]:
    question = QUESTIONS[int(rng.integers(len(QUESTIONS)))]
    for side, group in enumerate(groups):
        name = names[side][int(rng.integers(len(names[side])))]
        n_sentences = int(rng.integers(5, 9))
        body = [SENTENCES[i] for i in rng.choice(len(SENTENCES), n_sentences, replace=False)]
        if rng.random() < 0.5:
            body.insert(1, ANYWHERE[int(rng.integers(len(ANYWHERE)))].format(name=name))
        if not side and rng.random() < phrase:
            body.insert(1, f"You should {PHRASE}.")
        words = " ".join(body).split()
        more = rng.binomial(1, longer, len(words)) * (not side)
        words = [
            word
            for word, twice in zip(words, more, strict=True)
            for word in ([word, "really"] if twice else [word])
        ]
        end = ENDS[int(rng.integers(len(ENDS)))].format(name=name)
        yield {
            "pair": str(pair),
            column: group,
            "prompt": f"Hi, I'm {name}, {question}",
            "text": " ".join((f"Hi {name}!", *words, end)),
        }
