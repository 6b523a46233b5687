"""Serve: the raters' page until it is stopped."""

import socket
from collections.abc import Callable, Collection

import uvicorn

from portrayal.coding.project import Project
from portrayal.coding.server.address import LOOPBACK, Address
from portrayal.coding.server.app import make_app
from portrayal.coding.server.desk import Desk
from portrayal.coding.store import Store
from portrayal.errors import OptionError

SHORTEST = 8
"""Characters of a password."""


def serve(
    project: Project,
    address: Address,
    *,
    password: str | None = None,
    adjudicators: Collection[str] = (),
    ready: Callable[[Address], None] | None = None,
) -> None:
    """Serve the page of a project until the process is interrupted.

    Parameters
    ----------
    project
        The project; its items are held in memory.
    address
        Where to listen.
    password
        What raters enter first; needed where other machines can reach the page.
    adjudicators
        Names that may adjudicate while others still code.
    ready
        Called with the address once the page can be opened.

    Raises
    ------
    OptionError
        When other machines could reach the page and there is no password, or a short one.
    """
    check_password(address.host, password)
    store = Store(project.codes_path)
    try:
        app = make_app(Desk(project, store, adjudicators), address, password)
        config = uvicorn.Config(
            app,
            host=address.host,
            port=address.port,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
            limit_concurrency=200,
            lifespan="off",
        )
        _run(uvicorn.Server(config), address, ready)
    finally:
        store.close()


def _run(server: uvicorn.Server, address: Address, ready: Callable[[Address], None] | None) -> None:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address.host, address.port))
        listening.listen(100)
        if ready is not None:
            ready(address)
        server.run(sockets=[listening])


def check_password(host: str, password: str | None) -> None:
    """Raise OptionError where other machines can reach the page without a good password."""
    if password is None and host not in LOOPBACK:
        raise OptionError(
            f"--host {host} lets other machines reach the page; add --password. "
            "Without --host it listens on this machine alone."
        )
    if password is not None and len(password) < SHORTEST:
        raise OptionError(f"a password has {SHORTEST} characters or more.")
