"""sample_apps/ios: the app compiles against the packages that are built for it, and its project names what is there.

No Xcode is here: SwiftUI, UIKit, PhotosUI and AVFoundation are interfaces in `toolchain/apple_modules/` with what the
app uses.
"""

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from packager.targets.ios.swift import module_name
from tests.cases.sample_ios import APP, MODULES, project

__all__ = ["project"]


if TYPE_CHECKING:
    from pbxproj import XcodeProject


def test_the_project_takes_packages_from_where_they_are_copied(project: "XcodeProject", tmp_path: Path) -> None:
    app = tmp_path / "sample_apps" / "ios"
    app.mkdir(parents=True)
    shutil.copy(APP / "make", app)
    for package in MODULES.values():
        done = subprocess.run(["sh", "make"], cwd=app, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, f"run first: sh sample_apps/{package.name}/make\n")
        for name in (package.name, "onnxruntime-binary-9.9.9"):
            folder = tmp_path / package.folder / "dist" / "swift" / name
            folder.mkdir(parents=True)
            (folder / "Package.swift").touch()
    for _ in ("first", "again"):
        subprocess.run(["sh", "make"], cwd=app, check=True)
        copied = {path.parent.relative_to(app).as_posix() for path in app.rglob("Package.swift")}
        assert copied == {"packages/vision", "packages/notes", "packages/onnxruntime-binary-9.9.9"}
    references = project.objects.get_objects_in_section("XCLocalSwiftPackageReference")
    assert {reference["relativePath"] for reference in references} == {"packages/vision", "packages/notes"}
    for module, package in MODULES.items():
        with (APP.parent / package.name / "mobpack.toml").open("rb") as file:
            assert module_name(tomllib.load(file)["package"]["name"]) == module
