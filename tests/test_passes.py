"""Passes that are kept by content: what changes a key, what is repeated, and what is reported."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from packager.files.installed import PACKAGE
from tests.keys import Tree
from tests.passes_cases import PACKAGED, ROOT, TESTS, VARIABLES, client, run, tree
from tests.toolchain import projects

__all__ = ["tree"]


@pytest.mark.processes
def test_a_pass_is_kept_until_a_file_that_the_test_reads_changes(tree: Tree) -> None:
    assert run(tree) == {"passed": 2, "skipped": 1}
    assert run(tree) == {"kept": 2, "skipped": 1}
    (tree.root / "data.txt").write_text("9")
    assert run(tree) == {"passed": 2, "skipped": 1}
    (tree.root / "data.txt").write_text("8")
    assert run(tree) == {"failed": 1, "passed": 1, "skipped": 1}
    assert run(tree) == {"failed": 1, "kept": 1, "skipped": 1}


@pytest.mark.processes
def test_workers_keep_passes_and_the_summary_counts_theirs(tree: Tree) -> None:
    assert run(tree, "-n2") == {"passed": 2, "skipped": 1}
    assert run(tree, "-n2") == {"kept": 2, "skipped": 1}


@pytest.mark.processes
def test_nothing_is_kept_without_the_option_or_where_all_is_asked_for(tree: Tree) -> None:
    run(tree)
    assert run(tree, environment={"MOBPACK_TESTS_FRESH": "1"}) == {"passed": 2, "skipped": 1}
    plain = [*client(), "-m", "pytest", "-p", "tests.passes", "-q"]
    done = subprocess.run(plain, cwd=tree.root, env=VARIABLES, capture_output=True, text=True, check=False)
    assert "2 passed, 1 skipped" in done.stdout


@pytest.mark.processes
def test_a_test_that_reads_a_file_outside_its_key_fails(tree: Tree) -> None:
    file = tree.root / "tests" / "test_number.py"
    file.write_text(TESTS.replace('by_content("data.txt")', "by_content()"))
    assert run(tree) == {"passed": 2, "error": 1, "skipped": 1}
    assert run(tree) == {"passed": 1, "kept": 1, "error": 1, "skipped": 1}


@pytest.mark.processes
def test_each_file_opens_the_templates_that_it_renders(tree: Tree) -> None:
    renders = """
from packager.render import templates as render

def test_opens_templates():
    assert render.environment.cache_info().currsize == 0
    render.environment()

def test_opens_no_template_again():
    assert render.environment.cache_info().currsize == 1
