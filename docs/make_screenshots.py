"""Makes the pictures of reports in docs/pictures: python docs/make_screenshots.py [FOLDER with voting.csv and zoo.csv].

Needs chromium, chromedriver and selenium. Each picture shows another part of a report.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import topdag as td

PICTURES = Path(__file__).parent / "pictures"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ARGUMENTS = "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars"
DESKTOP, PHONE = (1180, 900), (390, 1500)
CHOOSE = "document.querySelectorAll('input[name=item]')[{}].click();"
SLIDE = "const s = document.getElementById('slider-edges'); s.value = {}; s.dispatchEvent(new Event('input'));"
SHOTS = {  # picture: page, size, dark, part of the page, what is done there first
    "asia-light": ("asia", DESKTOP, False, "top", ""),
    "asia-dark": ("asia", DESKTOP, True, "list", CHOOSE.format(6)),
    "asia-narrow": ("asia", PHONE, False, "sure", SLIDE.format(20)),
    "voting-light": ("voting", (1180, 1060), False, "list", CHOOSE.format(6)),
    "voting-dark": ("voting", (1180, 1150), True, "best", ""),
    "voting-narrow": ("voting", PHONE, False, "top", ""),
    "zoo-light": ("zoo", (1180, 820), False, "heat", ""),
    "zoo-dark": ("zoo", (1180, 1150), True, "sure", SLIDE.format(30)),
    "zoo-narrow": ("zoo", PHONE, True, "list", CHOOSE.format(3)),
}
PLACES = {"top": "body", "heat": "#sure .said"}


def main(folder: Path) -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        pages = {name: Path(made) / f"{name}.html" for name in ("asia", "voting", "zoo")}
        td.write_report(pages["asia"], td.example_table(), title="asia")
        for name in ("voting", "zoo"):
            td.write_report(pages[name], folder / f"{name}.csv", title=name)
        browser = started()
        for picture, (name, size, dark, part, action) in SHOTS.items():
            content = shot(browser, pages[name], size, dark, part, action)
            (PICTURES / f"{picture}.png").write_bytes(content)
            print(f"{picture}.png  {len(content) / 1000:.0f} kB")
        browser.quit()


def started() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ARGUMENTS.split():
        options.add_argument(word)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def shot(browser: Any, page: Path, size: tuple[int, int], dark: bool, part: str, action: str) -> bytes:
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    browser.execute_script(action)
    place = PLACES.get(part, f"#{part}")
    browser.execute_script(f"document.querySelector('{place}').scrollIntoView()")
    found = browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done, 200))"
    )
    assert found is None
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
