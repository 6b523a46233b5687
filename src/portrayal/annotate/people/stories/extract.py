"""From a story and the roles of its prompt to its two characters, and how likely each is right.

Two conditional logits decide: who has which role (`roles`), and, given that, which genders the
words tell (`genders`). Their probabilities are the confidences. Weights are learned from labelled
stories (`scripts/train_people.py`); a network may add its log-probabilities to both (`reader`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from operator import mul

from portrayal.annotate.people.shared import links
from portrayal.annotate.people.shared.links import SCALE, GenderChoice
from portrayal.annotate.people.shared.model import UNSPECIFIED, Character, Span
from portrayal.annotate.people.stories.genders import Cast, Slots, choices, make_cast
from portrayal.annotate.people.stories.roles import MOST_ACTIONS, SIGNS, actions, ways_of
from portrayal.annotate.people.stories.scene import SINGULAR, Scene
from portrayal.reference.groups import FEMININE, MASCULINE, NON_BINARY

Weights = tuple[list[int], list[int]]
"""Weights of codes and of `roles.SIGNS`, in units of 1 / `links.SCALE`."""

TEMPER = 0.8
"""What scores count by in the confidences (Guo et al. 2017), so that stories left out, marked ones
among them, are likeliest (`scripts/reader/fit_joining.py`): labelled prompts are easier."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a network says of a story, and how much it counts beside the rules.

    Attributes
    ----------
    roles
        For each slot the log-probability of each person, and last of nobody who is named.
    genders
        Log-probabilities of F, M, NB and none for each person, then for nobody as subject, as
        object.
    of_roles, of_genders
        Weights of the rules and of the network; of genders two for the network, the second where
        it says non-binary, and what is added for each that is.
    """

    roles: Sequence[Sequence[float]]
    genders: Sequence[Sequence[float]]
    of_roles: tuple[float, float]
    of_genders: tuple[float, float, float, float]


_GENDERS = (FEMININE, MASCULINE, NON_BINARY, None)


def both_singly(heard: Sequence[Sequence[float]]) -> bool:
    """Whether a network takes both of two characters for non-binary."""
    return len(heard) == 2 and all(max(row) == row[_GENDERS.index(NON_BINARY)] for row in heard)


@dataclass(slots=True)
class WeighedStory:
    """Who has which role, and every choice of their genders.

    Attributes
    ----------
    scene, cast
        The story, and its mentions seen from the people in the roles.
    options, chances
        Choices of genders, and the probability of each.
    names
        Probability that each slot's person, or that nobody who is named, is right.
    """

    scene: Scene
    cast: Cast
    options: list[GenderChoice]
    chances: list[float]
    names: list[float]

    @property
    def choice(self) -> GenderChoice:
        """The likeliest choice of genders."""
        return self.options[max(range(len(self.options)), key=self.chances.__getitem__)]

    def characters(self) -> tuple[Character, Character | None]:
        """The characters, with the probabilities that name, gender, and both are right.

        A gender may also be right where the name is not: where both people have it.
        """
        choice, scene, tokens = self.choice, self.scene, self.scene.tokens
        words, low, starts = tokens.words, tokens.low, tokens.starts
        pairs = list(zip(self.options, self.chances, strict=True))
        people = []
        slots = zip(self.names, choice.genders, self.cast.slots, self.cast.references, strict=True)
        for slot, (sure, gender, index, word_genders) in enumerate(slots):
            # Sum over all choices: several of them give a character the same gender
            own_chance = sum(chance for one, chance in pairs if one.genders[slot] == gender)
            other = sum(chance for one, chance in pairs if one.genders[-1 - slot] == gender)
            # With the wrong name the gender read is the other character's
            sure_gender = sure * own_chance + (1 - sure) * (other if len(self.names) == 2 else 0.5)
            # Token positions of the words that tell that gender
            of_slot = {i for i, entity in choice.entity_at.items() if entity == slot}
            of_slot |= {i for i, word_gender in word_genders.items() if word_gender == gender}
            places = sorted(of_slot)
            spans = [Span(starts[i], starts[i] + len(words[i]), "reference") for i in places]
            person = None if index is None else scene.people[index]
            name = None if person is None else person.first
            if person is not None and name is not None:
                end, first = len(name), words[person.longest.parts[0]]
                # Honorifics may be written together with it: "Priyaji"
                cut = end if tokens.local.endings else None
                same = [i for i in person.places if words[i][:cut] == first[:cut]]
                spans += [Span(starts[i], starts[i] + end, "name") for i in same]
            references = tuple(dict.fromkeys(SINGULAR.get(low[i], low[i]) for i in places))
            rounded = [round(number, 4) for number in (sure * own_chance, sure, sure_gender)]
            facts = gender or UNSPECIFIED, references, tuple(sorted(spans))
            people.append(Character(name, *facts, *rounded))
        return people[0], people[1] if len(people) == 2 else None


def network_says(
    heard: Sequence[Sequence[float]], genders: links.Genders
) -> tuple[float, float, int]:
    """What a network says for a choice of genders, of `heard` the log-probabilities of each slot.

    The sums of those that are not non-binary, and of those that are, and how many these are.
    """
    spoken = [(row[_GENDERS.index(g)], g) for row, g in zip(heard, genders, strict=True)]
    of_binary = sum(value for value, gender in spoken if gender != NON_BINARY)
    of_they = sum(value for value, gender in spoken if gender == NON_BINARY)
    return of_binary, of_they, genders.count(NON_BINARY)


def weigh(
    scene: Scene, opinion: Opinion | None = None, weights: Weights | None = None
) -> WeighedStory:
    """Decide who has which role by rules, and by a network where it has an opinion."""
    shipped_codes, shipped_roles = links.learned()
    codes, signs = weights or (shipped_codes, [shipped_roles.get(sign, 0) for sign in SIGNS])
    ways, values = ways_of(scene, None if opinion is None else len(opinion.roles[0]) - 1)
    scores = [sum(map(mul, value_row, signs)) / SCALE for value_row in values]
    rules, network = (1.0, 0.0) if opinion is None else opinion.of_roles
    if opinion is not None:
        for i, way in enumerate(ways):
            role_of_person = zip(opinion.roles, way, strict=True)
            spoken = sum(row[-1 if person is None else person] for row, person in role_of_person)
            scores[i] = rules * scores[i] + network * spoken
    best = max(range(len(scores)), key=scores.__getitem__)
    verdict = _genders(scene, ways[best], codes, opinion)
    if scene.cues and len(ways[best]) == 2 and None not in ways[best]:
        # What the two do takes time to read, and is read where it may decide
        # Only the two people swapped compete: acts tell who does what, not who is there
        other, acts = ways.index(ways[best][::-1]), signs[-1] / SCALE * rules
        if scores[best] - scores[other] <= 2 * abs(acts) * MOST_ACTIONS:
            lead = acts * actions(scene, verdict.cast, verdict.choice.entity_at)
            scores[best] += lead
            scores[other] -= lead
            if scores[other] > scores[best]:
                best = other
                verdict = _genders(scene, ways[best], codes, opinion)
    odds = [exp(TEMPER * (score - scores[best])) for score in scores]
    for slot, person in enumerate(ways[best]):
        same = [odd for odd, way in zip(odds, ways, strict=True) if way[slot] == person]
        verdict.names.append(sum(same) / sum(odds))
    return verdict


def _genders(scene: Scene, slots: Slots, codes: list[int], opinion: Opinion | None) -> WeighedStory:
    """All choices of genders of the people in `slots`, and their probabilities."""
    cast = make_cast(scene, slots)
    # The last two rows of a network are those of a nameless subject and object
    rows = [slot - 2 if i is None else i for slot, i in enumerate(slots)]
    heard = [] if opinion is None else [opinion.genders[row] for row in rows]
    gender_choices = choices(scene, cast, codes, both_singly=both_singly(heard))
    if opinion is None:
        # Sums of integers, so that every machine agrees on their order
        scores = [sum(map(codes.__getitem__, choice.codes)) / SCALE for choice in gender_choices]
    else:
        rules, *of_network = opinion.of_genders
        scores = []
        for choice in gender_choices:
            # Whom singular "they" means the network knows better: the rules' codes do not count
            coded = sum(codes[code] for code in choice.codes if code not in links.THEY_CODES)
            spoken = sum(map(mul, of_network, network_says(heard, choice.genders)))
            scores.append(rules * coded / SCALE + spoken)
    top = max(scores)
    odds = [exp(TEMPER * (score - top)) for score in scores]
    total = sum(odds)
    return WeighedStory(scene, cast, gender_choices, [odd / total for odd in odds], [])
