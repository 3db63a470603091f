"""Fuses the attention of models that generate texts, where runs of both graphs show that nothing else changes.

A trial is a run on random caches: without tokens, with a few, and with as many as fit, so that windows of attention and
other masks show. What is compared are the logits and all next caches.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.compile.canonical import flatbuffer_classes
from packager.core.contract import Contract, TextInput
from packager.core.signature import ElementType
from packager.engines.session.refusals import explain, is_onnxruntime_error
from packager.files.atomic import atomic_file
from packager.graph.rewriting.attention import (
    FUSED,
    GIVEN,
    Attention,
    Sizes,
    Turning,
    UnfitError,
    attentions,
    fuse,
    probe,
)
from packager.graph.rewriting.draft import Draft, draft_of

if TYPE_CHECKING:
    import numpy

ATTRIBUTES = 4 + 2 * 10
"""place of `attributes` in the vtable of table Node of ort.fbs: its eleventh field"""
FEW = 3
MANY = (4500, 1900, 900, 400)
"""tokens in full caches: the first number that the model takes; windows of attention are mostly shorter"""
MOST_BYTES = 400_000_000
"""of full caches"""
TOLERANCE, FULL_TOLERANCE = 1e-4, 1e-3
"""largest difference, as a share of the largest number of an output. ONNX Runtime's own optimizers change logits of 30
layers behind 4,500 random tokens by 6e-5; a window that is ignored changes them by 0.4."""
LETTERS = tuple(map(ord, "The quick brown fox jumps over the lazy dog, twice."))


@dataclass(frozen=True, kw_only=True)
class Generating:
    """The values that a trial passes to a model that generates texts."""

    caches: Mapping[str, str]
    """inputs, and the outputs with their next values"""
    shapes: Mapping[str, Sequence[int]]
    """shapes of the caches without tokens"""
    logits: str
    """value inside the graph"""
    first: Mapping[str, Sequence[int]]
    """other inputs of a first step, integers by name"""
    later: Mapping[str, Sequence[int]]
    """those of a further step"""


@dataclass(frozen=True, kw_only=True)
class Trial:
    tokens: int
    """in the caches"""
    inputs: Mapping[str, Sequence[int]]
    tolerance: float = TOLERANCE


def generating(contract: Contract | None) -> Generating | None:
    """The values for trials of a model with `contract`; None for one that generates no text, or has no caches in
    32 bits."""
    if contract is None or contract.own is None or contract.generated is None or contract.generated.has_encoder:
        return None
    floats = (each for each in contract.states if each.input.element is ElementType.FLOAT)
    caches = [each for each in floats if len(each.input.shape) == 4]
    if not caches:
        return None
    others = {each.input.name: each.first_shape for each in contract.states if each not in caches}
    if contract.generated.seed:
        others[contract.generated.seed.name] = (1,)
    texts = [each.code_points.name for each in contract.parameters if isinstance(each, TextInput)]
    named = (each.name for each in contract.own.outputs if each.identifier == contract.generated.identifier)
    return Generating(
        caches={each.input.name: each.output.name for each in caches},
        shapes={each.input.name: each.first_shape for each in caches},
        logits=next(named),
        first={**dict.fromkeys(texts, LETTERS), **{name: [0] * prod(shape) for name, shape in others.items()}},
        later={**dict.fromkeys(texts, (-1,)), **{name: [1] * prod(shape) for name, shape in others.items()}},
    )


def fused(graph: bytes, data_folder: Path, generating: Generating) -> tuple[bytes, str]:
    """`graph` with fused attention and no words, or as it was and the reason."""
    try:
        return _fused(graph, data_folder, generating), ""
    except UnfitError as reason:
        return graph, str(reason)
    except Exception as error:
        if not is_onnxruntime_error(error):
            raise
        return graph, f"a trial failed: {explain(str(error))}"


def drop_later_attributes(path: Path) -> None:
    """Takes attributes that the fused graph does not give out of an ORT-format file. ONNX Runtime writes all that its
    own schema has, with their defaults, and older releases refuse a name that theirs lacks."""
    fbs = flatbuffer_classes()
    content = bytearray(path.read_bytes())
    graph = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(content, 0).Model().Graph()
    for node in map(graph.Nodes, range(graph.NodesLength())):
        if node.OpType() != FUSED.encode():
            continue
        attributes = [node.Attributes(index) for index in range(node.AttributesLength())]
        kept = [each._tab.Pos for each in attributes if each.Name().decode() in GIVEN]
        start = node._tab.Vector(node._tab.Offset(ATTRIBUTES))
        struct.pack_into("<I", content, start - 4, len(kept))
        for index, position in enumerate(kept):
            struct.pack_into("<I", content, start + 4 * index, position - start - 4 * index)
    with atomic_file(path) as file:
        file.write(content)


def _fused(graph: bytes, data_folder: Path, generating: Generating) -> bytes:
    found = attentions(_draft(graph, data_folder), generating.caches)
    few = Trial(tokens=FEW, inputs=generating.first)
    known, turning = _observed(graph, data_folder, found, generating, few)
    outputs = [generating.logits, *generating.caches.values()]
    session = _session(_draft(graph, data_folder), outputs)
    trials = [Trial(tokens=0, inputs=generating.first), few, *_full(session, outputs, generating)]
    expected = [_run(session, outputs, generating, trial) for trial in trials]
    del session
    refusal = ""
    for each in dict.fromkeys((turning, None)):
        draft = _draft(graph, data_folder)
        fuse(draft, found, known, each)
        made = draft.finish()
        try:
            session = _session(draft, outputs)
            differences = (
                _difference(outputs, values, _run(session, outputs, generating, trial), trial.tolerance)
                for values, trial in zip(expected, trials, strict=True)
            )
            refusal = next(filter(None, differences), "")
        except Exception as error:
            if not is_onnxruntime_error(error):
                raise
            refusal = f"the fused graph does not run: {explain(str(error))}"
        if not refusal:
            return made
    raise UnfitError(refusal)


def _observed(
    graph: bytes, data_folder: Path, found: Sequence[Attention], generating: Generating, trial: Trial
) -> tuple[list[Sizes], Turning | None]:
    """Runs `trial`, and returns what it tells about each layer, and how positions turn their heads."""
    draft = _draft(graph, data_folder)
    first = found[0].key
    turned = probe(draft, first, 1) if first.unturned else ""
    factors = {factor.name for each in found for factor in each.factors}
    names = [*(each.query.name for each in found), *sorted(factors - set(draft.constants))]
    names += [first.unturned, turned] if turned else []
    seen = dict(zip(names, _run(_session(draft, names), names, generating, trial), strict=True))
    seen |= {name: draft.weight(name).array() for name in factors & set(draft.constants)}
    known = [_sizes(each, generating, seen) for each in found]
    return known, _turning(first, seen[first.unturned].shape, seen[turned]) if turned else None


def _sizes(attention: Attention, generating: Generating, seen: "Mapping[str, numpy.ndarray]") -> Sizes:
    _, groups, _, size = generating.shapes[attention.past_key]
    shape = seen[attention.query.name].shape
    if len(shape) != 4 or shape[3] != size or shape[1] % groups:
        raise UnfitError(f"'{attention.query.name}' is {list(shape)}: not heads of {size} numbers")
    scale = 1.0
    for factor in attention.factors:
        value = seen[factor.name]
        if value.size != 1:
            raise UnfitError(f"scores are multiplied with '{factor.name}', which is no number")
        scale *= 1 / float(value.item()) if factor.divides else float(value.item())
    return Sizes(heads=shape[1], groups=groups, scale=scale)


def _turning(key: Any, unturned: "tuple[int, ...]", turned: "numpy.ndarray") -> Turning | None:
    """How positions turn `key`, by what they make of heads whose first number is 1 and all others 0; None for a way
    that RotaryEmbedding does not know."""
    import numpy

    if unturned != turned.shape:
        return None
    (places,) = numpy.nonzero(numpy.abs(turned).max((0, 1, 2)))
    if len(places) != 2 or places[0] != 0 or places[1] == 1:
        return None
    return Turning(key=key, size=turned.shape[-1], turned=2 * int(places[1]))


def _full(session: Any, outputs: Sequence[str], generating: Generating) -> "list[Trial]":
    """The trial with the fullest caches that the model takes."""
    token = sum(4 * prod(size or 1 for size in shape) for shape in generating.shapes.values())
    for count in MANY:
        trial = Trial(tokens=count, inputs=generating.later, tolerance=FULL_TOLERANCE)
        try:
            if token * count <= MOST_BYTES:
                _run(session, outputs, generating, trial)
                return [trial]
        except Exception as error:  # no table of positions has so many
            if not is_onnxruntime_error(error):
                raise
    return [Trial(tokens=FEW, inputs=generating.later)]


def _draft(graph: bytes, data_folder: Path) -> Draft:
    draft = draft_of(graph, data_folder)
    draft.hoist_constants()
    return draft


def _session(draft: Draft, outputs: Sequence[str]) -> Any:
    """A session for `outputs`, any values of `draft`. Products of integers are in floats: their rounding hides nothing
    then."""
    import onnx
    import onnxruntime

    proto = onnx.ModelProto()
    proto.CopyFrom(draft.proto)
    known = {each.name for each in proto.graph.output}
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs if name not in known)
    for node in proto.graph.node:
        for attribute in node.attribute:
            if attribute.name == "accuracy_level":
                attribute.i = 1
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(draft.data_folder))
    options.add_session_config_entry("session.disable_prepacking", "1")
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _run(session: Any, outputs: Sequence[str], generating: Generating, trial: Trial) -> "list[numpy.ndarray]":
    import numpy

    random = numpy.random.default_rng(trial.tokens)
    types = {each.name: each.type for each in session.get_inputs()}
    given: dict[str, Any] = {
        name: random.standard_normal([size or trial.tokens for size in shape], numpy.float32)
        for name, shape in generating.shapes.items()
    }
    for name, values in trial.inputs.items():
        given[name] = numpy.array(values, numpy.int64 if types[name] == "tensor(int64)" else numpy.int32)
    found: list[numpy.ndarray] = session.run(list(outputs), given)
    return found


def _difference(
    names: Sequence[str], expected: "Sequence[numpy.ndarray]", found: "Sequence[numpy.ndarray]", tolerance: float
) -> str:
    """Names a difference, in words; empty if nothing does."""
    import numpy

    for name, one, other in zip(names, expected, found, strict=True):
        if one.shape != other.shape:
            return f"'{name}' would be {list(other.shape)}, not {list(one.shape)}"
        share = float(numpy.abs(one - other).max()) / max(float(numpy.abs(one).max()), 1e-9)
        if not share <= tolerance:
            return f"'{name}' would differ by {share:.1g} of its largest number"
    return ""
