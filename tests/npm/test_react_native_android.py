"""The Kotlin half of a React Native package compiles against React Native's API, and finds files on a device."""

import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cases.disks import tiny_disk
from tests.toolchain import ecj, jvm, react_native_api, robolectric
from tests.toolchain.react_native import codegen, packages

APP = [Path(react_native_api.FAKES.parent, name) for name in ("Answer.kt", "Locate.kt", "Phone.kt")]
ASSET = "mobpack/PageOrientation/orientation.ort.tflite"
CONTENT = bytes(range(256)) * 400
UNALIGNED = 1
"""shifts a zip entry to an odd offset"""


@dataclass(frozen=True)
class Classes:
    """The classes of a package, and those of the app that tests them."""

    package: Path
    app: Path
    spec: Path

    @property
    def path(self) -> list[Path]:
        return [self.app, self.package, self.spec, react_native_api.classes()]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packages.page_orientation(tmp_path_factory).author(tmp_path_factory.mktemp("package") / "package")


@pytest.fixture(scope="module")
def classes(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Classes:
    """Our Kotlin compiled against the class that React Native's codegen makes of our TypeScript, warnings as errors."""
    folder = tmp_path_factory.mktemp("classes")
    [java] = codegen.for_android(package, folder / "codegen").rglob("*.java")
    react_native = react_native_api.classes()
    ours = sorted((package / "android").rglob("*.kt"))
    compiled = robolectric.compile_app([*ours, java], classpath=[react_native])
    spec = ecj.compile_java([java], classpath=[react_native])
    app = jvm.compile_kotlin(APP, classpath=[compiled, spec, react_native, jvm.fakes()])
    return Classes(compiled, app, spec)


@dataclass(frozen=True)
class Phone:
    """A device with an app that has one asset."""

    folder: Path
    classes: Classes

    @property
    def apk(self) -> Path:
        return self.folder / "app.apk"

    @property
    def kept(self) -> Path:
        """The folder of the copies and their notes."""
        return self.folder / "data" / "no_backup" / "mobpack" / "PageOrientation"

    def install(self, content: bytes = CONTENT, *, is_stored: bool, padding: int = 0) -> None:
        method = zipfile.ZIP_STORED if is_stored else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(self.apk, "w") as package:
            entry = zipfile.ZipInfo(f"assets/{ASSET}")
            header = 30 + len(entry.filename)
            entry.extra = b"\0" * (-header % 4 + padding)
            package.writestr(entry, content, compress_type=method)

    def update(self, content: bytes) -> None:
        """Install another version of the app, with another file under the same name."""
        later = self.apk.stat().st_mtime + 10
        self.install(content, is_stored=False)
        os.utime(self.apk, (later, later))

    def locate(self, size: int = len(CONTENT), calls: int = 1) -> Mapping[str, str]:
        """Facts about `calls` at once for the app's asset."""
        return self.run([(ASSET, size)], {}, calls=calls)[0]

    def run(
        self,
        requests: Sequence[tuple[str, int]],
        properties: Mapping[str, object],
        *,
        exit_code: int = 0,
        calls: int = 1,
        **more: object,
    ) -> list[Mapping[str, str]]:
        """Facts about each request for an asset of a size, and what else the app tells."""
        given = {"apk": self.apk, "data": self.folder / "data", "calls": calls, **more}
        for number, (asset, size) in enumerate(requests):
            given |= {f"asset.{number}": asset, f"size.{number}": size}
        done = jvm.run(
            "reactnative.LocateKt", given, classpath=self.classes.path, properties=properties, exit_code=exit_code
        )
        return [of_one(done.facts, number) for number, _ in enumerate(requests)]


def of_one(facts: Mapping[str, str], number: int) -> Mapping[str, str]:
    """Facts about one request, and those about none."""
    own = f"{number}."
    return {name.removeprefix(own): value for name, value in facts.items() if name.startswith(own) or "." not in name}


@pytest.fixture
def phone(classes: Classes, tmp_path: Path) -> Phone:
    return Phone(tmp_path, classes)


def bytes_at(facts: Mapping[str, str], count: int) -> bytes:
    with Path(facts["path"]).open("rb") as file:
        file.seek(int(facts["offset"]))
        return file.read(count)


def test_only_what_phones_alone_have_is_stood_in_for() -> None:
    api = react_native_api.api()
    stand_ins = [each for each in react_native_api.class_files_of(react_native_api.fakes()) if each.name in api.above]
    assert [each.name for each in stand_ins] == ["com/facebook/react/bridge/Arguments"]
    assert all(api.has(member) for each in stand_ins for member in each.declared)


def test_what_the_kotlin_classes_call_is_in_react_natives_api(classes: Classes) -> None:
    api = react_native_api.api()
    called = {each for each in react_native_api.references(classes.package) if each.owner in api.above}
    names = {(each.owner.rpartition("/")[2], each.name) for each in called}
    assert {("Promise", "reject"), ("WritableMap", "putString"), ("BaseReactPackage", "<init>")} <= names
    context = {
        (each.name, each.descriptor)
        for found in react_native_api.class_files_of(jvm.fakes())
        for each in found.declared
        if found.name == "android/content/Context"  # what ReactApplicationContext has of Android's
    }
    unknown = sorted(each for each in called if not api.has(each) and (each.name, each.descriptor) not in context)
    assert not unknown
    other = {each.owner for each in react_native_api.references(classes.package)} - set(api.above)
    assert not other


MISSING = ("mobpack/PageOrientation/other.ort", "../../secret", "mobpack//x")
RIGHT, WRONG, UNKNOWN = len(CONTENT), 4, -1
"""sizes that JavaScript may expect"""


@dataclass(frozen=True)
class Told:
    """An app whose asset is stored as it is, and the facts of one run of it."""

    phone: Phone
    right: Mapping[str, str]
    unknown: Mapping[str, str]
    wrong: Mapping[str, str]
    missing: list[Mapping[str, str]]


@pytest.fixture(scope="module")
def told(classes: Classes, tmp_path_factory: pytest.TempPathFactory) -> Told:
    phone = Phone(tmp_path_factory.mktemp("stored"), classes)
    phone.install(is_stored=True)
    requests = [(ASSET, RIGHT), (ASSET, UNKNOWN), (ASSET, WRONG), *((asset, RIGHT) for asset in MISSING)]
    right, unknown, wrong, *missing = phone.run(requests, {"android.soc": "SM8750"}, trouble=True)
    return Told(phone, right, unknown, wrong, missing)


def test_react_native_makes_the_module_from_its_package_class(told: Told, phone: Phone) -> None:
    facts = told.right
    assert facts["name"] == "PageOrientationFilesAndroid"
    assert (facts["isTurboModule"], facts["other"]) == ("true", "null")
    assert (facts["chip"], facts["apiLevel"], facts["folder"]) == ("SM8750", "34.0", str(told.phone.kept))
    phone.install(is_stored=True)
    [older] = phone.run([(ASSET, RIGHT)], {"android.sdk": 30})
    assert older["chip"] == "", "older Android does not name its chip"
    assert not phone.kept.exists(), "an asset that is stored as it is needs no copy"


def test_javascript_hears_of_heat_and_of_memory_that_is_short(told: Told) -> None:
    facts = told.right
    assert (facts["cool"], facts["at once"], facts["hot"], facts["asked"]) == ("false", "false", "true", "2")
    assert facts["told of little"] == "0"
    assert facts["told"] == ",".join(["PageOrientationMemoryPressure"] * 4)
    assert facts["callbacks"] == "0", "none are left when JavaScript ends"


def test_an_asset_that_is_stored_is_used_where_it_lies(told: Told) -> None:
    facts = told.right
    assert (facts["path"], facts["read"]) == (str(told.phone.apk.resolve()), "0")
    assert bytes_at(facts, len(CONTENT)) == CONTENT
    assert not list(told.phone.kept.glob("orientation*"))


@pytest.mark.parametrize(("is_stored", "padding"), [(False, 0), (True, UNALIGNED)], ids=["compressed", "unaligned"])
def test_another_asset_is_copied_once_for_calls_at_once_and_later_ones(
    phone: Phone, is_stored: bool, padding: int
) -> None:
    phone.install(is_stored=is_stored, padding=padding)
    first, again = phone.locate(calls=8), phone.locate()
    assert first["same"] == "1"
    assert (first["path"], first["offset"]) == (str((phone.kept / "orientation.ort.tflite").resolve()), "0")
    assert first["thread"] == "PageOrientation", "not the thread that other modules wait for"
    assert (first["read"], again["read"]) == ("1", "0")
    assert bytes_at(again, len(CONTENT) + 1) == CONTENT


def test_another_version_of_the_app_has_its_own_copy_and_those_that_no_version_reads_any_more_are_removed(
    phone: Phone,
) -> None:
    phone.install(is_stored=False)
    phone.locate()
    for name in ("older.ort", "older.ort.copied", "older.ort.note"):
        (phone.kept / name).write_text("4 /data/app/older.apk 1")
    phone.update(CONTENT[::-1])
    facts = phone.locate()
    assert facts["read"] == "1"
    assert bytes_at(facts, len(CONTENT) + 1) == CONTENT[::-1]
    assert sorted(path.name for path in phone.kept.iterdir()) == [
        "lock",
        "older.ort.note",
        "orientation.ort.tflite",
        "orientation.ort.tflite.copied",
    ]


def test_a_copy_of_another_size_is_made_again(phone: Phone) -> None:
    phone.install(is_stored=False)
    copy = Path(phone.locate()["path"])
    copy.write_bytes(CONTENT[:-1])
    facts = phone.locate()
    assert (facts["read"], bytes_at(facts, len(CONTENT) + 1)) == ("1", CONTENT)


def test_a_copy_that_was_interrupted_is_never_used(phone: Phone) -> None:
    phone.install(is_stored=False)
    phone.run([(ASSET, RIGHT)], {"device.dies-after": 50_000}, exit_code=86)
    assert not (phone.kept / "orientation.ort.tflite").exists()
    facts = phone.locate()
    assert bytes_at(facts, len(CONTENT) + 1) == CONTENT
    assert not (phone.kept / "orientation.ort.unfinished").exists()


def test_an_asset_of_another_size_is_refused_and_one_whose_size_nobody_knows_is_taken(phone: Phone, told: Told) -> None:
    phone.install(is_stored=False)
    unknown = phone.locate(UNKNOWN)
    assert unknown["read"] == "1"
    for facts in (unknown, told.unknown):
        assert bytes_at(facts, len(CONTENT)) == CONTENT
    for facts, of in ((phone.run([(ASSET, RIGHT), (ASSET, WRONG)], {})[1], phone), (told.wrong, told.phone)):
        assert facts["code"] == "corrupted"
        assert facts["words"] == f"[corrupted] {ASSET} has {len(CONTENT)} bytes, the package was built with 4"
        assert not list(of.kept.glob("orientation*"))


def test_an_asset_that_is_not_there_is_told(told: Told) -> None:
    found = [(facts["code"], facts["words"]) for facts in told.missing]
    assert found == [("missing", f"[missing] the app has no asset {name}") for name in MISSING]


def test_a_full_device_is_told_and_left_as_it_was(phone: Phone) -> None:
    phone.install(os.urandom(300_000), is_stored=False)
    data = phone.folder / "data"
    data.mkdir()
    with tiny_disk(data):
        facts = phone.locate(size=300_000)
        assert (facts["code"], facts["words"]) == ("no-space", f"[no-space] there is no room for a copy of {ASSET}")
        assert [path.name for path in phone.kept.iterdir()] == ["lock"]
