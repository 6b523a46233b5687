"""A language model as agency classifier: asked within limits, its answers kept, nothing twice."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.annotate.annotator import Annotation
from portrayal.collect.ask.asking import Asking
from portrayal.errors import OptionError
from portrayal.run import fingerprint
from portrayal.types import Say

if TYPE_CHECKING:
    from portrayal.annotate.agency.classifier import AgencyClassifier
    from portrayal.collect.ask import CostEstimate, Provider, Retry
    from portrayal.collect.ask.replies import Reply
    from portrayal.run import Run

Confirming = Callable[[str], "Callable[[CostEstimate], bool] | None"]

CLASSIFIER = "classifier"
"""Folder in which the answers of classifying models are kept, one folder for each."""

SETTINGS = (
    *("base_url", "parameters", "concurrency", "rpm", "tpm", "budget", "price"),
    *("confirming", "progress", "provider", "retry"),
)
"""Of a classifying model: as in `Asking`, but that only a model "server:NAME" is
given the `base_url`, as a second classifier may be of another service; `confirming`, which is
called with the model's name and returns what confirms; `provider` and `retry`, in place of the
usual ones."""

_ANSWER_TOKENS = 40
"""Tokens of an answer, about; for the cost that is told beforehand."""


@dataclass(frozen=True, slots=True)
class Classifying:
    """A language model that classifies sentences.

    Attributes
    ----------
    spec
        "llm:PROVIDER:MODEL[:FORM]".
    asking
        Whom, within which limits. The budget counts all that the model has cost in the folder.
    provider, retry
        In place of the ones that `asking` and `Retry()` mean.
    """

    spec: str
    asking: Asking
    provider: "Provider | None" = None
    retry: "Retry | None" = None

    @property
    def kept_in(self) -> str:
        """Where answers lie in a run or folder: the model, and a digest of its parameters."""
        plain = "".join(c if c.isalnum() or c in ".-" else "-" for c in self.asking.model)[-60:]
        mark = fingerprint(model=self.asking.model, parameters=dict(self.asking.parameters))
        return f"{CLASSIFIER}/{plain.strip('.-')}-{mark[:8]}"

    def check(self) -> "Classifying":
        """Make the provider, so that a missing key, client or address is told at once."""
        from portrayal.collect.ask import provider_of

        asking = self.asking
        if asking.model.startswith("server:") and asking.base_url is None and not self.provider:
            raise OptionError(
                f"{self.spec} needs the address of its server: give --classifier-base-url, or "
                "--base-url in `score agency` (base_url among the settings of the classifier), "
                "such as http://localhost:8000/v1."
            )
        if self.provider is None:
            asking = self._settled()
            provider_of(asking.model, base_url=asking.base_url, parameters=asking.parameters)
        return self

    def ready(self, run: "Run") -> "Classifying":
        """`check`, unless the run holds the annotations of this model already."""
        from portrayal.annotate.agency.rows import AGENCY, AGENCY_UNMASKED

        for name in (AGENCY.name, AGENCY_UNMASKED.name):
            note = run.annotations(name).note()
            known = note.get("settings") or {}
            asked = known.get("classifier"), known.get("answers")
            if not note.get("complete") or asked != (self.spec, self.kept_in):
                return self.check()
        return self

    def classifier(self, folder: Path, masked: bool = True) -> "AgencyClassifier":
        """Return a classifier that asks what has no answer in `folder`, which the caller holds."""
        from portrayal.annotate.agency.classifier import load_classifier
        from portrayal.collect.ask.replies import asker

        place = folder / self.kept_in
        ask = asker(self._expecting(), place, provider=self.provider, retry=self.retry)
        return load_classifier(self.spec, masked, ask=ask)

    def ask(self, folder: Path, sentences: Iterable[str], tell: Say) -> dict[str, str]:
        """Ask what has no answer in `folder` yet, which the caller holds; equal sentences once.

        Returns
        -------
        By `prompt_id`, what the model says of each sentence: see `portrayal.annotate.agency.llm`.

        Raises
        ------
        StopError, RunError, OptionError
            Saying what to do; what was answered before is kept.
        """
        from portrayal.annotate.agency.llm import parse_llm, said, sentence_prompt
        from portrayal.collect.ask.replies import asker, kept

        form, place = parse_llm(self.spec)[1], folder / self.kept_in
        prompts = {p.prompt_id: p for p in (sentence_prompt(s, form) for s in sentences)}
        replies: Mapping[str, Reply] = kept(place, prompts)
        left = [i for i in prompts if i not in replies or replies[i].outcome == "failed"]
        if left:
            n = f"{len(prompts):,} different sentences"
            tell(f"classifier: {self.asking.model} is asked what is not answered yet of {n}")
            ask = asker(self._expecting(), place, provider=self.provider, retry=self.retry)
            replies = ask(prompts.values())
            if not replies:
                raise OptionError(
                    f"a budget of {self.asking.budget} does not cover a first answer of the "
                    "classifier, so nothing was asked. Raise it, or set its parameter max_tokens "
                    "to say how long an answer may be."
                )
        found = {i: said(replies.get(i)) for i in prompts}
        counts = Counter(found.values())
        listed = ", ".join(f"{n:,} {word}" for word, n in sorted(counts.items()))
        tell(f"classifier: {len(found):,} different sentences: {listed or 'none'}")
        return found

    def answered(
        self, run: "Run", wanted: Sequence[Annotation], tell: Say
    ) -> tuple[Annotation, ...]:
        """Ask about every sentence that these annotations read, in a run that the caller holds.

        Returns
        -------
        The annotations, with where the answers lie, a digest of them and what they came to (by
        `prompt_id` each counts once) among the settings.
        """
        from portrayal.annotate.agency.rows import AGENCY, run_sentences

        def sentences() -> Iterable[str]:
            for annotation in wanted:
                yield from run_sentences(run, masked=annotation.name == AGENCY.name)

        found = self.ask(run.path, sentences(), tell)
        more = {
            "answers": self.kept_in,
            "digest": fingerprint(said=found),
            "said": dict(sorted(Counter(found.values()).items())),
        }
        return tuple(
            dataclasses.replace(each, settings={**each.settings, **more}) for each in wanted
        )

    def _settled(self) -> Asking:
        """The asking at a temperature of 0, where none is given and the model takes one."""
        from portrayal.collect.ask import provider_of

        asking = self.asking
        if self.provider is not None or "temperature" in asking.parameters:
            return asking
        cold = dataclasses.replace(asking, parameters={"temperature": 0.0, **asking.parameters})
        try:
            provider_of(cold.model, base_url=cold.base_url, parameters=cold.parameters)
        except OptionError:  # reasoning models refuse it; any other reason is told without it too
            return asking
        return cold

    def _expecting(self) -> Asking:
        """The asking that confirms with the length of such answers."""
        from portrayal.collect.ask import expecting

        given = self._settled()
        confirm = expecting(
            given.confirm, given.model, given.parameters, given.price, _ANSWER_TOKENS
        )
        return dataclasses.replace(given, confirm=confirm)


def classifying_of(spec: str, settings: Mapping[str, Any] | None = None) -> Classifying | None:
    """Return how a classifier's model is asked; None for a classifier that asks none.

    Parameters
    ----------
    spec
        What `portrayal.annotate.agency.load_classifier` takes.
    settings
        Of the model: see `SETTINGS`. Where its `parameters` have no temperature it is 0, if the
        model takes one.

    Raises
    ------
    OptionError, UnknownNameError
        Where a setting or the model's name cannot be used.
    """
    chosen = dict(settings or {})
    for name in chosen:
        if name not in SETTINGS:
            raise OptionError(
                f"a classifier has no setting {name!r}; its settings: {', '.join(SETTINGS)}."
            )
    if not spec.startswith("llm:"):
        return None
    from portrayal import registry
    from portrayal.annotate.agency.llm import parse_llm
    from portrayal.collect.ask import Budget, Price, price_of

    model, _ = parse_llm(spec)
    provider, retry = chosen.pop("provider", None), chosen.pop("retry", None)
    confirming: Confirming | None = chosen.pop("confirming", None)
    if provider is None:
        registry.resolve("providers", model.partition(":")[0])
    price = None if chosen.get("price") is None else Price.parse(chosen["price"])
    if chosen.get("budget") is not None:
        Budget.parse(chosen["budget"]).check(price or price_of(model), model)
    if not model.startswith("server:"):
        chosen.pop("base_url", None)
    confirm = None if confirming is None else confirming(model)
    return Classifying(spec, Asking(model, confirm=confirm, **chosen), provider, retry)


def classifying_of_options(
    options: Any, settings: Mapping[str, Any] | None = None
) -> Classifying | None:
    """Return `classifying_of` an audit's options; None where they have no classifier."""
    return classifying_of(getattr(options, "classifier", ""), settings)
