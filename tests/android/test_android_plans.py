"""Each provider opens the file that is meant for it, on ONNX Runtime's Android libraries.

The files are those that a build makes: the CPU's is fused, XNNPACK's is an ONNX graph over the CPU's weights, NNAPI's
an unfused one in ORT format. One imaginary chip has an ONNX file with weights of its own, another a broken file.
"""

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from packager import models as onnx_models
from packager.compile.compile import compile_plain, compile_unfused, compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Compiled, Format, Package, Plan, Style, Variant, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.toolchain import jvm, models, weights_apart
from tests.toolchain.device import Device, Library, device, library, write_apk
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


Installer = Callable[..., Device]

CPU_TOLERANCE = 1e-5
XNNPACK_TOLERANCE = 1e-4
OWN_CHIP, BROKEN_CHIP = "SM0001", "SM0002"


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """The library under test and what is in it."""

    library: Library
    fixed: Compiled
    shared: Compiled
    """unfused, over the weights of `fixed`"""
    unfused: Compiled
    plain: Compiled


@pytest.fixture(scope="module")
def shipped(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Shipped:
    store = Store(cache_folder() / "store")
    model = onnx_models.hashed(onnx_models.load(models.orientation(), "orientation"))
    variant = baseline(model, "fp32")
    fixed = compile_variant(variant, store)
    shared = compile_unfused(variant, store, fixed)
    unfused = compile_variant(variant, store, style=Style.UNFUSED)
    plain = compile_plain(variant, store)
    broken = broken_file(variant, tmp_path_factory.mktemp("broken") / "context.onnx")
    plan = Plan(
        model=model,
        target="android",
        environment=Runtime.NAME,
        choices=(
            Choice(provider="nnapi", compiled=broken, reason="", soc_models=(BROKEN_CHIP,)),
            Choice(provider="nnapi", compiled=unfused, reason="", soc_models=(OWN_CHIP,)),
            Choice(provider="webgpu", compiled=broken, reason="", soc_models=(BROKEN_CHIP,)),
            Choice(provider="xnnpack", compiled=plain, reason="", soc_models=(OWN_CHIP,)),
            Choice(provider="xnnpack", compiled=broken, reason="", soc_models=(BROKEN_CHIP,)),
            Choice(provider="xnnpack", compiled=shared, reason=""),
            Choice(provider="cpu", compiled=fixed, reason=""),
        ),
    )
    target = Android(providers=weights_apart.PROVIDERS)
    view = target.view(Package(name="models", version="1.0.0", license=""), (plan,), Report(parities=()))
    aar = target.assemble(view, target.render(view), store)[0].path
    built = library(aar, tmp_path_factory.mktemp("library"), apps="PageOrientation")
    return Shipped(library=built, fixed=fixed, shared=shared, unfused=unfused, plain=plain)


def broken_file(variant: Variant, path: Path) -> Compiled:
    path.write_bytes(b"what no runtime reads" * 100)
    return Compiled(
        variant=variant,
        path=path,
        sha256=sha256_of(path),
        size_bytes=path.stat().st_size,
        operators={},
        style=Style.CONTEXT,
        format=Format.ONNX,
    )


@pytest.fixture
def install(shipped: Shipped, tmp_path: Path) -> Installer:
    """Puts an app with the library on a new device."""

    def install(*, is_stored: bool = True) -> Device:
        return device(shipped.library, tmp_path, is_stored=is_stored)

    return install


@pytest.fixture
def phone(install: Installer) -> Device:
    return install()


@pytest.fixture(scope="module")
def pages() -> NDArray[np.float32]:
    pages = np.random.default_rng(1).normal(size=(2, 3, 224, 224)).astype(np.float32)
    pages[1, :, ::16] += 3
    return pages


@pytest.fixture(scope="module")
def expected(pages: NDArray[np.float32]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(models.orientation(), providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"x": pages})
    return np.asarray(scores)


@dataclass(frozen=True)
class Use:
    """An app's report after it has loaded and run the model on a phone."""

    facts: Mapping[str, str]
    log: str
    scores: NDArray[np.float32]

    @property
    def opened(self) -> tuple[str, str]:
        return self.facts["provider"], self.facts["info.sha256"]


@pytest.fixture
def use(pages: NDArray[np.float32]) -> Callable[..., Use]:
    def use(phone: Device, *, providers: str, chip: str = "unknown", sdk: int = 34, is_alone: bool = False) -> Use:
        run = (phone.run if is_alone else phone.run_warm)(
            "PageOrientation",
            {"x": pages},
            providers=providers,
            batch=2,
            properties={"android.soc": chip, "android.sdk": sdk},
        )
        return Use(run.facts, run.log, phone.output("fetch_name_0", np.float32, 2, 4))

    return use


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "deflated"])
def test_xnnpack_opens_its_graph_and_the_cpu_its_own(
    install: Installer, use: Callable[..., Use], shipped: Shipped, expected: NDArray[np.float32], is_stored: bool
) -> None:
    phone = install(is_stored=is_stored)

    xnnpack, cpu = (use(phone, providers=provider) for provider in ("XNNPACK", "CPU"))

    assert xnnpack.opened == ("XNNPACK", shipped.shared.sha256)
    assert cpu.opened == ("CPU", shipped.fixed.sha256)
    assert shipped.shared.sha256 != shipped.fixed.sha256
    errors = [float(np.abs(each.scores - expected).max()) for each in (xnnpack, cpu)]
    print(f"XNNPACK and CPU: {errors}")
    assert errors[0] <= XNNPACK_TOLERANCE
    assert errors[1] <= CPU_TOLERANCE
    assert not np.array_equal(xnnpack.scores, cpu.scores), "same bits: the same kernels computed both"


