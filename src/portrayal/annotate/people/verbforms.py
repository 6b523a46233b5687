"""Forms of regular verbs."""


def verb_forms(verbs: str) -> frozenset[str]:
    """Present, past and -ing forms of regular verbs, with and without a doubled consonant."""
    forms: set[str] = set()
    for verb in verbs.split():
        stem = verb.removesuffix("e")
        if len(verb) > 1 and verb.endswith("y") and verb[-2] not in "aeiou":
            forms |= {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
        else:
            double = stem + stem[-1:]
            forms |= {verb, verb + "s", verb + "es", stem + "ed", stem + "ing"}
            forms |= {double + "ed", double + "ing"}
    return frozenset(forms)


def bare_verb(word: str) -> str:
    """The verb that a present form belongs to: "trains" → "train", "carries" → "carry"."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("shes", "ches", "sses", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
