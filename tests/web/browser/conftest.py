"""A real browser: Chromium from the system, driven by Playwright."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Without a network of its own the browser would try, and wait, for hosts that nobody reaches.
FLAGS = (
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A page that a busy machine is too slow for may try once more; any other failure is one."""
    from playwright.sync_api import TimeoutError

    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=TimeoutError))


@pytest.fixture(scope="module")
def chromium():
    """Ends with the module: while it runs, no other test of this process could use asyncio."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium was found; install it, such as with apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()
