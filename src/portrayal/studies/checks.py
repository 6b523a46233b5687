"""What a reproduction gives: checks of printed figures, and the figures that did not come out.

A *check* takes printed figures and recomputes each from other printed figures with the paper's
method. What does not come out is kept, with our value beside the printed one.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A printed figure.

    `printed` and `ours` are the two figures as text, `explanation` what the tables say about a
    difference; it is empty where there is none.
    """

    table: str
    domain: str
    model: str
    group: str
    printed: str
    ours: str
    explanation: str


@dataclass(frozen=True)
class Check:
    """One statistic of one set of tables: `checked` figures, of which `rows` did not come out.

    `figures` lists what was checked, for checks that go through the published figures themselves.
    """

    table: str
    statistic: str
    checked: int
    rows: tuple[Row, ...]
    figures: tuple[Row, ...] = ()

    @property
    def reproduced(self) -> int:
        """Number of printed figures that came out."""
        return self.checked - len(self.rows)