def test_the_weights_of_a_stored_model_stay_in_the_package_of_the_app(phone: Device, use: Callable[..., Use]) -> None:
    facts = use(phone, providers="XNNPACK").facts

    assert (facts["mapped"], facts["opened"], facts["apk.isMapped"]) == ("2", "0", "true")
    assert not [path for path in phone.kept.rglob("*") if path.suffix == ".tflite"]


def test_the_weights_of_a_compressed_model_are_copied_once(install: Installer, use: Callable[..., Use]) -> None:
    phone = install(is_stored=False)

    copied = [use(phone, providers="XNNPACK").facts["opened"] for _ in range(2)]

    assert copied == ["2", "0"]
    assert sorted(path.name for path in phone.kept.rglob("*.o*t.tflite")) == ["orientation.ort.tflite"]


def test_a_provider_may_open_an_unfused_file_in_ort_format(
    phone: Device, use: Callable[..., Use], shipped: Shipped, expected: NDArray[np.float32]
) -> None:
    nnapi = use(phone, providers="NNAPI", chip=OWN_CHIP)

    # It starts on a device that has no accelerator, and leaves every node to the CPU.
    assert nnapi.opened == ("NNAPI", shipped.unfused.sha256)
    assert np.abs(nnapi.scores - expected).max() <= CPU_TOLERANCE


def test_a_file_for_the_chip_goes_before_the_one_for_all(
    phone: Device, use: Callable[..., Use], shipped: Shipped, expected: NDArray[np.float32]
) -> None:
    own = use(phone, providers="XNNPACK", chip=OWN_CHIP)

    assert own.opened == ("XNNPACK", shipped.plain.sha256)
    assert own.facts["info.sizeBytes"] == str(shipped.plain.size_bytes)
    assert np.abs(own.scores - expected).max() <= XNNPACK_TOLERANCE


def test_android_that_does_not_name_its_chip_opens_the_file_for_all(
    phone: Device, use: Callable[..., Use], shipped: Shipped
) -> None:
    assert use(phone, providers="XNNPACK", chip=OWN_CHIP, sdk=30).opened == ("XNNPACK", shipped.shared.sha256)


