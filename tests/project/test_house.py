"""The shape of the house: who may import whom, what the lower floors may touch, public names."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import samecluster.oracles
import samecluster.tables
from samecluster._moved import MOVED

ROOT = Path(samecluster.__file__).parent
FLOORS = [
    {"errors", "_moved", "_typing"},
    {"_extras", "_parameters"},
    {"geometry", "questions", "points", "proof"},
    {"recovery", "oracles", "instances"},
    {"validation"},
    {"api"},
    {"large"},
    {"tables"},
    {"estimator", "sessions", "plots"},
    {"experiments", "reports", "testing"},
    {"workspace"},
    {"web"},
    {"cli"},
    {"__init__", "__main__"},
]
MODULES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def floor_of(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def imported_rooms(path: Path) -> set[str]:
    """Rooms that a module imports when it is loaded or run; type-only imports do not count."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    rooms = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [str(node.module)]
            if node.module == "samecluster":
                names = [f"samecluster.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("samecluster.")}
    return rooms


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downward(path: Path) -> None:
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    for other in imported_rooms(path) - {room}:
        if other in samecluster.__all__ and other not in ("errors", "instances", "oracles"):
            other = "api"  # a public name; the shells use the package's front door
        assert floor_of(other) < floor_of(room), f"{room} imports {other}"


FORBIDDEN_IMPORTS = {
    "os",
    "pathlib",
    "socket",
    "time",
    "datetime",
    "sqlite3",
    "subprocess",
    "random",
}


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in MODULES
        if floor_of(room_of(p)) <= 3
        # Oracles reach out by trade, and proof/files.py is the one place that writes logs.
        and room_of(p) != "oracles"
        and p.name != "files.py"
    ],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_the_lower_floors_do_no_input_or_output(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not {a.name.split(".")[0] for a in node.names} & FORBIDDEN_IMPORTS
        if isinstance(node, ast.ImportFrom):
            assert str(node.module).split(".")[0] not in FORBIDDEN_IMPORTS
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "open", "input")
        # np.random.normal and the like use the global state; default_rng and Generator do not.
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random":
            assert node.attr in ("default_rng", "Generator", "RandomState")


def test_questions_use_the_standard_library_only() -> None:
    for path in MODULES:
        if room_of(path) == "questions":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom):
                    top = str(node.module).split(".")[0]
                    assert top in sys.stdlib_module_names | {"samecluster"}


def test_public_names_are_pinned() -> None:
    assert samecluster.__all__ == [
        "Answer",
        "AskEverything",
        "Certify",
        "ClusterMargin",
        "How",
        "LargeRecovery",
        "LearnedCluster",
        "MarginSearch",
        "Predict",
        "Question",
        "Recovery",
        "RecoveryRun",
        "Recur",
        "Round",
        "SameCluster",
        "ScqKMeans",
        "Session",
        "SqliteStore",
        "Verdict",
        "clustering_error",
        "errors",
        "instances",
        "learn_cluster",
        "oracles",
        "recover",
        "recover_large",
        "start",
        "start_large",
        "true_margin",
    ]
    for name in samecluster.__all__:
        assert getattr(samecluster, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = samecluster.nonsense


def test_import_and_help_load_nothing_heavy() -> None:
    code = (
        "import sys, samecluster, samecluster.cli.main\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'clarabel', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_paths_that_were_documented_once_still_work(old, new) -> None:
    sys.modules.pop(f"samecluster.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"has moved to samecluster.{new}"):
        module = importlib.import_module(f"samecluster.{old}")
    assert module.__all__ == importlib.import_module(f"samecluster.{new}").__all__
    assert module.__name__ == f"samecluster.{new}"


def test_names_that_were_documented_once_still_work() -> None:
    assert samecluster.tables.Wanted is samecluster.tables.FeatureOptions
    assert samecluster.tables.Asked is samecluster.tables.CsvOptions
    assert samecluster.oracles.Shown is samecluster.oracles.ShownItem
    assert samecluster.oracles.Outcome is samecluster.oracles.PanelOutcome
