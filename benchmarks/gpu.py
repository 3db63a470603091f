"""Real models on this machine's NVIDIA GPU beside the CPU: `python -m benchmarks.gpu` writes the table of docs/gpu.md.

Where there is no GPU, it says so and changes nothing. It needs no network if the wheels lie in a folder:
`PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels python -m benchmarks.gpu`. Each row is a `mobpack check`: errors against the
original, node by node on the CPU, of the smallest or the largest sizes of its open axes. Smallest sizes run three
times, because TensorRT and IREE make a program anew for each. `--on cpu` tries the script, and changes no page.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packager.engines.environments import ENVIRONMENTS, ensure, nvidia
from packager.engines.environments.webgpu import SYSTEM_DRIVERS
from packager.engines.runners import RUNNERS
from tests.cases import contract_nets
from tests.toolchain import models

PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
HEADING = "## Measured\n"
GPU = ("cuda", "tensorrt", "tensorrt-native", "webgpu", "iree-cuda", "iree-vulkan")
NEEDED = ("cuda", "webgpu", "iree")
"""Environments of these runners."""
BUILDS = 3
DRIVERS = (SYSTEM_DRIVERS, Path("/etc/vulkan/icd.d"))
"""Folders in which NVIDIA's driver describes itself to Vulkan."""
SMALLEST: Mapping[str, Mapping[str, int]] = {
    "orientation": {"DynamicDimension.0": 1},
    "silero": {"batch": 1},
    "minilm": {"batch": 1, "sequence": 1},
    "magika": {"unk__214": 1},
    "detector": {},
}
LARGEST: Mapping[str, Mapping[str, int]] = {
    "orientation": {"DynamicDimension.0": 16},
    "silero": {"batch": 64},
    "minilm": {"batch": 4, "sequence": 512},
    "magika": {"unk__214": 16},
}
FIXED = {"silero": {"sequence": 576}}
"""Sizes that are open in a file and fixed in truth."""
QUANTIZED = {
    "int8": 'quantizer = "static-qdq"\nsymmetric = true\ncalibration = "calibration"',
    "float16": 'quantizer = "float16"',
}
"""Variants of the page-orientation model. TensorRT takes no zero points."""


@dataclass(frozen=True)
class Row:
    words: str
    project: str
    """text of mobpack.toml"""
    builds: int = 1