def test_a_file_for_the_chip_that_does_not_start_gives_way_to_the_one_for_all(
    phone: Device, use: Callable[..., Use], shipped: Shipped
) -> None:
    general = use(phone, providers="XNNPACK", chip=BROKEN_CHIP)

    assert general.opened == ("XNNPACK", shipped.shared.sha256)
    assert general.facts["fallbacks"] == "XNNPACK"
    assert "XNNPACK did not start with mobpack/models/orientation-sm0002.onnx.tflite: " in general.log


def test_a_file_that_providers_share_is_mapped_once(phone: Device, use: Callable[..., Use]) -> None:
    last = use(phone, providers="NNAPI,XNNPACK", chip=BROKEN_CHIP)

    assert (last.facts["provider"], last.facts["fallbacks"]) == ("XNNPACK", "NNAPI,XNNPACK")
    assert last.facts["mapped"] == "3", "the broken file, XNNPACK's graph and the CPU's file with its weights"


def test_a_device_without_a_graphics_processor_falls_back_and_says_so(phone: Device, use: Callable[..., Use]) -> None:
    cpu = use(phone, providers="WEBGPU", chip=BROKEN_CHIP, is_alone=True)

    assert (cpu.facts["provider"], cpu.facts["fallbacks"]) == ("CPU", "WEBGPU")
    assert "No supported adapters" in cpu.log
    assert cpu.facts["mapped"] == "1", "the file of a provider that is not there is never read"


def test_a_provider_that_has_no_file_of_the_model_is_passed_over(
    phone: Device, use: Callable[..., Use], shipped: Shipped
) -> None:
    cpu = use(phone, providers="WEBGPU")

    assert cpu.opened == ("CPU", shipped.fixed.sha256)
    assert cpu.facts["fallbacks"] == "WEBGPU"


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "deflated"])
def test_only_the_file_that_was_tampered_with_is_refused(
    install: Installer, use: Callable[..., Use], shipped: Shipped, is_stored: bool
) -> None:
    phone = install(is_stored=is_stored)
    tampered = flipped(
        phone.library.aar, "assets/mobpack/models/orientation-sm0001.ort.tflite", phone.folder / "flipped.aar"
    )
    write_apk(tampered, phone.apk, is_stored=is_stored)

    with pytest.raises(
        AssertionError, match=r"ModelCorruptedException: mobpack/models/orientation-sm0001\.ort\.tflite"
    ):
        use(phone, providers="NNAPI", chip=OWN_CHIP)

    assert use(phone, providers="XNNPACK").opened == ("XNNPACK", shipped.shared.sha256)


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "deflated"])
def test_weights_that_were_tampered_with_are_refused(
    install: Installer, use: Callable[..., Use], is_stored: bool
) -> None:
    phone = install(is_stored=is_stored)
    weights = "assets/mobpack/models/orientation-sm0001-2/model-1.weights.tflite"
    write_apk(flipped(phone.library.aar, weights, phone.folder / "flipped.aar"), phone.apk, is_stored=is_stored)

    with pytest.raises(AssertionError, match=r"ModelCorruptedException: .*model-1\.weights\.tflite"):
        use(phone, providers="XNNPACK", chip=OWN_CHIP)

    assert not list(phone.kept.rglob("*.weights.tflite"))
    assert not list(phone.kept.rglob("*.weights.tflite.ok"))


def flipped(aar: Path, entry: str, target: Path) -> Path:
    """A copy of `aar` with one bit changed in the middle of `entry`."""
    with zipfile.ZipFile(aar) as source, zipfile.ZipFile(target, "w") as changed:
        assert entry in source.namelist()
        for name in source.namelist():
            content = bytearray(source.read(name))
            if name == entry:
                content[len(content) // 2] ^= 1
            changed.writestr(name, bytes(content))
    return target
