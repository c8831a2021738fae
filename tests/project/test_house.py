"""The shape of the house: who may import whom, what the lower floors may touch, public names."""

import ast
import importlib
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import samecluster.oracles
import samecluster.tables
from samecluster._moved import MOVED

ROOT = Path(samecluster.__file__).parent
FLOORS = [
    {"errors", "_moved", "_typing"},
    {"_extras", "_files", "_parameters", "_resolution"},
    {"lifts"},
    {"geometry", "questions", "points", "proof"},
    {"recovery", "oracles", "instances"},
    {"validation", "asking", "tables"},
    {"api"},
    {"large", "api_async"},
    {"assignment"},
    {"estimator", "sessions", "plots"},
    {"experiments", "reports", "testing"},
    {"workspace"},
    {"web"},
    {"cli", "notebook"},
    {"__init__", "__main__"},
]
RECOVERY_FLOORS = [
    {"result", "cluster_names"},
    {"problem", "placement", "answer_groups", "allowed_groups", "distances", "hints"},
    {"labelling", "label_comparison"},
    {"paper", "certify", "predict"},
    {"audit"},
    {"auto"},
    {"forecast", "margin_diagnosis"},
]
MOST_MODULES = 15
MODULES = sorted(ROOT.rglob("*.py"))

# Module names that occur more than once, each for one concept in more than one room.
SHARED_NAMES = {
    "all_rows": "labels for all rows of a session on a sample: in a workspace, and as the terminal",
    "answerers": "who answers in a session: which names may, and the programs of the terminal",
    "api": "the doors, in memory and out of core",
    "checks": "float checks of the reach, in NumPy and compiled",
    "comparisons": "the paper's comparisons of distances: the instance and the oracle",
    "disagreement": "doubt, merge and split: in a session, and in the terminal",
    "drive": "carrying questions to whoever answers: of any run, and of a session in the terminal",
    "errors": "the tree of errors, and the HTTP status of each",
    "figure1": "the experiment and its picture",
    "figure3": "the experiment and its picture",
    "files": "data, proofs and pages' downloads as files",
    "images": "pictures as items: read from files, and served to the page",
    "inspect": "what is said about a table, and the command that prints it",
    "known_answers": "answers known before: read from a table, and taken into a session",
    "margin": "the margin, and the command that computes it",
    "one_cluster": "learning one cluster, and the experiment about it",
    "options": "what a user may choose: of the command line, and of features",
    "parquet": "the format, for tables and for proofs",
    "plan": "the plan of a method",
    "progress": "how far a session is, and the picture of it",
    "report": "what came of a panel, and of the experiments",
    "result": "what comes out, in memory and out of core",
    "run": "a plan under way, in memory and out of core",
    "sample": "some rows of many: drawn at random, read and kept",
    "schema": "the shape of what is stored, and of what the page's API takes",
    "session": "a session, and the commands on one",
    "statements": "the experiment and its picture",
    "style": "how pictures look",
    "sweep": "one pass over all rows, and its compiled kernel",
    "theory": "the experiment and its picture",
}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def floor_of(room: str, floors: list[set[str]] = FLOORS) -> int:
    assert any(room in rooms for rooms in floors), f"{room} is on no floor"
    return next(number for number, rooms in enumerate(floors) if room in rooms)


def imported_rooms(path: Path) -> set[str]:
    """Rooms that a module imports when it is loaded or run; type-only imports do not count."""
    return {name.split(".")[1] for name in imported_modules(path)}


def imported_modules(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    modules = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [str(node.module)]
            if node.module == "samecluster":
                names = [f"samecluster.{alias.name}" for alias in node.names]
        modules |= {name for name in names if name.startswith("samecluster.")}
    return modules


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downward(path: Path) -> None:
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    for other in imported_rooms(path) - {room}:
        if other in samecluster.__all__ and other not in ("errors", "instances", "oracles"):
            other = "api"  # a public name; the shells use the package's front door
        assert floor_of(other) < floor_of(room), f"{room} imports {other}"


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if room_of(path) == "recovery" and path.parent != ROOT / "recovery"]
    + sorted((ROOT / "recovery").glob("[!_]*.py")),
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_imports_point_downward_inside_recovery(path: Path) -> None:
    own = path.relative_to(ROOT).with_suffix("").parts[1]
    for module in imported_modules(path):
        _, room, *inside = module.split(".")
        if room == "recovery" and inside[0] != own:
            above = floor_of(inside[0], RECOVERY_FLOORS)
            assert above < floor_of(own, RECOVERY_FLOORS), f"recovery.{own} imports {module}"


