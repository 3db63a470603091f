"""Pictures by address in a React Native package: decoded by Android's part, handed over by C++, left out where no model
takes pictures."""

import base64
import io
import os
import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from packager.files.installed import templates_folder
from packager.render.templates import write_sources
from tests.golden.cases import REACT_NATIVE_CASES
from tests.toolchain import jsc, jvm, node, react_native_api
from tests.toolchain.react_native import codegen, expo, native
from tests.toolchain.react_native.cpp_complaints import complaints_for_apple

TOOLCHAIN = Path(__file__).parents[1] / "toolchain" / "react_native"
APP = [TOOLCHAIN / "android" / name for name in ("Answer.kt", "Decode.kt")]
STUBS = TOOLCHAIN / "android" / "stubs"
"""what Android has for pictures, as Kotlin sees classes of Java; the rest is that of Android libraries"""
TURNED_RIGHT = 6
RED, GREEN = (250, 10, 20), (10, 240, 30)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package whose models take pictures, with node_modules inside."""
    folder = tmp_path_factory.mktemp("package") / "react-native-contracts"
    write_sources(REACT_NATIVE_CASES["contracts"].sources(), folder)
    node.link(node.project("react_native"), folder)
    return folder


@pytest.fixture(scope="module")
def classes(package: Path, kotlin_compiler: None, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The package's Kotlin compiled against codegen's class, warnings as errors, and an app."""
    folder = tmp_path_factory.mktemp("classes")
    [java] = codegen.for_android(package, folder / "codegen").rglob("*.java")
    path = [react_native_api.classes(), jvm.fakes()]
    spec = folder / "Spec.kt"
    spec.write_text(react_native_api.spec_in_kotlin(java.read_text(encoding="utf-8")), encoding="utf-8")
    path.insert(0, jvm.compile_kotlin([spec], classpath=path))
    own = {stub.name: stub for stub in sorted(STUBS.glob("*.java"))}
    known = sorted((templates_folder() / "android" / "stubs" / "android").rglob("*.java"))
    stubs = [*own.values(), *(stub for stub in known if stub.name not in own)]
    ours = sorted((package / "android").rglob("*.kt"))
    path.insert(0, jvm.compile_kotlin([*ours, java, *stubs], classpath=path[1:]))
    return [jvm.compile_kotlin(APP, classpath=path), *path]


@dataclass(frozen=True)
class Phone:
    folder: Path
    classes: list[Path]

    @property
    def cache(self) -> Path:
        return self.folder / "data" / "cache" / "mobpack" / "Contracts"

    def decode(self, *requests: tuple[object, int], java: str = "", **given: object) -> list[Mapping[str, str]]:
        """Facts about each picture at an address, with a longest side that is asked for or 0, all in one process, which
        gets options of Java's."""
        arguments = {"apk": self.folder / "app.apk", "data": self.folder / "data", **given}
        for number, (uri, size) in enumerate(requests):
            arguments |= {f"uri.{number}": uri, f"size.{number}": size}
        variables = {"JAVA_TOOL_OPTIONS": java} if java else None
        facts = jvm.run("reactnative.DecodeKt", arguments, classpath=self.classes, variables=variables).facts
        return [
            {name.removeprefix(f"{number}."): value for name, value in facts.items() if name.startswith(f"{number}.")}
            for number, _ in enumerate(requests)
        ]

    def pictures(self, *uris: object, provided: Path) -> list[Image.Image]:
        return [pixels_of(facts) for facts in self.decode(*((uri, 0) for uri in uris), provided=provided)]

    def errors(self, *uris: object) -> list[tuple[str, str]]:
        """Code and words of each; nothing is left of the pixels."""
        found = self.decode(*((uri, 0) for uri in uris))
        assert not list(self.cache.glob("*"))
        assert all(facts["words"].startswith(f"[{facts['code']}] ") for facts in found)
        return [(facts["code"], facts["words"].partition("] ")[2]) for facts in found]


@pytest.fixture
def phone(classes: list[Path], tmp_path: Path) -> Phone:
    return Phone(tmp_path, classes)


