"""Result files that are sound as archives, with something else in them."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def rewritten(source: Path, target: Path, member: str, change: Callable[[bytes], bytes]) -> None:
    """The same file with one member changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name == member else content)


def edited(source: Path, target: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """The same file with another head; ``change`` changes it in place."""

    def other(content: bytes) -> bytes:
        head = json.loads(content)
        change(head)
        return json.dumps(head).encode()

    rewritten(source, target, "result.json", other)
