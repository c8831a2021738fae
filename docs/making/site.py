"""Hooks of mkdocs: pages from files outside docs, links between them, and nothing from the net."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from docs.making.pages import made_page, made_pages, with_links_of_the_site

_FROM_THE_NET = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from files outside docs."""
    for source, address in made_pages().items():
        files.append(File.generated(config, address, content=made_page(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Change links that work in the repository into links that work on the site."""
    address = page.file.src_uri
    try:
        return with_links_of_the_site(markdown, address)
    except KeyError as missing:
        raise PluginError(f"{address}: {missing} has no page on the site") from None


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that would load anything from elsewhere."""
    if loaded := _FROM_THE_NET.search(output):
        raise PluginError(f"{page.file.src_uri} loads from the net: {loaded[0]}")
    return output
