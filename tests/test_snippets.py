"""Code in README.md, the guides and the pages of the platforms compiles as it stands.

A part of a file becomes the body of a function, whose parameters are what the app has: a context, a picture, a model.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from packager.render.templates import write_sources
from packager.targets.android import kotlin
from packager.targets.flutter import Flutter
from tests.golden.cases import CASES, FLUTTER_CASES, LISTS, REACT_NATIVE_CASES, WEB_CASES, Paged, Published, Wrapped
from tests.snippets import Snippet, blocks, body, listed, snippets, split
from tests.test_android_kotlin import ROOT as KOTLIN_ROOT
from tests.test_flutter_target import there
from tests.test_gradle_project import syntax_errors
from tests.toolchain import apple, jvm, node
from tests.toolchain.dart import configured_package, dart
from tests.toolchain.swift_golden import golden_package

pytestmark = pytest.mark.by_content("README.md", "docs", "scripts", recorded=True)

TOOLCHAIN = Path(__file__).with_name("toolchain")
BUILD_FILE = re.compile(r"^(dependencyResolutionManagement|android|apply|dependencies|targets)\b", re.MULTILINE)
"""what is in files of Gradle and SwiftPM, which tests/test_gradle_project.py and tests/test_swift_packages.py read"""

KOTLIN_IMPORTS = """\
import android.content.Context
import android.graphics.Bitmap
import android.util.Log
import androidx.work.*
import com.example.vision.*
import java.util.concurrent.TimeUnit
"""
KOTLIN_GIVEN = {
    "context": "context: Context",
    "bitmap": "bitmap: Bitmap",
    "tag": "tag: Int",
    "pixels": "pixels: FloatArray",
    "analysis": "analysis: androidx.camera.core.ImageAnalysis",
    "executor": "executor: java.util.concurrent.Executor",
    "memory": "memory: java.nio.ByteBuffer",
    "model": "model: Classifier",
}


def on_android(name: str) -> dict[str, str]:
    """The Kotlin of a golden case as that of the package `vision`."""
    case = replace(CASES[name], package=replace(CASES[name].package, name="vision"))
    texts = {path: text for path, text in case.texts().items() if path.suffix == ".kt"}
    return {path.relative_to(KOTLIN_ROOT).as_posix(): text for path, text in texts.items()}


def in_kotlin(snippet: Snippet) -> str:
    imports, code = split(snippet.text, "import ")
    start = f'@file:Suppress("unused", "UNUSED_VARIABLE", "UNUSED_EXPRESSION")\n\npackage snippets.{snippet.name}\n\n'
    if re.search(r"^(suspend fun|fun|class) ", code, re.MULTILINE):
        return f"{start}{imports or KOTLIN_IMPORTS}\n{code}\n"
    parameters = listed(snippet.names(KOTLIN_GIVEN))
    return f"{start}{imports or KOTLIN_IMPORTS}\ninternal suspend fun use({parameters}) {{\n{body(code)}\n}}\n"


@pytest.mark.kotlin
@pytest.mark.parametrize("case", ["image_classifier", "contracts", "delivered"])
def test_kotlin_compiles_without_a_warning(case: str, tmp_path: Path) -> None:
    found = [each for each in snippets("kotlin") if each.package == case and not BUILD_FILE.search(each.text)]
    assert found
    library = kotlin.compile_kotlin(
        on_android(case), module_name="vision", work=tmp_path / "library", libraries=[jvm.coroutines()]
    )
    texts = {f"{each.name}.kt": in_kotlin(each) for each in found} | kotlin.stubs()
    sources = [tmp_path / "app" / name for name in texts]
    for path, text in zip(sources, texts.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stand_ins = [*(TOOLCHAIN / "camerax").rglob("*.java"), TOOLCHAIN / "background" / "WorkManager.kt"]
    assert jvm.compile_kotlin([*sources, *sorted(stand_ins)], classpath=[library]).is_file()


@pytest.mark.kotlin
def test_build_files_are_kotlin(tmp_path: Path) -> None:
    found = [each.text for each in snippets("kotlin") if BUILD_FILE.search(each.text)]
    assert len(found) >= 5
    assert syntax_errors(found, tmp_path) == []


NPM: Mapping[str, Mapping[str, Wrapped | Paged]] = {
    "image_classifier": {"react-native-vision": REACT_NATIVE_CASES["image_classifier"]},
    "contracts": {
        "react-native-vision": REACT_NATIVE_CASES["contracts"],
        "vision-web": WEB_CASES["contracts"],
        "speech-web": WEB_CASES["contracts"],
    },
    "delivered": {"react-native-vision": REACT_NATIVE_CASES["delivered"], "vision-web": WEB_CASES["delivered"]},
}
"""golden case -> packages of an app"""
NPM_NAMES = ("Classifier", "ModelMetrics", "ModelUpdater", "Similarity", "useClassifier")
TYPESCRIPT_GIVEN = {
    "data": "data: Uint8Array",
    "width": "width: number",
    "height": "height: number",
    "query": "query: string",
    "documents": "documents: string[]",
    "vectors": "vectors: Float32Array[]",
    "signal": "signal: AbortSignal",
    "asset": "asset: { uri: string }",
    "file": "file: File",
    "pictures": "pictures: AsyncIterable<import('react-native-vision').Picture>",
    "x": "x: Float32Array",
    "pixels": "pixels: Float32Array",
    "pixelsOf": "pixelsOf: (frame: object) => Float32Array",
    "useFrameProcessor": "useFrameProcessor: (processor: (frame: object) => void, used: unknown[]) => unknown",
    "address": "address: string",
    "NetInfo": "NetInfo: { fetch(): Promise<{ details: { isConnectionExpensive?: boolean } | null }> }",
    "show": "show: (value: unknown) => void",
    "send": "send: (value: unknown) => void",
    **{
        name: f"{name}: Awaited<ReturnType<typeof import('react-native-vision').{model}.load>>"
        for name, model in {"tagger": "Tagger", "ranker": "Ranker", "embedder": "Embedder"}.items()
    },
}
TYPESCRIPT_OPTIONS = {
    "strict": True,
    "noEmit": True,
    "skipLibCheck": True,
    "target": "es2022",
    "lib": ["es2022", "dom", "dom.iterable"],
    "types": [],
    "jsx": "react-jsx",
    "module": "esnext",
    "moduleResolution": "bundler",
}


def in_typescript(snippet: Snippet) -> str:
    imports, code = split(snippet.text, "import ")
    if re.search(r"^export ", code, re.MULTILINE):
        return snippet.text
    names = [] if imports else [each for each in NPM_NAMES if snippet.uses(each)]
    imports = imports or (f"import {{ {listed(names)} }} from 'react-native-vision';" if names else "")
    heard = "ListenerModel" if "/sound'" in snippet.text else "Classifier"
    model = f"model: Awaited<ReturnType<typeof import('react-native-vision').{heard}.load>>"
    parameters = listed(snippet.names({"model": model, **TYPESCRIPT_GIVEN}))
    return f"{imports}\n\nexport async function use({parameters}) {{\n{body(code, '  ')}\n}}\n"


def examples_of_readme(package: Path) -> list[Snippet]:
    """The first example in the README of an npm package, which is for JavaScript, too."""
    text = (package / "README.md").read_text(encoding="utf-8")
    named = json.loads((package / "package.json").read_text(encoding="utf-8"))["name"]
    found = [each for each in blocks(package.name, text, ("js",)) if f"from '{named}'" in each.text]
    return [replace(each, text=each.text.replace(f"'{named}'", f"'{package.name}'")) for each in found]


@pytest.mark.react_native
@pytest.mark.parametrize("case", NPM)
def test_typescript_compiles(case: str, tmp_path: Path) -> None:
    modules = node.link(node.project("react_native"), tmp_path)
    for name, package in NPM[case].items():
        write_sources(package.sources(), modules / name)
    found = [each for each in snippets("ts", "tsx") if each.package == case]
    found += [each for name in NPM[case] for each in examples_of_readme(modules / name)]
    assert found
    for each in found:
        (tmp_path / f"{each.name}.{each.language.replace('js', 'ts')}").write_text(
            in_typescript(each), encoding="utf-8"
        )
    text = json.dumps({"compilerOptions": TYPESCRIPT_OPTIONS, "include": ["*.ts", "*.tsx"]})
    (tmp_path / "tsconfig.json").write_text(text, encoding="utf-8")
    done = node.run([node.tool(node.project("react_native"), "tsc"), "-p", "."], cwd=tmp_path)
    assert (done.returncode, done.output) == (0, "")


DART_IMPORTS = "import 'dart:io';\nimport 'dart:typed_data';\n\nimport 'package:{name}/{name}.dart';\n"
DART_GIVEN = {
    "pixels": "Uint8List pixels",
    "writer": "Storyteller writer",
    "reranker": "Ranker reranker",
    "embedder": "Embedder embedder",
    "query": "String query",
    "documents": "List<String> documents",
}


def in_dart(snippet: Snippet, package: str) -> str:
    imports, code = split(snippet.text, "import ")
    imports = imports or DART_IMPORTS.format(name=package)
    if re.search(r"^\w.*\) async \{$", code, re.MULTILINE):
        return snippet.text
    if "dart:" not in imports:
        imports = f"import 'dart:io';\nimport 'dart:typed_data';\n{imports}"
    return f"{imports}\n\nFuture<void> use({listed(snippet.names(DART_GIVEN))}) async {{\n{body(code, '  ')}\n}}\n"


@pytest.mark.flutter
def test_dart_is_free_of_errors_and_warnings(tmp_path: Path) -> None:
    plans = {each.model.name: each for each in (*CASES["contracts"].plans, *LISTS)}
    models = replace(CASES["contracts"], plans=tuple(plans.values()), golden={})
    packages = {
        "image_classifier": Published(target=Flutter(), android=CASES["image_classifier"]),
        "contracts": Published(target=Flutter(package="reader"), android=models),
        "delivered": FLUTTER_CASES["delivered"],
    }
    for name, case in packages.items():
        write_sources(there(case, tmp_path / f"files of {name}").sources(), tmp_path / name)
        package = case.view().names.pub_name
        configured_package(tmp_path / name, package)
        found = [each for each in snippets("dart") if each.package == name]
        assert found
        for each in found:
            text = f"// ignore_for_file: unused_local_variable, unused_import\n{in_dart(each, package)}"
            (tmp_path / name / "example" / f"{each.name.lower()}.dart").write_text(text, encoding="utf-8")
        shown = re.findall(r"```dart\n(.*?)```", (tmp_path / name / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        (tmp_path / name / "example" / "readme.dart").write_text(shown[0], encoding="utf-8")
    command = ["dart", "analyze", "--fatal-warnings", "--format=machine"]
    done = dart().run([*command, *(f"{name}/example" for name in packages)], cwd=tmp_path)
    complaints = [line for line in done.output.splitlines() if line.startswith(("ERROR|", "WARNING|"))]
    assert (done.returncode, complaints) == (0, [])


SWIFT_IMPORTS = "import CoreVideo\nimport Foundation\nimport UIKit\nimport VisionModels\n"
SWIFT_GIVEN = {
    "pixels": "_ pixels: [Float]",
    "image": "_ image: UIImage",
    "pixelBuffer": "_ pixelBuffer: CVPixelBuffer",
    "bytes": "_ bytes: [UInt8]",
    "export": "_ export: ([String: MetricValue]) -> Void",
    "model": "_ model: Classifier",
}


def in_swift(snippet: Snippet) -> str:
    imports, code = split(snippet.text, "import ")
    if imports and re.search(r"^(func|struct|final class|extension) ", code, re.MULTILINE):
        return snippet.text
    if re.search(r"^extension ", code, re.MULTILINE):
        return f"import BackgroundTasks\n{SWIFT_IMPORTS}\n{code}\n"
    frame, answer = (
        ("Picture", "[Classification]") if ".classify" in code else ("Classifier.Input", "Classifier.Output")
    )
    given = {"camera": f"_ camera: AsyncStream<{frame}>", "show": f"_ show: ({answer}) -> Void", **SWIFT_GIVEN}
    code += "".join(f"\n_ = {name}" for name in re.findall(r"^let (\w+)", code, re.MULTILINE))
    function = f"func {snippet.name.lower()}({listed(snippet.names(given))}) async throws"
    return f"{SWIFT_IMPORTS}\n{function} {{\n{body(code)}\n}}\n"


@pytest.mark.swift
@pytest.mark.parametrize("case", ["image_classifier", "contracts", "delivered"])
def test_swift_compiles_without_a_warning(case: str, tmp_path: Path) -> None:
    package = golden_package(case, tmp_path / "package", named="vision")
    c_modules = {"CVisionModels": package / "Sources" / "CVisionModels" / "include"}
    library, background, app = (tmp_path / name for name in ("library", "background", "app"))
    for folder in (library, background, app):
        folder.mkdir()
    sources = sorted((package / "Sources" / "VisionModels").glob("*.swift"))
    done = apple.compile_swift("VisionModels", sources, library, c_modules=c_modules)
    assert (done.returncode, done.output) == (0, "")
    stand_in = TOOLCHAIN / "background" / "BackgroundTasks.swift"
    done = apple.compile_swift("BackgroundTasks", [stand_in], background, defines=())
    assert (done.returncode, done.output) == (0, "")
    found = [each for each in snippets("swift") if each.package == case and not BUILD_FILE.search(each.text)]
    found += blocks("README", (package / "README.md").read_text(encoding="utf-8"), ("swift",))
    files = [app / f"{each.name}.swift" for each in found]
    for file, each in zip(files, found, strict=True):
        file.write_text(in_swift(each), encoding="utf-8")
    done = apple.compile_swift(
        "App", files, app, c_modules=c_modules, modules=[library, background], triple="arm64-apple-ios16.0", defines=()
    )
    assert (done.returncode, done.output) == (0, "")
