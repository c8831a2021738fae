"""Options that cannot be used are one line, whatever they are."""

import codecs
import encodings
import pkgutil

import numpy as np
import pytest

from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions, read_table
from tests.cases.command_line import run

LONG = "x" * 300


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{x:.3f},{y:.3f}" for x, y in rng.random((60, 2))]
    (tmp_path / "d.csv").write_text("\n".join(["a,b", *lines, ""]))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "d.csv", "--no-browser", "--port", "99999"),
        ("serve", "d.csv", "--no-browser", "--port", "-1"),
        ("label", "d.csv", "--session", LONG),
        ("label", f"{LONG}.csv"),
        ("label", "/"),
        ("label", "."),
        ("status", LONG),
        ("status", "."),
        ("export", "d.csv", "-o", f"{LONG}.csv"),
        ("invite", ".", "ann"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line(folder, arguments) -> None:
    assert run("label", "d.csv", text="q\n").returncode == 0
    done = run(*arguments)
    assert done.returncode in (1, 2)
    told = [
        line for line in done.stderr.splitlines() if line and not line.startswith(("Us", "Try"))
    ]
    assert len(told) == 1, done.stderr


def test_a_dot_is_a_folder_with_a_name(folder) -> None:
    from PIL import Image

    (folder / "pictures").mkdir()
    for number in range(6):
        noise = np.random.default_rng(number).integers(0, 255, (8, 8), dtype=np.uint8)
        Image.fromarray(noise).save(folder / "pictures" / f"{number}.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "pictures")
        assert run("label", ".", text="q\n").returncode == 0
        assert run("status", ".").returncode == 0
    assert (folder / "pictures.samecluster").exists()


def test_an_encoding_is_one_of_files_or_refused(folder) -> None:
    """All that Python knows: each reads the file, or is refused in words."""
    names = [found.name for found in pkgutil.iter_modules(encodings.__path__)]
    refused = set()
    for name in [*names, "../etc", "", "no\0ne"]:
        try:
            read_table("d.csv", CsvOptions(encoding=name))
        except InvalidInputError:
            refused.add(name)
    assert {"rot_13", "base64_codec", "zlib_codec", "hex_codec", "bz2_codec", "undefined", "idna",
            "punycode", "unicode_escape", "../etc"} <= refused  # fmt: skip
    assert not refused & {"utf_8", "cp1252", "latin_1", "ascii"}
    assert codecs.lookup("idna").name == "idna"


def test_standard_output_on_a_full_disk_is_one_line(folder) -> None:
    with open("/dev/full", "w") as full:
        import subprocess

        from tests.cases.command_line import command

        for arguments in (("inspect", "d.csv"), ("inspect", "d.csv", "--json"), ("--help",)):
            done = subprocess.run(
                command(*arguments), stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
            assert done.returncode == 1
            assert done.stderr == "samecluster: standard output: No space left on device\n"
