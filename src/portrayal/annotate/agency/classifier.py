"""What an agency classifier is, and how one is found by its name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from portrayal.errors import OptionError, UnknownNameError
from portrayal.types import FloatArray

if TYPE_CHECKING:
    from portrayal.collect.ask.replies import Ask


SPECS = (
    '"linear" (shipped), "lexicon", "lexicon:FILE", "sentiment", the folder of a trained '
    'classifier, or "llm:PROVIDER:MODEL[:zero-shot|definition|one-shot]"'
)


class AgencyClassifier(Protocol):
    """A function of sentences.

    Attributes
    ----------
    name
        Such as "linear-lac.v1" or "transformer:FOLDER"; reports name it.
    masked
        Whether it is meant for masked sentences. The caller masks them.
    """

    name: str
    masked: bool

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic) of each sentence.

        Shape (n, 2); a row sums to 1, or is NaN where the classifier cannot say.
        """
        ...


def load_classifier(
    spec: str = "linear", masked: bool = True, *, ask: "Ask | None" = None
) -> AgencyClassifier:
    """Return a classifier by its name or folder.

    Parameters
    ----------
    spec
        "linear" (shipped), "lexicon" or "lexicon:FILE" for word lists of your own, "sentiment", the
        folder of a trained linear model or transformer (float or ONNX), or
        "llm:PROVIDER:MODEL[:zero-shot|definition|one-shot]".
    masked
        Whether it will be given masked sentences.
    ask
        What answers the prompts of "llm:…" and keeps the answers, as
        `collect.ask.replies.asker` returns it; `annotate.agency.asked` makes one.

    Raises
    ------
    UnknownNameError
        When there is no such classifier or folder.
    OptionError
        When a language model is named wrongly, or without `ask`.
    DataError
        When a folder or file is not what was expected.
    MissingExtraError
        When it needs a package that is not installed; names the extra.
    """
    if spec == "linear":
        from portrayal.annotate.agency.linear import shipped

        return shipped(masked)
    if spec == "lexicon" or spec.startswith("lexicon:"):
        from portrayal.annotate.agency.baselines import LexiconClassifier, read_lexicon

        return LexiconClassifier(read_lexicon(spec.partition(":")[2] or None), masked)
    if spec == "sentiment":
        from portrayal.annotate.agency.baselines import SentimentClassifier

        return SentimentClassifier(masked)
    if spec.startswith("llm:"):
        from portrayal.annotate.agency.llm import LLMClassifier, parse_llm

        model, form = parse_llm(spec)
        if ask is None:
            raise OptionError(
                f"{spec} asks a language model, whose answers are paid and are kept in a folder: "
                "use annotate.agency.asked.classifying_of(spec, settings).classifier(folder)."
            )
        return LLMClassifier(f"llm:{model}:{form}", ask, form, masked)
    return _from_folder(spec, masked)


def rows(agentic: ArrayLike) -> FloatArray:
    """Return rows of P(communal), P(agentic) from P(agentic), shape (n,) -> (n, 2)."""
    known = np.asarray(agentic, dtype=np.float64)
    return np.column_stack([1.0 - known, known])


def _from_folder(spec: str, masked: bool) -> AgencyClassifier:
    folder = Path(spec).expanduser()
    if not folder.is_dir():
        raise UnknownNameError(
            f"{spec!r} is no agency classifier and no folder that exists. Expected {SPECS}."
        )
    if (folder / "linear.npz").is_file():
        from portrayal.annotate.agency.linear import read_linear

        return read_linear(folder / "linear.npz", masked)
    if (folder / "model.onnx").is_file():
        from portrayal.annotate.agency.onnx import OnnxClassifier

        return OnnxClassifier(folder, masked)
    from portrayal.annotate.agency.transformer import TransformerClassifier

    return TransformerClassifier(folder, masked)
