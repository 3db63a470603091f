"""Pictures by address in a React Native package: decoded by Android's part, handed over by C++, left out where no model
takes pictures."""

import base64
import io
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from packager.render.templates import write_sources
from packager.samples.raw import picture
from tests.golden.cases import REACT_NATIVE_CASES
from tests.toolchain import apptools, ecj, jsc, node, react_native_api, robolectric
from tests.toolchain.react_native import codegen, expo, native
from tests.toolchain.react_native.cpp_complaints import complaints_for_apple

TOOLCHAIN = Path(__file__).parents[1] / "toolchain" / "react_native"
APP = [TOOLCHAIN / "android" / name for name in ("Answer.kt", "Decode.kt", "Phone.kt")]
LEVEL = 34
TURNED_RIGHT = 6
RED, GREEN = (250, 10, 20), (10, 240, 30)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package whose models take pictures, with node_modules inside."""
    folder = tmp_path_factory.mktemp("package") / "react-native-contracts"
    write_sources(REACT_NATIVE_CASES["contracts"].sources(), folder)
    node.link(node.project("react_native"), folder)
    return folder


def encoded(width: int, height: int, kind: str = "PNG", orientation: int = 1) -> bytes:
    """A picture whose left half is red, and the other green."""
    picture = Image.new("RGB", (width, height), GREEN)
    picture.paste(RED, (0, 0, width // 2, height))
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = io.BytesIO()
    picture.save(content, kind, **({"exif": exif, "quality": 95} if kind == "JPEG" else {}))
    return content.getvalue()


REFUSED = {
    "https://example.com/cat.jpg": ("bad-input", "https://example.com/cat.jpg is not on the device: download it first"),
    "ph://1": ("bad-input", "ph://1 is neither file:, content:, data:, asset: nor a path"),
    "photo.png": ("bad-input", "photo.png is neither file:, content:, data:, asset: nor a path"),
    "/nowhere/cat.jpg": ("missing", "there is no /nowhere/cat.jpg"),
    "content://gone/1": ("missing", "there is no content://gone/1"),
    "content://forbidden/1": ("unreadable", "content://forbidden/1: Permission Denial"),
    "content://throws/java.lang.IllegalArgumentException": ("unreadable", "content://throws/java.lang.IllegalArgument"),
    "content://throws/java.lang.OutOfMemoryError": ("out-of-memory", "its words"),
    "content://throws/java.lang.NoSuchMethodError": ("runtime", "its words"),
    "data:image/png,hello": ("bad-input", "data:image/png,hello is not in base64"),
    "data:image/png;base64,A": ("bad-input", "data:image/png;base64,A is not in base64"),
    "data:image/png;base64,&&&": ("bad-input", "data:image/png;base64,&&& is no picture"),
    "data:image/png;base64,aGVsbG8=": ("bad-input", "data:image/png;base64,aGVsbG8= is no picture"),
}
"""address -> code, and how the words begin: Android leaves out what is no letter of base64"""
LONG = "data:image/png;base64," + "AAAA" * 1000
SIZES = {"whole": (0, 400), "same": (400, 400), "less": (399, 399), "fifth": (80, 80)}
"""longest side that is asked for, that of the picture"""


@dataclass(frozen=True)
class Decoded:
    """Answers of a package's Kotlin about pictures at addresses, in Android's own framework."""

    folder: Path
    facts: Mapping[str, Mapping[str, str]]
    """by the names of requests"""
    pixels: Mapping[str, Path]

    def picture(self, name: str) -> Image.Image:
        facts = self.facts[name]
        assert (facts["code"], facts["folder"]) == ("null", "true"), facts["words"]
        size = (int(facts["width"]), int(facts["height"]))
        return Image.frombytes("RGBA", size, self.pixels[name].read_bytes())


def requests(folder: Path) -> dict[str, tuple[object, int]]:
    """Addresses of pictures in a folder, and their longest sides, by name."""
    content = encoded(6, 4)
    (folder / "a picture.png").write_bytes(content)
    (folder / "photo.jpg").write_bytes(encoded(16, 8, "JPEG", TURNED_RIGHT))
    (folder / "wide.png").write_bytes(encoded(400, 100))
    (folder / "square.png").write_bytes(encoded(400, 400))
    Image.new("RGBA", (2, 2), (200, 100, 50, 0)).save(folder / "clear.png")
    Image.new("1", (8200, 8200)).save(folder / "huge.png")
    Image.effect_noise((1200, 900), 90).convert("RGB").save(folder / "noise.png")
    Image.effect_noise((120, 90), 90).convert("CMYK").save(folder / "cmyk.jpg")
    return {
        "file": (f"file://{str(folder / 'a picture.png').replace(' ', '%20')}", 0),
        "path": (folder / "a picture.png", 0),
        "provider": ("content://media/1", 0),
        "address": (f"data:image/png;base64,{base64.b64encode(content).decode()}", 0),
        "bundled": ("file:///android_asset/a%20b.png", 0),
        "asset": ("asset:/a%20b.png", 0),
        "photo": (f"file://{folder}/photo.jpg", 0),
        **{name: (folder / f"{name}.{kind}", 0) for name, kind in KINDS.items()},
        **{name: (folder / "wide.png", size) for name, (size, _) in SIZES.items()},
        "least": (folder / "square.png", 1),
        "huge, smaller": (folder / "huge.png", 100),
        "huge": (folder / "huge.png", 0),
        "long": (LONG, 0),
        **{uri: (uri, 0) for uri in REFUSED},
    }


KINDS = {"clear": "png", "noise": "png", "cmyk": "jpg"}


@pytest.fixture(scope="module")
def decoded(
    package: Path, kotlin_compiler: None, stand_in_compiler: None, tmp_path_factory: pytest.TempPathFactory
) -> Decoded:
    """The package's Kotlin, compiled against codegen's class, React Native's and Android's, warnings as errors."""
    folder = tmp_path_factory.mktemp("pictures")
    [java] = codegen.for_android(package, folder / "codegen").rglob("*.java")
    classes = react_native_api.classes()
    path = [ecj.compile_java([java], classpath=[classes]), classes]
    ours = sorted((package / "android").rglob("*.kt"))
    path.insert(0, robolectric.compile_app([*ours, java], classpath=[classes]))
    path.insert(0, robolectric.compile_app(APP, classpath=path))
    asked = requests(folder)
    arguments: dict[str, object] = {"provided": folder / "a picture.png", "pixels": folder}
    for number, (uri, size) in enumerate(asked.values()):
        arguments |= {f"uri.{number}": uri, f"size.{number}": size}
    (folder / "assets").mkdir()
    (folder / "assets" / "a b.png").write_bytes(encoded(6, 4))
    manifest = apptools.empty_manifest("com.example.app", folder)
    apk = apptools.binary(apptools.link(manifest, assets=folder / "assets", apk=folder / "app.apk"))
    installed = {"android_merged_manifest": manifest, "android_resource_apk": apk}
    little = ("-XX:MaxDirectMemorySize=1m",)
    facts = robolectric.run(
        "reactnative.DecodeKt", arguments, classpath=path, levels=[LEVEL], installed=installed, flags=little
    )[LEVEL]
    split = [
        {name.partition(".")[2]: value for name, value in facts.items() if name.startswith(f"{number}.")}
        for number, _ in enumerate(asked)
    ]
    pixels = {name: folder / f"{number}.rgba" for number, name in enumerate(asked)}
    return Decoded(folder, dict(zip(asked, split, strict=True)), pixels)


def test_a_picture_is_decoded_as_it_lies_in_the_file(decoded: Decoded) -> None:
    found = decoded.picture("file")
    assert (found.getpixel((0, 3)), found.getpixel((5, 0))) == ((*RED, 255), (*GREEN, 255))
    assert (decoded.facts["file"]["orientation"], decoded.facts["file"]["thread"]) == ("1", "Contracts")


def test_pictures_come_from_paths_providers_addresses_and_assets(decoded: Decoded) -> None:
    for name in ("path", "provider", "address", "bundled", "asset"):
        assert decoded.picture(name).tobytes() == decoded.picture("file").tobytes(), name


def test_exif_says_how_the_model_turns_it_and_what_is_transparent_lies_over_black(decoded: Decoded) -> None:
    assert decoded.facts["photo"]["orientation"] == str(TURNED_RIGHT)
    assert decoded.picture("photo").size == (16, 8)
    assert decoded.picture("clear").getpixel((1, 1)) == (0, 0, 0, 0)


def test_androids_pixels_are_those_that_mobpack_predicts_from(decoded: Decoded) -> None:
    for name in ("photo", "noise", "cmyk"):
        pixels, places, orientation, *_ = picture(decoded.folder / f"{name}.{KINDS.get(name, 'jpg')}")
        assert decoded.picture(name).convert("RGB").tobytes() == pixels[:, :, places].tobytes(), name
        assert decoded.facts[name]["orientation"] == str(orientation)


def test_a_longest_side_makes_it_smaller(decoded: Decoded) -> None:
    for name, (_, longest) in SIZES.items():
        found = decoded.picture(name)
        assert found.size == (longest, round(longest / 4))
        corners = (found.getpixel((0, 0)), found.getpixel((found.width - 1, found.height - 1)))
        assert corners == ((*RED, 255), (*GREEN, 255))
    assert decoded.picture("least").size == (1, 1)


def test_what_is_no_picture_is_told(decoded: Decoded) -> None:
    for uri, (code, words) in REFUSED.items():
        facts = decoded.facts[uri]
        assert facts["code"] == code
        assert facts["words"].startswith(f"[{code}] {words}")
        assert facts["left"] == "old.txt, read.rgba", "nothing is left of the pixels"
    assert len(decoded.facts["long"]["words"]) < 200, "an address with a whole picture is not told whole"


def test_a_picture_that_is_too_large_asks_for_a_size(decoded: Decoded) -> None:
    words = f"[bad-input] {decoded.folder / 'huge.png'} has 8200 x 8200 pixels: pass maxSize"
    assert decoded.facts["huge"]["words"] == words
    assert decoded.picture("huge, smaller").size == (100, 100)


def test_pixels_that_an_app_left_behind_are_removed(decoded: Decoded) -> None:
    """The first picture removes those of an hour ago, and leaves those of another call and other files."""
    assert decoded.facts["file"]["left"] == "old.txt, read.rgba"


def specs_of(package: Path, folder: Path, project: str) -> Path:
    """Codegen's output for an app with a package."""
    modules = node.link(node.project(project), folder / "app")
    shutil.copytree(package, modules / package.name, ignore=shutil.ignore_patterns("node_modules"))
    text = f'{{"name": "app", "private": true, "dependencies": {{"{package.name}": "1.0.0"}}}}'
    (folder / "app" / "package.json").write_text(text, encoding="utf-8")
    return codegen.for_ios(folder / "app", folder / "codegen", project=project)


