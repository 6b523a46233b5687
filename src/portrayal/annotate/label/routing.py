"""Routing: which texts go to the model, because the extractor is least sure of them."""

from collections.abc import Sequence

from portrayal.errors import OptionError


def check_share(share: float) -> float:
    """Return `share`, the fraction of the texts that goes to the model.

    Raises
    ------
    OptionError
        Unless it is above 0 and at most 1.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise OptionError(
            "route_share is the fraction of the texts that goes to the model, above 0 and at most "
            f"1, such as 0.2; got {share!r}."
        )
    return float(share)


def least_confident(
    confidences: Sequence[float], share: float, text_ids: Sequence[str] | None = None
) -> list[int]:
    """Return the places of the least confident texts, in ascending order.

    Parameters
    ----------
    confidences
        Of each text, the smallest over its characters.
    share
        Fraction of the texts to return, rounded to the nearest whole number of texts.
    text_ids
        Decide among equal confidences; the order of the texts by default.
    """
    wanted = int(len(confidences) * check_share(share) + 0.5)
    ids = text_ids if text_ids is not None else [""] * len(confidences)
    order = sorted(range(len(confidences)), key=lambda i: (confidences[i], ids[i], i))
    return sorted(order[:wanted])
