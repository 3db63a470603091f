"""The documentation site, built once."""

import os
import subprocess
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments.environment import folder_for, isolated_command, make_once
from tests.toolchain.require import require
from tests.toolchain.unpacking import unpack

ROOT = Path(__file__).parents[2]

LOCK = ROOT / "requirements" / "docs.txt"


@pytest.fixture(scope="session")
def mkdocs() -> Path:
    """A folder with the site's build tools; skips the test if they are not available."""
    folder = folder_for("docs", LOCK.read_text(encoding="utf-8"))
    try:
        make_once(folder, lambda made: unpack(LOCK, made))
    except ToolError as error:
        require(False, f"mkdocs for this Python: {error.message} ({error.hint})")
    return folder


@pytest.fixture(scope="session")
def site(mkdocs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(mkdocs, ROOT, folder)
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr
    return folder


def build(mkdocs: Path, root: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Build the site as scripts/docs does."""
    variables = {"PYTHONPATH": f"{mkdocs}{os.pathsep}{root}", "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [*isolated_command(), "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=root,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
