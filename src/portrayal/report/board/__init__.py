"""Board: one page of all runs in a folder, whose models stand beside each other.

It reads no text and computes no estimate: each run keeps what it found (`kept_findings`).
"""

from portrayal.report.board.entries import Entry, read_entries
from portrayal.report.board.page import Board, write_board

__all__ = ["Board", "Entry", "read_entries", "write_board"]
