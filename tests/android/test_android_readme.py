"""README.md of an Android library: its Kotlin compiles against the library, and what it names is what ships.

CameraX's classes are those of `toolchain/camerax`, because Google's repository is out of reach.
"""

import re
from pathlib import Path, PurePosixPath

from packager.core.errors import ToolError
from packager.files.processes import downloads
from tests.cases.archives import read_zip
from tests.toolchain import apptools, jvm, vision
from tests.toolchain.device import device, library
from tests.toolchain.require import require

TOOLCHAIN = Path(__file__).parents[1] / "toolchain"
STUBS = sorted([*(TOOLCHAIN / "camerax").rglob("*.java"), *(TOOLCHAIN / "android_newer").rglob("*.java")])
KOTLIN = re.compile(r"^```kotlin\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def readme_of(aar: Path) -> str:
    return read_zip(aar)[PurePosixPath("README.md")].decode()


def compiled(aar: Path, readme: str, folder: Path) -> Path:
    """The classes of the examples in `readme`, each in a file of its own."""
    try:
        for pin in apptools.PINS:
            downloads.fetch(pin)
    except ToolError as error:
        require(False, f"{error}; {error.hint}")
    examples = [folder / f"Example{number}.kt" for number, _ in enumerate(KOTLIN.findall(readme))]
    for path, text in zip(examples, KOTLIN.findall(readme), strict=True):
        path.write_text(text, encoding="utf-8")
    classes = apptools.extract(aar, "classes.jar", folder / "classes.jar")
    return jvm.compile_kotlin([*examples, *STUBS], classpath=[classes, apptools.app_tools().android_jar])


def test_examples_of_a_package_with_tensors_compile(built_aar: Path, tmp_path: Path) -> None:
    readme = readme_of(built_aar)
    assert len(KOTLIN.findall(readme)) == 1
    assert read_zip(compiled(built_aar, readme, tmp_path))


def test_examples_of_a_package_that_takes_pictures_compile(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path
) -> None:
    (aar,) = (vision.root() / "sample_apps/vision/dist/android").glob("*.aar")
    readme = readme_of(aar)
    assert len(KOTLIN.findall(readme)) == 2
    names = {path.name for path in read_zip(compiled(aar, readme, tmp_path))}
    assert "ClassifierAnalyzer.class" in names
    assert (aar.parent / "README.md").read_text(encoding="utf-8") == readme


def test_the_example_for_cameras_outlives_its_model(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path
) -> None:
    (aar,) = (vision.root() / "sample_apps/vision/dist/android").glob("*.aar")
    shipped = library(aar, tmp_path, apps="vision/*", has_task=False)
    [example] = [text for text in KOTLIN.findall(readme_of(aar)) if "androidx.camera" in text]
    (tmp_path / "Example.kt").write_text(example, encoding="utf-8")
    app = jvm.compile_kotlin(
        [tmp_path / "Example.kt", *sorted((jvm.APPS / "camera").glob("*.kt"))],
        classpath=[shipped.classes, jvm.fakes(), onnxruntime_android.classes],
    )

    phone = device(shipped, tmp_path)
    facts = jvm.run(
        "FramesKt",
        {"apk": phone.apk, "data": tmp_path / "data"},
        classpath=[app, shipped.classes],
        properties={"java.library.path": shipped.native},
    ).facts

    assert facts["last.thrown"] == "null", facts["last.message"]
    assert (facts["shown"], facts["closed"]) == ("1", "true")


def test_dependencies_are_those_of_the_metadata(built_aar: Path) -> None:
    pinned = downloads.pins()["android"]
    readme = readme_of(built_aar)
    for name in ("kotlin-stdlib", "kotlin-coroutines"):
        assert f'implementation("{pinned[name]}")' in readme
    assert re.search(r'implementation\("com\.microsoft\.onnxruntime:onnxruntime-android(-qnn)?:[\d.]+"\)', readme)
