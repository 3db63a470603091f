"""mobpack's folder on a device: files by their sha256, each copied once.

`files/SHA256` has models and samples, `programs/SHA256.jar` classes, `libraries/KEY/NAME` native libraries, by the key
of all that lie in a folder. `data/` has what packages keep, `runs/` what one run exchanges. A file is copied to
`incoming/`, compared, and renamed: one that is there is complete.
"""

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import size
from packager.core.errors import ToolError
from packager.core.parsing import whole_number
from packager.files.hashes import known_sha256
from packager.files.store import key_of
from packager.measuring.devices.link import Device, Finished, GoneError, Link

FOLDERS = ("files", "programs", "libraries", "incoming", "data", "runs")
SPARE_BYTES = 4 << 20
"""Room that a run needs on the device beside the files that are copied."""
FREE = re.compile(r"^\S+\s+\d+\s+\d+\s+(\d+)\s", re.MULTILINE)
"""Free kibibytes, in the output of df -k."""
FULL = re.compile(r"No space left on device")


@dataclass(frozen=True, kw_only=True)
class DeviceStorage:
    link: Link
    device: Device

    @property
    def home(self) -> str:
        return self.link.HOME

    def file(self, sha256: str) -> str:
        return f"files/{sha256}"

    def put(self, files: Mapping[str, Path]) -> int:
        """Copies the files that the device lacks: path below the folder -> file. Returns the number of bytes copied.

        Raises ToolError if the device has no room for them, or changes their bytes.
        """
        there = self._listed()
        missing = {place: path for place, path in files.items() if place not in there}
        needed = sum(path.stat().st_size for path in missing.values())
        self._refuse_full(needed)
        for place, path in missing.items():
            self._copy(path, place)
        return needed

    def libraries(self, named: Mapping[str, Path]) -> tuple[str, dict[str, Path]]:
        """The folder of native libraries, and where each goes."""
        key = key_of(sorted((name, known_sha256(path)) for name, path in named.items()))[:32]
        return f"libraries/{key}", {f"libraries/{key}/{name}": path for name, path in named.items()}

    def run_folder(self) -> str:
        """A new folder for what a run exchanges, its whole path."""
        place = f"{self.home}/runs/{secrets.token_hex(8)}"
        self.done(f"mkdir -p {place}")
        return place

    def remove(self, *places: str) -> None:
        """Removes files and folders, if the device is still there."""
        try:
            self.link.shell(self.device.serial, f"rm -rf {shlex.join(places)}")
        except GoneError:
            return

    def clean(self) -> int:
        """Removes all of it; returns the number of bytes that it took."""
        found = self.link.shell(self.device.serial, f"du -sk {self.home} 2>/dev/null; rm -rf {self.home}")
        first = found.output.split(maxsplit=1)
        return max(whole_number(first[0]) or 0, 0) * 1024 if first else 0

    def done(self, script: str) -> Finished:
        """Runs a script that has to work. Raises ToolError if it does not."""
        found = self.link.shell(self.device.serial, script)
        if found.code:
            said = (found.complaints or found.output).strip()
            if FULL.search(said):
                raise self._full(said)
            raise ToolError(f"{self.device.serial} refuses `{script}`: {said}", hint="see `adb shell`, then run again")
        return found

    def _listed(self) -> frozenset[str]:
        """Paths of complete files, below the folder."""
        folders = " ".join(FOLDERS)
        script = f"mkdir -p {self.home} && cd {self.home} && mkdir -p {folders} && ls -1 files programs libraries/*"
        lines = self.link.shell(self.device.serial, script)
        if lines.code and not lines.output:
            self.done(f"mkdir -p {self.home}")
        found, folder = set(), ""
        for line in lines.output.splitlines():
            if line.endswith(":"):
                folder = line[:-1]
            elif line:
                found.add(f"{folder}/{line}")
        return frozenset(found)

    def _refuse_full(self, needed: int) -> None:
        if not needed:
            return
        lines = self.link.shell(self.device.serial, f"df -k {self.home}")
        found = FREE.search(lines.output)
        free = whole_number(found[1]) if found else None
        if free is not None and free * 1024 < needed + SPARE_BYTES:
            raise self._full(f"{size(needed + SPARE_BYTES)} are needed, {size(free * 1024)} are free")

    def _full(self, words: str) -> ToolError:
        return ToolError(
            f"no room in {self.home} on {self.device.name}: {words}",
            hint=f"free some space on it; `mobpack device clean --device {self.device.serial}` removes mobpack's files",
        )

    def _copy(self, path: Path, place: str) -> None:
        incoming = f"{self.home}/incoming/{secrets.token_hex(8)}"
        target = f"{self.home}/{place}"
        try:
            self.link.push(self.device.serial, path, incoming)
            # Older devices have no sha256sum.
            check = f"sha256sum {incoming} 2>/dev/null || stat -c %s {incoming}"
            said = self.done(check).output.split()[:1]
            if said not in ([known_sha256(path)], [str(path.stat().st_size)]):
                raise ToolError(
                    f"{self.device.name} has other bytes of {path.name} than were copied to it",
                    hint="check its cable and its storage, then run again",
                )
            self.done(f"chmod 755 {incoming} && mkdir -p $(dirname {target}) && mv {incoming} {target}")
        except ToolError:
            self.remove(incoming)
            raise


def programs(jars: Sequence[Path]) -> dict[str, Path]:
    """Where the archives of classes go."""
    return {f"programs/{known_sha256(jar)}.jar": jar for jar in jars}
