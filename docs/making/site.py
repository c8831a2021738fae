"""Hooks of mkdocs: pages from files outside docs, links between them, and nothing from the net.

README, CHANGELOG, CONTRIBUTING and the examples stay where people look for them; the site has a
page made of each. Links are written as they work in the repository, and are changed for the site.
"""

from __future__ import annotations

import ast
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

__all__ = ["example_page", "notebook_page", "on_files", "on_page_markdown", "on_post_page", "pages"]

ROOT = Path(__file__).parents[2]
_OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
}
_FROM_THE_NET = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//")


def pages() -> dict[str, str]:
    """Files of the repository that become pages, with the address of each page."""
    found = dict(_OUTSIDE)
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in (".py", ".ipynb"):
            found[f"examples/{path.name}"] = f"examples/{path.stem}.md"
    return found


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made from files outside docs."""
    for source, address in pages().items():
        path = ROOT / source
        if path.suffix == ".py":
            text = example_page(path.name, path.read_text())
        elif path.suffix == ".ipynb":
            text = notebook_page(path.name, path.read_text())
        else:
            text = path.read_text()
        files.append(File.generated(config, address, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Change links that work in the repository into links that work on the site."""
    by_address = {address: source for source, address in pages().items()}
    address = page.file.src_uri
    folder = posixpath.dirname(by_address.get(address, f"docs/{address}"))

    def changed(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        if target == "docs/decisions":
            target += "/README.md"
        place = pages().get(target, target.removeprefix("docs/"))
        if place == target:
            raise PluginError(f"{address}: {link[1]} has no page on the site")
        return f"]({posixpath.relpath(place, posixpath.dirname(address) or '.')}{link[2] or ''})"

    return re.sub(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)", changed, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that would load anything from elsewhere."""
    if loaded := _FROM_THE_NET.search(output):
        raise PluginError(f"{page.file.src_uri} loads from the net: {loaded[0]}")
    return output


def example_page(name: str, source: str) -> str:
    """A script as a page: what its docstring says, then its code."""
    title, _, told = (ast.get_docstring(ast.parse(source)) or name).partition("\n")
    code = source.partition('"""')[2].partition('"""')[2].strip()
    return f"# {name}\n\n{title}\n{told}\n\n```py\n{code}\n```\n"


def notebook_page(name: str, source: str) -> str:
    """A notebook as a page: its cells, with the text and the pictures that they gave."""
    parts = [f"# {name}\n"]
    for cell in json.loads(source)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(re.sub(r"^#", "##", text, flags=re.MULTILINE) + "\n")
            continue
        parts.append(f"```py\n{text}\n```\n")
        parts += [_shown(output) for output in cell["outputs"]]
    return "\n".join(parts)


def _shown(output: dict[str, Any]) -> str:
    if "text" in output:
        return f"```text\n{''.join(output['text'])}```\n"
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="what the cell draws" src="data:image/png;base64,{data["image/png"]}">\n'
    return "".join(data.get("text/html", [])) + "\n"
