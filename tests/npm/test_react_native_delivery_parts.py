"""Native parts of a ModelUpdater for React Native: its patcher in C++, and what asks Android and iOS."""

import base64
import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy
import pytest

from packager.distribution import deltas
from packager.engines.environments.bionic import builder
from packager.files.processes import downloads
from packager.render.templates import write_sources
from packager.targets.kotlin import kotlin
from packager.targets.react_native import ReactNative
from tests.cases.delta_vectors import END_BYTE, PATH, add, copy, packed
from tests.toolchain import cxx, delivered, jsc, jvm, node, react_native_api, robolectric
from tests.toolchain.delivered_android import PACKAGE
from tests.toolchain.kept import kept
from tests.toolchain.react_native import codegen
from tests.toolchain.react_native.cpp_complaints import complaints_for_apple

NAME = "react-native-models"
NAMESPACE = "modelscxx"
SYSTEMS = ("Delivery", "Delta", "FreshFile", "Inflated", "OpenFile", "Storage")
"""sources that ask the system for something"""
PHONES = {
    # Neither Android's headers nor Apple's: those of musl, and what Apple has published of macOS.
    "android": ("-target", "aarch64-linux-musl", "-D__ANDROID__"),
    "ios": ("-target", "aarch64-macos"),
}
Patch = Callable[..., tuple[int, str]]
PATCHER = (
    "Delta",
    "Inflated",
    "FreshFile",
    "Storage",
    "Sha256",
    "Failure",
    "OpenFile",
    "Files",
    "Checked",
    "CompiledFolders",
    "MappedFile",
    "Protection",
)
VECTORS = json.loads(PATH.read_text(encoding="utf-8"))
SOURCE = base64.b64decode(VECTORS["source"])
MIB = 1 << 20


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, in the node_modules of an app."""
    app = tmp_path_factory.mktemp("app")
    package = node.link(node.project(jsc.NEWEST), app) / NAME
    write_sources(ReactNative().render(delivered.view(tmp_path_factory.mktemp("models"))), package)
    text = json.dumps({"name": "app", "private": True, "dependencies": {NAME: PACKAGE.version}})
    (app / "package.json").write_text(text, encoding="utf-8", newline="\n")
    return package


@pytest.fixture(scope="module")
def patch(package: Path) -> Patch:
    """Runs delta.cpp: its exit code and output."""
    sources = [jsc.HOST / "unit" / "delta.cpp", *(package / "cpp" / f"{name}.cpp" for name in PATCHER)]

    def make(folder: Path) -> None:
        options = ["-isystem", str(jsc.zlib_headers()), "-I", str(package / "cpp"), f"-DPACKAGE={NAMESPACE}"]
        jsc.build_checked(sources, options, folder / "delta", *jsc.zlib())

    headers = sorted((package / "cpp").glob("*.h"))
    program = kept("react-native-delta", make, *toolchain(), *sources, *headers, *jsc.CHECKED) / "delta"

    def run(*words: str | Path) -> tuple[int, str]:
        libraries = {"LD_LIBRARY_PATH": str(jsc.libraries(jsc.onnxruntime())[1])}
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, check=False, timeout=300, env=libraries
        )
        return done.returncode, (done.stdout + done.stderr).strip()

    return run


def words(folder: Path, source: bytes, delta: bytes, result: bytes) -> list[str | Path]:
    """Arguments for a source that lies between other bytes, as in an archive."""
    (folder / "source").write_bytes(b"PK\3" + source + b"PK\1")
    (folder / "delta").write_bytes(delta)
    digest = hashlib.sha256(result).hexdigest()
    return [folder / "source", "3", str(len(source)), folder / "delta", folder / "result", str(len(result)), digest]


@pytest.mark.parametrize("vector", VECTORS["applied"], ids=[each["name"] for each in VECTORS["applied"]])
def test_deltas_make_what_they_say_and_nothing_else(patch: Patch, tmp_path: Path, vector: Mapping[str, str]) -> None:
    given = words(tmp_path, SOURCE, base64.b64decode(vector["delta"]), base64.b64decode(vector["result"]))
    assert patch(*given)[0] == 0
    assert (tmp_path / "result").read_bytes() == base64.b64decode(vector["result"])
    (tmp_path / "result").unlink()
    code, found = patch("damage", "200", "7", *given)
    assert (code, int(found) > 190) == (0, True), found
    assert not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=[each["reason"] for each in VECTORS["refused"]])
def test_a_delta_is_refused_for(patch: Patch, tmp_path: Path, vector: Mapping[str, str]) -> None:
    code, found = patch(*words(tmp_path, SOURCE, base64.b64decode(vector["delta"]), SOURCE[:8]))
    assert (code, found[:11]) == (3, "[corrupted]")
    assert {path.name for path in tmp_path.iterdir()} == {"source", "delta"}


@pytest.mark.parametrize(
    ("source", "instruction", "result"),
    [(SOURCE, copy(505, 8), SOURCE[505:] + b"P"), (bytes(2 * MIB), add(1, 0, 2 * MIB, bytes(2 * MIB)), bytes(2 * MIB))],
    ids=["bytes behind the source", "a span of two MiB"],
)
def test_a_right_result_is_refused_for(
    patch: Patch, tmp_path: Path, source: bytes, instruction: bytes, result: bytes
) -> None:
    code, found = patch(*words(tmp_path, source, packed(instruction + END_BYTE, source, result), result))
    assert (code, found[:11]) == (3, "[corrupted]")


def test_a_patcher_takes_little_memory(patch: Patch, tmp_path: Path) -> None:
    random = numpy.random.default_rng(0)
    old = random.integers(0, 255, 48 * MIB, numpy.uint8)
    new = old.copy()
    new[:: 1 << 14] += 1
    (tmp_path / "old").write_bytes(old.tobytes())
    (tmp_path / "new").write_bytes(new.tobytes())
    delta = deltas.make(tmp_path / "old", tmp_path / "new")
    code, peak = patch("peak", *words(tmp_path, old.tobytes(), delta, new.tobytes()))
    assert code == 0, peak
    assert (tmp_path / "result").read_bytes() == new.tobytes()
    assert int(peak) < 16 * MIB


@pytest.fixture(scope="module")
def specs(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return codegen.for_ios(package.parents[1], tmp_path_factory.mktemp("specs"), project=jsc.NEWEST)


@pytest.mark.parametrize("phone", sorted(PHONES))
def test_its_sources_compile_for_phones(package: Path, specs: Path, phone: str) -> None:
    sources = [package / "cpp" / f"{name}.cpp" for name in (*SYSTEMS, "ModelsDelivery")]
    options = [*jsc.WARNINGS, *jsc.includes(specs), *jsc.own_headers(package)]
    # For Android each source has the headers that it includes, and no other.
    options += jsc.with_headers(jsc.NEWEST, PHONES[phone]) if phone == "ios" else cxx.WITHOUT_CODE

    def make(folder: Path) -> None:
        jsc.compile_all(sources, folder, options, target=PHONES[phone])

    headers = [*sorted((package / "cpp").rglob("*.h")), *sorted(specs.rglob("*JSI*"))]
    made = kept("react-native-delivery-objects", make, phone, *toolchain(), *sources, *headers)
    assert len(list(made.glob("*.o"))) == len(sources)


def toolchain() -> list[str]:
    """Identity of the compiler, of its options and of the headers that are the same for all packages."""
    return [downloads.pin(builder.COMPILER).sha256, str(PHONES), *jsc.FLAGS, *jsc.WARNINGS, *jsc.includes()]


def test_what_asks_ios_compiles(package: Path, specs: Path, tmp_path: Path) -> None:
    source = package / "ios/Delivery.mm"
    assert complaints_for_apple(source, package, specs) == ""
    wrong = tmp_path / "Delivery.mm"
    text = source.read_text("utf-8").replace("nw_path_is_constrained", "nw_path_constrained")
    wrong.write_text(text, encoding="utf-8", newline="\n")
    assert "nw_path_constrained" in complaints_for_apple(wrong, package, specs)


FRAMEWORK = """\
package android.content

