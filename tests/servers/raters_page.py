"""The raters' page for tests and benchmarks: the real command in a process, and a client."""

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

FORKED = Path(__file__).with_name("forked_page.py")
FORM = re.compile(r'name="form" value="([0-9a-f]+)"')
CODE = re.compile(r'name="code" value="([\w-]+)"')
DESK = re.compile(r'data-form="([0-9a-f]+)" data-reader="([\w.-]+)"')


class Page:
    """`portrayal label serve` in a process of its own."""

    def __init__(self, project: Path, *options: str, env: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "portrayal", "label", "serve", str(project), *options]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"} | (env or {}),
        )
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith(("http://", "https://")):
                break
        else:
            raise AssertionError("".join(said))
        self.url = said[-1].strip()
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.token = self.url.partition("token=")[2]

    def kill(self) -> None:
        """End it as a power cut would, as far as the process goes."""
        self.process.send_signal(signal.SIGKILL)
        self._gone()

    def stop(self) -> int:
        """End it as Ctrl-C does; return its status."""
        self.process.send_signal(signal.SIGINT)
        self._gone()
        return self.process.returncode

    def _gone(self) -> None:
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Client:
    """One browser's cookies and connection."""

    codes: ClassVar[dict[tuple[str, str], str]] = {}
    """What raters were shown, by token and name: every browser of theirs can enter it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        self.form = self.reader = ""
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def close(self) -> None:
        self._connection.close()

    def ask(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, str], str]:
        """Send one request; return status, headers and body."""
        jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given = {"Cookie": jar, **(headers or {})} if jar else dict(headers or {})
        try:
            answer = self._answer(method, path, body, given)
        except (BrokenPipeError, http.client.RemoteDisconnected):
            answer = self._answer(method, path, body, given)  # an idle connection was closed
        text = answer.read().decode("utf-8")
        for value in answer.headers.get_all("set-cookie", []):
            name, _, rest = value.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        return answer.status, {k.lower(): v for k, v in answer.headers.items()}, text

    def _answer(
        self, method: str, path: str, body: str | bytes | None, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        try:
            self._connection.request(method, path, body, headers)
            return self._connection.getresponse()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def post(self, path: str, **fields: str) -> tuple[int, dict[str, str], str]:
        """Send a form as a browser does."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, urlencode(fields), kind)

    def enter(self, token: str) -> None:
        """Open the address with its token."""
        status, _, text = self.ask("GET", f"/?token={token}")
        assert status == 200, text
        status, _, text = self.ask("GET", "/")
        assert status == 200, text
        found = FORM.search(text)
        assert found, text
        self.form = found[1]

    def begin(self, token: str, name: str, does: str = "rate") -> "Client":
        """Enter as a rater."""
        self.enter(token)
        given = {"form": self.form, "name": name, "does": does}
        status, headers, text = self.post("/begin", **given)
        if status == 200:
            shown = CODE.search(text)
            key = (token, name.casefold())
            if shown:
                self.codes[key] = shown[1]
            status, headers, text = self.post("/begin", code=self.codes[key], **given)
        assert status == 303, text
        status, headers, _ = self.ask("GET", headers["location"])
        status, _, text = self.ask("GET", headers["location"])
        found = DESK.search(text)
        if found:
            self.form, self.reader = found[1], found[2]
        return self

    def click(
        self,
        place: int,
        about: str,
        key: str = "",
        value: str | None = "1",
        *,
        click_id: str | None = None,
        path: str = "/save",
    ) -> tuple[int, Any]:
        """Send one click."""
        given = {
            "click_id": click_id or secrets.token_hex(16),
            "place": place,
            "about": about,
            "key": key,
            "value": value,
            "reader": self.reader,
        }
        headers = {"Content-Type": "application/json", "X-Portrayal": self.form}
        status, _, text = self.ask("POST", path, json.dumps(given), headers)
        return status, json.loads(text)


def killed_while_coding(
    project: Path, kills: int, n_items: int, codes: Iterable[str], seed: int = 0
) -> tuple[int, int]:
    """Code while the server is killed at random moments; return how many clicks were acknowledged.

    Returns
    -------
    acknowledged, lost
        Clicks whose acknowledgement arrived, and those of them that the store does not hold.
    """
    import random
    import sqlite3
    import threading

    draw, keys = random.Random(seed), list(codes)
    acknowledged: dict[tuple[int, str], str] = {}
    n = 0
    with subprocess.Popen(
        [sys.executable, str(FORKED), str(project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        for _ in range(kills):
            launcher.stdin.write("start\n")
            launcher.stdin.flush()
            pid, url = launcher.stdout.readline().split()
            client = Client(int(url.split(":")[2].split("/")[0]))
            client.begin(url.partition("token=")[2], "Ann")
            timer = threading.Timer(draw.uniform(0.0, 0.25), os.kill, (int(pid), signal.SIGKILL))
            timer.start()
            place, key, value = 1, keys[0], "1"
            try:
                while True:
                    place, key = draw.randint(1, n_items), draw.choice(keys)
                    value = draw.choice("01")
                    status, _ = client.click(place, "code", key, value)
                    assert status == 200
                    acknowledged[place, key] = value
                    n += 1
            except (OSError, http.client.HTTPException):
                # this one may or may not be there: it was never acknowledged
                acknowledged.pop((place, key), None)
            timer.join()
            client.close()
        launcher.stdin.close()
    with sqlite3.connect(project / "codes.sqlite") as connection:
        rows = connection.execute("select item_id, key, value from answers where about = 'code'")
        held = {(item, key): value for item, key, value in rows}
        whole = connection.execute("pragma integrity_check").fetchone()[0]
    connection.close()
    assert whole == "ok", whole
    lost = sum(
        held.get((f"t{place}", key)) != value for (place, key), value in acknowledged.items()
    )
    return n, lost