@dataclass
class Cell:
    errors: list[float] = field(default_factory=list)
    nodes: str = ""
    words: str = ""
    """why there is no error, or that it is over the tolerance"""

    def __str__(self) -> str:
        if not self.errors:
            return self.words
        several = f"{min(self.errors):.1e} to {max(self.errors):.1e}" if len(set(self.errors)) > 1 else ""
        return " ".join(filter(None, (several or f"{self.errors[0]:.1e}", self.nodes, self.words)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", default="", help="other runners than those for a GPU, for a try: cpu,iree")
    chosen = tuple(filter(None, parser.parse_args().on.split(",")))
    facts = nvidia.probe(nvidia.place(""))
    if not chosen and (reason := nvidia.lacks_gpu(facts)):
        print(f"skipped: {reason}")
        return 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        if not chosen:
            prepare(Path(scratch))
        runners = chosen or GPU
        reasons = {name: each.missing() for name in runners for each in RUNNERS[name]("")}
        able = [name for name, reason in reasons.items() if not reason]
        table = "\n".join(measured(able, Path(scratch)))
    where = "a try" if chosen else nvidia.in_words(facts)
    text = (
        f"`python -m benchmarks.gpu`, {datetime.now(UTC):%Y-%m-%d}, {where}, {time.monotonic() - start:.0f} s. TF32 is "
        "off. Largest error as a share of the output's scale, nodes on the GPU, and the range of three builds.\n\n"
        f"{table}\n" + "".join(f"\n- `{name}` did not run: {reason}" for name, reason in reasons.items() if reason)
    )
    print(text)
    if not chosen:
        before = PAGE.read_text(encoding="utf-8").partition(f"\n{HEADING}")[0].rstrip()
        PAGE.write_text(f"{before}\n\n{HEADING}\n{text.rstrip()}\n", encoding="utf-8")
    return 0


def prepare(scratch: Path) -> None:
    """Installs what the runners need, and names NVIDIA's Vulkan driver for `webgpu`."""
    for name in NEEDED:
        ensure(ENVIRONMENTS[name]())
    found = [each for folder in DRIVERS for each in sorted(folder.glob("nvidia_icd*.json"))]
    if found:
        os.environ["VK_DRIVER_FILES"] = str(found[0])


def measured(runners: Sequence[str], scratch: Path) -> Iterator[str]:
    """The lines of the table, a row for each model, variant and size."""
    versions: dict[str, str] = {}
    lines = []
    for number, row in enumerate(rows()):
        project = scratch / f"project-{number}"
        write(project, row.project)
        cells: dict[str, dict[str, Cell]] = {}
        for _ in range(row.builds):
            build: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
            for each in checked(project, runners):
                build.setdefault((each["model"], each["runner"]), []).append(each)
                versions[each["runner"]] = each.get("runs-on") or versions.get(each["runner"], "")
            for (model, runner), found in build.items():
                take(cells.setdefault(model, {}).setdefault(runner, Cell()), found)
        for model, columns in cells.items():
            values = (str(columns.get(each, "")) for each in runners)
            lines.append(f"| {model}, {row.words} | {' | '.join(values)} |")
    yield f"| model | {' | '.join(f'`{each}`' for each in runners)} |"
    yield "|---|" + "---|" * len(runners)
    yield from lines
    yield from ("", *(f"- `{name}`: {about}" for name, about in versions.items() if name in runners))


def rows() -> Iterator[Row]:
    yield Row("float32, smallest sizes", project(SMALLEST), BUILDS)
    yield Row("float32, largest sizes", project(LARGEST))
    for name, table in QUANTIZED.items():
        only = {"orientation": SMALLEST["orientation"]}
        variant = f'\n[variant.{name}]\n{table}\n[target.android]\nvariant = "{name}"\nproviders = []\n'
        yield Row(f"{name}, smallest sizes", project(only) + variant, BUILDS)


def project(sizes: Mapping[str, Mapping[str, int]]) -> str:
    """The text of mobpack.toml for the models of `sizes`."""
    text = '[package]\nname = "gpu"\nversion = "1.0.0"\n'
    for name, axes in sizes.items():
        text += f'[model.{name}]\npath = "{name}.onnx"\n'
        known = {**axes, **FIXED.get(name, {})}
        if known:
            text += f"[model.{name}.shapes]\n" + "".join(f'"{axis}" = {size}\n' for axis, size in known.items())
        if name == "detector":
            net = contract_nets.NETS["detector"]
            for kind, tables in (("inputs", net.inputs), ("outputs", net.outputs)):
                for each, table in tables.items():
                    text += f"[model.{name}.{kind}.{each}]\n"
                    text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    return text


def write(folder: Path, text: str) -> None:
    import numpy

    (folder / "calibration").mkdir(parents=True)
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")
    files = {"orientation": models.orientation(), "silero": models.silero_vad(), "minilm": models.minilm()}
    files |= {"magika": models.magika()}
    detector = contract_nets.model(folder.absolute() / "nets", "detector", has_contract=False)
    files |= {"detector": detector.path}
    for name, path in files.items():
        (folder / f"{name}.onnx").write_bytes(path.read_bytes())
    for seed in range(4):
        picture = numpy.random.default_rng(seed).standard_normal((1, 3, 224, 224)).astype(numpy.float32)
        numpy.savez(folder / "calibration" / f"{seed}.npz", allow_pickle=False, x=picture)


def checked(project: Path, runners: Sequence[str]) -> list[dict[str, Any]]:
    """The comparisons of `mobpack check`, a model on a runner each."""
    command = [sys.executable, "-P", "-m", "packager.cli", "check", "--json", "--target", "android"]
    command += ["--config", str(project / "mobpack.toml"), "--runners", ",".join(runners)]
    command += ["--evidence", str(project / "evidence")]
    root = str(Path(__file__).parents[1])
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root})
    if done.returncode not in (0, 5):
        raise RuntimeError(done.stderr)
    return list(json.loads(done.stdout)["parity"])


def take(cell: Cell, comparisons: Sequence[Mapping[str, Any]]) -> None:
    """Adds a build to its cell: the worst of the files and outputs of a model on a runner."""
    for each in comparisons:
        if reason := each.get("skipped") or each.get("refusal"):
            cell.words = f"refused: {reason[:80]}"
            return
        if "placed" in each:
            cell.nodes = f"({each['placed']}/{each['nodes']})"
    outputs = [(each, output) for each in comparisons for output in each["outputs"]]
    cell.errors.append(max(output["max-rel-error"] for _, output in outputs))
    if any(output["max-abs-error"] > each["atol"] + each["tolerance"] * output["scale"] for each, output in outputs):
        cell.words = "**over the tolerance**"


if __name__ == "__main__":
    sys.exit(main())
