"""The widget in a real JupyterLab with a real browser; only where JupyterLab is installed."""

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

LAB = shutil.which(
    "jupyter-lab", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
)
LONGEST = 90_000
CELLS = (
    "import pandas as pd, samecluster\n"
    "frame = pd.DataFrame({'id': [f's{i}' for i in range(40)],"
    " 'x': [i // 20 + i / 1000 for i in range(40)], 'y': [i % 7 for i in range(40)]})\n"
    "widget = samecluster.ask(frame, id_column='id', looks='pairs')\n"
    "widget",
    "print('answers:', widget.recovery.n_questions, 'of', len(widget.to_frame()))",
)
pytestmark = pytest.mark.skipif(LAB is None, reason="JupyterLab is not installed here")


def write_notebook(path: Path) -> None:
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": []}
    empty["execution_count"] = None
    cells = [{**empty, "id": f"cell{at}", "source": text} for at, text in enumerate(CELLS)]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    path.write_text(json.dumps(book))


@pytest.fixture
def lab(tmp_path):
    write_notebook(tmp_path / "trial.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert LAB is not None
    command = [LAB, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--IdentityProvider.token=", "--ServerApp.password="]
    home = {"HOME": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=tmp_path, env={**os.environ, **home}, stdout=log, stderr=log
        )
    try:
        url = f"http://127.0.0.1:{port}"
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"{url}/api", timeout=5).close()
                break
            except OSError:
                continue
        yield f"{url}/lab/tree/trial.ipynb"
    finally:
        server.terminate()
        server.wait()


def test_three_lines_and_an_answer_by_a_key(lab, chromium) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(LONGEST)
    page.goto(lab)
    first, second = (page.locator(".jp-Notebook .jp-CodeCell").nth(at) for at in (0, 1))
    first.wait_for()
    page.get_by_text("| Idle").wait_for()
    first.click()
    page.keyboard.press("Shift+Enter")
    inside = page.frame_locator("iframe[title=samecluster]")
    inside.locator(".question[data-item]").wait_for()
    inside.locator("h1").click()
    page.keyboard.press("d")
    inside.get_by_text("1 question answered").wait_for()
    second.click()
    page.keyboard.press("Shift+Enter")
    second.get_by_text("answers: 1 of 40").wait_for()
    page.close()
