"""Code in README.md, the guides and the pages of the platforms compiles as it stands.

A part of a file becomes the body of a function, whose parameters are what the app has: a context, a picture, a model.
"""

import re
from pathlib import Path

import pytest

from tests.cases.snippets import Snippet, blocks, body, listed, snippets, split
from tests.cases.snippets_shared import BUILD_FILE, TOOLCHAIN
from tests.toolchain import apple
from tests.toolchain.swift_golden import golden_package

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
