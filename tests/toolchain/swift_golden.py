"""Golden trees for iOS as Swift packages, to be compiled."""

import shutil
from dataclasses import replace
from pathlib import Path

from packager.files.installed import templates_folder
from packager.targets.ios import Ios
from tests.golden.cases import IOS_CASES
from tests.toolchain.swift_dependency import write_runtime
from tests.toolchain.swift_zlib import headers


def golden_package(name: str, folder: Path, *, named: str = "") -> Path:
    """A golden case for iOS as a package, with ONNX Runtime's headers, and an empty file for its models; the package of
    ONNX Runtime lies beside it. `named` is its name if it is to have another one."""
    package, case = folder / name, IOS_CASES[name]
    case = replace(case, package=replace(case.package, name=named)) if named else case
    assert isinstance(case.target, Ios)
    write_runtime(case.target.view(case.package, case.plans, case.report, golden=case.golden), folder)
    for path, text in case.texts().items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8", newline="\n")
    [c_sources] = package.glob("Sources/C*/shim.c")
    shutil.copytree(templates_folder() / "ios" / "onnxruntime", c_sources.parent, dirs_exist_ok=True)
    if (c_sources.parent / "include/inflate.h").exists():
        for header in headers():
            shutil.copy(header, c_sources.parent / "include")
    models_folder = package / "Sources" / c_sources.parent.name.removeprefix("C") / "Resources" / "Models"
    models_folder.mkdir(exist_ok=True)
    (models_folder / "model.ort").touch()
    return package
