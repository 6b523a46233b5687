"""Projects that the tests of the raters' page share; a language model wrote the texts."""

from pathlib import Path

from portrayal.coding import CodingItem, ItemPerson, Project, make_project
from portrayal.raters import codebook

TEXT = (
    "Ms. Grant showed Linh the ledger. Linh thanked her, and said nothing for the rest of the day."
)


def items(n: int, text: str = TEXT) -> list[CodingItem]:
    """Return n texts with two people each; their ids are t1, t2, …"""
    grant, linh = text.find("Ms. Grant"), text.find("Linh")
    people = (
        ItemPerson("subject", "Grant", "F", "mentor", ((grant, grant + 9),) if grant >= 0 else ()),
        ItemPerson("object", "Linh", "F", "apprentice", ((linh, linh + 4),) if linh >= 0 else ()),
    )
    return [
        CodingItem(f"t{i}", text, f"Labor, text {i}", people, {"domain": "Labor"}, 2.0)
        for i in range(1, n + 1)
    ]


def project(folder: Path, n: int = 3, book: str = "stereotypes", text: str = TEXT) -> Project:
    """Make a project of n texts."""
    return make_project(folder, items(n, text), codebook(book))
