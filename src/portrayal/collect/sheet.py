"""Read a spreadsheet in a process of its own: `python -P sheet.py FILE BYTES`.

A file of 10 KB may ask for 549 GB of cells, and the reader then ends its process. This one may have
so many bytes of memory and no more; where it ends, its caller goes on. Standard output has, in
JSON, the sheet's name and the number of sheets, then a list of rows on each line and an empty list
at the end, or a text that says what was wrong.
"""

import contextlib
import json
import sys
from datetime import timedelta
from typing import Any

_ROWS = 1_000
_LONG = 40  # characters of a cell that is a text


def main() -> None:
    """Write the sheet with most rows of long text, else the first with rows, or what is wrong."""
    path, most = sys.argv[1], int(sys.argv[2])
    with contextlib.suppress(ImportError, OSError, ValueError):  # some systems set no such bound
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    from python_calamine import CalamineWorkbook  # after the bound, which then holds for it

    rows: list[list[Any]] = []
    name, most_texts = "", (-1, False)
    try:
        book = CalamineWorkbook.from_path(path)
        for sheet in book.sheet_names:
            cells = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
            n_texts = sum(any(len(c) >= _LONG for c in row if isinstance(c, str)) for row in cells)
            if (n_texts, len(cells) > 1) > most_texts:
                name, most_texts, rows = sheet, (n_texts, len(cells) > 1), cells
    except BaseException as error:  # the reader panics with errors that are no Exception
        say(f"{error or type(error).__name__}")
        return
    say([name, len(book.sheet_names)])
    for first in range(0, len(rows), _ROWS):
        say(rows[first : first + _ROWS])
    say([])


def say(value: Any) -> None:
    """Write a line of JSON; dates and times as objects with the name of their type."""
    sys.stdout.write(json.dumps(value, default=_typed) + "\n")


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, timedelta):
        return {"timedelta": value.total_seconds()}
    return {type(value).__name__: value.isoformat()}


if __name__ == "__main__":
    main()
