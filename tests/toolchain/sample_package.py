"""Packages of the sample apps, made by the commands in their READMEs: once for all tests, then kept."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packager.files.store import Step, Store
from packager.files.user_cache import cache_folder
from tests.toolchain import environments

MAKER = Path(__file__)
ROOT = MAKER.parents[2]


@dataclass(frozen=True, kw_only=True)
class SamplePackage:
    """A folder of sample_apps whose `make` builds a package."""

    name: str
    sources: tuple[str, ...]
    """files that `make` reads, and itself"""

    @property
    def folder(self) -> Path:
        return Path("sample_apps", self.name)

    def root(self) -> Path:
        """A folder that looks like this repository's after `sh sample_apps/NAME/make`, of sample_apps/NAME alone.

        Its files are shared: nothing may write there.
        """
        built = Step(
            name=f"sample-{self.name}",
            caller=__name__,
            computed_by=("packager.cli", "packager.cli.__main__"),
            templates=("",),
        )
        paths = [MAKER, *(ROOT / self.folder / name for name in self.sources)]
        sources = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        with self._alone():
            return Store(cache_folder() / "store").results(built, sources, self._make)

    def dist(self) -> Path:
        """Output of `mobpack build` for the sample apps."""
        return self.root() / self.folder / "dist"

    def _make(self, folder: Path) -> None:
        """Runs the command in a copy of the sources, with this environment in place of one of its own.

        XNNPACK ships where mobpack can ask ONNX Runtime for Android about it: else the package would be another one.
        """
        environments.have("android")
        (folder / self.folder).mkdir(parents=True)
        for name in self.sources:
            shutil.copy(ROOT / self.folder / name, folder / self.folder / name)
        borrowed = {folder / "scripts": ROOT / "scripts", folder / ".venv": Path(sys.prefix)}
        for link, target in borrowed.items():
            link.symlink_to(target)
        environment = {**os.environ, "CI": "true"}
        command = ["sh", str(self.folder / "make")]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        for link in borrowed:
            link.unlink()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Other processes wait: they need the same package, and building it takes all processors."""
        with (cache_folder() / f"sample-{self.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


VISION = SamplePackage(name="vision", sources=("make", "mobpack.toml", "classifier.py", "models.txt"))
NOTES = SamplePackage(name="notes", sources=("make", "mobpack.toml", "vocabulary.py", "models.txt"))
