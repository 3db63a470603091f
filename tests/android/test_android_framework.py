"""The sample app and its package in Android's own framework: photos, assets, providers, memory, heat and screens."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.android.test_sample_android import MAIN, OFFLINE, PACKAGE, TARGET_SDK, merged_manifest
from tests.toolchain import apptools, command, jvm, robolectric, sample_notes, vision
from tests.toolchain.sample_package import NOTES, VISION

ROOT = Path(__file__).parents[2]

Facts = Mapping[int, Mapping[str, str]]

ORIENTATION = 0x0112
DECODER_SINCE, THERMAL_SINCE, EXIF_IN_WEBP_SINCE = 28, 29, 30
TOLERANCE = 1e-5


def write_photos(folder: Path) -> None:
    """A cup of coffee as cameras and programs write it."""
    coffee = Image.open(ROOT / vision.FOLDER / "coffee.jpg").convert("RGB")

    def save(name: str, picture: Image.Image, orientation: int = 0, **options: Any) -> None:
        exif = Image.Exif()
        if orientation:
            exif[ORIENTATION] = orientation
        picture.save(folder / name, exif=exif, **options)

    for number in range(1, 9):
        save(f"exif-{number}.jpg", coffee, number, quality=90)
    save("upright.jpg", coffee, quality=90)
    save("turned.jpg", coffee.transpose(Image.Transpose.ROTATE_90), 6, quality=90)
    save("pixel.jpg", coffee.resize((1, 1)))
    save("row.png", coffee.resize((300, 1)))
    save("12-megapixels.jpg", coffee.resize((4000, 3000)), 3, quality=80)
    save("grey.jpg", coffee.convert("L"), 8)
    save("grey.png", coffee.convert("L"))
    save("palette.png", coffee.quantize(200))
    fading = coffee.copy()
    fading.putalpha(Image.linear_gradient("L").resize(coffee.size))
    save("alpha.png", fading)
    save("alpha.webp", fading, lossless=True)
    save("grey-alpha.png", fading.convert("LA"))
    save("photo.webp", coffee, 5, quality=90)
    save("cmyk.jpg", coffee.convert("CMYK"), quality=90)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Reports of the app, and what mobpack says of the same photos."""

    facts: Facts
    predictions: Mapping[str, list[tuple[str, float]]]
    """label and score by name of the photo, the best first"""
    screens: Path