def encoded(width: int, height: int, kind: str = "PNG", orientation: int = 1) -> bytes:
    """A picture whose left half is red, and the other green."""
    picture = Image.new("RGB", (width, height), GREEN)
    picture.paste(RED, (0, 0, width // 2, height))
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = io.BytesIO()
    picture.save(content, kind, **({"exif": exif, "quality": 95} if kind == "JPEG" else {}))
    return content.getvalue()


def pixels_of(facts: Mapping[str, str]) -> Image.Image:
    assert facts["code"] == "null", facts["words"]
    size = (int(facts["width"]), int(facts["height"]))
    return Image.frombytes("RGBA", size, Path(facts["path"]).read_bytes())


def test_a_picture_is_decoded_as_it_lies_in_the_file(phone: Phone, tmp_path: Path) -> None:
    path = tmp_path / "a picture.png"
    path.write_bytes(encoded(6, 4))
    facts, of_a_path = phone.decode((f"file://{str(path).replace(' ', '%20')}", 0), (path, 0))
    found = pixels_of(facts)
    assert (found.getpixel((0, 3)), found.getpixel((5, 0))) == ((*RED, 255), (*GREEN, 255))
    assert (facts["orientation"], facts["thread"]) == ("1", "Contracts")
    assert Path(facts["path"]).parent == phone.cache
    assert pixels_of(of_a_path).tobytes() == found.tobytes(), "a path is an address, too"


def test_exif_says_how_the_model_turns_it_and_what_is_transparent_lies_over_black(phone: Phone, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(encoded(16, 8, "JPEG", TURNED_RIGHT))
    Image.new("RGBA", (2, 2), (200, 100, 50, 0)).save(tmp_path / "clear.png")
    photo, clear = phone.decode((f"file://{tmp_path}/photo.jpg", 0), (tmp_path / "clear.png", 0))
    assert (photo["orientation"], pixels_of(photo).size) == (str(TURNED_RIGHT), (16, 8))
    assert pixels_of(clear).getpixel((1, 1)) == (0, 0, 0, 0)


SIZES = ((0, (400, 100), 1), (400, (400, 100), 1), (399, (399, 100), 1), (80, (80, 20), 4), (1, (1, 1), 256))
"""longest side that is asked for, that of the picture, and the pixels of which the decoder takes one"""


def test_a_longest_side_makes_it_smaller(phone: Phone, tmp_path: Path) -> None:
    for name, height in (("wide", 100), ("square", 400)):
        (tmp_path / f"{name}.png").write_bytes(encoded(400, height))
    asked = [(tmp_path / ("wide.png" if step < 256 else "square.png"), size) for size, _, step in SIZES]
    found = phone.decode(*asked)
    pictures = [pixels_of(facts) for facts in found]
    seen = [(picture.size, facts["steps"]) for picture, facts in zip(pictures, found, strict=True)]
    assert seen == [(expected, str(step)) for _, expected, step in SIZES]
    for picture in pictures[:-1]:
        corners = (picture.getpixel((0, 0)), picture.getpixel((picture.width - 1, picture.height - 1)))
        assert corners == ((*RED, 255), (*GREEN, 255))


def test_pictures_come_from_providers_addresses_and_assets(phone: Phone, tmp_path: Path) -> None:
    content = encoded(6, 4)
    (tmp_path / "photo.png").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "app.apk", "w") as apk:
        apk.writestr("assets/a b.png", content)
    inside = f"data:image/png;base64,{base64.b64encode(content).decode()}"
    uris = ("content://media/1", inside, "file:///android_asset/a%20b.png", "asset:/a%20b.png")
    found = phone.pictures(*uris, provided=tmp_path / "photo.png")
    assert [picture.size for picture in found] == [(6, 4)] * len(uris)


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
    "data:image/png;base64,&&&": ("bad-input", "data:image/png;base64,&&& is not in base64"),
    "data:image/png;base64,aGVsbG8=": ("bad-input", "data:image/png;base64,aGVsbG8= is no picture"),
}
"""address -> code, and how the words begin"""


def test_what_is_no_picture_is_told(phone: Phone) -> None:
    *found, (_, of_long) = phone.errors(*REFUSED, "data:image/png;base64," + "AAAA" * 1000)
    expected = list(REFUSED.values())
    assert [(code, told[: len(words)]) for (code, told), (_, words) in zip(found, expected, strict=True)] == expected
    assert len(of_long) < 200, "an address with a whole picture is not told whole"


def test_a_picture_that_is_too_large_asks_for_a_size(phone: Phone, tmp_path: Path) -> None:
    huge = tmp_path / "huge.png"
    Image.new("1", (8200, 8200)).save(huge)
    assert phone.errors(huge) == [("bad-input", f"{huge} has 8200 x 8200 pixels: pass maxSize")]
    assert pixels_of(phone.decode((huge, 100))[0]).size == (100, 100)


def test_a_large_picture_takes_little_memory_of_javas(phone: Phone, tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    noise = Image.effect_noise((1200, 900), 90).convert("RGB")
    noise.save(path)
    [facts] = phone.decode((path, 0), java="-XX:MaxDirectMemorySize=1m")
    assert pixels_of(facts).convert("RGB").tobytes() == noise.tobytes()


def test_pixels_that_an_app_left_behind_are_removed(phone: Phone, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(encoded(6, 4))
    phone.cache.mkdir(parents=True)
    left, read, other = (phone.cache / name for name in ("picture1.rgba", "picture2.rgba", "old.txt"))
    for path in (left, read, other):
        path.write_bytes(b"pixels")
    for path in (left, other):
        os.utime(path, (1e9, 1e9))
    [facts] = phone.decode((tmp_path / "photo.png", 0))
    assert set(phone.cache.iterdir()) == {read, other, Path(facts["path"])}


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
