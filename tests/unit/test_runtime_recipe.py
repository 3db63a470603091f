"""A recipe says exactly how to build a reduced runtime; it is the same for the same models, providers and versions."""

import json
import re
from dataclasses import fields
from pathlib import Path, PurePosixPath

import pytest
from click.testing import CliRunner
from jinja2 import Environment, meta

from packager.cli.runtime import runtime
from packager.core.errors import ConfigError, ToolError
from packager.engines.environments import web
from packager.files.installed import templates_folder
from packager.render.templates import environment
from packager.runtimes import recipe as recipes
from packager.runtimes.recipe import recipe
from tests.cases.runtime_recipe import OPERATORS, texts


def parameters(target: str = "android", **options: object) -> list[str]:
    settings = json.loads(texts(target, **options)["build-settings.json"])["build_params"]
    return list(settings if isinstance(settings, list) else settings["base"])


def test_the_key_follows_what_changes_the_runtime() -> None:
    one = recipe("android", OPERATORS, providers=("xnnpack", "nnapi"), abis=("x86_64", "arm64-v8a"))
    other = recipe("android", OPERATORS[::-1], providers=("nnapi", "xnnpack"), abis=("arm64-v8a", "x86_64"))
    assert one == other
    assert re.fullmatch(r"\d+\.\d+\.\d+-[0-9a-f]{12}", one.version)
    assert one.key.startswith(one.version.rpartition("-")[2])
    for other in [
        recipe("android", OPERATORS, providers=("xnnpack",)),
        recipe("android", OPERATORS, providers=(), abis=("arm64-v8a",)),
        recipe("android", OPERATORS, providers=(), min_sdk=26),
        recipe("android", [{"ai.onnx;13;Softmax": ""}], providers=()),
        recipe("ios", OPERATORS, providers=()),
    ]:
        assert other.key != recipe("android", OPERATORS, providers=()).key


def test_kinds_follow_from_providers_and_models() -> None:
    assert "--minimal_build" in parameters()
    assert not [flag for flag in parameters() if flag.startswith("--use_")]
    assert "--minimal_build=extended" in parameters(has_saved_optimizations=True)
    assert "--disable_exceptions" not in parameters()
    assert "--no_telemetry" in parameters()
    assert "--disable_ml_ops" in parameters()
    made = recipe("android", [{"ai.onnx.ml;3;TreeEnsembleRegressor": ""}], providers=())
    assert "--disable_ml_ops" not in made.sources.texts[PurePosixPath("build-settings.json")]
    for target, provider, flag in [
        ("android", "nnapi", "--use_nnapi"),
        ("android", "xnnpack", "--use_xnnpack"),
        ("android", "webgpu", "--use_webgpu"),
        ("ios", "coreml", "--use_coreml"),
        ("ios", "xnnpack", "--use_xnnpack"),
        ("web", "webgpu", "--use_webgpu"),
        ("web", "webnn", "--use_webnn"),
    ]:
        assert flag in parameters(target, providers=("cpu", provider))
        assert "--minimal_build=extended" in parameters(target, providers=(provider,))


def test_settings_are_those_that_onnxruntimes_scripts_read() -> None:
    settings = json.loads(texts("android", abis=("arm64-v8a",), min_sdk=21)["build-settings.json"])
    assert set(settings) == {"build_abis", "android_min_sdk_version", "android_target_sdk_version", "build_params"}
    assert settings["build_abis"] == ["arm64-v8a"]
    assert settings["android_min_sdk_version"] == 24, "ONNX Runtime takes no older one"
    settings = json.loads(texts("ios")["build-settings.json"])
    assert set(settings["build_params"]) == {"base", *settings["build_osx_archs"]}
    assert all("--ios" in settings["build_params"][sysroot] for sysroot in settings["build_osx_archs"])
    found = parameters("web")
    assert {"--build_wasm", "--enable_wasm_simd", "--enable_wasm_threads", "--minimal_build"} <= set(found)
    [emsdk] = [flag for flag in found if flag.startswith("--emsdk_version=")]
    made = recipe("web", OPERATORS, providers=())
    assert made.installs == f"Emscripten {emsdk.partition('=')[2]}"
    assert made.version.startswith(f"{web.version()}-")
    assert recipe("ios", OPERATORS, providers=()).installs == ""


@pytest.mark.parametrize("target", ["android", "ios", "web"])
def test_a_recipe_names_commits_digests_and_hashes_and_no_tag(target: str) -> None:
    made = texts(target)
    assert re.search(r"^commit=[0-9a-f]{40}$", made["build.sh"], re.MULTILINE)
    assert "--branch" not in made["build.sh"]
    installs = re.findall(r"pip install (?:\\\n|.)*", made["build.sh"] + made.get("Dockerfile", ""))
    assert [("--require-hashes" in each, "--only-binary :all:" in each) for each in installs] == [(True, True)]
    images = re.findall(r"^FROM (?:--platform=\S+ )?(\S+)", made.get("Dockerfile", ""), re.MULTILINE)
    assert all(image == "scratch" or re.fullmatch(r"[a-z0-9:.]+@sha256:[0-9a-f]{64}", image) for image in images)
    assert bool(images) == (target == "android")


