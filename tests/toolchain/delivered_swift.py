"""The tiny package of `delivered_android` in Swift, whose models a channel updates, and releases of its model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from packager import vectors
from packager.core.findings import Report
from packager.core.values import Plan
from packager.distribution.channel.document import ModelRelease
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.ios import Ios
from tests.cases.trust_vectors import signed
from tests.toolchain import trusted
from tests.toolchain.delivered_android import MODEL, PACKAGE, Shelf, write_golden
from tests.toolchain.swift_dependency import write_runtime
from tests.toolchain.swift_packages import MODULE

TARGET = Ios(providers=("xnnpack",))


class SwiftShelf(Shelf):
    """The same releases for iOS: files for the CPU and XNNPACK are the same on both."""

    def release(self, number: int, /, **terms: Any) -> ModelRelease:
        made = super().release(number, **terms)
        runtime = TARGET.published_runtime()
        return replace(made, files=tuple(replace(each, target="ios", runtime=runtime) for each in made.files))


def plan(folder: Path) -> Plan:
    """The app's own model."""
    return trusted.plan(folder, Store(cache_folder() / "store"), "ios", "xnnpack")


def write_package(folder: Path) -> Path:
    """Writes the package, signed, and that of ONNX Runtime beside it."""
    made = plan(folder)
    tested = vectors.Vectors(
        golden=vectors.read(write_golden(folder, 0)), allowed={"y": vectors.Allowed(rtol=1e-4, atol=1e-5, scale=10.0)}
    )
    golden = {(MODEL, each.compiled.sha256): tested for each in made.choices}
    view = TARGET.view(PACKAGE, (made,), Report(parities=()), golden=golden)
    package = folder / "package/models"
    write_sources(TARGET.render(view), package)
    write_runtime(view, package.parent)
    digests = {each.path: each.sha256 for each in view.resources}
    sig = package / "Sources" / MODULE / "Resources/Models/models.sig"
    sig.write_text(signed(digests, PACKAGE), encoding="utf-8", newline="\n")
    return package
