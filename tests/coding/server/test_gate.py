"""Who may speak to the page: token, password, host, origin."""

import socket
import ssl
import stat
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coding.raters import project
from portrayal.coding.project import hashed
from portrayal.coding.server import Address, check_certificate, check_password, take_address
from portrayal.coding.server.gate import TRIES, Gate
from portrayal.errors import OptionError
from servers.raters_page import Client, Page

Make = Callable[[], Client]


@pytest.mark.parametrize("path", ["/", "/next", "/text/1", "/end", "/?token=", "/?token=wrong"])
def test_nothing_is_shown_without_the_token(client: Make, path: str) -> None:
    status, _, text = client().ask("GET", path)
    assert status == 403
    assert "Linh" not in text
    assert "Stereotypes in stories</h1>" not in text


def test_the_token_becomes_a_cookie_and_leaves_the_address(client: Make, page: Page) -> None:
    browser = client()
    _, headers, text = browser.ask("GET", f"/?token={page.token}")
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert page.token not in headers["set-cookie"]
    assert 'content="0; url=/"' in text
    assert browser.ask("GET", "/")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "[::1"])
def test_another_host_is_refused(client: Make, page: Page, host: str) -> None:
    status, _, text = client().ask(
        "GET", f"/?token={page.token}", headers={"Host": host.format(port=page.port)}
    )
    assert status == 421
    assert "Portrayal" not in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_site_is_refused(client: Make, page: Page, headers: dict[str, str]) -> None:
    browser = client().begin(page.token, "Ann")
    for path in ("/save", "/undo", "/begin", "/enter"):
        assert browser.ask("POST", path, "{}", headers)[0] == 403


def test_a_click_without_the_page_s_key_is_refused(client: Make, page: Page) -> None:
    browser = client().begin(page.token, "Ann")
    assert browser.click(1, "done")[0] == 200
    browser.form = "0" * 64
    assert browser.click(1, "code", "noble_savage")[0] == 403
    assert browser.post("/begin", form="", name="Eve", sure="yes")[0] == 403


@pytest.mark.parametrize("path", ["/", "/static/page.js", "/text/1", "/nowhere", "/save"])
def test_every_answer_carries_the_headers(client: Make, page: Page, path: str) -> None:
    browser = client().begin(page.token, "Ann")
    for one in (browser, client()):
        _, headers, _ = one.ask("GET", path)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_pages_have_no_script_or_style_of_their_own(client: Make, page: Page) -> None:
    _, _, text = client().begin(page.token, "Ann").ask("GET", "/text/1")
    assert text.count("<script") == 1
    assert '<script src="/static/page.js" defer></script>' in text
    assert "<style" not in text
    assert " style=" not in text
    assert "https://" not in text
    assert "http://" not in text


def test_a_body_that_is_too_large_is_refused(client: Make, page: Page) -> None:
    browser = client().begin(page.token, "Ann")
    headers = {"X-Portrayal": browser.form}
    assert browser.ask("POST", "/save", b"[" * 300_000, headers)[0] == 400


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = project(tmp_path_factory.mktemp("locked") / "p").folder
    env = {"PORTRAYAL_CODE_PASSWORD": "correct horse"}
    served = Page(folder, "--host", "0.0.0.0", "--password", env=env)
    yield served
    served.kill()


def test_the_password_is_needed_beside_the_token(locked: Page) -> None:
    browser = Client(locked.port)
    _, _, text = browser.ask("GET", f"/?token={locked.token}")
    assert 'type="password"' in text
    assert browser.ask("GET", "/")[0] == 403
    assert browser.post("/enter", token="x", password="correct horse")[0] == 403
    assert browser.post("/enter", token=locked.token, password="wrong horse")[0] == 403
    assert browser.ask("GET", "/")[0] == 403
    assert browser.post("/enter", token=locked.token, password="correct horse")[0] == 303
    assert browser.ask("GET", "/")[0] == 200
    browser.close()


GUESSED = pytest.mark.fault(
    "a password, or a rater's personal code, is guessed by brute force",
    "from the tenth wrong one on all wait a minute, the right one too, and the owner is told once",
)


@GUESSED
def test_guessing_is_slowed(locked: Page) -> None:
    browser = Client(locked.port)
    found = [browser.post("/enter", token=locked.token, password=f"{i}")[0] for i in range(15)]
    assert found[-1] == 429
    assert browser.post("/enter", token=locked.token, password="correct horse")[0] == 429
    browser.close()