@pytest.fixture(scope="module")
def seen(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Seen:
    folder = tmp_path_factory.mktemp("framework")
    photos, screens = folder / "photos", folder / "screens"
    for made in (photos, screens):
        made.mkdir()
    write_photos(photos)
    app = install(folder, photos)
    facts = robolectric.run(
        "framework.PhotosKt",
        {
            "photos": photos,
            "screens": screens,
            "deflated": app.deflated,
            "newest": max(robolectric.LEVELS),
            "query": sample_notes.QUERIES[0],
        },
        classpath=app.classes,
        installed={
            "android_merged_manifest": app.manifest,
            "android_resource_apk": app.stored,
            "android_custom_package": PACKAGE,
        },
    )
    paths = sorted(photos.iterdir())
    done = command.run("predict", "--json", *paths, folder=vision.root() / vision.FOLDER)
    answers = {entry["file"]: entry["answers"]["logits"] for entry in json.loads(done.stdout)["predictions"]}
    predictions = {path.name: [(each["label"], each["score"]) for each in answers[str(path)]] for path in paths}
    return Seen(facts=facts, predictions=predictions, screens=screens)


@dataclass(frozen=True, kw_only=True)
class App:
    """The sample app as its build makes it."""

    manifest: Path
    stored: Path
    """its assets are stored as they are"""
    deflated: Path
    classes: list[Path]


def install(folder: Path, photos: Path) -> App:
    aars = [next(package.dist().rglob("*.aar")) for package in (VISION, NOTES)]
    merged = merged_manifest(aars, folder)
    assets = folder / "assets"
    assets.mkdir()
    for path in (*photos.iterdir(), *(MAIN / "assets").iterdir()):
        (assets / path.name).symlink_to(path)
    for aar in aars:
        with zipfile.ZipFile(aar) as library:
            library.extractall(folder, [name for name in library.namelist() if name.startswith("assets/")])
    linked = apptools.link_resources(
        merged, resources=MAIN / "res", assets=assets, target_sdk=TARGET_SDK, folder=folder
    )
    binary = apptools.binary(linked.apk)
    libraries = [apptools.extract(aar, "classes.jar", folder / f"{aar.stem}.jar") for aar in aars]
    app = [*sorted(MAIN.rglob("*.kt")), *OFFLINE.rglob("*.kt"), linked.r_java]
    sources = [*app, robolectric.LAUNCH.with_name("Photos.kt")]
    return App(
        manifest=merged,
        stored=packed(binary, folder / "stored.apk", zipfile.ZIP_STORED),
        deflated=packed(binary, folder / "deflated.apk", zipfile.ZIP_DEFLATED),
        classes=[robolectric.compile_app(sources, classpath=libraries), *libraries],
    )


def packed(linked: Path, apk: Path, method: int) -> Path:
    """The app with its models as they are, or compressed."""
    with zipfile.ZipFile(linked) as source, zipfile.ZipFile(apk, "w", compresslevel=1) as target:
        for entry in source.infolist():
            how = method if entry.filename.endswith(".tflite") else entry.compress_type
            target.writestr(entry.filename, source.read(entry), compress_type=how)
    return apk


def differs(seen: str, predicted: list[tuple[str, float]]) -> bool:
    """Whether the app's labels and scores are others than mobpack's."""
    pairs = [each.rsplit(" ", 1) for each in seen.split("|")]
    if [label for label, _ in pairs] != [label for label, _ in predicted]:
        return True
    return any(abs(float(score) - right) > TOLERANCE for (_, score), (_, right) in zip(pairs, predicted, strict=True))


@pytest.mark.parametrize("level", robolectric.LEVELS)
def test_a_photo_gives_on_android_what_mobpack_predicts(seen: Seen, level: int) -> None:
    facts = seen.facts[level]
    wrong = {
        name: (facts[f"{name} file"], predicted)
        for name, predicted in seen.predictions.items()
        if differs(facts[f"{name} file"], predicted)
    }
    assert wrong.keys() == ({"photo.webp"} if level < EXIF_IN_WEBP_SINCE else set()), wrong


@pytest.mark.parametrize("level", robolectric.LEVELS)
@pytest.mark.parametrize("photo", ["upright.jpg", "alpha.png"])
def test_it_does_not_matter_where_a_photo_comes_from(seen: Seen, level: int, photo: str) -> None:
    ways = ["stream", "uri", "asset", *(["decoder"] if level >= DECODER_SINCE else [])]
    assert {seen.facts[level][f"{photo} {way}"] for way in ways} == {seen.facts[level][f"{photo} file"]}


@pytest.mark.parametrize("level", robolectric.LEVELS)
def test_a_model_is_mapped_where_the_app_has_it_as_it_is_and_copied_once_where_it_is_compressed(
    seen: Seen, level: int
) -> None:
    facts = seen.facts[level]
    assert "classifier.ort.tflite" not in facts["kept"].split(", ")
    assert facts["openFd"].endswith("This file can not be opened as a file descriptor; it is probably compressed")
    assert "classifier.ort.tflite" in facts["copied"].split(", ")
    assert facts["deflated"] == facts["upright.jpg file"]


@pytest.mark.parametrize("level", robolectric.LEVELS)
def test_androids_own_words_of_memory_and_heat_get_to_the_model(seen: Seen, level: int) -> None:
    facts = seen.facts[level]
    assert (facts["calm"], facts["short"], facts["low"]) == ("; espresso", *["release MEMORY, load; espresso"] * 2)
    assert facts.get("hot") == ("release THERMAL, load" if level >= THERMAL_SINCE else None)


@pytest.mark.parametrize("level", robolectric.LEVELS)
def test_the_installed_app_has_no_provider_that_starts_telemetry(seen: Seen, level: int) -> None:
    assert seen.facts[level]["providers"] == ""


@pytest.mark.parametrize("level", robolectric.LEVELS)
def test_the_sample_app_asks_for_a_photo_and_says_what_is_in_it_before_and_after_a_turn(seen: Seen, level: int) -> None:
    facts = seen.facts[level]
    assert "android.intent.action.GET_CONTENT" in facts["asked"]
    label, score = seen.predictions["turned.jpg"][0]
    assert facts["said"].splitlines()[0] == f"{label}: {score:.0%}"
    assert facts["said again"] == facts["said"]
    empty, photo = (red_columns(seen.screens / f"{level}-{name}.png") for name in ("empty", "photo"))
    assert empty.size == 0
    assert np.ptp(photo) > 150, "the red saucer is wide: it lies upright on the screen"


def red_columns(screen: Path) -> NDArray[np.intp]:
    """The columns of a screen that have the red of the cup."""
    pixels = np.asarray(Image.open(screen).convert("RGB"))
    return np.flatnonzero(((pixels[:, :, 0] > 100) & (pixels[:, :, 1] < 60)).any(axis=0))


def test_the_sample_app_finds_notes(seen: Seen) -> None:
    facts = seen.facts[max(robolectric.LEVELS)]
    assert facts["state"] == "40 notes on this device"
    assert facts["found"].split("|") == [title for title, _ in sample_notes.nearest(sample_notes.QUERIES[0])]
