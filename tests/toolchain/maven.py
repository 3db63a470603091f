"""Files of Maven Central: one run of Maven fetches all of a lock, which has versions and sha256."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from packager.files.processes import children, downloads
from packager.files.processes.inherited import MAVEN
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain.debian_root import make_alone
from tests.toolchain.kept import kept
from tests.toolchain.require import require

PARTS = ("groupId", "artifactId", "version", "type", "classifier")
PLUGIN, _, GOAL = downloads.MAVEN_COPY.rpartition(":")
POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>tests</artifactId><version>1</version>
  <build><plugins><plugin>
    <groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>
    <configuration><artifactItems>{items}</artifactItems></configuration>
  </plugin></plugins></build>
</project>
"""


def fetched(lock: Path) -> Mapping[str, Path]:
    """The files of a lock by their names, from the cache or from Maven; a line is `group:artifact:version:type sha256`.

    Ends the test where Maven does not have them, or other bytes.
    """
    text = lock.read_text(encoding="utf-8")
    wanted = dict(line.split() for line in text.splitlines())
    folder = cache_folder() / "maven" / f"{lock.stem}-{key_of(text)[:16]}"
    try:
        make_alone(folder, lambda made: _fetch(wanted, made))
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise
    return {path.name: path for path in (folder / name_of(each) for each in wanted)}


def classes_of(aar: Path) -> Path:
    """The classes of a library for Android."""

    def make(folder: Path) -> None:
        with zipfile.ZipFile(aar) as archive:
            archive.extract("classes.jar", folder)

    return kept("aar-classes", make, aar.name, str(aar.stat().st_size)) / "classes.jar"


def name_of(coordinates: str) -> str:
    """The name that Maven gives to a file."""
    _, artifact, version, kind, *classifier = coordinates.split(":")
    return "-".join([artifact, version, *classifier]) + f".{kind}"


def _fetch(wanted: Mapping[str, str], folder: Path) -> None:
    pom = folder / "pom.xml"
    items = "".join(f"<artifactItem>{_item(each)}</artifactItem>" for each in wanted)
    pom.write_text(POM.format(*PLUGIN.split(":"), items=items), encoding="utf-8")
    command = [downloads.maven(), *downloads.MAVEN_OPTIONS, "-f", str(pom), downloads.MAVEN_COPY]
    done = children.run([*command, f"-DoutputDirectory={folder}"], inherits=MAVEN)
    pom.unlink()
    if done.returncode != 0:
        raise ToolError(f"Maven cannot fetch files of a lock: {done.stdout[-2000:]}", hint="check the network")
    for coordinates, sha256 in wanted.items():
        found = sha256_of(folder / name_of(coordinates))
        if found != sha256:
            raise ToolError(f"{coordinates}: sha256 {found}, expected {sha256}", hint="do not use these bytes")


def _item(coordinates: str) -> str:
    pairs = zip(PARTS, coordinates.split(":"), strict=False)
    return "".join(f"<{name}>{escape(value)}</{name}>" for name, value in pairs)
