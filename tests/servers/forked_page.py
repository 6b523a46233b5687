"""Start the raters' page many times, the imports paid once: `forked_page.py PROJECT`.

Each line on standard input starts the page in a process of its own, forked from this one; the
answer is one line, "PID ADDRESS".
"""

import os
import sys
from pathlib import Path

from portrayal.coding.project import open_project
from portrayal.coding.server import serve, take_address


def main() -> None:
    """Fork one page for each line."""
    folder = Path(sys.argv[1])
    while sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            os.close(0)
            serve(
                open_project(folder),
                take_address(folder),
                ready=lambda address: print(os.getpid(), address.url, flush=True),
            )
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
