"""React Native: an npm package has the very files of the Android and iOS packages, and always the same bytes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from packager.files import installed
from packager.targets.react_native import headers
from packager.targets.react_native.target import ONNXRUNTIME


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_a_compiler_reads_the_same_in_headers_without_comments(tmp_path: Path) -> None:
    whole = installed.templates_folder() / ONNXRUNTIME / "include"
    for each in whole.glob("*.h"):
        (tmp_path / each.name).write_text(headers.without_comments(each.read_text("utf-8")))
        assert (tmp_path / each.name).stat().st_size < 0.25 * each.stat().st_size
    assert tokens(tmp_path) == tokens(whole)


def tokens(folder: Path) -> list[str]:
    command = ["cc", "-E", "-P", "-x", "c", "-include", str(folder / "onnxruntime_c_api.h"), "/dev/null"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
