"""What an agency classifier is, and those that there are, by their name or folder.

The paper trains its classifier three times, with the random seeds 0, 1 and 2, and applies all three
to one set of texts: a variance is taken for each checkpoint and averaged. Its baselines are words
of two lists and a transformer of sentiment. A transformer is a folder of `portrayal build
classifier`, or a hub id. A language model is asked with the prompts of Table 11.

The sentence is material to classify: it is set on one line, and an answer counts only where it
names one of the two words and not the other. Every other answer reads NaN and is counted.

Who asks, within which limits, and where the answers are kept is decided by `rows.Classifying`.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import numpy as np
from scipy.special import expit

from portrayal.annotate.agency.linear import AgencyClassifier, read_linear, shipped
from portrayal.annotate.llm import read_replies, templates
from portrayal.collect.ask.replies import Ask, Reply, prompt_of
from portrayal.errors import OptionError, UnknownNameError
from portrayal.models.loading import (
    MOST_TOKENS,
    checked_card,
    load_encoder,
    load_onnx,
    probabilities,
)
from portrayal.records import Prompt
from portrayal.reference.datafile import Holds, read_datafile
from portrayal.types import FloatArray
from portrayal.validate import check_choice

_FILES = ("linear.npz", "config.json")


def mean_of(agentic: FloatArray) -> FloatArray:
    """Return the mean over checkpoints, shape (k, n) -> (n,); NaN where none can say."""
    # Not nanmean: it warns where no checkpoint can say
    return np.asarray(np.ma.masked_invalid(agentic).mean(axis=0).filled(np.nan))


def checkpoint_folders(folder: Path) -> tuple[Path, ...]:
    """Return the classifiers that a folder holds in folders of its own; none if it is one itself.

    Names are ordered as numbers where they end in one, so "seed-10" follows "seed-9".
    """
    if not folder.is_dir() or _is_classifier(folder):
        return ()
    inside = [child for child in folder.iterdir() if child.is_dir() and _is_classifier(child)]
    # Shorter names first, as 10 follows 9
    return tuple(sorted(inside, key=lambda child: (len(child.name), child.name)))


def _is_classifier(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _FILES)


_LEXICON_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _any_of(words: str | Sequence[str]) -> re.Pattern[str]:
    terms = sorted({w.casefold() for w in (words.split() if isinstance(words, str) else words)})
    return re.compile("|".join(re.escape(word).replace(r"\*", ".*") for word in terms))


_Words = Annotated[re.Pattern[str], Holds(reads=str | tuple[str, ...], convert=_any_of)]


@dataclass(frozen=True)
class _WordLists:
    """The lists of a file, as what their words match."""

    agentic: _Words
    communal: _Words


def lexicon_classifier(path: str = "", masked: bool = True) -> AgencyClassifier:
    """Return P(agentic) = (a + 1/2) / (a + c + 1) for a agentic and c communal words of a sentence.

    NaN where no word of either list stands in the sentence: the list cannot say.

    Parameters
    ----------
    path
        A TOML file with `agentic` and `communal`, each a list of words or words between blanks; a
        final * stands for any ending. The project's own lists where "".
    masked
        Whether it will be given masked sentences.

    Raises
    ------
    DataError
        When the file is missing, no TOML, or lacks one of the two lists.
    """
    file = read_datafile(path or Path(__file__).with_name("lexicon.toml"))
    lists = file.record(_WordLists)

    def share(sentence: str) -> float:
        words = _LEXICON_WORD.findall(sentence.lower())
        agentic, communal = (
            sum(pattern.fullmatch(word) is not None for word in words)
            for pattern in (lists.agentic, lists.communal)
        )
        # Half a word of each (Jeffreys): one word alone is not certain
        is_told = agentic + communal > 0
        return (agentic + 0.5) / (agentic + communal + 1.0) if is_told else math.nan

    name = f"lexicon:{Path(path).name}" if path else "lexicon"
    return AgencyClassifier(name, masked, lambda read: [*map(share, read)])


def transformer_classifier(
    folder: str | Path, masked: bool = True, *, kind: str = "transformer"
) -> AgencyClassifier:
    """Return the softmax of the two logits of a fine-tuned encoder.

    Parameters
    ----------
    folder
        Folder or hub id; of its two classes the second is read as agentic.
    masked
        Whether it will be given masked sentences.
    kind
        How its name begins: "transformer", or "sentiment" for an encoder whose second class is
        positive, as the paper's baseline is.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the folder holds no classifier of two classes with safetensors weights.
    """
    encoder = load_encoder(str(folder))
    name = f"{kind}:{folder}"
    return AgencyClassifier(name, masked, lambda read: probabilities(encoder, read)[:, 1])


SHIPPED = ("linear", "untaught", "transformer")
"""Classifiers that ship: taught by a transformer, trained on LAC alone, and a transformer."""
WEIGHTS = Path(__file__).with_name("transformer")
"""Folder of the transformer that ships: its encoder, and a card with the digest."""
ENCODER, CARD = "encoder.onnx.gz", "card.json"


def shipped_transformer(masked: bool = True) -> AgencyClassifier:
    """Return the mean of the logits of the transformer that ships and of "untaught".

    Needs onnxruntime and tokenizers. NaN where "untaught" cannot say, as in other languages.

    Raises
    ------
    MissingExtraError
        When onnxruntime or tokenizers are not installed.
    DataError
        When a file is missing or is not the one that the card names.
    """
    logit, untaught = shipped_logit(), shipped(masked, "untaught")

    def agentic(sentences: Sequence[str]) -> FloatArray:
        p_agentic = untaught(sentences)[:, 1]
        encoder_logits = np.array([*map(logit, sentences)], dtype=np.float64)
        # The mean of both logits; one of 0 or 1 is infinite and decides
        with np.errstate(divide="ignore"):
            logits = (encoder_logits + np.log(p_agentic) - np.log1p(-p_agentic)) / 2.0
        return np.asarray(expit(logits))

    return AgencyClassifier("minilm-lac.v1", masked, agentic)


@cache
def shipped_logit(folder: Path = WEIGHTS) -> Callable[[str], float]:
    """Return the transformer that ships as a function from a sentence to its logit of agentic.

    It reads the embeddings of words and the tokenizer of the reader of people, and every sentence
    alone: 8-bit activations are scaled by the largest of all that are read at once.
    """
    from portrayal.annotate.people.reader import network, reading

    reader = reading.WEIGHTS
    words = network.Embeddings.load(reader / network.WORDS)
    table = words.table.tobytes()
    checked_card(folder / CARD, lambda: sha256((folder / ENCODER).read_bytes() + table).hexdigest())
    session, tokenizer = load_onnx(folder / ENCODER, reader / network.TOKENIZER, threads=1)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)

    # Sentences recur, and each is read alone and always the same
    @lru_cache(maxsize=100_000)
    def logit(sentence: str) -> float:
        (logit,) = session.run(["logit"], {"words": words.of(tokenizer.encode(sentence).ids)[None]})
        return float(logit[0])

    return logit


FORMS = ("zero-shot", "definition", "one-shot", "definition-llama2", "one-shot-llama2")
_WORD = re.compile(r"\b(agentic|communal)\b", re.I)
_READ = {"agentic": 1.0, "communal": 0.0}


def llm_classifier(spec: str, ask: Ask, masked: bool = True) -> AgencyClassifier:
    """Return a classifier whose P(agentic) is 1 or 0, as a model answers.

    NaN where its answer cannot be read.

    Parameters
    ----------
    spec
        "llm:PROVIDER:MODEL[:FORM]", such as "llm:openai:gpt-5-mini:definition".
    ask
        Answers prompts, such as `Classifying.ask`; equal sentences are one prompt.
    masked
        Whether it will be given masked sentences.
    """
    model, form = parse_llm(spec)

    def agentic(sentences: Sequence[str]) -> list[float]:
        prompts = [sentence_prompt(sentence, form) for sentence in sentences]
        replies = ask(prompts) if prompts else {}
        answers = [said(replies.get(prompt.prompt_id, ())) for prompt in prompts]
        return [_READ.get(answer, math.nan) for answer in answers]

    return AgencyClassifier(f"llm:{model}:{form}", masked, agentic)


def said(replies: Sequence[Reply]) -> str:
    """Return "agentic" or "communal", or why an answer says neither; see `read_replies`.

    An answer that names both words or none is malformed.
    """

    def read(text: str) -> str | None:
        # An answer with both words is a discussion and no label
        words = sorted({word.lower() for word in _WORD.findall(text)})
        return words[0] if len(words) == 1 else None

    words, reasons = read_replies(replies, 1, read)
    return (words or list(reasons))[0]


def parse_llm(spec: str) -> tuple[str, str]:
    """Return model and form of "llm:PROVIDER:MODEL[:FORM]"; the form is "definition" by default.

    Raises
    ------
    OptionError
        When it names no model.
    """
    parts = spec.removeprefix("llm:")
    model, colon, form = parts.rpartition(":")
    # Names of models may hold colons; only a known form at the end is one
    if not (colon and form in FORMS):
        model, form = parts, "definition"
    service, colon, model_name = model.partition(":")
    if not (colon and service and model_name):
        raise OptionError(
            'a model as classifier is named "llm:PROVIDER:MODEL", such as '
            f'"llm:openai:gpt-5-mini", and may end in one of :{", :".join(FORMS)}; got {spec!r}.'
        )
    return model, form


def sentence_prompt(sentence: str, form: str = "definition") -> Prompt:
    """Return what the model is asked about a sentence, named by the digest of its words."""
    plain = check_choice("form", form, FORMS).removesuffix("-llama2")
    words = templates("portrayal.annotate.agency", "llm.toml")
    # Table 11 begins both with Llama 2's general system message
    prompt = words[plain] if plain == form else f"{words['llama2-system']} {words[plain]}"
    # On one line, so that a sentence cannot pose as part of the prompt
    return prompt_of(prompt.format(sentence=" ".join(sentence.split())))


SPECS = (
    '"linear", "untaught", "transformer" (shipped), "lexicon", "lexicon:FILE", "sentiment:MODEL",'
    ' the folder of a trained classifier, or "llm:PROVIDER:MODEL[:zero-shot|definition|one-shot]"'
)


def load_classifier(
    spec: str = "linear", masked: bool = True, *, ask: Ask | None = None
) -> AgencyClassifier:
    """Return a classifier by its name or folder.

    Parameters
    ----------
    spec
        "linear", "untaught" or "transformer" (shipped), "lexicon" or "lexicon:FILE" for word lists,
        "sentiment:MODEL" for a local transformer of sentiment (folder or hub id), the folder of a
        trained linear model or transformer, a folder of such folders
        (checkpoints, which become one classifier), or
        "llm:PROVIDER:MODEL[:zero-shot|definition|one-shot]".
    masked
        Whether it will be given masked sentences.
    ask
        What answers the prompts of "llm:…" and keeps the answers, as `Classifying.ask` of
        `annotate.agency.rows.classifying_of`.

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
    if spec in SHIPPED:
        return shipped_transformer(masked) if spec == "transformer" else shipped(masked, spec)
    # Names first, folders last: a folder called "linear" is given as "./linear"
    if spec == "lexicon" or spec.startswith("lexicon:"):
        return lexicon_classifier(spec.partition(":")[2], masked)
    if spec.startswith("sentiment:"):
        return transformer_classifier(spec.partition(":")[2], masked, kind="sentiment")
    if spec.startswith("llm:"):
        parse_llm(spec)
        if ask is None:
            raise OptionError(
                f"{spec} asks a language model, whose answers are paid and are kept in a folder: "
                "use annotate.agency.rows.classifying_of(spec, settings).classifier(folder)."
            )
        return llm_classifier(spec, ask, masked)
    return _from_folder(spec, masked)


