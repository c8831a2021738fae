"""What the documents say is true: snippets run, links lead somewhere, made pages are up to date."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import samecluster
from docs.making.api import SECTIONS, api_as_markdown
from docs.making.pages import made_page, made_pages, with_links_of_the_site
from docs.making.rooms import rooms_as_markdown
from samecluster.api import METHODS
from samecluster.cli.main import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    ROOT / "benchmarks" / "measured.md",
    *sorted(DOCS.rglob("*.md")),
]
SIMULATED = [["inspect", "examples/shells.csv"], ["cluster", "examples/shells.csv"]]
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts and mkdocs make them."""
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.fixture
def registry():
    """A page may register a method; it is forgotten afterwards."""
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_snippets_of_a_page_run_one_after_the_other(page, capsys, registry) -> None:
    names: dict[str, object] = {}
    for snippet in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(snippet, str(page), "exec"), names)


def commands(page: Path) -> list[list[str]]:
    """The words of every line in a page's blocks that begins with samecluster."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for kind, block in blocks if not kind for line in block.splitlines()]
    return [
        shlex.split(line)[1:] for line in lines if re.match(r"(\.venv/bin/)?samecluster ", line)
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name_of)
def test_commands_of_a_page_exist_with_their_options(page) -> None:
    group: Any = typer.main.get_command(app)
    for name, *words in commands(page):
        group.commands[name].make_context(name, words)


def test_the_example_with_a_file_gives_what_the_pages_say(tmp_path, monkeypatch) -> None:
    """README and the page on tables have the same two commands, which ask nobody."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    readme, tutorial = (
        [words for words in commands(page) if words[:2] in SIMULATED]
        for page in (ROOT / "README.md", DOCS / "table.md")
    )
    assert readme == tutorial
    looked, found = (CliRunner().invoke(app, words) for words in readme)
    assert (looked.exit_code, found.exit_code) == (0, 0)
    text = (DOCS / "table.md").read_text()
    told = re.findall(r"^\d.*\.$|^Error against.*\.$", found.stdout, re.MULTILINE)
    assert len(told) == 4
    assert all(line in text for line in told)
    assert re.search(r"30 questions, and no label is wrong", (ROOT / "README.md").read_text())
    assert (tmp_path / "clustered.csv").read_text().splitlines()[0] in text


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings_that_exist(page) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target, heading in LINK.findall(prose):
        place = page.parent / target if target else page
        assert place.exists(), target
        assert not heading or heading in headings(place), f"{target}#{heading}"


def test_every_page_that_the_source_names_exists() -> None:
    """Paths below docs in docstrings, comments and messages."""
    named = {
        path: source
        for source in sorted((ROOT / "src").rglob("*.py"))
        for path in re.findall(r"\bdocs/[\w/]+\.\w+(?:\.\w+)*", source.read_text())
    }
    assert "docs/theory.md" in named
    for path, source in named.items():
        assert (ROOT / path).is_file(), f"{name_of(source)} names {path}"


def test_every_section_of_the_theory_that_is_cited_exists() -> None:
    """Written "theory, section 5" or "docs/theory.md, sections 2 and 5", on one line or two."""
    numbered = set(re.findall(r"^## (\d+)\. ", (DOCS / "theory.md").read_text(), re.MULTILINE))
    sources = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")]
    cited = set()
    for source in sources:
        text = re.sub(r"\s+(?:# )?", " ", source.read_text())
        for numbers in re.findall(r"theory(?:\.md)?,? sections? ([\d, and]+)", text):
            for number in re.findall(r"\d+", numbers):
                cited.add(number)
                assert number in numbered, f"{name_of(source)} cites section {number}"
    assert {"2", "5", "6"} <= cited


