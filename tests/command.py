"""The command line, called in this process."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from unittest.mock import patch

from portrayal.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit status."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """Both streams."""
        return self.stdout + self.stderr


def invoke(*words: object) -> Outcome:
    """Run a command; its log stays out of other tests."""
    out, err = StringIO(), StringIO()
    status: object = 0
    with (
        patch.object(sys, "argv", ["portrayal", *map(str, words)]),
        patch("portrayal.cli._set_up_streams"),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            status = stop.code
    return Outcome(status if isinstance(status, int) else 0, out.getvalue(), err.getvalue())
