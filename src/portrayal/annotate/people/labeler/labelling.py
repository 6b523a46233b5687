"""Labelling as a stage of an audit: the extractor, a model, or both."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import portrayal.registry as registry
from portrayal.annotate.annotator import annotate_run
from portrayal.annotate.people.labeler.people import check_share
from portrayal.annotate.people.labeler.rows import labelling_of_run, labelling_sentence
from portrayal.annotate.people.labeler.stage import LABELERS, label_run
from portrayal.collect.ask.asking import Asking, asking_of, check_settings
from portrayal.errors import OptionError
from portrayal.run.directory import Run
from portrayal.types import Say
from portrayal.validate import check_choice, check_count


@dataclass(frozen=True, slots=True)
class Labelling:
    """A model that labels, alone or where the extractor is least sure.

    Attributes
    ----------
    asking
        Whom, how often, within which limits.
    share
        Fraction of the texts that goes to the model; None where all do.
    """

    asking: Asking
    share: float | None

    @property
    def annotator(self) -> str:
        """Name of the annotator whose stage holds the labels."""
        return LABELERS["llm" if self.share is None else "routed"]

    def ready(self, run: Run) -> "Labelling":
        """Make the provider now if there may be something to ask, so that a missing key is told
        before any text is read.
        """
        if run.annotations(self.annotator).note().get("complete"):
            return self
        asking = dataclasses.replace(self.asking, provider=self.asking.make_provider())
        return dataclasses.replace(self, asking=asking)

    def label(self, run: Run, embed: Callable[[], str], tell: Say, *, again: bool = False) -> str:
        """Label the run, which the caller holds, and return the annotator's name.

        `embed` runs the extractor and returns its name; it is called where texts are routed.
        `again` asks once more what failed in a labelling that is finished.
        """
        if run.texts.note().get("labelled"):
            raise OptionError(
                "the texts came with labels of the people in them, so no labeler is asked. Leave "
                "the labeler out, or import the texts without those columns."
            )
        if self.share is None:
            stage = label_run(run, self.asking, again=again)
        else:
            stage = label_run(run, self.asking, embedded=embed(), share=self.share, again=again)
        tell(f"labels: {labelling_sentence(stage.note()['labelling'])}")
        return self.annotator


def labelling_of(
    labeler: str,
    model: str | None,
    samples: int = 3,
    share: float = 0.2,
    settings: Mapping[str, Any] | None = None,
) -> Labelling | None:
    """Return the labelling that these options ask for; None where no language model is asked.

    Parameters
    ----------
    labeler
        "embedded", "reader", "llm" or "routed"; "routed" without a model is routed to the reader.
    model, samples
        The model, "SERVICE:MODEL", and how many of its answers about each text are put to a vote.
    share
        Fraction of the texts, the least sure ones, that "routed" sends to the model.
    settings
        Further fields of `Asking`, such as `base_url`, `budget` or `confirm`.

    Raises
    ------
    OptionError, UnknownNameError
        Where an option cannot be used, or says nothing without another one.
    """
    check_choice("labeler", labeler, tuple(LABELERS))
    check_count("labeler_samples", samples, minimum=1)
    check_share(share)
    check_settings(settings, "a labeler")
    if labeler in ("embedded", "reader") and model is not None:
        raise OptionError(
            f"the labeler {labeler!r} asks no model, but a model was given: {model!r}. "
            'Give the labeler "llm" or "routed", or leave the model out.'
        )
    if labeler in ("embedded", "reader") or (labeler == "routed" and model is None):
        return None
    if model is None:
        raise OptionError(
            f"the labeler {labeler!r} asks a model, and none was named: give SERVICE:MODEL, such "
            "as openai:gpt-5-mini (--labeler-model in an audit, else --model; labeler_model=)."
        )
    asking = asking_of(model, settings, "a labeler", samples)
    return Labelling(asking, share if labeler == "routed" else None)


def labelling_of_options(
    options: Any, settings: Mapping[str, Any] | None = None
) -> Labelling | None:
    """Return the labelling of an audit's options, as `labelling_of`; None where they have none."""
    if not hasattr(options, "labeler"):
        return None
    return labelling_of(
        options.labeler,
        options.labeler_model,
        options.labeler_samples,
        options.route_share,
        settings,
    )


def label_texts_of(run: Run, labelling: Labelling | None, tell: Say) -> dict[str, Any]:
    """Label the texts of a run, which the caller holds, and return what the stage notes.

    The texts are routed by the extractor `people`. What failed before is asked again.
    """
    if labelling is None:
        raise OptionError("the embedded labeler asks no model.")

    def embed() -> str:
        name = registry.resolve("annotators", LABELERS["embedded"])
        annotate_run(run, name)
        return name

    name = labelling.label(run, embed, tell, again=True)
    return {"annotator": name, **labelling_of_run(run, name)}
