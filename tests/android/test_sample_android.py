"""The sample app for Android is built as Gradle would build it, as far as package registries go.

Its Kotlin, resources and manifest meet the packages that the commands of its README make, Android 16's resources and
Android 6's classes: Kotlin's compiler, the manifest merger, aapt2, R8 and bundletool. Gradle and the Android SDK are
out of reach; a phone is stood in for by a JVM with ONNX Runtime's own Android libraries.
"""

import re
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from PIL import Image

from packager.core.errors import ToolError
from packager.files.processes import downloads
from tests.cases.archives import read_zip
from tests.toolchain import apptools, jvm, sample_notes
from tests.toolchain.device import device, library, write_apk
from tests.toolchain.require import require
from tests.toolchain.sample_package import NOTES, VISION

APP = Path(__file__).parents[2] / "sample_apps" / "android"
MAIN = APP / "app" / "src" / "main"
OFFLINE, UPDATES = (APP / "app" / "src" / name for name in ("offline", "updates"))
"""what a build without the property `updates` has beside `MAIN`, and with it"""
SOURCES = MAIN / "kotlin" / "com" / "example" / "picture"
SEARCH = Path(__file__).parents[1] / "toolchain" / "apps" / "notes" / "Notes.kt"
PACKAGE = "com.example.picture"
ANDROID = "{http://schemas.android.com/apk/res/android}"
TARGET_SDK = 36
NEWER = sorted((Path(__file__).parents[1] / "toolchain").joinpath("android_newer").rglob("*.java"))
"""APIs of Android 7 to 11 that the app uses and the class stubs of Android 6 lack"""

# What an app's build adds by itself, and what the class stubs of Android 6 lack.
RULES = """\
-dontwarn java.lang.FunctionalInterface,java.lang.invoke.**,java.nio.file.**
-dontwarn java.util.Optional,java.util.function.**,java.util.stream.**
-dontwarn org.jetbrains.annotations.**
-dontwarn android.app.ApplicationExitInfo
-dontwarn android.graphics.ColorSpace,android.graphics.Insets,android.system.StructTimespec
-dontwarn android.view.WindowInsets$Type
"""


@dataclass(frozen=True, kw_only=True)
class Built:
    """The built app."""

    aars: list[Path]
    manifest: ElementTree.Element
    """merged"""
    linked: apptools.Linked
    classes: Path
    dexed: Path
    bundle: Path
    mapping: str
    """R8's: old names and new ones"""


def text(name: str) -> str:
    return (APP / name).read_text(encoding="utf-8")


def found(pattern: str, name: str) -> str:
    """The text that the group of `pattern` matches in a file of the app."""
    match = re.search(pattern, text(name))
    assert match, f"{name} has no {pattern}"
    return match[1]


@pytest.fixture(scope="module")
def aars(kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime) -> list[Path]:
    """The app's packages as Gradle resolves them: coordinates, in the repositories that the settings name."""
    try:
        for pin in apptools.PINS:
            downloads.fetch(pin)
    except ToolError as error:
        require(False, f"{error}; {error.hint}")
    names = re.findall(r'"(\w+)"', found(r"for \(name in listOf\((.*)\)\)", "settings.gradle.kts"))
    assert found(r'maven \{\s*url = uri\("([^"]+)"\)', "settings.gradle.kts") == "../$name/dist/maven"
    resolved = []
    for package in (VISION, NOTES):
        assert package.name in names
        [(group, version)] = re.findall(rf'implementation\("([\w.]+):{package.name}:([\d.]+)"\)', build_file())
        folder = package.dist().joinpath("maven", *group.split("."), package.name, version)
        resolved.append(folder / f"{package.name}-{version}.aar")
    return resolved


def build_file() -> str:
    return text("app/build.gradle.kts")


@pytest.fixture(scope="module")
def aar(aars: list[Path]) -> Path:
    """The package for pictures."""
    return aars[0]


