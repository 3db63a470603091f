"""The releases of ONNX Runtime that an app may bring instead of the one that a package names."""

from pathlib import Path, PurePosixPath

from packager.core.findings import Report
from packager.core.values import Package
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.targets.target import Built
from tests.cases.runtime_range import PREFERRED, planned


def test_the_project_for_gradle_and_wrappers_get_the_range(tmp_path: Path) -> None:
    target = Android(providers=(), runtime_range="1.27")
    plans = (planned(tmp_path, target, 21),)
    view = target.view(Package(name="p", version="1.0.0", license=""), plans, Report(parities=()))
    script = target.project(view, target.render(view), Store(tmp_path / "store")).texts
    (build,) = [text for path, text in script.items() if path.name == "build.gradle.kts"]
    assert 'require("[1.27.0,2)")' in build
    assert f'prefer("{PREFERRED}")' in build
    built: Built = target.built(view, plans)
    assert built.runtime_range == target.allowed_runtimes()


def test_swiftpm_and_the_pod_of_react_native_begin_with_the_range(tmp_path: Path) -> None:
    address = "https://github.com/microsoft/onnxruntime-swift-package-manager"
    target = Ios(providers=(), runtime_range="1.28", runtime_package=address)
    package = Package(name="p", version="1.0.0", license="")
    ios = planned(tmp_path, target, 21)
    view = target.view(package, (ios,), Report(parities=()))
    manifest = target.render(view).texts[PurePosixPath("Package.swift")]
    assert f'.package(url: "{address}", from: "1.28.0")' in manifest

    android = Android(providers=())
    plans = (planned(tmp_path, android, 21),)
    built = {
        "ios": target.built(view, (ios,)),
        "android": android.built(android.view(package, plans, Report(parities=())), plans),
    }
    texts = ReactNative().render(ReactNative().view(package, built, Report(parities=()))).texts
    assert 's.dependency "onnxruntime-c", ">= 1.28.0", "< 2"' in texts[PurePosixPath("P.podspec")]
