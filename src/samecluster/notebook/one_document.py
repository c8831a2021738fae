"""The labelling page as one document, which asks its window for what it would ask the server for.

Files of `web.static` are taken as they are; only imports go by name, since there are no addresses.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import samecluster.web

_STATIC = Path(samecluster.web.__file__).parent / "static"
_HERE = Path(__file__).parent


def widget_module() -> str:
    """The JavaScript of the widget, with the page in it."""
    return f"const PAGE = {json.dumps(page())};\n{_read(_HERE / 'widget.js')}"


def page() -> str:
    """The page as one HTML document."""
    imports = {
        file.name: _as_address(re.sub(r'(from|import) "\./', r'\1 "', _read(file)))
        for file in sorted(_STATIC.glob("*.js"))
    }
    head = [
        f"<style>{_read(_STATIC / name)}</style>"
        for name in ("base.css", "question.css", "look.css", "overview.css")
    ]
    head.append(f"<style>{_read(_HERE / 'widget.css')}</style>")
    head.append(f'<script type="importmap">{json.dumps({"imports": imports})}</script>')
    head.append(f"<script>{_read(_HERE / 'no_server.js')}</script>")
    head.append('<script type="module">import "app.js";</script>')
    text = re.sub(r'\s*<link rel="stylesheet"[^>]*>', "", _read(_STATIC / "index.html"))
    served = '<script type="module" src="/app.js"></script>'
    assert served in text
    return text.replace(served, "\n".join(head))


def _as_address(script: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(script.encode()).decode()


def _read(file: Path) -> str:
    return file.read_text("utf-8")
