"""Compiles a variant to the file that ships: canonical ORT format, written by ONNX Runtime sessions."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.compile import cache_key, recorded_macs
from packager.compile.converter import EXTERNAL_ENTRIES, REPLAY_ENTRY, SESSION_ENTRIES, ConversionJob
from packager.compile.external import write_external
from packager.core import parsing
from packager.core.errors import ConfigError, ModelError, ToolError, nearest
from packager.core.values import Compiled, Format, Style, Variant
from packager.engines.session.refusals import explain, hint_for
from packager.files.atomic import link_or_copy
from packager.files.hashes import known_sha256
from packager.files.processes import commands
from packager.files.store import Step, Store, content_key, key_of

if TYPE_CHECKING:
    from packager.core.contract import Contract
    from packager.core.decision import Inside

RESULT = "result.json"
SHARED = "model.ort"
"""Name by which an ONNX file refers to the ORT-format file whose weights it uses."""
FP16 = "FP16"
"""Compiled.processor of files that compute in 16 bits: ARMv8.2-A with the half-precision extension."""
NHWC = "NhwcTransformer"
"""Optimizer that gives 16-bit pooling a layout of ONNX Runtime's own, in ORT format too, where the runtime then does
not know the domain of the result: `No opset import for domain 'com.ms.internal.nhwc'`, on ARM."""
FP16_SETTINGS = {"optimization.disable_specified_optimizers": NHWC}
REPLAY = {REPLAY_ENTRY: "1"}
COMPILE, OVER, PLAIN, CONTEXT = (
    Step(name=name, caller=__name__, computed_by=(__name__,)) for name in ("compile", "over", "plain", "context")
)
LARGE_BYTES = 100_000_000
"""Size from which a model is converted in a new process, which has large pages: only a new process can ask for them."""
FP16_CPU = "cortex-a76"
"""The CPU that qemu emulates for such a phone: the first of ARM's phone cores with the extension (2018)."""


class OrtFormatError(ModelError):
    """ORT format cannot hold the model, which may well run."""

    def __init__(self, variant: Variant, unheld: str) -> None:
        blocks = "; MatMul weights that are quantized in blocks fit" if unheld.endswith("weights") else ""
        super().__init__(
            f"{variant.model.path}: the model has {unheld} that ORT format cannot hold",
            hint=f'ship it as ONNX: format = "auto" or "onnx"{blocks}',
        )
        self.unheld = unheld
        """the element types or values, in words: `4-bit weights`"""


def compile_variant(variant: Variant, store: Store, *, style: Style = Style.FIXED, processor: str = "") -> Compiled:
    """The canonical ORT-format file of `variant` in `style`, which is FIXED or UNFUSED.

    The same graph and weights give the same bytes in any folder, process and hash seed. For `processor` FP16 an
    emulated ARM core chooses the kernels: x86 has none for 16-bit floats and would convert them to 32 bits. Raises
    ModelError if ONNX Runtime refuses the graph or cannot load the file it wrote (OrtFormatError if the format is the
    reason), ToolError if the ARM core is not available.
    """

    def make(folder: Path) -> None:
        _convert(variant, folder, store, style=style, processor=processor, name="model.ort")

    made = _made(variant, store, COMPILE, [*_inputs(variant), style, processor], make)
    return Compiled(
        variant=variant,
        path=made.path,
        sha256=made.sha256,
        size_bytes=made.path.stat().st_size,
        operators=made.operators,
        disabled_optimizers=made.disabled_optimizers,
        attention=made.attention,
        style=style,
        format=Format.ORT,
        settings=FP16_SETTINGS if processor else REPLAY if style is Style.UNFUSED else {},
        processor=processor,
    )


@dataclass(frozen=True, kw_only=True)
class CompiledFile:
    """A file that one step left in the store."""

    path: Path
    sha256: str
    data_files: tuple[Path, ...]
    operators: Mapping[str, str]
    disabled_optimizers: tuple[str, ...]
    attention: str


def _inputs(variant: Variant) -> list[str]:
    own = content_key(variant.weights)
    return [key_of(variant.graph.hex()), variant.model.sha256, own, version("onnxruntime")]


def _made(
    variant: Variant, store: Store, step: Step, inputs: Sequence[object], make: Callable[[Path], None]
) -> CompiledFile:
    """The file that `make` makes. Raises OrtFormatError for a refusal, which takes as long and is stored, too."""
    folder = store.results(step, inputs, make)
    described: dict[str, Any] = parsing.json_of((folder / RESULT).read_text(encoding="utf-8"))
    if "unheld" in described:
        raise OrtFormatError(variant, str(described["unheld"]))
    (name, sha256), *others = described["files"].items()
    return CompiledFile(
        path=folder / name,
        sha256=sha256,
        data_files=tuple(folder / other for other, _ in others),
        operators=described.get("operators", {}),
        disabled_optimizers=tuple(described.get("disabled_optimizers", ())),
        attention=str(described.get("attention", "")),
    )


