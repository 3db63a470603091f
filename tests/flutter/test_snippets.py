"""Code in README.md, the guides and the pages of the platforms compiles as it stands.

A part of a file becomes the body of a function, whose parameters are what the app has: a context, a picture, a model.
"""

import re
from dataclasses import replace
from pathlib import Path

from packager.render.templates import write_sources
from packager.targets.flutter import Flutter
from tests.cases.snippets import Snippet, body, listed, snippets, split
from tests.flutter.test_flutter_target import there
from tests.golden.cases import CASES, FLUTTER_CASES, LISTS, Published
from tests.toolchain.dart import configured_package, dart

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
