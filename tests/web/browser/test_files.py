"""The files of the page: complete, from nowhere else, and with no way to take text for markup."""

import re
from importlib.resources import files

import pytest

STATIC = files("samecluster.web") / "static"
FILES = {one.name: one.read_text(encoding="utf-8") for one in STATIC.iterdir()}
SCRIPTS = sorted(name for name in FILES if name.endswith(".js"))
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser"
    r"|\beval\b|new Function|setHTML|srcdoc|\.cssText|setAttribute\(\"style\""
)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_never_make_markup_of_text(name) -> None:
    assert not MARKUP.search(FILES[name])


@pytest.mark.parametrize("name", sorted(FILES))
def test_nothing_comes_from_elsewhere(name) -> None:
    addresses = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", FILES[name])
    assert [one for one in addresses if "www.w3.org/2000/svg" not in one] == []


def test_all_files_are_used_and_there() -> None:
    used = {"index.html"}
    for text in FILES.values():
        used |= set(re.findall(r"from \"\./([\w.]+)\"", text))
    used |= set(re.findall(r"(?:src|href)=\"/([\w.]+)\"", FILES["index.html"]))
    assert used == set(FILES)


def test_the_frame_has_no_script_or_style_of_its_own() -> None:
    text = FILES["index.html"]
    assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", text) == []
