"""Words: how groups are named, and the one colour each keeps.

A race share describes the population that bears a name, never a person; a gender is the one of the
references in the text.
"""

from collections.abc import Mapping, Sequence

RACE_COLOURS = {
    "White": "#333333",
    "Latine": "#D55E00",
    "Black": "#0072B2",
    "Asian": "#009E73",
    "AI/AN": "#CC79A7",
    "MENA": "#E69F00",
    "NH/PI": "#56B4E9",
}
"""Okabe and Ito's colour-blind-safe palette."""
GENDER_COLOURS = {"F": "#882255", "M": "#117A8B", "NB": "#B08900"}
OTHER_COLOUR = "#666666"
LENGTH_COLOURS = ("#777777", "#1f4e79")
"""Colours of full and equal length."""
OWN_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Colours of groups that a user names, in their order."""

RACE_WORDS = {
    "AI/AN": "American Indian and Alaska Native",
    "MENA": "Middle Eastern and North African",
    "NH/PI": "Native Hawaiian and Pacific Islander",
}
GENDER_WORDS = {"F": "feminine", "M": "masculine", "NB": "non-binary"}
GENDERED = {"F": "feminized", "M": "masculinized", "NB": "non-binary"}
GENDER_SHORT = {"F": "Fem.", "M": "Masc.", "NB": "NB"}
GENDER_LABELS = {"F": "Feminized", "M": "Masculinized", "NB": "Non-binary"}

MEASURES = {
    "representation": "Representation ratio",
    "pair_representation": "Representation ratio of couples",
    "subordination": "Subordination ratio",
    "corrected_representation": "Representation ratio, corrected by hand labels",
    "corrected_subordination": "Subordination ratio, corrected by hand labels",
    "median_racialized_subordination": "Median racialized subordination ratio",
    "name_subordination": "Subordination ratio by name",
    "threshold_subordination": "Subordination ratio above a threshold",
    "common_names": "Most common names",
    "likelihood_histogram": "Histogram of likelihoods",
    "scenario_likelihood": "Shares by scenario",
    "pair_roles": "Who stands over whom",
    "outcomes": "Outcomes",
    "cue_counts": "Terms that name identities",
    "agency_share": "Agentic and communal sentences",
    "agency_gap": "Difference in agency",
    "agency_variance": "Variance of agency",
    "paired_distance": "Distance from the original",
    "prejudice_rate": "Prejudice rate",
    "prejudice_change": "Change in prejudiced texts",
    "group_change": "Change of a group",
    "prompt_effect": "Effect of the prompt form",
    "refusals": "Refusals",
    "text_lengths": "Length of texts",
    "pair_fates": "What became of the pairs",
    "topic_use": "Topics by group",
}


def stem(measure: str) -> str:
    """Return a measure's name without its version ("subordination")."""
    return measure.rpartition(".v")[0] or measure


def column_label(value: str) -> str:
    """Return a race or gender as the label of a narrow column ("Latine", "Fem.")."""
    return GENDER_SHORT.get(value, value)


def measure_title(measure: str) -> str:
    """Return a measure's title, made from its name where none is known."""
    return MEASURES.get(stem(measure), stem(measure).replace("_", " ").capitalize())


def colour_of_group(group: Mapping[str, str], others: Sequence[str] = ()) -> str:
    """Return the colour that a group keeps; of a user's own group, by its place in `others`."""
    for attribute, value in group.items():
        known = GENDER_COLOURS if attribute == "gender" else RACE_COLOURS
        if attribute in ("gender", "race") and value in known:
            return known[value]
        if value in others:
            return OWN_COLOURS[list(others).index(value) % len(OWN_COLOURS)]
    return OTHER_COLOUR


def colour_rules() -> str:
    """Return CSS that colours the dot of each group in a key, and the marks of its words."""
    used = (*RACE_COLOURS.values(), *GENDER_COLOURS.values(), *OWN_COLOURS, OTHER_COLOUR)
    return "\n".join(
        f".key .{colour_class(c)} {{ background: {c}; }} "
        f"mark.{colour_class(c)} {{ border-bottom: 3px solid {c}; }}"
        for c in dict.fromkeys((*used, *LENGTH_COLOURS))
    )


def colour_class(colour: str) -> str:
    """Return the class of a colour in the page's style ("c882255")."""
    return "c" + colour.removeprefix("#").lower()


def people_of(race: str) -> str:
    """Return the people who bear a name ("American Indian and Alaska Native (AI/AN) people")."""
    spelled = RACE_WORDS.get(race)
    return f"{spelled} ({race}) people" if spelled else f"{race} people"


def couple(pair: str) -> str:
    """Return a pair of genders in words ("one feminized and one masculinized character (F-M)")."""
    first, _, second = pair.partition("-")
    one, other = GENDERED.get(first, first), GENDERED.get(second, second)
    if first == second:
        return f"two {one} characters ({pair})"
    return f"one {one} and one {other} character ({pair})"


def group_label(group: Mapping[str, str]) -> str:
    """Return a short label for tables and charts ("Latine, masculine")."""
    if list(group) == ["gender"]:
        return f"{GENDER_LABELS.get(group['gender'], group['gender'])} characters"
    parts = []
    for attribute, value in group.items():
        text = GENDER_WORDS.get(value, value) if attribute == "gender" else value
        if attribute == "threshold":
            text = f"likelihood above {100 * float(value):.0f} %" if _is_number(value) else value
        parts.append(text)
    return ", ".join(parts) or "all"


def group_words(group: Mapping[str, str]) -> str:
    """Return a group as the sentence about it names it."""
    race, gender = group.get("race"), group.get("gender")
    if race and gender:
        return (
            f"characters with names most borne by {people_of(race)} "
            f"and {GENDER_WORDS.get(gender, gender)} references"
        )
    if race:
        return f"names most borne by {people_of(race)}"
    if gender:
        return f"{GENDERED.get(gender, gender)} characters"
    if "pair" in group:
        return f"couples of {couple(group['pair'])}"
    return group_label(group)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
