"""No call that only Linux has stands outside of named places, and the code runs where those calls are absent."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from packager.cli.doctor import doctor
from packager.workflows.limits import ONLY_ON, limits
from tests.cases import hosts
from tests.cases.hosts_shared import ROOT, imported

__all__ = ["imported"]


CALLING = ("children", "cli_crash", "files_host", "publish", "store", "store_pruning")
"""Files of tests about files and programs, which every change runs as on other systems."""

ELSEWHERE_THAN_UNIT = ("commands/test_programs.py", "commands/test_runners_process.py", "ship/test_npm_tarball.py")

NAMING = (
    "archives",
    "config",
    "confinement",
    "ios_files",
    "manifest",
    "maven",
    "render",
    "unchanged",
    "xcframework_folder",
)
"""Files of tests about paths and names, which differ on Windows; `.ci/nightly` runs all unit tests on both."""

ON_DISK = ("files_host", "publish", "store", "store_pruning")
"""Those of CALLING that try what macOS lacks: it starts and ends programs as Linux does."""

FILES = {"darwin": ON_DISK, "win32": (*CALLING, *NAMING)}


@pytest.mark.parametrize("system", hosts.OTHERS)
def test_the_code_runs_where_the_calls_of_linux_are_absent(system: str) -> None:
    files = [f"tests/unit/test_{name}.py" for name in FILES[system]]
    files += [f"tests/{each}" for each in ELSEWHERE_THAN_UNIT if system == "win32"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.elsewhere", system, "-q", "-n0", "--tb=short", "-k", "not other_module", *files],
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


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("system", ["linux", *sorted(ONLY_ON)])
def test_doctor_says_what_the_system_lacks(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    said, document = (CliRunner().invoke(doctor, arguments) for arguments in ([], ["--json"]))
    found = json.loads(document.stdout)["limits"]
    assert found == [asdict(limit) for limit in limits(system)]
    assert ("What this system lacks" in said.output) == (system != "linux")
