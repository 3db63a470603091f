"""Projects of npm packages for tests are locked by hash, and their archives are checked before they are unpacked."""

import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from tests.toolchain import node, npm_packages

EXACT = re.compile(r"\d+\.\d+\.\d+(-[\w.]+)?")
INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")


@pytest.mark.parametrize("name", sorted(path.name for path in node.PROJECTS.iterdir()))
def test_a_project_asks_for_exact_versions_and_its_lock_has_them_with_hashes_and_no_place(name: str) -> None:
    text = (node.PROJECTS / name / "package-lock.json").read_text(encoding="utf-8")
    asked = json.loads((node.PROJECTS / name / "package.json").read_text(encoding="utf-8"))
    packages = json.loads(text)["packages"]

    assert packages.pop("")["dependencies"] == asked["dependencies"]
    for package, version in {**asked["dependencies"], **asked.get("overrides", {})}.items():
        assert EXACT.fullmatch(version), package
        assert packages[f"node_modules/{package}"]["version"] == version
    for place, entry in packages.items():
        # an archive, whose hash is known, has what it bundles
        assert entry.get("inBundle") or INTEGRITY.fullmatch(entry.get("integrity", "")), place
    assert '"resolved"' not in text


def test_an_archive_with_another_hash_or_with_paths_and_links_that_lead_elsewhere_is_refused(tmp_path: Path) -> None:
    def archive(name: str, kind: bytes = tarfile.REGTYPE) -> bytes:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as tar:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "package/other"
            tar.addfile(entry)
        return made.getvalue()

    assert not npm_packages.is_right(archive("package/file"), f"sha512-{'A' * 86}==")
    npm_packages.unpack(archive("package/file"), tmp_path / "right", "c")
    for name in ("package/../../file", "/package/file", "file", "package/a/../../../file"):
        with pytest.raises(ToolError, match="leads out of the package"):
            npm_packages.unpack(archive(name), tmp_path / "a" / "b" / "c", "c")
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
        with pytest.raises(ToolError, match="an entry of type"):
            npm_packages.unpack(archive("package/link", kind), tmp_path / "a" / "b" / "c", "c")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "right" / "file"]
