"""Serving a board on this machine alone; it is made anew when a run changes."""

import hashlib
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import unquote, urlsplit

from portrayal.report.board.page import write_board

_SHOWN = (".html", ".md")
"""Endings of what is served of a run: pages and documents, no data."""


def stamp_of(folder: Path) -> str:
    """Return a mark of the runs in a folder, another one when any of them changed."""
    names = ("audit.toml", "estimates.parquet", "report.html", "evidence.md")
    every = (
        path for depth in ("*/", "*/*/", "*/*/*/") for n in names for path in folder.glob(depth + n)
    )
    marks = [(str(path), path.stat().st_mtime_ns) for path in every]
    return hashlib.sha256(repr(sorted(marks)).encode("utf-8", "replace")).hexdigest()[:16]


def serve_board(
    folder: str | Path, site: str | Path, port: int = 0, ready: Callable[[str], None] = print
) -> None:
    """Serve the board of a folder on 127.0.0.1 until Ctrl-C.

    Parameters
    ----------
    folder, site
        Folder of runs, and where pages are written.
    port
        Port; a free one where it is 0.
    ready
        Called with the address.
    """
    root, place, lock, made = Path(folder).resolve(), Path(site).resolve(), Lock(), [""]

    def fresh() -> str:
        with lock:
            stamp = stamp_of(root)
            if stamp != made[0]:
                write_board(root, place, links="/runs", live=stamp)
                made[0] = stamp
            return stamp

    class Served(SimpleHTTPRequestHandler):
        """Pages of the site, and reports of the runs; other hosts' names are refused."""

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            name = (self.headers.get("Host") or "").rpartition(":")[0]
            if name not in ("127.0.0.1", "localhost"):
                self.send_error(421, "This is not the address of the page.")
            elif path == "/stamp":
                body = stamp_of(root).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            else:
                if path in ("/", "/index.html"):
                    fresh()
                super().do_GET()

        do_HEAD = do_GET  # noqa: N815

        def translate_path(self, path: str) -> str:
            inside, base = unquote(urlsplit(path).path), place
            if inside.startswith("/runs/"):
                inside, base = inside.removeprefix("/runs"), root
            wanted = (base / inside.lstrip("/")).resolve()
            allowed = wanted.is_relative_to(base) and (wanted.suffix in _SHOWN or wanted == place)
            return str(wanted) if allowed else str(place / "nothing-here")

        def log_message(self, *_: object) -> None:
            return

    fresh()
    with ThreadingHTTPServer(("127.0.0.1", port), Served) as server:
        ready(f"http://127.0.0.1:{server.server_address[1]}/")
        server.serve_forever()
