"""A made-up output kind, added to a copy of mobpack by the recipe of docs/architecture.md, is in all packages."""

import json
import tarfile
import zipfile
from pathlib import Path

import numpy
import pytest

from tests.cases.onnx_text import linear, saved, weight
from tests.cases.scratch_copy import scratch_copy, write
from tests.toolchain import environments

EDITS = {
    "core/contract.py": (
        (
            "@dataclass(frozen=True, kw_only=True)\nclass ClassesOutput:",
            '''\
@dataclass(frozen=True, kw_only=True)
class HeightOutput:
    """The height of what a picture shows."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="measure",
        type="Height",
        tensors=("metres",),
        function="heightOf",
        module="heights",
        noun="height",
        sentence="The height of what is measured.",
    )

    identifier: str
    metres: TensorSpec


@dataclass(frozen=True, kw_only=True)
class ClassesOutput:''',
        ),
        ("TypedOutput = (\n    ClassesOutput\n", "TypedOutput = (\n    HeightOutput\n    | ClassesOutput\n"),
    ),
    "contract/__init__.py": (
        (
            "from packager.contract.mask import Mask\n",
            "from packager.contract.heights import Height\nfrom packager.contract.mask import Mask\n",
        ),
        ("    Boxes.KIND: Boxes,\n", "    Boxes.KIND: Boxes,\n    Height.KIND: Height,\n"),
    ),
    "contract/results.py": (
        ("    ClassesOutput,\n", "    ClassesOutput,\n    HeightOutput,\n"),
        (
            "        case TensorOutput():\n            return outputs",
            "        case HeightOutput():\n            return float(outputs[typed.metres.name].item())\n"
            "        case TensorOutput():\n            return outputs",
        ),
    ),
    "reporting/contracts.py": (
        ("    ClassesOutput,\n", "    ClassesOutput,\n    HeightOutput,\n"),
        (
            "        case BoxesOutput():\n",
            '        case HeightOutput():\n            return "a height in metres"\n        case BoxesOutput():\n',
        ),
    ),
}
"""edits of modules of packager/: text -> text in its place"""
KIND = '''\
"""The kind `height`: the mean of an output, in metres."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.scores import row
from packager.core.contract import HeightOutput
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Height:
    """A height in metres."""

    KIND: ClassVar[str] = "height"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["height"] = "height"
    """kind of the output"""

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        numbers, _ = row(writer, spec, what="numbers")
        metres = writer.output(writer.node("ReduceMean", numbers, keepdims=1), "metres", ElementType.FLOAT, (1,))
        return AttachedOutput(typed=HeightOutput(identifier=spec.identifier, metres=metres), taken=(spec.name,))
'''
TEMPLATES = {
    "android/kotlin/Height.kt.j2": """\
package {{ kotlin_package }}

import java.nio.FloatBuffer

/** A height in metres. */
public class Height(public val metres: Float)

internal fun heightOf(metres: FloatBuffer): Height = Height(metres[0])
""",
    "ios/swift/Height.swift.j2": """\
/// A height in metres.
public struct Height: Sendable {
    public let metres: Float
}

func heightOf(_ metres: [Float]) -> Height {
    Height(metres: metres[0])
}
""",
    "flutter/lib/src/runtime/heights.dart": """\
import 'tensor.dart';

/// A height in metres.
final class Height {
  const Height(this.metres);

  final double metres;
}

Height heightOf(Tensor<List<double>> metres) => Height(metres.data.first);
""",
    "typescript/src/runtime/typed/heights.ts": """\
export interface Height {
  readonly metres: number;
}

export function heightOf([metres = Number.NaN]: Float32Array): Height {
  return { metres };
}
""",
    "typescript/lib/runtime/typed/heights.js": """\
export function heightOf([metres = Number.NaN]) {
    return { metres };
}
""",
    "typescript/lib/runtime/typed/heights.d.ts": """\
export interface Height {
    readonly metres: number;
}
export declare function heightOf([metres]: Float32Array): Height;
""",
}
"""the runtime of each language, and what its compiler makes of TypeScript's"""
PROJECT = """\
[package]
name = "tower"
version = "1.0.0"

[model.tower]
path = "tower.onnx"

[model.tower.outputs.y]
kind = "height"

[target.android]
group = "com.example"
providers = []

[target.ios]
providers = []

[target.web]
package = "@example/tower"

[target.flutter]
"""


def test_a_made_up_output_kind_is_five_modules_and_one_template_for_each_language(tmp_path: Path) -> None:
    environments.have("android")
    copy = scratch_copy(tmp_path, PROJECT)
    for name, edits in EDITS.items():
        copy.edit(name, *edits)
    write(copy.root / "packager/contract/heights.py", KIND)
    for name, template in TEMPLATES.items():
        write(copy.root / "templates" / name, template)
    saved(copy.project / "tower.onnx", linear())
    x = weight(1, 64, seed=5)
    numpy.savez(copy.project / "x.npz", x=x)

    copy.run("build")
    predicted = json.loads(copy.run("predict", "x.npz", "--json"))

    given, w, b = (each.astype(numpy.float64) for each in (x, weight(64, 64), weight(64, seed=1)))
    mean = (given @ w + b).mean()
    dist = copy.project / "dist"
    assert "public suspend fun measure(x: FloatBuffer): Height" in in_zip(dist, "*-sources.jar", "Tower.kt")
    assert "heightOf(output.yMetres)" in in_zip(dist, "*-sources.jar", "Tower.kt")
    assert "func measure(" in in_zip(dist, "*.zip", "Tower.swift")
    assert "heightOf(output.yMetres)" in in_zip(dist, "*.zip", "Tower.swift")
    assert "Future<Height> measure(" in in_zip(dist, "*.zip", "tower.dart")
    assert "export 'src/runtime/heights.dart' show Height;" in in_zip(dist, "*.zip", "tower.dart")
    assert "heightOf(outputs.yMetres.data)" in in_tar(dist, "tower.js")
    assert "export type { Height }" in in_tar(dist, "api.d.ts")
    assert "a height in metres" in (dist / "report.html").read_text(encoding="utf-8")
    assert predicted["predictions"][0]["answers"] == {"y": pytest.approx(mean, rel=1e-5)}


def in_zip(dist: Path, pattern: str, name: str) -> str:
    """All files called `name` in the archives of `dist`."""
    found = []
    for path in dist.rglob(pattern):
        with zipfile.ZipFile(path) as archive:
            found += [archive.read(each).decode() for each in archive.namelist() if each.endswith(f"/{name}")]
    return "\n".join(found)


def in_tar(dist: Path, name: str) -> str:
    [path] = dist.rglob("*.tgz")
    with tarfile.open(path) as archive:
        files = [archive.extractfile(each) for each in archive.getmembers() if each.name.endswith(f"/{name}")]
        return "\n".join(each.read().decode() for each in files if each)