def test_codegen_of_the_oldest_react_native_takes_the_declarations(package: Path, tmp_path: Path) -> None:
    [header] = specs_of(package, tmp_path, expo.OLDEST).rglob("ContractsSpecJSI.h")
    assert "decode" in header.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def specs(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return specs_of(package, tmp_path_factory.mktemp("specs"), jsc.NEWEST)


DECODER = """\
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "Failure.h"
#include "Pictures.h"

namespace own = mobpack::NAMESPACE;

namespace {

own::DecodedPicture decode(const std::string& uri, std::uint64_t maxSize) {
  if (uri == "gone") throw own::Failure(own::Code::missing, "there is no gone");
  if (uri == "odd") throw 7;
  auto pixels = std::make_shared<own::NativeMemory>(uri == "huge" ? std::numeric_limits<std::size_t>::max() / 4 : 8);
  std::fill_n(pixels->data(), 8, static_cast<std::uint8_t>(maxSize));
  return {std::move(pixels), 2, 1, 6};
}

[[maybe_unused]] const bool isSet = [] {
  if (std::getenv("NO_DECODER") == nullptr) own::setPictureDecoder(&decode);
  return true;
}();

}  // namespace
"""
"""in the place of Apple's: two pixels, all bytes of which are `maxSize`"""


@pytest.fixture(scope="module")
def code(package: Path, specs: Path, tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    """The package's C++ with a decoder, and its JavaScript."""
    folder = tmp_path_factory.mktemp("native")
    copy = folder / "node_modules" / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("node_modules"))
    found = re.search(r"mobpack::(\w+)", (copy / "cpp" / "Pictures.h").read_text(encoding="utf-8"))
    assert found
    decoder = DECODER.replace("NAMESPACE", found[1])
    (copy / "cpp" / "Decoder.cpp").write_text(decoder, encoding="utf-8")
    native.bundle(folder, folder / "script.js", "picture.js")
    return native.Code(jsc.program(copy, specs, "Contracts"), folder / "script.js", copy / "models")


@pytest.fixture
def native_app(code: native.Code, tmp_path: Path) -> native.App:
    return code.app(tmp_path / "native")


@pytest.mark.parametrize("engine", ["plain", "lending"])
def test_apples_pixels_are_handed_over(native_app: native.App, engine: str) -> None:
    found = native_app.run("picture", engine=engine, uri="file:///x.jpg", options={"maxSize": 7})
    assert found == {
        "width": 2,
        "height": 1,
        "format": "rgba",
        "orientation": TURNED_RIGHT,
        "data": [7] * 8,
        "isNative": engine == "lending",
    }


def test_errors_of_the_decoder_have_their_codes(native_app: native.App) -> None:
    gone = {"name": "ModelError", "code": "missing", "message": "there is no gone"}
    assert native_app.run("picture", uri="gone") == gone
    odd = native_app.run("picture", uri="odd")
    assert (odd["code"], odd["message"]) == ("runtime", "the system's code failed with an exception")
    assert "not enough memory" in native_app.run("picture", uri="huge")["message"]
    none = native_app.run("picture", uri="x", environment={"NO_DECODER": "1"})
    assert (none["code"], none["message"]) == ("runtime", "native code was given no decoder of pictures")


WRONG: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"uri": ""}, "bad-input", "the address of a picture is a string, found "),
    ({"uri": 4}, "bad-input", "the address of a picture is a string, found 4"),
    ({"uri": "x", "options": {"maxSize": 0.5}}, "bad-options", "maxSize is a whole number of pixels, found 0.5"),
    ({"uri": "x", "options": {"maxSize": -1}}, "bad-options", "maxSize is a whole number of pixels, found -1"),
    (
        {"uri": "x", "options": {"maxSize": 2**31}},
        "bad-options",
        "maxSize is a whole number of pixels, found 2147483648",
    ),
    ({"uri": "x", "options": {"maxSize": "9"}}, "bad-options", "maxSize is a whole number of pixels, found 9"),
)