def test_every_place_that_the_map_names_exists() -> None:
    """Modules and rooms of docs/architecture.md, and what it says is in them."""
    text = (DOCS / "architecture.md").read_text()
    package = ROOT / "src" / "samecluster"
    named = set(re.findall(r"`([\w./]+(?:\.py|\.js|\.md|/))`", text))
    assert len(named) > 80
    for path in sorted(named):
        places = (package / path, package / "recovery" / path, ROOT / path)
        assert any(place.exists() for place in places), path
    for method, path in re.findall(r"`\w+\.(\w+)` in `([\w./]+)`", text):
        assert f"def {method}(" in (package / path).read_text(), f"{method} in {path}"


def test_every_room_is_on_the_map() -> None:
    """The list of rooms is that of the packages, and each on the top level has a floor."""
    listed = (DOCS / "rooms.md").read_text()
    assert listed == rooms_as_markdown(), "run make docs-reference"
    package = ROOT / "src" / "samecluster"
    rooms = {str(path.parent.relative_to(package)) for path in package.rglob("__init__.py")} - {"."}
    for room in sorted(rooms):
        assert re.search(rf"^\| `{room}/` \| \w.+ \|$", listed, re.MULTILINE), room
    floors = (DOCS / "architecture.md").read_text().partition("## The floors")[2]
    for room in {room.partition("/")[0] for room in rooms}:
        assert f"`{room}/`" in floors.partition("\n## ")[0], room


def test_every_test_that_the_security_page_names_exists() -> None:
    tests = {path: path.read_text() for path in (ROOT / "tests" / "web").rglob("test_*.py")}
    text = (ROOT / "SECURITY.md").read_text()
    for path in re.findall(r"`(tests/[\w/]+\.py)`", text):
        assert (ROOT / path).is_file(), path
    names = re.findall(r"`(test_\w+)`", text)
    assert len(names) >= 6
    for name in names:
        assert any(f"def {name}(" in source for source in tests.values()), name


def test_every_make_target_in_the_documents_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        for target in re.findall(r"`?make ([a-z][a-z-]*)`", page.read_text()):
            assert re.search(rf"^[a-z -]*\b{target}\b[a-z -]*:", makefile, re.MULTILINE), target


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = set(re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    made = {address for address in made_pages().values() if "/" not in address}
    written = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert {page for page in written if not page.startswith("decisions/0")} == listed - made


def test_links_of_all_pages_lead_to_pages_of_the_site() -> None:
    """What `make docs` checks in strict mode, without mkdocs."""
    made = {address: made_page(source) for source, address in made_pages().items()}
    written = {str(page.relative_to(DOCS)): page.read_text() for page in DOCS.rglob("*.md")}
    for address, text in {**written, **made}.items():
        for target, _ in LINK.findall(with_links_of_the_site(text, address)):
            place = (DOCS / address).parent / target if target else DOCS / address
            on_site = str(place.resolve().relative_to(DOCS.resolve()))
            assert on_site in made or place.is_file(), f"{address}: {target}"


@pytest.mark.parametrize(
    ("page", "listed"),
    [
        (DOCS / "decisions" / "README.md", sorted((DOCS / "decisions").glob("0*.md"))),
        (DOCS / "examples.md", sorted((ROOT / "examples").glob("*.[pi][yp]*"))),
    ],
    ids=["decisions", "examples"],
)
def test_a_page_that_lists_files_lists_all(page, listed) -> None:
    targets = {(page.parent / target).resolve() for target, _ in LINK.findall(page.read_text())}
    assert targets == set(listed)


def test_the_api_reference_is_that_of_the_code() -> None:
    assert (DOCS / "api.md").read_text() == api_as_markdown(), "run make docs-reference"


def test_the_api_reference_has_every_public_name() -> None:
    in_package = {
        name for home, names in SECTIONS.values() if home == "samecluster" for name in names
    }
    modules = {home.partition(".")[2] for home, _ in SECTIONS.values()}
    assert set(samecluster.__all__) <= in_package | modules


def test_nothing_of_the_site_comes_from_the_net() -> None:
    settings = (ROOT / "mkdocs.yml").read_text()
    assert "font: false" in settings
    assert not re.search(r"https?:", settings)
