"""Take the README's picture: `python scripts/picture.py RUN/report.html docs/report.png`.

Needs Chromium and chromedriver, as the browser tests do.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1.5",
)


def picture(page: Path, target: Path, width: int = 1180, height: int = 1500, top: int = 0) -> None:
    """Save the upper part of a page, from `top` pixels down."""
    options = webdriver.ChromeOptions()
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.binary_location = shutil.which("chromium") or ""
        driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
        try:
            driver.get(page.resolve().as_uri())
            driver.execute_script("window.scrollTo(0, arguments[0])", top)
            driver.implicitly_wait(1)
            driver.save_screenshot(str(target))
        finally:
            driver.quit()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("top", nargs="?", type=int, default=0, help="pixels to leave out above")
    given = parser.parse_args()
    picture(given.page, given.target, top=given.top)
