"""Pages of the site that are made from files outside docs, and links between pages.

README, CHANGELOG, CONTRIBUTING, SECURITY, examples and measurements stay where people look for
them; the site has a page of each, and one of each module whose docstring holds an argument that
pages cite. Links are written as they work in the repository, and changed for the site.
"""

from __future__ import annotations

import ast
import functools
import json
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_ARGUMENTS = (
    "proof/checker",
    "proof/parquet",
    "recovery/audit/evidence",
    "recovery/audit/audit",
    "recovery/audit/label_checks",
    "recovery/audit/overlooking",
    "recovery/paper/recur",
    "recovery/paper/one_cluster",
    "recovery/result/label_separation",
    "geometry/margin",
    "geometry/reach/checks",
    "geometry/separator",
    "lifts/polynomial",
)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


@functools.cache
def made_pages() -> dict[str, str]:
    """Files of the repository that become pages, with the address of each page."""
    found = {
        "README.md": "index.md",
        "CHANGELOG.md": "changes.md",
        "CONTRIBUTING.md": "contributing.md",
        "SECURITY.md": "security.md",
        "benchmarks/peers/results.md": "comparison.md",
        "benchmarks/measured.md": "measured.md",
    }
    for module in _ARGUMENTS:
        found[f"src/samecluster/{module}.py"] = f"arguments/{posixpath.basename(module)}.md"
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in (".py", ".ipynb"):
            found[f"examples/{path.name}"] = f"examples/{path.stem}.md"
    return found


def made_page(source: str) -> str:
    """The text of the page that is made from a file of the repository."""
    path = ROOT / source
    if source.startswith("src/"):
        return argument_page(source, path.read_text())
    if path.suffix == ".py":
        return example_page(path.name, path.read_text())
    if path.suffix == ".ipynb":
        return notebook_page(path.name, path.read_text())
    return path.read_text()


def with_links_of_the_site(markdown: str, address: str) -> str:
    """A page with links that work on the site instead of those that work in the repository.

    KeyError for a link to a file that has no page there.
    """
    by_address = {page: source for source, page in made_pages().items()}
    folder = posixpath.dirname(by_address.get(address, f"docs/{address}"))

    def changed(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        if target == "docs/decisions":
            target += "/README.md"
        inside = target.startswith("docs/")
        place = target.removeprefix("docs/") if inside else made_pages()[target]
        return f"]({posixpath.relpath(place, posixpath.dirname(address) or '.')}{link[2] or ''})"

    return _LINK.sub(changed, markdown)


def example_page(name: str, source: str) -> str:
    """A script as a page: what its docstring says, then its code."""
    title, _, told = (ast.get_docstring(ast.parse(source)) or name).partition("\n")
    code = source.partition('"""')[2].partition('"""')[2].strip()
    return f"# {name}\n\n{title}\n{told}\n\n```py\n{code}\n```\n"


def argument_page(name: str, source: str) -> str:
    """What the docstring of a module shows, as it stands there."""
    return f"# {name}\n\n```text\n{ast.get_docstring(ast.parse(source))}\n```\n"


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
