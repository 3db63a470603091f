"""Jars for Java's virtual machine, on ONNX Runtime's Java package as published. What models compute: `answers` and
`scanned` in test_kotlin_typed.py, for which the programs of Android run here, too."""

import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PIL.Image import Resampling

from tests.golden.cases import reshaped
from tests.toolchain import desktop_java, jvm
from tests.toolchain.witness import watched

POM = "{http://maven.apache.org/POM/4.0.0}"
JAVA_11 = 55
"""version of class files"""
EXIF_ORIENTATION = 0x0112


@pytest.fixture(scope="module")
def built(kotlin_compiler: None, tmp_path_factory: pytest.TempPathFactory) -> desktop_java.Built:
    made = desktop_java.built(tmp_path_factory.mktemp("jar"), reshaped("recorder", "next"))
    for name, picture in pictures().items():
        picture.save(made.files / name)
    (made.files / "text.png").write_text("no picture")
    Image.fromarray(np.full((2, 2), 40_000, np.uint16)).save(made.files / "deep.png")
    turned = Image.new("RGB", (16, 8), (200, 100, 50))
    turned.getexif()[EXIF_ORIENTATION] = 6
    turned.save(made.files / "turned.jpg", exif=turned.getexif(), quality=100)
    return made


def pictures() -> Mapping[str, Image.Image]:
    random = np.random.default_rng(5).integers(0, 256, (5, 7, 4)).astype(np.uint8)
    colours = Image.fromarray(random[:, :, :3])
    return {
        "colours.png": colours,
        "clear.png": Image.fromarray(random),
        "grey.png": Image.fromarray(random[:, :, 0]),
        "both.png": Image.fromarray(random[:, :, :2], "LA"),
        "palette.png": colours.quantize(16),
        "colours.bmp": colours.resize((9, 4), Resampling.NEAREST),
    }


def expected(picture: Image.Image) -> str:
    """Red, green and blue, over black."""
    pixels = np.asarray(picture.convert("RGBA")).astype(np.uint32)
    seen = (pixels[:, :, :3] * pixels[:, :, 3:] + 127) // 255
    return " ".join(["1:", *map(str, seen.reshape(-1))])


def test_pictures_get_to_models_as_pillow_reads_them_and_faults_are_said(built: desktop_java.Built) -> None:
    names = (*pictures(), "turned.jpg")
    found = built.facts("Desktop", desktop_java.APPS / "Desktop.kt", pictures=",".join(names))
    for name, picture in pictures().items():
        for how in ("", " as bytes", " as an image"):
            assert found[f"{name}{how}"] == expected(picture), f"{name}{how}"
    first, *seen = found["turned.jpg"].split()
    assert (first, found["turned.jpg as an image"].split()[0]) == ("6:", "1:")
    assert np.abs(np.array(seen, int).reshape(-1, 3) - (200, 100, 50)).max() <= 3
    assert found["text.png.message"].endswith("text.png has no picture of a known kind")
    assert found["deep.png.message"] == "an image of 16 bits for each colour: the most are 8"
    assert found["absent.png.thrown"] == "java.io.FileNotFoundException"
    assert (found["provider"], found["left out"]) == ("CPU", "CUDA, COREML")
    assert found["damaged"] in {path.name for path in built.data.iterdir()}
    assert found["no folder.thrown"] == "com.example.models.ModelStorageException"
    assert "Pass a Context with a folder" in found["no folder.message"]


def test_a_jar_has_javas_11_classes_a_module_name_and_what_maven_central_asks_for(built: desktop_java.Built) -> None:
    with zipfile.ZipFile(built.jar) as archive:
        names = archive.namelist()
        assert names[0] == "META-INF/MANIFEST.MF"
        assert "Automatic-Module-Name: com.example.models\r\n" in archive.read(names[0]).decode()
        classes = [archive.read(name) for name in names if name.endswith(".class")]
    assert {int.from_bytes(each[6:8], "big") for each in classes} == {JAVA_11}
    assert not any(b"android/" in each or b"androidx/" in each for each in classes)
    home = built.dist / "maven/com/example/models-jvm/1.0.0"
    ends = {
        path.name.removeprefix("models-jvm-1.0.0")
        for path in home.iterdir()
        if path.suffix in (".jar", ".pom", ".module")
    }
    assert ends == {".jar", "-sources.jar", "-javadoc.jar", ".pom"}
    pom = ElementTree.parse(home / "models-jvm-1.0.0.pom").getroot()
    needed = {each.findtext(f"{POM}artifactId"): each.findtext(f"{POM}scope") for each in pom.iter(f"{POM}dependency")}
    assert needed == {"onnxruntime": "runtime", "kotlin-stdlib": "compile", "kotlinx-coroutines-core": "compile"}
    assert pom.findtext(f"{POM}packaging") == "jar"


def test_processes_that_load_at_once_unpack_a_model_once(built: desktop_java.Built, tmp_path: Path) -> None:
    apps = desktop_java.compiled(built.jar, desktop_java.APPS / "Loading.kt")
    command = desktop_java.command("apps.LoadingKt", built.jar, apps)
    arguments = jvm.words({"data": tmp_path / "data", "files": built.files, "seconds": 0})
    running = [subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {each.communicate(timeout=jvm.RUN_TIMEOUT_S)[0] for each in running}
    assert len(said) == 1, said
    digest = said.pop().partition("sha256\t")[2].split("\n")[0]
    kept = tmp_path / "data"
    names = sorted(path.name for path in kept.iterdir())
    assert names == ["lock", digest, f"{digest}.ok"] or names == [digest, f"{digest}.ok", "lock"]


def test_a_program_is_silent_where_java_can_set_a_variable(built: desktop_java.Built, tmp_path: Path) -> None:
    """ONNX Runtime alone looks up a name and leaves an identifier of the machine at home."""
    apps = desktop_java.compiled(built.jar, desktop_java.APPS / "Loading.kt")
    arguments = jvm.words({"data": tmp_path / "data", "files": built.files, "seconds": 3})
    command = [*desktop_java.command("apps.LoadingKt", built.jar, apps), *arguments]
    found = watched(command, tmp_path / "watched")
    assert found.is_silent, found
