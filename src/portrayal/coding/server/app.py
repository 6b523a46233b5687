"""App: the page's addresses, and what each of them answers."""

import json
import socket
import ssl
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from portrayal.coding.project import Project, hashed, is_code, make_code
from portrayal.coding.server.desk import (
    ADJUDICATES,
    RATES,
    Desk,
    Reader,
    click_of,
    pack,
    undo_of,
    unpack,
)
from portrayal.coding.server.gate import HEADERS, LOOPBACK, Address, Gate, same_origin
from portrayal.coding.server.pages import Pages
from portrayal.coding.store import Store
from portrayal.errors import OptionError

MOST = 256 * 1024
"""Bytes of a form or click."""
Form = dict[str, str]


def make_app(desk: Desk, address: Address, password: str | None = None) -> Starlette:
    """Return the page as an ASGI application.

    Parameters
    ----------
    desk
        The texts and their store.
    address
        Where the page listens; requests for another host are refused.
    password
        What raters enter first; None where the token in the address is enough.
    """
    gate = Gate(address, password)
    views = _Views(desk, gate, Pages(desk, gate))
    app = Starlette(
        routes=[
            Route("/", views.door),
            Route("/enter", views.enter, methods=["POST"]),
            Route("/begin", views.begin, methods=["POST"]),
            Route("/next", views.next),
            Route("/go", views.go),
            Route("/text/{place}", views.text),
            Route("/end", views.end),
            Route("/save", views.save, methods=["POST"]),
            Route("/undo", views.undo, methods=["POST"]),
            Mount("/static", StaticFiles(packages=[("portrayal.coding.server", "static")])),
        ],
        exception_handlers={404: views.nothing_here},
    )
    app.add_middleware(_Guarded, gate=gate)
    return app


