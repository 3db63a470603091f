"""Writes the recipe of a reduced ONNX Runtime that contains only what some models need.

mobpack does not run the build, which needs an Android NDK, a Mac or Emscripten, and most of an hour. The same models,
providers and versions give the same files, named by a key over all inputs.

Every flag was verified in tools/ci_build/build_args.py of ONNX Runtime's repository, and the scripts that read the
settings in tools/ci_build/github/{android,apple}. build.sh verifies the flags again in the version that it clones.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, cast

from packager.compile.operators import operator_config
from packager.core.errors import ConfigError, nearest
from packager.core.values import Sources
from packager.files.processes import downloads
from packager.files.store import key_of
from packager.providers import CPU, PROVIDERS, providers_of
from packager.render.templates import render

KEY_LETTERS = 12
CONFIG = "required_operators_and_types.config"
SETTINGS = "build-settings.json"

TARGETS = ("android", "ios", "web")
"""that a runtime can be built for"""
PROCESSORS = {"ios": "arm64; simulator arm64, x86_64", "web": "WebAssembly with SIMD and threads"}
PYTHON = {
    "android": ("cmake", "flatbuffers", "ninja", "sdkmanager"),
    "ios": ("flatbuffers",),
    "web": ("cmake", "flatbuffers", "ninja"),
}
"""Python packages of a build"""


@dataclass(frozen=True, kw_only=True)
class RuntimeRecipe:
    key: str
    """hex sha256 over all inputs of the build"""
    version: str
    """version of the runtime: ONNX Runtime's, and the start of the key"""
    sources: Sources
    installs: str
    """toolchain that the build installs by itself; empty if it is asked for"""


@dataclass(frozen=True, kw_only=True)
class PythonPackage:
    name: str
    version: str
    sha256: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RequirementsView:
    """requirements.txt"""

    packages: tuple[PythonPackage, ...]


@dataclass(frozen=True, kw_only=True)
class DockerfileView:
    base_image: str
    java: str
    ndk: str
    platform: str
    build_tools: str


@dataclass(frozen=True, kw_only=True)
class BuildView:
    """build.sh"""

    repository: str
    version: str
    """version of ONNX Runtime"""
    commit: str
    """the commit of that version"""
    name: str
    """name of the output files, without suffixes"""


@dataclass(frozen=True, kw_only=True)
class RecipeReadmeView:
    """README.md"""

    name: str
    version: str
    commit: str
    key: str
    contents: tuple[str, ...]
    """contents of the runtime, one line each"""


def recipe(
    target: str,
    operators: Sequence[Mapping[str, str]],
    *,
    providers: Sequence[str],
    abis: Sequence[str] = (),
    min_sdk: int = 0,
    has_saved_optimizations: bool = False,
) -> RuntimeRecipe:
    """The build of a runtime for `target`, one of TARGETS, that runs every model of `operators`.

    `operators` are Compiled.operators; `abis` are Android's names of processors, all if empty.
    `has_saved_optimizations` says that a model contains runtime optimizations. Raises ConfigError for a provider or an
    ABI that the target does not support.
    """
    if target not in TARGETS:
        raise ConfigError(f"no recipe for target '{target}'", hint=f"use one of: {', '.join(TARGETS)}")
    flags = _provider_flags(target, providers)
    settings = _settings(target, abis, min_sdk)
    common = _common_parameters(operators, is_extended=bool(flags) or has_saved_optimizations)
    # ONNX Runtime for browsers has no telemetry that could be left out.
    _add_parameters(settings, [*common, *([] if target == "web" else ["--no_telemetry"]), *flags])
    config = operator_config(operators)
    version = _onnxruntime_version(target)
    key = key_of([target, version, _commit(version), config, settings, _made_with()])
    name = f"{version}-{key[:KEY_LETTERS]}"
    contents = (
        f"operators: {len({operator for each in operators for operator in each})}",
        f"providers: {', '.join(['cpu', *sorted(set(providers) - {'cpu'})])}",
        f"processors: {PROCESSORS.get(target) or ', '.join(settings['build_abis'])}",
    )
    texts = {
        CONFIG: config,
        SETTINGS: json.dumps(settings, indent=2) + "\n",
        **_texts(target, version=version, name=f"onnxruntime-{name}", key=key, contents=contents),
    }
    return RuntimeRecipe(
        key=key,
        version=name,
        sources=Sources(texts={PurePosixPath(path): text for path, text in sorted(texts.items())}, files={}),
        installs=f"Emscripten {_made_with()['web']['emsdk']}" if target == "web" else "",
    )


def _provider_flags(target: str, providers: Sequence[str]) -> list[str]:
    """Flags that include `providers` in the build; none for the CPU, which is always included."""
    flags = {name: PROVIDERS[name].BUILD_FLAGS[target] for name in providers_of(target)}
    buildable = [name for name, flag in flags.items() if flag]
    for provider in (each for each in providers if each != CPU.NAME and each not in buildable):
        if provider in flags:
            raise ConfigError(
                f"recipes cannot build the provider {provider}: ONNX Runtime's build script alone does not include it",
                hint="pass the other providers with --provider, or use the published ONNX Runtime that has it",
            )
        raise ConfigError(f"no provider '{provider}' for {target}", hint=nearest(provider, [*buildable, CPU.NAME]))
    return sorted({flags[provider] for provider in providers if provider != CPU.NAME})


