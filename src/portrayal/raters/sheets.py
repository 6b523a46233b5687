"""What all sheets share: none is written over, and rows come once."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from portrayal.collect.tables import read_table
from portrayal.errors import DataError, OptionError
from portrayal.run.files import write_atomically
from portrayal.validate import check_different_files


def check_new(*paths: Path) -> None:
    """Raise OptionError where a file is there, as it may hold a rater's labels."""
    for path in paths:
        if path.exists():
            raise OptionError(f"{path} is there already and may hold labels; give another --out.")


def check_several(sheets: Sequence[str | Path], need: str) -> None:
    """Raise DataError with fewer than two sheets, and OptionError where one is given twice."""
    if len(sheets) < 2:
        raise DataError(f"{need} two sheets or more; got {len(sheets)}.")
    check_different_files(sheets)


def write_instructions(path: Path, package: str) -> Path:
    """Write how a sheet is filled in, from the `instructions.md` of a package."""
    # Beside the sheet, as raters get files and not the package
    words = files(package).joinpath("instructions.md").read_text(encoding="utf-8")
    write_atomically(path, words)
    return path


def unique_rows(
    path: str | Path, key: str, needed: Sequence[str], advice: str
) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a sheet with their number, the header being row 1.

    Raises
    ------
    DataError
        When a needed column is missing, or two rows have the same `key`.
    """
    first: dict[str, int] = {}
    for number, row in enumerate(read_table(path, [key, *needed], advice), 2):
        # Of two labels of one text nobody can say which the rater meant
        if first.setdefault(row[key], number) != number:
            raise DataError(
                f"{path}: row {number}: {row[key]!r} stands in row {first[row[key]]} already."
            )
        yield number, row
