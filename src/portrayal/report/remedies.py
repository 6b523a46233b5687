"""Remedies: which option would answer what a run leaves open, with the command that gives it."""

import shlex
from collections.abc import Sequence

import portrayal.report.formats as fmt
from portrayal.records import FEW_PROMPTS, THESE
from portrayal.report.strength import Stated, unit_words
from portrayal.report.study import report_of
from portrayal.report.view import View


def remedies(view: View, local: Sequence[Stated]) -> tuple[str, ...]:
    """Return a line for each option that would tell more of the same texts.

    Parameters
    ----------
    view
        The run.
    local
        What holds in its very prompts, and not in prompts like them.
    """
    lines = []
    inferred = [e for e in view.estimates if e.fixed is not None]
    of_others = [e.n_clusters for e in view.estimates if e.value is not None]
    # Too few prompts to speak of others like them, but enough texts to speak of these.
    few = inferred and max(of_others, default=0) < FEW_PROMPTS
    if (local or few) and view.options.get("population") != THESE:
        question = (
            f"{fmt.plural(len(local), 'difference')} of" if local else "whether groups differ in"
        )
        units = unit_words((inferred or [local[0].first])[0], report_of(view).wording.clusters)
        lines.append(
            f"To state {question} these very {units}, which tells nothing of others: "
            f"{again(view, '--population', THESE)}"
        )
    # One line, though many estimates would gain by the same option.
    sharper = next((e.status.sharper for e in view.estimates if e.status.sharper), "")
    if sharper:
        option, _, gain = sharper.partition(": ")
        lines.append(f"Comparing texts that are alike gives {gain}: {again(view, *option.split())}")
    return tuple(lines)


def again(view: View, *options: str) -> str:
    """Return the command that makes the audit of a run anew with other options."""
    study = view.run.study_path if view.run.study_path.is_file() else view.settings["study"]
    folder, config = view.run.path, view.run.settings_path
    words = ["portrayal", "audit", study, "--out", folder, "--config", config, *options]
    return shlex.join(map(str, words))
