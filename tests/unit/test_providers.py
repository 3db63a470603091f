"""Providers: their default options and templates, and the parts of a new one."""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, SettingError
from packager.core.values import Style
from packager.files.installed import templates_folder
from packager.providers import PROVIDERS, providers_of
from packager.providers.nnapi import Nnapi
from packager.providers.qnn import Qnn
from packager.providers.xnnpack import Xnnpack
from packager.runtimes import recipe
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from tests.cases.providers import abacus
from tests.cases.readings import nodes_of
from tests.golden.cases import CASES, IOS_CASES, Case, Published, Wrapped, choice

__all__ = ["abacus"]

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PROVIDERS)
def test_provider_is_known_under_its_own_name(name: str) -> None:
    assert name == PROVIDERS[name].NAME
    assert PROVIDERS[name].EXECUTION_PROVIDER.lower() == f"{name}executionprovider"


@pytest.mark.parametrize("name", providers_of("android"))
def test_provider_of_android_has_its_kotlin(name: str) -> None:
    partial = templates_folder() / "android" / "_providers" / f"{name}.start.kt.j2"
    assert partial.is_file() != bool(PROVIDERS[name].START.java_method)


@pytest.mark.parametrize(
    "other",
    [
        Nnapi(use_fp16=True),
        Nnapi(use_nchw=True),
        Nnapi(cpu_disabled=False),
        Qnn(backend="libQnnGpu.so"),
        Qnn(performance_mode="balanced"),
        Qnn(optimization_mode=1),
        Qnn(is_fp16_allowed=False),
    ],
)
def test_every_field_of_a_provider_changes_what_onnx_runtime_is_told(other: Nnapi | Qnn) -> None:
    assert other.options() != type(other)().options()


def test_providers_have_the_settings_that_are_fast_on_phones() -> None:
    assert Xnnpack().options() == {}
    assert Nnapi().options() == {"CPU_DISABLED": "1"}
    assert Qnn().options()["backend_path"] == "libQnnHtp.so"
    assert Qnn().options()["htp_performance_mode"] == "burst"


def with_abacus(case: Case, target: Android | Ios) -> Case:
    choices = (choice("abacus", Style.UNFUSED), choice("cpu"))
    return replace(case, target=target, plans=tuple(replace(each, choices=choices) for each in case.plans))


@pytest.mark.usefixtures("abacus")
def test_the_generated_code_of_every_language_has_a_new_provider() -> None:
    """Kotlin and Swift have it in their enums and start it with its options, TypeScript and Dart in their tables."""
    android = with_abacus(CASES["image_classifier"], Android(providers=("abacus",)))
    ios = with_abacus(IOS_CASES["image_classifier"], Ios(providers=("abacus",)))
    react_native = Wrapped(target=ReactNative(), android=android, ios=ios)
    flutter = Published(target=Flutter(), android=android, ios=ios)

    def printed(name: str, case: Case | Wrapped | Published) -> str:
        return next(text for path, text in case.texts().items() if path.name == name)

    assert "    /** Beads on wires. */\n    ABACUS,\n" in printed("Provider.kt", android)
    opener = printed("ModelOpener.kt", android)
    assert "Provider.ABACUS -> addAbacus(" in opener
    assert '"beads" to "10"' in opener
    assert '    case abacus = "ABACUS"\n' in printed("Provider.swift", ios)
    assert 'case .abacus:\n            let entries = ["beads": "10"]\n' in printed("ModelOpener.swift", ios)
    assert " 'abacus' " in printed("providers.ts", react_native)
    assert " 'abacus' " in printed("providers.d.ts", react_native)
    assert "abacus: {\n        isOnCores: false,\n        cacheOption: 'wires',\n" in printed(
        "providers.js", react_native
    )
    assert "registeredName: 'ABACUS',\n" in printed("package.js", react_native)
    table = printed("providers.dart", flutter)
    assert '  abacus(\n    "ABACUS",\n' in table
    assert '      cacheOption: "wires",\n' in table


def test_a_provider_of_another_platform_is_unknown() -> None:
    with pytest.raises(SettingError, match="'nnapi' does not run on iOS"):
        Ios(providers=("nnapi",))
    with pytest.raises(ConfigError, match="no provider 'nnapi' for ios"):
        recipe._provider_flags("ios", ["nnapi"])
    with pytest.raises(ConfigError, match="recipes cannot build the provider qnn"):
        recipe._provider_flags("android", ["qnn"])


