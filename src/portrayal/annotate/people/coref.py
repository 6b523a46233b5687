"""Which character a gendered pronoun refers to."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.mentions import OTHER, Mention

Weights = list[float]

P: dict[str, float] = {
    "rec0": 3.9,
    "rec1": 3.1,
    "rec2": 1.1,
    "rec3": 0.55,
    "subj_s": 2.3,
    "subj_o": 0.4,
    "subj_p": 0.7,
    "new_s": 1.1,
    "new_o": 0.8,
    "new_p": 0.4,
    "own_p": 0.4,
    "own_r": 1.8,
    "not_own": 0.1,
    "unseen": 0.8,
    "soon": 0.5,
    "absent": 4.5,
    "absent_first": 0.8,
    "stranger": 0.0,
    "share": 0.5,
    "share_any": 0.0,
    "possessor": 0.9,
    "cost": 0.45,
    "cont": 0.42,
    "again": 0.1,
    "quoted": 0.4,
    "first": 0.1,
}


def weigh(events: Sequence[Mention], n: int, *, narrated: bool = False) -> list[Weights]:
    """Plausibility of each of `n` characters, and of anyone else, for each pronoun in `events`.

    The last entry of each row is anyone else's.
    """
    rows: list[Weights] = []
    first = [-9] * (n + 1)
    for event in reversed(events):
        if not event.case:
            first[event.entity] = event.sentence
    last = [-9] * (n + 1)
    role = [0.0] * (n + 1)
    clause = newest = sentence = -9
    stranger = ""
    recency = (P["rec0"], P["rec1"], P["rec2"], P["rec3"])
    bonus = {c: P["subj_" + c] for c in "sop"}
    fresh = {c: P["new_" + c] for c in "sop"}
    bonus["r"], fresh["r"] = bonus["p"], fresh["p"]
    for event in events:
        if event.sentence != sentence:
            sentence, clause = event.sentence, -9
        if not event.case:
            index = event.entity if event.entity >= 0 else n
            if event.quoted and last[index] >= 0:
                continue
            last[index], newest = sentence, index
            role[index] = P["possessor"] if event.subject == 0.5 else event.subject
            if event.subject == 1.0:
                clause = index
            if index == n:
                stranger = event.gender
            continue
        row = []
        case = event.case
        if event.subject > 0.0 and case == "p":
            clause = -9
        for index in range(n + 1):
            if last[index] < 0:
                if index == n:
                    weight = 0.0
                elif first[index] == sentence:
                    weight = P["soon"]
                elif first[index] < 0:
                    weight = 0.0 if narrated else P["absent"]
                    if index == 0 and not rows:
                        weight += P["absent_first"]
                else:
                    weight = P["unseen"]
                row.append(weight)
                continue
            weight = recency[min(sentence - last[index], 3)] + bonus[case] * role[index]
            if index == newest:
                weight += fresh[case]
            if index == 0:
                weight += P["first"]
            if clause == index:
                if case == "o":
                    weight *= P["not_own"]
                elif case == "p":
                    weight += P["own_p"]
                elif case == "r":
                    weight += P["own_r"]
            row.append(weight * P["quoted"] if event.quoted else weight)
        if stranger:
            row[n] *= P["share"] if stranger == event.gender else 0.0
        else:
            row[n] *= P["share_any"]
        rows.append(row)
        if case == "s":
            clause = -9
    return rows


def resolve(
    events: Sequence[Mention],
    rows: Sequence[Weights],
    genders: Sequence[str | None],
) -> tuple[float, list[int]]:
    """Support for characters of these genders, and the character of each pronoun or `OTHER`."""
    n = len(genders)
    total = 0.0
    found: list[int] = []
    previous, adjacent = OTHER, False
    gender_before, sentence_before = "", -9
    number = 0
    for event in events:
        if not event.case:
            adjacent = False
            continue
        row = rows[number]
        number += 1
        best, top = OTHER, max(row[n], P["stranger"])
        same = event.gender == gender_before
        for index in range(n):
            if genders[index] != event.gender:
                continue
            weight = row[index]
            if same and index == previous:
                near = event.sentence - sentence_before
                if event.subject < 0.0 and adjacent:
                    weight *= P["again"]
                elif near <= 1:
                    weight += P["cont"]
            if weight > top:
                best, top = index, weight
        total += top
        found.append(best)
        previous, gender_before = best, event.gender
        sentence_before, adjacent = event.sentence, True
    return total, found


def choose(
    events: Sequence[Mention],
    n: int,
    hints: Sequence[Mapping[str, float]],
    *,
    narrated: bool = False,
) -> tuple[list[str | None], list[int], float]:
    """Genders of `n` characters and characters of the pronouns that explain the story best.

    The last value is how far the best genders are ahead of the next best.
    """
    rows = weigh(events, n, narrated=narrated)
    seen = {event.gender for event in events if event.case}
    choices: list[list[str | None]] = []
    for hint in hints:
        if hint:
            choices.append([max(hint, key=lambda gender: (hint[gender], gender))])
        else:
            choices.append([*sorted(seen), None])
    options = [(a,) for a in choices[0]] if n == 1 else [(a, b) for a in choices[0] for b in choices[1]]
    best: tuple[float, list[int], Sequence[str | None]] | None = None
    second = float("-inf")
    for option in options:
        score, found = resolve(events, rows, option)
        score -= P["cost"] * sum(gender is not None for gender in option)
        if best is None or score > best[0]:
            if best is not None:
                second = best[0]
            best = (score, found, option)
        elif score > second:
            second = score
    assert best is not None
    return list(best[2]), best[1], min(best[0] - second, 9.0)
