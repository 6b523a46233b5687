"""Gate: who may speak to the page, decided before anything else is."""

import hashlib
import hmac
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from portrayal.coding.personal import matches
from portrayal.coding.server.address import Address

TRIES, WINDOW = 10, 60.0
"""Wrong tokens, passwords or codes in so many seconds, after which the page waits."""

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
    """Compares tokens, passwords and cookies, each in constant time."""

    address: Address
    password: str | None = None
    _wrong: deque[float] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers share cookies between ports of a host."""
        return f"portrayal_{self.address.port}"

    @property
    def session(self) -> str:
        """Value of the cookie of whoever had the token, and the password where there is one."""
        return self._digest(f"session {self.password or ''}")

    @property
    def form_key(self) -> str:
        """What every form and every click carries; another site cannot read it."""
        return self._digest("form")

    def knows(self, cookie: str | None) -> bool:
        """Whether a request brings the cookie."""
        return _same(cookie or "", self.session)

    def takes_token(self, token: str) -> bool:
        """Whether a token is the address's; wrong ones are counted."""
        return self._counted(_same(token, self.address.token))

    def takes_password(self, password: str) -> bool:
        """Whether a password is right; wrong ones are counted."""
        return self._counted(_same(password, self.password or ""))

    def takes_code(self, code: str, kept: str) -> bool:
        """Whether a rater's personal code is right; wrong ones are counted."""
        return self._counted(matches(code, kept))

    def takes_form(self, key: str) -> bool:
        """Whether a form or click came from a page of ours."""
        return _same(key, self.form_key)

    @property
    def is_shut(self) -> bool:
        """Whether there were too many wrong ones in the last minute."""
        with self._lock:
            while self._wrong and self._wrong[0] < time.monotonic() - WINDOW:
                self._wrong.popleft()
            return len(self._wrong) >= TRIES

    def _counted(self, right: bool) -> bool:
        if not right:
            with self._lock:
                self._wrong.append(time.monotonic())
        return right

    def _digest(self, what: str) -> str:
        return hmac.new(self.address.token.encode(), what.encode(), hashlib.sha256).hexdigest()


def same_origin(headers: dict[str, str], host: str) -> bool:
    """Whether a request that changes something comes from a page of this host, as browsers say."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin in (f"http://{host}", f"https://{host}")


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())