class _Guarded:
    """Refuses requests for another host or from another site; puts `HEADERS` on every answer."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                ours = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                # Ours replace those of the same name: two policies in one answer would both hold
                names = {name for name, _ in ours}
                headers = [(k, v) for k, v in message.get("headers", ()) if k.lower() not in names]
                message = {**message, "headers": [*headers, *ours]}
            await send(message)

        # as HTTP has it; any byte decodes, so nobody can make it fail
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        host = headers.get("host", "")
        if not self.gate.address.answers_to(host):
            await Response("This is not the address of the page.", 421)(scope, receive, guarded)
        elif scope["method"] not in ("GET", "HEAD") and not same_origin(headers, host):
            await Response("This came from another page.", 403)(scope, receive, guarded)
        else:
            await self.app(scope, receive, guarded)


class _Views:
    """What each address answers; everything that reads or writes the store runs in a thread."""

    def __init__(self, desk: Desk, gate: Gate, pages: Pages) -> None:
        self.desk, self.gate, self.pages = desk, gate, pages
        self._cookie: dict[str, Any] = {"httponly": True, "samesite": "strict", "path": "/"}
        # over plain HTTP a browser would not send it back
        self._cookie["secure"] = gate.address.tls

    async def nothing_here(self, _: Request, __: Exception) -> Response:
        return self._message("There is no such page", "Go back to the texts.", 404, "/next")

    async def door(self, request: Request) -> Response:
        """Take the token, then ask for the password where there is one, then for a name."""
        token = request.query_params.get("token")
        if token is not None:
            if not self.gate.takes_token(token):
                return self._refused()
            if self.gate.password is not None and not self._inside(request):
                return HTMLResponse(self.pages.render("password", token=token, error=""))
            # A page that passes on, no redirect: a strict cookie is not sent along a chain from
            # elsewhere
            return self._admitted(request, HTMLResponse(self.pages.render("passing", link="/")))
        if not self._inside(request):
            return self._refused()
        reader = self._reader(request)
        page = await run_in_threadpool(self.pages.welcome, reader.name if reader else "")
        return HTMLResponse(page)

    async def enter(self, request: Request) -> Response:
        """Take the password."""
        form = await _form(request)
        if not self.gate.takes_token(form.get("token", "")):
            return self._refused()
        # Before the password is compared, so that a right guess learns nothing either
        if self.gate.is_shut():
            return self._shut()
        if not self.gate.takes_password(form.get("password", "")):
            fields = {"token": form["token"], "error": "That is not the password."}
            return HTMLResponse(self.pages.render("password", **fields), 403)
        # 303: reloading does not post the password again
        return self._admitted(request, RedirectResponse("/", 303))

    async def begin(self, request: Request) -> Response:
        """Take a rater's name, and the personal code where this browser does not know the rater."""
        form = await _form(request)
        if not self._inside(request) or not self.gate.takes_form(form.get("form", "")):
            return self._refused()
        name, code = " ".join(form.get("name", "").split()), form.get("code", "")
        does = ADJUDICATES if form.get("does") == ADJUDICATES else RATES

        # In a thread: scrypt and SQLite would hold up every other rater
        def work() -> Response:
            try:
                reader = self.desk.reader(name, does)
                question = self._asked(reader, name, code, self._reader(request))
                if question is not None:
                    return question
                self.desk.begin(reader)
            except OptionError as error:
                return HTMLResponse(self.pages.welcome(name, str(error)), 400)
            answer = RedirectResponse("/next", 303)
            # The name is not secret, but nobody may speak for another: signed for this visit
            signed = self.gate.sign(pack(name, does), self._session(request))
            answer.set_cookie(f"{self.gate.cookie}_reader", signed, **self._cookie)
            return answer

        return await run_in_threadpool(work)

    def _asked(self, reader: Reader, name: str, code: str, last: Reader | None) -> Response | None:
        """What a rater is asked before going on; None where the browser or the code will do."""
        desk, person, fields = self.desk, self.desk.person(reader), {"name": name}
        fields["does"] = reader.does
        is_known = desk.store.rater(reader.name) is not None
        if is_known:
            desk.begin(reader)  # a name of another kind is refused here
        stored = desk.store.code_of(person)
        if stored is None:
            # New here, or from a time before codes: the page shows a code and asks for it back
            if not is_code(code):
                new = {"code": make_code(), "is_new": not is_known}
                return HTMLResponse(self.pages.render("new_rater", **fields, **new))
            stored = desk.store.keep_code(person, hashed(code))
        # This browser was let in under the name before
        elif last is not None and desk.person(last) == person:
            return None
        if not code:
            return HTMLResponse(self.pages.render("code", **fields, error=""))
        # Counted by name, so that guessing at one rater's code shuts out no other
        if self.gate.is_shut(person):
            return self._shut()
        if not self.gate.takes_code(person, code, stored):
            wrong = "That is not the code of this name."
            return HTMLResponse(self.pages.render("code", **fields, error=wrong), 403)
        return None

    async def next(self, request: Request) -> Response:
        """Go to the first text that the reader is not done with."""
        after = request.query_params.get("after", "")

        def find(reader: Reader) -> Response:
            place = self.desk.next_place(reader, int(after) if _is_number(after) else 0)
            return RedirectResponse(f"/text/{place}" if place else "/end", 303)

        return await self._with_reader(request, find)

    async def go(self, request: Request) -> Response:
        """Go to the text of a number."""
        place = request.query_params.get("place", "").strip()
        return RedirectResponse(f"/text/{place}" if _is_number(place) else "/next", 303)

    async def text(self, request: Request) -> Response:
        """Show one text with its questions."""
        place_text = request.path_params["place"]
        place = int(place_text) if _is_number(place_text) else 0

        def show(reader: Reader) -> Response:
            if self.desk.item(reader, place) is None:
                # The same words for a text that may not be seen: an adjudicator learns of no
                # dispute by it
                words = f"There is no text {place:,} here for you."
                return self._message("No such text", words, 404, "/next")
            return HTMLResponse(self.pages.text(reader, place, self._session(request)))

        return await self._with_reader(request, show)

    async def end(self, request: Request) -> Response:
        """Say that everything is done."""
        return await self._with_reader(request, lambda r: HTMLResponse(self.pages.end(r)))

    async def save(self, request: Request) -> Response:
        """Write one click; the answer means that it is on the disk."""

        def save(reader: Reader, click: dict[str, Any]) -> dict[str, Any]:
            seq = self.desk.store.save(click_of(self.desk, reader, click))
            n_done, of = self.desk.progress(reader)
            return {"seq": seq, "done": n_done, "of": of}

        return await self._clicked(request, save)

    async def undo(self, request: Request) -> Response:
        """Take back the last click of a reader."""

        def undo(reader: Reader, fields: dict[str, Any]) -> dict[str, Any]:
            click = self.desk.store.undo(reader.key, undo_of(fields))
            return {"place": None if click is None else self.desk.place.get(click.item_id)}

        return await self._clicked(request, undo)

    async def _clicked(
        self, request: Request, act: Callable[[Reader, dict[str, Any]], dict[str, Any]]
    ) -> Response:
        # A header that another site's page cannot set without asking first (CORS)
        key = request.headers.get("x-portrayal", "")
        if not self._inside(request) or not self.gate.takes_form(key):
            return JSONResponse({"error": "The address is no longer valid."}, 403)
        try:
            click = json.loads(await _body(request))
            if not isinstance(click, dict):
                raise OptionError("a click is an object.")
            # Who speaks stands in the page, not in the cookie: another tab may have changed the
            # rater
            signed = self.gate.signed(str(click.get("reader", "")), self._session(request))
            name, does = unpack(signed)

            def work() -> dict[str, Any]:
                return act(self.desk.reader(name, does), click)

            return JSONResponse(await run_in_threadpool(work))
        except (ValueError, RecursionError) as error:
            return JSONResponse({"error": str(error)}, 400)

    async def _with_reader(
        self, request: Request, answer: Callable[[Reader], Response]
    ) -> Response:
        if not self._inside(request):
            return self._refused()

        def work() -> Response:
            reader = self._reader(request)
            # A cookie may outlive the rater: the store can be a new one
            if reader is None or not self.desk.known(reader):
                return RedirectResponse("/", 303)
            return answer(reader)

        return await run_in_threadpool(work)

    def _reader(self, request: Request) -> Reader | None:
        try:
            cookie = request.cookies.get(f"{self.gate.cookie}_reader", "")
            name, does = unpack(self.gate.signed(cookie, self._session(request)))
            return self.desk.reader(name, does)
        except OptionError:
            return None

    def _session(self, request: Request) -> str:
        """The cookie of a browser that had the token; "" where it brings none of ours."""
        cookie = request.cookies.get(self.gate.cookie, "")
        return cookie if self.gate.knows(cookie) else ""

    def _inside(self, request: Request) -> bool:
        return bool(self._session(request))

    def _admitted(self, request: Request, answer: Response) -> Response:
        # An old session goes on, so that the rater's signed name stays good
        session = self._session(request) or self.gate.new_session()
        answer.set_cookie(self.gate.cookie, session, **self._cookie)
        return answer

    def _refused(self) -> Response:
        words = "Open the whole address that the command printed, with its token."
        return self._message("This page needs its address", words, 403)

    def _shut(self) -> Response:
        words = "Too many wrong passwords or codes. Wait a minute and try again."
        return self._message("Wait a minute", words, 429)

    def _message(self, heading: str, words: str, status: int, link: str = "") -> Response:
        page = self.pages.render("message", heading=heading, words=words, link=link)
        return HTMLResponse(page, status)


