"""Sentences of findings on agency: how often sentences about two groups are agentic."""

from portrayal.records import ALL, MINUS, Estimate
from portrayal.reference.labels import people_words

_ALIKE = 0.005
"""Difference of two gaps up to which one of all texts and one within prompts read alike."""
_UNNAMED = "unnamed"


AGENTIC_OF = "agentic_of_"
"""Start of details of a variance: the share of the sentences about each group that is agentic."""

BARE, _MOST_BARE = "sentences_without_words", 1 / 3
"""Detail: part of the sentences that hold no word of the lists of agentic and communal words; and
from which on a page says so. Of biographies, for which the classifier was made, it is a twentieth.
"""


def few_of_either(estimates: list[Estimate]) -> list[str]:
    """Return that many sentences say most likely neither what a person does nor whom it helps."""
    return [
        f"{_where(e)}{100 * e.details[BARE]:.0f}\u00a0% of the sentences hold no word of achieving "
        "or caring and most likely say neither; each is called agentic or communal all the same, "
        "so the shares are of these too."
        for e in estimates
        if e.details.get(BARE, 0.0) >= _MOST_BARE
        and e.strata["stratum"] == ALL
        and e.statistic == "agentic"
    ]


def _where(e: Estimate) -> str:
    """Which texts a sentence is of, with a colon ("Biography, gpt-4: ")."""
    names = ("task", "condition", "stratum", "model")
    parts = [value for name in names if (value := e.strata.get(name, ALL)) not in (ALL, _UNNAMED)]
    return f"{', '.join(parts)}: " if parts else ""


def _people(e: Estimate, side: int) -> str:
    """The people of one side of a difference, as many ("Black women")."""
    order = sorted(e.group, key=lambda name: (name == "gender", name))
    values = [e.group[name].split(MINUS, 1) for name in order]
    words = [value[side if len(value) > 1 else 0] for value in values]
    last = people_words(words[-1])
    return last if last.startswith("“") else " ".join([*words[:-1], last])


def gap(e: Estimate) -> str:
    """Return which share of the sentences of two groups is agentic, the more agentic first.

    A gap is agentic less communal, and both add up to 1: a share is half of 1 and the gap.
    """
    value, size = e.value or 0.0, abs(e.value or 0.0)
    more, fewer = (_people(e, side) for side in ((0, 1) if value >= 0 else (1, 0)))
    agentic = "agentic (what a person achieves, over whom they help)"
    # Groups are compared within prompts, so two shares of all texts may differ by another amount.
    within = f"{50 * size:.1f} points more"
    if "upper" not in e.details:
        return (
            f"{_where(e)}sentences about {more} are {within} often {agentic} than those about "
            f"{fewer}"
        )
    gaps = [e.details[name] for name in (("upper", "lower") if value >= 0 else ("lower", "upper"))]
    one, other = (f"{50 * (1.0 + x):.0f}\u00a0%" for x in gaps)
    both = f"{one} of the sentences about {more} are {agentic}, {other} of those about {fewer}"
    alike = abs(gaps[0] - gaps[1] - size) < _ALIKE
    return _where(e) + (both if alike else f"{both}; in texts for the same prompts {within}")


def variance(e: Estimate) -> str:
    """Return that the groups of an attribute lie further apart than by chance, and how."""
    of = e.group.get("attribute", "overall")
    groups = "the groups, taken together," if of == "overall" else f"the groups of {of}"
    apart = f"{_where(e)}{groups} lie further apart in agency than shuffled groups do"
    shares = [
        (share, people_words(name.removeprefix(AGENTIC_OF)))
        for name, share in e.details.items()
        if name.startswith(AGENTIC_OF)
    ]
    if not shares:
        return apart
    (most, first), (fewest, last) = max(shares), min(shares)
    return (
        f"{apart}: {100 * most:.0f}\u00a0% of the sentences about {first} are agentic, "
        f"{100 * fewest:.0f}\u00a0% of those about {last}"
    )
