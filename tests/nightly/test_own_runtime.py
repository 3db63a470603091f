"""A package with a runtime of the user's own is the same bytes in another cache."""

import zipfile
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.cases.caches import empty_cache
from tests.cases.own_runtime import built, reduced, renamed

__all__ = ["reduced", "renamed"]


def test_a_release_is_the_same_bytes_in_another_cache_and_differs_with_the_name(
    renamed: Path, reduced: Path, tmp_path: Path
) -> None:
    built(reduced, tmp_path / "again", empty_cache(tmp_path / "cache"), emit_project=True, name="acme")
    assert hashes(tmp_path / "again") == hashes(renamed)
    manifest = built(reduced, tmp_path / "beside", tmp_path / "cache", ship="maven")
    assert hashes(tmp_path / "beside")["android/models-1.0.0.aar"] != hashes(renamed)["android/models-1.0.0.aar"]
    group, artifact, version = manifest["runtimes"]["android"].split(":")
    kinds = {each["path"]: each["kind"] for each in manifest["artifacts"]}
    assert kinds[f"android/{artifact}-{version}.aar"] == "runtime-aar"
    beside = tmp_path / "beside/maven" / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.aar"
    assert "jni/x86_64/libonnxruntime.so" in zipfile.ZipFile(beside).namelist()
    library = tmp_path / "beside/android/models-1.0.0.aar"
    native = [name for name in zipfile.ZipFile(library).namelist() if name.endswith((".so", "onnxruntime.jar"))]
    assert native == [], "of files in ORT format nothing says the assignment"


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): sha256_of(path) for path in sorted(folder.rglob("*")) if path.is_file()
    }
