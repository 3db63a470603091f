"""Tests of generated packages that passed with the same content are recorded, and run again where it differs."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import keys
from tests.keys import Tree
from tests.passes_cases import PACKAGED, ROOT, TESTS, VARIABLES, client, run, tree
from tests.recorded import CONTENT, passes, read, recorded_in, renewed

__all__ = ["tree"]

TWO = PACKAGED + "\ndef test_it_too():\n    pass\n"


@pytest.fixture
def packaged(tree: Tree) -> Tree:
    """A repository with one file of two tests of a package; its content is recorded."""
    (tree.root / "tests" / "test_number.py").write_text(TWO)
    (tree.root / "tests" / "made.py").write_text("1")
    assert run(tree, "--record") == {"passed": 2}
    shutil.rmtree(tree.root / ".cache")
    return tree


def recorded(tree: Tree) -> Mapping[str, str]:
    return read(recorded_in(tree.root))


def output(tree: Tree, *options: str) -> str:
    command = [*client(), "-m", "pytest", "-p", "tests.passes", "-p", "no:cacheprovider", *options]
    variables = {**VARIABLES, "XDG_CACHE_HOME": str(tree.root / ".cache")}
    done = subprocess.run(command, cwd=tree.root, env=variables, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.processes
@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["alone", "workers"])
def test_a_recorded_file_is_not_repeated_on_another_machine(packaged: Tree, options: tuple[str, ...]) -> None:
    assert run(packaged, *options) == {"recorded": 2}
    assert not list((packaged.root / ".cache").rglob("passes/*")), "nobody ran them here"


@pytest.mark.processes
def test_workers_record_whole_files(packaged: Tree) -> None:
    before = recorded(packaged)
    (packaged.root / "tests" / "made.py").write_text("2")
    assert run(packaged, "-n2", "--record") == {"passed": 2}
    assert recorded(packaged).keys() == before.keys() == {"test_number.py"}
    assert recorded(packaged) != before


@pytest.mark.processes
def test_a_changed_package_has_its_tests_run_and_the_summary_says_how_to_record_it(packaged: Tree) -> None:
    (packaged.root / "tests" / "made.py").write_text("2")
    assert "that tests/recorded.json lacks: 1 (to renew it: sh scripts/test --record)" in output(
        packaged, "--keep-passes"
    )
    assert run(packaged) == {"kept": 2}
    assert run(packaged, "--record") == {"kept": 2}
    shutil.rmtree(packaged.root / ".cache")
    said = output(packaged, "--keep-passes")
    assert "2 recorded: they passed with the same content (tests/recorded.json)" in said
    assert "lacks" not in said


@pytest.mark.processes
@pytest.mark.parametrize("options", [(), ("--exitfirst",)], ids=["whole", "cut off"])
def test_nothing_is_recorded_where_a_test_fails_or_the_run_is_cut_off(packaged: Tree, options: tuple[str, ...]) -> None:
    before = recorded(packaged)
    file = packaged.root / "tests" / "test_number.py"
    other = file.with_name("test_other.py")
    other.write_text(TWO)
    file.write_text(TWO.replace("    pass\n\ndef", "    assert False\n\ndef"))
    said = output(packaged, "--keep-passes", "--record", *options)
    assert "tests/recorded.json stays as it was: a test failed, or did not run" in said
    assert recorded(packaged) == before


@pytest.mark.processes
def test_a_file_is_not_recorded_where_a_test_is_skipped(packaged: Tree) -> None:
    file = packaged.root / "tests" / "test_number.py"
    file.write_text(TWO.replace("too():\n    pass", "too():\n    pytest.skip('no tool')"))
    assert run(packaged, "--record") == {"skipped": 1, "passed": 1}
    assert recorded(packaged) == {}


@pytest.mark.processes
def test_other_tests_are_recorded_where_their_mark_says_so_alone(tree: Tree) -> None:
    file = tree.root / "tests" / "test_number.py"
    tests = TESTS.partition("@pytest.mark.skip")[0]
    file.write_text(tests)
    assert run(tree, "--record") == {"passed": 2}
    assert recorded(tree) == {}
    file.write_text(tests.replace('by_content("data.txt")', 'by_content("data.txt", recorded=True)'))
    assert run(tree, "--record") == {"passed": 2}
    shutil.rmtree(tree.root / ".cache")
    assert run(tree) == {"recorded": 2}
    (tree.root / "data.txt").write_text("9")
    assert run(tree) == {"passed": 2}


@pytest.mark.processes
def test_nothing_is_recorded_at_night(packaged: Tree) -> None:
    file = packaged.root / "tests" / "test_number.py"
    file.write_text(TWO.replace("def test_it_too", "@pytest.mark.nightly('the other')\ndef test_it_too"))
    night = ("-p", "tests.nights")
    assert run(packaged, *night, "--record") == {"passed": 1, "deselected": 1}
    shutil.rmtree(packaged.root / ".cache")
    assert run(packaged, *night) == {"recorded": 1, "deselected": 1}
    assert run(packaged, *night, "--nightly") == {"passed": 2}


@pytest.mark.processes
def test_nothing_is_recorded_where_all_is_asked_for(packaged: Tree) -> None:
    assert run(packaged, environment={"MOBPACK_TESTS_FRESH": "1"}) == {"passed": 2}


@pytest.mark.processes
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--keep-passes", "-k", "too"), "--record needs whole files: leave out -k, -m and names of tests"),
        (("--keep-passes", "-m", "swift"), "--record needs whole files"),
        (("--keep-passes", "tests/test_number.py::test_it"), "--record needs whole files"),
        ((), "--record needs --keep-passes"),
    ],
)
def test_parts_of_files_are_not_recorded(packaged: Tree, options: tuple[str, ...], says: str) -> None:
    before = recorded(packaged)
    assert says in output(packaged, "--record", *options)
    assert recorded(packaged) == before


def test_the_content_of_tests_is_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(__file__)
    here, anywhere = Tree(ROOT).key([file]), Tree(ROOT).content([file])
    monkeypatch.setattr(keys, "_machine", lambda: ("aarch64", "", ""))
    assert Tree(ROOT).key([file]) != here
    assert Tree(ROOT).content([file]) == anywhere


def report(test: str, content: str) -> pytest.TestReport:
    return pytest.TestReport(test, ("", 0, ""), {}, "passed", None, "call", user_properties=[(CONTENT, content)])


def test_passes_are_those_of_files_all_of_whose_tests_had_the_same_content_and_passed() -> None:
    found = passes(
        {
            "": [report("tests/test_a.py::one", "1")],
            "passed": [report("tests/test_a.py::one", "1"), report("tests/test_b.py::one", "2")],
            "kept": [report("tests/test_a.py::two", "1"), report("tests/test_c.py::one", "3")],
            "error": [report("tests/test_b.py::two", "2")],
            "recorded": [report("tests/test_c.py::two", "4")],
        }
    )
    assert found == {"test_a.py": "1", "test_b.py": None, "test_c.py": None}


def test_the_record_keeps_other_files_and_loses_those_that_failed_or_are_gone() -> None:
    old = {"test_a.py": "1", "test_b.py": "2", "test_gone.py": "3"}
    new = renewed(old, {"test_b.py": None, "test_c.py": "4"}, {"test_a.py", "test_b.py", "test_c.py"})
    assert new == {"test_a.py": "1", "test_c.py": "4"}


def test_the_record_names_files_that_exist() -> None:
    file = recorded_in(ROOT)
    text = file.read_text(encoding="utf-8")
    assert text == json.dumps(dict(sorted(read(file).items())), indent=1) + "\n"
    assert all((file.parent / name).is_file() for name in read(file))
