"""Words that tell who gives, leads or decides, and who receives, struggles or thanks."""

from portrayal.annotate.people.wordset import word_set


def _forms(verbs: str) -> frozenset[str]:
    """Present, past and -ing forms of regular verbs, with and without a doubled consonant."""
    forms: set[str] = set()
    for verb in verbs.split():
        stem = verb.removesuffix("e")
        if verb.endswith("y") and verb[-2] not in "aeiou":
            forms |= {verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"}
        else:
            double = stem + stem[-1]
            forms |= {verb, verb + "s", verb + "es", stem + "ed", stem + "ing"}
            forms |= {double + "ed", double + "ing"}
    return frozenset(forms)


GIVES = _forms(
    """
    teach help mentor tutor guide instruct coach train explain show demonstrate encourage inspire
    assist support advise comfort reassure assure treat heal save rescue nurse stabilize operate
    diagnose promote reward hire assign delegate direct order command remind urge ask insist offer
    suggest propose volunteer announce critique evaluate taste praise correct defend represent
    surprise autograph serenade dedicate hand notice observe approach
    """
) | word_set(
    """
    taught told tells telling showed shown paid pays paying gave gives bought buys saw sees led
    leads wrote writes sang sings
    """
)
"""The one who does these is the subject, the one they are done to the object."""

RECEIVES = _forms(
    """
    thank struggle learn improve agree protest complain groan sigh grumble whine hesitate accept
    obey comply reply nod fail flounder hug admire heal recover grow blush listen resist absorb
    """
) | word_set(
    """
    grateful gratefully gratitude thankful reluctantly grudgingly hesitant hesitantly unsure
    skeptical confused frustrated overwhelmed unemployed struggling touched
    """
)
"""The one who does or is these is the object, the one they are done to the subject."""

DECIDES = word_set(
    """
    decided decides decision insisted insists knew mentored successful wealthy earned earns
    determined patiently gently firmly sternly landed promoted excelled excelling excels aced
    smiled smiling proud proudly
    """
)
"""Weak signs of the subject, without anyone they are done to."""

JOBS = word_set("job position promotion offer transfer career")
"""What the subject of a story about a new job gets."""

GETS = word_set(
    """
    got gets get getting landed lands landing received receives receiving accepted accepts accepting
    offered secured secures found new started dream
    """
)
"""Words before a job that say it is had or got."""
