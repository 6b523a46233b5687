"""What was planted in a study's sample, beside what its audit found.

A sample may have a file `planted.toml` beside it: which differences its texts were given. A page of
that sample, and of no other texts, says which of them were found, and what else was.
"""

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import portrayal.report.formats as fmt
from portrayal.errors import PortrayalError
from portrayal.report.strength import Stated
from portrayal.report.view import View, domain_of
from portrayal.report.words import stem


@dataclass(frozen=True)
class Planted:
    """Planted differences, and the findings that state them.

    Attributes
    ----------
    who
        Who wrote the sample.
    rows
        Each planted difference in words, with the ranks of the findings that state it.
    others
        How many findings state nothing that was planted.
    """

    who: str
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    others: int

    @property
    def sentence(self) -> str:
        """How many were found, and what else was."""
        n_found = sum(bool(ranks) for _, ranks in self.rows)
        more = f"{fmt.plural(self.others, 'finding')} that nobody planted"
        return (
            f"{n_found} of {fmt.plural(len(self.rows), 'planted difference')} found, and "
            f"{more if self.others else 'nothing else'}."
        )


def planted(view: View, general: Sequence[Stated], local: Sequence[Stated]) -> Planted | None:
    """Return what was planted in the texts of a run, and found; None unless they are a sample."""
    try:
        texts = view.study.sample()["texts"] if view.study else None
    except PortrayalError:
        return None  # a study of one's own may have none
    file = None if texts is None else texts.with_name("planted.toml")
    if texts is None or file is None or not file.is_file():
        return None
    digest = hashlib.blake2b(texts.read_bytes(), digest_size=16).hexdigest()
    # The very sample: other texts of the study were given no differences.
    if view.note.get("source_digest") != digest:
        return None
    plan = tomllib.loads(file.read_text(encoding="utf-8"))

    def states(row: dict[str, Any], finding: Stated) -> bool:
        e = finding.first
        # By measure, place and attribute: which of its groups states the difference is open.
        place = stem(e.measure), domain_of(e), {*e.group}
        return place == (row["measure"], row["domain"], {row["attribute"]})

    findings = [*general, *local]
    ranks = [
        tuple(rank for rank, finding in enumerate(findings, start=1) if states(row, finding))
        for row in plan["planted"]
    ]
    n_others = len(findings) - len({rank for row_ranks in ranks for rank in row_ranks})
    words = (row["words"] for row in plan["planted"])
    return Planted(plan["who"], tuple(zip(words, ranks, strict=True)), n_others)