@GUESSED
def test_the_owner_is_told_of_guesses(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(Address("127.0.0.1", 1, "t"), "a password")
    for _ in range(TRIES - 1):
        gate.takes_password("wrong")
    assert gate.takes_password("a password")
    assert not caplog.records
    for _ in range(5):
        gate.takes_password("wrong")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "10 wrong passwords in a minute" in caplog.text
    for _ in range(TRIES):
        gate.takes_code("\x1b[2Jann", "wrong", hashed("right"))
    assert len(caplog.records) == 2
    assert "codes of '\\x1b[2Jann'" in caplog.text


@GUESSED
def test_the_owner_reads_of_guesses_on_the_terminal(tmp_path: Path) -> None:
    env = {"PORTRAYAL_CODE_PASSWORD": "correct horse"}
    served = Page(project(tmp_path / "p").folder, "--host", "0.0.0.0", "--password", env=env)
    browser = Client(served.port)
    try:
        statuses = [
            browser.post("/enter", token=served.token, password=f"{i}")[0] for i in range(1000)
        ]
    finally:
        browser.close()
        served.process.terminate()
        output, _ = served.process.communicate(timeout=30)
    assert statuses == [403] * TRIES + [429] * (1000 - TRIES)
    assert output.count("somebody may be guessing") == 1


def test_a_gate_opens_again() -> None:
    gate = Gate(Address("127.0.0.1", 1, "t"), "a password")
    for _ in range(TRIES):
        assert not gate.takes_password("wrong")
    assert gate.is_shut()
    assert not gate.is_shut("ann")
    gate._wrong[""] = deque(at - 61 for at in gate._wrong[""])
    assert not gate.is_shut()


def test_wrong_tokens_never_lock_out_the_right_one(client: Make, page: Page) -> None:
    other = client()
    assert {other.ask("GET", f"/?token=wrong{i}")[0] for i in range(2 * TRIES)} == {403}
    client().begin(page.token, "Ann")


@given(st.text(), st.text(min_size=1))
def test_only_what_the_gate_signed_is_taken(text: str, other: str) -> None:
    gate, foreign = (Gate(Address("127.0.0.1", 1, "the same token")) for _ in range(2))
    mine, theirs = gate.new_session(), gate.new_session()
    assert gate.signed(gate.sign(text, mine), mine) == text
    assert gate.signed(text, mine) is None
    assert gate.signed(gate.sign(text, mine), theirs) is None
    assert gate.signed(foreign.sign(text, mine), mine) is None
    assert gate.signed(other + gate.sign(text, mine), mine) is None


@given(st.text())
def test_only_sessions_that_the_gate_opened_are_known(text: str) -> None:
    gate, foreign = (Gate(Address("127.0.0.1", 1, "the same token")) for _ in range(2))
    mine = gate.new_session()
    assert gate.knows(mine)
    assert mine != gate.new_session()
    for cookie in (None, "", text, text + mine, mine + text, f"{text}.", foreign.new_session()):
        assert gate.knows(cookie) == (cookie == mine)


STOLEN = pytest.mark.fault(
    "another rater's signed name is brought in a session of one's own",
    "it is no one there: no text, no click, and the personal code is asked for",
)


@STOLEN
@pytest.mark.parametrize("what", ["cookie", "click"])
def test_a_signed_name_is_of_one_session(client: Make, page: Page, what: str) -> None:
    ann = client().begin(page.token, "Ann")
    ann.click(1, "note", "", "Ann's")
    thief = client()
    thief.enter(page.token)  # who has the address, as every rater has
    if what == "cookie":
        name = f"portrayal_{page.port}_reader"
        thief.cookies[name] = ann.cookies[name]
        assert thief.ask("GET", "/text/1")[1]["location"] == "/"
        status, _, text = thief.post("/begin", form=thief.form, name="Ann", does="rate")
        assert status == 200
        assert "code" in text
    else:
        thief.form, thief.reader = ann.form, ann.reader
        status, said = thief.click(1, "note", "", "a thief's")
        assert status == 400
        assert "did not sign" in said["error"]
    assert "Ann&#39;s" in ann.ask("GET", "/text/1")[2]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of this machine for a day."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    local = x509.IPAddress(ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([local]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "c.pem").write_bytes(made.public_bytes(pem))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "k.pem").write_bytes(key.private_bytes(pem, *plain))
    return folder / "c.pem", folder / "k.pem"


def test_the_page_is_encrypted_where_there_is_a_certificate(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    files = ("--ssl-certfile", str(cert), "--ssl-keyfile", str(key))
    served = Page(project(tmp_path / "p").folder, *files)
    try:
        assert served.url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(cert))
        with urlopen(served.url, context=trusted) as answer:
            assert answer.status == 200
            assert "secure" in answer.headers["set-cookie"].lower()
    finally:
        served.kill()


def test_a_certificate_that_is_none_is_said(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    assert check_certificate(cert, key) == (cert, key)
    assert check_certificate(None, None) is None
    for pair in ((cert, None), (cert, tmp_path / "no.pem"), (key, cert)):
        with pytest.raises(OptionError, match=r"certificate and its key|go together"):
            check_certificate(*pair)


def test_other_machines_need_a_password() -> None:
    with pytest.raises(OptionError, match="add --password"):
        check_password("0.0.0.0", None)
    with pytest.raises(OptionError, match="8 characters"):
        check_password("0.0.0.0", "short")
    check_password("localhost", None)


@pytest.mark.parametrize(
    ("host", "asked", "answers"),
    [
        ("127.0.0.1", "127.0.0.1:80", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "192.168.0.1:80", False),
        ("127.0.0.1", "rebound.example:80", False),
        ("0.0.0.0", "192.168.0.1:80", True),
        ("0.0.0.0", "rebound.example:80", False),
        ("0.0.0.0", "192.168.0.1:81", False),
        ("coder.lan", "coder.lan:80", True),
    ],
)
def test_an_address_answers_to_its_own_names(host: str, asked: str, answers: bool) -> None:
    assert Address(host, 80, "t").answers_to(asked) == answers


def test_an_address_is_kept_and_private(tmp_path: Path) -> None:
    first = take_address(tmp_path)
    assert take_address(tmp_path) == first
    assert first.secret not in first.url + repr(first)
    assert stat.S_IMODE((tmp_path / "address.json").stat().st_mode) == 0o600
    renewed = take_address(tmp_path, renew=True)
    assert renewed.token != first.token
    assert renewed.secret != first.secret
    (tmp_path / "address.json").write_text("nonsense")
    assert take_address(tmp_path).token not in (first.token, renewed.token)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OptionError, match="is taken"):
            take_address(tmp_path, port=other.getsockname()[1])
