"""Words that tell who gives, leads or decides, and who receives, struggles or thanks."""

from portrayal.annotate.people.verbforms import verb_forms
from portrayal.annotate.people.wordset import word_set

GIVES = verb_forms(
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

RECEIVES = verb_forms(
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