public class Context(private val services: Map<String, Any>) {
    public fun getSystemService(name: String): Any? = services[name]

    public companion object {
        public const val BATTERY_SERVICE: String = "batterymanager"
        public const val CONNECTIVITY_SERVICE: String = "connectivity"
    }
}
"""
NETWORK = """\
package android.net

public class ConnectivityManager(private val isMetered: Boolean?) {
    public val isActiveNetworkMetered: Boolean
        get() = isMetered ?: throw SecurityException("ACCESS_NETWORK_STATE")
}
"""
BATTERY = "package android.os\n\npublic class BatteryManager(public val isCharging: Boolean)\n"
MAIN = """\
package com.example.models.reactnative

import android.content.Context
import android.net.ConnectivityManager
import android.os.BatteryManager

const val NETWORK = "connectivity"
const val BATTERY = "batterymanager"

fun state(services: Map<String, Any>): String = DeviceState(Context(services)).run { "${unmetered()} ${charging()}" }

fun main() {
    println("wifi " + state(mapOf(NETWORK to ConnectivityManager(false), BATTERY to BatteryManager(true))))
    println("mobile " + state(mapOf(NETWORK to ConnectivityManager(true), BATTERY to BatteryManager(false))))
    println("forbidden " + state(mapOf(NETWORK to ConnectivityManager(null))))
}
"""


def test_android_says_what_it_tells_apps_without_a_permission(
    package: Path, kotlin_compiler: None, tmp_path: Path
) -> None:
    [own] = package.rglob("DeviceState.kt")
    for name, text in {"Main": MAIN, "Context": FRAMEWORK, "Network": NETWORK, "Battery": BATTERY}.items():
        (tmp_path / f"{name}.kt").write_text(text, encoding="utf-8", newline="\n")
    classes = jvm.compile_kotlin([own, *sorted(tmp_path.glob("*.kt"))], classpath=[jvm.fakes()])
    compiler = kotlin.find_compiler()
    path = os.pathsep.join(map(str, (classes, compiler.stdlib)))  # without the classes that these simulate
    main = [str(compiler.java), "-cp", path, "com.example.models.reactnative.MainKt"]
    said = subprocess.run(main, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["wifi 1.0 1.0", "mobile 0.0 0.0", "forbidden -1.0 -1.0"]


def test_the_kotlin_of_a_package_with_a_channel_compiles(
    package: Path, kotlin_compiler: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    [java] = codegen.for_android(package, tmp_path_factory.mktemp("codegen") / "made").rglob("*.java")
    ours = sorted((package / "android").rglob("*.kt"))
    assert robolectric.compile_app([*ours, java], classpath=[react_native_api.classes()]).exists()
