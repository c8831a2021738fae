"""The browser of the page's tests, with its one rerun."""

from tests.web.browser.conftest import chromium, pytest_collection_modifyitems

__all__ = ["chromium", "pytest_collection_modifyitems"]
