"""What the heads of reports say in words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """A sentence with the numbers it rests on; `clear` where chance does not explain it."""

    headline: str
    evidence: str
    clear: bool