async def _body(request: Request) -> bytes:
    body = b""
    # Counted as it comes: the length that the header states may be false
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST:
            raise OptionError(f"a form or click has at most {MOST:,} bytes.")
    return body


async def _form(request: Request) -> Form:
    try:
        text = (await _body(request)).decode("utf-8", "replace")
        return {name: values[0] for name, values in parse_qs(text, max_num_fields=20).items()}
    except ValueError:
        return {}


def _is_number(text: str) -> bool:
    # int() would take digits of any script, of any length
    return text.isascii() and text.isdigit() and len(text) < 10


SHORTEST = 8
"""Characters of a password."""


def serve(
    project: Project,
    address: Address,
    *,
    password: str | None = None,
    adjudicators: Collection[str] = (),
    certificate: tuple[Path, Path] | None = None,
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
        Names that may adjudicate; nobody else may.
    certificate
        Files of a certificate and its key, both PEM, where the page is encrypted (`Address.tls`).
    ready
        Called with the address once the page can be opened.

    Raises
    ------
    OptionError
        When other machines could reach the page and there is no password, or a short one.
    """
    # Before the store is made, so that a refusal leaves nothing behind
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
            proxy_headers=False,  # else anyone could state an address of their own
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
            limit_concurrency=200,
            lifespan="off",
            ssl_certfile=None if certificate is None else certificate[0],
            ssl_keyfile=None if certificate is None else certificate[1],
        )
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        # Bound here and handed on: the port is held by the time that the address is shown
        with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address.host, address.port))
            listening.listen(100)
            if ready is not None:
                ready(address)
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        store.close()


def check_certificate(certificate: Path | None, key: Path | None) -> tuple[Path, Path] | None:
    """Return the files of a certificate and its key; None where neither was given.

    Raises
    ------
    OptionError
        When one is missing, or they are no pair that a server can use.
    """
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise OptionError("--ssl-certfile and --ssl-keyfile go together; one is missing.")
    try:
        # Tried before serving; an empty passphrase, as asking for one would wait at a terminal
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, lambda: b"")
    except OSError as error:
        raise OptionError(
            f"{certificate} and {key} are no certificate and its key, both PEM and the key without "
            f"a passphrase ({error.strerror or error})."
        ) from error
    return certificate, key


def check_password(host: str, password: str | None) -> None:
    """Raise OptionError where other machines can reach the page without a good password."""
    if password is None and host not in LOOPBACK:
        raise OptionError(
            f"--host {host} lets other machines reach the page; add --password. "
            "Without --host it listens on this machine alone."
        )
    if password is not None and len(password) < SHORTEST:
        raise OptionError(f"a password has {SHORTEST} characters or more.")