def test_what_is_no_address_or_size_is_told(native_app: native.App) -> None:
    for asked, code, words in WRONG:
        assert native_app.run("picture", **asked) == {"name": "ModelError", "code": code, "message": words}


def test_androids_pixels_are_read_once(native_app: native.App, tmp_path: Path) -> None:
    pixels = tmp_path / "pixels.rgba"
    decoded = {"path": str(pixels), "width": 1, "height": 2, "orientation": 1}
    pixels.write_bytes(bytes(range(8)))
    found = native_app.run("picture", os="android", uri="content://1", options={"maxSize": 9}, decoded=decoded)
    assert (found["data"], found["width"], found["height"]) == (list(range(8)), 1, 2)
    assert not pixels.exists()
    pixels.write_bytes(bytes(7))
    found = native_app.run("picture", os="android", uri="content://1", decoded=decoded)
    assert found["code"] == "unreadable"
    assert not pixels.exists(), "also when they cannot be read"
    refused = {"error": "[bad-input] x is no picture"}
    found = native_app.run("picture", os="android", uri="x", decoded=refused)
    assert (found["code"], found["message"]) == ("bad-input", "x is no picture")


def test_apples_decoder_compiles(package: Path, specs: Path) -> None:
    assert complaints_for_apple(package / "ios" / "Pictures.mm", package, specs) == ""


def test_packages_without_pictures_have_none_of_it() -> None:
    sources = REACT_NATIVE_CASES["cpu_alone"].sources()
    names = {path.name for path in (*sources.texts, *sources.files)}
    assert not names & {"image.js", "image.ts", "Pictures.h", "Pictures.mm", "Pictures.kt", "decoding.js", "drawing.js"}
    assert not [path for path, text in sources.texts.items() if path.name != "README.md" and "decode(" in text]
