"""What a gate writes: a table for terminals, JUnit XML, Markdown for a pull request, JSON."""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from textwrap import fill
from xml.etree import ElementTree as ET

from portrayal.gating.verdict import HEADS, RuleCheck, Verdict
from portrayal.records import finite
from portrayal.reference.labels import speaking_of
from portrayal.run.pages import number
from portrayal.shown import json_text, markdown, markdown_table, one_line, text_table

WIDTH = 80


def _speaking(written: Callable[[Verdict], str]) -> Callable[[Verdict], str]:
    """What `written` writes, with groups as the run's factors call them."""

    @wraps(written)
    def speak(verdict: Verdict) -> str:
        with speaking_of(verdict.factors):
            return written(verdict)

    return speak


@_speaking
def as_table(verdict: Verdict) -> str:
    """Return a table for a terminal, what failed first, and the verdict below it."""
    rows = [
        (
            *(check.status, f"{check.rule}: {check.label}", check.found_words),
            *(check.allowed_words, number(check.p_beyond_all)),
        )
        for check in verdict.sorted
    ]
    # A fixed width: the same bytes in a log, a pipe and a terminal.
    table = text_table(("", "estimate", "is", "allowed", "p"), rows, WIDTH)
    lines = (one_line(line) for line in (*_notes(verdict), verdict.summary))
    return table + "".join(f"{fill(line, WIDTH, break_on_hyphens=False)}\n" for line in lines)


@_speaking
def as_markdown(verdict: Verdict) -> str:
    """Return Markdown for a pull request: the verdict, then a table of what was judged."""
    title = f"## Portrayal gate: {verdict.outcome}"
    notes = "\n".join(f"- {markdown(line)}" for line in _notes(verdict))
    parts = [title, markdown(verdict.summary), markdown_table(HEADS, verdict.cells), notes]
    return "\n\n".join(part for part in parts if part) + "\n"


@_speaking
def as_junit(verdict: Verdict) -> str:
    """Return JUnit XML: a test case for each estimate, and one for whether texts could be read.

    What is inconclusive is an error, a failure or a skipped case, as the policy says.
    """
    root = ET.Element("testsuites", name="portrayal gate")
    suite = ET.SubElement(root, "testsuite", name=_plain(f"portrayal gate {verdict.run}"))
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="population", value=verdict.population)
    readable = ET.SubElement(suite, "testcase", classname="unreadable", name="texts are readable")
    counts = {"failure": 0, "error": 0, "skipped": 0}
    if verdict.limits:
        message = _plain("; ".join(map(str, verdict.limits)))
        ET.SubElement(readable, "error", type="unreadable", message=message)
        counts["error"] += 1
    # CI systems let skipped cases pass and stop at failures and errors.
    open_as = {"fail": "failure", "pass": "skipped"}.get(
        verdict.outcome if verdict.decided == "inconclusive" else "", "error"
    )
    tags = {"fail": "failure", "inconclusive": open_as, "skipped": "skipped"}
    for check in verdict.checks:
        case = ET.SubElement(
            suite, "testcase", classname=_plain(check.rule), name=_plain(check.label)
        )
        if check.status in tags:
            message = f"{check.found_words}, allowed {check.allowed_words}"
            message = message if check.status == "fail" else f"{message}; {_why(check)}"
            node = ET.SubElement(case, tags[check.status], message=_plain(message))
            if tags[check.status] != "skipped":
                node.set("type", check.status)
            counts[tags[check.status]] += 1
    # One more than the checks: whether texts are readable is a case of its own.
    suite.set("tests", str(len(verdict.checks) + 1))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(counts[tag]))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def as_json(verdict: Verdict) -> str:
    """Return one JSON object."""
    return json_text(finite(verdict.facts))


FORMATS: Mapping[str, Callable[[Verdict], str]] = {
    "table": as_table,
    "junit": as_junit,
    "markdown": as_markdown,
    "json": as_json,
}


def _notes(verdict: Verdict) -> list[str]:
    """What makes runs unreadable, and why and what would do where a check is open."""
    notes = [f"{limit}." for limit in verdict.limits]
    for check in verdict.sorted:
        if check.status == "inconclusive" and (check.reason or check.needed):
            notes.append(f"{check.rule}, {check.label}: {_why(check)}.")
    return notes


def _why(check: RuleCheck) -> str:
    parts = [check.reason] if check.reason else []
    if check.needed is not None:
        parts.append(
            f"about {check.needed.texts:,} texts ({check.needed.prompts:,} prompts) of each run "
            f"would do, assuming {check.needed.assuming}; now {check.n_texts:,} "
            f"({check.n_prompts:,})"
        )
    return "; ".join(parts) or "neither shown within what is allowed nor beyond it"


def _plain(text: str) -> str:
    """Return text on one line, without characters that XML cannot hold."""
    return re.sub(r"[\ufffe\uffff]", "\ufffd", one_line(text))