def test_tools_and_packages_are_pinned_and_other_builds_refused(tmp_path: Path) -> None:
    lines = [line.split(" --hash=") for line in texts("web")["requirements.txt"].splitlines() if line]
    assert {name: len(hashes) for name, *hashes in lines} == {
        "cmake==3.31.6": 3,
        "flatbuffers==25.2.10": 1,
        "ninja==1.11.1.4": 3,
    }
    requirements = texts("android")["requirements.txt"].splitlines()
    assert len(requirements) == 4
    assert all(re.fullmatch(r"[a-z]+==[\d.]+( --hash=sha256:[0-9a-f]{64})+", line) for line in requirements)
    for target, options, message in [
        ("react_native", {}, "no recipe for target 'react_native'"),
        ("android", {"providers": ("nnappi",)}, "no provider 'nnappi' for android"),
        ("ios", {"providers": ("nnapi",)}, "no provider 'nnapi' for ios"),
        ("android", {"providers": ("qnn",)}, "recipes cannot build the provider qnn"),
        ("android", {"abis": ("arm64",)}, "unknown ABI 'arm64'"),
    ]:
        with pytest.raises(ConfigError, match=message):
            texts(target, **options)
    operators, taken = tmp_path / "one.config", tmp_path / "taken"
    operators.write_text("ai.onnx;13;Relu\n", encoding="utf-8")
    taken.write_text("", encoding="utf-8")
    done = CliRunner().invoke(runtime, ["recipe", "-t", "ios", "--operators", str(operators), "-o", str(taken)])
    assert isinstance(done.exception, ToolError)


def test_the_command_writes_a_recipe_from_the_configurations_it_is_given(tmp_path: Path) -> None:
    one, other = tmp_path / "one.config", tmp_path / "other.config"
    one.write_text('ai.onnx;13;Softmax{"inputs": {"0": ["float"]}}\n', encoding="utf-8")
    other.write_text('ai.onnx;13;Softmax{"inputs": {"0": ["double"]}},Relu\n', encoding="utf-8")
    out = tmp_path / "recipe"

    done = CliRunner().invoke(
        runtime,
        ["recipe", "-t", "android", "--operators", str(one), "--operators", str(other), "-o", str(out), "--json"],
    )

    assert done.exit_code == 0, done.output
    document = json.loads(done.output)
    assert {Path(path).name for path in document["files"]} == {path.name for path in out.iterdir()}
    config = (out / "required_operators_and_types.config").read_text(encoding="utf-8")
    assert config.splitlines()[1:] == ['ai.onnx;13;Relu,Softmax{"inputs": {"0": ["double", "float"]}}']


@pytest.mark.parametrize("target", ["android", "ios", "web"])
def test_the_command_says_where_configurations_come_from(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(runtime, ["recipe", "-t", target])
    assert isinstance(done.exception, ConfigError)
    assert f"mobpack build --target {target}" in done.exception.hint


@pytest.mark.parametrize(
    ("table", "providers"),
    [
        (None, "cpu, coreml"),
        ("", "cpu, coreml"),
        ("[target.ios]\nproviders = ['xnnpack']", "cpu, xnnpack"),
        ("[target.ios]\nproviders = []", "cpu"),
    ],
)
def test_a_runtime_has_the_providers_that_packages_run_on(table: str | None, providers: str, tmp_path: Path) -> None:
    operators, project = tmp_path / "one.config", tmp_path / "mobpack.toml"
    operators.write_text("ai.onnx;13;Relu\n", encoding="utf-8")
    if table is not None:
        project.write_text(f"package.name = 'a'\nmodel.m.path = 'm.onnx'\n{table}\n", encoding="utf-8")
    arguments = ["-t", "ios", "--operators", str(operators), "-c", str(project), "-o", str(tmp_path / "out")]
    assert CliRunner().invoke(runtime, ["recipe", *arguments]).exit_code == 0
    assert f"- providers: {providers}\n" in (tmp_path / "out/README.md").read_text(encoding="utf-8")


def test_a_template_uses_exactly_the_fields_of_its_view() -> None:
    for template, view in [
        ("runtime/requirements.txt.j2", recipes.RequirementsView),
        ("runtime/android/Dockerfile.j2", recipes.DockerfileView),
        ("runtime/android/README.md.j2", recipes.RecipeReadmeView),
        ("runtime/android/build.sh.j2", recipes.BuildView),
        ("runtime/ios/README.md.j2", recipes.RecipeReadmeView),
        ("runtime/ios/build.sh.j2", recipes.BuildView),
        ("runtime/web/README.md.j2", recipes.RecipeReadmeView),
        ("runtime/web/build.sh.j2", recipes.BuildView),
    ]:
        source = (templates_folder() / template).read_text(encoding="utf-8")
        for part in re.findall(r'include "(.+?)"', source):
            source += (templates_folder() / part).read_text(encoding="utf-8")
        bare = Environment()
        bare.filters = environment().filters
        assert meta.find_undeclared_variables(bare.parse(source)) == {field.name for field in fields(view)}
