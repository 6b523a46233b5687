"""A language model as agency classifier: asked within limits, its answers kept, nothing twice."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.annotate.agency.loading import LLMClassifier, parse_llm, said, sentence_prompt
from portrayal.annotate.agency.rows import AGENCY, AGENCY_UNMASKED, run_sentences
from portrayal.annotate.annotator import Annotation
from portrayal.collect.ask.asking import Asking, asking_of, check_settings
from portrayal.collect.ask.replies import Ask, ask_missing, asker
from portrayal.errors import OptionError
from portrayal.run.directory import Run
from portrayal.run.stages import fingerprint
from portrayal.types import Say

CLASSIFIER = "classifier"
"""Folder in which the answers of classifying models are kept, one folder for each."""

_ANSWER_TOKENS = 40
"""Tokens of an answer, about; for the cost that is shown beforehand."""


@dataclass(frozen=True, slots=True)
class Classifying:
    """A language model that classifies sentences.

    Attributes
    ----------
    spec
        "llm:PROVIDER:MODEL[:FORM]".
    asking
        Whom, within which limits. Where its `parameters` have no temperature it is 0, if the model
        takes one.
    """

    spec: str
    asking: Asking

    @property
    def kept_in(self) -> str:
        """Where answers lie in a run or folder: the model, and a digest of its parameters."""
        return f"{CLASSIFIER}/{self.asking.folder_name}"

    def check(self) -> "Classifying":
        """Make the provider, so that a missing key, client or address is an error at once."""
        asking = self.asking
        if asking.model.startswith("server:") and asking.base_url is None and not asking.provider:
            raise OptionError(
                f"{self.spec} needs the address of its server: give "
                "--set classifier_settings.base_url=…, or --classifier-base-url in `score agency`, "
                "such as http://localhost:8000/v1."
            )
        asking.cold().make_provider()
        return self

    def ready(self, run: Run) -> "Classifying":
        """`check`, unless the run holds the annotations of this model already."""
        for name in (AGENCY.name, AGENCY_UNMASKED.name):
            note = run.annotations(name).note()
            known = note.get("settings") or {}
            asked = known.get("classifier"), known.get("answers")
            if not note.get("complete") or asked != (self.spec, self.kept_in):
                return self.check()
        return self

    def classifier(self, folder: Path, masked: bool = True) -> LLMClassifier:
        """Return a classifier that asks what has no answer in `folder`, which the caller holds."""
        return LLMClassifier(self.spec, self._asker(folder), masked)

    def ask(self, folder: Path, sentences: Iterable[str], tell: Say) -> dict[str, str]:
        """Ask what has no answer in `folder` yet, which the caller holds; equal sentences once.

        Returns
        -------
        By `prompt_id`, what the model says of each sentence.

        Raises
        ------
        StopError, RunError, OptionError
            Saying what to do; what was answered before is kept.
        """
        form = parse_llm(self.spec)[1]
        prompts = {p.prompt_id: p for p in (sentence_prompt(s, form) for s in sentences)}
        n = f"{len(prompts):,} different sentences"
        first = f"classifier: {self.asking.model} is asked what is not answered yet of {n}"
        place = folder / self.kept_in
        replies = ask_missing(
            self.asking.cold(), prompts, place, _ANSWER_TOKENS, lambda: tell(first)
        )
        answers = {i: said(replies.get(i)) for i in prompts}
        counts = Counter(answers.values())
        listed = ", ".join(f"{n:,} {word}" for word, n in sorted(counts.items()))
        tell(f"classifier: {len(answers):,} different sentences: {listed or 'none'}")
        return answers

    def answered(self, run: Run, wanted: Sequence[Annotation], tell: Say) -> tuple[Annotation, ...]:
        """Ask about every sentence that these annotations read, in a run that the caller holds.

        Returns
        -------
        The annotations, with where the answers lie, a digest of them and what they came to (by
        `prompt_id` each counts once) among the settings.
        """
        read = (
            sentence
            for annotation in wanted
            for sentence in run_sentences(run, masked=annotation.name == AGENCY.name)
        )
        answers = self.ask(run.path, read, tell)
        more = {
            "answers": self.kept_in,
            "digest": fingerprint(said=answers),
            "said": dict(sorted(Counter(answers.values()).items())),
        }
        return tuple(
            dataclasses.replace(each, settings={**each.settings, **more}) for each in wanted
        )

    def _asker(self, folder: Path) -> Ask:
        return asker(self.asking.cold(), folder / self.kept_in, _ANSWER_TOKENS)


def classifying_of(spec: str, settings: Mapping[str, Any] | None = None) -> Classifying | None:
    """Return how a classifier's model is asked; None for a classifier that asks none.

    Parameters
    ----------
    spec
        What `portrayal.annotate.agency.load_classifier` takes.
    settings
        Further fields of `Asking`, such as `base_url` or `budget`. Only a model "server:NAME" is
        given the `base_url`, as a second classifier may be of another service.

    Raises
    ------
    OptionError, UnknownNameError
        Where a setting or the model's name cannot be used.
    """
    check_settings(settings, "a classifier")
    if not spec.startswith("llm:"):
        return None
    model, _ = parse_llm(spec)
    chosen = dict(settings or {})
    if not model.startswith("server:"):
        chosen.pop("base_url", None)
    return Classifying(spec, asking_of(model, chosen, "a classifier"))


def classifying_of_options(
    options: Any, settings: Mapping[str, Any] | None = None
) -> Classifying | None:
    """Return `classifying_of` an audit's options; None where they have no classifier."""
    return classifying_of(getattr(options, "classifier", ""), settings)
