"""Results by content: the same inputs are never computed twice, and a half-made result is never seen.

A key covers everything a step's output depends on; the output files lie in `<cache>/store/<step>/<key>/`. A step
writes into a scratch folder that is renamed into place when it is whole, so a killed build leaves no entry behind.
"""

import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.atomic import NO_SPACE
from packager.errors import ToolError
from packager.render import templates_folder

ABANDONED_AFTER_S = 24 * 60 * 60


@dataclass(frozen=True)
class Store:
    root: Path

    def results(self, step: str, inputs: object, make: Callable[[Path], None]) -> Path:
        """The folder with what `make` writes for `inputs` (anything JSON can say), made now if it is not there yet."""
        folder = self._folder(step, inputs)
        if folder.is_dir():
            return folder
        with self.scratch() as scratch:
            made = scratch / "result"
            made.mkdir()
            make(made)
            folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():  # another build was faster: its result is as good
                    raise
        return folder

    def find(self, step: str, inputs: object) -> Path | None:
        """The folder of results that are there, without making them."""
        folder = self._folder(step, inputs)
        return folder if folder.is_dir() else None

    def _folder(self, step: str, inputs: object) -> Path:
        return self.root / step / key_of([code_digest(), step, inputs])

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder that is gone afterwards, on the disk of the store."""
        base = self.root / "scratch"
        try:
            base.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(base)
            folder = Path(tempfile.mkdtemp(dir=base))
        except OSError as error:
            raise ToolError(
                f"cannot write to the cache {self.root}: {error.strerror}",
                hint="free some space, or set XDG_CACHE_HOME to a folder you can write to",
            ) from error
        try:
            yield folder
        except OSError as error:
            if error.errno in NO_SPACE:
                raise ToolError(
                    f"no space left on the disk of {self.root}", hint="free some space, then run again"
                ) from error
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(base: Path) -> None:
    """Removes what builds that were killed have left; a build of today may still be running."""
    for folder in base.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > ABANDONED_AFTER_S:
                shutil.rmtree(folder)


@cache
def code_digest() -> str:
    """Hex sha256 of mobpack's own code, pins and templates: other code may give other results."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, templates_folder()):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key_of(inputs: object) -> str:
    """Hex sha256 of `inputs` as canonical JSON."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
