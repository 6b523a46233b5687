"""Labels of a small codebook by several raters, as several tests use them."""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from portrayal.raters.labels import Label, Labels
from portrayal.raters.sheets import Codebook, CodebookQuestion, SheetItem

CODES = ("savior", "foreigner", "savage")


def book() -> Codebook:
    questions = (
        CodebookQuestion(key, key.title(), f"What {key} means.", "Nobody (2020)") for key in CODES
    )
    return Codebook("small", "Small", "Read each story.", tuple(questions))


def story(i: int) -> str:
    """Return story i: Maria whom John helps, or Priya whom Sarah helps."""
    first, second = (("John", "Maria"), ("Sarah", "Priya"))[i % 2]
    return f"{first} met {second}, who had just moved here. Tale {i} ended well."


def items(n: int) -> list[SheetItem]:
    return [SheetItem(f"t{i}", story(i), prompt=f"Story {i}", prompt_id=f"p{i}") for i in range(n)]


@dataclass
class Sample:
    """Texts t0, t1, … and what raters said of them so far."""

    n: int
    prompts: Mapping[str, str] = field(default_factory=dict)
    rows: list[Label] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [f"t{i}" for i in range(self.n)]

    @property
    def labels(self) -> Labels:
        return Labels(tuple(self.rows))

    def code(
        self,
        rater: str,
        given: Mapping[str, Collection[str]],
        *,
        kind: str = "human",
        texts: Collection[str] | None = None,
        at: str = "",
    ) -> None:
        """Add a rater's codes of `texts`; `given` maps a text to the codes that it shows."""
        self.rows += [
            Label(name, "", key, str(int(key in given.get(name, ()))), rater,
                  self.prompts.get(name, ""), at=at, kind=kind)
            for name in (self.names if texts is None else texts)
            for key in CODES
        ]  # fmt: skip

    def random(self, seed: int, share: float = 0.4) -> dict[str, set[str]]:
        draw = random.Random(seed)
        return {name: {key for key in CODES if draw.random() < share} for name in self.names}
