"""Told: who labelled what, in words, from the note of a labelling stage."""

from collections.abc import Mapping
from typing import Any

from portrayal.run.directory import Run


def labelling_of_run(run: Run, annotator: str) -> dict[str, Any]:
    """Return who labelled what in a run, as the stage of `annotator` notes it; empty for others."""
    found = run.annotations(annotator).note().get("labelling", {})
    return {name: value for name, value in found.items() if value is not None}


def labeler_instrument(run: Run, annotator: str) -> str:
    """Return the labeler as the instruments of an estimate name it."""
    labelling = labelling_of_run(run, annotator)
    if not labelling:
        return annotator
    model = f"{labelling['model']}, {labelling['samples']} answers each"
    if labelling["kind"] == "llm":
        return model
    return (
        f"{labelling['embedded']} {_share(labelling, 'n_embedded')}; "
        f"{_share(labelling, 'n_llm')} {model}"
    )


def labelling_sentence(labelling: Mapping[str, Any]) -> str:
    """Return which labeler labelled how many texts, as a sentence."""
    by_model = (
        f"{_share(labelling, 'n_llm')} ({labelling['n_llm']:,}), "
        f"asked {labelling['samples']} times about each text"
    )
    if labelling["kind"] == "llm":
        n, n_texts = labelling["n_unlabelled"], labelling["n_texts"]
        return (
            f"The readable texts were labelled by {labelling['model']}, {by_model}; {n:,} of "
            f"{n_texts:,} texts got no usable answer and are unlabelled."
        )
    return (
        f"The embedded extractor {labelling['embedded']} labelled "
        f"{_share(labelling, 'n_embedded')} of the readable texts ({labelling['n_embedded']:,}), "
        f"{labelling['model']} {by_model}. It was sent the {100 * labelling['share']:g} % of which "
        f"the extractor was least sure; {labelling['n_fell_back']:,} of these kept the extractor’s "
        "label for want of a usable answer."
    )


def labelling_removed(labelling: Mapping[str, Any]) -> str:
    """Return what was removed from the model's answers and what could not be used."""
    removed = [f"{n:,} {what}" for what, n in sorted(labelling.get("removed", {}).items()) if n]
    unusable = [f"{n:,} {why}" for why, n in sorted(labelling.get("unusable", {}).items()) if n]
    return (
        f"Removed from its answers: {', '.join(removed) or 'nothing'}. Answers that could not be "
        f"used: {', '.join(unusable) or 'none'}."
    )


def _share(labelling: Mapping[str, Any], name: str) -> str:
    n_texts = labelling["n_texts"]
    return f"{100 * labelling[name] / n_texts:.0f} %" if n_texts else "none"
