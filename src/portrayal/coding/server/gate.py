"""Gate: who may speak to the page, decided before anything else is."""

import contextlib
import hashlib
import hmac
import ipaddress
import json
import logging
import os
import secrets
import socket
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

from portrayal.coding.project import matches
from portrayal.errors import OptionError
from portrayal.run.files import replacing

log = logging.getLogger("portrayal.raters")
FILE = "address.json"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """Host, port and token of a page; `url` is what raters open.

    `secret` is what the page signs with and no rater ever has; `tls` says whether it is encrypted.
    """

    host: str
    port: int
    token: str
    secret: str = field(default_factory=secrets.token_urlsafe, repr=False)
    tls: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the page."""
        return self.host in LOOPBACK

    @property
    def url(self) -> str:
        """The address with its token, for a browser."""
        # "Every address" is none that a browser could open
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    def answers_to(self, host: str) -> bool:
        """Whether a request's Host header is one of this page.

        A page of someone else whose name is made to point here (DNS rebinding) sends its own name,
        and is refused; a number is no name.
        """
        # An IPv6 address has colons too; without a port it ends with a bracket
        name, _, port = host.rpartition(":")
        if not name or host.endswith("]"):
            name, port = host, "80"
        # Short digits alone: int() would take "１２" and spend long on a thousand digits
        if not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) == self.port):
            return False
        name = name.strip("[]").lower()
        if self.is_loopback:
            return name in LOOPBACK
        try:
            # rebinding needs a name; a bare number cannot be rebound
            return bool(ipaddress.ip_address(name))
        except ValueError:
            return name in ("localhost", self.host, socket.gethostname().lower())


def take_address(
    folder: Path,
    host: str = "127.0.0.1",
    port: int | None = None,
    *,
    renew: bool = False,
    tls: bool = False,
) -> Address:
    """Return the address of a project's page: as it was the last time, where that is free.

    Parameters
    ----------
    folder
        The project's folder, where `address.json` is kept.
    host, port
        Where to listen; without a port the last one, else a free one.
    renew
        Whether to make a new token and secret, which ends the use of the old address and of all
        cookies.
    tls
        Whether the page is served encrypted.

    Raises
    ------
    OptionError
        When the port that was asked for is taken.
    """
    path = folder / FILE
    stored: dict[str, object] = {}
    if not renew and path.is_file():
        with contextlib.suppress(OSError, ValueError):  # what cannot be read is made anew
            read = json.loads(path.read_text("utf-8"))
            stored = read if isinstance(read, dict) else {}
    # The old token where there is one: raters have the address in their bookmarks
    token = stored.get("token") or secrets.token_urlsafe(24)
    secret = stored.get("secret") or secrets.token_urlsafe()
    last = stored.get("port")
    # A port that was asked for is not replaced by another: a tunnel or a proxy may expect it
    if port is not None and _bound(host, port) is None:
        raise OptionError(f"port {port} of {host} is taken or not allowed; give another --port.")
    if port is None:
        # The last one if it is free, as an open page sends its clicks there
        port = _bound(host, last) if isinstance(last, int) else None
        port = port or _bound(host)
    if port is None:
        raise OptionError(f"--host {host} is no address of this machine.")
    address = Address(host, port, str(token), str(secret), tls)
    with replacing(path) as temporary:
        # Readable by the owner alone from the first moment; chmod afterwards would come too late
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(
                {name: getattr(address, name) for name in ("port", "token", "secret")}, stream
            )
    return address


def _bound(host: str, port: int = 0) -> int | None:
    """The port that this machine lets us listen on, a free one for 0; None where it does not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # Without it the port of a server that just ended seems taken for a minute
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError):
            return None
        return int(probe.getsockname()[1])


TRIES, WINDOW = 10, 60.0
"""Wrong passwords, or codes of one rater, in so many seconds, after which these wait. Tokens have
192 bits that nobody guesses, so that wrong ones hold nobody up."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""


@dataclass
class Gate:
    """Compares tokens, passwords and cookies, each in constant time, and signs who a reader is."""

    address: Address
    password: str | None = None
    _wrong: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers share cookies between ports of a host."""
        return f"portrayal_{self.address.port}"

    def new_session(self) -> str:
        """Return a cookie for whoever had the token, and the password where there is one."""
        name = secrets.token_urlsafe(16)
        return f"{name}.{self._session(name)}"

    @property
    def form_key(self) -> str:
        """What every form and every click carries; another site cannot read it."""
        return self._digest("form")

    def knows(self, cookie: str | None) -> bool:
        """Whether a request brings the cookie."""
        name, _, signature = (cookie or "").partition(".")
        return _same(signature, self._session(name))

    def takes_token(self, token: str) -> bool:
        """Whether a token is the address's."""
        return _same(token, self.address.token)

    def takes_password(self, password: str) -> bool:
        """Whether a password is right; wrong ones are counted."""
        # All share one count: whoever guesses the password has no name yet
        return self._counted("", _same(password, self.password or ""))

    def takes_code(self, person: str, code: str, stored: str) -> bool:
        """Whether a rater's personal code is right; wrong ones are counted."""
        return self._counted(person, matches(code, stored))

    def takes_form(self, key: str) -> bool:
        """Whether a form or click came from a page of ours."""
        return _same(key, self.form_key)

    def sign(self, text: str, session: str) -> str:
        """Return text with a signature that nobody else can make and that one session alone has."""
        return f"{text}.{self._digest(f'signed {session} {text}')}"

    def signed(self, text: str, session: str) -> str | None:
        """Return what `sign` was given; None where this page did not sign it for the session."""
        value, _, signature = text.rpartition(".")
        return value if _same(signature, self._digest(f"signed {session} {value}")) else None

    def is_shut(self, person: str = "") -> bool:
        """Whether a person had too many wrong codes (or all, passwords) in the last minute."""
        with self._lock:
            wrong = self._wrong[person]
            # By the monotonic clock: setting the computer's time must not open or shut the door
            while wrong and wrong[0] < time.monotonic() - WINDOW:
                wrong.popleft()
            return len(wrong) >= TRIES

    def _counted(self, person: str, right: bool) -> bool:
        if not right:
            with self._lock:
                self._wrong[person].append(time.monotonic())
                n_wrong = len(self._wrong[person])
            if n_wrong == TRIES:  # once, as the next are not compared before these are old
                guessed = f"codes of {person!a}" if person else "passwords"
                log.warning("%d wrong %s in a minute: somebody may be guessing.", n_wrong, guessed)
        return right

    def _session(self, name: str) -> str:
        # Token and password are in it: renewing either ends all the sessions
        return self._digest(f"session {name} {self.address.token} {self.password or ''}")

    def _digest(self, value: str) -> str:
        # Keyed by the secret, not by the token, which raters have and could sign with
        key = self.address.secret.encode()
        return hmac.new(key, value.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def same_origin(headers: dict[str, str], host: str) -> bool:
    """Whether a request that changes something comes from a page of this host, as browsers say."""
    # Old browsers send neither header; then the form's key is what guards
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    # a proxy may have taken the encryption off, so both schemes
    return origin is None or origin in (f"http://{host}", f"https://{host}")


def _same(guess: str, right: str) -> bool:
    # As bytes: compare_digest refuses text with letters beyond ASCII
    return hmac.compare_digest(guess.encode("utf-8", "replace"), right.encode())
