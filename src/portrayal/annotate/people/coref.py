"""Which character a gendered pronoun refers to."""

from collections.abc import Mapping, Sequence

from portrayal.annotate.people.mentions import OTHER, Mention

P: dict[str, float] = {
    "rec0": 4.3,
    "rec1": 3.6,
    "rec2": 1.9,
    "rec3": 0.3,
    "subj_s": 1.7,
    "subj_o": 0.5,
    "subj_p": 0.4,
    "new_s": 0.3,
    "new_o": -0.6,
    "new_p": 0.5,
    "own_s": 1.0,
    "own_p": 0.2,
    "own_r": 2.0,
    "not_own": 0.05,
    "unseen": 0.2,
    "soon": 0.2,
    "absent": 4.0,
    "absent_first": 3.0,
    "stranger": 0.0,
    "share": 0.4,
    "possessor": 1.2,
    "cost": 0.2,
    "quoted": 0.1,
    "pr_s": 1.8,
    "pr_o": -0.5,
    "pr_p": 0.6,
    "same_named": 0.3,
    "same_nameless": 2.0,
}


def setp() -> None:
    g = globals()
    g.update(RECENCY=(P["rec0"], P["rec1"], P["rec2"], P["rec3"]),
        SUBJECT={"s": P["subj_s"], "o": P["subj_o"], "p": P["subj_p"], "r": P["subj_p"]},
        NEWEST={"s": P["new_s"], "o": P["new_o"], "p": P["new_p"], "r": P["new_p"]},
        OWN={"s": P["own_s"], "p": P["own_p"], "r": P["own_r"]},
        PRONOUN_ROLE={"s": P["pr_s"], "o": P["pr_o"], "p": P["pr_p"], "r": P["pr_o"]},
        POSSESSOR_ROLE=P["possessor"], NOT_OWN=P["not_own"], UNSEEN=P["unseen"], SOON=P["soon"],
        ABSENT=P["absent"], ABSENT_FIRST=P["absent_first"], STRANGER=P["stranger"], SHARE=P["share"], QUOTED=P["quoted"],
        COST=P["cost"], SAME_NAMED=P["same_named"], SAME_NAMELESS=P["same_nameless"])


setp()


def resolve(
    events: Sequence[Mention],
    genders: Sequence[str | None],
    first: Sequence[int],
    *,
    narrated: bool,
) -> tuple[float, list[int]]:
    """Support for characters of these genders, and the character of each pronoun or `OTHER`.

    `first` holds the sentence in which each character is first named, -9 where it never is.
    """
    n = len(genders)
    last = [-9] * (n + 1)
    role = [0.0] * (n + 1)
    clause = newest = sentence = clause_at = -9
    stranger = ""
    told = False
    total = 0.0
    found: list[int] = []
    for at, number, entity, subject, gender, case, quoted in events:
        if number != sentence:
            sentence, clause = number, -9
        if not case:
            if quoted and last[entity] >= 0:
                continue
            last[entity], newest = sentence, entity
            role[entity] = POSSESSOR_ROLE if subject == 0.5 else subject
            if subject == 1.0:
                clause, clause_at = entity, at
            if entity < 0:
                stranger = gender
            continue
        if subject > 0.0 and case == "p":
            clause = -9
        recency, bonus, fresh = RECENCY, SUBJECT[case], NEWEST[case]
        best, top = OTHER, STRANGER
        if stranger == gender and last[n] >= 0:
            top = (recency[min(sentence - last[n], 3)] + bonus * role[n]) * SHARE
        for index in range(n):
            if genders[index] != gender:
                continue
            gap = sentence - last[index]
            if last[index] >= 0:
                weight = recency[gap if gap < 3 else 3] + bonus * role[index]
                if index == newest:
                    weight += fresh
                if clause == index:
                    if case == "o":
                        if at - clause_at <= -subject:
                            weight *= NOT_OWN
                    else:
                        weight += OWN[case]
                if quoted:
                    weight *= QUOTED
            elif first[index] == sentence:
                weight = SOON
            elif first[index] >= 0:
                weight = UNSEEN
            else:
                weight = 0.0 if narrated else ABSENT
                if index == 0 and not told:
                    weight += ABSENT_FIRST
            if weight > top:
                best, top = index, weight
        told = True
        total += top
        found.append(best)
        if best >= 0:
            last[best], newest = sentence, best
            role[best] = PRONOUN_ROLE[case]
            if case == "s":
                clause, clause_at = best, at
        elif case == "s":
            clause = -9
    return total, found


def choose(
    events: Sequence[Mention],
    n: int,
    hints: Sequence[Mapping[str, float]],
    *,
    narrated: bool = False,
    nameless: bool = False,
) -> tuple[list[str | None], list[int], float]:
    """Genders of `n` characters and characters of the pronouns that explain the story best.

    The last value is how far the best genders are ahead of the next best.
    """
    first = [-9] * (n + 1)
    for event in reversed(events):
        if not event.case:
            first[event.entity] = event.sentence
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
        score, found = resolve(events, option, first, narrated=narrated)
        score -= COST * (n - option.count(None))
        if n == 2 and option[0] == option[1] and option[0] and not (hints[0] and hints[1]):
            score -= SAME_NAMELESS if nameless else SAME_NAMED
        if best is None or score > best[0]:
            if best is not None:
                second = best[0]
            best = (score, found, option)
        elif score > second:
            second = score
    assert best is not None
    return list(best[2]), best[1], min(best[0] - second, 9.0)