def check_classifier(spec: str) -> None:
    """Raise an UnknownNameError for what names no classifier, and is no folder that exists."""
    is_known = spec in (*SHIPPED, "lexicon") or spec.startswith(("lexicon:", "sentiment:", "llm:"))
    if not (is_known or Path(spec).expanduser().is_dir()):
        raise UnknownNameError(
            f"{spec!r} is no agency classifier and no folder that exists. Expected {SPECS}."
        )


def classifier_label(spec: str) -> str:
    """Return a classifier's own name, with its version; a folder by its name alone."""
    path = Path(spec).expanduser()
    if path.is_dir():
        n, name = len(checkpoint_folders(path)), path.resolve().name
        return f"{n} checkpoints of {name}" if n else f"trained model {name}"
    if spec in (*SHIPPED, "lexicon"):
        return load_classifier(spec).name
    engine, _, path_or_name = spec.partition(":")
    return f"{engine}:{Path(path_or_name).name}" if engine == "lexicon" else spec


def _from_folder(spec: str, masked: bool) -> AgencyClassifier:
    check_classifier(spec)
    folder = Path(spec).expanduser()
    members = [_from_folder(str(checkpoint), masked) for checkpoint in checkpoint_folders(folder)]
    # A folder of classifiers is one classifier, and each is read on its own
    if members:
        name = f"{len(members)} checkpoints:{folder.name}"

        def mean(read: Sequence[str]) -> FloatArray:
            return mean_of(np.stack([member(read)[:, 1] for member in members]))

        return AgencyClassifier(name, masked, mean, members)
    if (folder / "linear.npz").is_file():
        return read_linear(folder / "linear.npz", masked)
    return transformer_classifier(folder, masked)
