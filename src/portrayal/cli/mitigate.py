"""The command `mitigate agency`, and what it prints."""

from pathlib import Path
from typing import Annotated, Any

import portrayal.cli.asking as ask
import portrayal.cli.options as opt
import portrayal.cli.printing as show
from portrayal.config import AuditOptions, llm_settings, options_of

REWRITING = opt.record([*ask.asking_options("model"), options_of(AuditOptions)["llm_settings"]])


def agency(
    run: opt.RunOr = None,
    /,
    *,
    texts: opt.Texts = None,
    out: Path = Path("mitigated"),
    classifier: str = "linear",
    masked: opt.Masked = True,
    column: opt.Columns = None,
    model_options: Annotated[Any, opt.ONE_BY_ONE] = REWRITING,
    format: opt.Format = "table",
) -> None:
    """Rewrite communal sentences; the same call continues.

    Example: portrayal mitigate agency runs/agency --model openai:gpt-5-mini

    Parameters
    ----------
    out
        Directory of the texts.
    classifier
        Classifier of sentences.
    """
    from portrayal.mitigate import mitigate_agency

    json = format == "json"
    source = opt.either(run, texts)  # the text's own columns come along from either
    with ask.asking(model_options, format) as settings:
        classifier_options = settings.pop("llm_settings", {})
        asking = ask.asking_of(settings)
        llm_specs = [classifier] if classifier.startswith("llm:") else []
        mitigated = mitigate_agency(
            source,
            asking,
            out,
            columns=column or (),
            classifier=classifier,
            masked=masked,
            llm_settings=llm_settings(llm_specs, classifier_options, settings),
            say=show.nothing if json else show.line,
        )
    facts = mitigated.facts
    edits = facts["edits"]
    texts_by_outcome, reasons = (
        ", ".join(f"{n:,} {name}" for name, n in counts.items()) or "none"
        for counts in (facts["texts"], edits["refused_by_reason"])
    )
    parts = [
        f"texts: {texts_by_outcome}",
        f"edits: {edits['applied']:,} applied, {edits['refused']:,} refused ({reasons})",
        f"communal sentences: {facts['communal_sentences']:,}",
        f"next: portrayal audit agency --texts {mitigated.out / 'texts.jsonl'}",
    ]
    show.give(format, {"out": mitigated.out, **facts}, parts)