def _describe(folder: Path, names: Sequence[str], known: Mapping[str, str], **facts: object) -> None:
    """Writes the record that `_made` reads: the files, the model first, and further facts.

    `known` are sha256 by name, of files that need not be read again.
    """
    files = {name: known.get(name) or known_sha256(folder / name) for name in names}
    (folder / RESULT).write_text(json.dumps({"files": files, **facts}), encoding="utf-8", newline="\n")


def compile_unfused(
    variant: Variant, store: Store, fixed: Compiled | None, *, processor: str = "", inside: "Inside" = "nothing"
) -> Compiled:
    """`variant` after basic rewrites only, as ONNX over the weights of `fixed`: adds little more than the graph.

    Without `fixed` (no ORT-format file of this variant ships) it has weights of its own. Tensors named by `inside` are
    in the graph itself. For `processor` FP16 an emulated ARM core does the rewriting, as for `fixed`. Raises ModelError
    if ONNX Runtime refuses the graph or cannot load the file it wrote.
    """

    return _over(variant, store, fixed, style=Style.UNFUSED, processor=processor, inside=inside)


def compile_fused(variant: Variant, store: Store, unfused: Compiled) -> Compiled:
    """`variant` with every rewrite for ARM's CPU, as ONNX over the weights of `unfused`, its file in ORT format.

    For packages in which a provider needs its weights in its own file. Raises like `compile_unfused`.
    """
    return _over(variant, store, unfused, style=Style.FIXED, processor="", inside="nothing")


def _over(
    variant: Variant, store: Store, base: Compiled | None, *, style: Style, processor: str, inside: "Inside"
) -> Compiled:
    def make(folder: Path) -> None:
        if base:
            link_or_copy(base.path, folder / SHARED)
        # Weights that the base lacks are in a file named after the graph: several may lie beside one base.
        name = f"{style}-{processor}".lower().rstrip("-") + ".onnx"
        _convert(variant, folder, store, name=name, style=style, processor=processor, base=base, inside=inside)

    made = _made(variant, store, OVER, [*_inputs(variant), base and base.sha256, style, processor, inside], make)
    own = (made.path, *(file for file in made.data_files if file.name != SHARED))
    return Compiled(
        variant=variant,
        path=made.path,
        sha256=made.sha256,
        size_bytes=sum(file.stat().st_size for file in own),
        operators={},
        disabled_optimizers=made.disabled_optimizers,
        attention=made.attention,
        style=style,
        format=Format.ONNX,
        data_files=made.data_files,
    )


def compile_plain(variant: Variant, store: Store, *, inside: "Inside" = "nothing") -> Compiled:
    """`variant` as ONNX with its weights in files beside it; the runtime rewrites the graph when it loads it."""

    def make(folder: Path) -> None:
        path, data = write_external(variant.graph, variant.data_folder, folder, "model", inside=inside)
        recorded_macs.write_macs(path)
        if cache_key.has_room(variant.graph):
            cache_key.write_key(path, data)
        _describe(folder, [path.name, *(file.name for file in data)], {})

    made = _made(variant, store, PLAIN, [*_inputs(variant), inside], make)
    return Compiled(
        variant=variant,
        path=made.path,
        sha256=made.sha256,
        size_bytes=sum(file.stat().st_size for file in (made.path, *made.data_files)),
        operators={},
        style=Style.PLAIN,
        format=Format.ONNX,
        data_files=made.data_files,
    )


def compile_for_chip(variant: Variant, chip: str, store: Store) -> Compiled:
    """`variant` compiled ahead of time for a Qualcomm chip, by Android's name: `SM8650`.

    Raises ConfigError for an unknown chip, ToolError if Qualcomm's compiler is missing, ModelError if it refuses the
    graph.
    """
    from packager.compile.ep_context import SOC_MODELS, compile_context

    numbers = {name: number for number, names in SOC_MODELS.items() for name in names}
    if chip not in numbers:
        raise ConfigError(f"unknown chip '{chip}' in soc-models", hint=nearest(chip, sorted(numbers)))

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            graph = scratch / "variant.onnx"
            graph.write_bytes(variant.graph)
            compile_context(graph, variant.data_folder, numbers[chip], folder / "model.onnx", scratch)
        recorded_macs.write_macs_of_context(folder / "model.onnx", variant.graph)
        _describe(folder, ["model.onnx"], {})

    made = _made(variant, store, CONTEXT, [*_inputs(variant), numbers[chip]], make)
    return Compiled(
        variant=variant,
        path=made.path,
        sha256=made.sha256,
        size_bytes=made.path.stat().st_size,
        operators={},
        style=Style.CONTEXT,
        format=Format.ONNX,
    )


