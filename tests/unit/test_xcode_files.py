"""`mobpack xcode`: Xcode's file lists name every input and output of a build, and no path of this machine."""

import stat
from pathlib import Path

import pytest

from packager import config
from packager.core.errors import ConfigError
from packager.workflows.inputs import inputs_of
from packager.workflows.xcode import XcodeFolders, find_package, integration, write
from packager.workflows.xcode.files import INPUTS, OUTPUTS, SCRIPT
from tests.cases.onnx_text import linear, saved
from tests.cases.xcode_cases import release

PROJECT = """
[package]
name = "page-orientation"
[model.orientation]
path = "models/orientation.onnx"
license = "LICENSE.txt"
[variant.small]
quantizer = "static-qdq"
calibration = "pages"
[parity]
samples = "one.npz"
[target.ios]
variant = "small"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project file of a folder in which everything is that it names."""
    saved(tmp_path / "models/orientation.onnx", linear())
    for name in ("LICENSE.txt", "pages/b.png", "pages/a.png", "one.npz", "unrelated.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "mobpack.toml").write_text(PROJECT)
    release(tmp_path / "dist")
    return tmp_path / "mobpack.toml"


def texts(project: Path, out: Path, source_root: Path) -> dict[str, str]:
    dist = project.parent / "dist"
    layout = XcodeFolders(config=project, dist=dist, out=out, source_root=source_root)
    inputs = inputs_of(config.load(project), ("ios",), project).files
    return dict(integration(layout, find_package(dist, "page-orientation", project), inputs))


def test_inputs_are_all_that_a_build_reads(project: Path) -> None:
    folder = project.parent
    assert texts(project, folder, folder)[INPUTS].splitlines() == [
        f"$(SRCROOT)/{name}"
        for name in (
            "LICENSE.txt", "mobpack.toml", "models/orientation.onnx", "one.npz", "pages/a.png", "pages/b.png"
        )
    ]  # fmt: skip
    import onnx

    model = linear()
    folder = project.parent
    onnx.save(model, folder / "models/orientation.onnx", save_as_external_data=True, location="orientation.data")
    assert "$(SRCROOT)/models/orientation.data\n" in texts(project, folder, folder)[INPUTS]
    (folder / "onnxruntime.xcframework").mkdir()
    (folder / "onnxruntime.xcframework/Info.plist").write_text("")
    project.write_text(PROJECT + '[runtime]\nios = "onnxruntime.xcframework"\n')
    (folder / "onnxruntime.config").write_text("!no_ops_specified_means_all_ops_are_required\n")
    listed = texts(project, folder, folder)[INPUTS]
    assert "$(SRCROOT)/onnxruntime.xcframework/Info.plist\n" in listed
    assert "$(SRCROOT)/onnxruntime.config\n" in listed
    address = f'ios = "https://example.com/o.zip"\nios-checksum = "{"0" * 64}"\n'
    project.write_text(f"{PROJECT}[runtime]\n{address}")
    assert "example.com" not in texts(project, folder, folder)[INPUTS]


def test_functions_that_make_samples_or_judge_are_inputs(project: Path) -> None:
    folder = project.parent
    (folder / "reader").mkdir()
    for name in ("pages", "judge"):
        (folder / f"reader/{name}.py").write_text("")
    text = PROJECT.replace('"static-qdq"', '"auto"\nmax-drop = 0.01\nmetric = "reader.judge:right"')
    project.write_text(text.replace('"pages"', '"reader.pages:all"'))
    listed = texts(project, folder, folder)[INPUTS].splitlines()
    assert {"$(SRCROOT)/reader/judge.py", "$(SRCROOT)/reader/pages.py"} <= set(listed)
    assert "$(SRCROOT)/pages/a.png" not in listed


def test_the_outputs_are_what_xcode_builds_of_the_package(project: Path) -> None:
    folder = project.parent
    (folder / "dist/swift/onnxruntime-binary-1.29.0/onnxruntime.xcframework/ios-arm64").mkdir(parents=True)
    home, runtime = "$(SRCROOT)/dist/swift/page-orientation/", "$(SRCROOT)/dist/swift/onnxruntime-binary-1.29.0/"
    assert texts(project, folder, folder)[OUTPUTS].splitlines() == [
        runtime + "Package.swift",
        runtime + "Sources/MobpackOnnxRuntime/MobpackOnnxRuntime.c",
        runtime + "onnxruntime.xcframework",
        home + "Package.swift",
        home + "Sources/CPageOrientationKit/include/onnxruntime_c_api.h",
        home + "Sources/PageOrientationKit/OrientationModel.swift",
        home + "Sources/PageOrientationKit/Resources/Models/orientation/model.ort",
    ]


def test_lists_name_no_folder_and_are_written_when_they_change(project: Path) -> None:
    folder = project.parent
    made = texts(project, folder / "ios/build", folder / "ios")
    assert str(folder) not in "".join(made.values())
    assert "$(SRCROOT)/../mobpack.toml\n" in made[INPUTS]
    assert "folder=$here/../..\n" in made[SCRIPT]
    link = project.parent.with_name("link")
    link.symlink_to(project.parent)
    assert texts(link / "mobpack.toml", link, link) == texts(project, project.parent, project.parent)
    out = project.parent / "ios"
    made = texts(project, out, out)
    assert [path.name for path in write(made, out)] == [SCRIPT, INPUTS, OUTPUTS]
    assert stat.S_IMODE((out / SCRIPT).stat().st_mode) == 0o755
    assert write(made, out) == ()
    assert [path.name for path in write({**made, INPUTS: "$(SRCROOT)/other\n"}, out)] == [INPUTS]


def test_a_path_that_xcode_would_read_as_a_setting_is_refused(project: Path) -> None:
    (project.parent / "one.npz").rename(project.parent / "$one.npz")
    project.write_text(PROJECT.replace("one.npz", "$one.npz"))
    with pytest.raises(ConfigError, match=r"Xcode cannot read the path .*\$one.npz"):
        texts(project, project.parent, project.parent)


def test_without_a_build_there_is_nothing_to_add(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"no Swift package in .*elsewhere") as caught:
        find_package(project.parent / "elsewhere", "page-orientation", project)
    assert "mobpack build" in caught.value.hint


def test_a_release_with_other_packages_is_refused_since_xcode_would_drop_them(project: Path) -> None:
    release(project.parent / "dist", targets=("ios", "android"))
    with pytest.raises(ConfigError, match="also holds packages for android"):
        find_package(project.parent / "dist", "page-orientation", project)


def test_a_package_of_somebody_else_is_not_taken_for_ours(project: Path) -> None:
    package = project.parent / "dist/swift/page-orientation"
    (package / "Sources/CPageOrientationKit").rename(package / "Sources/Other")
    with pytest.raises(ConfigError, match="is not a package built by mobpack"):
        find_package(project.parent / "dist", "page-orientation", project)
