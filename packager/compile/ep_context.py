"""Compiles a graph ahead of time for one Qualcomm SoC: an ONNX file whose EPContext nodes hold the finished program."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, ModelError, ToolError
from packager.engines.environments import ENVIRONMENTS
from packager.files.atomic import atomic_file
from packager.files.hashes import sha256_of
from packager.files.processes import commands
from packager.models.skeleton import read_skeleton

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

CHILD = Path(__file__).with_name("context_child.py")
PROVIDER = "QNNExecutionProvider"
COMPATIBILITY = f"ep_compatibility_info.{PROVIDER}"
"""Key of the metadata that ONNX Runtime compares with the phone before it uses the file."""

SOC_MODELS = {
    "30": ("SM8350",),
    "36": ("SM8450",),
    "42": ("SM8475",),
    "43": ("SM8550", "SM8550P"),
    "54": ("SM7475",),
    "57": ("SM8650", "SM8650P"),
    "64": ("SM7550",),
    "68": ("SM8635",),
    "69": ("SM8750", "SM8750P"),
    "70": ("SM7675",),
    "73": ("SM7635",),
    "85": ("SM8735",),
    "86": ("SM7750",),
    "87": ("SM8850", "SM8850P"),
}
"""`soc_model` of Qualcomm's compiler -> `android.os.Build.SOC_MODEL` on phones and tablets with that chip.

Numbers: `Qnn_SocModel_t` in QnnTypes.h of Qualcomm's AI Runtime SDK, its mobile chips from Hexagon v68 on. They are not
those of /sys/devices/soc0/soc_id. Names: Android's property ro.soc.model; those with P are chips without a modem.
"""


@dataclass(frozen=True, kw_only=True)
class ContextInfo:
    """A graph compiled for one SoC."""

    path: Path
    sha256: str
    size_bytes: int
    soc_model: str
    compatibility: str
    """where the file runs, in the provider's own code: format, SDK, SoC ..."""
    sdk_version: str
    """version of Qualcomm's AI Runtime that compiled it"""
    context_count: int
    """partitions of the graph that run on the processor"""
    left: Mapping[str, int]
    """operator -> number of nodes that stay on the CPU"""


def compile_context(graph: Path, data_folder: Path | None, soc_model: str, output: Path, scratch: Path) -> ContextInfo:
    """Writes `output`, self-contained: `graph` (ONNX) compiled for `soc_model`, a key of SOC_MODELS.

    The same graph gives the same bytes in any folder and under any name. Raises ConfigError for an unknown SoC,
    ToolError if the environment qnn is missing, ModelError if the compiler refuses the graph or takes nothing.
    """
    if soc_model not in SOC_MODELS:
        known = ", ".join(f"{key} ({names[0]})" for key, names in SOC_MODELS.items())
        raise ConfigError(f"unknown SoC model '{soc_model}'", hint=f"known: {known}")
    compiled = _compiled(graph, data_folder, soc_model, scratch)
    contexts = [node for node in compiled.graph.node if node.op_type == "EPContext"]
    if not contexts:
        raise ModelError("QNN takes no node of the graph", hint="quantize its activations; mobpack inspect shows why")
    _forget_unused_opsets(compiled)
    with atomic_file(output) as file:
        file.write(compiled.SerializeToString(deterministic=True))
    return ContextInfo(
        path=output,
        sha256=sha256_of(output),
        size_bytes=output.stat().st_size,
        soc_model=soc_model,
        compatibility=_compatibility(compiled),
        sdk_version=_text(contexts[0], "ep_sdk_version").removeprefix("v"),
        context_count=len(contexts),
        left=dict(sorted(Counter(node.op_type for node in compiled.graph.node if node not in contexts).items())),
    )


def compatibility_of(path: Path) -> str:
    """`ContextInfo.compatibility` of a file that `compile_context` wrote."""
    from onnx import ModelProto

    proto = ModelProto()
    proto.ParseFromString(path.read_bytes())
    return _compatibility(proto)


def _compatibility(compiled: "ModelProto") -> str:
    return next((entry.value for entry in compiled.metadata_props if entry.key == COMPATIBILITY), "")


def _compiled(graph: Path, data_folder: Path | None, soc_model: str, scratch: Path) -> "ModelProto":
    from onnx import ModelProto

    environment = ENVIRONMENTS["qnn"]()
    if reason := environment.missing():
        raise ToolError("the environment qnn is missing", hint=reason)
    skeleton, raw = scratch / "graph.onnx.skeleton", scratch / "compiled.onnx"
    skeleton.write_bytes(graph.read_bytes() if data_folder else read_skeleton(graph))
    answer = commands.run_job(
        [CHILD],
        {
            "graph": str(skeleton.resolve()),
            "data_folder": str((data_folder or graph.parent).resolve()),
            "output": str(raw.resolve()),
            "provider_options": {"backend_type": "htp", "soc_model": soc_model},
        },
        scratch,
        crash="Qualcomm's compiler crashed on the model",
        hint="leave the model's [target] without compiled contexts, and report it to ONNX Runtime",
        environment=environment.variables(),
        command=environment.command(),
        owner=environment.NAME,
    )
    if "error" in answer:
        raise ModelError(f"QNN cannot compile the model: {answer['error']}", hint="mobpack inspect shows its nodes")
    proto = ModelProto()
    proto.ParseFromString(raw.read_bytes())
    return proto


def _forget_unused_opsets(proto: "ModelProto") -> None:
    """Removes unused operator sets: ONNX Runtime declares all it knows, internal ones included, and an older runtime
    may not know them."""
    used = {node.domain for node in proto.graph.node}
    kept = sorted((entry.domain, entry.version) for entry in proto.opset_import if entry.domain in used)
    del proto.opset_import[:]
    for domain, version in kept:
        proto.opset_import.add(domain=domain, version=version)


def _text(node: "NodeProto", name: str) -> str:
    return next((attribute.s.decode() for attribute in node.attribute if attribute.name == name), "")