@pytest.fixture(scope="module")
def built(aars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("sample")
    shutil.copytree(MAIN / "assets", folder / "assets")
    for aar in aars:
        with zipfile.ZipFile(aar) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith("assets/")])
    merged = merged_manifest(aars, folder)
    linked = apptools.link_resources(
        merged, resources=MAIN / "res", assets=folder / "assets", target_sdk=TARGET_SDK, folder=folder
    )
    classes = app_classes(aars, linked, folder)
    mapping = folder / "mapping.txt"
    dexed = apptools.dex(
        aars,
        classes,
        archive=folder / "dex.zip",
        app_rules=RULES,
        arguments=["--pg-conf", linked.rules, "--pg-map-output", mapping],
    )
    return Built(
        aars=aars,
        manifest=ElementTree.fromstring(merged.read_text(encoding="utf-8")),
        linked=linked,
        classes=classes,
        dexed=dexed,
        bundle=apptools.bundle(linked.apk, dexed, folder=folder),
        mapping=mapping.read_text(encoding="utf-8"),
    )


def merged_manifest(aars: list[Path], folder: Path, build_type: Path = OFFLINE) -> Path:
    """The app's manifest, with the build file's values inserted as Gradle does, merged with those of its libraries."""
    own = text("app/src/main/AndroidManifest.xml").replace("<manifest ", f'<manifest package="{PACKAGE}" ', 1)
    sdk = f'<uses-sdk android:minSdkVersion="{apptools.MIN_SDK}" android:targetSdkVersion="{TARGET_SDK}" />'
    (folder / "app.xml").write_text(own.replace("<application", f"{sdk}<application", 1), encoding="utf-8")
    apptools.extract(jvm.android_runtime().aar, "AndroidManifest.xml", folder / "onnxruntime.xml")
    libraries = [apptools.extract(aar, "AndroidManifest.xml", folder / f"{aar.stem}.xml") for aar in aars]
    merged = apptools.merge_manifests(
        folder / "app.xml", [*libraries, folder / "onnxruntime.xml"], build_type=build_type / "AndroidManifest.xml"
    )
    (folder / "merged.xml").write_text(merged, encoding="utf-8")
    return folder / "merged.xml"


def app_classes(aars: list[Path], linked: apptools.Linked, folder: Path) -> Path:
    sources = [*sorted(MAIN.rglob("*.kt")), *OFFLINE.rglob("*.kt"), linked.r_java, *NEWER]
    return jvm.compile_kotlin(sources, classpath=[*classes_of(aars, folder), apptools.app_tools().android_jar])


def classes_of(aars: list[Path], folder: Path) -> list[Path]:
    """The classes of libraries, unpacked into `folder`."""
    return [apptools.extract(aar, "classes.jar", folder / f"{aar.stem}.jar") for aar in aars]


