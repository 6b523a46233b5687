"""The raters' page killed in the middle of coding, by a signal that no process can catch."""

import signal
from pathlib import Path

from coding.raters import project
from e2e.conftest import Portrayal
from portrayal.raters import codebook
from servers.raters_page import Client, Page, killed_while_coding
from support import needs

needs("starlette", "uvicorn")

KILLS = 12
CODES = [code.key for code in codebook("stereotypes").codes]


def test_no_acknowledged_code_is_lost(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", 20).folder
    acknowledged, lost = killed_while_coding(folder, KILLS, 20, CODES)
    assert acknowledged > KILLS
    assert lost == 0


def test_a_page_comes_back_at_the_same_address(tmp_path: Path) -> None:
    folder = project(tmp_path / "p").folder
    first = Page(folder)
    client = Client(first.port).begin(first.token, "Ann")
    assert client.click(1, "code", CODES[0])[0] == 200
    first.kill()
    second = Page(folder)
    assert second.url == first.url
    assert client.click(1, "done")[0] == 200
    assert client.ask("GET", "/next")[1]["location"] == "/text/2"
    client.close()
    assert second.stop() in (0, 130, -signal.SIGINT)


def test_a_run_without_a_project_says_what_to_do(
    inside: Portrayal, hospital_run: Path, tmp_path: Path
) -> None:
    inside("label", "serve", hospital_run).refused("portrayal label sheet")
    inside("label", "serve", tmp_path).refused("project.toml", "portrayal label sheet")
    folder = project(tmp_path / "p").folder
    inside("label", "serve", folder, "--host", "0.0.0.0").refused("--password")
    inside("label", "serve", folder, "--port", "99999").refused("--port")
