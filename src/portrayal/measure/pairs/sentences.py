"""Sentences of findings on texts beside their originals: what changed, how far, by which form."""

from portrayal.measure.pairs.estimates import IN_ORIGINALS
from portrayal.records import ALL, Estimate
from portrayal.reference.labels import people_words

_SHARES = {"word": "words", "document": "topics"}
_TITLES = {
    "word": "words",
    "document": "topics",
    "sentence_sentiment": "sentiment of sentences",
    "sentence_toxicity": "toxicity of sentences",
}


def _percent(share: float) -> str:
    # A corrected change may take a small share below 0, which no share is.
    return f"{100.0 * max(share, 0.0):.1f}\u00a0%"


def _texts(e: Estimate) -> str:
    """The texts of an estimate's series ("texts of m1 in the form “plain”")."""
    form = e.strata.get("form", ALL)
    model = e.strata.get("model", ALL)
    writer = "all models" if model == ALL else model
    return f"texts of {writer}" + (f" in the form “{form}”" if form != ALL else "")


def change(e: Estimate) -> str:
    """Return how the share of a group, or the tone about it, differs from the originals."""
    level, value = e.strata["level"], e.value or 0.0
    (group,) = e.group.values() if len(e.group) == 1 else (", ".join(e.group.values()),)
    people, texts, before = people_words(group), _texts(e), e.details.get(IN_ORIGINALS, 0.0)
    # Both shares are said: a change alone hides how large the group was.
    if level in _SHARES:
        of = f"the {e.strata['attribute']} words" if level == "word" else "the topics"
        return (
            f"{texts} give {people} {_percent(before + value)} of {of}, the articles they rewrote "
            f"{_percent(before)}"
        )
    tone = "toxicity" if "toxicity" in level else "sentiment"
    more = "higher" if value > 0 else "lower"
    return (
        f"in {texts}, the {tone} of sentences about {people} is {abs(value):.3f} {more} than in "
        "the articles they rewrote"
    )


def distance(e: Estimate) -> str:
    """Return how far texts stand from their originals."""
    level, attribute = e.strata["level"], e.strata["attribute"]
    quantity = f"mean {_TITLES.get(level, level)} about a {attribute}"
    if level in _SHARES:
        quantity = f"share of {attribute} {_SHARES[level]}"
    sentence = (
        f"in the {quantity}, {_texts(e)} differ by {e.value or 0.0:.3f} from the articles they "
        "rewrote on average, on a scale from 0 to 1"
    )
    if level in _SHARES:
        sentence += f", as if {_percent(e.value or 0.0)} of them were another group’s"
    return sentence


def effect(e: Estimate) -> str:
    """Return how the distance under one form of the prompt differs from that under another."""
    first, _, second = e.strata.get("contrast", "").partition(" minus ")
    place = f"{_TITLES.get(e.strata['level'], e.strata['level'])}, {e.strata['attribute']}"
    model = e.strata.get("model", ALL)
    writer = "" if model == ALL else f" of {model}"
    size, way = abs(e.value or 0.0), "further from" if (e.value or 0.0) > 0 else "closer to"
    return (
        f"{place}: texts{writer} of the form “{first}” stand {size:.3f} {way} their originals than "
        f"those of “{second}”"
    )
