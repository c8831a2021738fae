"""What `samecluster serve digits` takes until the first question beside ``import sklearn``.

From the start of the command to a question with two pictures in the hands of a browser: the link is
followed, the next question asked for and both pictures fetched. The first start also writes the
example; later ones find it there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

REPEATS = 5


def until_first_question(folder: Path) -> float:
    """Seconds from the start of the command until the pictures of the first question are there."""
    (folder / "digits" / "digits.csv.samecluster").unlink(missing_ok=True)
    command = [sys.executable, "-m", "samecluster", "serve", "digits", "--no-browser"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "XDG_STATE_HOME": str(folder)},
    )
    try:
        link = _link(process)
        base = link.partition("/join")[0]
        browser = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.ProxyHandler({})
        )
        browser.open(link).read()
        request = urllib.request.Request(
            f"{base}/api/v1/next",
            json.dumps({"count": 1}).encode(),
            {"Content-Type": "application/json", "X-Samecluster": "1"},
        )
        (question,) = json.load(browser.open(request))["questions"]
        for item in (question["item"], question["comparator"]):
            browser.open(base + item["image"]).read()
        return time.perf_counter() - start
    finally:
        process.kill()
        process.communicate()


def _link(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Open "):
            return line.removeprefix("Open ").strip()
    raise RuntimeError("the server printed no link")


def import_sklearn() -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import sklearn"], check=True)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        first = until_first_question(Path(name))
        imports, starts = [], []
        for _ in range(REPEATS):  # alternating, so that both meet the same noise
            imports.append(import_sklearn())
            starts.append(until_first_question(Path(name)))
    sklearn = min(imports)
    print(
        f"samecluster serve digits until the first question / import sklearn = "
        f"{min(starts) / sklearn:.2f} ({min(starts):.1f} s and {sklearn:.1f} s here); the very "
        f"first time, which writes the pictures: {first / sklearn:.2f}"
    )


if __name__ == "__main__":
    main()
