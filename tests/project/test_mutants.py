"""The faults of `tests.mutants` can all be applied to the source as it is."""

import ast
import shlex

import pytest

from tests.mutants.applying import ROOT, place_of
from tests.mutants.faults import FAULTS, Fault


def test_there_are_as_many_different_faults_as_the_makefile_says() -> None:
    assert len(FAULTS) == len({fault.name for fault in FAULTS}) == 41
    assert len({(fault.old, fault.new) for fault in FAULTS}) == 41


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_one_place_and_leaves_a_program(fault: Fault) -> None:
    text = place_of(fault).read_text("utf-8")
    changed = text.replace(fault.old, fault.new)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_tests_that_a_fault_names_are_there(fault: Fault) -> None:
    paths = [word for word in shlex.split(fault.tests) if word.startswith("tests/")]
    assert paths
    assert all((ROOT / path.partition("::")[0]).exists() for path in paths)


def test_text_that_is_missing_or_there_twice_is_an_error(tmp_path) -> None:
    fault = Fault("wrong-sign", "a + b", "a - b", "", "")
    (tmp_path / "one.py").write_text("a - b\n")
    with pytest.raises(ValueError, match=r"^wrong-sign: .* nowhere"):
        place_of(fault, tmp_path)
    (tmp_path / "two.py").write_text("a + b\n")
    assert place_of(fault, tmp_path).name == "two.py"
    (tmp_path / "one.py").write_text("a + b\n")
    with pytest.raises(ValueError, match=r"^wrong-sign: .* more than once: one\.py"):
        place_of(fault, tmp_path)
