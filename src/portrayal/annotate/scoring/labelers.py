"""Labels to be scored: by the extractor, by a language model, or by both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.annotate.label import LabelAsking, label_people
from portrayal.annotate.scoring.slots import Labelled, label, text_or_none


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of stories, and who made them.

    Attributes
    ----------
    people
        One for each story.
    n_llm
        Stories that the model labelled.
    n_failed
        Stories that the model was asked about and gave no usable label; they keep the extractor's.
    """

    people: tuple[Labelled, ...]
    n_llm: int
    n_failed: int


def label_by_model(
    stories: Sequence[Mapping[str, Any]],
    extractor: Any,
    asking: LabelAsking,
    folder: Path,
    *,
    share: float | None = None,
) -> Labels:
    """Label stories by a model, the least confident `share` of them or (None) all.

    Empty texts are not asked about, and a story that the model failed on keeps the extractor's
    label, as in an audit by "routed".

    Parameters
    ----------
    stories
        As `score_people` takes them.
    extractor
        Callable with the signature of `extract_people`.
    asking
        Whom, how often, within which limits.
    folder
        Where answers are kept; the same call continues there and asks nothing twice.
    share
        Fraction of the stories that goes to the model.
    """
    found = label(stories, extractor)
    asked = [i for i, row in enumerate(stories) if (text_or_none(row.get("text")) or "").strip()]
    route = None
    if share is not None:
        route = (share, [_confidence(found[i]) for i in asked])
    result = label_people([stories[i] for i in asked], asking, folder, route=route)
    for i, text in zip(asked, result.texts, strict=True):
        if text.people is not None:
            found[i] = text.people
    return Labels(tuple(found), result.n_llm, result.n_without)


def _confidence(people: Labelled) -> float:
    return min(character.confidence for character in people if character is not None)