def test_build_files_name_versions_that_can_use_the_package() -> None:
    pinned = downloads.pins()["android"]
    plugins = dict(re.findall(r'id\("([^"]+)"\) version "([^"]+)"', text("build.gradle.kts")))
    assert set(plugins) == {"com.android.application"}, "which compiles Kotlin by itself"
    assert numbers(plugins["com.android.application"]) >= numbers(pinned["gradle-plugin"])
    assert int(found(r"minSdk = (\d+)", "app/build.gradle.kts")) == pinned["min-sdk"] == apptools.MIN_SDK
    assert int(found(r"targetSdk = (\d+)", "app/build.gradle.kts")) == TARGET_SDK
    assert int(found(r"compileSdk = (\d+)", "app/build.gradle.kts")) == TARGET_SDK >= pinned["compile-sdk"]


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def test_readme_names_the_commands_and_the_gradle_that_fits_the_plugin() -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```", text("README.md"), re.DOTALL | re.MULTILINE)
    assert commands.splitlines() == [
        "sh sample_apps/vision/make && sh sample_apps/notes/make",
        "gradle -p sample_apps/android installDebug",
    ]
    plugin = found(r'"com.android.application"\) version "([\d.]+)"', "build.gradle.kts")
    pinned = downloads.pins()["android"]
    assert numbers(plugin)[:2] == numbers(pinned["gradle-plugin"])[:2], "the pinned Gradle is what these releases need"
    assert f"Gradle {pinned['gradle'].removesuffix('.0')} or later" in text("README.md")


def test_everything_that_the_app_says_is_in_its_resources() -> None:
    shown = [view for path in (MAIN / "res/layout").iterdir() for view in ElementTree.parse(path).iter()]
    attributes = ("text", "contentDescription", "hint")
    texts = [value for view in shown if (value := next(filter(None, map(view.get, names(attributes))), None))]
    assert len(texts) == 9
    assert all(value.startswith("@string/") for value in texts)
    known = {each.get("name") for each in ElementTree.parse(MAIN / "res/values/strings.xml").getroot()}
    code = "".join(path.read_text(encoding="utf-8") for path in MAIN.rglob("*.[kx]*[tl]"))
    assert known == set(re.findall(r"(?:R\.string\.|@string/)(\w+)", code))


def names(attributes: tuple[str, ...]) -> list[str]:
    return [f"{ANDROID}{attribute}" for attribute in attributes]


def test_the_coordinates_lead_to_the_packages_with_their_dependencies(aars: list[Path]) -> None:
    for aar in aars:
        assert aar.is_file()
        pom = aar.with_suffix(".pom").read_text(encoding="utf-8")
        assert "<artifactId>onnxruntime-android</artifactId>" in pom


def test_merged_app_asks_for_the_camera_alone_and_starts_no_telemetry(built: Built) -> None:
    asked = [each.get(f"{ANDROID}name") for each in built.manifest.findall("uses-permission")]
    assert asked == ["android.permission.CAMERA"]
    assert [each.get(f"{ANDROID}required") for each in built.manifest.findall("uses-feature")] == ["false"]
    assert list(built.manifest.iter("provider")) == []


def test_an_app_with_updates_asks_for_the_network(aars: list[Path], tmp_path: Path) -> None:
    merged = ElementTree.parse(merged_manifest(aars, tmp_path, build_type=UPDATES))
    asked = {each.get(f"{ANDROID}name") for each in merged.getroot().findall("uses-permission")}
    assert asked == {f"android.permission.{name}" for name in ("CAMERA", "INTERNET", "ACCESS_NETWORK_STATE")}


def test_a_property_chooses_the_folder_of_both_build_types() -> None:
    chosen = found(r'gradleProperty\("updates"\)\.isPresent\) (.*)', "app/build.gradle.kts")
    assert chosen == '"src/updates" else "src/offline"'
    assert 'for (name in listOf("debug", "release")) getByName(name).setRoot(models)' in build_file()
    assert {path.name for path in MAIN.parent.iterdir()} == {"main", "offline", "updates"}


def test_shrunk_app_keeps_what_the_manifest_names_and_renames_the_libraries(built: Built) -> None:
    renamed = dict(re.findall(r"^([\w.$]+) -> ([\w.$]+):$", built.mapping, re.MULTILINE))
    for kept in ("MainActivity", "LiveActivity", "NotesActivity"):
        name = f"{PACKAGE}.{kept}"
        assert renamed.get(name, name) == name
        assert f"L{name.replace('.', '/')};".encode() in read_zip(built.dexed)[PurePosixPath("classes.dex")]
    for name in ("com.example.vision.Classifier", "com.example.notes.Embedder"):
        assert renamed[name] != name


def test_bundle_is_valid_and_holds_models_resources_and_classes(built: Built) -> None:
    apptools.validate(built.bundle)
    inside = read_zip(built.bundle)
    for aar in built.aars:
        for name, content in read_zip(aar).items():
            if name.is_relative_to("assets"):
                assert inside["base" / name] == content, name
    assert inside[PurePosixPath("base/assets/notes.json")] == sample_notes.FILE.read_bytes()
    assert {"base/resources.pb", "base/dex/classes.dex", "base/res/layout/main.xml"} <= set(map(str, inside))


def test_bars_stand_out_by_day_and_night(built: Built) -> None:
    """By themselves: `is_light` is another in the night, and the theme's icons follow it from Android 15 on."""
    values = {}
    for folder in ("values", "values-night"):
        (value,) = ElementTree.parse(MAIN / "res" / folder / "base.xml").iter("bool")
        values[folder] = value.text
    assert values == {"values": "true", "values-night": "false"}
    resources = read_zip(built.linked.apk)[PurePosixPath("resources.pb")]
    assert b"values-v35/themes.xml" in resources
    assert b"values-night/base.xml" in resources


def test_aapt2_refuses_a_resource_that_is_not_there(built: Built, tmp_path: Path) -> None:
    broken = tmp_path / "res" / "layout"
    broken.mkdir(parents=True)
    (broken / "main.xml").write_text(text("app/src/main/res/layout/main.xml"), encoding="utf-8")
    merged = merged_manifest(built.aars, tmp_path)
    (tmp_path / "assets").mkdir()
    with pytest.raises(ToolError, match=r"resource (string|drawable|style)/\w+"):
        apptools.link_resources(
            merged, resources=tmp_path / "res", assets=tmp_path / "assets", target_sdk=TARGET_SDK, folder=tmp_path
        )


def test_the_package_sees_on_the_phone_what_the_graph_computes_in_python(aar: Path, tmp_path: Path) -> None:
    picture = coffee()
    height, width, _ = picture.shape
    phone = device(library(aar, tmp_path, apps="vision/*", has_task=False), tmp_path)

    facts = phone.run("Vision", {"pixels": picture}, width=width, height=height).facts

    scores = python_scores(aar, picture)
    best = np.argsort(-scores, kind="stable")[:5]
    assert [int(index) for index in facts["indices"].split()] == best.tolist()
    assert scores[best[0]] > 0.9
    assert facts["labels"].split("|")[0] == "espresso"
    # Other kernels here than there: Android's XNNPACK and this machine's CPU.
    np.testing.assert_allclose([float(score) for score in facts["scores"].split()], scores[best], atol=1e-4)
    assert float(facts["turned"]) < 1e-4
    assert facts["half"] == "true"


@pytest.fixture(scope="module")
def searched(aars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Reports of a shrunk app with the search's own files: it starts four times."""
    folder = tmp_path_factory.mktemp("search")
    of_app = [SOURCES / name for name in ("NoteSearch.kt", "VectorFile.kt")]
    classpath = [*classes_of(aars[1:], folder), apptools.app_tools().android_jar]
    classes = jvm.compile_kotlin([SEARCH, *of_app], classpath=classpath)
    jar = apptools.shrink(aars[1:], classes, main_class="apps.NotesKt", jar=folder / "shrunk.jar")
    installed = write_apk(aars[1], folder / "app.apk", is_stored=True)
    arguments: list[str | Path] = [installed, folder / "data", sample_notes.FILE, *sample_notes.QUERIES]
    done = apptools.run_shrunk(jar, "apps.NotesKt", arguments, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split("\t") for line in done.stdout.splitlines())


@pytest.mark.parametrize("query", sample_notes.QUERIES)
def test_the_shrunk_search_finds_the_notes_that_the_original_model_finds(searched: dict[str, str], query: str) -> None:
    """In either start: with vectors just made, and with those of the file."""
    wanted = sample_notes.nearest(query)
    for start in ("first", "second"):
        titles, scores = searched[f"{start} {query}"].split(";")
        assert titles.split("|") == [title for title, _ in wanted]
        assert [float(score) for score in scores.split()] == pytest.approx([each for _, each in wanted], abs=1e-3)


def test_the_search_makes_the_vector_of_a_note_once(searched: dict[str, str]) -> None:
    assert (searched["first runs"], searched["second runs"]) == ("40", "0")
    assert searched["added runs"] == "1", "of a note that is new"
    assert searched["damaged runs"] == "2", "of two, from a file that ends too early"


def test_a_query_ends_the_search_for_the_one_before(searched: dict[str, str]) -> None:
    """Twenty at once: not all are answered, the last one is."""
    assert 1 <= int(searched["answers"]) < 20
    assert searched["last answer"] == sample_notes.nearest(sample_notes.QUERIES[0])[0][0]
    assert searched["blank"] == "0"


def coffee() -> NDArray[np.uint8]:
    """A cup of coffee, RGBA."""
    with zipfile.ZipFile(downloads.fetch("data-pictures")) as wheel, wheel.open("skimage/data/coffee.png") as file:
        return np.asarray(Image.open(file).convert("RGBA"))


def python_scores(aar: Path, picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Scores of the packaged model in desktop ONNX Runtime."""
    model = read_zip(aar)[PurePosixPath("assets/mobpack/vision/classifier.ort.tflite")]
    feeds = {
        "image.pixels": picture,
        "image.channels": np.array([0, 1, 2]),
        "image.orientation": np.array(1),
        "image.chroma": np.zeros((1, 1, 1), np.uint8),
        "image.conversion": np.zeros(3, np.int64),
    }
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (scores,) = session.run(["logits.scores"], feeds)
    return np.asarray(scores)
