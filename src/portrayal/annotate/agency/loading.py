"""Loading an agency classifier by its name or folder."""

from pathlib import Path

from portrayal.annotate.agency.baselines import (
    LexiconClassifier,
    SentimentClassifier,
    read_lexicon,
)
from portrayal.annotate.agency.checkpoints import Checkpoints, checkpoint_folders
from portrayal.annotate.agency.classifier import AgencyClassifier
from portrayal.annotate.agency.linear import read_linear, shipped
from portrayal.annotate.agency.llm import LLMClassifier, parse_llm
from portrayal.annotate.agency.transformer import OnnxClassifier, TransformerClassifier
from portrayal.collect.ask.replies import Ask
from portrayal.errors import OptionError, UnknownNameError

SPECS = (
    '"linear" (shipped), "lexicon", "lexicon:FILE", "sentiment[:MODEL]", the folder of a trained '
    'classifier, or "llm:PROVIDER:MODEL[:zero-shot|definition|one-shot]"'
)


def load_classifier(
    spec: str = "linear", masked: bool = True, *, ask: Ask | None = None
) -> AgencyClassifier:
    """Return a classifier by its name or folder.

    Parameters
    ----------
    spec
        "linear" (shipped), "lexicon" or "lexicon:FILE" for word lists of your own, "sentiment", or
        "sentiment:MODEL" for a local transformer (folder or hub id), the folder of a trained linear
        model or transformer (float or ONNX), a folder of such folders (checkpoints, which become
        one classifier), or
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

    Examples
    --------
    >>> classify = load_classifier("lexicon")
    >>> bool(classify(["[someone] is ambitious and confident."])[0, 1] > 0.5)
    True
    """
    if spec == "linear":
        return shipped(masked)
    if spec == "lexicon" or spec.startswith("lexicon:"):
        return LexiconClassifier(read_lexicon(spec.partition(":")[2] or None), masked)
    if spec == "sentiment":
        return SentimentClassifier(masked)
    if spec.startswith("sentiment:"):
        return TransformerClassifier(spec.partition(":")[2], masked, kind="sentiment")
    if spec.startswith("llm:"):
        parse_llm(spec)
        if ask is None:
            raise OptionError(
                f"{spec} asks a language model, whose answers are paid and are kept in a folder: "
                "use annotate.agency.asked.classifying_of(spec, settings).classifier(folder)."
            )
        return LLMClassifier(spec, ask, masked)
    return _from_folder(spec, masked)


def _from_folder(spec: str, masked: bool) -> AgencyClassifier:
    folder = Path(spec).expanduser()
    if not folder.is_dir():
        raise UnknownNameError(
            f"{spec!r} is no agency classifier and no folder that exists. Expected {SPECS}."
        )
    members = [_from_folder(str(each), masked) for each in checkpoint_folders(folder)]
    if members:
        return Checkpoints(f"{len(members)} checkpoints:{folder.name}", members, masked)
    if (folder / "linear.npz").is_file():
        return read_linear(folder / "linear.npz", masked)
    if (folder / "model.onnx").is_file():
        return OnnxClassifier(folder, masked)
    return TransformerClassifier(folder, masked)
