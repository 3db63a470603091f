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
from tests.cases.snippets import Snippet, blocks, body, listed, snippets, split
from tests.golden.cases import REACT_NATIVE_CASES, WEB_CASES, Paged, Wrapped
from tests.toolchain import node

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
