"""Typed Kotlin methods of contracts run on ONNX Runtime's Android libraries: every pixel and sample gets to the model.

The models are `tests/toolchain/typed_models.py`; what stands in for Android's bitmaps and images is in
`tests/toolchain/fakes`, checked against Android's own classes at the end of this file.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from packager.core.errors import ToolError
from packager.core.values import Package
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.cases import spoken
from tests.cases.archives import read_zip
from tests.golden.cases import reshaped
from tests.toolchain import apptools, class_files, desktop_java, jvm, typed_models, typed_texts
from tests.toolchain.class_files import Member
from tests.toolchain.device import Library, device, library
from tests.toolchain.require import require

Facts = Mapping[str, str]

WIDTH, HEIGHT = 7, 6
BYTES = np.random.default_rng(1).integers(1, 256, 1000).astype(np.uint8)
FORMATS = {
    "RGBA": (4, [0, 1, 2]),
    "BGRA": (4, [2, 1, 0]),
    "ARGB": (4, [1, 2, 3]),
    "RGB": (3, [0, 1, 2]),
    "BGR": (3, [2, 1, 0]),
    "GREY": (1, [0, 0, 0]),
}
REGIONS = {"all": (0, 0, WIDTH, HEIGHT), "part": (1, 2, 5, 6), "rows": (0, 2, WIDTH, 4), "row": (2, 3, 4, 4)}
GAPS, DIRECT = (0, 5), ("true", "false")
SMALL = np.random.default_rng(2).integers(0, 9, 1000).astype(np.uint8)
"""pixels that are places in a picture, too"""
EXIF = ["UP", "UP_MIRRORED", "DOWN", "DOWN_MIRRORED", "LEFT_MIRRORED", "RIGHT", "RIGHT_MIRRORED", "LEFT"]


# CSS Color 4, sample code: colours of both spaces as XYZ.
P3_TO_XYZ = np.array(
    [[0.48657095, 0.26566769, 0.19821729], [0.22897456, 0.69173852, 0.07928691], [0, 0.04511338, 1.04394437]]
)
SRGB_TO_XYZ = np.array(
    [[0.41239080, 0.35758434, 0.18048079], [0.21263901, 0.71516868, 0.07219232], [0.01933082, 0.11919478, 0.95053215]]
)


@pytest.fixture(scope="module")
def typed_library(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    folder = tmp_path_factory.mktemp("typed")
    store = Store(cache_folder() / "store")
    target, plans = Android(), typed_models.plans(folder, store)
    # The runtime found another shape for this state, as it may of any output: it is copied then.
    report = reshaped("recorder", "next")
    package = Package(name="models", version="1.0.0", license="", pipelines=(typed_models.SCANNER,))
    view = target.view(package, plans, report)
    aar = target.assemble(view, target.render(view), store)[0].path
    return library(aar, folder, apps="typed/*")


@pytest.fixture(scope="module")
def pictures(typed_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    phone = device(typed_library, tmp_path_factory.mktemp("pictures"))
    return phone.run("TypedPictures", {"bytes": BYTES}, providers="CPU").facts


@pytest.fixture(scope="module")
def typed_jar(kotlin_compiler: None, tmp_path_factory: pytest.TempPathFactory) -> desktop_java.Built:
    return desktop_java.built(tmp_path_factory.mktemp("jar"), reshaped("recorder", "next"))


@pytest.fixture(scope="module", params=("android", "jvm"))
def scanned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return _facts(request, "TypedPipeline", {"small": SMALL}, tmp_path_factory.mktemp("scanned"))


@pytest.fixture(scope="module", params=("android", "jvm"))
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    listed = typed_texts.written(typed_texts.LISTED)
    files = {"texts": typed_texts.written(), "listed": listed, "vectors": typed_texts.vectors()}
    return _facts(request, "TypedAnswers", files, tmp_path_factory.mktemp("answers"))


def _facts(request: pytest.FixtureRequest, app: str, files: Mapping[str, NDArray[Any]], folder: Path) -> Facts:
    """Facts of the same program on Android, and on a desktop with the oldest Java."""
    if request.param == "android":
        library: Library = request.getfixturevalue("typed_library")
        return device(library, folder).run(app, files, providers="CPU").facts
    jar: desktop_java.Built = request.getfixturevalue("typed_jar")
    for name, values in files.items():
        values.tofile(jar.files / name)
    apps = [path for path in (jvm.APPS / "typed").glob("*.kt") if path.stem in ("TypedAnswers", "TypedPipeline")]
    found = jar.facts(app, *apps, desktop_java.APPS / "TypedBitmaps.kt", java=desktop_java.oldest_java())
    return {**found, "platform": "jvm"}


def seen(pictures: Facts, name: str) -> NDArray[np.uint8]:
    """The red, green and blue that reached the model."""
    shape, _ = pictures[f"shape of {name}"].split(" from ")
    numbers = [int(value) for value in pictures[name].split()]
    return np.array(numbers, np.uint8).reshape([int(size) for size in shape.split()])


def rows(bytes_per_pixel: int, gap: int, memory: NDArray[np.uint8] = BYTES) -> NDArray[np.uint8]:
    """The pixels of `WIDTH` x `HEIGHT` in memory, without the gaps between rows."""
    row = WIDTH * bytes_per_pixel
    lines = [memory[start : start + row] for start in range(0, HEIGHT * (row + gap), row + gap)]
    return np.array(lines).reshape(HEIGHT, WIDTH, bytes_per_pixel)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_layout_and_region_gets_to_the_model(pictures: Facts, name: str) -> None:
    bytes_per_pixel, positions = FORMATS[name]
    for gap, is_direct, region in product(GAPS, DIRECT, REGIONS):
        pixels = rows(bytes_per_pixel, gap)[:, :, positions]
        (left, top, right, bottom), case = REGIONS[region], f"seen {name} {gap} {is_direct} {region}"
        assert np.array_equal(seen(pictures, case), pixels[top:bottom, left:right]), case
        assert pictures[f"shape of {case}"].endswith(f" from {bottom - top} {right - left} {bytes_per_pixel}")


@pytest.mark.parametrize("name", FORMATS)
def test_direct_memory_without_gaps_is_read_where_it_lies(pictures: Facts, name: str) -> None:
    for gap, is_direct, region in product(GAPS, DIRECT, REGIONS):
        is_dense = region == "row" or (region in ("all", "rows") and gap == 0)
        expected = "true" if is_dense and is_direct == "true" else "false"
        assert pictures[f"follows {name} {gap} {is_direct} {region}"] == expected, (gap, is_direct, region)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_pipeline_gives_each_model_the_pixels_in_each_box(
    scanned: Facts, tmp_path_factory: pytest.TempPathFactory, orientation: int
) -> None:
    known = typed_models.plans(tmp_path_factory.mktemp("nets"), Store(cache_folder() / "store"))
    pixels = SMALL[: 6 * 28].reshape(6, 28)[:, 4:24].reshape(6, 5, 4)
    assert scanned[f"RGBA {orientation}"].split(" / ") == typed_models.scanned(known, pixels, orientation)
    luma, chroma = SMALL[:48].reshape(6, 8, 1), SMALL[48:72].reshape(3, 4, 2)
    expected = typed_models.scanned(known, luma, orientation, chroma)
    assert scanned[f"NV21 {orientation}"].split(" / ") == expected
    assert {line.rpartition(" | ")[2] == "null" for line in expected} == {True, False}


def test_a_pipeline_refuses_too_many_boxes_ends_when_cancelled_and_closes_its_models(scanned: Facts) -> None:
    assert scanned["nine rows.thrown"] == "com.example.models.ModelException"
    assert scanned["nine rows.message"] == "pipeline `scan`: 9 boxes, and it takes 8 at most"
    assert (scanned["cancelled"], scanned["run again"]) == ("CancellationException after 1 run", "6")
    assert scanned["closed"] == "finder, probe, detector: IllegalStateException"
    assert scanned["not loaded"] == "probe, detector: CancellationException"


CAMERA_FORMATS = {"NV12": (1, 0, (0, 1)), "NV21": (1, 0, (1, 0)), "P010": (2, 1, (1, 3))}
"""bytes of a pixel of luma, the one that counts, and where U and V lie in a pixel of chroma"""
PARTS = {"all": (0, 0, 8, 4), "part": (2, 0, 8, 2)}
CONVERSIONS = {"BT601_FULL": 1, "BT601_VIDEO": 2, "BT709_FULL": 3, "BT709_VIDEO": 4}


def plane(start: int, rows: int, columns: int, row_bytes: int, pixel_bytes: int) -> NDArray[np.uint8]:
    """A plane [rows, columns, pixel_bytes] of BYTES."""
    places = start + np.arange(rows)[:, None] * row_bytes + np.arange(columns * pixel_bytes)
    found: NDArray[np.uint8] = BYTES[places].reshape(rows, columns, pixel_bytes)
    return found


def of_camera(pictures: Facts, name: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8], str]:
    """The luma and the chroma that reached the model, and the conversion."""
    luma = seen(pictures, name)
    assert (luma[:, :, 0] == luma[:, :, 2]).all()
    tint = np.array([int(value) for value in pictures[f"tint of {name}"].split()], np.uint8)
    height, width, _ = luma.shape
    return luma[:, :, 0], tint.reshape(height // 2, width // 2, 2), pictures[f"conversion of {name}"]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", CAMERA_FORMATS)
def test_luma_and_chroma_of_bytes_get_to_the_model(pictures: Facts, name: str, part: str) -> None:
    size, upper, (u, v) = CAMERA_FORMATS[name]
    left, top, right, bottom = PARTS[part]
    halves = slice(top // 2, bottom // 2), slice(left // 2, right // 2)
    luma = plane(0, 4, 8, 8 * size, size)[top:bottom, left:right, upper]
    for conversion, number in CONVERSIONS.items():
        found = of_camera(pictures, f"camera {name} {conversion} {part}")
        assert np.array_equal(found[0], luma)
        assert np.array_equal(found[1], plane(32 * size, 2, 4, 8 * size, 2 * size)[halves][:, :, [u, v]])
        assert found[2] == f"{u} {v} {number}"
    found = of_camera(pictures, f"camera {name} apart {part}")
    assert np.array_equal(found[0], plane(0, 4, 8, 8 * size + 3, size)[top:bottom, left:right, upper])
    assert np.array_equal(found[1], plane(0, 2, 4, 8 * size + 5, 2 * size)[halves][:, :, [u, v]])


@pytest.mark.parametrize(
    ("name", "luma_row", "u", "v"),
    [
        ("u before v", 10, (40, 10, 2), (41, 10, 2)),
        ("v before u", 8, (41, 10, 2), (40, 10, 2)),
        ("planar", 8, (40, 6, 1), (60, 6, 1)),
    ],
)
def test_the_planes_of_a_cameras_image_get_to_the_model(
    pictures: Facts, name: str, luma_row: int, u: tuple[int, int, int], v: tuple[int, int, int]
) -> None:
    luma = plane(0, 4, 8, luma_row, 1)[:, :, 0]
    chroma = np.stack([plane(start, 2, 4, row, step)[:, :, 0] for start, row, step in (u, v)], axis=2)
    found = of_camera(pictures, f"image {name}")
    assert np.array_equal(found[0], luma)
    assert np.array_equal(found[1], chroma)
    assert found[2] == "0 1 1"
    found = of_camera(pictures, f"image {name} cropped")  # to columns 1 to 7 of rows 1 to 4
    assert np.array_equal(found[0], luma[2:4, 2:6])
    assert np.array_equal(found[1], chroma[1:2, 1:3])


def test_of_ten_bits_the_upper_eight_get_to_the_model(pictures: Facts) -> None:
    found = of_camera(pictures, "image P010")
    assert np.array_equal(found[0], plane(0, 4, 8, 20, 2)[:, :, 1])
    assert np.array_equal(found[1], plane(80, 2, 4, 20, 4)[:, :, [1, 3]])
    assert found[2] == "1 3 4"


def test_other_pictures_have_one_zero_for_chroma(pictures: Facts) -> None:
    assert (pictures["tint of image"], pictures["conversion of image"]) == ("0 0", "0 0 0")


@pytest.mark.parametrize(("number", "name"), list(enumerate(EXIF, 1)))
def test_every_orientation_is_the_number_of_exif(pictures: Facts, number: int, name: str) -> None:
    assert pictures[f"orientation {name}"] == f"{number} {number}"


def test_orientations_are_known_by_exifs_number_and_by_the_turn_that_a_camera_names(pictures: Facts) -> None:
    assert pictures["exif"].split() == ["UP", "UP", *EXIF, "UP"]
    assert pictures["rotations"].split() == ["UP", "RIGHT", "DOWN", "LEFT", "UP", "LEFT", "RIGHT"]
    assert pictures["rotation by 45.message"] == "the rotation is 45 degrees, which is not one of 0, 90, 180 and 270"


@pytest.mark.parametrize(
    ("name", "gap"), [("ARGB_8888", 0), ("with gaps", 8), ("opaque", 0), ("HARDWARE", 0), ("in memory", 0)]
)
def test_the_pixels_of_a_bitmap_are_taken_as_they_are(pictures: Facts, name: str, gap: int) -> None:
    assert np.array_equal(seen(pictures, f"bitmap {name}"), rows(4, gap)[:, :, :3])


def test_colours_that_alpha_has_not_been_multiplied_into_are_multiplied(pictures: Facts) -> None:
    pixels = rows(4, 0).astype(int)
    exact = pixels[:, :, :3] * pixels[:, :, 3:] / 255
    assert np.array_equal(seen(pictures, "bitmap not premultiplied"), np.floor(exact + 0.5))


@pytest.mark.parametrize("name", ["P3", "P3 HARDWARE"])
def test_a_bitmap_of_a_wider_gamut_is_converted_to_srgb(pictures: Facts, name: str) -> None:
    pixels = rows(4, 0)[:, :, :3]
    value = pixels / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    xyz = linear @ P3_TO_XYZ.T
    mixed = np.clip(xyz @ np.linalg.inv(SRGB_TO_XYZ).T, 0, 1)
    expected = 255 * np.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)
    assert np.abs(seen(pictures, f"bitmap of {name}") - expected).max() < 1
    assert np.abs(expected - pixels).max() > 10
    assert pictures["copies of P3"] == "3 true"


def test_a_bitmap_of_16_bits_is_expanded(pictures: Facts) -> None:
    row = 2 * WIDTH + 2
    values = np.array([BYTES[y * row : y * row + 2 * WIDTH].view("<u2") for y in range(HEIGHT)]).astype(int)
    parts = np.stack([(values >> 11) / 31, (values >> 5 & 63) / 63, (values & 31) / 31], axis=2)
    assert np.abs(seen(pictures, "bitmap RGB_565") - 255 * parts).max() < 1


def test_what_android_converts_is_recycled_afterwards(pictures: Facts) -> None:
    assert pictures["copies"] == "2 true"


def test_a_model_takes_a_bitmap_and_its_orientation(pictures: Facts) -> None:
    assert pictures["bitmap turned"] == "8"


def test_memory_that_the_app_passes_is_used_again(pictures: Facts) -> None:
    assert (pictures["buffers made with memory"], pictures["buffers made without"]) == ("0", "20")


@pytest.mark.parametrize(
    ("name", "region"),
    [
        ("image", "all"),
        ("image without alpha", "all"),
        ("image cropped", (2, 1, 6, 5)),
        ("image that is read-only", (0, 0, WIDTH, 1)),
    ],
)
def test_the_pixels_of_a_cameras_image_are_those_within_its_crop(
    pictures: Facts, name: str, region: str | tuple[int, int, int, int]
) -> None:
    left, top, right, bottom = REGIONS[region] if isinstance(region, str) else region
    assert np.array_equal(seen(pictures, name), rows(4, 12)[top:bottom, left:right, :3])


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("bitmap ALPHA_8", "a bitmap of ALPHA_8 has no colours: draw it first"),
        ("bitmap that cannot be converted", "Android cannot convert a bitmap of RGBA_F16 to ARGB_8888"),
        ("bitmap without a public config", "Android cannot convert a bitmap of null to ARGB_8888"),
        ("bitmap that is recycled", "the bitmap is recycled"),
        ("memory too small", "`memory` holds 167 bytes, the picture needs 168"),
        ("memory on the heap", "`memory` is not a direct buffer"),
        ("memory that is read-only", "`memory` is a read-only buffer"),
        (
            "image in JPEG",
            "an image of format 256 has no pixels that a model takes: ask the ImageReader for "
            "ImageFormat.YUV_420_888 or PixelFormat.RGBA_8888",
        ),
        (
            "odd width",
            "a picture of 7 x 4 pixels of NV12, Region(left=0, top=0, right=7, bottom=4): its sides and edges must be "
            "even",
        ),
        (
            "odd region",
            "a picture of 8 x 4 pixels of NV21, Region(left=0, top=0, right=3, bottom=4): its sides and edges must be "
            "even",
        ),
        ("chroma that is missing", "32 bytes: 8 x 4 pixels of NV12 in rows of 8 bytes need 48"),
        ("chroma too small", "15 bytes: the chroma of 8 x 4 pixels of NV12 in rows of 8 bytes need 16"),
        ("chroma in short rows", "rows of 7 bytes: the chroma of 8 x 4 pixels of NV12 needs 8"),
        ("memory too small for chroma", "`memory` holds 15 bytes, the picture needs 16"),
        ("no width", "a picture of 0 x 48 pixels: the least is 1 x 1"),
        ("negative height", "a picture of 64 x -1 pixels: the least is 1 x 1"),
        ("short rows", "rows of 255 bytes: 64 pixels of RGBA need 256"),
        ("one byte too few", "12288 bytes: 64 x 48 pixels of RGBA in rows of 257 bytes need 12335"),
        ("more than a buffer holds", "rows of 0 bytes: 1073741824 pixels of RGBA need 4294967296"),
        ("region outside", "Region(left=10, top=10, right=65, bottom=20) is not within 64 x 48 pixels"),
        ("region upside down", "Region(left=10, top=20, right=20, bottom=10) is not within 64 x 48 pixels"),
    ],
)
def test_a_picture_that_is_none_is_refused_in_words(pictures: Facts, mistake: str, message: str) -> None:
    assert pictures[f"{mistake}.message"] == message
    assert pictures[f"{mistake}.thrown"] == "java.lang.IllegalArgumentException"


BEST = ["Classification(label=größe, index=2, score=0.8)", 'Classification(label=gr\\een "$1", index=1, score=0.4)']


def test_classes_have_labels_and_come_best_first_without_those_below_the_threshold(answers: Facts) -> None:
    assert answers["classes"] == f"[{', '.join(BEST)}]"


def test_of_classes_that_tie_the_lower_index_comes_first(answers: Facts) -> None:
    assert answers["classes that tie"] == "[0, 3]"


@pytest.mark.parametrize("how", ["of a bitmap", "later", "of a bitmap later"])
def test_classes_of_bitmaps_and_from_coroutines_are_the_same(answers: Facts, how: str) -> None:
    assert answers[f"classes {how}"] == f"[{BEST[0]}]"


def test_threads_that_share_a_model_each_get_the_classes_of_their_own_picture(answers: Facts) -> None:
    found = json.loads(answers["classes from threads"].replace("(", "[").replace(")", "]"))
    assert [differs for differs, _ in found] == [0, 0, 0, 0]
    expected = [[0.4], [0.4], [120 / 255, 120 / 255, 0.4], [180 / 255, 180 / 255, 0.4]]
    assert [scores for _, scores in found] == [pytest.approx(scores) for scores in expected]


def test_java_can_leave_out_what_has_a_default(answers: Facts) -> None:
    picture = "BufferedImage" if "platform" in answers else "Bitmap"
    expected = [f"{picture}", f"{picture},Orientation", f"{picture},Orientation,int", "Picture", "Picture,int"]
    assert answers["overloads"] == f"[{', '.join(sorted(expected))}]"


def test_tens_of_thousands_of_labels_fit_into_a_class(answers: Facts) -> None:
    last = [
        f"Classification(label=größe {index}, index={index}, score={index}.0)"
        for index in (typed_models.WIDE - 1, typed_models.WIDE - 2)
    ]
    assert answers["classes of many"] == f"[{', '.join(last)}]"


def test_no_classes_and_a_closed_model_are_refused(answers: Facts) -> None:
    assert answers["no classes.message"] == "top is 0, the least is 1"
    assert answers["classify after close.thrown"] == "java.lang.IllegalStateException"
    assert answers["classify after close.message"] == "Classifier is closed"


def test_detections_have_boxes_and_labels(answers: Facts) -> None:
    first = "Detection(label=red, index=0, score=0.005882353, box=Box(left=0.0, top=1.0, right=2.0, bottom=3.0))"
    second = "Detection(label=, index=4, score=0.021568628, box=Box(left=4.0, top=5.0, right=6.0, bottom=7.0))"
    assert answers["detections"] == f"[{first}, {second}]"


def test_a_picture_is_a_bitmap_with_premultiplied_colours(answers: Facts) -> None:
    assert answers["picture"] == "1 x 3 [10, 20, -56, -128, 1, 2, 3, -1, 9, 9, 9, 0]"
    premultiplied = "1 x 3 [5, 10, 100, -128, 1, 2, 3, -1, 0, 0, 0, 0]"
    expected = "1 x 3 [800a14c8, ff010203, 00090909]" if "platform" in answers else premultiplied
    assert answers["picture as a bitmap"] == expected


def test_a_mask_has_a_class_and_a_score_at_every_place(answers: Facts) -> None:
    assert answers["mask"] == "3 x 2 [0, 1, 2, 3, 4, 5] [none, some]"
    assert answers["mask at 1, 1"] == "4 0.015686275"  # 4 / 255
    assert answers["mask at 3, 0.thrown"] == "java.lang.IndexOutOfBoundsException"
    assert answers["mask at 0, -1.message"] == "no place 0, -1 in a mask of 3 x 2"


def test_an_embedding_is_an_array(answers: Facts) -> None:
    assert answers["embedding"] == "0.2 0.4 0.8"


def test_a_reading_joins_symbols_and_averages_their_scores(answers: Facts) -> None:
    assert answers["reading"] == "Reading(text=ab\\ß日 , score=0.25)"
    assert answers["reading of nothing"] == "Reading(text=, score=0.0)"


def test_several_outputs_are_one_value_and_tensors_pass_as_they_are(answers: Facts) -> None:
    labels = 'größe, gr\\een "$1"'
    assert answers["several"] == f"[{labels}] [2, 4, 6, 8, 10, 12] [3, 2]"
    assert answers["a size that does not fit.message"] == "`lengths` holds 6 values, shape [1, 2] needs 2"


def test_a_state_is_carried_until_it_is_reset(answers: Facts) -> None:
    assert answers["heard first"] == "[0.5, 0.5, 0.0]"
    assert answers["heard second"] == "[0.5, 0.5, 2.0]"
    assert answers["heard third"] == "[0.5, 0.5, 4.0]"
    assert answers["heard after reset"] == "[0.5, 0.5, 0.0]"


def test_a_call_that_the_model_refuses_is_told_in_its_words(answers: Facts) -> None:
    assert answers["a sound that the model refuses.thrown"] == "com.example.models.ModelException"
    assert answers["a sound that the model refuses.message"].startswith("ListenerModel failed to run: ")


def test_calls_from_threads_to_a_model_with_a_state_run_one_after_the_other(answers: Facts) -> None:
    assert answers["heard after 100 from threads"] == "[0.5, 0.5, 200.0]"


def test_the_code_points_of_a_text_get_to_the_model(answers: Facts) -> None:
    assert answers["code points"] == f"[97, 0, 233, {0x1F600}]"
    assert answers["lone surrogates"] == f"[{0xDE00}, {0xD83D}]"
    assert answers["no text"] == "[-1]"
    assert answers["long text"] == "1048576 98"


def test_every_awkward_text_has_the_tokens_of_the_tokenizer(answers: Facts) -> None:
    assert json.loads(answers["tokens"]) == [list(each) for each in typed_texts.ids()]


@pytest.mark.parametrize("how", ["list", "alone"])
def test_each_of_several_texts_has_its_result(answers: Facts, how: str) -> None:
    wanted = typed_texts.listed()
    for name, model in (("embedded", "embedder"), ("classified", "topics"), ("scored", "judge")):
        typed_texts.same(json.loads(answers[f"{name} {how}"]), wanted[model])
    assert answers["embedded later"] == answers["embedded list"]
    assert answers["embedded none"] == answers["scored none"] == "[]"


def test_several_texts_have_labels_rows_and_ranks(answers: Facts) -> None:
    wanted = typed_texts.listed()
    assert answers["labels of a list"] == f"[{', '.join(typed_texts.topics())}]"
    longest = max(map(len, wanted["rows"]))
    padded = [[*each, *[0.0] * (longest - len(each))] for each in wanted["rows"]]
    assert json.loads(answers["rows of a list"]) == padded
    assert json.loads(answers["rows alone"]) == wanted["rows"]
    assert json.loads(answers["shapes of a list"]) == [[1, longest]] * len(padded)
    typed_texts.same(json.loads(answers["ranked list"]), typed_texts.ranked(3))
    assert answers["ranked list later"] == "true"


def test_lists_that_no_run_can_take_are_refused(answers: Facts) -> None:
    assert answers["no classes of a list.message"] == "top is 0, the least is 1"
    assert answers["lists that do not fit.message"] == "5 and 2 texts are no pairs: pass as many of each, or one"
    assert answers["a list after close.message"] == "RowsModel is closed"


def test_parts_of_a_text_are_places_of_the_string(answers: Facts) -> None:
    shown = [
        f"Entity(label={label}, text={text}, start={start}, end={end}, score={score:.1f})"
        for label, text, start, end, score in typed_texts.spans()
    ]
    assert len(shown) == 4
    assert answers["entities"] == f"[{', '.join(shown)}]"
    assert answers["entities of nothing"] == "[]"
    assert answers["entities of the second text"] == "true 3"
    assert answers["entities of lone surrogates"] == "[2, 5] true"


def test_documents_are_ranked_best_first(answers: Facts) -> None:
    ranked = [f"Ranked(index={index}, score={score})" for index, score in typed_texts.RANKED]
    assert answers["score"] == "3.0"
    assert answers["ranked"] == answers["ranked later"] == f"[{', '.join(ranked)}]"
    assert answers["ranked of none"] == "[]"


def test_no_document_is_ranked_after_its_caller_was_cancelled(answers: Facts) -> None:
    assert answers["ranked until cancelled"] == "true 2"


def test_vectors_are_compared_as_everywhere(answers: Facts) -> None:
    assert np.array(json.loads(answers["cosines"]), np.float32).tolist() == typed_texts.cosines()
    places = typed_texts.nearest()
    assert json.loads(answers["nearest"]) == places
    assert json.loads(answers["nearest three"]) == places[:3]
    assert answers["vectors of different lengths.message"] == "vectors of 3 and 2 numbers cannot be compared"
    assert answers["vectors of different lengths.thrown"] == "java.lang.IllegalArgumentException"
    assert answers["no vectors.message"] == "count is 0, the least is 1"
    assert answers["nearest of odd numbers"] == "[1, 2, 3, 4, 0]"


def test_samples_are_passed_as_the_model_takes_them(answers: Facts) -> None:
    assert answers["shorts"] == "[1, -2, 32767, -32768] [2, 2] 8000 1"
    assert answers["floats"] == "[0, 16384, -32768, 32767, 32767, -32768, 0, 0] [8, 1] 16000 2"
    assert answers["shorts in direct memory"] == "[1, 2, 3, 4, 5, 6, 7, 8] [8, 1] 8000 3"
    assert answers["shorts of foreign order"] == "[0, 1] [2, 1] 8000 4"
    assert answers["shorts as floats"] == "0.375"


def test_a_sound_that_a_model_makes_is_a_file_that_python_writes_alike(answers: Facts) -> None:
    assert answers["played"] == f"{spoken.RATE} {spoken.CHANNELS} {len(spoken.STEPS) // 2} 0.0"
    assert bytes(each % 256 for each in json.loads(answers["wav"])) == spoken.wav_file()
    assert bytes(json.loads(answers["wav of whole"])) == spoken.wav_file((0, 1, 0, 2))[44:]
    assert answers["nothing played"] == "0 44"


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("no samples", "a sound without samples"),
        ("nothing heard", "a sound without samples"),
        ("half a frame", "3 samples are no whole number of frames of 2 channels"),
        ("no rate", "a rate of 0 frames per second: it must be from 1000 to 768000"),
        ("no channels", "0 channels: the least is 1"),
    ],
)
def test_a_sound_that_is_none_is_refused_in_words(answers: Facts, mistake: str, message: str) -> None:
    assert answers[f"{mistake}.message"] == message
    assert answers[f"{mistake}.thrown"] == "java.lang.IllegalArgumentException"


def test_android_has_what_the_classes_call_of_its_pictures_and_so_have_the_stand_ins(typed_library: Library) -> None:
    try:
        android = set(_declared(apptools.app_tools().android_jar))
    except ToolError as error:
        require(False, f"{error}; {error.hint}")
    called = {
        member
        for content in read_zip(typed_library.classes).values()
        if content[:4] == b"\xca\xfe\xba\xbe"
        for member in class_files.read(content).referred
        if member.owner.startswith(("android/graphics/", "android/media/"))
    }
    assert {member.name for member in called} >= {"copyPixelsToBuffer", "getRowStride", "ARGB_8888", "left"}
    # The stubs are those of Android 6; these came with Android 8, and are called from there on.
    newer = {("android/graphics/Bitmap", "getColorSpace"), ("android/graphics/ColorSpace", "isSrgb")}
    assert {(member.owner, member.name) for member in called - android} == newer
    assert called <= set(_declared(jvm.fakes()))


def _declared(jar: Path) -> Iterator[Member]:
    for name, content in read_zip(jar).items():
        if name.suffix == ".class" and str(name).startswith(("android/graphics/", "android/media/")):
            yield from class_files.read(content).declared
