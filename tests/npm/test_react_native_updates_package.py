"""React Native packages with a channel: their files and names, and their code in the oldest React Native."""

import json
import shutil
from pathlib import Path, PurePosixPath

from packager.render.templates import write_sources
from packager.targets.react_native import texts
from packager.targets.typescript.texts import is_of_updates
from tests.golden.cases import REACT_NATIVE_CASES
from tests.npm.test_react_native_package import eslint
from tests.toolchain import jsc, node, typescript
from tests.toolchain.react_native import codegen
from tests.toolchain.typescript import ROOTS

MADE = {
    *(
        f"cpp/{name}.{kind}"
        for name in ("Delivery", "Delta", "FreshFile", "Inflated", "Storage")
        for kind in ("cpp", "h")
    ),
    "android/src/main/kotlin/com/example/vision/reactnative/DeviceState.kt",
    "cpp/VisionModelsDelivery.cpp",
    "ios/Delivery.mm",
    *(
        f"{folder}/{stem}.{kind}"
        for stem in ("delivery", "updates")
        for folder, kind in (("lib", "js"), ("lib", "d.ts"), ("src", "ts"))
    ),
}
"""files that packages with a channel have beside their shared TypeScript"""


def files(case: str) -> set[PurePosixPath]:
    sources = REACT_NATIVE_CASES[case].sources()
    return {*sources.texts, *sources.files}


def test_only_packages_with_a_channel_have_what_updates_need() -> None:
    more = files("delivered") - files("trusted")
    assert files("trusted") < files("delivered")
    assert {str(path) for path in more if "updating" not in path.parts} == MADE
    shared = {
        path.relative_to(ROOTS[root])
        for root in ("typescript", "react_native")
        for path in ROOTS[root].rglob("updating/*.*")
    }
    assert {path for path in more if "updating" in path.parts} == {PurePosixPath(path.as_posix()) for path in shared}
    for case in REACT_NATIVE_CASES.keys() - {"delivered"}:
        found = [path for path in files(case) if is_of_updates(path) or path.name.partition(".")[0] in texts.OF_UPDATES]
        assert not found, case


def test_native_code_of_other_packages_knows_nothing_of_updates() -> None:
    trusted, delivered = (REACT_NATIVE_CASES[case].texts() for case in ("trusted", "delivered"))
    for word in ("storageFolder", "applyDelta", "deviceState", "F_FULLFSYNC", 'library = "z"', " dl z "):
        assert not [path for path, text in trusted.items() if word in text], word
        assert [path for path, text in delivered.items() if word in text], word


def test_its_code_holds_to_the_rules(tmp_path: Path) -> None:
    for root in ("typescript", "react_native"):
        source = ROOTS[root] / "src"
        for path in source.rglob("*.ts"):
            place = tmp_path / "src" / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    typescript.print_providers(tmp_path / "src")
    typescript.workplace({}, tmp_path)
    own = [f"src/runtime/updating/{path.name}" for path in (ROOTS["react_native"] / "src/runtime/updating").iterdir()]
    assert len(own) == 4
    done = eslint(tmp_path, *own)
    assert (done.returncode, done.output) == (0, "")


def test_its_module_compiles_with_the_oldest_react_native(tmp_path: Path) -> None:
    oldest = "expo_54"
    app = tmp_path / "app"
    package = node.link(node.project(oldest), app) / "react-native-vision"
    write_sources(REACT_NATIVE_CASES["delivered"].sources(), package)
    text = json.dumps({"name": "app", "private": True, "dependencies": {"react-native-vision": "1.2.3"}})
    (app / "package.json").write_text(text, encoding="utf-8", newline="\n")
    specs = codegen.for_ios(app, tmp_path / "codegen", project=oldest)
    options = [*jsc.WARNINGS, *jsc.includes(specs, project=oldest), *jsc.own_headers(package)]
    [made] = jsc.compile_all([package / "cpp/VisionModelsDelivery.cpp"], tmp_path, options)
    assert made.is_file()