def test_no_folder_has_too_many_modules() -> None:
    for folder in {path.parent for path in MODULES}:
        modules = sorted(path.name for path in folder.glob("[!_]*.py"))
        assert len(modules) <= MOST_MODULES, f"{folder.relative_to(ROOT)}: {', '.join(modules)}"


def test_a_module_name_that_occurs_twice_is_of_one_concept() -> None:
    places = defaultdict(list)
    for path in MODULES:
        if not path.name.startswith("_"):
            places[path.stem].append(str(path.relative_to(ROOT)))
    for name, paths in places.items():
        assert len(paths) == 1 or name in SHARED_NAMES, f"{name}: {', '.join(paths)}"


def test_no_public_class_name_occurs_twice() -> None:
    places = defaultdict(list)
    for path in MODULES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    for name, paths in places.items():
        assert len(paths) == 1, f"{name}: {', '.join(paths)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_an_underscore_is_what_marks_a_name_as_private(path: Path) -> None:
    """Other modules leave such names alone, and nothing else says which names are public."""
    tree = ast.parse(path.read_text())
    taken = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("samecluster.")
        for alias in node.names
    }
    assert not {name for name in taken if name.startswith("_")}
    for node in tree.body if path.name != "__init__.py" else []:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            assert taken & set(ast.literal_eval(node.value)), "it lists its own names only"


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
        # Oracles reach out by trade, proof/files.py is the one place that writes logs, and
        # _files.py guards what is read and written.
        and room_of(p) != "oracles"
        and p.name not in ("files.py", "_files.py")
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


def all_imports(path: Path) -> set[str]:
    """Every module that a file imports, also for types only or inside a function."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_the_checker_shares_no_code_with_what_it_checks() -> None:
    checker = all_imports(ROOT / "proof" / "checker.py")
    allowed = {"numpy"} | sys.stdlib_module_names
    assert {name.split(".")[0] for name in checker} <= allowed
    users = {
        str(path.relative_to(ROOT))
        for path in MODULES
        if any(name.startswith("samecluster.proof.checker") for name in all_imports(path))
    }
    # What verifies a proof; nothing that writes one.
    assert users <= {
        "cli/commands/verify.py",
        "cli/commands/demo.py",
        "testing/method_suite.py",
    }


def test_public_names_are_pinned() -> None:
    assert samecluster.__all__ == [
        "Answer",
        "AskEverything",
        "Assignment",
        "Board",
        "Certify",
        "Choice",
        "Claim",
        "ClusterMargin",
        "How",
        "LargeRecovery",
        "LearnedCluster",
        "Lift",
        "LookSeconds",
        "LookSizes",
        "MarginSearch",
        "Marks",
        "Picks",
        "Polynomial",
        "Predict",
        "Question",
        "Recovery",
        "RecoveryRun",
        "Recur",
        "Round",
        "SameCluster",
        "ScqKMeans",
        "Session",
        "Sheet",
        "SqliteStore",
        "Unions",
        "Verdict",
        "ask",
        "clustering_error",
        "errors",
        "instances",
        "learn_cluster",
        "load",
        "oracles",
        "recover",
        "recover_async",
        "recover_large",
        "register_method",
        "start",
        "start_large",
        "true_margin",
    ]
    for name in samecluster.__all__:
        assert getattr(samecluster, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = samecluster.nonsense


def test_import_and_the_help_of_every_command_load_nothing_heavy() -> None:
    code = (
        "import contextlib, io, sys, samecluster\n"
        "from samecluster.cli.main import COMMANDS, app\n"
        "for name in [one for group in COMMANDS.values() for one in group]:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as printed:\n"
        "        app([name, '-h'], standalone_mode=False)\n"
        "    assert 'Usage: ' in printed.getvalue(), name\n"
        "    heavy = {'numpy', 'scipy', 'sklearn', 'clarabel', 'matplotlib'} & set(sys.modules)\n"
        "    assert not heavy, (name, heavy)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_paths_that_were_documented_once_still_work(old, new) -> None:
    sys.modules.pop(f"samecluster.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"has moved to samecluster.{new}"):
        module = importlib.import_module(f"samecluster.{old}")
    assert module is importlib.import_module(f"samecluster.{new}")


def test_names_that_were_documented_once_still_work() -> None:
    assert samecluster.tables.Wanted is samecluster.tables.FeatureOptions
    assert samecluster.tables.Asked is samecluster.tables.CsvOptions
    assert samecluster.oracles.Shown is samecluster.oracles.ShownItem
    assert samecluster.oracles.Outcome is samecluster.oracles.PanelOutcome
