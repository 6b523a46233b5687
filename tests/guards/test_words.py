"""Words: nothing claims more than a measurement can, and nothing tells of the maker's machine."""

import re
from pathlib import Path

import pytest

from guards.tree import PACKAGE, ROOT, kept_files, text_of

CLAIMS = re.compile(r"\b(?:un|de)-?bias(?:ed|ing|es)?\b|\bbias-free\b|\bproves?\b|\bproven\b", re.I)
NAMED = re.compile(r"""["`']unbiased["`']|--form unbiased|\bUNBIASED\b|socially unbiased and""")
"""The name that Fang et al. gave to a form of their prompts, and words of Llama 2's system message
as LABE prints it; neither claims anything of a model."""
PRIVATE = {
    "a path of one machine": re.compile(r"(?<![\w.~-])/(?:work|root|home|Users)/\w"),
    "a package registry": re.compile(
        r"pypi\.org|pythonhosted\.org|registry\.npmjs|crates\.io|(?:extra-)?index-ur[l]"
    ),
    "how the work was done": re.compile(
        r"\b(?:sub-?agents?|(?:AI|coding|LLM) agents?|(?:this|my|our|earlier|previous|another)"
        r" (?:session|workplace(?! environments))|the (?:workplace|session's))\b",
        re.I,
    ),
}
FILES = kept_files()
SPOKEN = [
    path
    for path in FILES
    if path.is_relative_to(PACKAGE) or path.is_relative_to(ROOT / "docs") or path.suffix == ".md"
]


def _hits(pattern: re.Pattern[str], path: Path, but: re.Pattern[str] | None = None) -> list[str]:
    text = text_of(path) or ""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(but.sub("", line) if but else line)
    ]


def test_no_claim_about_a_model_that_a_measurement_cannot_carry() -> None:
    assert len(SPOKEN) > 50
    texts = [path for path in SPOKEN if path.suffix in (".py", ".md", ".toml", ".j2", ".html")]
    hits = [hit for path in texts for hit in _hits(CLAIMS, path, NAMED)]
    assert not hits, "\n".join(hits)


@pytest.mark.parametrize("what", PRIVATE)
def test_no_file_tells_of(what: str) -> None:
    hits = [hit for path in FILES for hit in _hits(PRIVATE[what], path)]
    assert not hits, "\n".join(hits)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("a path of one machine", "see /{}/me/notes.txt".format("home")),
        ("a package registry", "https://{}.org/simple".format("pypi")),
        ("how the work was done", "a sub{} wrote this".format("agent")),
    ],
)
def test_the_patterns_find(what: str, said: str) -> None:
    assert PRIVATE[what].search(said)


@pytest.mark.parametrize("said", ["an un{} model", "De{} outputs", "un-{}"])
def test_the_claims_are_found(said: str) -> None:
    assert CLAIMS.search(said.format("biased"))