def _common_parameters(operators: Sequence[Mapping[str, str]], *, is_extended: bool) -> list[str]:
    """Flags of every reduced build.

    `is_extended` keeps the code that compiles parts of a graph when a model is loaded: every provider but the CPU needs
    it (onnxruntime_providers_nnapi.cmake and _coreml.cmake stop without it, graph_partitioner.cc skips them), and so do
    saved optimizations. Exceptions stay: without them ORT_THROW ends the app (include/onnxruntime/core/common/common.h)
    where Java and Swift would get an error. Telemetry, part of ONNX Runtime's own packages, is left out.
    """
    needs_ml = any(operator.startswith("ai.onnx.ml;") for each in operators for operator in each)
    return [
        "--parallel",
        "--skip_tests",
        "--minimal_build=extended" if is_extended else "--minimal_build",
        "--enable_reduced_operator_type_support",
        *([] if needs_ml else ["--disable_ml_ops"]),
        "--cmake_extra_defines=onnxruntime_BUILD_UNIT_TESTS=OFF",
    ]


def _settings(target: str, abis: Sequence[str], min_sdk: int) -> dict[str, Any]:
    if target == "android":
        return _android_settings(abis, min_sdk)
    return _ios_settings() if target == "ios" else _web_settings()


def _android_settings(abis: Sequence[str], min_sdk: int) -> dict[str, Any]:
    """Settings for build_aar_package.py."""
    android = _made_with()["android"]
    for abi in abis:
        if abi not in android["abis"]:
            raise ConfigError(f"unknown ABI '{abi}'", hint=nearest(abi, android["abis"]))
    return {
        "build_abis": sorted(set(abis)) or android["abis"],
        "android_min_sdk_version": max(min_sdk, downloads.pins()["android"]["min-sdk"]),
        "android_target_sdk_version": android["target-sdk"],
        "build_params": ["--android", "--build_java", "--build_shared_lib", "--cmake_generator=Ninja", "--enable_lto"],
    }


def _ios_settings() -> dict[str, Any]:
    """Settings for build_apple_framework.py."""
    ios = _made_with()["ios"]
    each = ["--ios", "--use_xcode", f"--apple_deploy_target={ios['deployment-target']}"]
    return {
        "build_osx_archs": ios["slices"],
        "build_params": {"base": ["--build_apple_framework"], **{sysroot: list(each) for sysroot in ios["slices"]}},
    }


def _web_settings() -> dict[str, Any]:
    """Parameters of build.py, as in .github/workflows/linux-wasm-ci-build-and-test-workflow.yml for the npm package."""
    return {
        "build_params": [
            "--build_wasm",
            "--enable_wasm_simd",
            "--enable_wasm_threads",
            "--enable_wasm_api_exception_catching",
            "--target=onnxruntime_webassembly",
            "--cmake_generator=Ninja",
            f"--emsdk_version={_made_with()['web']['emsdk']}",
        ]
    }


def _add_parameters(settings: dict[str, Any], parameters: Sequence[str]) -> None:
    build = settings["build_params"]
    (build if isinstance(build, list) else build["base"]).extend(parameters)


def _texts(target: str, *, version: str, name: str, key: str, contents: tuple[str, ...]) -> dict[str, str]:
    made_with = _made_with()
    commit = _commit(version)
    repository = made_with["onnxruntime"]["repository"]
    build = BuildView(repository=repository, version=version, commit=commit, name=name)
    readme = RecipeReadmeView(name=name, version=version, commit=commit, key=key, contents=contents)
    wanted = {name: made_with["python"][name] for name in PYTHON[target]}
    packages = tuple(
        PythonPackage(name=each, version=pin["version"], sha256=tuple(pin["sha256"])) for each, pin in wanted.items()
    )
    texts = {
        "build.sh": render(f"runtime/{target}/build.sh.j2", build),
        "README.md": render(f"runtime/{target}/README.md.j2", readme),
        "requirements.txt": render("runtime/requirements.txt.j2", RequirementsView(packages=packages)),
    }
    if target == "android":
        android = made_with["android"]
        view = DockerfileView(
            base_image=android["base-image"],
            java=android["java"],
            ndk=android["ndk"],
            platform=android["platform"],
            build_tools=android["build-tools"],
        )
        texts["Dockerfile"] = render("runtime/android/Dockerfile.j2", view)
    return texts


def _onnxruntime_version(target: str) -> str:
    """`1.2.3` of `group:artifact:1.2.3` or `pod 1.2.3`."""
    pins = cast("Mapping[str, Mapping[str, str]]", downloads.pins())[target]
    return re.split("[: ]", pins["onnxruntime"])[-1] if "onnxruntime" in pins else str(pins["version"])


def _commit(version: str) -> str:
    return str(downloads.pins()["onnxruntime-commits"][version])


@cache
def _made_with() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("recipe.toml").read_text(encoding="utf-8"))