NAMED: Mapping[str, str] = {
    "compile/ep_context.py": "Qualcomm's compiler is asked there, and nowhere else",
    "engines/environments/android_probe.py": "it adds NNAPI by a function of its own, and cannot import mobpack",
    "engines/session/session_child.py": "Python modules of plug-ins, which mobpack's own Python does not have",
    "targets/ios/runtime.py": "defaults of CoreMLOptions, the Swift type of CoreML's options",
    "targets/android/target.py": "the default of a target",
    "targets/ios/target.py": "the default of a target",
    "verification/partition/measured.py": "a line for each provider that an environment has, as in a family",
    "verification/partition/report.py": "a line for each provider with rules of its own, as in a family",
    "targets/react_native/runtime.py": "CoreML is the name of Apple's framework, which the library links",
    "targets/web/target.py": "the default of a target, by the file of ONNX Runtime that has it",
}
"""Files that name providers in a decision -> why they may. A file or folder named for a provider is its own."""


NAMES = frozenset(
    [*PROVIDERS, *(name for kind in PROVIDERS.values() for name in (kind.EXECUTION_PROVIDER, kind.REGISTERED_NAME))]
)
QUOTED = re.compile("|".join(f"[\"']{name}[\"']" for name in sorted(NAMES)))


def test_no_decision_is_made_by_the_name_of_a_provider() -> None:
    """`if provider == "qnn"` and `{"qnn": ...}` are in no file but qnn's own: a provider describes itself."""
    home = ROOT / "packager"
    files = (path.relative_to(home) for path in home.rglob("*.py"))
    found = {
        path.as_posix()
        for path in files
        if not {"providers", *PROVIDERS} & {*path.parent.parts} and path.stem not in PROVIDERS
        if QUOTED.search((home / path).read_text(encoding="utf-8"))
        if any(map(_names_provider, nodes_of(home / path)))
    }
    assert found == set(NAMED)


NAMED_IN_TEMPLATES: Mapping[str, str] = {
    "android/stubs/ai/onnxruntime/OrtSession.java": "methods of ONNX Runtime's own class",
    "flutter/lib/src/runtime/onnxruntime.dart": "NNAPI is added by a function of its own in ONNX Runtime's C interface",
    "ios/Module.docc.md.j2": "CoreMLOptions is the Swift type of CoreML's options",
    "ios/README.md.j2": "CoreMLOptions is the Swift type of CoreML's options",
    "ios/runtime/Package.swift.j2": "CoreML is the name of Apple's framework, which the library links",
    "ios/swift/Options.swift.j2": "CoreMLOptions is the Swift type of CoreML's options",
    "react_native/Package.swift.j2": "CoreML is the name of Apple's framework, which the library links",
    "react_native/cpp/Library.cpp.j2": "NNAPI is added by a function of its own in ONNX Runtime's C interface",
    "react_native/cpp/Library.h.j2": "NNAPI is added by a function of its own in ONNX Runtime's C interface",
    "react_native/cpp/OnnxRuntime.cpp.j2": "NNAPI is added by a function of its own in ONNX Runtime's C interface",
    "react_native/cpp/OnnxRuntime.h.j2": "NNAPI is added by a function of its own in ONNX Runtime's C interface",
}
"""Templates that name providers, beside those in `_providers` and those named for one -> why they may."""

COMMENT = re.compile(r"\s*(//|/?\*)")
"""the beginning of a line that is a comment in the languages of packages"""


def test_no_template_names_a_provider_by_hand() -> None:
    """Tables of providers are printed: an enum, a list or a condition that is written by hand would lack a new one."""
    assert templates_that_name_providers(templates_folder()) == set(NAMED_IN_TEMPLATES)


def templates_that_name_providers(home: Path) -> set[str]:
    files = (path.relative_to(home) for path in home.rglob("*") if path.is_file())
    shared = (path for path in files if "_providers" not in path.parts and not _mentions_provider(path.name))
    return {path.as_posix() for path in shared if any(map(_mentions_provider, _code_of(home / path)))}


def _code_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if not COMMENT.match(line)]


def _mentions_provider(text: str) -> bool:
    return any(name in text.lower() for name in PROVIDERS)


def _names_provider(node: ast.AST) -> bool:
    """Whether it compares with, selects by or lists the name of a provider."""
    match node:
        case ast.Compare():
            parts = [node.left, *node.comparators]
        case ast.Dict():
            parts = [each for each in node.keys if each is not None]
        case ast.Tuple() | ast.Set() | ast.List():
            parts = node.elts
        case ast.Subscript():
            parts = [node.slice]
        case ast.Assign():
            parts = [node.value]
        case ast.MatchValue():
            parts = [node.value]
        case _:
            return False
    return any(isinstance(each, ast.Constant) and each.value in NAMES for each in parts)
