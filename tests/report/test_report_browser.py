"""A report in a real browser: Chromium, driven by selenium. Skipped, with a message, where one of them is missing.

``TOPDAG_CHROMIUM`` and ``TOPDAG_CHROMEDRIVER`` may name them; else those on the path are taken.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_pages import NASTY

import topdag as td

webdriver: Any = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install selenium")

CHROMIUM = os.environ.get("TOPDAG_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = os.environ.get("TOPDAG_CHROMEDRIVER") or shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("no chromium or chromedriver: apt-get install chromium chromium-driver", allow_module_level=True)

QUIET = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
K = 12


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in QUIET.split():
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def asia_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "asia.html"
    td.write_report(path, td.example_table(), k=K, title="Chest clinic")
    return path


@pytest.fixture
def page(browser: Any, asia_page: Path) -> Any:
    return opened(browser, asia_page)


def opened(browser: Any, path: Path, *, width: int = 1200, dark: bool = False) -> Any:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
    browser.get(path.as_uri())
    return browser


def find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def find_all(browser: Any, selector: str) -> list[Any]:
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def run(browser: Any, script: str, *arguments: Any) -> Any:
    return browser.execute_script(script, *arguments)


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def shown_panel(browser: Any) -> str:
    panels = [panel.text for panel in find_all(browser, ".panel") if panel.is_displayed()]
    assert len(panels) == 1
    return str(panels[0])


def shown_edges(browser: Any, figure: str) -> int:
    return int(run(browser, f"return document.querySelectorAll('#{figure} .edge:not(.off)').length"))


# ---- It opens, alone


def test_it_opens_without_errors_and_without_the_network(browser: Any, asia_page: Path) -> None:
    browser.get_log("browser"), browser.get_log("performance")
    opened(browser, asia_page)
    assert browser.title == "Chest clinic"
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith("data:")] == [asia_page.as_uri()]


def test_nothing_is_cut_off_at_the_side(browser: Any, asia_page: Path) -> None:
    for width in (1200, 768, 390, 320):
        opened(browser, asia_page, width=width)
        assert run(browser, "return document.documentElement.scrollWidth") <= width


def test_texts_fit_their_boxes(page: Any) -> None:
    script = """return [...document.querySelectorAll('.box')].every(box => {
        const room = Number(box.querySelector('rect').getAttribute('width')) - 4;
        return [...box.querySelectorAll('text')].every(text => text.getBBox().width <= room);
    })"""
    assert run(page, script)


# ---- The list


def test_the_list_by_mouse(page: Any) -> None:
    assert "Class 1 of 12" in shown_panel(page)
    choice = find_all(page, ".choices label")[4]
    choice.click()
    text = shown_panel(page)
    assert "Class 5 of 12" in text and "What differs from the best" in text
    roles = {role for _, role in run(page, "return JSON.parse(document.getElementById('values').textContent).roles[4]")}
    for role in ("added", "dropped", "turned"):
        drawn = find_all(page, f"#list-figure .edge.{role}")
        assert (role in roles) == bool(drawn)
        for edge in drawn:
            assert edge.find_element("css selector", ".badge text").text in ("+", "−", "↺")


def test_the_list_by_keyboard(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    first = find_all(page, 'input[name="item"]')[0]
    run(page, "arguments[0].focus()", first)
    press(page, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert "Class 3 of 12" in shown_panel(page)
    press(page, Keys.END)
    assert "Class 12 of 12" in shown_panel(page)
    press(page, Keys.HOME)
    assert "Class 1 of 12" in shown_panel(page)


def test_next_and_previous(page: Any) -> None:
    following, previous = find(page, "#next"), find(page, "#previous")
    assert not previous.is_enabled()
    for _ in range(K - 1):
        following.click()
    assert "Class 12 of 12" in shown_panel(page) and not following.is_enabled()
    previous.click()
    assert "Class 11 of 12" in shown_panel(page)


# ---- Probabilities


def test_the_slider_by_keyboard(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    slider = find(page, "#slider-edges")
    before = shown_edges(page, "edges-figure")
    run(page, "arguments[0].focus()", slider)
    press(page, Keys.HOME)
    everything = shown_edges(page, "edges-figure")
    assert everything > before > 0
    assert find(page, ".view output").text == "2%"
    assert find(page, ".shown-count").text == f"{everything} of {everything} shown"
    press(page, Keys.END)
    assert shown_edges(page, "edges-figure") <= before


def test_the_slider_by_mouse(page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    slider = find(page, "#slider-edges")
    run(page, "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", slider)
    ActionChains(page).move_to_element_with_offset(slider, -slider.size["width"] // 4, 0).click().perform()
    threshold = float(slider.get_attribute("value"))
    assert 15 < threshold < 40
    for edge in find_all(page, "#edges-figure .edge"):
        assert (float(edge.get_attribute("data-p")) * 100 >= threshold) == edge.is_displayed()


def test_edges_fade_with_their_probability(page: Any) -> None:
    pairs = [
        (float(edge.get_attribute("data-p")), float(edge.get_attribute("opacity")))
        for edge in find_all(page, "#edges-figure .edge")
    ]
    assert all(one[1] <= two[1] for one, two in zip(sorted(pairs), sorted(pairs)[1:], strict=False))


def test_edges_or_paths(page: Any) -> None:
    edges, paths = find_all(page, ".view")
    assert edges.is_displayed() and not paths.is_displayed()
    find_all(page, ".switch label")[1].click()
    assert paths.is_displayed() and not edges.is_displayed()


def test_the_heat_map_by_mouse_and_keyboard(page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    posteriors = td.edge_posteriors(td.example_table())
    cell = find(page, '.heat td[data-i="4"][data-j="7"]')
    run(page, "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", cell)
    ActionChains(page).move_to_element(cell).perform()
    assert (
        f"bronc → dysp: the edge has probability {100 * posteriors['bronc', 'dysp']:.1f}%"
        in find(page, ".readout").text
    )
    run(page, "arguments[0].focus()", cell)
    press(page, Keys.ARROW_LEFT)
    assert find(page, ".readout").text.startswith("bronc → xray")
    press(page, Keys.ARROW_DOWN, Keys.ARROW_DOWN)  # past the diagonal
    assert find(page, ".readout").text.startswith("dysp → xray")
    press(page, Keys.ARROW_DOWN)  # the last row
    assert find(page, ".readout").text.startswith("dysp → xray")


# ---- Looks


def background(browser: Any) -> list[int]:
    colour = run(browser, "return getComputedStyle(document.body).backgroundColor")
    return [int(part) for part in colour.strip("rgb()").split(",")]


def test_dark_as_the_system_says_and_by_the_button(browser: Any, asia_page: Path) -> None:
    opened(browser, asia_page, dark=True)
    assert max(background(browser)) < 80
    find(browser, "#theme").click()
    assert min(background(browser)) > 200
    opened(browser, asia_page, dark=False)
    assert min(background(browser)) > 200
    find(browser, "#theme").click()
    assert max(background(browser)) < 80
    assert browser.get_log("browser") == []


def test_focus_is_seen(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    press(page, Keys.TAB, Keys.TAB)
    outline = run(page, "return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_everything_has_a_name(page: Any) -> None:
    """Controls are labelled for those who do not see them."""
    script = """return [...document.querySelectorAll('button, input, svg[role=img], [role=region]')].filter(own =>
        !own.hidden && !(own.ariaLabel || own.textContent.trim() || (own.labels || []).length)).length"""
    assert run(page, script) == 0


def test_on_paper(browser: Any, asia_page: Path) -> None:
    """All classes are told, controls are gone."""
    opened(browser, asia_page)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = [panel for panel in find_all(browser, ".panel") if panel.is_displayed()]
    assert len(shown) == K
    assert not any(button.is_displayed() for button in find_all(browser, "button"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_scripts_it_can_be_read(browser: Any, asia_page: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(browser, asia_page)
        text = find(browser, "main").text
        assert "Proved." in text and "Class 1 of 12" in text
        assert len([view for view in find_all(browser, ".heat") if view.is_displayed()]) == 2
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# ---- Names


def test_names_are_harmless(browser: Any, tmp_path: Path) -> None:
    import numpy as np

    columns = np.random.default_rng(1).integers(0, 2, (len(NASTY), 60))
    table = td.Table(dict(zip(NASTY, columns, strict=True)))
    td.write_report(tmp_path / "nasty.html", table, title=NASTY[0])
    browser.get_log("browser")
    opened(browser, tmp_path / "nasty.html")
    assert browser.title == NASTY[0]
    assert browser.get_log("browser") == []
    assert run(browser, "return document.scripts.length") == 2
    cell = find(browser, '.heat td[data-i="0"][data-j="1"]')
    run(browser, "arguments[0].focus()", cell)
    assert "<script>alert(1)</script> → quo\"te's & <b>bold</b>" in find(browser, ".readout").text
    assert run(browser, "return document.documentElement.scrollWidth <= innerWidth")