def _convert(
    variant: Variant,
    folder: Path,
    store: Store,
    *,
    name: str,
    style: Style,
    processor: str = "",
    base: Compiled | None = None,
    inside: "Inside" = "nothing",
) -> None:
    """Writes the file `name` and `result.json`, which describes it, to `folder`; where ORT format cannot hold it, only
    that this is so."""
    output = folder / name
    generates = _generating(variant.model.contract) if style is Style.FIXED and processor != FP16 else None
    with store.scratch() as scratch:
        graph = scratch / "graph.onnx"
        graph.write_bytes(variant.graph)
        job = ConversionJob(
            graph=str(graph),
            data_folder=str(variant.data_folder),
            output=str(output),
            scratch=str(scratch),
            source_bytes=variant.size_bytes,
            is_unfused=style is Style.UNFUSED,
            shared=str(folder / SHARED) if base else "",
            inside=inside,
            disabled_optimizers=list(base.disabled_optimizers) if base else [],
            generating=generates,
            raw=str(_saved_on_arm(variant, scratch, output, style)) if processor == FP16 else "",
        )
        answer = commands.run_job(
            ["-m", "packager.compile.converter"],
            asdict(job),
            scratch,
            crash=f"{variant.model.path}: ONNX Runtime crashed while converting it",
            hint="report it to ONNX Runtime with the model; a simpler export may avoid it",
            environment=converter_environment(),
            may_be_copied=variant.size_bytes < LARGE_BYTES,
        )
    if "unheld" in answer:
        for each in folder.iterdir():
            each.unlink()
        _describe(folder, [], {}, unheld=answer["unheld"])
        return
    if "error" in answer:
        raise _refused(variant, str(answer["error"]))
    done = answer["ok"]
    _describe(
        folder,
        [name, *done["files"]],
        {SHARED: base.sha256} if base else {},
        operators=done["operators"],
        disabled_optimizers=done["disabled_optimizers"],
        attention=done["attention"],
    )


def _generating(contract: "Contract | None") -> dict[str, object] | None:
    """`generating` of a model's contract, for the converter."""
    if contract is None:
        return None
    from packager.compile.attention import generating  # takes longer to import than a small model to convert

    found = generating(contract)
    return asdict(found) if found else None


def _saved_on_arm(variant: Variant, scratch: Path, output: Path, style: Style) -> Path:
    """The graph as ONNX Runtime rewrites it on an ARM core with 16-bit arithmetic, in the format of `output`: with all
    rewrites, or with basic ones for an unfused file, which then records no fusions."""
    from packager.engines.environments import ensure
    from packager.engines.environments.arm64 import Arm64

    core = Arm64(cpu=FP16_CPU)
    try:
        ensure(core)
    except ToolError as error:
        hint = 'float16 = "onnx" or "float32" in the target\'s table ships a file that any machine makes'
        raise ToolError(
            f"{variant.model.path}: 16-bit floats are converted for ARM on an emulated core: {error.message}",
            hint="; ".join(filter(None, (error.hint, hint))),
        ) from error
    is_ort = output.suffix == ".ort"
    graph = scratch / "arm64-graph.onnx"
    graph.write_bytes(recorded_macs.with_room(variant.graph))
    raw = scratch / f"arm64{output.suffix}"
    answer = commands.run_job(
        [Path(__file__).with_name("session.py")],
        {
            "graph": str(graph),
            "data_folder": str(variant.data_folder),
            "output": str(raw),
            "entries": SESSION_ENTRIES if is_ort else EXTERNAL_ENTRIES,
            "level": "all" if style is Style.FIXED else "basic",
            "disabled_optimizers": ["NchwcTransformer", NHWC],
            "provider": "CPUExecutionProvider",
        },
        scratch,
        crash=f"{variant.model.path}: ONNX Runtime for ARM crashed while converting it",
        hint='ship it in 32 bits: float16 = "float32" in the target\'s table',
        environment=core.variables(),
        command=core.command(),
        owner=core.NAME,
    )
    if "error" in answer:
        raise _refused(variant, str(answer["error"]))
    return raw


def _refused(variant: Variant, error: str) -> ModelError:
    return ModelError(
        f"{variant.model.path}: ONNX Runtime cannot convert it: {explain(error)}",
        hint=hint_for(error),
    )


def converter_environment() -> dict[str, str]:
    """Environment in which glibc asks for huge pages ("Memory Allocation Tunables"): page faults dominate the cost of a
    large model."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return {"GLIBC_TUNABLES": f"{tunables}:glibc.malloc.hugetlb=1".lstrip(":")}
