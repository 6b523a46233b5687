"""A language model as a classifier, by the prompts of Wan & Chang, Table 11.

The sentence is material to classify: it is set on one line, and an answer counts only where it
names one of the two words and not the other. Every other answer reads NaN and is counted.

Who asks, within which limits, and where the answers are kept is decided in `asked`.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from portrayal.annotate.agency.classifier import rows
from portrayal.collect.ask.replies import Ask, Reply, prompt_of
from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.types import FloatArray
from portrayal.validate import check_choice

FORMS = ("zero-shot", "definition", "one-shot", "definition-llama2", "one-shot-llama2")
_LLAMA2 = "-llama2"
"""Ending of the forms that begin with Llama 2's general system message, as in Table 11."""
_WORD = re.compile(r"\b(agentic|communal)\b", re.I)
_READ = {"agentic": 1.0, "communal": 0.0}


class LLMClassifier:
    """P(agentic) is 1 or 0, as the model answers; NaN where its answer cannot be read.

    Parameters
    ----------
    spec
        "llm:PROVIDER:MODEL[:FORM]", such as "llm:openai:gpt-5-mini:definition".
    ask
        Answers prompts, such as what `collect.ask.replies.asker` returns; equal sentences are
        one prompt.
    masked
        Whether it will be given masked sentences.

    Attributes
    ----------
    counts
        Sentences by what became of them: "agentic", "communal", or as `said`. Added up over all
        calls.
    """

    def __init__(self, spec: str, ask: Ask, masked: bool = True) -> None:
        model, self._form = parse_llm(spec)
        self.name, self.masked, self._ask = f"llm:{model}:{self._form}", masked, ask
        self.counts: Counter[str] = Counter()

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        prompts = [sentence_prompt(sentence, self._form) for sentence in sentences]
        replies = self._ask(prompts) if prompts else {}
        answers = [said(replies.get(prompt.prompt_id)) for prompt in prompts]
        self.counts.update(answers)
        return rows([_READ.get(each, math.nan) for each in answers])


def said(reply: Reply | None) -> str:
    """Return "agentic" or "communal", or why an answer says neither.

    That is "unreadable" (it names both words or none), "refused", "empty", "failed" (every try
    failed), or "not asked" (no answer yet, as the budget did not reach it).
    """
    if reply is None:
        return "not asked"
    if reply.outcome != "ok":
        return reply.outcome
    return parse_agency(reply.text) or "unreadable"


def parse_llm(spec: str) -> tuple[str, str]:
    """Return model and form of "llm:PROVIDER:MODEL[:FORM]"; the form is "definition" by default.

    Raises
    ------
    OptionError
        When it names no model.
    """
    named = spec.removeprefix("llm:")
    model, colon, form = named.rpartition(":")
    if not (colon and form in FORMS):
        model, form = named, "definition"
    service, colon, rest = model.partition(":")
    if not (colon and service and rest):
        raise OptionError(
            'a model as classifier is named "llm:PROVIDER:MODEL", such as '
            f'"llm:openai:gpt-5-mini", and may end in one of :{", :".join(FORMS)}; got {spec!r}.'
        )
    return model, form


def sentence_prompt(sentence: str, form: str = "definition") -> Prompt:
    """Return what the model is asked about a sentence, named by the digest of its words."""
    return prompt_of(agency_prompt(sentence, form))


def agency_prompt(sentence: str, form: str = "definition") -> str:
    """Return what the model is asked; line breaks of the sentence become blanks."""
    plain = check_choice("form", form, FORMS).removesuffix(_LLAMA2)
    prompt = _prompts()[plain]
    if plain != form:
        prompt = f"{_prompts()['llama2-system']} {prompt}"
    return prompt.replace("{sentence}", " ".join(sentence.split()))


def parse_agency(reply: str) -> str | None:
    """Return "agentic" or "communal" where a reply names one of them; None for both or neither."""
    named = {word.lower() for word in _WORD.findall(reply)}
    return named.pop() if len(named) == 1 else None


@cache
def _prompts() -> dict[str, str]:
    text = files("portrayal.annotate.agency").joinpath("llm.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