"""
    (tree.root / "tests" / "test_one.py").write_text(renders)
    (tree.root / "tests" / "test_two.py").write_text(renders)
    assert run(tree, "--ignore=tests/test_number.py") == {"passed": 4}


@pytest.mark.processes
def test_a_file_outside_the_key_is_noticed_by_a_relative_path_too(tree: Tree) -> None:
    file = tree.root / "tests" / "test_number.py"
    file.write_text(
        TESTS.replace('by_content("data.txt")', "by_content()").replace("DATA.read", "Path('data.txt').read")
    )
    assert run(tree) == {"passed": 2, "error": 1, "skipped": 1}


ASKING = """import pytest
from tests.keys import asked"""


@pytest.mark.processes
def test_tests_of_a_package_are_repeated_when_its_content_changes(tree: Tree) -> None:
    file = tree.root / "tests" / "test_number.py"
    file.write_text(PACKAGED)
    file.with_name("made.py").write_text("1")
    assert run(tree) == {"passed": 1}
    assert run(tree) == {"kept": 1}
    file.with_name("made.py").write_text("2")
    assert run(tree) == {"passed": 1}
    file.with_name("made.py").unlink()
    file.write_text(PACKAGED.replace("return Path", "assert False; return Path"))
    assert run(tree) == {"passed": 1}, "of a package that cannot be built nothing is kept"
    assert run(tree) == {"passed": 1}


@pytest.mark.processes
def test_a_test_that_asks_for_a_package_that_its_mark_does_not_name_fails(tree: Tree) -> None:
    file = tree.root / "tests" / "test_number.py"
    file.with_name("made.py").write_text("1")
    asking = PACKAGED.replace("    pass", "    asked(GIVEN)").replace("import pytest", ASKING)
    file.write_text(asking.replace("[Package()]", "[GIVEN := Package()]"))
    assert run(tree) == {"passed": 1}
    file.write_text(asking.replace("[Package()]", "[Package()]\n)\nGIVEN = (Package()"))
    assert run(tree) == {"passed": 1, "error": 1}
    assert run(tree) == {"passed": 1, "error": 1}


@pytest.mark.processes
def test_passes_older_than_a_week_are_removed(tree: Tree) -> None:
    run(tree)
    [record] = (tree.root / ".cache").rglob("passes/*")
    os.utime(record, (0, 0))
    (tree.root / "data.txt").write_text("9")
    assert run(tree) == {"passed": 2, "skipped": 1}
    assert not record.exists()


@pytest.mark.processes
def test_tests_for_the_night_run_with_the_option_alone(tree: Tree) -> None:
    tests = TESTS.replace("def test_is_odd", "@pytest.mark.nightly('the other one')\ndef test_is_odd")
    (tree.root / "tests" / "test_number.py").write_text(tests)
    assert run(tree, "-p", "tests.nights") == {"passed": 1, "skipped": 1, "deselected": 1}
    assert run(tree, "-p", "tests.nights", "--nightly") == {"kept": 1, "passed": 1, "skipped": 1}


@pytest.mark.processes
def test_fixtures_end_where_the_next_test_is_kept(tree: Tree) -> None:
    """The first test of the file fails and leaves a fixture behind; the other one is kept."""
    run(tree)
    other = tree.root / "tests" / "test_other.py"
    other.write_text("def test_it():\n    pass\n")
    records = list((tree.root / ".cache").rglob("passes/*"))
    assert len(records) == 1
    kept = [line for line in records[0].read_text().splitlines() if "odd" not in line]
    records[0].write_text("\n".join(kept) + "\n")
    assert run(tree) == {"kept": 1, "passed": 2, "skipped": 1}


@pytest.mark.programs
@pytest.mark.parametrize(
    "name",
    [
        "data.txt",
        "tests/test_number.py",
        "tests/conftest.py",
        "tests/test_number.lock",
        "tests/given/tables/deep/one.bin",
        "tests/toolchain/newest_version.toml",
    ],
)
def test_every_file_of_a_key_changes_it(tree: Tree, name: str) -> None:
    before = key(tree)
    assert key(tree) == before
    write(tree.root / name)
    assert key(tree) != before


@pytest.mark.programs
@pytest.mark.parametrize("name", ["tests/other.json", "tests/given/others/one.bin", "tests/toolchain/version.toml"])
def test_data_that_no_module_names_does_not_change_a_key(tree: Tree, name: str) -> None:
    before = key(tree)
    write(tree.root / name)
    assert key(tree) == before


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("\n")


def key(tree: Tree) -> str:
    program = tree.root / "key.py"
    program.write_text(KEY, encoding="utf-8", newline="\n")
    done = subprocess.run([*client(), program], cwd=tree.root, env=VARIABLES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


KEY = """
from tests.keys import *
tree = Tree(Path.cwd())
print(tree.key(tree.files(Path.cwd() / "tests" / "test_number.py", ("data.txt",))))
"""


def test_a_key_has_what_a_module_imports_and_starts_and_nothing_else() -> None:
    tree = Tree(ROOT)
    nets = tree.files(ROOT / "tests" / "test_rewriting_random_nets.py")
    assert {ROOT / "tests" / "rewriting_cases.py", ROOT / "tests" / "conftest.py"} < nets
    assert PACKAGE / "graph" / "rewriting" / "draft.py" in nets
    assert PACKAGE / "engines" / "session" / "session_child.py" in tree.files(
        ROOT / "tests" / "test_runners_isolated.py"
    )
    assert PACKAGE / "targets" / "maven.py" not in nets
    assert ROOT / "tests" / "toolchain" / "jvm.py" not in nets


def test_a_key_has_the_commands_that_its_tests_start_and_the_templates_that_these_render() -> None:
    files = Tree(ROOT).files(ROOT / "tests" / "test_check.py")
    commands = {path.stem for path in files if path.parent == ROOT / "packager" / "cli"}
    assert {"__init__", "options", "build", "check", "init"} <= commands
    assert not {"device", "device_results", "fleet", "publish", "tune"} & commands
    templates = ROOT / "templates"
    rendered = {path.relative_to(templates).parts[0] for path in files if templates in path.parents}
    assert {"android", "ios", "react_native", "report", "typescript"} <= rendered
    assert not {"device_farm", "device_program", "device_xcode", "xcode"} & rendered
    every = Tree(ROOT).files(ROOT / "tests" / "test_characters.py")
    assert {path for path in (ROOT / "packager" / "cli").glob("*.py") if path.name != "__main__.py"} <= every


def test_the_key_of_a_packages_tests_has_no_code_that_makes_it_but_all_that_checks_it() -> None:
    files = Tree(ROOT).files_around(ROOT / "tests" / "test_android_runtime.py")
    assert {projects.ANDROID.maker, ROOT / "tests" / "toolchain" / "jvm.py"} < files
    assert PACKAGE / "engines" / "environments" / "bionic" / "sources" / "libc.c" in files
    assert PACKAGE / "files" / "processes" / "pins.toml" in files
    assert not {PACKAGE / "cli" / "build.py", PACKAGE / "core" / "errors.py"} & files
    templates = ROOT / "templates"
    assert not {path for path in files if templates in path.parents}
    files = Tree(ROOT).files_around(ROOT / "tests" / "test_react_native_package.py")
    assert {path.relative_to(templates).parts[0] for path in files if templates in path.parents} >= {
        "react_native",
        "typescript",
        "web",
    }


@pytest.mark.parametrize("language", ["kotlin", "react_native", "swift", "web"])
def test_the_key_of_tests_of_what_is_delivered_has_the_code_that_publishes_and_none_that_builds(language: str) -> None:
    files = Tree(ROOT).files_around(ROOT / "tests" / f"test_delivery_{language}.py")
    assert {
        PACKAGE / "distribution" / "channel" / "publishing.py",
        PACKAGE / "distribution" / "deltas" / "making.py",
    } < files
    assert {ROOT / "tests" / "toolchain" / "delivery_packages.py", ROOT / "tests" / "delivery_server.py"} < files
    assert not {PACKAGE / "cli" / "build.py", PACKAGE / "compile" / "compile.py"} & files
    assert not {path for path in files if PACKAGE / "quantizers" in path.parents}


def test_the_key_of_a_package_has_all_that_makes_it() -> None:
    files = Tree(ROOT).program(projects.ANDROID.maker)
    assert {PACKAGE / "cli" / "build.py", PACKAGE / "core" / "errors.py", PACKAGE / "core" / "console.py"} < files
    assert ROOT / "templates" / "android" / "AndroidManifest.xml.j2" in files
    assert ROOT / "tests" / "durations.json" not in files


def test_what_fixtures_of_conftest_need_counts_for_those_that_ask_for_them() -> None:
    files = Tree(ROOT).files(ROOT / "tests" / "test_android_runtime.py")
    assert {
        ROOT / "tests" / "toolchain" / "jvm.py",
        PACKAGE / "engines" / "environments" / "bionic" / "builder.py",
    } < files


def test_a_key_has_no_code_that_makes_packages_because_a_helper_could_ask_for_one() -> None:
    files = Tree(ROOT).files(ROOT / "tests" / "test_android_plans.py")
    assert {projects.ANDROID.maker, PACKAGE / "compile" / "compile.py"} < files
    assert not {PACKAGE / "cli" / "build.py", PACKAGE / "targets" / "web" / "target.py"} & files


@pytest.mark.parametrize("name", ["sample_android", "sample_notes", "sample_react_native", "guide_gradle"])
def test_the_key_of_a_sample_apps_tests_has_no_code_that_builds_its_packages(name: str) -> None:
    files = Tree(ROOT).files_around(ROOT / "tests" / f"test_{name}.py")
    assert {ROOT / "tests" / "toolchain" / "sample_package.py", PACKAGE / "files" / "processes" / "pins.toml"} < files
    assert not {PACKAGE / "cli" / "build.py", PACKAGE / "core" / "values.py"} & files


def test_files_that_take_the_package_of_conftest_name_it() -> None:
    """That fixture is made once for all files of a process: who comes second does not ask for the package again."""
    takes = {}
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name != Path(__file__).name and re.search(r"\b(built_aar|models_library)\b", text):
            takes[path.name] = "projects.ANDROID" in text
    assert len(takes) > 5
    assert all(takes.values()), takes
