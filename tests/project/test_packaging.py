"""What is built can be installed and works: the wheel, the source distribution, their metadata."""

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import samecluster
from tests.project import wheel

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LONG = os.environ.get("SAMECLUSTER_TESTS") == "long"


def build(root: Path, out: Path) -> tuple[Path, Path]:
    """Wheel and source distribution of a tree."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out)],
        cwd=root,
        check=True,
        capture_output=True,
    )
    (packed,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return packed, source


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


def files_of(archive: Path) -> set[str]:
    return set(zipfile.ZipFile(archive).namelist())


def unpacked(source: Path, folder: Path) -> Path:
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


def test_the_wheel_has_the_whole_package_and_nothing_else(built) -> None:
    package = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "samecluster").rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert "samecluster/py.typed" in package
    about = {name for name in files_of(built[0]) if ".dist-info/" in name}
    assert files_of(built[0]) - about == package
    assert any(name.endswith("licenses/LICENSE") for name in about)


def test_the_wheel_says_what_it_needs_and_offers(built) -> None:
    archive = zipfile.ZipFile(built[0])
    (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
    about = email.message_from_bytes(archive.read(name))
    assert about["Name"] == "samecluster"
    assert about["Version"] == samecluster.__version__
    assert about["License-Expression"] == "MIT"
    assert about["Requires-Python"] == ">=3.11"
    assert set(about.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])
    needed = [one for one in about.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert sorted(needed) == sorted(PROJECT["dependencies"])
    points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert "samecluster = samecluster.cli.main:main" in points


def test_the_version_is_written_in_one_place_and_cited() -> None:
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == [samecluster.__version__]
    latest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert latest is not None
    assert latest[1] in ("Unreleased", samecluster.__version__)


def test_the_source_distribution_has_all_that_make_needs_and_builds_the_same_wheel(
    built, tmp_path
) -> None:
    root = unpacked(built[1], tmp_path / "source")
    for name in ("Makefile", "mkdocs.yml", "requirements-dev.txt", "requirements-docs.txt"):
        assert (root / name).read_bytes() == (ROOT / name).read_bytes()
    for folder in ("tests", "docs", "examples", "benchmarks"):
        assert {path.name for path in (ROOT / folder).glob("*.[pimc][ypds]*")} <= {
            path.name for path in (root / folder).iterdir()
        }
    again, _ = build(root, tmp_path / "again")
    assert files_of(again) == files_of(built[0])


def test_the_wheel_runs_the_demo_from_where_it_is_unpacked(built, tmp_path) -> None:
    """Quick: it uses the libraries of this environment. `tests.project.wheel` installs others."""
    zipfile.ZipFile(built[0]).extractall(tmp_path / "site")
    code = (
        # Without extras there is no numba, which would compile its kernel anew for this copy.
        "import sys; sys.modules['numba'] = None\n"
        "import samecluster; from samecluster.cli.main import main\n"
        "print(samecluster.__file__)\n"
        "sys.argv = ['samecluster', 'demo', '--points', '2000', '--dimension', '2']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert "proof" in done.stdout


@pytest.mark.skipif(not LONG, reason="installs everything; make test-long, and CI by itself")
def test_the_wheel_in_a_clean_environment_runs_a_selection_of_the_tests_that_ship() -> None:
    """On this Python; ``make test-wheel`` does it on all, and with the lowest versions."""
    assert wheel.main(["--only-this"]) == 0


def test_the_selection_exists_and_every_bound_can_be_pinned() -> None:
    for path in wheel.SELECTION:
        assert (ROOT / path).is_file(), path
    pinned = wheel.lowest_versions()
    assert [one.replace("==", ">=") for one in pinned] == PROJECT["dependencies"]


def test_the_python_that_runs_is_among_those_at_hand() -> None:
    found = wheel.pythons()
    assert found[sys.version_info.minor] == sys.executable
    assert min(found) >= 11
