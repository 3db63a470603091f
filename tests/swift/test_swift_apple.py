"""The golden trees for iOS compile for iPhones, and the functions they need are in ONNX Runtime's library for iOS."""

from pathlib import Path

import pytest

from packager.targets.xcframework import macho
from tests.nights import AT_NIGHT, at_night
from tests.swift.test_swift_sources import names, public_symbols, undocumented
from tests.toolchain import apple, apple_runtime
from tests.toolchain.apple import Compiled
from tests.toolchain.swift import swift
from tests.toolchain.swift_golden import golden_package

NAMES = ("delivered", "everything", "contracts")
LIBRARY = "ios-arm64/onnxruntime.framework/onnxruntime"


@pytest.fixture(scope="module", params=["trusted", *NAMES, *at_night("cpu_alone")])
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    swift()
    return golden_package(request.param, tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module")
def code(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The package's module, compiled for the oldest iOS that it may be used on; at night as for a release."""
    done = compile_module(package, tmp_path_factory.mktemp("code"), is_optimized=AT_NIGHT)
    assert done.returncode == 0, done.output
    return done


@pytest.fixture(scope="module")
def runtime() -> macho.Code:
    """ONNX Runtime's static library for iPhones."""
    [found] = macho.read(apple_runtime.published() / LIBRARY)
    return found


def module_of(package: Path) -> str:
    [shim] = package.glob("Sources/C*/shim.c")
    return shim.parent.name.removeprefix("C")


def compiled(code: Compiled) -> macho.Code:
    [file] = code.objects
    [found] = macho.read(file)
    return found


def compile_module(
    package: Path,
    folder: Path,
    *,
    triple: str = apple.IOS,
    is_pod: bool = False,
    is_optimized: bool = False,
    is_checked_alone: bool = False,
) -> Compiled:
    """Compiles a package's module as SwiftPM has it compiled, or as CocoaPods has."""
    module = module_of(package)
    return apple.compile_swift(
        module,
        sorted((package / "Sources" / module).glob("*.swift")),
        folder,
        c_modules={f"C{module}": package / "Sources" / f"C{module}" / "include"},
        triple=triple,
        defines=() if is_pod else ("SWIFT_PACKAGE",),
        is_optimized=is_optimized,
        is_checked_alone=is_checked_alone,
    )


def test_it_is_compiled_for_iphones(code: Compiled) -> None:
    assert compiled(code).builds == {macho.Build("ios", "", "15.0")}


def test_everything_public_is_documented(package: Path, code: Compiled) -> None:
    [file] = code.objects
    symbols = public_symbols(apple.symbols_of(module_of(package), file.parent))
    assert {"ModelError.closed(model:)", "Options"} <= names(symbols)
    assert undocumented(symbols) == set()


def test_what_it_needs_of_onnx_runtime_is_in_its_library(code: Compiled, runtime: macho.Code) -> None:
    needed = {name for name in compiled(code).undefined if name.startswith("_Ort")}

    assert needed == {"_OrtGetApiBase"}
    assert needed <= runtime.exports
    assert runtime.architecture == "arm64"


def test_its_c_target_compiles(package: Path, tmp_path: Path) -> None:
    sources = package / "Sources" / f"C{module_of(package)}"
    done = apple.compile_c([sources / "shim.c"], tmp_path, includes=[sources / "include"])
    assert done.returncode == 0, done.output


def test_coreml_is_in_packages_with_coreml_alone(package: Path, code: Compiled) -> None:
    """Recognized by strings too long for the compiler to inline."""
    [module] = code.objects
    content = module.read_bytes()
    has_coreml = (package / "Sources" / module_of(package) / "CoreMLOptions.swift").exists()

    for option in (
        b"EnableOnSubgraphs",
        b"ModelCacheDirectory",
        b"RequireStaticInputShapes",
        b"SpecializationStrategy",
    ):
        assert (option in content) == has_coreml


def test_apples_sha256_is_used_on_apples_systems(code: Compiled) -> None:
    assert any("CryptoKit" in name for name in compiled(code).undefined)


def test_apples_systems_are_asked_for_heat_and_memory(code: Compiled) -> None:
    used = " ".join(compiled(code).undefined)
    for name in ("ThermalStateO7serious", "thermalStateDidChangeNotification", "makeMemoryPressure", "EventV8critical"):
        assert name in used, name


def test_apples_pictures_are_in_packages_that_take_pictures_alone(package: Path, code: Compiled) -> None:
    used = " ".join(compiled(code).undefined)
    for name in ("CVPixelBufferLockBaseAddress", "CGContext", "CGImagePropertyOrientation", "UIImage"):
        assert (name in used) == (package.name == "contracts"), name


@pytest.mark.parametrize("package", [*NAMES, *at_night("trusted"), *at_night("cpu_alone")], indirect=True)
def test_it_compiles_for_macs(package: Path, tmp_path: Path) -> None:
    done = compile_module(package, tmp_path, triple="arm64-apple-macos13.0", is_checked_alone=True)
    assert done.returncode == 0, done.output


def test_it_compiles_as_a_pod(tmp_path: Path) -> None:
    """A pod differs only in the place of its resources: the package with most files is tested for all."""
    done = compile_module(golden_package("everything", tmp_path), tmp_path, is_pod=True, is_checked_alone=True)
    assert done.returncode == 0, done.output
